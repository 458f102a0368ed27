//! Trees as JSON: an object has a key per group, an array lists values.
//!
//! ```json
//! {"#levels": ["job", "branch", "sector", "*"],
//!  "Services": {"Office": ["Clerk", "Typist"], "Sales": ["Cashier"]},
//!  "Farming": ["Farmer", {"Forestry": ["Forester"]}]}
//! ```
//!
//! The top is the root; a single key `*` around everything is the root, too. A value is a text or a whole number; a
//! group with one value may have it without an array. An array may also have objects: their keys are groups beside its
//! values. The rows that the tree stands for are assembled like those of a delimited file.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::{
    assemble::Row,
    fault::{Faults, HierarchyFileError, HierarchyProblem, Place},
    levels::{MARK, check_names},
};
use crate::{
    hierarchy::tree::{ROOT_LABEL, Tree},
    ids::NodeId,
    text::shown,
};

/// Levels that can be written: readers refuse deeper ones.
pub(super) const MAX_LEVELS: usize = 120;

/// JSON with all keys of an object, also equal ones. The parser limits its depth to 128.
enum Json {
    Label(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
    Other(&'static str),
}

struct AnyJson;

impl<'de> Visitor<'de> for AnyJson {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Json, E> {
        Ok(Json::Label(text.to_owned()))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Json, E> {
        Ok(Json::Label(number.to_string()))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Json, E> {
        Ok(Json::Label(number.to_string()))
    }

    fn visit_f64<E: de::Error>(self, _: f64) -> Result<Json, E> {
        // `1.50` and `1.5` are one number, but two values of a table.
        Ok(Json::Other("a number with a fraction or too many digits, which must be a text,"))
    }

    fn visit_bool<E: de::Error>(self, _: bool) -> Result<Json, E> {
        Ok(Json::Other("`true` or `false`"))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Json, E> {
        Ok(Json::Other("`null`"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json, A::Error> {
        let mut object = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            object.push(entry);
        }
        Ok(Json::Object(object))
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyJson)
    }
}

/// The rows of a tree, filled to one length, and the names of its levels.
pub(super) fn rows(text: &str) -> Result<(Vec<Row>, Vec<String>), HierarchyFileError> {
    let json: Json = serde_json::from_str(text).map_err(|error| {
        let place = Place::Row(error.line().max(1));
        // The messages of the parser name what it expected, never a text of the file.
        HierarchyFileError::one(place, HierarchyProblem::Json(error.to_string()))
    })?;
    let mut walk = Walk::default();
    let top = match json {
        Json::Object(mut entries) => {
            if let Some(at) = entries.iter().position(|(key, _)| key == MARK) {
                walk.levels(entries.remove(at).1);
            }
            match entries.as_slice() {
                [(key, _)] if key == ROOT_LABEL => entries.remove(0).1,
                _ => Json::Object(entries),
            }
        }
        Json::Label(_) => Json::Other("a single text"),
        other => other,
    };
    walk.node(top, &mut Vec::new(), &mut String::new());
    walk.faults.check()?;
    let width = walk.paths.iter().map(|(_, path)| path.len()).max().unwrap_or(0);
    let filled = |(place, mut path): (String, Vec<String>)| {
        let leaf = path.last().cloned().unwrap_or_default();
        path.resize(width, leaf);
        path.reverse();
        path.push(ROOT_LABEL.to_owned());
        Row { place: Place::Node(place), fields: path }
    };
    let rows: Vec<Row> = walk.paths.into_iter().map(filled).collect();
    if !walk.levels.is_empty() {
        let place = Place::Node(format!("/{MARK}"));
        if walk.levels.len() != width + 1 {
            let problem = HierarchyProblem::LevelCount { found: walk.levels.len(), expected: width + 1 };
            walk.faults.push(&place, problem);
        }
        check_names(&walk.levels, &place, &mut walk.faults);
        walk.faults.check()?;
    }
    Ok((rows, walk.levels))
}

#[derive(Default)]
struct Walk {
    /// Labels of each value's path from below the root to the value, with its place.
    paths: Vec<(String, Vec<String>)>,
    levels: Vec<String>,
    faults: Faults,
}

impl Walk {
    /// Recurses at most as deep as the parser did.
    fn node(&mut self, json: Json, path: &mut Vec<String>, place: &mut String) {
        let length = place.len();
        match json {
            Json::Label(label) => {
                path.push(label);
                self.paths.push((place.clone(), path.clone()));
                path.pop();
            }
            Json::List(items) if items.is_empty() => self.fault(place, HierarchyProblem::EmptyGroup),
            Json::Object(entries) if entries.is_empty() => self.fault(place, HierarchyProblem::EmptyGroup),
            Json::List(items) => {
                for (index, item) in items.into_iter().enumerate() {
                    *place += &format!("/{}", index + 1);
                    match item {
                        Json::List(_) => self.fault(place, HierarchyProblem::JsonKind("an array in an array")),
                        item => self.node(item, path, place),
                    }
                    place.truncate(length);
                }
            }
            Json::Object(entries) => {
                for (key, item) in entries {
                    *place += &format!("/{}", shown(&key));
                    path.push(key);
                    self.node(item, path, place);
                    path.pop();
                    place.truncate(length);
                }
            }
            Json::Other(what) => self.fault(place, HierarchyProblem::JsonKind(what)),
        }
    }

    fn levels(&mut self, json: Json) {
        let items = match json {
            Json::List(items) => items,
            _ => Vec::new(),
        };
        let name = |item: Json| match item {
            Json::Label(name) => Some(name),
            _ => None,
        };
        match items.into_iter().map(name).collect::<Option<Vec<String>>>() {
            Some(names) if !names.is_empty() => self.levels = names,
            _ => self.fault(&format!("/{MARK}"), HierarchyProblem::JsonLevels),
        }
    }

    fn fault(&mut self, place: &str, problem: HierarchyProblem) {
        self.faults.push(&Place::Node(place.to_owned()), problem);
    }
}

/// Writes a tree of at most [`MAX_LEVELS`] levels, a group per line.
pub(super) fn write(tree: &Tree, levels: &[String]) -> String {
    let mut out = String::new();
    if levels.is_empty() {
        group(tree, Tree::ROOT, 0, &mut out);
    } else {
        let names: Vec<String> = levels.iter().map(|name| literal(name)).collect();
        out += &format!("{{\n  {}: [{}],\n  {}: ", literal(MARK), names.join(", "), literal(ROOT_LABEL));
        group(tree, Tree::ROOT, 1, &mut out);
        out += "\n}";
    }
    out + "\n"
}

fn group(tree: &Tree, node: NodeId, depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    let leaves = tree.children(node).filter(|child| tree.is_leaf(*child)).count();
    let children = tree.children(node).count();
    if leaves == children {
        let values: Vec<String> = tree.children(node).map(|leaf| literal(tree.label(leaf))).collect();
        *out += &format!("[{}]", values.join(", "));
        return;
    }
    let (open, close) = if leaves == 0 { ('{', '}') } else { ('[', ']') };
    out.push(open);
    for (index, child) in tree.children(node).enumerate() {
        *out += &format!("{}\n{indent}  ", if index > 0 { "," } else { "" });
        let label = literal(tree.label(child));
        match (tree.is_leaf(child), leaves) {
            (true, _) => *out += &label,
            (false, 0) => {
                *out += &format!("{label}: ");
                group(tree, child, depth + 1, out);
            }
            (false, _) => {
                *out += &format!("{{{label}: ");
                group(tree, child, depth + 1, out);
                out.push('}');
            }
        }
    }
    *out += &format!("\n{indent}{close}");
}

fn literal(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

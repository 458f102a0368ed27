//! The key `hierarchy` of a column: how its values are generalized.

use crate::{
    document::{Entry, Fields, Item, PolicyError, TomlTable, Value, holds, list, wrong},
    hierarchy::{
        DateLevel, Decimal, HierarchyChoice,
        numeric::{Builder, Built, widths::nests},
    },
    schema::Kind,
    suggest::nearest,
    text::shown,
};

const HIERARCHY: &str = "the path of a hierarchy file (such as \"ages.csv\"), \"free\", { widths = [..] }, \
     { bins = [..] }, { prefix = [..] }, { dates = [..] }, or one that is built from the data: \"iotf\", \"otf\", \
     \"chu\", \"han\", \"equal-width\" or \"equal-frequency\"";

/// Keys of the table form, `hierarchy = { .. }`.
pub(super) const KEYS: &[&str] =
    &["widths", "bins", "prefix", "dates", "method", "levels", "threshold", "fan-out", "parts"];

/// Keys that say where the hierarchy comes from; a table has exactly one of them.
const SOURCE_KEYS: &[&str] = &["widths", "bins", "prefix", "dates", "method"];

/// Methods that build a hierarchy from the data, each with its parameters besides `levels`.
const METHODS: &[(&str, &[&str])] = &[
    ("iotf", &[]),
    ("otf", &[]),
    ("chu", &["threshold"]),
    ("han", &["fan-out", "threshold"]),
    ("equal-width", &["parts"]),
    ("equal-frequency", &["parts"]),
];

/// The column's hierarchy, which must fit its type.
pub(super) fn hierarchy(fields: &Fields<'_>, kind: Option<Kind>) -> Result<HierarchyChoice, PolicyError> {
    let Some(item) = fields.item("hierarchy") else { return Ok(HierarchyChoice::Default) };
    let choice = match &item.value {
        Value::Text(text) => named(text, item)?,
        Value::Table(table) => with_parameters(table, item)?,
        _ => return Err(wrong("hierarchy", item, HIERARCHY)),
    };
    fits(&choice, kind, item)?;
    Ok(choice)
}

fn fits(choice: &HierarchyChoice, kind: Option<Kind>, item: &Item) -> Result<(), PolicyError> {
    let (fitting, what): (&[Kind], &str) = match choice {
        HierarchyChoice::Default | HierarchyChoice::File(_) => return Ok(()),
        HierarchyChoice::Free | HierarchyChoice::Built(_) => (&[Kind::Number, Kind::Date], "numbers"),
        HierarchyChoice::Widths(_) | HierarchyChoice::Bins(_) => (&[Kind::Number], "numbers"),
        HierarchyChoice::Prefix(_) => (&[Kind::Category], "codes"),
        HierarchyChoice::Dates(_) => (&[Kind::Date], "dates"),
    };
    let Some(kind) = kind.filter(|kind| !fitting.contains(kind)) else { return Ok(()) };
    let help = match (kind, choice) {
        (Kind::Number, HierarchyChoice::Prefix(_)) => "codes that are made of digits have `type = \"category\"`",
        (Kind::Number, _) => "dates have `type = \"date\"`",
        (Kind::Category, _) => {
            "a category has a hierarchy file, { prefix = [..] } for codes, or none: then all its values are directly \
             under `*`"
        }
        (Kind::Date, _) => {
            "a date has levels such as { dates = [\"month\", \"year\"] }, \"free\", one that is built such as \"iotf\", \
             a hierarchy file, or none: then any interval"
        }
    };
    let message = format!("this `hierarchy` is for {what}, but `type` is \"{}\"", kind.name());
    Err(PolicyError::new(&item.span, message).help(help))
}

/// A hierarchy that is given as a text.
fn named(text: &str, item: &Item) -> Result<HierarchyChoice, PolicyError> {
    if text == "free" {
        return Ok(HierarchyChoice::Free);
    }
    if METHODS.iter().any(|(name, _)| *name == text) {
        let nothing = TomlTable { entries: Vec::new(), span: item.span.clone() };
        return built(text, &Fields::new(&nothing, "`hierarchy`", KEYS)?);
    }
    if text.contains(['.', '/', '\\']) {
        return Ok(HierarchyChoice::File(text.to_owned()));
    }
    let methods = METHODS.iter().map(|(name, _)| *name);
    let help = match nearest(text, ["free", "widths", "bins", "prefix", "dates"].into_iter().chain(methods)) {
        Some(near) if SOURCE_KEYS.contains(&near) => Some(format!("did you mean {{ {near} = [..] }}?")),
        Some(near) => Some(format!("did you mean \"{near}\"?")),
        None if text.is_empty() => None,
        None => Some(format!("if it is a file, write \"./{0}\" or \"{0}.csv\"", shown(text))),
    };
    Err(wrong("hierarchy", item, HIERARCHY).maybe_help(help))
}

/// A hierarchy that is given as a table.
fn with_parameters(table: &TomlTable, item: &Item) -> Result<HierarchyChoice, PolicyError> {
    let fields = Fields::new(table, "`hierarchy`", KEYS)?;
    let (sources, parameters): (Vec<&Entry>, Vec<&Entry>) =
        table.entries.iter().partition(|entry| SOURCE_KEYS.contains(&entry.key.as_str()));
    let source = match *sources.as_slice() {
        [] if parameters.is_empty() => return Err(wrong("hierarchy", item, HIERARCHY)),
        [] => return fields.required("method", &method_names(), None),
        [source] => source,
        [first, second, ..] => {
            let message = format!("`hierarchy` has both `{}` and `{}`; it must have one", first.key, second.key);
            return Err(PolicyError::new(&second.item.span, message));
        }
    };
    let value = &source.item;
    if source.key == "method" {
        let method = fields.text("method", &method_names())?.unwrap_or_default();
        let Some((_, own)) = METHODS.iter().find(|(name, _)| *name == method) else {
            return Err(fields.unknown_word("method", method, METHODS.iter().map(|(name, _)| *name)));
        };
        let foreign = |entry: &&&Entry| entry.key != "levels" && !own.contains(&entry.key.as_str());
        if let Some(entry) = parameters.iter().find(foreign) {
            return Err(misplaced(entry, &format!("for method \"{method}\"")));
        }
        return built(method, &fields);
    }
    if let Some(entry) = parameters.first() {
        return Err(misplaced(entry, &format!("beside `{}`", source.key)));
    }
    Ok(match source.key.as_str() {
        "widths" => HierarchyChoice::Widths(widths(value)?),
        "bins" => HierarchyChoice::Bins(bins(value)?),
        "prefix" => HierarchyChoice::Prefix(prefix(value)?),
        _ => HierarchyChoice::Dates(dates(value)?),
    })
}

fn method_names() -> String {
    list(METHODS.iter().map(|(name, _)| *name))
}

/// An error about a parameter of another method.
fn misplaced(entry: &Entry, place: &str) -> PolicyError {
    let key = entry.key.as_str();
    let owners = METHODS.iter().filter(|(_, own)| key == "levels" || own.contains(&key)).map(|(name, _)| *name);
    let message = format!("`{key}` has no effect {place}; it is for method {}", list(owners));
    PolicyError::new(&entry.key_span, message)
}

/// A hierarchy that is built from the data; parameters that are not set have their defaults.
fn built(method: &str, fields: &Fields<'_>) -> Result<HierarchyChoice, PolicyError> {
    let whole = |key: &str, min: u32, what: &str| -> Result<Option<u32>, PolicyError> {
        fields.read(key, &format!("a whole number of at least {min}: {what}"), |value| as_whole(value, min))
    };
    let threshold = whole("threshold", 1, "nodes with at most this many values are not split")?;
    let threshold = |default: u32| threshold.unwrap_or(default) as usize;
    let parts = || fields.item("parts").map_or(Ok(Builder::PARTS.to_vec()), parts);
    let builder = match method {
        "iotf" => Builder::Iotf,
        "otf" => Builder::Otf,
        "chu" => Builder::Chu { threshold: threshold(Builder::CHU_THRESHOLD) },
        "han" => {
            let fan_out = whole("fan-out", 2, "number of parts that a node is split into")?;
            let fan_out = fan_out.unwrap_or(Builder::HAN_FAN_OUT) as usize;
            Builder::Han { fan_out, threshold: threshold(Builder::HAN_THRESHOLD) }
        }
        "equal-width" => Builder::EqualWidth(parts()?),
        _ => Builder::EqualFrequency(parts()?),
    };
    let levels = whole("levels", 2, "number of levels, values and `*` included")?;
    Ok(HierarchyChoice::Built(Built { builder, levels }))
}

fn widths(item: &Item) -> Result<Vec<Decimal>, PolicyError> {
    let right = "a list of numbers above 0, each a multiple of the one before and larger, e.g. [5, 10, 20]";
    let widths = numbers("widths", item, right, 1)?;
    let mut last: Option<&Decimal> = None;
    for (width, item) in &widths {
        match last {
            _ if !width.is_positive() => return Err(holds("widths", item, right)),
            Some(last) if !nests(last, width) => return Err(out_of_order("widths", item, last, right)),
            _ => last = Some(width),
        }
    }
    Ok(widths.into_iter().map(|(width, _)| width).collect())
}

fn bins(item: &Item) -> Result<Vec<Decimal>, PolicyError> {
    let right =
        "a list of at least two numbers, the edges of the bins, each larger than the one before, e.g. [0, 18, 65, 120]";
    let edges = numbers("bins", item, right, 2)?;
    for pair in edges.windows(2) {
        if let [(before, _), (edge, item)] = pair
            && edge <= before
        {
            return Err(out_of_order("bins", item, before, right));
        }
    }
    Ok(edges.into_iter().map(|(edge, _)| edge).collect())
}

fn prefix(item: &Item) -> Result<Vec<u32>, PolicyError> {
    let right = "a list of whole numbers of at least 1, each smaller than the one before: the leading characters of a \
                 code that each level keeps, e.g. [5, 3, 2]";
    descending("prefix", item, right, 1, |_, _| true)
}

fn parts(item: &Item) -> Result<Vec<u32>, PolicyError> {
    let right = "a list of whole numbers of at least 2, each a multiple of the next and larger, e.g. [32, 16, 8, 4, 2]";
    descending("parts", item, right, 2, |before, next| before.is_multiple_of(next))
}

fn dates(item: &Item) -> Result<Vec<DateLevel>, PolicyError> {
    let names = DateLevel::ALL.map(DateLevel::name);
    let right = format!("a list of levels, the finest first, of {}", list(names));
    let mut levels: Vec<DateLevel> = Vec::new();
    for item in items("dates", item, &right, 1)? {
        let named = |level: &DateLevel| matches!(&item.value, Value::Text(text) if text == level.name());
        let Some(level) = DateLevel::ALL.into_iter().find(named) else {
            let near = match &item.value {
                Value::Text(text) => nearest(text, names),
                _ => None,
            };
            return Err(holds("dates", item, &right).maybe_help(near.map(|near| format!("did you mean \"{near}\"?"))));
        };
        if let Some(last) = levels.last().filter(|last| **last >= level) {
            return Err(out_of_order("dates", item, format!("\"{}\"", last.name()), &right));
        }
        levels.push(level);
    }
    Ok(levels)
}

fn out_of_order(key: &str, item: &Item, before: impl std::fmt::Display, right: &str) -> PolicyError {
    PolicyError::new(&item.span, format!("`{key}` has {item} after {before}; it must be {right}"))
}

fn items<'t>(key: &str, item: &'t Item, right: &str, min: usize) -> Result<&'t [Item], PolicyError> {
    match &item.value {
        Value::Array(items) if items.len() >= min => Ok(items),
        _ => Err(wrong(key, item, right)),
    }
}

fn numbers<'t>(key: &str, item: &'t Item, right: &str, min: usize) -> Result<Vec<(Decimal, &'t Item)>, PolicyError> {
    let exact = |item: &Item| match item.value {
        Value::Integer(integer) => Some(Decimal::from(integer)),
        Value::Float(float) => Decimal::of_float(float),
        _ => None,
    };
    let number = |item: &'t Item| exact(item).map(|number| (number, item)).ok_or_else(|| holds(key, item, right));
    items(key, item, right, min)?.iter().map(number).collect()
}

fn as_whole(value: &Value, min: u32) -> Option<u32> {
    match value {
        Value::Integer(number) => u32::try_from(*number).ok().filter(|number| *number >= min),
        _ => None,
    }
}

/// A list of strictly descending whole numbers; `fits` must hold for each number and the next.
fn descending(
    key: &str,
    item: &Item,
    right: &str,
    min: u32,
    fits: impl Fn(u32, u32) -> bool,
) -> Result<Vec<u32>, PolicyError> {
    let mut numbers: Vec<u32> = Vec::new();
    for item in items(key, item, right, 1)? {
        let number = as_whole(&item.value, min).ok_or_else(|| holds(key, item, right))?;
        if let Some(&before) = numbers.last().filter(|before| **before <= number || !fits(**before, number)) {
            return Err(out_of_order(key, item, before, right));
        }
        numbers.push(number);
    }
    Ok(numbers)
}

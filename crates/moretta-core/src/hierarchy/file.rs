//! The hierarchy file: one row per leaf, the leaf first, then its parent, and so on up to `*`.
//!
//! Fields are separated by `;`, tab or `,` (the first of these that occurs in the first row), may be quoted, and every
//! row has the same number of them. A label repeated next to itself on a row is one node, so leaves may have different
//! depths. A contradiction is an error that names the row, never repaired: a hierarchy decides what is released.

use hashbrown::HashMap;

use super::tree::{ROOT_LABEL, Tree, TreeBuilder};
use crate::{ids::NodeId, text::shown};

/// An error in a hierarchy file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("row {row}: {problem}")]
pub struct HierarchyFileError {
    /// The row, from 1.
    pub row: usize,
    /// The contradiction; its message says how to correct it.
    pub problem: HierarchyProblem,
}

/// The ways in which a hierarchy file can contradict itself.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HierarchyProblem {
    /// No rows at all.
    #[error("the file has no rows; it needs one row per value: the value, its parent, and so on up to `*`")]
    Empty,
    /// A row with another number of fields than the first.
    #[error("{found} fields where the first row has {expected}; repeat a label to fill a shorter path")]
    Ragged {
        /// Fields in this row.
        found: usize,
        /// Fields in the first row.
        expected: usize,
    },
    /// An empty field.
    #[error("field {field} is empty; every level needs a label")]
    EmptyField {
        /// The field, from 1.
        field: usize,
    },
    /// A row that does not end in the root.
    ///
    /// The field is not shown: a file of records with another delimiter has the whole record in it.
    #[error("the last field is not `*`; every row must end in `*`")]
    NoRoot,
    /// The root's label below the root.
    #[error("`*` is in field {field}; it is the root and must be the last field")]
    RootBelow {
        /// The field, from 1.
        field: usize,
    },
    /// The same value on two rows.
    #[error("the value `{}` has a row already (row {earlier}); each value has exactly one", shown(.leaf))]
    LeafTwice {
        /// Label of the value.
        leaf: String,
        /// Its first row.
        earlier: usize,
    },
    /// A label under two parents.
    #[error("`{}` has another parent here than in row {earlier}; a label has one parent", shown(.label))]
    TwoParents {
        /// Label of the node.
        label: String,
        /// The row of the other parent.
        earlier: usize,
    },
    /// A label above itself.
    #[error("`{}` is above itself in the hierarchy; a path to the root cannot have a cycle", shown(.label))]
    Cycle {
        /// Label of the node.
        label: String,
    },
    /// A value that is also a node above other values.
    #[error(
        "`{}` is a value with its own row (row {leaf_row}) and also a group of values; use another label for the group",
        shown(.label)
    )]
    LeafAndInner {
        /// Label of the node.
        label: String,
        /// The row where it is a leaf.
        leaf_row: usize,
    },
    /// A quote that is not closed, or text after a closing quote.
    #[error("a quoted field is not closed properly; double a quote that belongs to the text")]
    Quote,
}

/// Reads a hierarchy file's text.
pub fn parse(text: &str) -> Result<Tree, HierarchyFileError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = Reader::new();
    let delimiter = delimiter_of(text.lines().next().unwrap_or(""));
    for (index, line) in text.lines().enumerate() {
        let row = index + 1;
        let at = |problem| HierarchyFileError { row, problem };
        if line.trim().is_empty() {
            continue;
        }
        let fields = split(line, delimiter).ok_or_else(|| at(HierarchyProblem::Quote))?;
        reader.row(row, fields).map_err(at)?;
    }
    if reader.width.is_none() {
        return Err(HierarchyFileError { row: 1, problem: HierarchyProblem::Empty });
    }
    Ok(reader.builder.build())
}

/// Inverse of [`rows`]. Unlike in a file, a value may be the empty text.
pub fn from_rows(rows: Vec<Vec<String>>) -> Result<Tree, HierarchyFileError> {
    let mut reader = Reader { empty_leaf: true, ..Reader::new() };
    for (index, fields) in rows.into_iter().enumerate() {
        reader.row(index + 1, fields).map_err(|problem| HierarchyFileError { row: index + 1, problem })?;
    }
    Ok(reader.builder.build())
}

/// Text of a tree as a hierarchy file; inverse of [`parse`]. Check [`bytes`] first: a deep tree makes a very long text.
pub fn write(tree: &Tree) -> String {
    let labels: Vec<String> = tree.nodes().map(|node| quoted(tree.label(node))).collect();
    let mut text = String::with_capacity(usize::try_from(bytes(tree)).unwrap_or(0));
    let deepest = deepest(tree);
    for code in 0..tree.leaf_count() as u32 {
        for (field, node) in row_of(tree, code, deepest).enumerate() {
            text.push_str(if field > 0 { ";" } else { "" });
            text.push_str(&labels[node.index()]);
        }
        text.push('\n');
    }
    text
}

/// Length of the file in bytes, which may be quadratic in the size of a deep tree. Cost: linear in the tree.
pub fn bytes(tree: &Tree) -> u64 {
    let deepest = deepest(tree);
    // By node, the length of its path to the root.
    let mut paths = vec![0u64; tree.len()];
    let mut sum = 0u64;
    for node in tree.nodes() {
        let own = quoted(tree.label(node)).len() as u64 + 1;
        paths[node.index()] = own + tree.parent(node).map_or(0, |parent| paths[parent.index()]);
        if tree.is_leaf(node) {
            let repeated = own.saturating_mul(u64::from(deepest - tree.depth(node)));
            sum = sum.saturating_add(paths[node.index()]).saturating_add(repeated);
        }
    }
    sum
}

fn deepest(tree: &Tree) -> u32 {
    tree.nodes().map(|node| tree.depth(node)).max().unwrap_or(0)
}

/// One path per leaf, from the leaf to the root, all of the same length: shorter paths repeat the leaf.
pub fn rows(tree: &Tree) -> Vec<Vec<&str>> {
    let deepest = deepest(tree);
    let labels = |code: u32| row_of(tree, code, deepest).map(|node| tree.label(node)).collect();
    (0..tree.leaf_count() as u32).map(labels).collect()
}

/// The nodes of a leaf's row: the leaf, again for each level that its path lacks, then the nodes above it.
fn row_of(tree: &Tree, code: u32, deepest: u32) -> impl Iterator<Item = NodeId> {
    let leaf = tree.leaf(code);
    let filling = std::iter::repeat_n(leaf, (deepest - tree.depth(leaf)) as usize);
    filling.chain(std::iter::successors(Some(leaf), |node| tree.parent(*node)))
}

struct Reader {
    builder: TreeBuilder,
    seen: HashMap<String, Seen>,
    width: Option<usize>,
    /// Whether a leaf may be the empty text.
    empty_leaf: bool,
}

struct Seen {
    handle: usize,
    parent: String,
    row: usize,
    leaf: bool,
}

impl Reader {
    fn new() -> Self {
        let root = Seen { handle: TreeBuilder::ROOT, parent: String::new(), row: 0, leaf: false };
        let seen = HashMap::from([(ROOT_LABEL.to_owned(), root)]);
        Self { builder: TreeBuilder::default(), seen, width: None, empty_leaf: false }
    }

    fn row(&mut self, row: usize, fields: Vec<String>) -> Result<(), HierarchyProblem> {
        let expected = *self.width.get_or_insert(fields.len());
        if fields.len() != expected {
            return Err(HierarchyProblem::Ragged { found: fields.len(), expected });
        }
        let filled = |(field, label): (usize, &String)| {
            !label.is_empty() || (self.empty_leaf && fields[..field].iter().all(String::is_empty))
        };
        if let Some(field) = fields.iter().enumerate().position(|at| !filled(at)) {
            return Err(HierarchyProblem::EmptyField { field: field + 1 });
        }
        let mut path = fields.clone();
        path.dedup();
        if path.last().map(String::as_str) != Some(ROOT_LABEL) {
            return Err(HierarchyProblem::NoRoot);
        }
        if let Some(field) = fields.iter().position(|label| label == ROOT_LABEL)
            && (path[..path.len() - 1].iter().any(|label| label == ROOT_LABEL) || path.len() < 2)
        {
            return Err(HierarchyProblem::RootBelow { field: field + 1 });
        }
        if let Some(label) = repeated(&path) {
            return Err(HierarchyProblem::Cycle { label: path.swap_remove(label) });
        }
        self.insert(row, &path)
    }

    fn insert(&mut self, row: usize, path: &[String]) -> Result<(), HierarchyProblem> {
        // From the root down: a parent is inserted before its children.
        for at in (0..path.len() - 1).rev() {
            let (label, parent) = (&path[at], &path[at + 1]);
            let leaf = at == 0;
            if let Some(seen) = self.seen.get(label) {
                if seen.leaf && leaf {
                    return Err(HierarchyProblem::LeafTwice { leaf: label.clone(), earlier: seen.row });
                }
                if seen.leaf || leaf {
                    let leaf_row = if leaf { row } else { seen.row };
                    return Err(HierarchyProblem::LeafAndInner { label: label.clone(), leaf_row });
                }
                if seen.parent != *parent {
                    return Err(HierarchyProblem::TwoParents { label: label.clone(), earlier: seen.row });
                }
                continue;
            }
            let handle = self.builder.add(label.as_str(), self.seen[parent.as_str()].handle);
            self.seen.insert(label.clone(), Seen { handle, parent: parent.clone(), row, leaf });
        }
        Ok(())
    }
}

/// Position of the first label that occurs again later. Linear, because paths may have thousands of labels.
fn repeated(path: &[String]) -> Option<usize> {
    let lasts: HashMap<&str, usize> = path.iter().enumerate().map(|(at, label)| (label.as_str(), at)).collect();
    (lasts.len() < path.len()).then(|| (0..path.len()).find(|&at| lasts[path[at].as_str()] > at)).flatten()
}

fn delimiter_of(first: &str) -> char {
    let is_outside_quotes = |delimiter: &char| first.split('"').step_by(2).any(|part| part.contains(*delimiter));
    [';', '\t', ','].into_iter().find(is_outside_quotes).unwrap_or(';')
}

/// The fields of one line; `None` if its quotes do not match.
fn split(line: &str, delimiter: char) -> Option<Vec<String>> {
    let mut fields = Vec::new();
    let mut rest = line;
    loop {
        let trimmed = rest.trim_start_matches(|c: char| c == ' ' && c != delimiter);
        if let Some(mut inside) = trimmed.strip_prefix('"') {
            let mut field = String::new();
            loop {
                let end = inside.find('"')?;
                field.push_str(&inside[..end]);
                inside = &inside[end + 1..];
                let Some(more) = inside.strip_prefix('"') else { break };
                field.push('"');
                inside = more;
            }
            fields.push(field);
            match inside.trim_start_matches(' ').strip_prefix(delimiter) {
                Some(more) => rest = more,
                None => return inside.trim().is_empty().then_some(fields),
            }
        } else {
            let (field, more) = rest.split_once(delimiter).map_or((rest, None), |(field, more)| (field, Some(more)));
            fields.push(field.trim_matches(' ').to_owned());
            let Some(more) = more else { return Some(fields) };
            rest = more;
        }
    }
}

fn quoted(label: &str) -> String {
    if label.contains([';', '\t', ',', '"']) || label.starts_with(' ') || label.ends_with(' ') {
        format!("\"{}\"", label.replace('"', "\"\""))
    } else {
        label.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> (usize, HierarchyProblem) {
        let error = parse(text).unwrap_err();
        (error.row, error.problem)
    }

    #[test]
    fn leaves_may_sit_at_different_depths_and_siblings_may_be_apart() {
        let tree = parse("a;a;x;*\nb;b;y;*\nc;g;x;*\nd;g;x;*\n").unwrap();
        let labels: Vec<_> = (0..4).map(|code| tree.label(tree.leaf(code))).collect();
        assert_eq!(labels, ["a", "c", "d", "b"]);
        assert_eq!(tree.label(tree.cover(1, 2)), "g");
        assert_eq!(tree.label(tree.cover(0, 1)), "x");
        assert_eq!(tree.label(tree.cover(2, 3)), "*");
    }

    #[test]
    fn other_delimiters_marks_and_quotes() {
        let plain = parse("a;x, y;*\nb;x, y;*\n").unwrap();
        assert_eq!(plain, parse("\u{feff}a\tx, y\t*\r\nb\tx, y\t*\r\n").unwrap());
        assert_eq!(plain, parse("a,\"x, y\",*\n\"b\", \"x, y\" ,*").unwrap());
        assert_eq!(parse("\"say \"\"hi\"\"\";*").unwrap().label(crate::ids::NodeId(1)), "say \"hi\"");
    }

    #[test]
    fn what_is_written_is_read_back() {
        let tree = parse("a;a;x;*\nb;g;x;*\n\"c; d\";g;x;*\ne;e;e;*\n").unwrap();
        assert_eq!(parse(&write(&tree)).unwrap(), tree);
    }

    #[test]
    fn contradictions_are_errors_that_name_the_row() {
        use HierarchyProblem::*;
        assert_eq!(problem(""), (1, Empty));
        assert_eq!(problem("a;*\nb;x;*"), (2, Ragged { found: 3, expected: 2 }));
        assert_eq!(problem("a;x;*\nb;;*"), (2, EmptyField { field: 2 }));
        assert_eq!(problem("a;x;y"), (1, NoRoot));
        assert_eq!(problem("*;*"), (1, RootBelow { field: 1 }));
        assert_eq!(problem("a;*;x;*"), (1, RootBelow { field: 2 }));
        assert_eq!(problem("a;*\nb;*\na;*"), (3, LeafTwice { leaf: "a".into(), earlier: 1 }));
        let two = TwoParents { label: "x".into(), earlier: 1 };
        assert_eq!(problem("a;x;y;*\nb;x;z;*"), (2, two));
        assert_eq!(problem("a;b;a;*"), (1, Cycle { label: "a".into() }));
        assert_eq!(problem("x;*;*\na;x;*"), (2, LeafAndInner { label: "x".into(), leaf_row: 1 }));
        assert_eq!(problem("a;x;*\nx;*;*"), (2, LeafAndInner { label: "x".into(), leaf_row: 2 }));
        assert_eq!(problem("a;\"x;*"), (1, Quote));
    }
}

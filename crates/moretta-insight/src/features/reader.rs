//! Reads values and released labels of a column without the values of the table.

use std::{borrow::Cow, collections::HashMap};

#[cfg(doc)]
use moretta_core::counts::CountedColumn;
use moretta_core::{
    declaration::{ColumnPolicy, Labels},
    hierarchy::{
        DateLevel, HierarchyChoice, ROOT_LABEL, Tree, ValueParser, parse_number, period_ends, prefix_path,
        printed_interval, set_leaves,
    },
    ids::NodeId,
    notation::Notation,
    schema::{Kind, MissingRule, Role},
};

use super::FeatureError;

/// Declaration of a column, and how its texts are written.
#[derive(Debug, Clone)]
pub struct ColumnContext {
    /// Declaration in the policy.
    pub declared: ColumnPolicy,
    /// Hierarchy file of the column.
    pub tree: Option<Tree>,
    /// Texts that mean a missing value.
    pub missing: Vec<String>,
    /// Notation of numbers.
    pub notation: Notation,
    /// Labels of cells of several categories.
    pub labels: Labels,
}

impl ColumnContext {
    /// A text as it is written in the notation: a column that is `typed` ([`CountedColumn::typed`]) is in plain notation.
    pub(super) fn written<'t>(&self, text: &'t str, typed: bool) -> Cow<'t, str> {
        if typed { self.notation.write(text) } else { Cow::Borrowed(text) }
    }
}

/// Node of a hierarchy, as the labels from the top to it, without the root.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct NodePath(Vec<Box<str>>);

impl NodePath {
    /// Label of the node.
    pub(super) fn label(&self) -> &str {
        self.0.last().map_or(ROOT_LABEL, |label| label)
    }

    /// Number of nodes on the path.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn joined(&self) -> String {
        self.0.join("/")
    }

    /// The nodes of the path from the top on, the node itself included.
    pub(super) fn nodes(&self) -> impl Iterator<Item = Self> + '_ {
        (1..=self.0.len()).map(|length| Self(self.0[..length].to_vec()))
    }

    /// The longest common beginning of some paths.
    pub(super) fn common(paths: &[Self]) -> Self {
        let Some((first, others)) = paths.split_first() else { return Self::default() };
        let shared = |other: &Self| first.0.iter().zip(&other.0).take_while(|(a, b)| a == b).count();
        let length = others.iter().map(shared).min().unwrap_or(first.0.len());
        Self(first.0[..length].to_vec())
    }
}

/// What a text discloses of a record.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Meaning {
    /// Nothing: `*`.
    Anything,
    /// That the value is missing, in a column of numbers or dates.
    Missing,
    /// The ends of a range of numbers, or of seconds; equal for a value.
    Ends([f64; 2]),
    /// A node of the hierarchy, or the values of a set.
    Nodes(Vec<NodePath>),
}

/// Text that has no meaning in a column of numbers or dates.
#[derive(Debug)]
pub(super) struct Unreadable(String);

/// Reader of the texts of one column.
#[derive(Debug)]
pub(super) struct Reader {
    pub(super) context: ColumnContext,
    parser: ValueParser,
    /// Ends of the nodes of a hierarchy file over numbers or dates.
    ends: HashMap<String, [f64; 2]>,
    /// Nodes of a hierarchy file over categories.
    paths: HashMap<String, NodePath>,
}

impl Reader {
    /// Reader of a column with these texts.
    pub(super) fn new(context: ColumnContext, texts: &[Cow<'_, str>]) -> Self {
        let of_kind = |kind: Kind| Self::of_kind(context.clone(), kind);
        if let Some(kind) = context.declared.kind {
            return of_kind(kind);
        }
        // Labels such as 1984 may be numbers or years; either reading is right if it explains all labels.
        let explains = |reader: &Self| {
            let meanings = texts.iter().map(|text| (text, reader.read(text)));
            let mut present =
                meanings.filter(|(_, meaning)| !matches!(meaning, Ok(Meaning::Anything | Meaning::Missing)));
            let first = present.next();
            let is_read = |(text, meaning): (&Cow<'_, str>, Result<Meaning, Unreadable>)| {
                meaning.is_ok() && !(reader.kind() == Kind::Number && is_code(text))
            };
            first.is_some_and(is_read) && present.all(is_read)
        };
        let ordered = !matches!(context.declared.hierarchy, HierarchyChoice::Prefix(_));
        let kinds = [Kind::Number, Kind::Date].into_iter().filter(|_| ordered);
        kinds.map(of_kind).find(explains).unwrap_or_else(|| of_kind(Kind::Category))
    }

    fn of_kind(context: ColumnContext, kind: Kind) -> Self {
        let parser = ValueParser::new(kind, context.declared.format.as_ref());
        let mut reader = Self { context, parser, ends: HashMap::new(), paths: HashMap::new() };
        let Some(tree) = reader.context.tree.take() else { return reader };
        // Like a reader of a release: of several nodes with a label, the first one.
        for node in tree.nodes().filter(|node| tree.parent(*node).is_some()) {
            let label = tree.label(node).to_owned();
            if kind == Kind::Category {
                reader.paths.entry(label).or_insert_with(|| path_of(&tree, node));
            } else if let Some(ends) = reader.ends_of_node(&tree, node) {
                reader.ends.entry(label).or_insert(ends);
            }
        }
        reader
    }

    fn ends_of_node(&self, tree: &Tree, node: NodeId) -> Option<[f64; 2]> {
        let (first, last) = tree.range(node);
        let number = |code| self.number(tree.label(tree.leaf(code)));
        let mut numbers = (first..=last).filter_map(number);
        let first = numbers.next()?;
        Some(numbers.fold([first, first], |[low, high], number| [low.min(number), high.max(number)]))
    }

    pub(super) fn kind(&self) -> Kind {
        self.parser.kind()
    }

    pub(super) fn name(&self) -> &str {
        &self.context.declared.name
    }

    /// Whether the column is released unchanged.
    pub(super) fn is_kept(&self) -> bool {
        self.context.declared.role != Role::QuasiIdentifier
    }

    pub(super) fn error(&self, unreadable: &Unreadable) -> FeatureError {
        FeatureError { column: self.name().to_owned(), text: unreadable.0.clone(), kind: self.kind() }
    }

    /// Number or seconds of a value.
    fn number(&self, text: &str) -> Option<f64> {
        match self.kind() {
            Kind::Number => parse_number(&self.context.notation.number(text)?).ok(),
            _ => self.parser.number(text).ok(),
        }
    }

    pub(super) fn read(&self, text: &str) -> Result<Meaning, Unreadable> {
        if text == ROOT_LABEL && !self.is_kept() {
            return Ok(Meaning::Anything);
        }
        if self.context.missing.iter().any(|missing| missing == text) {
            let is_category = self.kind() == Kind::Category;
            return Ok(match self.context.declared.missing {
                MissingRule::Suppress if !self.is_kept() => Meaning::Anything,
                // Texts that mean a missing value are one category.
                _ if is_category => Meaning::Nodes(vec![NodePath(vec!["".into()])]),
                _ => Meaning::Missing,
            });
        }
        if self.kind() == Kind::Category {
            return Ok(Meaning::Nodes(self.paths_of(text)));
        }
        self.ends_of(text).map(Meaning::Ends).ok_or_else(|| Unreadable(text.to_owned()))
    }

    fn ends_of(&self, text: &str) -> Option<[f64; 2]> {
        if let Some(&ends) = self.ends.get(text) {
            return Some(ends);
        }
        if let Some(number) = self.number(text) {
            return Some([number, number]);
        }
        if self.is_kept() {
            return None;
        }
        let is_number = self.kind() == Kind::Number;
        let label = if is_number { self.context.notation.label(text)? } else { text.into() };
        if let Some((low, high, _)) = printed_interval(&label) {
            return Some([self.parser.number(low).ok()?, self.parser.number(high).ok()?]);
        }
        let levels: &[DateLevel] = match &self.context.declared.hierarchy {
            HierarchyChoice::Dates(levels) => levels,
            HierarchyChoice::Default if self.kind() == Kind::Date => &DateLevel::ALL,
            _ => return None,
        };
        period_ends(text, levels, &self.parser).map(|(first, last)| [first, last])
    }

    /// Paths of a category, or of the values of a printed set.
    fn paths_of(&self, text: &str) -> Vec<NodePath> {
        let alone = |text: &str| {
            if let Some(path) = self.paths.get(text) {
                return path.clone();
            }
            match &self.context.declared.hierarchy {
                HierarchyChoice::Prefix(lengths) if !self.is_kept() => {
                    NodePath(prefix_path(text, lengths).into_iter().map(String::into_boxed_str).collect())
                }
                _ => NodePath(vec![text.into()]),
            }
        };
        let may_be_set = self.context.labels == Labels::Set && !self.is_kept() && !self.paths.contains_key(text);
        match set_leaves(text).filter(|_| may_be_set) {
            Some(leaves) => leaves.map(alone).collect(),
            None => vec![alone(text)],
        }
    }
}

/// Whether a number is written like a code, such as 00123.
fn is_code(text: &str) -> bool {
    let digits = text.trim_start_matches(['-', '+']);
    digits.len() > 1 && digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn path_of(tree: &Tree, node: NodeId) -> NodePath {
    let above = std::iter::successors(Some(node), |node| tree.parent(*node));
    let mut labels: Vec<Box<str>> =
        above.filter(|node| tree.parent(*node).is_some()).map(|node| tree.label(node).into()).collect();
    labels.reverse();
    NodePath(labels)
}

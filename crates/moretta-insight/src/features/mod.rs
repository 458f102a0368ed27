//! Numeric features of released columns, for models that are trained on a release and applied to original records.
//!
//! Guarantee: a feature of a record depends on the policy, on the distinct labels of the release that the encoder was
//! fitted on, and on the record alone. A label and a value inside it agree in every feature that the label determines, so
//! that a model learns from what a recipient knows and is applied to the same.
//!
//! | column | features |
//! | --- | --- |
//! | numbers and dates | both ends of the label's interval; a value is both ends, `*` the widest interval of the release |
//! | categories, indicators | for each label of the release and each node above it: 1 if the cell lies in the node |
//! | categories, ordinal | for each level: the number of the cell's node on that level, or -1 |
//! | kept numbers and dates | the number |
//!
//! A missing number is NaN; a missing category is a category of its own. If a policy suppresses missing values, they are
//! released as `*` and are encoded like it. Nodes of a label: those of its hierarchy file, its prefixes, or the label
//! alone. A printed set (`{a, b}`) gives each of its values an equal share of the indicator. Nodes that the release does
//! not have are unknown to the encoder: a value below them has only the features of the nodes above.
//!
//! How: each distinct text of a column is read once (`reader.rs`) and encoded once; records are rows of codes of these
//! texts. Cost: one copy of the features of a text per record.

mod reader;
#[cfg(test)]
mod tests;

use std::{
    borrow::Cow,
    collections::{BTreeSet, HashMap},
};

use moretta_core::{
    counts::{CountedColumn, Counts},
    schema::Kind,
    text::shown,
};
use rayon::prelude::*;

pub use self::reader::ColumnContext;
use self::reader::{Meaning, NodePath, Reader};

/// Features of a column of categories.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Categories {
    /// An indicator for each known node.
    #[default]
    Indicators,
    /// A number for each level.
    Ordinal,
}

/// A text that is neither a value nor a label of its column.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("column `{}`: `{}` is neither a value nor a label of a release ({})", shown(.column), shown(.text), kind_of_values(*.kind))]
pub struct FeatureError {
    /// Name of the column.
    pub column: String,
    /// Text of the cell.
    pub text: String,
    /// Type of the column.
    pub kind: Kind,
}

fn kind_of_values(kind: Kind) -> &'static str {
    match kind {
        Kind::Number => "the column has numbers",
        Kind::Date => "the column has dates",
        Kind::Category => "the column has categories",
    }
}

/// What an encoder knows of a column, besides the policy: enough to make the same encoder again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownColumn {
    /// Name of the column.
    pub name: String,
    /// Type of its values.
    pub kind: Kind,
    /// Labels that determine its features.
    pub labels: Vec<String>,
}

/// Encoder of one column.
#[derive(Debug)]
pub struct ColumnEncoder {
    reader: Reader,
    features: Features,
}

#[derive(Debug)]
enum Features {
    /// Both ends; those of `*`.
    Ends([f64; 2]),
    /// The number itself.
    Value,
    /// Index of the indicator of each node.
    Indicators(HashMap<NodePath, usize>),
    /// By level, the number of each node.
    Levels(Vec<HashMap<NodePath, usize>>),
}

impl ColumnEncoder {
    /// Learns the features of a column from the distinct texts of a release. The type of the column is the declared one,
    /// or inferred from the texts.
    pub fn fit(context: ColumnContext, column: &CountedColumn, categories: Categories) -> Result<Self, FeatureError> {
        let texts: Vec<Cow<'_, str>> = column.values.iter().map(|text| context.written(text, column.typed)).collect();
        let reader = Reader::new(context, &texts);
        let meanings = texts.iter().map(|text| reader.read(text)).collect::<Result<Vec<_>, _>>();
        let meanings = meanings.map_err(|unreadable| reader.error(&unreadable))?;
        let features = match (reader.kind(), categories) {
            (Kind::Number | Kind::Date, _) if reader.is_kept() => Features::Value,
            (Kind::Number | Kind::Date, _) => Features::Ends(widest(&meanings)),
            (Kind::Category, Categories::Indicators) => Features::Indicators(numbered(nodes(&meanings))),
            (Kind::Category, Categories::Ordinal) => {
                let mut levels: Vec<BTreeSet<NodePath>> = Vec::new();
                for node in nodes(&meanings) {
                    levels.resize(levels.len().max(node.len()), BTreeSet::new());
                    levels[node.len() - 1].insert(node);
                }
                Features::Levels(levels.into_iter().map(numbered).collect())
            }
        };
        Ok(Self { reader, features })
    }

    /// What the encoder knows of the column: [`fit`](Self::fit) on these labels makes the same encoder.
    pub fn known(&self, column: &CountedColumn) -> KnownColumn {
        let texts = column.values.iter().map(|text| self.reader.context.written(text, column.typed));
        let texts: Vec<Cow<'_, str>> = texts.collect();
        let mut labels: Vec<String> = match &self.features {
            Features::Value => Vec::new(),
            // The labels of the two ends.
            Features::Ends(ends) => {
                let has = |text: &str, end: usize| matches!(self.reader.read(text), Ok(Meaning::Ends(found)) if found[end] == ends[end]);
                let least = |end: usize| texts.iter().filter(|text| has(text, end)).min();
                [least(0), least(1)].into_iter().flatten().map(|text| text.to_string()).collect()
            }
            Features::Indicators(_) | Features::Levels(_) => texts.iter().map(|text| text.to_string()).collect(),
        };
        labels.sort_unstable();
        labels.dedup();
        KnownColumn { name: self.reader.name().to_owned(), kind: self.reader.kind(), labels }
    }

    /// Number of features.
    pub fn len(&self) -> usize {
        match &self.features {
            Features::Ends(_) => 2,
            Features::Value => 1,
            Features::Indicators(nodes) => nodes.len(),
            Features::Levels(levels) => levels.len(),
        }
    }

    /// Whether there are no features: every label of the release is `*`.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Names of the features: `age_low` and `age_high`, `income`, `postcode=123*`, `postcode_level1`.
    pub fn names(&self) -> Vec<String> {
        let column = self.reader.name();
        match &self.features {
            Features::Ends(_) => vec![format!("{column}_low"), format!("{column}_high")],
            Features::Value => vec![column.to_owned()],
            Features::Indicators(nodes) => {
                let mut labels: HashMap<&str, usize> = HashMap::new();
                nodes.keys().for_each(|path| *labels.entry(path.label()).or_default() += 1);
                let mut names = vec![String::new(); nodes.len()];
                for (path, &index) in nodes {
                    // A label may stand below several nodes.
                    let label = if labels[path.label()] > 1 { path.joined() } else { path.label().to_owned() };
                    names[index] = format!("{column}={label}");
                }
                names
            }
            Features::Levels(levels) => (1..=levels.len()).map(|level| format!("{column}_level{level}")).collect(),
        }
    }

    /// Writes the features of a value or label.
    pub fn encode(&self, text: &str, into: &mut [f64]) -> Result<(), FeatureError> {
        let meaning = self.reader.read(text).map_err(|unreadable| self.reader.error(&unreadable))?;
        match (&self.features, &meaning) {
            (Features::Ends(_), Meaning::Ends(ends)) => into.copy_from_slice(ends),
            (Features::Ends(widest), Meaning::Anything) => into.copy_from_slice(widest),
            (Features::Value, Meaning::Ends(ends)) => into[0] = ends[0],
            (Features::Ends(_) | Features::Value, _) => into.fill(f64::NAN),
            (Features::Indicators(nodes), Meaning::Nodes(paths)) => {
                into.fill(0.0);
                for path in paths {
                    for node in path.nodes().filter_map(|node| nodes.get(&node)) {
                        into[*node] += 1.0;
                    }
                }
                into.iter_mut().for_each(|share| *share /= paths.len() as f64);
            }
            (Features::Indicators(_), _) => into.fill(0.0),
            (Features::Levels(levels), meaning) => {
                into.fill(UNKNOWN);
                if let Meaning::Nodes(paths) = meaning {
                    let common = NodePath::common(paths);
                    for ((cell, level), node) in into.iter_mut().zip(levels).zip(common.nodes()) {
                        *cell = level.get(&node).map_or(UNKNOWN, |&number| number as f64);
                    }
                }
            }
        }
        Ok(())
    }
}

/// Number of a node that the encoder does not know, or that a label does not disclose.
const UNKNOWN: f64 = -1.0;

/// All nodes of some cells, with those above them.
fn nodes(meanings: &[Meaning]) -> BTreeSet<NodePath> {
    let paths = meanings.iter().filter_map(|meaning| match meaning {
        Meaning::Nodes(paths) => Some(paths),
        _ => None,
    });
    paths.flatten().flat_map(NodePath::nodes).collect()
}

fn numbered(nodes: BTreeSet<NodePath>) -> HashMap<NodePath, usize> {
    nodes.into_iter().enumerate().map(|(index, node)| (node, index)).collect()
}

/// The widest interval of some cells; 0 if none discloses a number.
fn widest(meanings: &[Meaning]) -> [f64; 2] {
    let ends = meanings.iter().filter_map(|meaning| match meaning {
        Meaning::Ends(ends) => Some(*ends),
        _ => None,
    });
    ends.reduce(|[low, high], [other_low, other_high]| [low.min(other_low), high.max(other_high)]).unwrap_or([0.0; 2])
}

/// Encoder of a table.
#[derive(Debug)]
pub struct Encoder {
    columns: Vec<ColumnEncoder>,
}

impl Encoder {
    /// Encoder of these columns, whose features come one after the other.
    pub fn new(columns: Vec<ColumnEncoder>) -> Self {
        Self { columns }
    }

    /// Names of the features.
    pub fn names(&self) -> Vec<String> {
        self.columns.iter().flat_map(ColumnEncoder::names).collect()
    }

    /// Number of features.
    pub fn len(&self) -> usize {
        self.columns.iter().map(ColumnEncoder::len).sum()
    }

    /// Whether there are no features.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Features of the rows of a table, row by row. Its columns are those of the encoder, in this order.
    pub fn encode(&self, rows: &Counts) -> Result<Vec<f64>, FeatureError> {
        let encoded = self.columns.par_iter().zip(&rows.columns).map(|(encoder, column)| {
            let width = encoder.len();
            let mut features = vec![0.0; column.values.len() * width];
            for (code, text) in column.values.iter().enumerate() {
                let text = encoder.reader.context.written(text, column.typed);
                encoder.encode(&text, &mut features[code * width..(code + 1) * width])?;
            }
            Ok(features)
        });
        let encoded = encoded.collect::<Result<Vec<_>, _>>()?;
        let mut features = vec![0.0; rows.rows() * self.len()];
        if !self.is_empty() {
            features.par_chunks_mut(self.len()).enumerate().for_each(|(row, mut rest)| {
                for ((encoder, features), &code) in self.columns.iter().zip(&encoded).zip(rows.row(row)) {
                    let (width, code) = (encoder.len(), code as usize);
                    let cells;
                    (cells, rest) = rest.split_at_mut(width);
                    cells.copy_from_slice(&features[code * width..(code + 1) * width]);
                }
            });
        }
        Ok(features)
    }
}

//! l-diversity (Machanavajjhala et al. 2006): every group has at least `l` well-represented sensitive values.
//!
//! - *distinct*: at least `l` different values;
//! - *entropy*: the entropy of the values is at least `log l`;
//! - *recursive* (c, l): with counts `r1 >= r2 >= ...`, `r1 < c (rl + r(l+1) + ...)`.

#[cfg(any(test, feature = "testing"))]
mod conformance;
mod section;

use serde::{Serialize, Serializer};

pub(super) use self::section::ENTRY;
use super::{
    BoundModel, BoundModels, Description, Figure, Group, ModelError, ModelFacts, PrivacyModel, Sentence, TOLERANCE,
    at_least, attribute_named, every_column, names_of, strictly, to_json,
};
use crate::{
    declaration::ColumnPolicy,
    ids::{AttributeId, ColumnId},
    profile::Tables,
    schema::{Role, Unit},
};

/// Each group holds at least `l` well-represented values of a column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LDiversity {
    /// The guarded column: sensitive or class.
    pub column: String,
    /// At least 1. Whole for distinct and recursive, at least 2 for recursive.
    #[serde(serialize_with = "whole_if_possible")]
    pub l: f64,
    /// The meaning of well-represented.
    #[serde(flatten)]
    pub kind: LDiversityKind,
}

/// The meaning of well-represented.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum LDiversityKind {
    /// `l` different values occur. The default.
    Distinct,
    /// The entropy of the values is at least ln `l`.
    Entropy,
    /// The most frequent value occurs less than `c` times as often as the `l`-th most frequent and all rarer ones
    /// together.
    Recursive {
        /// Above 0.
        c: f64,
    },
}

/// Writes `l = 3` as 3, not as 3.0.
fn whole_if_possible<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    const EXACT: f64 = (1_u64 << 53) as f64;
    if number.fract() == 0.0 && number.abs() < EXACT {
        serializer.serialize_i64(*number as i64)
    } else {
        serializer.serialize_f64(*number)
    }
}

struct BoundLDiversity {
    model: LDiversity,
    attribute: AttributeId,
    scope: Vec<ColumnId>,
    unit: Unit,
}

impl PrivacyModel for LDiversity {
    fn key(&self) -> &'static str {
        ENTRY.key
    }

    fn section(&self) -> serde_json::Value {
        to_json(self)
    }

    fn sentence(&self, _: &[ColumnPolicy]) -> Sentence {
        let sentence = Sentence::default();
        let l = self.l.to_string();
        match self.kind {
            LDiversityKind::Distinct => {
                let sentence = sentence.text("in every group, ").name(&self.column);
                sentence.text(format!(" has at least {l} different values"))
            }
            LDiversityKind::Entropy => {
                let sentence = sentence.text("in every group, the values of ").name(&self.column);
                sentence.text(format!(" are spread at least as evenly as {l} equally frequent ones (entropy)"))
            }
            LDiversityKind::Recursive { c } => {
                let sentence = sentence.text("in every group, the most frequent value of ").name(&self.column);
                let rest = format!("number {l} in frequency and all rarer ones together");
                sentence.text(format!(" occurs less than {c} times as often as {rest}"))
            }
        }
    }

    fn guards(&self, _: &[ColumnPolicy]) -> Vec<String> {
        vec![self.column.clone()]
    }

    fn assumes_known(&self, columns: &[ColumnPolicy]) -> Vec<String> {
        names_of(columns, Role::QuasiIdentifier)
    }

    fn is_trivial(&self) -> bool {
        self.l <= 1.0
    }

    /// The set of values does not depend on the persons who carry them.
    fn depends_on_persons(&self) -> bool {
        self.kind != LDiversityKind::Distinct
    }

    fn bind(&self, tables: &Tables<'_>) -> Result<BoundModels, ModelError> {
        let attribute = attribute_named(tables.table, &self.column)?;
        let (scope, unit) = (every_column(tables.table), tables.table.unit());
        Ok(BoundModels::of_group(BoundLDiversity { model: self.clone(), attribute, scope, unit }))
    }
}

impl BoundLDiversity {
    /// The figure of the group, and the limit that it must reach.
    fn figure_and_limit(&self, group: &Group<'_>) -> (f64, f64) {
        let mut counts: Vec<u64> = group.histogram(self.attribute).iter().map(|(_, records)| *records).collect();
        let l = self.model.l;
        match self.model.kind {
            LDiversityKind::Distinct => (counts.len() as f64, l),
            LDiversityKind::Entropy => (entropy(&counts, group.total(self.attribute)).exp(), l),
            LDiversityKind::Recursive { c } => {
                counts.sort_unstable_by(|a, b| b.cmp(a));
                let tail: u64 = counts.iter().skip(l as usize - 1).sum();
                (c * tail as f64, counts.first().copied().unwrap_or(0) as f64)
            }
        }
    }
}

/// In nats.
fn entropy(counts: &[u64], total: u64) -> f64 {
    let share = |&count: &u64| count as f64 / total as f64;
    -counts.iter().map(share).map(|p| p * p.ln()).sum::<f64>()
}

impl BoundModel for BoundLDiversity {
    fn describe(&self) -> Description {
        let LDiversity { column, l, kind } = &self.model;
        let (kind, limit) = match kind {
            LDiversityKind::Distinct => ("distinct", format!("{column}, l = {l}")),
            LDiversityKind::Entropy => ("entropy", format!("{column}, l = {l}")),
            LDiversityKind::Recursive { c } => ("recursive", format!("{column}, c = {c}, l = {l}")),
        };
        Description::new(ENTRY.key, format!("{kind} l-diversity"), limit)
    }

    fn scope(&self) -> &[ColumnId] {
        &self.scope
    }

    fn is_closed_under_union(&self) -> bool {
        self.unit == Unit::Records || self.model.kind == LDiversityKind::Distinct
    }

    fn margin(&self, group: &Group<'_>) -> f64 {
        let (figure, limit) = self.figure_and_limit(group);
        match self.model.kind {
            LDiversityKind::Recursive { .. } => strictly(at_least(limit, figure)),
            _ => at_least(limit, figure),
        }
    }

    fn facts(&self) -> ModelFacts {
        ModelFacts::new(self.model.clone())
    }

    fn advice(&self) -> Option<String> {
        let counts_values_only = self.unit == Unit::Persons && self.model.kind == LDiversityKind::Distinct;
        counts_values_only.then(|| {
            format!(
                "{}: the values of a group are counted, not the persons who have them; one person with several records \
                 can have all of them, and the others share one. kind = \"entropy\" weighs persons (with method \
                 \"best\" or \"genetic\")",
                self.describe()
            )
        })
    }

    fn min_records(&self) -> u64 {
        // `l` distinct values need at least `l` records, also if persons are counted. Rounded down by the tolerance, so
        // that no group that satisfies the model has fewer.
        (self.model.l * (1.0 - TOLERANCE)).ceil() as u64
    }

    fn figure(&self, group: &Group<'_>) -> Figure {
        let (figure, limit) = self.figure_and_limit(group);
        let words = match self.model.kind {
            LDiversityKind::Distinct if figure == 1.0 => "1 distinct value".to_owned(),
            LDiversityKind::Distinct => format!("{figure} distinct values"),
            LDiversityKind::Entropy => format!("the entropy of {figure:.2} equally frequent values"),
            LDiversityKind::Recursive { .. } => {
                let unit = self.unit.plural();
                format!("the most frequent value in {limit:.0} {unit}, allowed fewer than {figure:.1}")
            }
        };
        Figure::new(figure, words)
    }
}

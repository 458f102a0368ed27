//! l-diversity (Machanavajjhala et al. 2006): every group has enough well-spread sensitive values.
//!
//! - *distinct*: at least `l` different values;
//! - *entropy*: the entropy of the values is at least `log l`;
//! - *recursive* (c, l): with counts `r1 >= r2 >= ...`, `r1 < c (rl + r(l+1) + ...)`.

use super::{BoundModel, Group, ModelEntry, ModelError, PrivacyModel, TOLERANCE, attribute_named, every_column};
use crate::{
    ids::{AttributeId, ColumnId},
    policy::{LDiversity, LDiversityKind},
    profile::Profile,
};

pub(super) const ENTRY: ModelEntry = ModelEntry {
    name: "l-diversity",
    summary: "every group has at least l well-represented values of a sensitive column",
    example: "[[privacy.l-diversity]]\ncolumn = \"diagnosis\"\nl = 3\nkind = \"distinct\"   # or \"entropy\", or \"recursive\" with c = 4.0",
    from_policy: |policy| {
        let boxed = |model: &LDiversity| Box::new(model.clone()) as Box<dyn PrivacyModel>;
        policy.privacy.l_diversity.iter().map(boxed).collect()
    },
};

struct Bound {
    model: LDiversity,
    attribute: AttributeId,
    scope: Vec<ColumnId>,
}

impl PrivacyModel for LDiversity {
    fn bind(&self, profile: &Profile) -> Result<Vec<Box<dyn BoundModel>>, ModelError> {
        let attribute = attribute_named(profile, &self.column)?;
        Ok(vec![Box::new(Bound { model: self.clone(), attribute, scope: every_column(profile) })])
    }
}

impl Bound {
    /// The group's figure and what it must reach.
    fn figure_and_limit(&self, group: &Group<'_>) -> (f64, f64) {
        let mut counts: Vec<u64> = group.histogram(self.attribute).iter().map(|(_, records)| *records).collect();
        let l = self.model.l;
        match self.model.kind {
            LDiversityKind::Distinct => (counts.len() as f64, l),
            LDiversityKind::Entropy => (entropy(&counts, group.records()).exp(), l),
            LDiversityKind::Recursive { c } => {
                counts.sort_unstable_by(|a, b| b.cmp(a));
                let tail: u64 = counts.iter().skip(l as usize - 1).sum();
                (c * tail as f64, counts.first().copied().unwrap_or(0) as f64)
            }
        }
    }
}

/// In nats.
fn entropy(counts: &[u64], records: u64) -> f64 {
    let share = |&count: &u64| count as f64 / records as f64;
    -counts.iter().map(share).map(|p| p * p.ln()).sum::<f64>()
}

impl BoundModel for Bound {
    fn describe(&self) -> String {
        let LDiversity { column, l, kind } = &self.model;
        match kind {
            LDiversityKind::Distinct => format!("distinct l-diversity ({column}, l = {l})"),
            LDiversityKind::Entropy => format!("entropy l-diversity ({column}, l = {l})"),
            LDiversityKind::Recursive { c } => format!("recursive l-diversity ({column}, c = {c}, l = {l})"),
        }
    }

    fn scope(&self) -> &[ColumnId] {
        &self.scope
    }

    fn margin(&self, group: &Group<'_>) -> f64 {
        let (figure, limit) = self.figure_and_limit(group);
        let equal = (figure - limit).abs() < TOLERANCE * limit.max(1.0);
        match self.model.kind {
            // Strictly more is asked.
            LDiversityKind::Recursive { .. } if equal => -TOLERANCE,
            _ if equal => 0.0,
            _ => figure - limit,
        }
    }

    fn least_records(&self) -> u64 {
        // So many different values need as many records.
        self.model.l.ceil() as u64
    }

    fn figure(&self, group: &Group<'_>) -> String {
        let (figure, limit) = self.figure_and_limit(group);
        match self.model.kind {
            LDiversityKind::Distinct if figure == 1.0 => "1 distinct value".to_owned(),
            LDiversityKind::Distinct => format!("{figure} distinct values"),
            LDiversityKind::Entropy => format!("the spread of {figure:.2} even values"),
            LDiversityKind::Recursive { .. } => {
                format!("{limit:.0} records of the commonest value against {figure:.1}")
            }
        }
    }
}

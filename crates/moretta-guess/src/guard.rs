//! Rules for sensitive columns, chosen so that a release is possible.

use std::collections::HashMap;

use moretta_core::hierarchy::parse_number;

use crate::{ColumnFacts, values::Look};

/// Rule that guards a sensitive column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Guard {
    /// Distinct l-diversity.
    Diversity {
        /// Values per group.
        l: u64,
    },
    /// A template: an attacker who knows all quasi-identifiers infers none of the rarer values with a higher
    /// confidence.
    Rarest {
        /// Share of the values that are guarded.
        share: f64,
        /// Limit on the confidence.
        max_confidence: f64,
    },
}

/// Share of the records outside the l - 1 most frequent values: with less, groups of k = 10 cannot have l values each.
const MIN_OTHERS: f64 = 0.1;
/// A template is checked value by value, so it is proposed for a few. Not tuned.
const MAX_TEMPLATE_VALUES: usize = 6;

impl Guard {
    /// Returns a rule that the table as a whole satisfies, so that a release exists; `None` for fewer than two values.
    /// A missing value counts as a value, as in the policy. If models count persons, only distinct l-diversity is
    /// closed under union, which the default method needs.
    pub(crate) fn of(facts: &ColumnFacts, look: &Look, counts_persons: bool) -> Option<Self> {
        let shares = shares(facts, look);
        let others = |l: usize| 1.0 - shares.iter().take(l - 1).sum::<f64>();
        let is_template = match shares.len() {
            0 | 1 => return None,
            _ if counts_persons => false,
            2 => true,
            different => different <= MAX_TEMPLATE_VALUES && others(2) < MIN_OTHERS,
        };
        if is_template {
            let second = shares[1];
            // A quarter above the share in the whole table, in steps of 5 %.
            let above = ((second + 0.25) * 20.0).ceil() / 20.0;
            let guarded = (shares.len() - 1) as f64 / shares.len() as f64;
            return Some(Self::Rarest { share: (guarded * 1_000.0).ceil() / 1_000.0, max_confidence: above.max(0.5) });
        }
        let l = if shares.len() > 3 && others(3) >= MIN_OTHERS { 3 } else { 2 };
        Some(Self::Diversity { l })
    }
}

/// Shares of the records, largest first. Spellings of a value count as one, as in the models.
fn shares(facts: &ColumnFacts, look: &Look) -> Vec<f64> {
    let mut records: HashMap<String, f64> = HashMap::new();
    for (text, count) in &facts.values {
        let folded = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        let folded = parse_number(&folded).map_or(folded, |number| number.to_string());
        *records.entry(folded).or_default() += *count as f64;
    }
    let all = (look.present as f64 + look.missing as f64).max(1.0);
    let mut shares: Vec<f64> = records.into_values().map(|records| records / all).collect();
    shares.sort_by(|a, b| b.total_cmp(a));
    shares
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn guard(values: &[(&str, u64)]) -> Option<Guard> {
        let values = values.iter().map(|(text, count)| ((*text).to_owned(), *count)).collect();
        let facts = ColumnFacts { values, ..ColumnFacts::default() };
        Guard::of(&facts, &Look::at(&facts, &HashSet::new()), false)
    }

    #[test]
    fn persons_are_guarded_by_a_model_that_is_closed_under_union() {
        let facts = ColumnFacts { values: vec![("no".into(), 70), ("yes".into(), 30)], ..ColumnFacts::default() };
        let look = Look::at(&facts, &HashSet::new());
        assert_eq!(Guard::of(&facts, &look, true), Some(Guard::Diversity { l: 2 }));
    }

    #[test]
    fn rules_that_can_be_satisfied() {
        assert_eq!(guard(&[("a", 40), ("b", 30), ("c", 20), ("d", 10)]), Some(Guard::Diversity { l: 3 }));
        assert_eq!(guard(&[("a", 40), ("b", 30), ("c", 30)]), Some(Guard::Diversity { l: 2 }));
        assert_eq!(guard(&[("a", 80), ("b", 15), ("c", 3), ("d", 2)]), Some(Guard::Diversity { l: 2 }));
        let rarest = |share, max_confidence| Some(Guard::Rarest { share, max_confidence });
        assert_eq!(guard(&[("no", 70), ("yes", 30)]), rarest(0.5, 0.55));
        assert_eq!(guard(&[("no", 99), ("yes", 1)]), rarest(0.5, 0.5));
        assert_eq!(guard(&[("a", 97), ("b", 2), ("c", 1)]), rarest(0.667, 0.5));
        assert_eq!(guard(&[("a", 97), ("A ", 3)]), None, "two spellings of a value");
        assert_eq!(guard(&[]), None);
    }
}

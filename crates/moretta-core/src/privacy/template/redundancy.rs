//! Finds templates that are implied by another template.
//!
//! A template is redundant if another one guards the same value of the same column, has a limit no larger, and assumes
//! at least the same columns known. Groups by fewer columns are unions of groups by more columns, and a share that no
//! part exceeds is not exceeded by the union. A search may skip redundant templates; verification does not. Only upper
//! limits are compared: a model that also limits a share from below is never redundant.

use hashbrown::HashMap;

use super::TemplateFacts;
use crate::{
    ids::ColumnId,
    privacy::{BoundModel, Limit},
};

/// A guarded column and value: the value's code, or its text if it does not occur in the table.
type GuardedValue = (String, Result<u32, String>);

struct KnownTemplate<'a> {
    model: usize,
    scope: &'a [ColumnId],
    max_confidence: f64,
}

impl KnownTemplate<'_> {
    /// Both scopes are sorted.
    fn follows_from(&self, other: &KnownTemplate<'_>) -> bool {
        other.max_confidence <= self.max_confidence
            && self.scope.iter().all(|column| other.scope.binary_search(column).is_ok())
    }

    /// If two templates follow from each other, the first is kept.
    fn is_covered_by(&self, other: &KnownTemplate<'_>) -> bool {
        self.follows_from(other) && (other.model < self.model || !other.follows_from(self))
    }
}

/// Returns pairs of indices among the models: a redundant template, and the first template that implies it and is not
/// redundant itself. Sorted.
pub fn redundant(models: &[Box<dyn BoundModel>]) -> Vec<(usize, usize)> {
    let mut templates: HashMap<GuardedValue, Vec<KnownTemplate<'_>>> = HashMap::new();
    for (index, model) in models.iter().enumerate() {
        let facts = model.facts();
        // A union may have a larger share of persons than each of its parts.
        let Some(TemplateFacts { template, value, .. }) = facts.get().filter(|_| model.is_closed_under_union()) else {
            continue;
        };
        let code = model.limits().unwrap_or_default().into_iter().find_map(|limit| match limit {
            Limit::Share { value, .. } => Some(value),
            Limit::Records(_) => None,
        });
        let known = KnownTemplate { model: index, scope: model.scope(), max_confidence: template.max_confidence };
        templates.entry((template.column.clone(), code.ok_or_else(|| value.clone()))).or_default().push(known);
    }
    let mut found = Vec::new();
    for alike in templates.values() {
        let covered = |one: &KnownTemplate<'_>| alike.iter().any(|other| one.is_covered_by(other));
        let (dropped, kept): (Vec<_>, Vec<_>) = alike.iter().partition(|one| covered(one));
        for one in dropped {
            // Coverage is transitive and never circular, so some kept template covers it.
            found.extend(kept.iter().find(|other| one.is_covered_by(other)).map(|other| (one.model, other.model)));
        }
    }
    found.sort_unstable();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestTable;
    use proptest::prelude::*;

    const COLUMNS: &str = "[columns]\na.role = \"quasi-identifier\"\nb.role = \"quasi-identifier\"\nc.role = \
                           \"quasi-identifier\"\ns.role = \"sensitive\"\nt.role = \"sensitive\"\n";

    fn template(given: &[&str], column: &str, value: &str, max_confidence: f64) -> String {
        format!(
            "[[privacy.template]]\ngiven = {given:?}\ncolumn = \"{column}\"\nvalues = [\"{value}\"]\nmax-confidence = \
             {max_confidence:?}\n"
        )
    }

    fn found(templates: &[String]) -> Vec<(usize, usize)> {
        let policy = format!("{COLUMNS}{}", templates.concat());
        redundant(&TestTable::new(&policy, &[], &[("1,1,1,7,x", 1), ("1,1,2,8,y", 1)]).models)
    }

    #[test]
    fn a_template_follows_from_one_that_knows_more_and_allows_no_more() {
        let none: Option<(usize, usize)> = None;
        let cases = [
            ([template(&["a"], "s", "7", 0.5), template(&["b", "a"], "s", "7", 0.5)], Some((0, 1))),
            ([template(&["a"], "s", "7", 0.4), template(&["a", "b"], "s", "7", 0.5)], none),
            ([template(&["a"], "s", "7", 0.5), template(&["b", "c"], "s", "7", 0.5)], none),
            ([template(&["a"], "s", "7", 0.5), template(&["a", "b"], "s", "8", 0.5)], none),
            ([template(&["a"], "s", "7", 0.5), template(&["a"], "t", "x", 0.5)], none),
            // Equal but written differently: the later one is redundant.
            ([template(&["a", "b"], "s", "7", 0.5), template(&["b", "a"], "s", "7.0", 0.5)], Some((1, 0))),
            // A value that does not occur.
            ([template(&["a"], "s", "9", 0.5), template(&["a"], "s", "9", 0.5)], Some((1, 0))),
        ];
        for (templates, expected) in cases {
            assert_eq!(found(&templates), Vec::from_iter(expected), "{templates:?}");
        }
    }

    #[test]
    fn chains_end_in_one_that_is_kept() {
        let chain = [
            template(&["a"], "s", "7", 0.9),
            template(&["a", "b"], "s", "7", 0.8),
            template(&["a", "b"], "s", "7", 0.8),
            template(&["a", "b", "c"], "s", "7", 0.7),
            template(&["c"], "s", "7", 0.1),
        ];
        assert_eq!(found(&chain), [(0, 3), (1, 3), (2, 3)]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        #[test]
        fn what_is_left_implies_what_is_dropped(
            drawn in prop::collection::vec((1usize..8, 1u32..4, prop::bool::ANY), 1..9)
        ) {
            let given = |set: usize| -> Vec<&str> {
                ["a", "b", "c"].into_iter().enumerate().filter(|(i, _)| set >> i & 1 == 1).map(|(_, name)| name).collect()
            };
            let texts: Vec<String> = drawn.iter()
                .map(|&(set, max_confidence, seven)| template(&given(set), "s", if seven { "7" } else { "8" }, f64::from(max_confidence) / 4.0))
                .collect();
            let found = found(&texts);
            let implies = |by: usize, what: usize| {
                drawn[by].2 == drawn[what].2 && drawn[by].1 <= drawn[what].1 && drawn[by].0 & drawn[what].0 == drawn[what].0
            };
            let dropped: Vec<usize> = found.iter().map(|(one, _)| *one).collect();
            for (one, by) in &found {
                prop_assert!(implies(*by, *one) && !dropped.contains(by));
            }
            let kept = (0..drawn.len()).filter(|index| !dropped.contains(index));
            for (a, b) in kept.clone().flat_map(|a| kept.clone().map(move |b| (a, b))) {
                prop_assert!(a == b || !implies(a, b), "{a} implies {b}");
            }
        }
    }
}

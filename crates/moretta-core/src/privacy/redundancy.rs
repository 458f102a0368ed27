//! Templates that follow from another one: whoever knows more columns infers at least as well.
//!
//! A template is redundant where another has the same value of the same column, a threshold no larger, and known
//! columns that contain its own: groups by fewer columns are unions of groups by more, and a share that no part
//! exceeds is not exceeded by the whole. A search may leave such a template aside; verification does not.
//! Only upper limits are compared: a model that also limits a share from below is never redundant.

use hashbrown::HashMap;

use super::{BoundModel, Limit, ModelFacts};
use crate::ids::ColumnId;

/// What a template guards: a column, and a value by its code or, where the table does not have it, by its text.
type Guarded = (String, Result<u32, String>);

struct Template<'a> {
    model: usize,
    scope: &'a [ColumnId],
    most: f64,
}

impl Template<'_> {
    /// Both in order.
    fn follows_from(&self, other: &Template<'_>) -> bool {
        other.most <= self.most && self.scope.iter().all(|column| other.scope.binary_search(column).is_ok())
    }

    /// Of two that follow from each other the first stays.
    fn is_covered_by(&self, other: &Template<'_>) -> bool {
        self.follows_from(other) && (other.model < self.model || !other.follows_from(self))
    }
}

/// Each redundant template and one that it follows from, by their places among the models, in order. What it follows
/// from is never redundant itself, and is the first such.
pub fn redundant(models: &[Box<dyn BoundModel>]) -> Vec<(usize, usize)> {
    let mut templates: HashMap<Guarded, Vec<Template<'_>>> = HashMap::new();
    for (index, model) in models.iter().enumerate() {
        let ModelFacts::Confidence { column, value, max_confidence, .. } = model.facts() else { continue };
        let limits = model.limits().unwrap_or_default();
        if limits.iter().any(|limit| matches!(limit, Limit::Share { share, .. } if share.has_lower())) {
            continue;
        }
        let code = limits.into_iter().find_map(|limit| match limit {
            Limit::Share { value, .. } => Some(value),
            Limit::Records(_) => None,
        });
        let template = Template { model: index, scope: model.scope(), most: max_confidence };
        templates.entry((column, code.ok_or(value))).or_default().push(template);
    }
    let mut found = Vec::new();
    for alike in templates.values() {
        let covered = |one: &Template<'_>| alike.iter().any(|other| one.is_covered_by(other));
        let (dropped, kept): (Vec<_>, Vec<_>) = alike.iter().partition(|one| covered(one));
        for one in dropped {
            // Being covered is transitive and never circular, so it ends in one that is kept.
            found.extend(kept.iter().find(|other| one.is_covered_by(other)).map(|other| (one.model, other.model)));
        }
    }
    found.sort_unstable();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        privacy::{Group, ShareLimit},
        testing::TestTable,
    };
    use proptest::prelude::*;

    const COLUMNS: &str = "[columns]\na.role = \"quasi-identifier\"\nb.role = \"quasi-identifier\"\nc.role = \
                           \"quasi-identifier\"\ns.role = \"sensitive\"\nt.role = \"sensitive\"\n";

    fn template(given: &[&str], column: &str, value: &str, most: f64) -> String {
        format!(
            "[[privacy.template]]\ngiven = {given:?}\ncolumn = \"{column}\"\nvalues = [\"{value}\"]\nmax-confidence = \
             {most:?}\n"
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
            // Equal, written in another way: the later goes.
            ([template(&["a", "b"], "s", "7", 0.5), template(&["b", "a"], "s", "7.0", 0.5)], Some((1, 0))),
            // A value that is not there.
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

    /// A template that also limits the share of its value from below.
    struct WithLower(Box<dyn BoundModel>);

    impl BoundModel for WithLower {
        fn describe(&self) -> String {
            self.0.describe()
        }
        fn scope(&self) -> &[ColumnId] {
            self.0.scope()
        }
        fn margin(&self, group: &Group<'_>) -> f64 {
            self.0.margin(group)
        }
        fn figure(&self, group: &Group<'_>) -> String {
            self.0.figure(group)
        }
        fn facts(&self) -> ModelFacts {
            self.0.facts()
        }
        fn limits(&self) -> Option<Vec<Limit>> {
            let lower = |limit| match limit {
                Limit::Share { attribute, value, share } => {
                    Limit::Share { attribute, value, share: share.and(ShareLimit::between(0.1, 1.0)) }
                }
                records => records,
            };
            Some(self.0.limits()?.into_iter().map(lower).collect())
        }
    }

    #[test]
    fn a_limit_with_a_lower_side_is_kept() {
        let templates = [template(&["a"], "s", "7", 0.5), template(&["a", "b"], "s", "7", 0.5)];
        let policy = format!("{COLUMNS}{}", templates.concat());
        let mut models = TestTable::new(&policy, &[], &[("1,1,1,7,x", 1), ("1,1,2,8,y", 1)]).models;
        assert_eq!(redundant(&models), [(0, 1)]);
        let lower = WithLower(models.remove(0));
        models.insert(0, Box::new(lower));
        assert_eq!(redundant(&models), []);
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
                .map(|&(set, most, seven)| template(&given(set), "s", if seven { "7" } else { "8" }, f64::from(most) / 4.0))
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

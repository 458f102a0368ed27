//! Finds the tuples to suppress so that the privacy models hold under a given recoding.

use std::hash::{BuildHasher, Hash};

use hashbrown::{DefaultHashBuilder, HashTable};

use super::{
    Cut,
    suppressor::{Constraints, GroupedCounts, SparseCounts, Suppression},
};
use crate::{
    hierarchy::Cell,
    ids::TupleId,
    privacy::BoundModel,
    profile::{Profile, VariantCount},
};

/// Key of a group's label in a column: equal keys mean equal labels. The index of the group is part of the key if the
/// label depends on the group's own records (sets and means).
pub(crate) type PrintedCell = (Cell, Option<usize>);

/// Tuples to suppress so that every model holds under the cells of a cut, also for the group of suppressed records.
/// `cut.suppressed` is ignored.
pub fn suppressed_by(profile: &Profile, models: &[Box<dyn BoundModel>], cut: &Cut) -> Vec<TupleId> {
    suppressed_within(&Constraints::new(profile, models), cut, u64::MAX).unwrap_or_default()
}

/// Like [`suppressed_by`]; `None` if the tuples have more than `max_records` records.
pub(crate) fn suppressed_within(constraints: &Constraints<'_>, cut: &Cut, max_records: u64) -> Option<Vec<TupleId>> {
    let profile = constraints.profile;
    let cell = |tuple: u32, column: usize| cut.cells[column][profile.codes(TupleId(tuple))[column] as usize];
    let columns: Vec<usize> = (0..cut.cells.len()).collect();
    let (of_tuple, first_tuples) = numbered(profile.tuples(), &columns, cell);
    let sets = |columns: &[usize]| {
        numbered(first_tuples.len(), columns, |group, column| cell(first_tuples[group as usize], column)).0
    };
    let set_of_group = constraints.scopes.iter().map(|scope| {
        // Groups differ in at least one column.
        (!constraints.knows_all_columns(scope)).then(|| sets(&scope.columns))
    });
    let groups = TupleGroups { set_of_group: set_of_group.collect(), of_tuple, num_groups: first_tuples.len() };
    let suppressed = groups.suppress(constraints, None, max_records).suppressed?;
    let tuples = (0u32..).map(TupleId).zip(groups.of_tuple);
    Some(tuples.filter(|(_, group)| suppressed[*group as usize]).map(|(tuple, _)| tuple).collect())
}

/// Numbers items with equal labels in some columns, in the order of first occurrence. Returns the number of each item,
/// and the first item of each number.
fn numbered<L: Hash + Eq>(items: usize, columns: &[usize], label: impl Fn(u32, usize) -> L) -> (Vec<u32>, Vec<u32>) {
    let (hasher, mut numbers) = (DefaultHashBuilder::default(), HashTable::new());
    let mut firsts: Vec<u32> = Vec::new();
    let hash = |item: u32| {
        let mut state = hasher.build_hasher();
        columns.iter().for_each(|&column| label(item, column).hash(&mut state));
        std::hash::Hasher::finish(&state)
    };
    let number = |item: u32| {
        let is_equal = |&other: &u32| {
            let other = firsts[other as usize];
            columns.iter().all(|&column| label(item, column) == label(other, column))
        };
        let next = firsts.len() as u32;
        let number =
            *numbers.entry(hash(item), is_equal, |&number| hash(firsts[number as usize])).or_insert(next).get();
        if number == next {
            firsts.push(item);
        }
        number
    };
    let of_items = (0..items as u32).map(number).collect();
    (of_items, firsts)
}

/// Suppresses groups that violate a model, and, while the suppressed records themselves violate one, the smallest of
/// the other groups. `keys` are the label keys of each group; `assigned` is each tuple's group, `None` if it is
/// suppressed.
pub(crate) fn suppress_violating_groups<K: AsRef<[PrintedCell]>>(
    profile: &Profile,
    models: &[Box<dyn BoundModel>],
    keys: &[K],
    assigned: &mut [Option<usize>],
) {
    let constraints = Constraints::new(profile, models);
    // The tuples that are suppressed already are one more group, which is in no set with others.
    let closed = keys.len();
    let set_of_group = constraints.scopes.iter().map(|scope| {
        let label = |group: u32, column: usize| keys[group as usize].as_ref()[column];
        let (mut sets, firsts) = numbered(keys.len(), &scope.columns, label);
        sets.push(firsts.len() as u32);
        Some(sets)
    });
    let of_tuple = assigned.iter().map(|group| group.unwrap_or(closed) as u32);
    let groups =
        TupleGroups { set_of_group: set_of_group.collect(), of_tuple: of_tuple.collect(), num_groups: closed + 1 };
    let suppressed = groups.suppress(&constraints, Some(closed), u64::MAX).suppressed.unwrap_or_default();
    for group in assigned.iter_mut() {
        *group = group.filter(|&group| !suppressed[group]);
    }
}

/// Groups of tuples.
pub(crate) struct TupleGroups {
    /// As in [`GroupedCounts`].
    pub set_of_group: Vec<Option<Vec<u32>>>,
    pub of_tuple: Vec<u32>,
    pub num_groups: usize,
}

impl TupleGroups {
    /// Chooses the groups to suppress; see [`GroupedCounts::suppress`].
    pub(crate) fn suppress(
        &self,
        constraints: &Constraints<'_>,
        closed: Option<usize>,
        max_records: u64,
    ) -> Suppression {
        let Self { set_of_group, of_tuple, num_groups } = self;
        let num_groups = *num_groups;
        let profile = constraints.profile;
        let mut sizes = vec![0; num_groups];
        let tuples = || (0u32..).map(TupleId).zip(of_tuple);
        tuples().for_each(|(tuple, &group)| sizes[group as usize] += profile.tuple_records(tuple));
        let guarded = constraints.guarded_variants().map(|(variant, guard)| {
            (of_tuple[profile.tuple_of(variant).index()], guard, profile.variant_records(variant))
        });
        let guarded = SparseCounts::new(num_groups, constraints.guarded.len(), guarded);
        let mut by_group: Vec<(u32, TupleId)> = Vec::new();
        if constraints.by_record {
            by_group.extend(of_tuple.iter().copied().zip((0u32..).map(TupleId)));
            by_group.sort_unstable();
        }
        let members = |group: usize, members: &mut Vec<VariantCount>| {
            let first = by_group.partition_point(|(other, _)| (*other as usize) < group);
            let tuples = by_group[first..].iter().take_while(|(other, _)| *other as usize == group);
            tuples.for_each(|&(_, tuple)| members.extend(profile.members_of(tuple)));
        };
        let ranks = || (0..num_groups as u32).collect();
        let groups = GroupedCounts { sizes: &sizes, guarded, set_of_group, members: &members, ranks: &ranks };
        groups.suppress(constraints, closed, max_records)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{
        ids::{AttributeId, ColumnId},
        privacy::{Description, Figure, Group, MEMBERS_COUNTED, ModelFacts},
        recoding::suppressor::WORK,
        testing::{NearShares, TestTable},
    };

    #[test]
    fn suppression_for_one_model_may_violate_another() {
        let policy = "[privacy]\nk = 3\n[[privacy.template]]\ngiven = [\"a\"]\ncolumn = \"s\"\nvalues = [\"x\"]\n\
                      max-confidence = 0.5\n[columns]\na.role = \"quasi-identifier\"\nb.role = \"quasi-identifier\"\n\
                      s.role = \"sensitive\"";
        let rows = [("1,1,y", 3), ("1,2,x", 3), ("2,1,y", 9), ("3,1,y", 1)];
        let table = TestTable::new(policy, &[], &rows);
        let cell = |tuple: u32, column: usize| {
            let code = table.profile.codes(TupleId(tuple))[column];
            (table.profile.columns()[column].domain.cover(code, code), None)
        };
        let keys: Vec<Vec<PrintedCell>> = (0..3).map(|tuple| vec![cell(tuple, 0), cell(tuple, 1)]).collect();
        // The last tuple is suppressed, and its single record needs two more. The first group dilutes the confidence of
        // the second, so both are suppressed.
        let mut assigned = [Some(0), Some(1), Some(2), None];
        suppress_violating_groups(&table.profile, &table.models, &keys, &mut assigned);
        assert_eq!(assigned, [None, None, Some(2), None]);
        // Without a suppressed tuple, the template on `a` does not judge (1, 2) alone.
        let mut assigned = [Some(0), Some(1), Some(2), Some(2)];
        suppress_violating_groups(&table.profile, &table.models, &keys, &mut assigned);
        assert_eq!(assigned, [Some(0), Some(1), Some(2), Some(2)]);
    }

    const COLUMNS: &str = "[columns]\na.role = \"quasi-identifier\"\nb.role = \"quasi-identifier\"\n\
                           s.role = \"sensitive\"\n";

    /// Models of all kinds: on counts and on members, with several limits on one value and with scopes that overlap.
    const PRIVACY: [&str; 5] = [
        "k = 2\n[[privacy.template]]\ngiven = [\"a\"]\ncolumn = \"s\"\nvalues = [\"0\"]\nmax-confidence = 0.5\n\
         [[privacy.l-diversity]]\ncolumn = \"s\"\nl = 2\n",
        "[[privacy.template]]\ngiven = [\"a\", \"b\"]\ncolumn = \"s\"\nvalues = [\"0\", \"1\"]\nmax-confidence = 0.6\n",
        "[[privacy.template]]\ngiven = [\"a\"]\ncolumn = \"s\"\nvalues = [\"0\"]\nmax-confidence = 0.5\n\
         [[privacy.template]]\ngiven = [\"b\"]\ncolumn = \"s\"\nvalues = [\"0\", \"1\"]\nmax-confidence = 0.45\n",
        "lkc = { l = 1, k = 2, c = 0.7 }\n",
        "t-closeness = [{ column = \"s\", t = 0.4, distance = \"equal\" }]\n",
    ];

    fn table(privacy: &str, rows: &[(String, u64)]) -> TestTable {
        let rows: Vec<(&str, u64)> = rows.iter().map(|(text, records)| (text.as_str(), *records)).collect();
        TestTable::new(&format!("[privacy]\n{privacy}{COLUMNS}"), &[], &rows)
    }

    /// Judges every model in all groups after every suppression.
    fn naive(profile: &Profile, models: &[Box<dyn BoundModel>], cut: &Cut) -> Vec<TupleId> {
        let tuples = || (0..profile.tuples() as u32).map(TupleId);
        let cells = |tuple: TupleId| -> Vec<Cell> {
            profile.codes(tuple).iter().zip(&cut.cells).map(|(&code, cells)| cells[code as usize]).collect()
        };
        let members = |of: &[TupleId]| of.iter().flat_map(|&tuple| profile.members_of(tuple)).collect::<Vec<_>>();
        let holds = |model: &dyn BoundModel, of: &[TupleId]| model.holds(&Group::new(profile, &members(of)));
        let mut open: Vec<Vec<TupleId>> = Vec::new();
        for tuple in tuples() {
            match open.iter_mut().find(|group| cells(group[0]) == cells(tuple)) {
                Some(group) => group.push(tuple),
                None => open.push(vec![tuple]),
            }
        }
        let mut suppressed: Vec<TupleId> = Vec::new();
        let mut smallest: Option<Vec<Vec<TupleId>>> = None;
        loop {
            let violates = |group: &Vec<TupleId>| {
                models.iter().any(|model| {
                    let key = |tuple| model.scope().iter().map(|c| cells(tuple)[c.index()]).collect::<Vec<Cell>>();
                    let alike = open.iter().flatten().copied().filter(|&tuple| key(tuple) == key(group[0]));
                    !holds(&**model, &alike.collect::<Vec<_>>())
                })
            };
            let violating: Vec<Vec<TupleId>> = open.iter().filter(|group| violates(group)).cloned().collect();
            open.retain(|group| !violating.contains(group));
            suppressed.extend(violating.iter().flatten());
            if !violating.is_empty() {
                continue;
            }
            let records = |group: &Vec<TupleId>| group.iter().map(|&tuple| profile.tuple_records(tuple)).sum::<u64>();
            let order = smallest.get_or_insert_with(|| {
                let mut order: Vec<(u64, usize)> =
                    open.iter().enumerate().map(|(at, group)| (records(group), at)).collect();
                order.sort_unstable();
                order.into_iter().map(|(_, at)| open[at].clone()).collect()
            });
            if suppressed.is_empty() || models.iter().all(|model| holds(&**model, &suppressed)) {
                break;
            }
            let Some(next) = order.iter().position(|group| open.contains(group)) else { break };
            let next = order.remove(next);
            open.retain(|group| *group != next);
            suppressed.extend(next);
        }
        suppressed.sort_unstable();
        suppressed
    }

    proptest! {
        #[test]
        fn sets_that_did_not_change_need_not_be_judged_again(
            rows in prop::collection::vec((0u8..6, 0u8..3, 0u8..4, 1u64..4), 1..40), limit in 0u64..40,
            privacy in 0..PRIVACY.len(), near in prop::collection::vec((1usize..4, 1usize..4, 2u64..9), 0..2),
            by_members in prop::option::of(1usize..4),
        ) {
            let rows: Vec<(String, u64)> = rows.iter().map(|(a, b, s, n)| (format!("{a},{b},{s}"), *n)).collect();
            let mut table = table(PRIVACY[privacy], &rows);
            let scope = |bits: usize| (0..2).filter(|bit| bits >> bit & 1 == 1).map(ColumnId::from_index).collect();
            for (columns, values, factor) in near {
                table.models.push(Box::new(NearShares::new(&table.profile, scope(columns), "s", values, factor)));
            }
            if let Some(columns) = by_members {
                table.models.push(Box::new(AtMostHalf(scope(columns))));
            }
            let (profile, cut) = (&table.profile, Cut::identity(&table.profile));
            let expected = naive(profile, &table.models, &cut);
            let records: u64 = expected.iter().map(|&tuple| profile.tuple_records(tuple)).sum();
            prop_assert_eq!(&suppressed_by(profile, &table.models, &cut), &expected);
            let constraints = Constraints::new(profile, &table.models);
            let within = suppressed_within(&constraints, &cut, limit);
            prop_assert_eq!(within, (records <= limit).then_some(expected));
        }
    }

    /// A template for the first value (at most half) that judges members, not counts.
    struct AtMostHalf(Vec<ColumnId>);

    impl BoundModel for AtMostHalf {
        fn describe(&self) -> Description {
            Description::new("at-most-half", "at most half", "1")
        }
        fn scope(&self) -> &[ColumnId] {
            &self.0
        }
        fn is_closed_under_union(&self) -> bool {
            true
        }
        fn margin(&self, group: &Group<'_>) -> f64 {
            0.5 - group.share_of(AttributeId(0), 0)
        }
        fn figure(&self, _: &Group<'_>) -> Figure {
            Figure::new(0.0, "share")
        }
        fn facts(&self) -> ModelFacts {
            ModelFacts::new(0)
        }
    }

    /// 20 groups of 10 records violate the model, and the suppressed records need those of 200 more groups, one by one.
    /// All groups are one set by `b`, which changes with each of them.
    #[test]
    fn work_is_linear_in_the_groups() {
        let violating = (0..20).map(|value| (format!("{value},0,x"), 10));
        let others = (20..620).map(|value| (format!("{value},0,y"), 1));
        let rows: Vec<(String, u64)> = violating.chain(others).collect();
        let template = |given: &str| {
            format!("[[privacy.template]]\ngiven = [{given}]\ncolumn = \"s\"\nvalues = [\"x\"]\nmax-confidence = 0.5\n")
        };
        let mut table = table(&(template("\"a\"") + &template("\"b\"")), &rows);
        let cost = |table: &TestTable| {
            let before = (WORK.get(), MEMBERS_COUNTED.get());
            let suppressed = suppressed_by(&table.profile, &table.models, &Cut::identity(&table.profile));
            assert_eq!(suppressed.len(), 220);
            (WORK.get() - before.0, MEMBERS_COUNTED.get() - before.1)
        };
        let (work, members) = cost(&table);
        assert!(work < 10 * 620 && members == 0, "{work} {members}");
        // A model that judges members reads those of each group once, and those of the suppressed records once.
        table.models = vec![Box::new(AtMostHalf(vec![ColumnId(0), ColumnId(1)]))];
        let (work, members) = cost(&table);
        assert!(work < 10 * 620 && members <= 620 + 20, "{work} {members}");
    }
}

//! Finds the tuples to suppress so that the privacy models hold under a given recoding.

use std::collections::BTreeSet;

use hashbrown::HashMap;

use super::Cut;
use crate::{
    hierarchy::Cell,
    ids::TupleId,
    privacy::{BoundModel, Group},
    profile::{Profile, VariantCount},
};

/// Key of a group's label in a column: equal keys mean equal labels. The index of the group is part of the key if the
/// label depends on the group's own records (sets and means).
pub(crate) type PrintedCell = (Cell, Option<usize>);

/// Tuples to suppress so that every model holds under the cells of a cut, also for the group of suppressed records.
/// `cut.suppressed` is ignored.
pub fn suppressed_by(profile: &Profile, models: &[Box<dyn BoundModel>], cut: &Cut) -> Vec<TupleId> {
    suppressed_within(profile, models, cut, u64::MAX).unwrap_or_default()
}

/// Like [`suppressed_by`]; `None` if the tuples have more than `max_records` records.
pub(crate) fn suppressed_within(
    profile: &Profile,
    models: &[Box<dyn BoundModel>],
    cut: &Cut,
    max_records: u64,
) -> Option<Vec<TupleId>> {
    let tuples = (0..profile.tuples() as u32).map(TupleId);
    let print = |tuple: TupleId, key: &mut Vec<PrintedCell>| {
        let cells = profile.codes(tuple).iter().zip(&cut.cells);
        key.extend(cells.map(|(&code, cells)| (cells[code as usize], None)));
    };
    let (groups, keys) = numbered(tuples, print);
    let mut assigned: Vec<Option<usize>> = groups.into_iter().map(Some).collect();
    if !suppress_violating_groups(profile, models, &keys, &mut assigned, max_records) {
        return None;
    }
    Some((0u32..).zip(assigned).filter(|(_, group)| group.is_none()).map(|(tuple, _)| TupleId(tuple)).collect())
}

/// Numbers equal keys, in the order of first occurrence. Returns the number of each item, and the keys.
fn numbered<T>(
    items: impl Iterator<Item = T>,
    mut print: impl FnMut(T, &mut Vec<PrintedCell>),
) -> (Vec<usize>, Vec<Vec<PrintedCell>>) {
    let mut numbers: HashMap<Vec<PrintedCell>, usize> = HashMap::new();
    let mut key: Vec<PrintedCell> = Vec::new();
    let number = |item| {
        key.clear();
        print(item, &mut key);
        let next = numbers.len();
        *numbers.entry_ref(&key[..]).or_insert(next)
    };
    let of_items = items.map(number).collect();
    let mut keys = vec![Vec::new(); numbers.len()];
    for (key, number) in numbers {
        keys[number] = key;
    }
    (of_items, keys)
}

/// Suppresses groups that violate a model, and, while the suppressed records themselves violate one, the smallest of
/// the other groups. `keys` are the label keys of each group; `assigned` is each tuple's group, `None` if it is
/// suppressed. Returns whether at most `max_records` are suppressed; if not, `assigned` is not changed.
///
/// A model judges groups of records with equal labels in its own columns: a template on a few columns merges groups
/// that differ only in the others. Such a set of groups is judged again only after one of its groups was suppressed.
pub(crate) fn suppress_violating_groups<K: AsRef<[PrintedCell]>>(
    profile: &Profile,
    models: &[Box<dyn BoundModel>],
    keys: &[K],
    assigned: &mut [Option<usize>],
    max_records: u64,
) -> bool {
    let mut suppressor = Suppressor::new(profile, models, keys, assigned);
    let exceeds = |suppressor: &Suppressor<'_>| suppressor.suppressed_records > max_records;
    suppressor.suppress_violating();
    let groups = 0..keys.len();
    let mut largest_first: Vec<(u64, usize)> = groups.map(|group| (suppressor.records(group), group)).collect();
    largest_first.sort_unstable_by(|a, b| b.cmp(a));
    while !exceeds(&suppressor) && !suppressor.satisfies(&suppressor.suppressed) {
        let Some((_, group)) = largest_first.pop() else { break };
        if suppressor.is_open[group] {
            suppressor.suppress(group);
            suppressor.suppress_violating();
        }
    }
    if exceeds(&suppressor) {
        return false;
    }
    for group in assigned.iter_mut() {
        *group = group.filter(|&group| suppressor.is_open[group]);
    }
    true
}

struct Suppressor<'a> {
    profile: &'a Profile,
    models: &'a [Box<dyn BoundModel>],
    /// Members of all groups, group by group.
    members: Vec<VariantCount>,
    /// The members of group `g` are `members[offsets[g]..offsets[g + 1]]`.
    offsets: Vec<usize>,
    /// By group, whether it has records and is not suppressed.
    is_open: Vec<bool>,
    scopes: Vec<ScopedSets<'a>>,
    suppressed: Vec<VariantCount>,
    suppressed_records: u64,
}

/// Groups with equal labels in the columns of some models, as sets.
struct ScopedSets<'a> {
    models: Vec<&'a dyn BoundModel>,
    /// By group.
    set_of_group: Vec<usize>,
    /// Groups of each set.
    sets: Vec<Vec<usize>>,
    /// Sets that have to be judged, in ascending order, each once.
    unjudged: BTreeSet<usize>,
}

impl<'a> Suppressor<'a> {
    fn new<K: AsRef<[PrintedCell]>>(
        profile: &'a Profile,
        models: &'a [Box<dyn BoundModel>],
        keys: &[K],
        assigned: &[Option<usize>],
    ) -> Self {
        let mut by_group: Vec<(usize, TupleId)> = Vec::with_capacity(assigned.len());
        let mut suppressed = Vec::new();
        for (tuple, group) in (0u32..).map(TupleId).zip(assigned) {
            match group {
                Some(group) => by_group.push((*group, tuple)),
                None => suppressed.extend(profile.members_of(tuple)),
            }
        }
        by_group.sort_unstable();
        let (mut members, mut offsets) = (Vec::with_capacity(profile.variants()), vec![0; keys.len() + 1]);
        for (group, tuple) in by_group {
            members.extend(profile.members_of(tuple));
            offsets[group + 1] = members.len();
        }
        // A group without tuples ends where the one before it does.
        (1..offsets.len()).for_each(|group| offsets[group] = offsets[group].max(offsets[group - 1]));
        let is_open = offsets.windows(2).map(|range| range[0] < range[1]).collect();
        let mut scopes: Vec<ScopedSets<'a>> = Vec::new();
        for model in models {
            match scopes.iter_mut().find(|sets| sets.models[0].scope() == model.scope()) {
                Some(sets) => sets.models.push(&**model),
                None => scopes.push(ScopedSets::new(&**model, keys)),
            }
        }
        let suppressed_records = suppressed.iter().map(|member: &VariantCount| member.records).sum();
        Self { profile, models, members, offsets, is_open, scopes, suppressed, suppressed_records }
    }

    fn members_of(&self, group: usize) -> &[VariantCount] {
        if self.is_open[group] { &self.members[self.offsets[group]..self.offsets[group + 1]] } else { &[] }
    }

    fn records(&self, group: usize) -> u64 {
        self.members_of(group).iter().map(|member| member.records).sum()
    }

    fn satisfies(&self, members: &[VariantCount]) -> bool {
        let group = Group::new(self.profile, members);
        members.is_empty() || self.models.iter().all(|model| model.holds(&group))
    }

    fn suppress(&mut self, group: usize) {
        self.suppressed_records += self.records(group);
        self.suppressed.extend_from_slice(&self.members[self.offsets[group]..self.offsets[group + 1]]);
        self.is_open[group] = false;
        for sets in &mut self.scopes {
            sets.unjudged.insert(sets.set_of_group[group]);
        }
    }

    /// Repeats until every model holds in all groups: a suppression for one model may violate another.
    fn suppress_violating(&mut self) {
        loop {
            let mut scopes = std::mem::take(&mut self.scopes);
            let mut violating: Vec<usize> = scopes
                .iter_mut()
                .flat_map(|sets| sets.take_violating(self))
                .filter(|&group| self.is_open[group])
                .collect();
            self.scopes = scopes;
            if violating.is_empty() {
                return;
            }
            violating.sort_unstable();
            violating.dedup();
            violating.into_iter().for_each(|group| self.suppress(group));
        }
    }
}

impl<'a> ScopedSets<'a> {
    fn new<K: AsRef<[PrintedCell]>>(model: &'a dyn BoundModel, keys: &[K]) -> Self {
        let print = |group: usize, key: &mut Vec<PrintedCell>| {
            key.extend(model.scope().iter().map(|column| keys[group].as_ref()[column.index()]));
        };
        let (set_of_group, distinct) = numbered(0..keys.len(), print);
        let mut sets = vec![Vec::new(); distinct.len()];
        set_of_group.iter().enumerate().for_each(|(group, &set)| sets[set].push(group));
        Self { models: vec![model], set_of_group, unjudged: (0..sets.len()).collect(), sets }
    }

    /// Judges the sets that have to be judged. Returns the groups of those that violate a model.
    fn take_violating(&mut self, suppressor: &Suppressor<'_>) -> Vec<usize> {
        let (mut members, mut violating) = (Vec::new(), Vec::new());
        for set in std::mem::take(&mut self.unjudged) {
            members.clear();
            self.sets[set].iter().for_each(|&group| members.extend_from_slice(suppressor.members_of(group)));
            let group = Group::new(suppressor.profile, &members);
            if !members.is_empty() && !self.models.iter().all(|model| model.holds(&group)) {
                violating.extend(&self.sets[set]);
            }
        }
        violating
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    };

    use proptest::prelude::*;

    use super::*;
    use crate::{
        ids::ColumnId,
        privacy::{Description, Figure, ModelFacts},
        testing::TestTable,
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
        suppress_violating_groups(&table.profile, &table.models, &keys, &mut assigned, u64::MAX);
        assert_eq!(assigned, [None, None, Some(2), None]);
        // Without a suppressed tuple, the template on `a` does not judge (1, 2) alone.
        let mut assigned = [Some(0), Some(1), Some(2), Some(2)];
        suppress_violating_groups(&table.profile, &table.models, &keys, &mut assigned, u64::MAX);
        assert_eq!(assigned, [Some(0), Some(1), Some(2), Some(2)]);
    }

    const POLICY: &str = "[privacy]\nk = 2\n[[privacy.template]]\ngiven = [\"a\"]\ncolumn = \"s\"\nvalues = [\"0\"]\n\
                          max-confidence = 0.5\n[[privacy.l-diversity]]\ncolumn = \"s\"\nl = 2\n[columns]\n\
                          a.role = \"quasi-identifier\"\nb.role = \"quasi-identifier\"\ns.role = \"sensitive\"";

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
        ) {
            let texts: Vec<(String, u64)> = rows.iter().map(|(a, b, s, n)| (format!("{a},{b},{s}"), *n)).collect();
            let rows: Vec<(&str, u64)> = texts.iter().map(|(text, records)| (text.as_str(), *records)).collect();
            let table = TestTable::new(POLICY, &[], &rows);
            let (profile, cut) = (&table.profile, Cut::identity(&table.profile));
            let expected = naive(profile, &table.models, &cut);
            let records: u64 = expected.iter().map(|&tuple| profile.tuple_records(tuple)).sum();
            prop_assert_eq!(&suppressed_by(profile, &table.models, &cut), &expected);
            prop_assert_eq!(suppressed_within(profile, &table.models, &cut, limit), (records <= limit).then_some(expected));
        }
    }

    /// Counts how often it judges a group; groups of at least 50 records satisfy it.
    struct Counting(Vec<ColumnId>, Arc<AtomicUsize>);

    impl BoundModel for Counting {
        fn describe(&self) -> Description {
            Description::new("counting", "counting", "1")
        }
        fn scope(&self) -> &[ColumnId] {
            &self.0
        }
        fn is_closed_under_union(&self) -> bool {
            true
        }
        fn margin(&self, group: &Group<'_>) -> f64 {
            self.1.fetch_add(1, Relaxed);
            group.records() as f64 - 50.0
        }
        fn figure(&self, _: &Group<'_>) -> Figure {
            Figure::new(0.0, "records")
        }
        fn facts(&self) -> ModelFacts {
            ModelFacts::new(0)
        }
    }

    /// One group of one record violates the model, and the suppressed records need those of another group.
    #[test]
    fn work_is_linear_in_the_groups() {
        let mut rows: Vec<(String, u64)> = (0..300).map(|value| (format!("{value},0,x"), 50)).collect();
        rows.push(("300,0,x".to_owned(), 1));
        let rows: Vec<(&str, u64)> = rows.iter().map(|(text, records)| (text.as_str(), *records)).collect();
        let table = TestTable::new(POLICY, &[], &rows);
        let judged = Arc::new(AtomicUsize::new(0));
        let models: Vec<Box<dyn BoundModel>> = vec![Box::new(Counting(vec![ColumnId(0)], Arc::clone(&judged)))];
        let cut = Cut::identity(&table.profile);
        assert_eq!(suppressed_by(&table.profile, &models, &cut).len(), 2);
        assert!(judged.load(Relaxed) <= 301 + 4, "{}", judged.load(Relaxed));
    }
}

//! Finds the tuples to suppress so that the privacy models hold under a given recoding.

use hashbrown::{HashMap, HashSet};

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
    let mut groups: HashMap<Vec<PrintedCell>, usize> = HashMap::new();
    let mut assigned: Vec<Option<usize>> = Vec::with_capacity(profile.tuples());
    for tuple in (0..profile.tuples() as u32).map(TupleId) {
        let print = |(column, &code): (usize, &u32)| (cut.cells[column][code as usize], None);
        let key: Vec<PrintedCell> = profile.codes(tuple).iter().enumerate().map(print).collect();
        let next = groups.len();
        assigned.push(Some(*groups.entry(key).or_insert(next)));
    }
    let mut keys = vec![Vec::new(); groups.len()];
    for (key, group) in groups {
        keys[group] = key;
    }
    suppress_violating_groups(profile, models, &keys, &mut assigned);
    (0u32..).zip(assigned).filter(|(_, group)| group.is_none()).map(|(tuple, _)| TupleId(tuple)).collect()
}

/// Suppresses groups that violate a model, and, while the suppressed records themselves violate one, the smallest of
/// the other groups. `keys` are the label keys of each group; `assigned` is each tuple's group, `None` if it is
/// suppressed.
///
/// A model judges groups of records with equal labels in its own columns: a template on a few columns merges groups
/// that differ only in the others.
pub(crate) fn suppress_violating_groups(
    profile: &Profile,
    models: &[Box<dyn BoundModel>],
    keys: &[Vec<PrintedCell>],
    assigned: &mut [Option<usize>],
) {
    let mut suppressor =
        Suppressor { profile, models, keys, groups: vec![Vec::new(); keys.len()], suppressed: Vec::new() };
    for (tuple, group) in (0u32..).map(TupleId).zip(&*assigned) {
        let members = group.map_or(&mut suppressor.suppressed, |group| &mut suppressor.groups[group]);
        members.extend(profile.members_of(tuple));
    }
    suppressor.suppress_violating(|_| true);
    let size = |members: &[VariantCount]| members.iter().map(|member| member.records).sum::<u64>();
    let mut largest_first: Vec<(u64, usize)> =
        suppressor.groups.iter().enumerate().map(|(group, members)| (size(members), group)).collect();
    largest_first.sort_unstable_by(|a, b| b.cmp(a));
    let some_print_alike = keys.iter().collect::<HashSet<_>>().len() < keys.len();
    while !suppressor.satisfies(&suppressor.suppressed) {
        let Some((_, group)) = largest_first.pop() else { break };
        if !suppressor.groups[group].is_empty() {
            suppressor.suppress(group);
            // Suppressing a group affects others only if their labels are equal, in all columns or in those of a model.
            suppressor.suppress_violating(|model| some_print_alike || model.scope().len() < profile.columns().len());
        }
    }
    for group in assigned.iter_mut() {
        *group = group.filter(|&group| !suppressor.groups[group].is_empty());
    }
}

struct Suppressor<'a> {
    profile: &'a Profile,
    models: &'a [Box<dyn BoundModel>],
    keys: &'a [Vec<PrintedCell>],
    /// Members of each group; empty if it is suppressed.
    groups: Vec<Vec<VariantCount>>,
    suppressed: Vec<VariantCount>,
}

impl Suppressor<'_> {
    fn satisfies(&self, members: &[VariantCount]) -> bool {
        let group = Group::new(self.profile, members);
        members.is_empty() || self.models.iter().all(|model| model.holds(&group))
    }

    fn suppress(&mut self, group: usize) {
        let members = std::mem::take(&mut self.groups[group]);
        self.suppressed.extend(members);
    }

    /// Repeats until every model that `judges` selects holds in all groups: a suppression for one model may violate
    /// another.
    fn suppress_violating(&mut self, judges: impl Fn(&dyn BoundModel) -> bool) {
        loop {
            let judges = self.models.iter().filter(|model| judges(&***model));
            let violating: Vec<usize> = judges.flat_map(|model| self.violating(&**model)).collect();
            if violating.is_empty() {
                return;
            }
            violating.into_iter().for_each(|group| self.suppress(group));
        }
    }

    fn violating(&self, model: &dyn BoundModel) -> Vec<usize> {
        let mut alike: HashMap<Vec<PrintedCell>, Vec<usize>> = HashMap::new();
        for group in (0..self.groups.len()).filter(|&group| !self.groups[group].is_empty()) {
            let key = model.scope().iter().map(|column| self.keys[group][column.index()]).collect();
            alike.entry(key).or_default().push(group);
        }
        let violates = |groups: &Vec<usize>| {
            let members: Vec<VariantCount> = groups.iter().flat_map(|&group| &self.groups[group]).copied().collect();
            !model.holds(&Group::new(self.profile, &members))
        };
        let mut violating: Vec<usize> = alike.into_values().filter(violates).flatten().collect();
        violating.sort_unstable();
        violating
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestTable;

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
}

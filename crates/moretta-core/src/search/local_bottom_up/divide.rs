//! Divides a group that became too large.

use crate::search::{
    Task,
    cluster::Cluster,
    local::{GroupRequirements, LossTable, RemainingRecords},
    rng::hash_seed,
};

/// Divides a group into parts of the minimum size; the last part has the rest. Each part grows from the record farthest
/// from the seed of the part before. Returns the group itself if a part would violate a model.
pub(super) fn divide(task: &Task<'_>, loss_table: &LossTable<'_>, mut group: Cluster) -> Vec<Cluster> {
    let requirements = GroupRequirements::of(task);
    let min_records = requirements.min_records;
    if group.records() < 2 * min_records || loss_table.of(&group.ranges) <= 0.0 {
        return vec![group];
    }
    group.members.sort_unstable();
    let first = u64::from(group.members[0].variant.0);
    let mut remaining = RemainingRecords::new(task.profile, &group.members, hash_seed(task.seed, first));
    let mut parts = Vec::new();
    let mut seed = 0;
    while remaining.records() >= 2 * min_records {
        let from: Vec<(u32, u32)> = remaining.codes_of(seed).iter().map(|&code| (code, code)).collect();
        let open = (0..remaining.points()).filter(|&point| remaining.left(point) > 0);
        let apart = open.map(|point| (loss_table.with(&from, remaining.codes_of(point)), point));
        // The first of equals.
        let farthest = apart.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        // Records of one tuple lose nothing together.
        let Some((_, point)) = farthest.filter(|_| has_several_tuples(&remaining)) else { break };
        seed = point;
        let ranges = remaining.codes_of(seed).iter().map(|&code| (code, code)).collect();
        let mut part = Cluster { members: Vec::new(), ranges };
        // The seed's own tuple first: with missing values, another record may cost the part no more.
        let seed_records = remaining.left(seed).min(min_records);
        remaining.take(seed, seed_records, &mut part.members);
        remaining.grow(&mut part, min_records - seed_records, loss_table);
        parts.push(part);
    }
    parts.push(Cluster::around(task, remaining.rest()));
    if parts.iter().all(|part| requirements.are_met_by(part)) { parts } else { vec![group] }
}

/// Whether records of more than one tuple remain.
fn has_several_tuples(remaining: &RemainingRecords<'_>) -> bool {
    (0..remaining.points()).filter(|&point| remaining.left(point) > 0).nth(1).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestTable;

    /// Example of the paper: (age, zip), k = 3. The two equal records are separated.
    #[test]
    fn equal_records_may_be_separated() {
        let policy = "privacy.k = 3\n[columns.age]\nrole = \"quasi-identifier\"\nweight = 8\n[columns.zip]\n\
                      role = \"quasi-identifier\"\nweight = 2";
        let rows = [("24,53712", 1), ("25,53711", 1), ("30,53711", 2), ("32,53712", 1), ("32,53713", 1)];
        let table = TestTable::new(policy, &[], &rows);
        let task = Task { profile: &table.profile, models: &table.models, max_suppressed: 0, seed: 1 };
        let all = Cluster::around(&task, table.profile.everything());
        let parts = divide(&task, &LossTable::new(&table.profile, crate::objective::LossMetric::Ncp), all);
        let parts: Vec<_> = parts.iter().map(|part| (part.ranges.as_slice(), part.records())).collect();
        // 24, 25, 30, 32 and 53711 to 53713.
        assert_eq!(parts, [(&[(2, 3), (0, 2)][..], 3), (&[(0, 2), (0, 1)][..], 3)]);
    }
}

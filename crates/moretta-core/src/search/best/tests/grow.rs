//! Groups grown along the lists of near records.

use proptest::prelude::*;

use super::{rows, table};
use crate::{
    objective::LossMetric,
    search::{
        Task,
        best::{
            grow::grow,
            neighbors::Neighbors,
            space::{BoxLoss, Space},
        },
        local::{GroupRequirements, LossTable},
        rng::SearchRng,
    },
};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_item_is_in_one_valid_group(rows in rows(), limit in prop_oneof![1..20usize, Just(95)], max_single in 0..4u64, seed: u64) {
        let policy = "privacy.k = 4\nprivacy.l-diversity = [{ column = \"s\", l = 2 }]\n";
        let table = table(policy, &rows, [1, 2, 1]);
        let task = Task { profile: &table.profile, models: &table.models, max_suppressed: 0, seed: 1 };
        let loss_table = LossTable::new(&table.profile, LossMetric::Ncp);
        let (losses, rng) = (BoxLoss::new(&table.profile, &loss_table), &mut SearchRng::new(seed, 0));
        let all = table.profile.everything();
        let (space, _) = Space::new(&table.profile, &losses, [(&*all, max_single)].into_iter(), rng);
        let neighbors = Neighbors::new(&space, limit, seed);
        let requirements = GroupRequirements::of(&task);
        let Some(groups) = grow(&space, &neighbors, requirements, rng) else {
            // Short lists may connect too few records for a group; the long ones have all points.
            prop_assert!(limit < 95 || !task.is_satisfied_by(&all));
            return Ok(());
        };
        let mut items: Vec<u32> = groups.concat();
        items.sort_unstable();
        prop_assert_eq!(items, (0..space.items.len() as u32).collect::<Vec<_>>());
        for group in groups {
            let members: Vec<_> = group.iter().map(|&item| space.items[item as usize].member).collect();
            prop_assert!(requirements.are_met(members.iter().map(|member| member.records).sum(), || &members));
        }
    }
}

//! Losses after steps equal those computed from the members.

use proptest::prelude::*;

use super::{rows, table};
use crate::{
    objective::LossMetric,
    search::{
        Task,
        best::{
            anneal::{Annealer, KINDS, Schedule},
            index::SortedItems,
            neighbors::{Neighbors, leaf_order},
            space::{BoxLoss, Groups, Item, Space},
            state::{Buffers, State},
        },
        cluster::{Cluster, ranges_of},
        local::{GroupRequirements, LossTable},
        rng::SearchRng,
    },
    testing::TestTable,
};

fn task(table: &TestTable) -> Task<'_> {
    Task { profile: &table.profile, models: &table.models, max_suppressed: 0, seed: 1 }
}

/// Divides all records into groups of `size` variants each, at random.
fn random_clusters(task: &Task<'_>, size: usize, rng: &mut SearchRng) -> Vec<Cluster> {
    let mut members = task.profile.everything();
    for at in (1..members.len()).rev() {
        members.swap(at, rng.below(at + 1));
    }
    members.chunks(size).map(|members| Cluster::around(task, members.to_vec())).collect()
}

fn space<'a>(
    task: &Task<'_>,
    losses: &'a BoxLoss<'a>,
    clusters: &[Cluster],
    max_single: u64,
    rng: &mut SearchRng,
) -> (Space<'a>, Groups) {
    Space::new(task.profile, losses, clusters.iter().map(|cluster| (&*cluster.members, max_single)), rng)
}

/// Loss of a group, from the codes of its members.
fn naive_loss(task: &Task<'_>, loss_table: &LossTable<'_>, space: &Space<'_>, items: &[u32]) -> f64 {
    let members: Vec<_> = items.iter().map(|&item| space.items[item as usize].member).collect();
    let records: u64 = members.iter().map(|member| member.records).sum();
    if members.is_empty() { 0.0 } else { records as f64 * loss_table.of(&ranges_of(task.profile, &members)) }
}

fn total(task: &Task<'_>, loss_table: &LossTable<'_>, space: &Space<'_>, state: &State<'_>) -> f64 {
    state.groups().iter().map(|items| naive_loss(task, loss_table, space, items)).sum()
}

/// Numbers are equal up to the rounding of `f32`.
fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-4 * (1.0 + a.abs().max(b.abs()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn losses_after_any_moves_equal_those_of_the_members(
        rows in rows(),
        weights in prop::array::uniform3(1u32..4),
        (size, max_single) in (1usize..6, 0u64..4),
        ncp: bool,
        seed: u64,
    ) {
        let table = table("privacy.k = 2\nprivacy.l-diversity = [{ column = \"s\", l = 2 }]\n", &rows, weights);
        let (task, rng) = (task(&table), &mut SearchRng::new(seed, 0));
        let loss_table = LossTable::new(&table.profile, if ncp { LossMetric::Ncp } else { LossMetric::Lm });
        let losses = BoxLoss::new(&table.profile, &loss_table);
        let clusters = random_clusters(&task, size, rng);
        let (space, groups) = space(&task, &losses, &clusters, max_single, rng);
        let records: u64 = (0..space.items.len() as u32).map(|item| space.records(item)).sum();
        prop_assert_eq!(records, table.profile.records());
        let number = groups.len();
        let mut state = State::new(&space, GroupRequirements::of(&task), groups);
        let mut buffers = Buffers::new(losses.width());
        for _ in 0..60 {
            let item = rng.below(space.items.len()) as u32;
            let (from, to) = (state.group_of(item), rng.below(number) as u32);
            if from == to || state.members(to).is_empty() {
                continue;
            }
            let before = total(&task, &loss_table, &space, &state);
            let growth = state.growth(to, item);
            let with: Vec<u32> = state.members(to).iter().copied().chain([item]).collect();
            let expected = naive_loss(&task, &loss_table, &space, &with)
                - naive_loss(&task, &loss_table, &space, state.members(to));
            prop_assert!(near(f64::from(growth), expected), "growth {growth}, expected {expected}");
            // The best exchange is that of a full comparison.
            let exchange = state.best_exchange(item, to, &mut buffers, (1, f32::INFINITY));
            let moved = state.move_change(item, to, &mut buffers);
            if let Some((change, _)) = exchange {
                // A limit leaves out nothing below it.
                prop_assert_eq!(state.best_exchange(item, to, &mut buffers, (1, change + 0.01)), exchange);
                prop_assert_eq!(state.best_exchange(item, to, &mut buffers, (1, change - 0.01)), None);
                let (given, own, others) = (space.records(item), state.records(from), state.records(to));
                let fits = |&&other: &&u32| {
                    let taken = space.records(other);
                    given == taken || own + taken >= 2 + given && others + given >= 2 + taken
                };
                let changes = state.members(to).iter().filter(fits).map(|&other| {
                    let exchanged = |group: u32, out: u32, new: u32| -> Vec<u32> {
                        state.members(group).iter().copied().filter(|&known| known != out).chain([new]).collect()
                    };
                    let own = naive_loss(&task, &loss_table, &space, &exchanged(from, item, other));
                    let theirs = naive_loss(&task, &loss_table, &space, &exchanged(to, other, item));
                    let before = [from, to].map(|group| naive_loss(&task, &loss_table, &space, state.members(group)));
                    own + theirs - before[0] - before[1]
                });
                let least = changes.fold(f64::INFINITY, f64::min);
                prop_assert!(near(f64::from(change), least), "exchange {change}, least {least}");
            }
            match exchange.filter(|_| rng.below(2) == 0) {
                Some((change, other)) => {
                    state.transfer(item, to);
                    state.transfer(other, from);
                    prop_assert!(near(before + f64::from(change), total(&task, &loss_table, &space, &state)));
                }
                None => {
                    prop_assert_eq!(moved.is_none(), state.records(from) < 2 + space.records(item));
                    state.transfer(item, to);
                    let after = total(&task, &loss_table, &space, &state);
                    prop_assert!(moved.is_none_or(|change| near(before + f64::from(change), after)));
                }
            }
            if rng.below(4) == 0 && !state.members(from).is_empty() {
                let members = state.remove_group(from);
                prop_assert_eq!(state.add_group(members), from);
            }
            let expected = total(&task, &loss_table, &space, &state);
            prop_assert!(near(state.total(), expected), "{} is not {expected}", state.total());
            for group in [from, to] {
                let members: Vec<_> =
                    state.members(group).iter().map(|&item| space.items[item as usize].member).collect();
                if !members.is_empty() {
                    prop_assert_eq!(state.is_valid(group), task.is_satisfied_by(&members));
                }
            }
        }
        let mut members: Vec<_> =
            state.into_groups().into_iter().flatten().map(|item| space.items[item as usize].member).collect();
        members.sort_unstable();
        let sums = members.chunk_by(|a, b| a.variant == b.variant);
        let sums: Vec<u64> = sums.map(|same| same.iter().map(|member| member.records).sum()).collect();
        let all: Vec<u64> = table.profile.everything().iter().map(|member| member.records).collect();
        prop_assert_eq!(sums, all);
    }

    #[test]
    fn annealing_at_any_temperature_keeps_all_records_and_the_models(
        rows in rows(),
        weights in prop::array::uniform3(1u32..4),
        k in 2u64..6,
        l in 2u64..4,
        start in prop_oneof![Just(1e-9), 0.01..3.0f64],
        seed: u64,
    ) {
        let models = format!("privacy.k = {k}\nprivacy.l-diversity = [{{ column = \"s\", l = {l} }}]\n");
        let table = table(&models, &rows, weights);
        let (task, rng) = (task(&table), &mut SearchRng::new(seed, 0));
        if !task.is_satisfied_by(&table.profile.everything()) {
            return Ok(());
        }
        let loss_table = LossTable::new(&table.profile, LossMetric::Ncp);
        let losses = BoxLoss::new(&table.profile, &loss_table);
        // Groups that satisfy the models: random ones, merged until they do.
        let mut clusters: Vec<Cluster> = Vec::new();
        for cluster in random_clusters(&task, 3, rng) {
            match clusters.last_mut().filter(|last| !last.satisfies(&task)) {
                Some(last) => last.join(cluster),
                None => clusters.push(cluster),
            }
        }
        if let Some(last) = clusters.pop_if(|last| !last.satisfies(&task)) {
            clusters[0].join(last);
        }
        let (space, groups) = space(&task, &losses, &clusters, 2 * k, rng);
        let neighbors = Neighbors::new(&space, 8, seed);
        let state = State::new(&space, GroupRequirements::of(&task), groups);
        let before = state.total();
        let mut annealer = Annealer::new(state, &neighbors, SearchRng::new(seed, 1));
        let index = SortedItems::new(&space);
        let schedule = Schedule { start, end: start / 10.0, work: 60_000, shares: [0.25; KINDS] };
        let steps = annealer.run(&schedule, &index, &|_| true);
        let state = annealer.state;
        prop_assert!(before == 0.0 || steps.iter().all(|steps| steps.tried > 0));
        prop_assert!(near(state.total(), total(&task, &loss_table, &space, &state)));
        // Without heat no step raises the loss.
        prop_assert!(start > 1e-8 || state.total() <= before * (1.0 + 1e-5) + 1e-4, "{} after {before}", state.total());
        let mut records = 0;
        for group in state.into_groups() {
            let members: Vec<_> = group.iter().map(|&item| space.items[item as usize].member).collect();
            prop_assert!(task.is_satisfied_by(&members));
            records += members.iter().map(|member| member.records).sum::<u64>();
        }
        prop_assert_eq!(records, table.profile.records());
    }

    #[test]
    fn neighbors_of_few_points_are_the_nearest(
        rows in rows(),
        weights in prop::array::uniform3(1u32..4),
        limit in 1usize..12,
        seed: u64,
    ) {
        let table = table("privacy.k = 2\n", &rows, weights);
        let (task, rng) = (task(&table), &mut SearchRng::new(seed, 0));
        let loss_table = LossTable::new(&table.profile, LossMetric::Ncp);
        let losses = BoxLoss::new(&table.profile, &loss_table);
        let clusters = random_clusters(&task, 3, rng);
        let (space, _) = space(&task, &losses, &clusters, 2, rng);
        // All points are in one leaf.
        let neighbors = Neighbors::new(&space, limit, seed);
        for point in 0..space.points() as u32 {
            let distance = |other: u32| losses.with(space.at_point(point), space.at_point(point), space.at_point(other));
            let mut all: Vec<(f32, u32)> =
                (0..space.points() as u32).filter(|&other| other != point).map(|other| (distance(other), other)).collect();
            all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let nearest: Vec<u32> = all.into_iter().take(limit).map(|(_, other)| other).collect();
            prop_assert_eq!(neighbors.of(point), nearest);
        }
    }

    #[test]
    fn another_order_of_the_points_changes_their_numbers_only(
        rows in rows(),
        weights in prop::array::uniform3(1u32..4),
        max_single in 0..4u64,
        seed: u64,
    ) {
        let table = table("privacy.k = 2\n", &rows, weights);
        let (task, rng) = (task(&table), &mut SearchRng::new(seed, 0));
        let loss_table = LossTable::new(&table.profile, LossMetric::Ncp);
        let losses = BoxLoss::new(&table.profile, &loss_table);
        let clusters = random_clusters(&task, 3, rng);
        let (space, groups) = space(&task, &losses, &clusters, max_single, rng);
        // What is known of an item without its number, and the items of a point.
        let shown = |space: &Space<'_>, item: u32| {
            let coordinates: Vec<u32> = space.at(item).iter().map(|value| value.to_bits()).collect();
            let Item { member, point } = space.items[item as usize];
            let of_point: Vec<_> = space.items_of(point).map(|item| space.items[item as usize].member).collect();
            (member, coordinates, of_point, space.items_of(point).contains(&item))
        };
        let all = |space: &Space<'_>, groups: &Groups| -> Vec<Vec<_>> {
            groups.iter().map(|items| items.iter().map(|&item| shown(space, item)).collect()).collect()
        };
        let (before, points) = (all(&space, &groups), space.points());
        let order = leaf_order(&space, seed);
        let (space, groups) = space.renumbered(&order, groups);
        prop_assert_eq!(space.points(), points);
        prop_assert_eq!(all(&space, &groups), before);
    }

    #[test]
    fn items_in_a_box_are_those_of_a_scan(
        rows in rows(),
        weights in prop::array::uniform3(1u32..4),
        corners in (any::<u32>(), any::<u32>()),
        seed: u64,
    ) {
        let table = table("privacy.k = 2\n", &rows, weights);
        let (task, rng) = (task(&table), &mut SearchRng::new(seed, 0));
        let loss_table = LossTable::new(&table.profile, LossMetric::Ncp);
        let losses = BoxLoss::new(&table.profile, &loss_table);
        let clusters = random_clusters(&task, 3, rng);
        let (space, _) = space(&task, &losses, &clusters, 2, rng);
        let index = SortedItems::new(&space);
        let corner = |number: u32| space.at(number % space.items.len() as u32).to_vec();
        let (a, b) = (corner(corners.0), corner(corners.1));
        let low: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a.min(*b)).collect();
        let high: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a.max(*b)).collect();
        let mut found = Vec::new();
        index.inside(&space, (&low, &high), usize::MAX, &mut found);
        found.sort_unstable();
        let is_inside = |item: &u32| {
            space.at(*item).iter().zip(low.iter().zip(&high)).all(|(value, (low, high))| low <= value && value <= high)
        };
        let all: Vec<u32> = (0..space.items.len() as u32).filter(is_inside).collect();
        prop_assert_eq!(found, all);
        for column in (0..low.len()).filter(|&column| !losses.is_padding(column)) {
            let range = (low[column], high[column]);
            if let Some((next_low, next_high)) = losses.parent(column, range.0, range.1) {
                prop_assert!(next_low <= range.0 && next_high >= range.1 && (next_low, next_high) != range);
            }
            let Some((wider_low, wider_high)) = index.wider(column, range, 2, seed % 2 == 0) else { continue };
            prop_assert!(wider_low <= range.0 && wider_high >= range.1 && (wider_low, wider_high) != range);
            prop_assert!(index.count(column, wider_low, wider_high) > index.count(column, range.0, range.1));
        }
    }
}

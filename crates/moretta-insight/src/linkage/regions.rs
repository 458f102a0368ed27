//! Targets are the regions in which a person may be, if the original is not available.
//!
//! Boxes of different releases are intersected one release after another, depth first:
//!
//! ```text
//! group of release 1 ─▶ its box ─▶ groups of release 2 across it ─▶ common part ─▶ groups of release 3 across that ─▶ ..
//! ```
//!
//! A branch ends where the box or the copied values in common are empty: no person is in all these groups. Different
//! groups may have the same intersection; each region is judged once. Its candidates are the groups whose boxes contain
//! the whole region, not only those it was found by.

use hashbrown::{DefaultHashBuilder, HashSet};
use moretta_core::{hierarchy::Hierarchies, observer::Observer, policy::BoundPolicy, profile::Profile};
use rayon::prelude::*;
use std::{collections::BTreeMap, hash::BuildHasher};

use super::{
    Linkage, LinkageError, ReleasedTable, Targets,
    boxes::CodeSet,
    check_numbers,
    copied::CopiedValues,
    joint::{Combinations, ReadRelease, Scope, Verdict, intersection},
    tally::{Tally, scopes, sensitive},
};

/// Maximum number of intersections of boxes. Bounds the time to about a minute: a region takes about 12 microseconds.
pub const MAX_STEPS: u64 = 5_000_000;

/// Regions judged together. Affects speed only.
const CHUNK: usize = 4096;

/// Bytes of the heap per intersection, at most: the hash of a region in a table that may be half empty while it grows.
pub const REGION_BYTES: u64 = 32;

/// Counts what an attacker learns about a person in each region, of at most `max_steps` intersections ([`MAX_STEPS`],
/// or fewer if the memory is limited). The policy (a [`linking_policy`](super::linking_policy)) is bound to the first
/// release.
pub fn regions(
    bound: &BoundPolicy<'_>,
    hierarchies: &Hierarchies,
    releases: &[ReleasedTable],
    max_steps: u64,
    observer: &dyn Observer,
) -> Result<Linkage, LinkageError> {
    if bound.profile().records() == 0 {
        return Err(LinkageError::Empty);
    }
    let profiles: Vec<&Profile> = releases.iter().map(|release| &release.profile).collect();
    let domains = Profile::of_labels(bound.policy(), hierarchies, &profiles)?;
    check_numbers(bound.policy(), &domains)?;
    let mut tally = Tally::new(bound)?;
    let copied = CopiedValues::new(bound.profile(), releases)?;
    let read = |(index, release)| ReadRelease::new(index, release, &domains);
    let read: Vec<ReadRelease<'_>> = releases.iter().enumerate().map(read).collect::<Result<_, _>>()?;
    let (scopes, sensitive) = (scopes(bound), sensitive(bound.profile()));
    let (mut steps, mut total) = (max_steps, 0);
    for (index, (columns, models)) in scopes.iter().enumerate() {
        let sensitive = if index == 0 { &sensitive[..] } else { &[] };
        let scope = Scope::new(columns, &read, (bound.models(), models), sensitive, &copied);
        let hasher = DefaultHashBuilder::default();
        let mut walk = Walk {
            scope: &scope,
            tally: &mut tally,
            observer,
            max_steps,
            steps,
            hasher,
            known: HashSet::new(),
            waiting: Vec::new(),
            violating: BTreeMap::new(),
        };
        let groups = scope.releases[0].boxes.len();
        for group in 0..groups as u32 {
            observer.progress((index * groups + group as usize) as u64, (scopes.len() * groups) as u64);
            let release = &scope.releases[0];
            walk.descend(1, release.boxes.of_group(group).to_vec(), release.of_group(group).into_owned())?;
        }
        walk.judge();
        let (judged, violating) = (walk.known.len() as u64, walk.violating);
        steps = walk.steps;
        if index == 0 {
            total = judged;
        }
        for entry in tally.entries_of(&scope) {
            tally.judged(entry, violating.get(&entry).copied().unwrap_or(0), judged);
        }
    }
    Ok(tally.finish(Targets::Regions, total, releases))
}

struct Walk<'a, 't> {
    scope: &'a Scope<'a>,
    tally: &'a mut Tally<'t>,
    observer: &'a dyn Observer,
    max_steps: u64,
    /// Number of intersections that are still allowed.
    steps: u64,
    hasher: DefaultHashBuilder,
    /// Hashes of the regions found. Two of five million regions have the same hash with a probability below 1 in a
    /// million.
    known: HashSet<u64>,
    /// Regions to be judged.
    waiting: Vec<Vec<CodeSet>>,
    /// Regions that violate each entry of the tally.
    violating: BTreeMap<usize, u64>,
}

impl Walk<'_, '_> {
    /// Intersects a region with the boxes of the releases from `depth` on. `values` are the copied values that the
    /// groups so far have in common.
    fn descend(&mut self, depth: usize, region: Vec<CodeSet>, values: Combinations) -> Result<(), LinkageError> {
        let scope = self.scope;
        let Some(release) = scope.releases.get(depth) else {
            if self.known.insert(self.hasher.hash_one(&region)) {
                self.waiting.push(region);
            }
            if self.waiting.len() >= CHUNK {
                self.judge();
            }
            return Ok(());
        };
        if self.observer.stop().is_some() {
            return Err(LinkageError::Interrupted);
        }
        for (group, part) in release.boxes.across(&region) {
            self.steps = self.steps.checked_sub(1).ok_or(LinkageError::TooManyRegions { max_steps: self.max_steps })?;
            let common = intersection(&values, &release.of_group(group));
            if !common.is_empty() {
                self.descend(depth + 1, part, common)?;
            }
        }
        Ok(())
    }

    fn judge(&mut self) {
        let (scope, tally) = (self.scope, &mut *self.tally);
        let judge = |region: &Vec<CodeSet>| {
            let groups: Vec<Vec<u32>> = scope.releases.iter().map(|release| release.boxes.covering(region)).collect();
            scope.judge(&groups, |model| tally.margin(model))
        };
        let verdicts: Vec<Verdict> = std::mem::take(&mut self.waiting).par_iter().map(judge).collect();
        for verdict in verdicts {
            for entry in tally.violated(scope, &verdict) {
                *self.violating.entry(entry).or_default() += 1;
            }
            tally.add(scope, verdict, 1);
        }
    }
}

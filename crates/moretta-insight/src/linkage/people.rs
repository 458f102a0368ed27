//! Targets are the people of the original.

use hashbrown::HashMap;
use moretta_core::{
    ids::{ColumnId, TupleId},
    observer::Observer,
    policy::BoundPolicy,
    profile::Profile,
};
use rayon::prelude::*;

use super::{
    Linkage, LinkageError, ReleasedTable, Targets, check_numbers,
    copied::CopiedValues,
    joint::{ReadRelease, Scope, Verdict},
    tally::{Tally, scopes, sensitive},
};

/// Targets judged between two looks at the observer. Affects progress only.
const CHUNK: usize = 4096;

/// Counts what an attacker learns about each person of the original. The policy (a
/// [`linking_policy`](super::linking_policy)) is bound to the original.
pub fn people(
    bound: &BoundPolicy<'_>,
    releases: &[ReleasedTable],
    observer: &dyn Observer,
) -> Result<Linkage, LinkageError> {
    let original = bound.profile();
    if original.records() == 0 {
        return Err(LinkageError::Empty);
    }
    check_numbers(bound.policy(), original)?;
    let mut tally = Tally::new(bound)?;
    let copied = CopiedValues::new(original);
    let read = |(index, release)| ReadRelease::new(index, release, original, &copied);
    let read: Vec<ReadRelease> = releases.iter().enumerate().map(read).collect::<Result<_, _>>()?;
    let (scopes, sensitive) = (scopes(bound), sensitive(original));
    // A person violates a model of several parts if any part is violated, and counts once.
    let mut violating = vec![vec![false; original.tuples()]; tally.entries.iter().max().map_or(0, |last| last + 1)];
    for (index, (columns, models)) in scopes.iter().enumerate() {
        let all = index == 0;
        let sensitive = if all { &sensitive[..] } else { &[] };
        let scope = Scope::new(columns, &read, (bound.models(), models.clone()), sensitive, &copied);
        let targets = Projected::new(original, columns);
        for (start, chunk) in (0..).step_by(CHUNK).zip(targets.points.chunks(CHUNK)) {
            observer
                .progress((index * targets.points.len() + start) as u64, (scopes.len() * targets.points.len()) as u64);
            if observer.stop().is_some() {
                return Err(LinkageError::Interrupted);
            }
            let verdicts: Vec<Verdict> = chunk
                .par_iter()
                .map(|target| {
                    let groups = candidates(&scope, &target.codes);
                    let joint = scope.joint(&groups);
                    if all {
                        check_present(original, &copied, target, &scope, &groups)?;
                    }
                    Ok(scope.judge(&groups, &joint))
                })
                .collect::<Result<_, LinkageError>>()?;
            for (target, verdict) in chunk.iter().zip(&verdicts) {
                tally.add(&scope, verdict, target.records, || scope.joint(&candidates(&scope, &target.codes)));
                for (model, (_, holds)) in models.iter().zip(&verdict.models) {
                    if !holds {
                        let flags = &mut violating[tally.entries[*model]];
                        target.tuples.iter().for_each(|tuple| flags[tuple.index()] = true);
                    }
                }
            }
        }
    }
    for (entry, flags) in violating.iter().enumerate() {
        let tuples = (0..original.tuples()).filter(|tuple| flags[*tuple]).map(TupleId::from_index);
        tally.violate(entry, tuples.map(|tuple| original.tuple_records(tuple)).sum());
    }
    Ok(tally.finish(Targets::People, original.records(), releases))
}

/// The groups of each release that contain a point.
fn candidates(scope: &Scope<'_>, point: &[u32]) -> Vec<Vec<u32>> {
    scope.releases.iter().map(|release| release.boxes.around(point)).collect()
}

/// Checks that every person of a target has a candidate with the same copied values in every release.
fn check_present(
    original: &Profile,
    copied: &CopiedValues<'_>,
    target: &Target,
    scope: &Scope<'_>,
    groups: &[Vec<u32>],
) -> Result<(), LinkageError> {
    for variant in target.tuples.iter().flat_map(|tuple| original.variants_of(*tuple)) {
        let number = copied.of_variant[variant.index()];
        let has = |values: &[(u32, u64)]| values.binary_search_by_key(&number, |(number, _)| *number).is_ok();
        let present =
            |release: usize| groups[release].iter().any(|g| has(&scope.releases[release].values[*g as usize]));
        if let Some(release) = (0..groups.len()).find(|release| !present(*release)) {
            return Err(LinkageError::Absent { release, record: original.first_record(variant) });
        }
    }
    Ok(())
}

/// People with the same values in the known columns.
struct Target {
    codes: Vec<u32>,
    tuples: Vec<TupleId>,
    records: u64,
}

/// The tuples of the original by the known columns.
struct Projected {
    points: Vec<Target>,
}

impl Projected {
    fn new(original: &Profile, columns: &[ColumnId]) -> Self {
        let mut indices: HashMap<Vec<u32>, usize> = HashMap::new();
        let mut points: Vec<Target> = Vec::new();
        for tuple in (0..original.tuples()).map(TupleId::from_index) {
            let codes: Vec<u32> = columns.iter().map(|column| original.codes(tuple)[column.index()]).collect();
            let index = *indices.entry(codes).or_insert_with_key(|codes| {
                points.push(Target { codes: codes.clone(), tuples: Vec::new(), records: 0 });
                points.len() - 1
            });
            points[index].tuples.push(tuple);
            points[index].records += original.tuple_records(tuple);
        }
        Self { points }
    }
}

//! Turns a verified recoding into the instructions of the engine's second pass.
//!
//! A global recoding becomes one map per column ([`Change::Map`]), with a list of suppressed rows; a local recoding
//! distributes the records of each distinct row over groups ([`Change::Shares`]).

use std::{borrow::Cow, hint::black_box};

use rayon::prelude::*;

use crate::{
    counts::{BATCH_ROWS, Change, CountedColumn, Counts, KeyColumn, RecordOrder, RenotatedColumn, Rewrite, Share},
    declaration::{ColumnPolicy, Declaration},
    hierarchy::ROOT_LABEL,
    profile::{MissingTexts, Profile},
    recoding::{Cut, GroupAssignment, LocalRecoding, Recoding},
    schema::Kind,
    seed::Seed,
    verify::Verified,
};

/// Rewrite of the records that `counts` was counted from; the verified profile must have been built from `counts` too.
/// The counts are taken, because nothing else needs them and the rewrite has the same texts.
pub fn rewrite(verified: &Verified<'_>, counts: Counts, order: RecordOrder, seed: Seed) -> Rewrite {
    let (policy, profile) = (verified.policy(), verified.profile());
    let p = profile.columns().len();
    let renotated = renotated(verified, &counts);
    let (change, key_columns) = match verified.recoding() {
        Recoding::Global(cut) => {
            let change = by_map(profile, &counts, verified, cut);
            (change, if cut.suppressed.is_empty() { p } else { counts.columns.len() })
        }
        Recoding::Local(groups) => (by_shares(profile, &counts, verified, groups), counts.columns.len()),
    };
    let key = |(position, column): (usize, CountedColumn)| KeyColumn {
        name: column.name,
        values: column.values,
        rewritten: position < p,
    };
    let key = counts.columns.into_iter().take(key_columns).enumerate().map(key).collect();
    let dropped = policy.dropped().map(|column| column.name.clone()).collect();
    Rewrite { key, change, dropped, renotated, order, seed }
}

impl Verified<'_> {
    /// A label of a column as the release has it: numbers are in the notation of the release.
    pub(crate) fn written<'l>(&self, column: usize, label: &'l str) -> Cow<'l, str> {
        match self.profile().columns()[column].domain.kind() {
            Kind::Number => self.policy().release_notation().write(label),
            _ => Cow::Borrowed(label),
        }
    }
}

/// The kept number columns, unless every number is plain already. The engine converts those that are not in the
/// notation of the release: typed numbers are plain, whatever the input declares.
fn renotated(verified: &Verified<'_>, counts: &Counts) -> Vec<RenotatedColumn> {
    let (policy, to) = (verified.policy(), verified.policy().release_notation());
    let from = policy.input.notation();
    if from.is_plain() && to.is_plain() {
        return Vec::new();
    }
    let of_numbers = |column: &&ColumnPolicy| match verified.profile().attribute(&column.name) {
        Some(id) => verified.profile().attributes()[id.index()].kind() == Kind::Number,
        None => column.kind == Some(Kind::Number),
    };
    let renotated = |column: &ColumnPolicy| {
        let counted = counts.columns.iter().find(|counted| counted.name == column.name);
        let texts = MissingTexts::of(policy, column, counted.is_some_and(|counted| counted.typed));
        let occurring = counted.into_iter().flat_map(|counted| &counted.values).filter(|text| texts.contain(text));
        let missing = policy.missing_texts(column).map(Box::from).chain(occurring.cloned()).collect();
        RenotatedColumn { name: column.name.clone(), from, to, missing }
    };
    policy.kept().filter(of_numbers).map(renotated).collect()
}

fn by_map(profile: &Profile, counts: &Counts, verified: &Verified<'_>, cut: &Cut) -> Change {
    let p = profile.columns().len();
    let mut labels: Vec<Vec<Box<str>>> =
        counts.columns[..p].iter().map(|column| vec![ROOT_LABEL.into(); column.values.len()]).collect();
    let mut suppressed = Vec::new();
    for row in 0..counts.rows() {
        let tuple = profile.tuple_of(profile.variant_of_row(row));
        if cut.suppressed.binary_search(&tuple).is_ok() {
            suppressed.extend(counts.row(row));
            continue;
        }
        let group = verified.released().group_of_piece(tuple.index());
        for (column, &raw) in counts.row(row)[..p].iter().enumerate() {
            labels[column][raw as usize] = verified.written(column, verified.released().label(group, column)).into();
        }
    }
    Change::Map { labels, suppressed }
}

/// Loads the shares of some rows into the cache, each step of the way for all rows together.
fn load_pieces(
    rows: impl Iterator<Item = usize> + Clone,
    profile: &Profile,
    (pieces, starts): (&[GroupAssignment], &[usize]),
) {
    let variants = rows.map(|row| profile.variant_of_row(row).index());
    black_box(variants.clone().fold(0, |all, variant| all ^ variant));
    black_box(variants.clone().fold(0, |all, variant| all ^ starts[variant]));
    let records = |variant: usize| pieces.get(starts[variant]).map_or(0, |piece| piece.records);
    black_box(variants.fold(0, |all, variant| all ^ records(variant)));
}

fn by_shares(profile: &Profile, counts: &Counts, verified: &Verified<'_>, groups: &LocalRecoding) -> Change {
    let released = verified.released();
    let p = profile.columns().len();
    let labels = (0..p)
        .into_par_iter()
        .map(|column| {
            // A label of many groups is translated once.
            let labels = released.labels(column).iter().map(|label| verified.written(column, label));
            let labels: Vec<Cow<'_, str>> = labels.collect();
            let written = |group| (*labels[released.grouping().key(group)[column] as usize]).into();
            (0..released.groups()).map(written).collect()
        })
        .collect();
    let mut pieces: Vec<GroupAssignment> = groups.assignments.clone();
    pieces.par_sort_unstable_by_key(|piece| (piece.variant, piece.group));
    let mut starts = vec![0usize; profile.variants() + 1];
    pieces.iter().for_each(|piece| starts[piece.variant.index() + 1] += 1);
    (1..starts.len()).for_each(|i| starts[i] += starts[i - 1]);
    // Several texts may mean one value (`1`, `1.0`), so several rows may be one variant. They take its records in the
    // order of their first records, or of their texts, so that the result does not depend on the engine's order.
    let mut order: Vec<(u64, u32)> =
        (0..counts.rows()).map(|row| (counts.first_record(row).unwrap_or(0), row as u32)).collect();
    let by_texts = |a: u32, b: u32| counts.texts(a as usize).cmp(counts.texts(b as usize));
    order.par_sort_unstable_by(|(first, a), (other, b)| first.cmp(other).then_with(|| by_texts(*a, *b)));
    let (mut rows, mut offsets) = (Vec::with_capacity(counts.codes.len()), Vec::with_capacity(counts.rows() + 1));
    let mut shares: Vec<Share> = Vec::with_capacity(pieces.len());
    offsets.push(0);
    for (index, &(_, row)) in order.iter().enumerate() {
        if index.is_multiple_of(BATCH_ROWS) {
            let batch = order[index..].iter().take(BATCH_ROWS).map(|&(_, row)| row as usize);
            counts.load(batch.clone());
            load_pieces(batch, profile, (&pieces, &starts));
        }
        let row = row as usize;
        let variant = profile.variant_of_row(row).index();
        let row_start = shares.len();
        let mut remaining = counts.counts[row];
        while remaining > 0 {
            let piece = &mut pieces[starts[variant]];
            let records = piece.records.min(remaining);
            let group = released.group_of_piece(piece.group.index()) as u32;
            match shares[row_start..].last_mut().filter(|share| share.group == group) {
                Some(share) => share.records += records,
                None => shares.push(Share { group, records }),
            }
            remaining -= records;
            piece.records -= records;
            if piece.records == 0 {
                starts[variant] += 1;
            }
        }
        rows.extend(counts.row(row));
        offsets.push(shares.len() as u32);
    }
    Change::Shares { rows, offsets, shares, labels }
}

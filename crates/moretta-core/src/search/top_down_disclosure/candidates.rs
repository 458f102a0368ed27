//! The disclosed cells of each column, and the candidates for the next disclosure.
//!
//! A **source** is a cell of a column with the records that are released as it; a masked column starts as one source,
//! the whole column. A **candidate** is a possible disclosure: the values of a range are separated from their source
//! and released as a cell of their own.
//!
//! ```text
//! hierarchy of zip:  *                  free numbers, age:
//!                  /   \
//!                 a     b               source [0, 99]
//!                / \   / \                one candidate: split at 40, the best point
//!               a1 a2 b1 b2             disclosed: sources [0, 40] and [41, 99], one candidate each
//!
//! source *, candidates a and b          rejected: one candidate, split at 37, the next best point
//! a disclosed:  source a (candidates a1, a2), and source * (candidate b)
//! a rejected:   source * (candidates a1, a2 and b)
//! ```
//!
//! In a tree, the candidates of a source are the children of its node; a disclosed child becomes a source, and the
//! other records keep their cell. Without a hierarchy this is the published method: every value is a child of the root
//! `*`. In a column of free numbers a source is an interval, and its only candidate is the split with the highest gain.
//!
//! A missing value is not a number, so the first candidate of such a column separates all numbers from it. If this is
//! rejected, only the numbers up to a point are disclosed, and the others remain `*`.
//!
//! **Cost.** The gain of a candidate depends on its column alone: it is computed once, and again when its source
//! changes.

use rayon::prelude::*;

use crate::{
    hierarchy::{Cell, Domain, Tree},
    ids::{AttributeId, NodeId, TupleId},
    profile::{Column, Profile},
    search::information::{Criterion, entropy},
};

/// Id of no candidate.
pub(super) const NONE: u32 = u32::MAX;

/// A possible disclosure: the codes `first..=last` of a column.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) column: usize,
    pub(super) first: u32,
    pub(super) last: u32,
    /// The cell that they would be released as.
    pub(super) disclosed: Cell,
    /// Index of their source.
    pub(super) source: usize,
    /// The new cell of the other records of the source, if the disclosure splits an interval; otherwise they keep
    /// theirs.
    pub(super) rest: Option<Cell>,
    /// Information gain about the class in bits, or gain of precision over all records; times the column's weight.
    pub(super) gain: f64,
    records: ClassCounts,
    /// Alternative points at which the interval could be split, the best last.
    points: Vec<u32>,
    /// Neither disclosed nor rejected.
    open: bool,
}

/// A cell of a column with the records that are released as it.
#[derive(Debug, Clone)]
struct Source {
    cell: Cell,
    /// For numbers: the first code that is still in the source.
    first: u32,
    records: ClassCounts,
    /// Ids of its candidates, the open ones and some that are not.
    candidates: Vec<u32>,
}

/// Number of records by class, in order of class.
type Classes = Vec<(u32, u64)>;

/// Records of some values, by class.
#[derive(Debug, Clone)]
struct ClassCounts {
    count: u64,
    classes: Classes,
    /// Entropy of the class, in bits.
    entropy: f64,
}

/// By column and code, the released cell before the first disclosure: the whole column if it is `masked`, otherwise the
/// value.
pub(super) fn fully_masked_cells(profile: &Profile, masked: &[bool]) -> Vec<Vec<Cell>> {
    let of_column = |(column, masked): (&Column, &bool)| -> Vec<Cell> {
        let domain = &column.domain;
        let codes = 0..domain.len() as u32;
        codes.map(|code| if *masked { domain.whole() } else { domain.cover(code, code) }).collect()
    };
    profile.columns().iter().zip(masked).map(of_column).collect()
}

/// The candidates of all columns, and the cells disclosed so far.
pub(super) struct CandidateSet<'a> {
    profile: &'a Profile,
    measure: Criterion,
    /// Maximum number of points at which the split of an interval is tried.
    tries: usize,
    /// By column, the minimum number of records of a disclosed cell.
    min_records: Vec<u64>,
    class: Option<AttributeId>,
    code_counts: Vec<CodeCounts>,
    sources: Vec<Source>,
    candidates: Vec<Candidate>,
    /// By column and code, the open candidate that would disclose it, or [`NONE`].
    candidate_by_code: Vec<Vec<u32>>,
    /// By column and code, the released cell.
    cells: Vec<Vec<Cell>>,
}

/// Number of records by code of a column, and by code and class.
struct CodeCounts {
    records: Vec<u64>,
    /// By code, the start of its entries in `classes`.
    starts: Vec<usize>,
    classes: Vec<(u32, u64)>,
}

impl CodeCounts {
    fn of(profile: &Profile, class: Option<AttributeId>, column: usize) -> Self {
        let codes = profile.columns()[column].domain.len();
        let mut records = vec![0; codes];
        let mut seen: Vec<(u32, u32, u64)> = Vec::new();
        let values = class.map_or(1, |class| profile.attributes()[class.index()].values.len());
        let dense = codes.saturating_mul(values) <= 4 * profile.variants() + 4096;
        let mut table = vec![0u64; if dense { codes * values } else { 0 }];
        for tuple in (0..profile.tuples() as u32).map(TupleId) {
            let code = profile.codes(tuple)[column];
            records[code as usize] += profile.tuple_records(tuple);
            for variant in profile.variants_of(tuple) {
                let value = class.map_or(0, |class| profile.value(variant, class));
                let more = profile.variant_records(variant);
                if dense {
                    table[code as usize * values + value as usize] += more;
                } else {
                    seen.push((code, value, more));
                }
            }
        }
        let cells = (0u32..).zip(&table).filter(|(_, records)| **records > 0);
        let split = |index: u32| (index / values as u32, index % values as u32);
        seen.extend(cells.map(|(index, &records)| (split(index).0, split(index).1, records)));
        seen.sort_unstable();
        let mut counted = Self { records, starts: Vec::with_capacity(codes + 1), classes: Vec::new() };
        let mut of_codes = seen.chunk_by(|a, b| a.0 == b.0).peekable();
        for code in 0..codes as u32 {
            counted.starts.push(counted.classes.len());
            if let Some(of_code) = of_codes.next_if(|of_code| of_code[0].0 == code) {
                let of_class = |same: &[(u32, u32, u64)]| (same[0].1, same.iter().map(|(_, _, records)| records).sum());
                counted.classes.extend(of_code.chunk_by(|a, b| a.1 == b.1).map(of_class));
            }
        }
        counted.starts.push(counted.classes.len());
        counted
    }

    fn between(&self, first: u32, last: u32) -> ClassCounts {
        let count = self.records[first as usize..=last as usize].iter().sum();
        let (from, to) = (self.starts[first as usize], self.starts[last as usize + 1]);
        let mut classes = self.classes[from..to].to_vec();
        classes.sort_unstable();
        crate::text::merge_counts(&mut classes);
        // Kept for each candidate: the entries of all codes would be quadratic in the values.
        classes.shrink_to_fit();
        ClassCounts { count, entropy: entropy_of(&classes), classes }
    }
}

fn entropy_of(classes: &[(u32, u64)]) -> f64 {
    entropy(classes.iter().map(|(_, records)| *records)).1
}

/// Number of records by class that remain of `all` without `some`.
fn without<'c>(all: &'c [(u32, u64)], some: &'c [(u32, u64)]) -> impl Iterator<Item = (u32, u64)> + Clone + 'c {
    let mut some = some.iter().peekable();
    all.iter().map(move |&(class, records)| {
        let taken = some.next_if(|(other, _)| *other == class).map_or(0, |(_, records)| *records);
        (class, records - taken)
    })
}

/// Information gain of a split in two, in bits: `disclosed` is the number and entropy of the separated records,
/// `classes` their classes.
fn class_gain(all: &ClassCounts, disclosed: (u64, f64), classes: &[(u32, u64)]) -> f64 {
    let rest = entropy(without(&all.classes, classes).map(|(_, records)| records)).1;
    let (records, separated, remaining) = (all.count as f64, disclosed.0 as f64, (all.count - disclosed.0) as f64);
    all.entropy - separated / records * disclosed.1 - remaining / records * rest
}

impl<'a> CandidateSet<'a> {
    /// Starts with nothing disclosed of the columns that are `masked`, and everything of the others.
    pub(super) fn new(
        profile: &'a Profile,
        measure: Criterion,
        tries: usize,
        masked: &[bool],
        min_records: Vec<u64>,
    ) -> Self {
        let class = profile.class().filter(|_| measure == Criterion::Class);
        let count = |column: usize| CodeCounts::of(profile, class, column);
        let candidate_by_code = profile.columns().iter().map(|column| vec![NONE; column.domain.len()]).collect();
        let cells = fully_masked_cells(profile, masked);
        let code_counts = (0..profile.columns().len()).into_par_iter().map(count).collect();
        let (sources, candidates) = (Vec::new(), Vec::new());
        let mut set = Self {
            profile,
            measure,
            tries,
            min_records,
            class,
            code_counts,
            sources,
            candidates,
            candidate_by_code,
            cells,
        };
        for column in (0..masked.len()).filter(|&column| masked[column]) {
            let domain = set.domain(column);
            if !domain.is_empty() {
                set.add_source(column, domain.whole());
            }
        }
        set
    }

    fn domain(&self, column: usize) -> &'a Domain {
        &self.profile.columns()[column].domain
    }

    pub(super) fn len(&self) -> usize {
        self.candidates.len()
    }

    pub(super) fn get(&self, id: u32) -> &Candidate {
        &self.candidates[id as usize]
    }

    /// Whether a candidate is neither disclosed nor rejected.
    pub(super) fn is_open(&self, id: u32) -> bool {
        self.candidates[id as usize].open
    }

    /// By code, the open candidate that would disclose it, or [`NONE`].
    pub(super) fn candidate_by_code(&self, column: usize) -> &[u32] {
        &self.candidate_by_code[column]
    }

    /// By column and code, the released cell.
    pub(super) fn cells(&self) -> &[Vec<Cell>] {
        &self.cells
    }

    /// The codes whose candidate changes when this one is disclosed or rejected.
    pub(super) fn range_of_change(&self, id: u32) -> (u32, u32) {
        let Candidate { column, source, first, last, .. } = *self.get(id);
        (first, if self.is_free_number(column) { self.sources[source].cell.last } else { last })
    }

    /// Whether a column has numbers without a hierarchy: then the rest of a source gets a new candidate, too.
    pub(super) fn is_free_number(&self, column: usize) -> bool {
        self.domain(column).tree().is_none()
    }

    /// Whether a disclosure from the candidate's source can carry information: its records are of more than one class.
    pub(super) fn is_beneficial(&self, id: u32) -> bool {
        let occurring = |source: &Source| source.records.classes.iter().filter(|(_, records)| *records > 0).count();
        self.measure != Criterion::Class || occurring(&self.sources[self.get(id).source]) > 1
    }

    fn add_source(&mut self, column: usize, cell: Cell) {
        let records = self.code_counts[column].between(cell.first, cell.last);
        self.sources.push(Source { cell, first: cell.first, records, candidates: Vec::new() });
        let source = self.sources.len() - 1;
        match (self.domain(column).tree(), cell.node()) {
            (Some(tree), Some(node)) => self.add_children(column, tree, node, source),
            _ => self.add_numbers(column, source),
        }
    }

    fn add_children(&mut self, column: usize, tree: &Tree, node: NodeId, source: usize) {
        tree.children(node).for_each(|child| self.add_node(column, tree, child, source));
    }

    /// Adds a candidate for a node, unless it has no records or is released as `*` like its source.
    fn add_node(&mut self, column: usize, tree: &Tree, node: NodeId, source: usize) {
        let disclosed = self.domain(column).node_cell(node);
        let occurs =
            self.code_counts[column].records[disclosed.first as usize..=disclosed.last as usize].iter().any(|&r| r > 0);
        if occurs && !self.domain(column).is_star(disclosed) {
            let (first, last) = tree.range(node);
            self.add(column, (first, last), disclosed, source, None, Vec::new());
        }
    }

    /// Adds the candidate of a source of numbers: all numbers without the missing value, or a split.
    fn add_numbers(&mut self, column: usize, source: usize) {
        let Source { cell, first, .. } = self.sources[source];
        let domain = self.domain(column);
        match self.missing_in(column, cell) {
            Some(missing) if first < missing => {
                let rest = Some(domain.cover(missing, missing));
                let disclosed = domain.cover(first, missing - 1);
                self.add(column, (first, missing - 1), disclosed, source, rest, Vec::new());
            }
            Some(_) => {}
            None => {
                let points = self.points(column, source, cell.last, true);
                self.add_split(column, source, points, true);
            }
        }
    }

    fn missing_in(&self, column: usize, cell: Cell) -> Option<u32> {
        self.domain(column).missing().filter(|&missing| cell.contains(missing))
    }

    /// Adds the split at the best of `points`. The numbers above it get a cell of their own if `others`, or keep
    /// theirs.
    fn add_split(&mut self, column: usize, source: usize, mut points: Vec<u32>, others: bool) {
        let Some(point) = points.pop() else { return };
        let Source { cell, first, .. } = self.sources[source];
        let domain = self.domain(column);
        let rest = others.then(|| domain.cover(point + 1, cell.last));
        self.add(column, (first, point), domain.cover(first, point), source, rest, points);
    }

    fn add(
        &mut self,
        column: usize,
        (first, last): (u32, u32),
        disclosed: Cell,
        source: usize,
        rest: Option<Cell>,
        points: Vec<u32>,
    ) {
        let id = self.candidates.len() as u32;
        let records = self.code_counts[column].between(first, last);
        self.candidate_by_code[column][first as usize..=last as usize].fill(id);
        self.sources[source].candidates.push(id);
        self.candidates.push(Candidate {
            column,
            first,
            last,
            disclosed,
            source,
            rest,
            gain: 0.0,
            records,
            points,
            open: true,
        });
        self.candidates[id as usize].gain = self.gain(id);
    }

    fn loss(&self, column: usize, cell: Cell) -> f64 {
        self.measure.loss().of(self.domain(column), cell)
    }

    /// Current gain of a candidate.
    fn gain(&self, id: u32) -> f64 {
        let candidate = &self.candidates[id as usize];
        let source = &self.sources[candidate.source];
        let column = candidate.column;
        let weight = self.profile.columns()[column].weight;
        if self.class.is_some() {
            let (all, disclosed) = (&source.records, &candidate.records);
            return weight * class_gain(all, (disclosed.count, disclosed.entropy), &disclosed.classes);
        }
        let before = self.loss(column, source.cell);
        let disclosed = candidate.records.count as f64 * (before - self.loss(column, candidate.disclosed));
        let remaining = (source.records.count - candidate.records.count) as f64;
        let rest = candidate.rest.map_or(0.0, |rest| remaining * (before - self.loss(column, rest)));
        weight * (disclosed + rest)
    }

    /// The points at which to split the numbers up to `last` from the rest of their source, the best last. Both sides
    /// have at least the minimum number of records.
    fn points(&self, column: usize, source: usize, last: u32, others: bool) -> Vec<u32> {
        let counted = &self.code_counts[column];
        let Source { cell, first, records: ref all, .. } = self.sources[source];
        let records = all.count;
        let domain = self.domain(column);
        let lost = |first, last| self.loss(column, domain.cover(first, last));
        let mut left = 0;
        let mut left_classes: Classes = all.classes.iter().map(|&(class, _)| (class, 0)).collect();
        let mut scored: Vec<(f64, u32)> = Vec::new();
        for code in (first..last).filter(|&code| counted.records[code as usize] > 0) {
            left += counted.records[code as usize];
            for (class, more) in &counted.classes[counted.starts[code as usize]..counted.starts[code as usize + 1]] {
                if let Ok(index) = left_classes.binary_search_by_key(class, |(class, _)| *class) {
                    left_classes[index].1 += more;
                }
            }
            if left.min(records - left) < self.min_records[column].max(1) {
                continue;
            }
            let gain = if self.class.is_some() {
                class_gain(all, (left, entropy_of(&left_classes)), &left_classes)
            } else {
                let disclosed = left as f64 * (self.loss(column, cell) - lost(first, code));
                let rest = if others { self.loss(column, cell) - lost(code + 1, cell.last) } else { 0.0 };
                disclosed + (records - left) as f64 * rest
            };
            // Gains are rounded so that ties go to the first point.
            scored.push(((gain / super::TIE).round(), code));
        }
        scored.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        // A new vector: collecting from `into_iter` would keep the allocation of all points for each candidate.
        scored[scored.len().saturating_sub(self.tries)..].iter().map(|(_, code)| *code).collect()
    }

    fn close(&mut self, id: u32) {
        let Candidate { column, first, last, .. } = self.candidates[id as usize];
        self.candidates[id as usize].open = false;
        self.candidate_by_code[column][first as usize..=last as usize].fill(NONE);
    }

    /// Discloses a candidate. New candidates get the ids from the old [`len`](Self::len) on.
    pub(super) fn disclose(&mut self, id: u32) {
        self.close(id);
        let Candidate { source, column, first, last, disclosed, rest, .. } = self.candidates[id as usize];
        self.cells[column][first as usize..=last as usize].fill(disclosed);
        if let Some(rest) = rest {
            self.cells[column][rest.first as usize..=rest.last as usize].fill(rest);
            self.add_source(column, disclosed);
            self.add_source(column, rest);
            return;
        }
        let separated = &self.candidates[id as usize].records;
        let remaining = &mut self.sources[source];
        let classes: Classes = without(&remaining.records.classes, &separated.classes).collect();
        let count = remaining.records.count - separated.count;
        remaining.records = ClassCounts { count, entropy: entropy_of(&classes), classes };
        remaining.first = last + 1;
        remaining.candidates.retain(|&other| self.candidates[other as usize].open);
        for sibling in self.sources[source].candidates.clone() {
            self.candidates[sibling as usize].gain = self.gain(sibling);
        }
        self.add_source(column, disclosed);
        if self.is_free_number(column) {
            self.add_numbers(column, source);
        }
    }

    /// Rejects a candidate. Its alternatives get the ids from the old [`len`](Self::len) on.
    pub(super) fn reject(&mut self, id: u32) {
        self.close(id);
        let Candidate { source, column, disclosed, rest, .. } = self.candidates[id as usize];
        if let (Some(tree), Some(node)) = (self.domain(column).tree(), disclosed.node()) {
            self.add_children(column, tree, node, source);
            return;
        }
        let others = rest.filter(|rest| self.missing_in(column, *rest).is_none());
        let points = match self.missing_in(column, rest.unwrap_or(disclosed)) {
            Some(missing) => self.points(column, source, missing - 1, false),
            None => std::mem::take(&mut self.candidates[id as usize].points),
        };
        self.add_split(column, source, points, others.is_some());
    }
}

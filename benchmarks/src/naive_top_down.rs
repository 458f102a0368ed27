//! Top-down disclosure without an index: every candidate is scored by regrouping the whole table, in every iteration.
//!
//! Baseline for the comparison. It follows the paper but is not needlessly slow: equal records are counted once, tuples
//! are packed into one word each, one hash map is reused for all trials, and a candidate that violates a template is
//! not tried again.

use std::time::Instant;

use hashbrown::HashMap;
use moretta_core::{
    ids::{AttributeId, TupleId},
    privacy::{BoundModel, Limit, ShareLimit},
    profile::Profile,
};

use crate::naive;

/// Result of a run.
pub struct Run {
    /// Column and code of each disclosed value.
    pub path: Vec<(usize, u32)>,
    pub trials: u64,
    pub seconds: f64,
}

/// Limit on the confidence with which a value may be inferred.
struct Template {
    attribute: AttributeId,
    value: u32,
    share: ShareLimit,
}

struct Naive<'a> {
    profile: &'a Profile,
    templates: Vec<Template>,
    /// By tuple: its records, then the records with each template's value.
    counts: Vec<u64>,
    /// By column and code, 0 if the value is suppressed, its own number if it is disclosed.
    current: Vec<Vec<u64>>,
    shifts: Vec<u32>,
    /// By packed tuple, the index of its counts in `sums`.
    group_index: HashMap<u64, usize>,
    sums: Vec<u64>,
}

/// Runs the method to its end. Requires a class and categories without hierarchies that every template contains.
pub fn run(profile: &Profile, models: &[Box<dyn BoundModel>]) -> Run {
    let start = Instant::now();
    let mut naive = Naive::new(profile, models);
    let classes: Vec<Vec<Vec<u64>>> =
        (0..profile.columns().len()).map(|column| naive::classes(profile, column)).collect();
    let mut hidden: Vec<Vec<u64>> = classes.iter().map(|classes| naive::sum(classes)).collect();
    let of_column = |(column, codes): (usize, &Vec<u64>)| (0..codes.len() as u32).map(move |code| (column, code));
    let mut open: Vec<(usize, u32)> = naive.current.iter().enumerate().flat_map(of_column).collect();
    let mut run = Run { path: Vec::new(), trials: 0, seconds: 0.0 };
    loop {
        let now = naive.confidences();
        let mut scored: Vec<(f64, (usize, u32))> = Vec::new();
        open.retain(|&(column, code)| {
            naive.set(column, code, true);
            let after = naive.confidences();
            naive.set(column, code, false);
            run.trials += 1;
            let holds = naive.templates.iter().zip(&after).all(|(template, after)| template.share.allows(*after));
            let loss = after.iter().zip(&now).map(|(after, now)| after - now).sum::<f64>() / now.len() as f64;
            let useful = hidden[column].iter().filter(|records| **records > 0).count() > 1;
            if holds && useful {
                let gain = gain(&hidden[column], &classes[column][code as usize]);
                scored.push((gain / (loss + 1.0), (column, code)));
            }
            holds
        });
        let Some(highest) = scored.iter().map(|(score, _)| *score).max_by(f64::total_cmp) else { break };
        let Some(&(_, (column, code))) = scored.iter().find(|(score, _)| *score >= highest - 1e-12) else { break };
        naive.set(column, code, true);
        hidden[column]
            .iter_mut()
            .zip(&classes[column][code as usize])
            .for_each(|(hidden, disclosed)| *hidden -= disclosed);
        open.retain(|candidate| *candidate != (column, code));
        run.path.push((column, code));
    }
    run.seconds = start.elapsed().as_secs_f64();
    run
}

impl<'a> Naive<'a> {
    fn new(profile: &'a Profile, models: &[Box<dyn BoundModel>]) -> Self {
        let width = profile.columns().len();
        assert!(models.iter().all(|model| model.scope().len() == width), "a template knows all columns");
        let template = |limit| match limit {
            Limit::Share { attribute, value, share } => Some(Template { attribute, value, share }),
            Limit::Records(_) => None,
        };
        let limits = models.iter().filter_map(|model| model.limits()).flatten();
        let templates: Vec<Template> = limits.filter_map(template).collect();
        assert!(templates.iter().all(|template| !template.share.has_lower()), "only the highest shares are kept");
        let tuples = (0..profile.tuples() as u32).map(TupleId);
        let mut counts = Vec::with_capacity(profile.tuples() * (1 + templates.len()));
        for tuple in tuples {
            counts.push(profile.tuple_records(tuple));
            for template in &templates {
                let carries = |&variant: &_| profile.value(variant, template.attribute) == template.value;
                let variants = profile.variants_of(tuple).filter(carries);
                counts.push(variants.map(|variant| profile.variant_records(variant)).sum());
            }
        }
        let codes: Vec<usize> = profile.columns().iter().map(|column| column.domain.len()).collect();
        let shifts = naive::shifts(codes.iter().map(|codes| codes + 1));
        let current = codes.iter().map(|&codes| vec![0; codes]).collect();
        Self { profile, templates, counts, current, shifts, group_index: HashMap::new(), sums: Vec::new() }
    }

    fn set(&mut self, column: usize, code: u32, disclosed: bool) {
        self.current[column][code as usize] = if disclosed { u64::from(code) + 1 } else { 0 };
    }

    /// Maximum confidence of each template.
    fn confidences(&mut self) -> Vec<f64> {
        self.group_index.clear();
        self.sums.clear();
        let width = 1 + self.templates.len();
        for (tuple, counts) in (0..self.profile.tuples() as u32).map(TupleId).zip(self.counts.chunks_exact(width)) {
            let mut key = 0;
            for ((&code, current), shift) in self.profile.codes(tuple).iter().zip(&self.current).zip(&self.shifts) {
                key |= current[code as usize] << shift;
            }
            let at = *self.group_index.entry(key).or_insert(self.sums.len());
            if at == self.sums.len() {
                self.sums.extend(counts);
            } else {
                self.sums[at..at + width].iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
            }
        }
        let mut highest = vec![0.0f64; width - 1];
        for sums in self.sums.chunks_exact(width) {
            for (highest, &records) in highest.iter_mut().zip(&sums[1..]) {
                *highest = highest.max(records as f64 / sums[0] as f64);
            }
        }
        highest
    }
}

/// Information gain about the class if the disclosed records are separated from the others.
fn gain(all: &[u64], disclosed: &[u64]) -> f64 {
    let rest: Vec<u64> = all.iter().zip(disclosed).map(|(all, disclosed)| all - disclosed).collect();
    let [(records, before), (leaving, of_disclosed), (staying, of_rest)] = [all, disclosed, &rest].map(naive::entropy);
    before - leaving / records * of_disclosed - staying / records * of_rest
}

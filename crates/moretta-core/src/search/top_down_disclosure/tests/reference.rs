//! Naive reference: every candidate is tried on the whole table in every iteration.

use hashbrown::{HashMap, HashSet};

use crate::{
    hierarchy::Cell,
    ids::{NodeId, TupleId, VariantId},
    privacy::{BoundModel, Group, Limit, redundant},
    profile::{Profile, VariantCount},
    search::{Task, information::Criterion, top_down_disclosure::constraints::Template},
};

/// A disclosure: the values inside `disclosed` are separated from `source`; the others there are released as `rest`, or
/// keep their cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Disclosure {
    pub column: usize,
    pub disclosed: Cell,
    pub rest: Option<Cell>,
    source: Cell,
}

/// The lowest and the highest share of a value, over all groups.
#[derive(Debug, Clone, Copy)]
struct Range {
    low: f64,
    high: f64,
}

pub struct Reference<'a> {
    profile: &'a Profile,
    models: &'a [Box<dyn BoundModel>],
    measure: Criterion,
    tries: u32,
    templates: Vec<Template>,
    masked: Vec<bool>,
    /// By column, the highest k of a model whose scope contains it.
    min_records: Vec<u64>,
    pub cells: Vec<Vec<Cell>>,
    rejected: HashSet<(usize, Cell, Option<Cell>)>,
}

fn described_weight(profile: &Profile, column: usize) -> f64 {
    profile.columns()[column].weight
}

fn entropy(classes: &[u64]) -> f64 {
    let all: u64 = classes.iter().sum();
    let share = |records: u64| records as f64 / all as f64;
    classes.iter().filter(|&&records| records > 0).map(|&records| -share(records) * share(records).log2()).sum()
}

impl<'a> Reference<'a> {
    pub fn new(task: &Task<'a>, measure: Criterion, tries: u32) -> Self {
        let mut masked = vec![false; task.profile.columns().len()];
        let mut min_records = vec![1; masked.len()];
        let mut templates: Vec<Template> = Vec::new();
        let redundant: Vec<usize> = redundant(task.models).into_iter().map(|(model, _)| model).collect();
        for (_, model) in task.models.iter().enumerate().filter(|(index, _)| !redundant.contains(index)) {
            model.scope().iter().for_each(|column| masked[column.index()] = true);
            for limit in model.limits().into_iter().flatten() {
                if let Limit::Records(k) = limit {
                    model
                        .scope()
                        .iter()
                        .for_each(|column| min_records[column.index()] = min_records[column.index()].max(k));
                }
                if let Limit::Share { attribute, value, share } = limit {
                    let scope = model.scope().iter().map(|column| column.index()).collect();
                    let new = Template { scope, attribute, value, share };
                    let same =
                        |old: &&mut Template| (&old.scope, old.attribute, old.value) == (&new.scope, attribute, value);
                    match templates.iter_mut().find(same) {
                        Some(old) => old.share = old.share.and(share),
                        None => templates.push(new),
                    }
                }
            }
        }
        let start = |(column, masked): (usize, &bool)| -> Vec<Cell> {
            let domain = &task.profile.columns()[column].domain;
            let cell = |code| if *masked { domain.whole() } else { domain.cover(code, code) };
            (0..domain.len() as u32).map(cell).collect()
        };
        let cells = masked.iter().enumerate().map(start).collect();
        let (profile, models, templates) = (task.profile, task.models, templates);
        Self { profile, models, measure, tries, templates, masked, min_records, cells, rejected: HashSet::new() }
    }

    fn variants(&self) -> impl Iterator<Item = (VariantId, &'a [u32])> + use<'a> {
        let profile = self.profile;
        let tuples = (0..profile.tuples() as u32).map(TupleId);
        tuples.flat_map(move |tuple| profile.variants_of(tuple).map(move |variant| (variant, profile.codes(tuple))))
    }

    fn classes(&self, column: usize, inside: impl Fn(u32) -> bool) -> Vec<u64> {
        let class = self.profile.class().filter(|_| self.measure == Criterion::Class);
        let values = class.map_or(1, |class| self.profile.attributes()[class.index()].values.len());
        let mut classes = vec![0; values];
        for (variant, _) in self.variants().filter(|(_, codes)| inside(codes[column])) {
            let value = class.map_or(0, |class| self.profile.value(variant, class));
            classes[value as usize] += self.profile.variant_records(variant);
        }
        classes
    }

    fn occurs(&self, column: usize, cell: Cell) -> bool {
        self.variants().any(|(_, codes)| cell.contains(codes[column]))
    }

    pub fn gain(&self, disclosure: &Disclosure) -> f64 {
        let Disclosure { column, disclosed, rest, source } = *disclosure;
        let described = &self.profile.columns()[column];
        let all = self.classes(column, |code| self.cells[column][code as usize] == source);
        let separated = self.classes(column, |code| disclosed.contains(code));
        let remaining: Vec<u64> = all.iter().zip(&separated).map(|(all, separated)| all - separated).collect();
        let [n, disclosed_n, rest_n] = [&all, &separated, &remaining].map(|counts| counts.iter().sum::<u64>() as f64);
        if self.measure == Criterion::Class && self.profile.class().is_some() {
            let gain = entropy(&all) - disclosed_n / n * entropy(&separated) - rest_n / n * entropy(&remaining);
            return described.weight * gain;
        }
        let ncp = self.measure == Criterion::Ncp;
        let loss = |cell| if ncp { described.domain.ncp(cell) } else { described.domain.lm(cell) };
        let of_rest = rest.map_or(0.0, |rest| rest_n * (loss(source) - loss(rest)));
        described.weight * (disclosed_n * (loss(source) - loss(disclosed)) + of_rest)
    }

    pub fn is_beneficial(&self, disclosure: &Disclosure) -> bool {
        let Disclosure { column, source, .. } = *disclosure;
        let classes = self.classes(column, |code| self.cells[column][code as usize] == source);
        self.measure != Criterion::Class || classes.iter().filter(|&&records| records > 0).count() > 1
    }

    /// All candidates for the next disclosure, in order of column and value.
    pub fn candidates(&self) -> Vec<Disclosure> {
        let mut all = Vec::new();
        for column in (0..self.masked.len()).filter(|&column| self.masked[column]) {
            let domain = &self.profile.columns()[column].domain;
            let Some(tree) = domain.tree() else {
                all.extend(self.splits(column));
                continue;
            };
            for node in tree.nodes().skip(1) {
                let disclosed = domain.node_cell(node);
                let source = self.cells[column][disclosed.first as usize];
                let together =
                    (disclosed.first..=disclosed.last).all(|code| self.cells[column][code as usize] == source);
                let above: Vec<NodeId> = std::iter::successors(tree.parent(node), |&node| tree.parent(node))
                    .take_while(|&node| Some(node) != source.node())
                    .collect();
                let below = above.last().map_or(tree.parent(node), |&node| tree.parent(node)) == source.node();
                let rejected = |node: NodeId| self.rejected.contains(&(column, domain.node_cell(node), None));
                let open = !rejected(node) && above.iter().all(|&node| rejected(node));
                if together && below && open && self.occurs(column, disclosed) && !domain.is_star(disclosed) {
                    all.push(Disclosure { column, disclosed, rest: None, source });
                }
            }
        }
        all.sort_by_key(|disclosure| (disclosure.column, disclosure.disclosed.first));
        all
    }

    /// For every interval of a column of free numbers, the best split that was not rejected. If the source contains
    /// missing values: all numbers, and after that was rejected, the best part of them.
    fn splits(&self, column: usize) -> Vec<Disclosure> {
        let domain = &self.profile.columns()[column].domain;
        let mut sources = self.cells[column].clone();
        sources.dedup();
        let open = |split: &Disclosure| !self.rejected.contains(&(column, split.disclosed, split.rest));
        let best = |source: Cell| {
            let inside: Vec<u32> =
                (source.first..=source.last).filter(|&code| self.cells[column][code as usize] == source).collect();
            let (first, mut last) = (inside[0], source.last);
            let missing = domain.missing().filter(|&missing| missing == last);
            if let Some(missing) = missing {
                if first == missing {
                    return None;
                }
                let all = Disclosure {
                    column,
                    disclosed: domain.cover(first, missing - 1),
                    rest: Some(domain.cover(missing, missing)),
                    source,
                };
                if open(&all) {
                    return Some(all);
                }
                last = missing - 1;
            }
            let rest = |point: u32| missing.is_none().then(|| domain.cover(point + 1, last));
            let split = |point| Disclosure { column, disclosed: domain.cover(first, point), rest: rest(point), source };
            let records = |from: u32, to: u32| -> u64 {
                let inside = self.variants().filter(|(_, codes)| (from..=to).contains(&codes[column]));
                inside.map(|(variant, _)| self.profile.variant_records(variant)).sum()
            };
            let has_min_records = |split: &Disclosure| {
                let min_records = self.min_records[column];
                let sides = [records(first, split.disclosed.last), records(split.disclosed.last + 1, source.last)];
                sides.iter().all(|&records| records >= min_records)
            };
            let splits = (first..last).map(split).filter(has_min_records);
            let rounded = |split: Disclosure| {
                ((self.gain(&split) / described_weight(self.profile, column) / 1e-12).round(), split)
            };
            let mut scored: Vec<(f64, Disclosure)> = splits.map(rounded).collect();
            scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.disclosed.last.cmp(&b.1.disclosed.last)));
            scored.into_iter().take(self.tries as usize).map(|(_, split)| split).find(open)
        };
        let mut found: Vec<Disclosure> = sources.into_iter().filter_map(best).collect();
        found.dedup();
        found
    }

    fn with(&self, disclosure: Option<&Disclosure>, column: usize, code: u32) -> Cell {
        let now = self.cells[column][code as usize];
        match disclosure {
            Some(new) if new.column == column && new.disclosed.contains(code) => new.disclosed,
            Some(Disclosure { column: changed, rest: Some(rest), .. }) if *changed == column && rest.contains(code) => {
                *rest
            }
            _ => now,
        }
    }

    /// The lowest and the highest share of every template whose scope contains the disclosed column, or of all
    /// templates.
    fn shares(&self, disclosure: Option<&Disclosure>) -> Vec<Range> {
        // Number the cells of each column, so that equal cells have equal numbers.
        let numbers: Vec<Vec<u128>> = (0..self.cells.len())
            .map(|column| {
                let mut numbers: HashMap<Cell, u128> = HashMap::new();
                let cells = (0..self.cells[column].len() as u32).map(|code| self.with(disclosure, column, code));
                let mut number = |cell| {
                    let next = numbers.len() as u128;
                    *numbers.entry(cell).or_insert(next)
                };
                cells.map(&mut number).collect()
            })
            .collect();
        assert!(self.cells.len() <= 16 && numbers.iter().flatten().all(|number| number >> 8 == 0));
        let known = |template: &&Template| disclosure.is_none_or(|new| template.scope.contains(&new.column));
        let known: Vec<&Template> = self.templates.iter().filter(known).collect();
        let mut scopes: HashMap<&[usize], HashMap<u128, Vec<u64>>> = HashMap::new();
        let mut all = vec![Range { low: 1.0, high: 0.0 }; known.len()];
        for template in &known {
            if scopes.contains_key(&template.scope[..]) {
                continue;
            }
            let same: Vec<usize> = (0..known.len()).filter(|&other| known[other].scope == template.scope).collect();
            let groups: &mut HashMap<u128, Vec<u64>> = scopes.entry(&template.scope).or_default();
            for (variant, codes) in self.variants() {
                let key =
                    template.scope.iter().fold(0, |key, &column| key << 8 | numbers[column][codes[column] as usize]);
                let counts = groups.entry(key).or_insert_with(|| vec![0; 1 + same.len()]);
                let records = self.profile.variant_records(variant);
                counts[0] += records;
                for (count, &other) in counts[1..].iter_mut().zip(&same) {
                    *count += if self.profile.value(variant, known[other].attribute) == known[other].value {
                        records
                    } else {
                        0
                    };
                }
            }
            for counts in groups.values() {
                for (count, &other) in counts[1..].iter().zip(&same) {
                    let share = *count as f64 / counts[0] as f64;
                    all[other] = Range { low: all[other].low.min(share), high: all[other].high.max(share) };
                }
            }
        }
        all
    }

    fn keeps(&self, disclosure: &Disclosure, after: &[Range]) -> bool {
        let templates = self.templates.iter().filter(|template| template.scope.contains(&disclosure.column));
        templates
            .zip(after)
            .all(|(template, after)| [after.low, after.high].iter().all(|&share| template.share.allows(share)))
    }

    fn privacy_loss(&self, disclosure: &Disclosure, now: &[Range], after: &[Range]) -> f64 {
        let known = self.templates.iter().zip(now).filter(|(template, _)| template.scope.contains(&disclosure.column));
        let rises: Vec<f64> = known.zip(after).map(|((_, now), after)| after.high - now.high).collect();
        if rises.is_empty() { 0.0 } else { rises.iter().sum::<f64>() / rises.len() as f64 }
    }

    /// Whether all models hold after the disclosure.
    pub fn allows(&self, disclosure: Option<&Disclosure>) -> bool {
        self.all_hold(self.models.iter(), disclosure)
    }

    fn all_hold(
        &self,
        mut models: impl Iterator<Item = &'a Box<dyn BoundModel>>,
        disclosure: Option<&Disclosure>,
    ) -> bool {
        models.all(|model| {
            let mut groups: HashMap<Vec<Cell>, Vec<VariantCount>> = HashMap::new();
            for (variant, codes) in self.variants() {
                let key =
                    model.scope().iter().map(|column| self.with(disclosure, column.index(), codes[column.index()]));
                let member = VariantCount { variant, records: self.profile.variant_records(variant) };
                groups.entry(key.collect()).or_default().push(member);
            }
            groups.values().all(|members| model.holds(&Group::new(self.profile, members)))
        })
    }

    pub fn disclose(&mut self, disclosure: &Disclosure) {
        for column in 0..self.cells.len() {
            let disclosed: Vec<Cell> =
                (0..self.cells[column].len() as u32).map(|code| self.with(Some(disclosure), column, code)).collect();
            self.cells[column] = disclosed;
        }
    }

    pub fn reject(&mut self, disclosure: &Disclosure) {
        self.rejected.insert((disclosure.column, disclosure.disclosed, disclosure.rest));
    }

    /// Runs to the end. Returns the disclosures in order.
    pub fn run(&mut self) -> Vec<Disclosure> {
        let mut disclosed = Vec::new();
        loop {
            let candidates = self.candidates();
            let after: Vec<Vec<Range>> = candidates.iter().map(|candidate| self.shares(Some(candidate))).collect();
            let all = || candidates.iter().zip(&after);
            let broken: Vec<&Disclosure> = all()
                .filter(|(candidate, after)| !self.keeps(candidate, after))
                .map(|(candidate, _)| candidate)
                .collect();
            if !broken.is_empty() {
                broken.into_iter().for_each(|broken| self.reject(broken));
                continue;
            }
            let now = self.shares(None);
            let useful = all().filter(|(candidate, _)| self.is_beneficial(candidate));
            let score = |(candidate, after): (&Disclosure, &Vec<Range>)| {
                (self.gain(candidate) / (self.privacy_loss(candidate, &now, after) + 1.0), *candidate)
            };
            let scored: Vec<(f64, Disclosure)> = useful.map(score).collect();
            let Some(highest) = scored.iter().map(|(score, _)| *score).max_by(f64::total_cmp) else { return disclosed };
            let (_, best) = *scored.iter().find(|(score, _)| *score >= highest - 1e-12).expect("the highest");
            // Templates were checked above.
            let is_template = |limits: Vec<Limit>| limits.iter().all(|limit| matches!(limit, Limit::Share { .. }));
            let others = self.models.iter().filter(|model| !model.limits().is_some_and(is_template));
            if self.all_hold(others, Some(&best)) {
                self.disclose(&best);
                disclosed.push(best);
            } else {
                self.reject(&best);
            }
        }
    }
}

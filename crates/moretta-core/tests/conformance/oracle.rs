//! Do the privacy models hold in a table of printed texts? Straight from the definitions, on plain maps over strings.

use std::collections::{BTreeMap, BTreeSet};

use moretta_core::policy::{Distance, LDiversityKind, Lkc, TemplateValues};

use crate::{
    spec::{Shape, Spec, is_missing},
    world::{Rows, World},
};

/// How a table fares under one model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    pub groups: usize,
    pub failing_groups: usize,
    pub failing_records: u64,
}

const ROUNDING: f64 = 1e-9;

/// A table of texts and what the world says of its columns.
pub struct Printed<'a> {
    pub world: &'a World,
    pub header: &'a [String],
    pub rows: &'a Rows,
}

impl<'a> Printed<'a> {
    pub fn cells(&self, column: &str) -> Vec<&'a str> {
        let at = self.header.iter().position(|known| known == column).expect("a column of the release");
        self.rows.iter().map(|row| row[at].as_str()).collect()
    }

    /// The records that are alike in these columns.
    pub fn groups(&self, columns: &[String]) -> Vec<Vec<usize>> {
        let cells: Vec<Vec<&str>> = columns.iter().map(|column| self.cells(column)).collect();
        let mut groups: BTreeMap<Vec<&str>, Vec<usize>> = BTreeMap::new();
        for record in 0..self.rows.len() {
            groups.entry(cells.iter().map(|column| column[record]).collect()).or_default().push(record);
        }
        groups.into_values().collect()
    }

    fn quasi(&self) -> Vec<String> {
        self.world.quasi.iter().map(|spec| spec.name.clone()).collect()
    }

    fn verdict(&self, columns: &[String], holds: impl Fn(&[usize]) -> bool) -> Verdict {
        let groups = self.groups(columns);
        let failing: Vec<&Vec<usize>> = groups.iter().filter(|group| !holds(group)).collect();
        let failing_records = failing.iter().map(|group| group.len() as u64).sum();
        Verdict { groups: groups.len(), failing_groups: failing.len(), failing_records }
    }

    /// One verdict for each model of the policy, in its order.
    pub fn verdicts(&self) -> Vec<Verdict> {
        let privacy = &self.world.policy.privacy;
        let mut verdicts = Vec::new();
        if let Some(k) = privacy.k {
            verdicts.push(self.verdict(&self.quasi(), |group| group.len() as u64 >= k));
        }
        for template in &privacy.templates {
            let column = Sensitive::new(self, &template.column);
            let guarded = match &template.values {
                TemplateValues::Listed(values) => values.iter().map(|value| column.spec_value(value)).collect(),
                TemplateValues::Rarest(share) => column.rarest(*share),
            };
            for value in guarded {
                let holds = |group: &[usize]| {
                    let with = group.iter().filter(|&&record| column.values[record] == value).count();
                    with as f64 / group.len() as f64 <= template.max_confidence + ROUNDING
                };
                verdicts.push(self.verdict(&template.given, holds));
            }
        }
        verdicts.extend(privacy.lkc.map(|asked| self.lkc(asked)));
        for model in &privacy.l_diversity {
            let column = Sensitive::new(self, &model.column);
            let holds = |group: &[usize]| diverse(&column.counts(group), model.l, model.kind);
            verdicts.push(self.verdict(&self.quasi(), holds));
        }
        for model in &privacy.t_closeness {
            let column = Sensitive::new(self, &model.column);
            let holds = |group: &[usize]| column.distance(group, model.distance) <= model.t + ROUNDING;
            verdicts.push(self.verdict(&self.quasi(), holds));
        }
        verdicts
    }

    /// Every set of at most `l` columns; the verdict is on the largest ones, for these must decide.
    fn lkc(&self, asked: Lkc) -> Verdict {
        let quasi = self.quasi();
        let sensitive = self.world.attributes.iter().filter(|spec| spec.name != "class");
        let sensitive: Vec<Sensitive<'_>> = sensitive.map(|spec| Sensitive::new(self, &spec.name)).collect();
        let holds = |group: &[usize]| {
            let most = sensitive.iter().flat_map(|column| column.counts(group).into_values().collect::<Vec<_>>());
            let confidence = most.max().unwrap_or(0) as f64 / group.len() as f64;
            group.len() as u64 >= asked.k && confidence <= asked.c + ROUNDING
        };
        let largest = (asked.l as usize).min(quasi.len());
        let mut verdict = Verdict { groups: 0, failing_groups: 0, failing_records: 0 };
        let mut smaller_hold = true;
        for set in 0..1u32 << quasi.len() {
            let known = quasi.iter().enumerate().filter(|(index, _)| set >> index & 1 == 1);
            let known: Vec<String> = known.map(|(_, name)| name.clone()).collect();
            let found = self.verdict(&known, holds);
            if known.len() == largest {
                verdict.groups += found.groups;
                verdict.failing_groups += found.failing_groups;
                verdict.failing_records += found.failing_records;
            } else if known.len() < largest {
                smaller_hold &= found.failing_groups == 0;
            }
        }
        assert!(smaller_hold || verdict.failing_groups > 0, "fewer columns must not give away more");
        verdict
    }

    pub fn holds(&self) -> bool {
        self.verdicts().iter().all(|verdict| verdict.failing_groups == 0)
    }
}

fn diverse(counts: &BTreeMap<&str, usize>, l: f64, kind: LDiversityKind) -> bool {
    let mut sizes: Vec<usize> = counts.values().copied().collect();
    sizes.sort_unstable();
    sizes.reverse();
    let all: usize = sizes.iter().sum();
    match kind {
        LDiversityKind::Distinct => sizes.len() as f64 >= l,
        LDiversityKind::Entropy => {
            let shares = sizes.iter().map(|&size| size as f64 / all as f64);
            shares.map(|p| -p * p.ln()).sum::<f64>().exp() >= l - ROUNDING
        }
        LDiversityKind::Recursive { c } => {
            let tail: usize = sizes.iter().skip(l as usize - 1).sum();
            (sizes[0] as f64) < c * tail as f64 - ROUNDING
        }
    }
}

/// One sensitive or class column: each record's value, where texts that mean the same are the same.
struct Sensitive<'a> {
    spec: &'a Spec,
    texts: Vec<&'a str>,
    values: Vec<String>,
}

/// Equal numbers and dates are one value however they are written, and so are all ways to say that there is none.
fn canonical(spec: &Spec, text: &str) -> String {
    match spec.shape.number(text) {
        _ if is_missing(text) => "?".to_owned(),
        Some(number) if spec.shape.is_ordered() => format!("{number}"),
        _ => text.to_owned(),
    }
}

impl<'a> Sensitive<'a> {
    fn new(printed: &Printed<'a>, name: &str) -> Self {
        let spec = printed.world.attributes.iter().find(|spec| spec.name == name).expect("a declared column");
        let texts = printed.cells(name);
        Self { values: texts.iter().map(|text| canonical(spec, text)).collect(), spec, texts }
    }

    fn spec_value(&self, text: &str) -> String {
        canonical(self.spec, text)
    }

    fn counts(&self, group: &[usize]) -> BTreeMap<&str, usize> {
        let mut counts = BTreeMap::new();
        group.iter().for_each(|&record| *counts.entry(self.values[record].as_str()).or_default() += 1);
        counts
    }

    fn everything(&self) -> Vec<usize> {
        (0..self.values.len()).collect()
    }

    /// By count, then by the shortest text, the first floor(share of them).
    fn rarest(&self, share: f64) -> Vec<String> {
        let everything = self.everything();
        let counts = self.counts(&everything);
        let text = |value: &str| {
            let own = self.texts.iter().zip(&self.values).filter(|(_, known)| *known == value).map(|(text, _)| *text);
            own.min_by_key(|text| (text.len(), *text)).unwrap_or("").to_owned()
        };
        let mut order: Vec<(usize, String, &str)> =
            counts.iter().map(|(value, count)| (*count, text(value), *value)).collect();
        order.sort();
        let kept = (share * order.len() as f64 + ROUNDING).floor() as usize;
        order[..kept].iter().map(|(_, _, value)| (*value).to_owned()).collect()
    }

    /// The values that occur, in order of size or of the hierarchy, a missing one last, with their paths to the root.
    fn in_order(&self) -> Vec<(String, Vec<String>)> {
        let occurring: BTreeSet<&String> = self.values.iter().collect();
        let path = |value: &str| vec![value.to_owned(), "*".to_owned()];
        let mut ordered: Vec<(String, Vec<String>)> = match &self.spec.shape {
            Shape::Tree(paths) => {
                // A missing value has the hierarchy's place for it only where it is written that way.
                let known = paths.iter().filter(|path| occurring.contains(&path[0]));
                let known = known.filter(|path| !is_missing(&path[0]) || self.texts.contains(&path[0].as_str()));
                known.map(|path| (path[0].clone(), path.clone())).collect()
            }
            _ => {
                let mut present: Vec<&String> = occurring.iter().filter(|value| **value != "?").copied().collect();
                if self.spec.shape.is_ordered() {
                    present.sort_by(|a, b| a.parse::<f64>().unwrap().total_cmp(&b.parse().unwrap()));
                }
                present.into_iter().map(|value| (value.clone(), path(value))).collect()
            }
        };
        if occurring.contains(&"?".to_owned()) && ordered.iter().all(|(value, _)| value != "?") {
            ordered.push(("?".to_owned(), path("?")));
        }
        ordered
    }

    fn distance(&self, group: &[usize], distance: Distance) -> f64 {
        let order = self.in_order();
        let everything = self.everything();
        let (here, table) = (self.counts(group), self.counts(&everything));
        let amount = |counts: &BTreeMap<&str, usize>, times: usize| -> Vec<u64> {
            order.iter().map(|(value, _)| (counts.get(value.as_str()).unwrap_or(&0) * times) as u64).collect()
        };
        let height = |label: &String| {
            let at = |path: &Vec<String>| path.iter().position(|known| known == label).unwrap_or(0);
            order.iter().map(|(_, path)| at(path)).max().unwrap_or(0) as f64
        };
        let ground = |a: usize, b: usize| match distance {
            _ if a == b => 0.0,
            Distance::Equal => 1.0,
            Distance::Ordered => a.abs_diff(b) as f64 / (order.len() - 1) as f64,
            Distance::Hierarchical => {
                let common = order[a].1.iter().find(|label| order[b].1.contains(label)).expect("at least the root");
                height(common) / height(&"*".to_owned())
            }
        };
        let cost = earth_movers(amount(&here, everything.len()), amount(&table, group.len()), ground);
        cost / (group.len() * everything.len()) as f64
    }
}

/// The least cost of turning one pile into the other: successive cheapest paths from what is over to what is lacking.
fn earth_movers(mut supply: Vec<u64>, mut demand: Vec<u64>, ground: impl Fn(usize, usize) -> f64) -> f64 {
    let n = supply.len();
    let mut flow = vec![vec![0u64; n]; n];
    loop {
        // Distances over the nodes: sources 0..n, sinks n..2n; back along a flow costs its negative.
        let mut best: Vec<f64> = (0..2 * n).map(|i| if i < n && supply[i] > 0 { 0.0 } else { f64::INFINITY }).collect();
        let mut from = vec![usize::MAX; 2 * n];
        for _ in 0..2 * n {
            for i in 0..n {
                for j in 0..n {
                    if best[i] + ground(i, j) < best[n + j] - 1e-12 {
                        (best[n + j], from[n + j]) = (best[i] + ground(i, j), i);
                    }
                    if flow[i][j] > 0 && best[n + j] - ground(i, j) < best[i] - 1e-12 {
                        (best[i], from[i]) = (best[n + j] - ground(i, j), n + j);
                    }
                }
            }
        }
        let lacking = (0..n).filter(|&j| demand[j] > 0 && best[n + j].is_finite());
        let Some(end) = lacking.min_by(|&a, &b| best[n + a].total_cmp(&best[n + b])) else { break };
        let mut path = vec![n + end];
        while from[path[path.len() - 1]] != usize::MAX {
            path.push(from[path[path.len() - 1]]);
        }
        path.reverse();
        let back = path.windows(2).filter(|step| step[0] >= n).map(|step| flow[step[1]][step[0] - n]);
        let moved = back.chain([supply[path[0]], demand[end]]).min().unwrap_or(0);
        for step in path.windows(2) {
            match step[0] < n {
                true => flow[step[0]][step[1] - n] += moved,
                false => flow[step[1]][step[0] - n] -= moved,
            }
        }
        supply[path[0]] -= moved;
        demand[end] -= moved;
    }
    let cost = |i: usize, j: usize| flow[i][j] as f64 * ground(i, j);
    (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).map(|(i, j)| cost(i, j)).sum()
}

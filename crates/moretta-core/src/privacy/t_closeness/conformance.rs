//! For the conformance suite: random t-closeness for a policy, and a naive check of a printed release. It computes the
//! earth mover's distance by cheapest paths, for any ground distance.

use std::collections::{BTreeMap, BTreeSet};

use super::{Distance, TCloseness};
use crate::{
    privacy::PrivacyModel,
    testing::conformance::{
        Conformance, Dice, Printed, PrintedColumn, ROUNDING, RandomColumns, Shape, Verdict, folded, is_missing,
    },
};

pub(super) const CONFORMANCE: Conformance = Conformance { random, verdicts };

fn random(dice: &mut Dice, columns: &RandomColumns<'_>) -> Option<String> {
    let column = columns.guarded(dice)?;
    let distances: &[&str] = match column.shape {
        Shape::Tree(_) => &["equal", "ordered", "hierarchical"],
        Shape::Free | Shape::Dates(_) if column.missing == "error" => &["equal", "ordered"],
        _ => &["equal"],
    };
    let (distance, t) = (dice.one(distances), dice.one(&[0.6, 0.4, 0.25, 0.1, 0.0]));
    Some(format!("[[privacy.t-closeness]]\ncolumn = \"{}\"\nt = {t:?}\ndistance = \"{distance}\"\n", column.name))
}

fn verdicts(model: &dyn PrivacyModel, printed: &Printed<'_>) -> Vec<Verdict> {
    let model: &TCloseness = model.get().expect("the model is t-closeness");
    let column = printed.column(&model.column);
    let holds = |group: &[usize]| distance(&column, group, model.distance) <= model.t + ROUNDING;
    vec![printed.verdict(&printed.quasi_identifiers(), holds)]
}

/// The values that occur, in order of size or of the hierarchy, a missing one last, with their paths to the root.
fn in_order(column: &PrintedColumn<'_>) -> Vec<(String, Vec<String>)> {
    let occurring: BTreeSet<&String> = column.values.iter().collect();
    let path = |value: &str| vec![value.to_owned(), "*".to_owned()];
    let mut ordered: Vec<(String, Vec<String>)> = match &column.spec.shape {
        Shape::Tree(paths) => {
            // A missing value is a leaf of the hierarchy only if some cell is written as that leaf.
            let known = paths.iter().filter(|path| occurring.contains(&path[0]));
            let known =
                known.filter(|path| !is_missing(&path[0]) || column.texts.iter().any(|text| folded(text) == path[0]));
            known.map(|path| (path[0].clone(), path.clone())).collect()
        }
        _ => {
            let mut present: Vec<&String> = occurring.iter().filter(|value| **value != "?").copied().collect();
            if column.spec.shape.is_ordered() {
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

fn distance(column: &PrintedColumn<'_>, group: &[usize], distance: Distance) -> f64 {
    let order = in_order(column);
    let everything = column.everything();
    let (here, table) = (column.counts(group), column.counts(&everything));
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
    let (own, all) = (column.total(group), column.total(&everything));
    let cost = earth_movers(amount(&here, all), amount(&table, own), ground);
    cost / (own * all) as f64
}

/// Minimum cost of moving `supply` to `demand`, by successive shortest paths (Bellman-Ford).
fn earth_movers(mut supply: Vec<u64>, mut demand: Vec<u64>, ground: impl Fn(usize, usize) -> f64) -> f64 {
    let n = supply.len();
    let mut flow = vec![vec![0u64; n]; n];
    loop {
        // Sources are nodes 0..n, sinks n..2n. A backward edge along a flow costs the negative distance.
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
            if step[0] < n {
                flow[step[0]][step[1] - n] += moved;
            } else {
                flow[step[1]][step[0] - n] -= moved;
            }
        }
        supply[path[0]] -= moved;
        demand[end] -= moved;
    }
    let cost = |i: usize, j: usize| flow[i][j] as f64 * ground(i, j);
    (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).map(|(i, j)| cost(i, j)).sum()
}

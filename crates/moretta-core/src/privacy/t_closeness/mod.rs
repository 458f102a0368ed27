//! t-closeness (Li, Li, Venkatasubramanian 2007): in every group, a sensitive column is distributed nearly as in the
//! table.
//!
//! The earth mover's distance between the group's and the table's distribution is at most `t`, with the ground
//! distance between two values
//! - *equal*: 1 for any two different values (the distance is then half the sum of the differences of shares);
//! - *ordered*: the number of steps between them, over the number of values less one;
//! - *hierarchical*: the height of their closest common ancestor over the height of the tree.

#[cfg(any(test, feature = "testing"))]
mod conformance;
mod section;

use serde::{Deserialize, Serialize};

pub(super) use self::section::ENTRY;
use super::{
    BoundModel, BoundModels, Description, Figure, Group, ModelError, ModelFacts, PrivacyModel, Sentence, at_most,
    attribute_named, every_column, names_of, to_json,
};
use crate::{
    declaration::ColumnPolicy,
    hierarchy::Tree,
    ids::{AttributeId, ColumnId},
    profile::{Attribute, Tables},
    schema::{Role, Unit},
};

/// Each group's distribution of a column is within `t` of the whole table's.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TCloseness {
    /// The guarded column: sensitive or class.
    pub column: String,
    /// Maximum distance, 0 to 1.
    pub t: f64,
    /// The ground distance between two values.
    pub distance: Distance,
}

/// Ground distance between two values of a column, for the earth mover's distance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Distance {
    /// 1 for different values.
    Equal,
    /// Number of steps between them in the column's order.
    Ordered,
    /// Height of their closest common ancestor in the hierarchy.
    Hierarchical,
}

impl Distance {
    /// Name in a policy.
    pub fn name(self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::Ordered => "ordered",
            Self::Hierarchical => "hierarchical",
        }
    }
}

struct BoundTCloseness {
    model: TCloseness,
    attribute: AttributeId,
    table: Vec<f64>,
    cumulative: CumulativeShares,
    tree: Option<Tree>,
    scope: Vec<ColumnId>,
    unit: Unit,
}

impl PrivacyModel for TCloseness {
    fn key(&self) -> &'static str {
        ENTRY.key
    }

    fn section(&self) -> serde_json::Value {
        to_json(self)
    }

    fn sentence(&self, _: &[ColumnPolicy]) -> Sentence {
        let distance = match self.distance {
            Distance::Equal => "all values equally far from each other",
            Distance::Ordered => "values as far apart as their places in order",
            Distance::Hierarchical => "values as far apart as their closest common node in the hierarchy is high",
        };
        let spread = " is spread nearly as in the whole table: the two are at most ";
        let sentence = Sentence::default().text("in every group, ").name(&self.column);
        sentence.text(format!("{spread}{} apart, on a scale from 0 to 1 ({distance})", self.t))
    }

    fn guards(&self, _: &[ColumnPolicy]) -> Vec<String> {
        vec![self.column.clone()]
    }

    fn assumes_known(&self, columns: &[ColumnPolicy]) -> Vec<String> {
        names_of(columns, Role::QuasiIdentifier)
    }

    fn is_trivial(&self) -> bool {
        self.t >= 1.0
    }

    fn bind(&self, tables: &Tables<'_>) -> Result<BoundModels, ModelError> {
        let profile = tables.table;
        let attribute = attribute_named(profile, &self.column)?;
        let column = &profile.attributes()[attribute.index()];
        check_distance(self, column)?;
        let table = profile.shares(attribute);
        let (tree, cumulative) = (column.tree.clone(), CumulativeShares::of(&table));
        let (model, scope, unit) = (self.clone(), every_column(profile), profile.unit());
        Ok(BoundModels::of_group(BoundTCloseness { model, attribute, table, cumulative, tree, scope, unit }))
    }
}

fn check_distance(model: &TCloseness, column: &Attribute) -> Result<(), ModelError> {
    let missing = match model.distance {
        Distance::Equal => return Ok(()),
        Distance::Ordered if column.numbers.is_some() || column.tree.is_some() => return Ok(()),
        Distance::Hierarchical if column.tree.is_some() => return Ok(()),
        Distance::Ordered => {
            "`distance = \"ordered\"` needs numbers or dates without missing values, or a hierarchy file that gives the order"
        }
        Distance::Hierarchical => "`distance = \"hierarchical\"` needs a hierarchy file",
    };
    let column = &model.column;
    Err(ModelError(format!("t-closeness of `{column}`: {missing}; `distance = \"equal\"` needs nothing of the kind")))
}

impl BoundTCloseness {
    fn distance(&self, group: &Group<'_>) -> f64 {
        let all = group.total(self.attribute) as f64;
        let shares = group.histogram(self.attribute).iter().map(|&(code, n)| (code as usize, n as f64 / all));
        match (&self.model.distance, &self.tree) {
            (Distance::Hierarchical, Some(tree)) => {
                let mut difference: Vec<f64> = self.table.iter().map(|share| -share).collect();
                shares.for_each(|(code, share)| difference[code] += share);
                hierarchical(tree, &difference)
            }
            (Distance::Ordered, _) => self.cumulative.ordered(shares),
            _ => equal(&self.table, shares),
        }
    }
}

/// Half the sum of the absolute differences of shares. A value that the group lacks contributes its share in the table.
fn equal(table: &[f64], shares: impl Iterator<Item = (usize, f64)>) -> f64 {
    let (mut differ, mut met) = (0.0, 0.0);
    for (code, share) in shares {
        differ += (share - table[code]).abs();
        met += table[code];
    }
    (differ + (1.0 - met).max(0.0)) / 2.0
}

/// Cumulative shares of the table's values and their prefix sums. With them the distance of a group costs
/// O(v log n) for the v values of the group instead of O(n) for all n values of the column.
struct CumulativeShares {
    /// Share of the records with a value up to and including this one.
    shares: Vec<f64>,
    /// Sum of `shares` before each position.
    before: Vec<f64>,
}

impl CumulativeShares {
    fn of(table: &[f64]) -> Self {
        let running = |sum: &mut f64, share: &f64| {
            *sum += share;
            Some(*sum)
        };
        let shares: Vec<f64> = table.iter().scan(0.0, running).collect();
        let mut before = vec![0.0];
        before.extend(shares.iter().scan(0.0, running));
        Self { shares, before }
    }

    /// Earth mover's distance over ordered values: the sum over all values of |cumulative share of the group - of the
    /// table|, divided by the number of values less one.
    fn ordered(&self, shares: impl Iterator<Item = (usize, f64)>) -> f64 {
        let (mut carried, mut from, mut moved) = (0.0, 0, 0.0);
        for (code, share) in shares {
            moved += self.past(from, code, carried);
            (from, carried) = (code, carried + share);
        }
        moved += self.past(from, self.shares.len(), carried);
        if self.shares.len() > 1 { moved / (self.shares.len() - 1) as f64 } else { 0.0 }
    }

    /// Sum of |`carried` - table| over the positions `from..to`, where the cumulative share of the group is `carried`.
    fn past(&self, from: usize, to: usize, carried: f64) -> f64 {
        let turn = from + self.shares[from..to].partition_point(|share| *share <= carried);
        let below = carried * (turn - from) as f64 - (self.before[turn] - self.before[from]);
        let above = (self.before[to] - self.before[turn]) - carried * (to - turn) as f64;
        below + above
    }
}

/// Earth mover's distance over the hierarchy: surplus and lack are matched at the lowest common node, at a cost of its
/// height.
fn hierarchical(tree: &Tree, difference: &[f64]) -> f64 {
    let n = tree.len();
    let (mut height, mut surplus, mut lack) = (vec![0u32; n], vec![0.0; n], vec![0.0; n]);
    let mut cost = 0.0;
    // Children come after their parent, so the reverse order visits them first.
    for node in tree.nodes().collect::<Vec<_>>().into_iter().rev() {
        let at = node.index();
        if tree.is_leaf(node) {
            let d = difference[tree.range(node).0 as usize];
            (surplus[at], lack[at]) = (d.max(0.0), (-d).max(0.0));
        }
        let matched = f64::min(surplus[at], lack[at]);
        cost += matched * f64::from(height[at]);
        if let Some(parent) = tree.parent(node) {
            let up = parent.index();
            height[up] = height[up].max(height[at] + 1);
            surplus[up] += surplus[at] - matched;
            lack[up] += lack[at] - matched;
        }
    }
    if height[0] > 0 { cost / f64::from(height[0]) } else { 0.0 }
}

impl BoundModel for BoundTCloseness {
    fn describe(&self) -> Description {
        let TCloseness { column, t, distance } = &self.model;
        Description::new(ENTRY.key, ENTRY.name, format!("{column}, t = {t}, {} distance", distance.name()))
    }

    fn scope(&self) -> &[ColumnId] {
        &self.scope
    }

    fn is_closed_under_union(&self) -> bool {
        self.unit == Unit::Records
    }

    fn margin(&self, group: &Group<'_>) -> f64 {
        at_most(self.model.t, self.distance(group))
    }

    fn figure(&self, group: &Group<'_>) -> Figure {
        let distance = self.distance(group);
        Figure::new(distance, format!("distance {distance:.3}"))
    }

    fn facts(&self) -> ModelFacts {
        ModelFacts::new(self.model.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::file;
    use proptest::prelude::*;

    /// The naive reference: value by value.
    fn ordered(difference: &[f64]) -> f64 {
        let mut carried = 0.0;
        let mut moved = 0.0;
        for d in difference {
            carried += d;
            moved += f64::abs(carried);
        }
        if difference.len() > 1 { moved / (difference.len() - 1) as f64 } else { 0.0 }
    }

    proptest! {
        #[test]
        fn distances_equal_their_naive_references(counts in prop::collection::vec((1u32..9, 0u32..5), 1..40)) {
            let all: u32 = counts.iter().map(|(table, _)| table).sum();
            let own: u32 = counts.iter().map(|(_, group)| group).sum::<u32>().max(1);
            let table: Vec<f64> = counts.iter().map(|(table, _)| f64::from(*table) / f64::from(all)).collect();
            let mut group: Vec<f64> = counts.iter().map(|(_, group)| f64::from(*group) / f64::from(own)).collect();
            if group.iter().sum::<f64>() == 0.0 {
                group[0] = 1.0;
            }
            let shares = || group.iter().copied().enumerate().filter(|(_, share)| *share > 0.0);
            let difference: Vec<f64> = group.iter().zip(&table).map(|(group, table)| group - table).collect();
            prop_assert!((CumulativeShares::of(&table).ordered(shares()) - ordered(&difference)).abs() < 1e-9);
            let half = difference.iter().map(|d| d.abs()).sum::<f64>() / 2.0;
            prop_assert!((equal(&table, shares()) - half).abs() < 1e-9);
        }
    }

    #[test]
    fn the_papers_salary_example() {
        // Li et al., section 4.2: salaries 3k..11k, {3k, 4k, 5k} is 0.375 away and {6k, 8k, 11k} 0.167.
        let table = [1.0 / 9.0; 9];
        let minus = |chosen: [usize; 3]| {
            let mut d: Vec<f64> = table.iter().map(|p| -p).collect();
            chosen.iter().for_each(|&i| d[i] += 1.0 / 3.0);
            d
        };
        assert!((ordered(&minus([0, 1, 2])) - 0.375).abs() < 1e-12);
        assert!((ordered(&minus([3, 5, 8])) - 1.0 / 6.0).abs() < 1e-12);
    }

    #[test]
    fn earth_is_moved_as_low_in_the_tree_as_it_can_be() {
        let tree = file::parse("a;x;*\nb;x;*\nc;y;*\nd;y;*").unwrap();
        // Within x: half the height. Across the root: all of it.
        assert!((hierarchical(&tree, &[0.25, -0.25, 0.0, 0.0]) - 0.125).abs() < 1e-12);
        assert!((hierarchical(&tree, &[0.25, 0.0, -0.25, 0.0]) - 0.25).abs() < 1e-12);
        let flat = Tree::flat(["a", "b", "c"]);
        assert!((hierarchical(&flat, &[0.5, -0.25, -0.25]) - 0.5).abs() < 1e-12);
    }
}

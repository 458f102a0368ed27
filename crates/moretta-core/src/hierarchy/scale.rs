//! Cells of one column, measured as if they were cells of another over the same records.
//!
//! A saved recoding is applied over a domain that has learnt the ends of its intervals, or of which these intervals are
//! the hierarchy; a search on the same records has a domain of their own values. What cells of both lose can be compared
//! by one range only, that of the records. An interval loses as much of it as it prints: also where no record has its
//! ends, but nothing for what it prints beyond the lowest and the highest value, of which there is nothing to lose.

use super::{
    domain::{Cell, Domain},
    labels::interval_ends,
};
use crate::ids::NodeId;

/// The range of another column.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scale {
    /// How many leaves it has.
    pub(super) leaves: usize,
    low: f64,
    high: f64,
    /// By node of this column's tree, the ends of the interval that it prints, where it prints one.
    printed: Vec<Option<(f64, f64)>>,
}

impl Domain {
    /// The same column, of which losses are measured as those of another over the same records, all of whose values
    /// are also here.
    pub(crate) fn on_scale_of(&self, other: &Self) -> Self {
        let mut scaled = self.clone();
        if self.texts != other.texts || self.tree != other.tree {
            scaled.scale = Some(Box::new(Scale::new(self, other)));
        }
        scaled
    }
}

impl Scale {
    fn new(domain: &Domain, other: &Domain) -> Self {
        let tree = domain.tree.as_ref().filter(|_| domain.kind().is_ordered());
        let printed = tree.map_or(Vec::new(), |tree| {
            let ends = |node: u32| {
                let (low, high) = interval_ends(tree.label(NodeId(node)))?;
                Some((domain.read_number(low)?, domain.read_number(high)?))
            };
            (0..tree.len() as u32).map(ends).collect()
        });
        let (low, high) = match other.values.as_slice() {
            [low, .., high] => (*low, *high),
            _ => (0.0, 0.0),
        };
        Self { leaves: other.len(), low, high, printed }
    }

    /// The length of a cell without missing values as a share of the range; 0 where that is 0.
    pub(super) fn spread(&self, domain: &Domain, cell: Cell) -> f64 {
        let printed = cell.node().and_then(|node| self.printed[node.index()]);
        let (low, high) =
            printed.unwrap_or_else(|| (domain.values[cell.first as usize], domain.values[cell.last as usize]));
        // Halves, so that a range near the greatest number does not overflow.
        let half = |value: f64| value.clamp(self.low, self.high) / 2.0;
        let range = self.high / 2.0 - self.low / 2.0;
        if range > 0.0 { (half(high) - half(low)) / range } else { 0.0 }
    }
}

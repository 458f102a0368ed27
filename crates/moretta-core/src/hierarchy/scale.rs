//! Measures the losses of one domain on the scale of another domain over the same records.
//!
//! `apply --compare` compares a saved recoding with a fresh search on the same records. The two have different domains:
//! the saved recoding adds the ends of its intervals as values, or uses the intervals as the hierarchy; the search has
//! only the values of the records. Losses are comparable only as shares of one range, that of the records. An interval
//! loses the part of that range that its label covers, even if no record has its ends; the part of a label beyond the
//! lowest and highest value costs nothing.

use super::{
    domain::{Cell, Domain},
    labels::interval_ends,
};
use crate::ids::NodeId;

/// The range of another column.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scale {
    /// Number of leaves of the other domain.
    pub(super) leaves: usize,
    low: f64,
    high: f64,
    /// By node of this column's tree, the ends of its label; `None` if the label is not an interval.
    printed: Vec<Option<(f64, f64)>>,
}

impl Domain {
    /// The same domain with losses measured as shares of another domain's range. All values of the other domain must
    /// occur in this one.
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

    /// Length of a cell without missing values as a share of the range; 0 if the range is 0.
    pub(super) fn spread(&self, domain: &Domain, cell: Cell) -> f64 {
        let printed = cell.node().and_then(|node| self.printed[node.index()]);
        let (low, high) =
            printed.unwrap_or_else(|| (domain.values[cell.first as usize], domain.values[cell.last as usize]));
        // Halved, because the difference of two large floats may overflow.
        let half = |value: f64| value.clamp(self.low, self.high) / 2.0;
        let range = self.high / 2.0 - self.low / 2.0;
        if range > 0.0 { (half(high) - half(low)) / range } else { 0.0 }
    }
}

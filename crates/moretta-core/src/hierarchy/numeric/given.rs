//! A hierarchy file over numbers: leaves are sorted by value, and those that do not occur are removed.
//!
//! A node whose leaves are not consecutive is refused. Trees may be as deep as they have leaves, so nothing here
//! follows the path of each leaf. Cost: O(n log n) for n nodes.

use super::{Tree, TreeBuilder};
use crate::{hierarchy::DomainProblem, ids::NodeId};

#[derive(Clone, Copy)]
struct Extent {
    first_rank: usize,
    last_rank: usize,
    leaves: usize,
    /// Code of a value below that occurs in the data; `None` if there is none.
    code: Option<usize>,
}

/// Builds the tree over the distinct values in ascending order. `leaves` are all numbers of the file in ascending
/// order, with their leaf codes in `tree`.
pub(crate) fn build(
    tree: &Tree,
    leaves: &[(f64, u32)],
    values: &[f64],
    texts: &[Box<str>],
) -> Result<Tree, DomainProblem> {
    if let Some(twice) = leaves.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        return Err(DomainProblem::LeafTwice { value: tree.label(tree.leaf(twice[1].1)).to_owned() });
    }
    let mut extents = vec![Extent { first_rank: usize::MAX, last_rank: 0, leaves: 0, code: None }; tree.len()];
    for (rank, (value, leaf)) in leaves.iter().enumerate() {
        let code = values.binary_search_by(|known| known.total_cmp(value)).ok();
        extents[tree.leaf(*leaf).index()] = Extent { first_rank: rank, last_rank: rank, leaves: 1, code };
    }
    // In preorder children come after their parent, so in reverse order they come first.
    for index in (1..tree.len()).rev() {
        let below = extents[index];
        let above = &mut extents[tree.parent(NodeId::from_index(index)).unwrap_or(Tree::ROOT).index()];
        above.first_rank = above.first_rank.min(below.first_rank);
        above.last_rank = above.last_rank.max(below.last_rank);
        above.leaves += below.leaves;
        above.code = above.code.or(below.code);
    }
    if let Some(gap) = tree.nodes().find(|node| {
        let extent = extents[node.index()];
        extent.last_rank - extent.first_rank + 1 != extent.leaves
    }) {
        let label = tree.label(gap).to_owned();
        return Err(DomainProblem::NotAnInterval { label });
    }
    let mut order: Vec<NodeId> = tree.nodes().skip(1).filter(|node| extents[node.index()].code.is_some()).collect();
    // If two nodes start at the same leaf, one is an ancestor of the other; ids are in preorder, ancestors first.
    order.sort_unstable_by_key(|node| (extents[node.index()].first_rank, *node));
    let mut builder = TreeBuilder::default();
    let mut handles = vec![TreeBuilder::ROOT; tree.len()];
    for node in order {
        let label = match extents[node.index()].code.filter(|_| tree.is_leaf(node)) {
            Some(code) => texts[code].clone(),
            None => tree.label(node).into(),
        };
        let above = tree.parent(node).unwrap_or(Tree::ROOT);
        handles[node.index()] = builder.add(label, handles[above.index()]);
    }
    Ok(builder.build())
}

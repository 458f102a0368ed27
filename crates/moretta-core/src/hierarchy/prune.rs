//! Reduces the number of levels of a deep tree.
//!
//! Truncating at a depth would ruin trees built from data: the top of such a tree is often a long chain that splits off
//! one outlier per level, and the structure is below it. So the tree is cut like a dendrogram, by size: the children of
//! a kept node are the topmost nodes below it of at most half its size, for as many layers as fit between `*` and the
//! leaves. Half of the kept node, not of the root: otherwise one far outlier would use up all layers. Other nodes are
//! removed, and their children attached to the kept node above.
//!
//! In a tree of regular levels (each node has at least two children) this keeps the uppermost levels and attaches the
//! leaves to the last of them.

use super::tree::{Tree, TreeBuilder};
use crate::ids::NodeId;

/// Returns a tree with at most `levels` (and at least 2) nodes on any path, leaf and root included. A tree with no more
/// is returned unchanged. A node's `size` must not exceed its parent's. Cost: linear.
pub fn prune(tree: Tree, levels: u32, size: impl Fn(&Tree, NodeId) -> f64) -> Tree {
    let levels = levels.max(2);
    if tree.nodes().all(|node| tree.depth(node) < levels) {
        return tree;
    }
    let mut builder = TreeBuilder::with_capacity(tree.leaf_count());
    // By node, the nearest kept node: itself or an ancestor.
    let mut kept = vec![Kept { handle: TreeBuilder::ROOT, layer: 0, size: size(&tree, Tree::ROOT) }; tree.len()];
    for node in tree.nodes().skip(1) {
        let above = kept[tree.parent(node).unwrap_or(Tree::ROOT).index()];
        let own = size(&tree, node);
        kept[node.index()] = if tree.is_leaf(node) || (above.layer + 2 < levels && own <= above.size / 2.0) {
            Kept { handle: builder.add(tree.label(node), above.handle), layer: above.layer + 1, size: own }
        } else {
            above
        };
    }
    builder.build()
}

#[derive(Clone, Copy)]
struct Kept {
    handle: usize,
    /// Number of kept ancestors.
    layer: u32,
    size: f64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::file;

    /// The leaves are numbers in order.
    fn pruned(rows: &str, levels: u32) -> String {
        let value = |tree: &Tree, code: u32| tree.label(tree.leaf(code)).parse::<f64>().unwrap();
        let size = |tree: &Tree, node| value(tree, tree.range(node).1) - value(tree, tree.range(node).0);
        file::write(&prune(file::parse(rows).unwrap(), levels, size))
    }

    const DEEP: &str = "0;a;b;c;*\n1;a;b;c;*\n4;4;b;c;*\n6;6;6;c;*\n100;100;100;100;*\n";

    #[test]
    fn layers_halve_from_the_outlier_inwards() {
        assert_eq!(pruned(DEEP, 5), DEEP);
        // 6 of 100, then 1 of 6: 4 of 6 is more than half.
        assert_eq!(pruned(DEEP, 4), "0;a;c;*\n1;a;c;*\n4;4;c;*\n6;6;c;*\n100;100;100;*\n");
        assert_eq!(pruned(DEEP, 3), "0;c;*\n1;c;*\n4;c;*\n6;c;*\n100;100;*\n");
        assert_eq!(pruned(DEEP, 2), "0;*\n1;*\n4;*\n6;*\n100;*\n");
        assert_eq!(pruned(DEEP, 0), pruned(DEEP, 2));
    }

    #[test]
    fn even_levels_go_from_below() {
        let even = "0;a;ab;*\n1;a;ab;*\n2;b;ab;*\n3;b;ab;*\n4;c;cd;*\n5;c;cd;*\n6;d;cd;*\n7;d;cd;*\n";
        assert_eq!(pruned(even, 3), "0;ab;*\n1;ab;*\n2;ab;*\n3;ab;*\n4;cd;*\n5;cd;*\n6;cd;*\n7;cd;*\n");
    }
}

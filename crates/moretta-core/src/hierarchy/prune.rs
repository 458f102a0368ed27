//! Making a deep tree shallow.
//!
//! Cutting at a depth would ruin trees that are built from data: the top of such a tree is often a long chain of outliers,
//! each alone beside all the rest, and nothing would be left of what is below. So a tree is cut as a dendrogram is, by
//! size: below a node that is kept come the topmost nodes of at most half its size, and so on for as many layers as fit
//! between `*` and the leaves. Halves of the node above, not of the whole: one far outlier would use up all layers else.
//! Nodes that are kept by no layer make way for their children.
//!
//! In a tree of even levels (each part two or more of the parts below) this keeps the uppermost levels and hangs the leaves
//! below the last of them; with levels that are given one by one, giving fewer says better which.

use super::tree::{Tree, TreeBuilder};
use crate::ids::NodeId;

/// At most `levels` nodes on any path, leaf and root included; at least 2. A tree with no more is returned as it is.
///
/// `size` must not grow on the way down. Linear.
pub fn prune(tree: Tree, levels: u32, size: impl Fn(&Tree, NodeId) -> f64) -> Tree {
    let levels = levels.max(2);
    if tree.nodes().all(|node| tree.depth(node) < levels) {
        return tree;
    }
    let mut builder = TreeBuilder::with_capacity(tree.leaf_count());
    // Of each node: the nearest that is kept, from itself upwards.
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
    /// How many are kept above.
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

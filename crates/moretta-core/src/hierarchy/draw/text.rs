//! A tree as text: one line per node.

use super::{DrawOptions, Label, Picture};
use crate::hierarchy::tree::Tree;

/// Draws a tree, one line per node, with the number of values below each.
///
/// ```
/// use moretta_core::hierarchy::{draw, file};
///
/// let tree = file::parse("ada;f;*\nada lovelace;f;*\nalan;m;*\n").unwrap();
/// assert_eq!(
///     draw::text(&tree, &draw::DrawOptions::default()),
///     "* (3 values)\n├─ f (2 values)\n│  ├─ ada\n│  └─ ada lovelace\n└─ m (1 value)\n   └─ alan\n"
/// );
/// ```
pub fn text(tree: &Tree, options: &DrawOptions) -> String {
    let picture = Picture::of(tree, options);
    let mut out = String::new();
    // By ancestor, whether it has further siblings below.
    let mut bars: Vec<bool> = Vec::new();
    for line in &picture.lines {
        bars.truncate(line.depth as usize);
        for goes_on in bars.iter().skip(1) {
            out.push_str(if *goes_on { "│  " } else { "   " });
        }
        bars.push(!line.is_last);
        out.push_str(match line.is_last {
            _ if line.depth == 0 => "",
            false => "├─ ",
            true => "└─ ",
        });
        let Label { name, count } = Label::of(tree, line.item, false);
        out.push_str(&name);
        if !count.is_empty() {
            out.push_str(&format!(" ({count})"));
        }
        out.push_str(if line.folded { " …\n" } else { "\n" });
    }
    out.extend(picture.end().map(|end| end + "\n"));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::{
        draw::{MAX_DEPTH, Summary, check, summary},
        file,
        tree::TreeBuilder,
    };
    use proptest::prelude::*;

    fn options(max_children: usize, max_depth: u32, max_lines: usize) -> DrawOptions {
        DrawOptions { max_children, max_depth, max_lines }
    }

    #[test]
    fn large_families_and_depths_are_folded() {
        let tree = file::parse("a;x;*\nb;x;*\nc;x;*\nd;x;*\ne;y;*\nf;y;*\ng;y;*\nh;z;*\n").unwrap();
        let expected = "* (8 values)\n├─ x (4 values)\n│  ├─ a\n│  ├─ b\n│  └─ … 2 more (2 values)\n\
                        ├─ y (3 values)\n│  ├─ e\n│  ├─ f\n│  └─ g\n└─ z (1 value)\n   └─ h\n";
        assert_eq!(text(&tree, &options(2, 9, 99)), expected);
        assert_eq!(text(&tree, &options(1, 1, 99)), "* (8 values)\n├─ x (4 values) …\n└─ … 2 more (4 values)\n");
        assert_eq!(text(&tree, &options(9, 0, 99)), "* (8 values) …\n");
        assert_eq!(text(&tree, &options(9, 9, 2)), "* (8 values)\n├─ x (4 values)\n… 10 more nodes\n");
        assert_eq!(text(&tree, &options(0, 9, 99)), "* (8 values)\n└─ … 3 more (8 values)\n");
        assert_eq!(text(&tree, &options(9, 9, 0)), "… 12 more nodes\n");
    }

    #[test]
    fn a_lone_root_and_labels_with_control_characters() {
        assert_eq!(text(&TreeBuilder::default().build(), &DrawOptions::default()), "*\n");
        let tree = Tree::flat(["\u{1b}[31mred", "b\nc"]);
        assert_eq!(text(&tree, &DrawOptions::default()), "* (2 values)\n├─ \\u{1b}[31mred\n└─ b\\nc\n");
    }

    #[test]
    fn a_chain_of_a_hundred_thousand_is_no_trouble() {
        let mut builder = TreeBuilder::default();
        let mut above = TreeBuilder::ROOT;
        for i in 0..100_000 {
            builder.add(format!("leaf{i}"), above);
            above = builder.add(format!("inner{i}"), above);
        }
        let tree = builder.build();
        let picture = text(&tree, &options(usize::MAX, u32::MAX, usize::MAX));
        assert_eq!(picture.lines().count(), 1 + 2 * MAX_DEPTH as usize);
        assert!(picture.ends_with(" …\n"));
        let expected = Summary { leaves: 100_001, levels: 100_001, nodes: 200_001, widest: Some((Tree::ROOT, 2)) };
        assert_eq!(summary(&tree), expected);
        assert_eq!(check(&tree, &[("leaf7", 1)]).len(), 100_000);
    }

    proptest! {
        #[test]
        fn every_node_has_a_line_where_nothing_is_folded(parents in prop::collection::vec(0usize..1000, 0..40)) {
            let mut builder = TreeBuilder::default();
            for (index, parent) in parents.iter().enumerate() {
                builder.add(format!("n{}", index + 1), parent % (index + 1));
            }
            let tree = builder.build();
            let picture = text(&tree, &options(usize::MAX, u32::MAX, usize::MAX));
            prop_assert_eq!(picture.lines().count(), tree.len());
            for (line, node) in picture.lines().zip(tree.nodes()) {
                let drawn = line.trim_start_matches(['├', '└', '─', '│', ' ']);
                prop_assert_eq!(drawn.split(' ').next(), Some(tree.label(node)));
                prop_assert_eq!((line.chars().count() - drawn.chars().count()) as u32, 3 * tree.depth(node));
            }
        }

        #[test]
        fn nothing_panics_and_lines_are_kept(
            parents in prop::collection::vec(0usize..1000, 0..40), children in 0usize..5, depth in 0u32..5, lines in 0usize..9
        ) {
            let mut builder = TreeBuilder::default();
            for (index, parent) in parents.iter().enumerate() {
                builder.add("n", parent % (index + 1));
            }
            let tree = builder.build();
            prop_assert!(text(&tree, &options(children, depth, lines)).lines().count() <= lines + 1);
            summary(&tree);
        }
    }
}

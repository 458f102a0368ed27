//! A hierarchy for people to look at: drawn as text, summed up, and held against the values of a column.
//!
//! Trees may be as deep as they have leaves and as wide, so drawing folds what a screen cannot show and nothing recurses:
//! a picture costs as much as its lines, the rest is linear in the tree and the values.

use hashbrown::{HashMap, HashSet};

use super::bind::parse_number;
use super::tree::{ROOT_LABEL, Tree};
use crate::ids::NodeId;
use crate::policy::shown;

/// Nothing is drawn deeper than this: no screen is wide enough, and the lines of a long chain would take a square of its
/// length.
pub const DEEPEST: u32 = 60;

/// How much of a tree is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DrawOptions {
    /// Of a larger family so many children are drawn, and then how many more there are.
    pub max_children: usize,
    /// Nodes so far from the root are drawn without what is below them. At most [`DEEPEST`].
    pub max_depth: u32,
    /// The picture ends after so many lines.
    pub max_lines: usize,
}

impl Default for DrawOptions {
    fn default() -> Self {
        Self { max_children: 20, max_depth: DEEPEST, max_lines: 1000 }
    }
}

/// The size of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Summary {
    /// Leaves.
    pub leaves: usize,
    /// Nodes on the longest path, leaf and root included.
    pub levels: usize,
    /// Nodes, leaves and root included.
    pub nodes: usize,
    /// The node with the most children (of equals, the first in preorder) and how many; none where the root is alone.
    pub widest: Option<(NodeId, usize)>,
}

/// Where a column and a hierarchy do not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// A value that has no leaf. With this hierarchy the column cannot be anonymised.
    NoLeaf {
        /// The value.
        value: String,
        /// How many records have it.
        records: u64,
        /// Why it may have none.
        near: Near,
    },
    /// A leaf that no record has. Allowed, but a loss is counted against more leaves than there are values.
    NeverOccurs {
        /// The leaf.
        leaf: String,
    },
}

/// What comes nearest to a value without a leaf.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Near {
    /// Nothing.
    Nothing,
    /// A node above leaves has this label.
    Inner,
    /// A leaf that differs in blanks around it or in upper and lower case.
    Leaf(String),
}

/// Draws a tree, one node a line, each with the number of values below it.
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
    let deepest = options.max_depth.min(DEEPEST);
    let mut out = String::new();
    let mut lines = 0;
    let mut drawn = 0;
    // What is left to draw, the next on top: a node or the rest of a family, and what stands before it.
    let mut open = vec![Line { what: What::Node(Tree::ROOT), lead: String::new(), is_last: None }];
    while let Some(line) = open.pop() {
        if lines >= options.max_lines {
            let more = tree.len() - drawn;
            out.push_str(&format!("… {more} more {}\n", if more == 1 { "node" } else { "nodes" }));
            break;
        }
        lines += 1;
        out.push_str(&line.lead);
        out.push_str(match line.is_last {
            None => "",
            Some(false) => "├─ ",
            Some(true) => "└─ ",
        });
        match line.what {
            What::Rest { nodes, leaves } => out.push_str(&format!("… {nodes} more ({})\n", values(leaves))),
            What::Node(node) => {
                drawn += 1;
                out.push_str(&shown(tree.label(node)));
                if tree.is_leaf(node) {
                    out.push('\n');
                    continue;
                }
                let folded = tree.depth(node) >= deepest;
                out.push_str(&format!(" ({}){}\n", values(leaves(tree, node)), if folded { " …" } else { "" }));
                if !folded {
                    let lead = match line.is_last {
                        None => String::new(),
                        Some(is_last) => line.lead + if is_last { "   " } else { "│  " },
                    };
                    let start = open.len();
                    open.extend(family(tree, node, options.max_children).into_iter().map(|what| Line {
                        what,
                        lead: lead.clone(),
                        is_last: Some(false),
                    }));
                    if let Some(last) = open.last_mut() {
                        last.is_last = Some(true);
                    }
                    open[start..].reverse();
                }
            }
        }
    }
    out
}

struct Line {
    what: What,
    lead: String,
    /// None for the root, which hangs on nothing.
    is_last: Option<bool>,
}

enum What {
    Node(NodeId),
    /// The children of a large family that are not drawn, and the leaves below them.
    Rest {
        nodes: usize,
        leaves: u64,
    },
}

/// The children to be drawn, left to right. A rest of one is drawn: it takes no more room than saying so.
fn family(tree: &Tree, node: NodeId, most: usize) -> Vec<What> {
    let mut children = tree.children(node);
    let mut shown: Vec<What> = children.by_ref().take(most).map(What::Node).collect();
    let Some(first) = children.next() else { return shown };
    let (mut nodes, mut below) = (1, leaves(tree, first));
    for child in children {
        nodes += 1;
        below += leaves(tree, child);
    }
    shown.push(if nodes == 1 { What::Node(first) } else { What::Rest { nodes, leaves: below } });
    shown
}

fn leaves(tree: &Tree, node: NodeId) -> u64 {
    let (first, last) = tree.range(node);
    u64::from(last) - u64::from(first) + 1
}

fn values(count: u64) -> String {
    if count == 1 { "1 value".to_owned() } else { format!("{count} values") }
}

/// Counts a tree.
pub fn summary(tree: &Tree) -> Summary {
    let mut children = vec![0usize; tree.len()];
    let mut deepest = 0;
    for node in tree.nodes() {
        deepest = deepest.max(tree.depth(node));
        if let Some(parent) = tree.parent(node) {
            children[parent.index()] += 1;
        }
    }
    let widest = children.iter().copied().enumerate().max_by_key(|&(index, count)| (count, std::cmp::Reverse(index)));
    Summary {
        leaves: tree.leaf_count(),
        levels: deepest as usize + 1,
        nodes: tree.len(),
        widest: widest.filter(|(_, count)| *count > 0).map(|(index, count)| (NodeId::from_index(index), count)),
    }
}

/// Holds a tree against the values of a column, each with its number of records; leave missing values out.
///
/// First the values without a leaf, the most frequent before the others, then the leaves that never occur, left to
/// right. In a tree over numbers, equal numbers are the same however they are written.
pub fn check<T: AsRef<str>>(tree: &Tree, values: &[(T, u64)]) -> Vec<Finding> {
    let labels: Vec<&str> = (0..tree.leaf_count() as u32)
        .map(|code| tree.leaf(code))
        .filter(|leaf| *leaf != Tree::ROOT)
        .map(|leaf| tree.label(leaf))
        .collect();
    let by_text: HashMap<&str, usize> = labels.iter().enumerate().map(|(at, label)| (*label, at)).collect();
    let by_number = numbers(&labels);
    let by_folded: HashMap<String, usize> =
        labels.iter().enumerate().rev().map(|(at, label)| (folded(label), at)).collect();
    let inner: HashSet<&str> =
        tree.nodes().filter(|node| !tree.is_leaf(*node)).map(|node| tree.label(node)).chain([ROOT_LABEL]).collect();

    let mut occurs = vec![false; labels.len()];
    let mut homeless: HashMap<&str, u64> = HashMap::new();
    for (value, records) in values {
        let value = value.as_ref();
        let number = || by_number.as_ref()?.get(&parse_number(value).ok()?.to_bits());
        match by_text.get(value).or_else(number) {
            Some(&at) => occurs[at] = true,
            None => {
                let sum = homeless.entry(value).or_default();
                *sum = sum.saturating_add(*records);
            }
        }
    }
    let mut homeless: Vec<(&str, u64)> = homeless.into_iter().collect();
    homeless.sort_by(|(a, x), (b, y)| y.cmp(x).then_with(|| a.cmp(b)));
    let without = homeless.into_iter().map(|(value, records)| {
        let near = match by_folded.get(&folded(value)) {
            _ if inner.contains(value) => Near::Inner,
            Some(&at) => Near::Leaf(labels[at].to_owned()),
            None => Near::Nothing,
        };
        Finding::NoLeaf { value: value.to_owned(), records, near }
    });
    let never = labels.iter().zip(&occurs).filter(|(_, occurs)| !**occurs);
    without.chain(never.map(|(leaf, _)| Finding::NeverOccurs { leaf: (*leaf).to_owned() })).collect()
}

/// The leaves by their numbers; none where one is no number.
fn numbers(labels: &[&str]) -> Option<HashMap<u64, usize>> {
    let number = |(at, label): (usize, &&str)| Some((parse_number(label).ok()?.to_bits(), at));
    labels.iter().enumerate().map(number).collect()
}

fn folded(text: &str) -> String {
    text.trim().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::super::file;
    use super::super::tree::TreeBuilder;
    use super::*;
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
    fn a_lone_root_and_labels_that_a_terminal_would_obey() {
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
        assert_eq!(picture.lines().count(), 1 + 2 * DEEPEST as usize);
        assert!(picture.ends_with(" …\n"));
        let expected = Summary { leaves: 100_001, levels: 100_001, nodes: 200_001, widest: Some((Tree::ROOT, 2)) };
        assert_eq!(summary(&tree), expected);
        assert_eq!(check(&tree, &[("leaf7", 1)]).len(), 100_000);
    }

    #[test]
    fn a_summary_counts() {
        let tree = file::parse("a;a;x;*\nb;g;x;*\nc;g;x;*\nd;g;x;*\ne;e;e;*\n").unwrap();
        let sum = summary(&tree);
        assert_eq!((sum.leaves, sum.levels, sum.nodes), (5, 4, 8));
        assert_eq!(sum.widest.map(|(node, count)| (tree.label(node), count)), Some(("g", 3)));
        let lone = Summary { leaves: 1, levels: 1, nodes: 1, widest: None };
        assert_eq!(summary(&TreeBuilder::default().build()), lone);
    }

    #[test]
    fn what_does_not_fit_is_found() {
        let tree = file::parse("Ada;f;*\nAlan;m;*\nGrace;f;*\n").unwrap();
        let values = [("Ada", 3), (" ada", 2), ("m", 5), ("Kurt", 5), ("*", 1), ("Kurt", 1)];
        let none = |value: &str, records, near| Finding::NoLeaf { value: value.into(), records, near };
        assert_eq!(
            check(&tree, &values),
            [
                none("Kurt", 6, Near::Nothing),
                none("m", 5, Near::Inner),
                none(" ada", 2, Near::Leaf("Ada".into())),
                none("*", 1, Near::Inner),
                Finding::NeverOccurs { leaf: "Grace".into() },
                Finding::NeverOccurs { leaf: "Alan".into() },
            ]
        );
        assert_eq!(check(&tree, &[("Ada", 1), ("Alan", 1), ("Grace", 1)]), []);
        assert_eq!(check(&TreeBuilder::default().build(), &[("a", u64::MAX), ("a", 1)]).len(), 1);
    }

    #[test]
    fn equal_numbers_are_the_same_value() {
        let tree = file::parse("1;low;*\n2.50;low;*\n10;high;*\n").unwrap();
        assert_eq!(check(&tree, &[("1.0", 1), ("2.5", 1), ("1e1", 1)]), []);
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

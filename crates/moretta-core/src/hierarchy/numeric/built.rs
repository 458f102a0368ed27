//! The choice among hierarchies that are built from a column's own values.

use super::{
    super::{prune::prune, tree::Tree},
    chu, equal_frequency, equal_width, han, intervals, iotf, otf,
};

/// The distinct values of a column of numbers; all slices have one element per value.
#[derive(Debug, Clone, Copy)]
pub struct DistinctValues<'a> {
    /// Strictly ascending.
    pub values: &'a [f64],
    /// Labels of the values.
    pub texts: &'a [Box<str>],
    /// Number of records per value.
    pub records: &'a [u64],
}

/// A method that builds a hierarchy from the data.
#[derive(Debug, Clone, PartialEq)]
pub enum Builder {
    /// Merges the neighbors whose union is narrowest.
    Iotf,
    /// Merges the neighbors whose centers are closest.
    Otf,
    /// Splits in two where the weighted relaxation error of the sides is smallest.
    Chu {
        /// A node with at most this many distinct values is not split.
        threshold: usize,
    },
    /// Splits into parts with nearly equal numbers of records.
    Han {
        /// Maximum children per node.
        fan_out: usize,
        /// A node with at most this many distinct values is not split.
        threshold: usize,
    },
    /// Intervals of equal width. The number of intervals per level, finest first, each a multiple of the next.
    EqualWidth(Vec<u32>),
    /// Intervals of nearly equal numbers of records. The number of intervals per level, finest first, each a multiple
    /// of the next.
    EqualFrequency(Vec<u32>),
}

/// Defaults: thresholds and fan-out from the papers, and intervals that halve.
impl Builder {
    /// Chu: a node with two values is not split.
    pub const CHU_THRESHOLD: u32 = 2;
    /// Han: a node with four values is not split.
    pub const HAN_THRESHOLD: u32 = 4;
    /// Han: five children per node.
    pub const HAN_FAN_OUT: u32 = 5;
    /// Equal width and equal frequency: number of intervals per level.
    pub const PARTS: [u32; 5] = [32, 16, 8, 4, 2];

    /// Name in a policy.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Iotf => "iotf",
            Self::Otf => "otf",
            Self::Chu { .. } => "chu",
            Self::Han { .. } => "han",
            Self::EqualWidth(_) => "equal-width",
            Self::EqualFrequency(_) => "equal-frequency",
        }
    }
}

/// A hierarchy to be built from the data.
#[derive(Debug, Clone, PartialEq)]
pub struct Built {
    /// Method that builds the tree.
    pub builder: Builder,
    /// The tree is pruned to this many levels, values and `*` included; at least 2. `None`: not pruned.
    pub levels: Option<u32>,
}

impl Built {
    /// Builds the tree. Its leaves are the values from left to right; a node's label is the interval from its smallest
    /// to its largest value.
    pub fn tree(&self, column: DistinctValues<'_>) -> Tree {
        let preorder = match &self.builder {
            Builder::Iotf => iotf::intervals(column),
            Builder::Otf => otf::intervals(column),
            Builder::Chu { threshold } => chu::intervals(column, *threshold),
            Builder::Han { fan_out, threshold } => han::intervals(column, *fan_out, *threshold),
            Builder::EqualWidth(parts) => equal_width::intervals(column, parts),
            Builder::EqualFrequency(parts) => equal_frequency::intervals(column, parts),
        };
        let tree = intervals::tree(column.texts, &preorder);
        let Some(levels) = self.levels else { return tree };
        // Halved, because the difference of two large floats may overflow.
        let half = |code: u32| column.values[code as usize] / 2.0;
        prune(tree, levels, |tree, node| {
            let (first, last) = tree.range(node);
            half(last) - half(first)
        })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::{super::merge, *};
    use crate::hierarchy::{draw, file};
    use proptest::prelude::*;

    /// Values with these gaps between them.
    pub fn ascending(gaps: &[u32], scale: f64) -> Vec<f64> {
        let sums = gaps.iter().scan(0, |sum, gap| {
            *sum += gap;
            Some(*sum)
        });
        sums.map(|sum| f64::from(sum) * scale).take_while(|value| value.is_finite()).collect()
    }

    pub fn run<T>(values: &[f64], records: &[u64], build: impl FnOnce(DistinctValues<'_>) -> T) -> T {
        let texts: Vec<Box<str>> = values.iter().map(|value| value.to_string().into()).collect();
        build(DistinctValues { values, texts: &texts, records })
    }

    /// The rows of the hierarchy file over values with one record each.
    pub fn rows(builder: Builder, values: &[f64]) -> Vec<String> {
        let built = Built { builder, levels: None };
        let text = run(values, &vec![1; values.len()], |column| file::write(&built.tree(column)));
        text.lines().map(str::to_owned).collect()
    }

    fn any_builder() -> impl Strategy<Value = Builder> {
        let parts = prop::sample::select(vec![vec![], vec![3], vec![32, 16, 8, 4, 2], vec![12, 4, 1]]);
        prop_oneof![
            Just(Builder::Iotf),
            Just(Builder::Otf),
            (0usize..5).prop_map(|threshold| Builder::Chu { threshold }),
            (0usize..7, 0usize..5).prop_map(|(fan_out, threshold)| Builder::Han { fan_out, threshold }),
            parts.clone().prop_map(Builder::EqualWidth),
            parts.prop_map(Builder::EqualFrequency),
        ]
    }

    proptest! {
        #[test]
        fn every_tree_is_one_over_exactly_the_values(
            builder in any_builder(), levels in prop::option::of(0u32..7),
            pairs in prop::collection::vec((1u32..2000, 0u64..9), 0..60), scale in prop::sample::select(vec![1.0, 0.1, 1e306])
        ) {
            let (gaps, mut records): (Vec<u32>, Vec<u64>) = pairs.into_iter().unzip();
            let values = ascending(&gaps, scale);
            records.truncate(values.len());
            let built = Built { builder, levels };
            run(&values, &records, |column| {
                let tree = built.tree(column);
                let leaves: Vec<&str> = (0..tree.leaf_count() as u32).map(|code| tree.label(tree.leaf(code))).collect();
                let texts: Vec<&str> = if values.is_empty() { vec!["*"] } else { column.texts.iter().map(|text| &**text).collect() };
                assert_eq!(leaves, texts);
                for node in tree.nodes().skip(1).filter(|node| !tree.is_leaf(*node)) {
                    let (first, last) = tree.range(node);
                    assert_eq!(tree.label(node), format!("[{}, {}]", texts[first as usize], texts[last as usize]));
                    assert!(tree.children(node).count() > 1);
                }
                assert!(values.len() < 2 || tree.children(Tree::ROOT).count() > 1);
                let labels: std::collections::HashSet<&str> = tree.nodes().map(|node| tree.label(node)).collect();
                assert_eq!(labels.len(), tree.len());
                if let Some(levels) = levels {
                    assert!(draw::summary(&tree).levels <= levels.max(2) as usize);
                }
                if !values.is_empty() {
                    assert_eq!(file::parse(&file::write(&tree)).unwrap(), tree);
                    assert_eq!(file::write(&tree).len() as u64, file::bytes(&tree));
                }
            });
        }
    }

    /// On a stack of 128 KB.
    fn with_little_stack(work: impl FnOnce() + Send + 'static) {
        std::thread::Builder::new().stack_size(128 * 1024).spawn(work).unwrap().join().unwrap();
    }

    #[test]
    fn a_chain_as_deep_as_it_has_values_needs_no_stack() {
        with_little_stack(|| {
            let values: Vec<f64> = (0..250_000).map(f64::from).collect();
            // The rightmost value is farthest away, so all are merged with the first, one by one.
            let chain = merge::merge(values.iter().copied(), |_, right| right, |_, right| right);
            run(&values, &[], |column| {
                let tree = intervals::tree(column.texts, &chain);
                assert_eq!(draw::summary(&tree).levels, values.len());
                assert!(file::bytes(&tree) > 100_000_000_000);
                assert!(draw::text(&tree, &draw::DrawOptions::fitting(&tree, 12)).lines().count() <= 100);
                assert!(draw::svg(&tree, &draw::DrawOptions::default(), "a chain").len() < 100_000);
                let size = |tree: &Tree, node| f64::from(tree.range(node).1 - tree.range(node).0);
                assert_eq!(draw::summary(&prune(tree, 9, size)).levels, 9);
            });
        });
    }

    #[test]
    fn doubling_distances_make_the_deepest_trees() {
        with_little_stack(|| {
            let values: Vec<f64> = (-1000..1000).map(|power| 2f64.powi(power)).collect();
            run(&values, &vec![1; values.len()], |column| {
                let levels = |builder| draw::summary(&Built { builder, levels: None }.tree(column)).levels;
                assert_eq!(levels(Builder::Iotf), values.len());
                assert!(levels(Builder::Otf) > values.len() / 2);
                assert!(levels(Builder::Chu { threshold: 2 }) > values.len() / 4);
            });
        });
    }
}

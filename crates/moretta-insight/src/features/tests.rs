use std::collections::BTreeSet;

use moretta_core::{
    counts::{CountedColumn, Counts},
    declaration::{ColumnPolicy, Declaration},
    hierarchy::{Tree, TreeBuilder, file},
    ids::NodeId,
    policy::Policy,
    schema::Kind,
    search::method_names,
};
use proptest::prelude::*;

use super::{Categories, ColumnContext, ColumnEncoder, Encoder};

/// Context of the column `c` of a policy.
fn context(declared: &str, rest: &str, tree: Option<&Tree>) -> ColumnContext {
    let text = format!("version = 1\nprivacy.k = 2\n[columns.c]\n{declared}\n{rest}");
    let quasi_identifier = "[columns.q]\nrole = \"quasi-identifier\"\n";
    let policy = Policy::parse(&format!("{text}\n{quasi_identifier}"), &method_names()).unwrap();
    let declared: ColumnPolicy = policy.column("c").unwrap().clone();
    ColumnContext {
        missing: policy.missing_texts(&declared).map(str::to_owned).collect(),
        declared,
        tree: tree.cloned(),
        notation: policy.release_notation(),
        labels: policy.release.labels,
    }
}

fn column(texts: &[&str], typed: bool) -> CountedColumn {
    let values = texts.iter().map(|text| (*text).into()).collect();
    CountedColumn { name: "c".into(), values, first_records: None, typed }
}

fn fit(context: ColumnContext, texts: &[&str], categories: Categories) -> ColumnEncoder {
    ColumnEncoder::fit(context, &column(texts, false), categories).unwrap()
}

fn encoded(encoder: &ColumnEncoder, text: &str) -> Vec<f64> {
    let mut features = vec![0.5; encoder.len()];
    encoder.encode(text, &mut features).unwrap();
    features
}

const QUASI: &str = "role = \"quasi-identifier\"";

/// Both ends of texts in a column with these labels.
fn ends(declared: &str, rest: &str, labels: &[&str], texts: &[&str]) -> Vec<(f64, f64)> {
    let encoder = fit(context(&format!("{QUASI}\n{declared}"), rest, None), labels, Categories::Indicators);
    assert_eq!(encoder.names(), ["c_low", "c_high"]);
    texts.iter().map(|text| encoded(&encoder, text)).map(|ends| (ends[0], ends[1])).collect()
}

#[test]
fn numbers_are_both_ends() {
    let labels = ["[20, 29]", "[30, 34)", "*", "41"];
    let found = ends("", "", &labels, &["[20, 29]", "[30, 34)", "*", "41", "25", "-1.5"]);
    assert_eq!(found, [(20., 29.), (30., 34.), (20., 41.), (41., 41.), (25., 25.), (-1.5, -1.5)]);
    assert_eq!(ends("type = \"number\"", "", &["*"], &["*", "7"]), [(0., 0.), (7., 7.)]);
    let missing = ends("missing = \"category\"", "", &["[1, 2]", ""], &["?", "1"]);
    assert!(missing[0].0.is_nan() && missing[0].1.is_nan() && missing[1] == (1., 1.));
    assert_eq!(ends("missing = \"suppress\"", "", &["[1, 2]", "*"], &["", "*"]), [(1., 2.), (1., 2.)]);
    let german = "[input]\ndecimal = \",\"\n";
    let found = ends("", german, &["[1,5; 2]", "3,25"], &["[1,5; 2]", "2,5"]);
    assert_eq!(found, [(1.5, 2.), (2.5, 2.5)]);
}

#[test]
fn typed_numbers_are_in_plain_notation() {
    let context = context(QUASI, "[input]\ndecimal = \",\"\n", None);
    let encoder = fit(context, &["[1,5; 2]"], Categories::Indicators);
    let encoder = Encoder::new(vec![encoder]);
    let counts = |texts: &[&str], typed| Counts {
        columns: vec![column(texts, typed)],
        codes: vec![0, 1, 0],
        counts: vec![1; 3],
        first_records: None,
        records: 3,
    };
    let expected = [1.5, 1.5, 4., 4., 1.5, 1.5];
    assert_eq!(encoder.encode(&counts(&["1.5", "4"], true)).unwrap(), expected);
    assert_eq!(encoder.encode(&counts(&["1,5", "4"], false)).unwrap(), expected);
    let refused = encoder.encode(&counts(&["1,5", "4.5"], false)).unwrap_err().to_string();
    assert_eq!(refused, "column `c`: `4.5` is neither a value nor a label of a release (the column has numbers)");
}

#[test]
fn dates_are_seconds() {
    const DAY: f64 = 86_400.0;
    let found = ends("", "", &["1970-01", "1970s", "1970-01-02"], &["1970-01", "1970-01-02", "1970-Q1", "*"]);
    let decade = 3652.0 * DAY - 1.0;
    assert_eq!(found, [(0., 31. * DAY - 1.), (DAY, DAY), (0., 90. * DAY - 1.), (0., decade)]);
    let found = ends("hierarchy = \"free\"", "", &["[1970-01-02, 1970-01-05]"], &["1970-01-03", "*"]);
    assert_eq!(found, [(2. * DAY, 2. * DAY), (DAY, 4. * DAY)]);
}

#[test]
fn kinds_are_inferred_like_those_of_a_release() {
    for (labels, kind) in [
        (&["[1980, 1989]", "1984"][..], Kind::Number),
        (&["1984-03", "1984"], Kind::Date),
        (&["01234", "01235"], Kind::Category),
        (&["*"], Kind::Category),
        (&["a", "1"], Kind::Category),
        (&["12*", "123"], Kind::Category),
    ] {
        let encoder = fit(context(QUASI, "", None), labels, Categories::Indicators);
        assert_eq!(encoder.known(&column(labels, false)).kind, kind, "{labels:?}");
    }
}

#[test]
fn a_hierarchy_file_over_numbers_gives_the_ends_of_its_nodes() {
    let tree = file::parse("1;low;*\n5;low;*\n7;high;*\n20;high;*\n").unwrap();
    let context = context(&format!("{QUASI}\nhierarchy = \"c.csv\"\ntype = \"number\""), "", Some(&tree));
    let encoder = fit(context, &["low", "high", "*"], Categories::Indicators);
    assert_eq!(encoded(&encoder, "low"), [1., 5.]);
    assert_eq!(encoded(&encoder, "high"), [7., 20.]);
    assert_eq!(encoded(&encoder, "*"), [1., 20.]);
    assert_eq!(encoded(&encoder, "5"), [5., 5.]);
}

#[test]
fn prefixes_activate_the_nodes_above() {
    let declared = format!("{QUASI}\nhierarchy = {{ prefix = [3, 2] }}");
    let labels = ["123*", "45*", "*", "67890"];
    let encoder = fit(context(&declared, "", None), &labels, Categories::Indicators);
    assert_eq!(encoder.names(), ["c=12*", "c=123*", "c=45*", "c=67*", "c=678*", "c=67890"]);
    assert_eq!(encoded(&encoder, "123*"), [1., 1., 0., 0., 0., 0.]);
    assert_eq!(encoded(&encoder, "12345"), [1., 1., 0., 0., 0., 0.]);
    assert_eq!(encoded(&encoder, "12499"), [1., 0., 0., 0., 0., 0.]);
    assert_eq!(encoded(&encoder, "45678"), [0., 0., 1., 0., 0., 0.]);
    assert_eq!(encoded(&encoder, "67890"), [0., 0., 0., 1., 1., 1.]);
    assert_eq!(encoded(&encoder, "*"), [0.; 6]);
    let encoder = fit(context(&declared, "", None), &labels, Categories::Ordinal);
    assert_eq!(encoder.names(), ["c_level1", "c_level2", "c_level3"]);
    assert_eq!(encoded(&encoder, "12499"), [0., -1., -1.]);
    assert_eq!(encoded(&encoder, "67890"), [2., 1., 0.]);
}

#[test]
fn sets_share_an_indicator_among_their_values() {
    let rest = "[release]\nlabels = \"set\"\n";
    let encoder = fit(context(QUASI, rest, None), &["{a, b}", "c", "{a, b, c, d}"], Categories::Indicators);
    assert_eq!(encoder.names(), ["c=a", "c=b", "c=c", "c=d"]);
    assert_eq!(encoded(&encoder, "{a, b}"), [0.5, 0.5, 0., 0.]);
    assert_eq!(encoded(&encoder, "{a, b, c, d}"), [0.25; 4]);
    assert_eq!(encoded(&encoder, "b"), [0., 1., 0., 0.]);
    let encoder = fit(context(QUASI, "", None), &["{a, b}", "c"], Categories::Indicators);
    assert_eq!(encoder.names(), ["c=c", "c={a, b}"], "without sets it is a value");
}

#[test]
fn kept_columns_are_as_they_are() {
    let encoder = fit(context("role = \"insensitive\"", "", None), &["10", "", "3.5"], Categories::Indicators);
    assert_eq!(encoder.names(), ["c"]);
    assert_eq!((encoded(&encoder, "7"), encoded(&encoder, "").as_slice()[0].is_nan()), (vec![7.], true));
    let mut none = [0.0];
    assert!(encoder.encode("[1, 2]", &mut none).is_err());
    let encoder = fit(context("role = \"sensitive\"", "", None), &["flu", "*", "?"], Categories::Indicators);
    assert_eq!(encoder.names(), ["c=", "c=*", "c=flu"]);
    assert_eq!(encoded(&encoder, ""), [1., 0., 0.]);
    assert_eq!(encoded(&encoder, "ulcer"), [0.; 3]);
}

/// A tree of the parents of its nodes (each before its children), and its labels.
fn tree_of(parents: &[usize]) -> Tree {
    let mut builder = TreeBuilder::default();
    let mut handles = vec![TreeBuilder::ROOT];
    for (index, parent) in parents.iter().enumerate() {
        handles.push(builder.add(format!("n{index:02}"), handles[parent % handles.len()]));
    }
    builder.build()
}

/// The labels of a node and of those above it, by a search through all nodes.
fn naive_path(tree: &Tree, node: NodeId) -> Vec<String> {
    let is_above = |other: &NodeId| *other <= node && node < tree.end(*other) && tree.parent(*other).is_some();
    tree.nodes().filter(is_above).map(|node| tree.label(node).to_owned()).collect()
}

proptest! {
    /// Indicators and levels equal those found by a search through all nodes of the tree.
    #[test]
    fn nodes_equal_a_naive_search(parents in prop::collection::vec(0usize..40, 1..40), chosen in prop::collection::vec(0usize..40, 1..8)) {
        let tree = tree_of(&parents);
        let nodes: Vec<NodeId> = tree.nodes().filter(|node| tree.parent(*node).is_some()).collect();
        let released: Vec<NodeId> = chosen.iter().map(|at| nodes[at % nodes.len()]).collect();
        let labels: Vec<&str> = released.iter().map(|node| tree.label(*node)).collect();
        let known: BTreeSet<Vec<String>> = released
            .iter()
            .flat_map(|node| (1..=naive_path(&tree, *node).len()).map(|length| naive_path(&tree, *node)[..length].to_vec()))
            .collect();
        let declared = format!("{QUASI}\nhierarchy = \"c.csv\"\ntype = \"category\"");
        let context = || context(&declared, "", Some(&tree));
        let indicators = fit(context(), &labels, Categories::Indicators);
        let names: Vec<String> = known.iter().map(|path| format!("c={}", path.last().unwrap())).collect();
        prop_assert_eq!(indicators.names(), names);
        let levels = fit(context(), &labels, Categories::Ordinal);
        let on_level = |level: usize| known.iter().filter(|path| path.len() == level).collect::<Vec<_>>();
        prop_assert_eq!(levels.len(), known.iter().map(Vec::len).max().unwrap());
        for node in nodes {
            let path = naive_path(&tree, node);
            let expected: Vec<f64> = known.iter().map(|known| f64::from(path.starts_with(known))).collect();
            prop_assert_eq!(encoded(&indicators, tree.label(node)), expected);
            let expected: Vec<f64> = (1..=levels.len())
                .map(|level| on_level(level).iter().position(|known| path.len() >= level && path.starts_with(known)))
                .map(|number| number.map_or(-1.0, |number| number as f64))
                .collect();
            prop_assert_eq!(encoded(&levels, tree.label(node)), expected);
        }
        // What an encoder knows makes the same encoder again.
        let again = indicators.known(&column(&labels, false));
        let again: Vec<&str> = again.labels.iter().map(String::as_str).collect();
        prop_assert_eq!(fit(context(), &again, Categories::Indicators).names(), indicators.names());
    }

    /// The ends of `*` are those of the widest interval, and the known labels give the same ends.
    #[test]
    fn ends_equal_a_naive_minimum(intervals in prop::collection::vec((-50i32..50, 0i32..20), 1..12)) {
        let labels: Vec<String> = intervals.iter().map(|(low, width)| format!("[{low}, {}]", low + width)).collect();
        let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
        let encoder = fit(context(QUASI, "", None), &labels, Categories::Indicators);
        let low = intervals.iter().map(|(low, _)| *low).min().unwrap();
        let high = intervals.iter().map(|(low, width)| low + width).max().unwrap();
        prop_assert_eq!(encoded(&encoder, "*"), [f64::from(low), f64::from(high)]);
        for (label, (low, width)) in labels.iter().zip(&intervals) {
            prop_assert_eq!(encoded(&encoder, label), [f64::from(*low), f64::from(low + width)]);
        }
        let known = encoder.known(&column(&labels, false)).labels;
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        prop_assert!(known.len() <= 2);
        prop_assert_eq!(encoded(&fit(context(QUASI, "", None), &known, Categories::Indicators), "*"), encoded(&encoder, "*"));
    }
}

//! Every printed interval contains its values: for every builder, over numbers of any size, compared digit by digit.

use proptest::prelude::*;

use super::{
    Decimal, Domain, DomainProblem, HierarchyChoice, OccurringValues, ValueParser,
    numeric::{Builder, Built},
};
use crate::{
    counts::CountedColumn,
    schema::{Kind, MissingRule},
};

/// Sign and 400 digits on either side of the point.
fn padded(text: &str) -> (bool, String) {
    let (minus, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.trim_start_matches('+')),
    };
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let point = 400 - exponent.parse::<i32>().unwrap() - whole.len() as i32;
    let mut digits = vec![b'0'; 800];
    for (digit, at) in whole.bytes().chain(fraction.bytes()).zip(point..) {
        assert!(digit == b'0' || (0..800).contains(&at), "{text}");
        if let Some(place) = usize::try_from(at).ok().and_then(|at| digits.get_mut(at)) {
            *place = digit;
        }
    }
    let digits = String::from_utf8(digits).unwrap();
    (minus && digits.contains(|digit| digit != '0'), digits)
}

fn at_most(a: &str, b: &str) -> bool {
    match (padded(a), padded(b)) {
        ((true, a), (true, b)) => b <= a,
        ((false, a), (false, b)) => a <= b,
        ((minus, _), _) => minus,
    }
}

/// Whether a label contains a value: an interval with or without its upper end, or the same number.
fn contains(label: &str, value: &str) -> bool {
    let equal = |a: &str, b: &str| padded(a) == padded(b);
    if label == "*" {
        return true;
    }
    match label.strip_prefix('[') {
        None => equal(label, value),
        Some(inside) => {
            let (low, high) = inside[..inside.len() - 1].split_once(", ").unwrap();
            let open = inside.ends_with(')');
            at_most(low, value) && at_most(value, high) && !(open && equal(value, high))
        }
    }
}

fn bind(texts: &[String], choice: &HierarchyChoice) -> Result<Domain, DomainProblem> {
    let values = texts.iter().map(|text| text.as_str().into()).collect();
    let column = CountedColumn { name: "c".into(), values, first_records: None, typed: false };
    let (missing, records) = (vec![false; texts.len()], vec![1; texts.len()]);
    let occurring = OccurringValues { column: &column, missing: &missing, records: &records };
    let parser = ValueParser::new(Kind::Number, None);
    Domain::bind(occurring, &parser, choice, None, MissingRule::Error).map(|(domain, _)| domain).map_err(|e| e.problem)
}

/// Checks the labels of all nodes above every value or, without a tree, of all intervals around it.
fn check_labels(domain: &Domain) {
    let codes = 0..domain.len() as u32;
    for code in codes.clone() {
        let labels: Vec<String> = match domain.tree() {
            Some(tree) => std::iter::successors(Some(tree.leaf(code)), |&node| tree.parent(node))
                .map(|node| domain.label(domain.node_cell(node)))
                .collect(),
            None => codes.clone().map(|other| domain.label(domain.cover(code.min(other), code.max(other)))).collect(),
        };
        for label in labels {
            assert!(contains(&label, domain.text(code)), "{label} for {}", domain.text(code));
        }
    }
}

fn numbers(texts: &[&str]) -> Vec<Decimal> {
    texts.iter().map(|text| Decimal::parse(text).unwrap()).collect()
}

fn built() -> Vec<HierarchyChoice> {
    let builders = [
        Builder::Iotf,
        Builder::Otf,
        Builder::Chu { threshold: 2 },
        Builder::Han { fan_out: 3, threshold: 2 },
        Builder::EqualWidth(vec![6, 2]),
        Builder::EqualFrequency(vec![6, 2]),
    ];
    let choice = |builder| HierarchyChoice::Built(Built { builder, levels: None });
    builders.into_iter().map(choice).chain([HierarchyChoice::Free]).collect()
}

/// Numbers around a random point of any size, spelled in several ways.
fn texts() -> impl Strategy<Value = Vec<String>> {
    let bases: Vec<i128> = vec![
        0,
        1 << 53,
        -(1 << 53),
        1_700_000_000_000_000_000,
        i64::MAX.into(),
        i64::MIN.into(),
        u64::MAX.into(),
        10i128.pow(30),
    ];
    let numbers = prop::collection::vec((0i128..5000, 0u8..4), 1..10);
    let exponent = prop_oneof![4 => Just(0), 2 => -6..6, 1 => Just(-320), 1 => Just(270)];
    (prop::sample::select(bases), numbers, exponent).prop_map(|(base, numbers, exponent)| {
        let text = |(offset, spelling): (i128, u8)| match (base + offset, spelling) {
            (number, _) if exponent != 0 => format!("{number}e{exponent}"),
            (number, 1) => format!("{number}.0"),
            (number, 2) => format!("{number}e0"),
            (number, 3) => format!("{number}.5"),
            (number, _) => number.to_string(),
        };
        numbers.into_iter().map(text).collect()
    })
}

proptest! {
    #[test]
    fn every_label_contains_its_values(texts in texts()) {
        let mut sorted = texts.clone();
        sorted.sort_by(|a, b| if at_most(a, b) { std::cmp::Ordering::Less } else { std::cmp::Ordering::Greater });
        let ends = numbers(&[&sorted[0], &sorted[sorted.len() / 2], &sorted[sorted.len() - 1]]);
        let mut edges = ends.clone();
        edges.push(Decimal::parse("1e301").unwrap());
        edges.dedup();
        let mut choices = built();
        choices.push(HierarchyChoice::Bins(edges));
        for widths in [&["5", "10"][..], &["0.001", "0.1", "2500"], &["1000", "256000"], &["1e-300"], &["7e290"]] {
            choices.push(HierarchyChoice::Widths(numbers(widths)));
        }
        for choice in choices {
            match bind(&texts, &choice) {
                Ok(domain) => check_labels(&domain),
                Err(DomainProblem::TooManyDigits { .. }) => {}
                Err(DomainProblem::TooLargeForWidth { .. }) if matches!(choice, HierarchyChoice::Widths(_)) => {}
                Err(problem) => prop_assert!(false, "{problem}"),
            }
        }
    }

    /// Whole numbers of 64 bits are refused only if two of them are one float.
    #[test]
    fn whole_numbers_of_64_bits_are_exact(start in any::<i64>(), steps in prop::collection::vec(2048i64..90_000, 1..10)) {
        let mut texts: Vec<String> = Vec::new();
        let mut number = start;
        for step in steps {
            texts.push(number.to_string());
            number = number.saturating_add(step);
        }
        texts.dedup();
        let (low, high) = (Decimal::from(start), Decimal::from(number));
        let mut edges = vec![low, Decimal::from(start.saturating_add(50_001)), high];
        edges.sort();
        edges.dedup();
        prop_assume!(edges.len() > 1);
        for choice in [HierarchyChoice::Bins(edges), HierarchyChoice::Widths(numbers(&["1000", "7000"]))] {
            check_labels(&bind(&texts, &choice).unwrap());
        }
    }
}

#[test]
fn edges_beyond_the_whole_floats_are_exact() {
    let texts = ["1700000000000000999", "1700000000000001500"].map(str::to_owned);
    let edges = numbers(&["1700000000000000000", "1700000000000001000", "1700000000000004000"]);
    let domain = bind(&texts, &HierarchyChoice::Bins(edges)).unwrap();
    let tree = domain.tree().unwrap();
    let labels: Vec<&str> = (0..2).map(|code| tree.label(tree.parent(tree.leaf(code)).unwrap())).collect();
    assert_eq!(labels, ["[1700000000000000000, 1700000000000000999]", "[1700000000000001000, 1700000000000004000]"]);
    let error = bind(&["3".to_owned(), "1e300".to_owned()], &HierarchyChoice::Widths(numbers(&["5"]))).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`1e300` is too large to be put exactly into intervals of width 5; use wider ones, or `hierarchy = \"free\"`"
    );
    let tiny = bind(&["1e-99999999999".to_owned()], &HierarchyChoice::Free).unwrap_err();
    assert!(matches!(tiny, DomainProblem::TooManyDigits { .. }), "{tiny}");
}

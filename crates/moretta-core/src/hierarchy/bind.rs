//! Building a domain from the values that occur and what the policy says of the column.
//!
//! This is where data and declaration meet, so this is where they are found to disagree: every error names the first
//! record with the value at fault.

use hashbrown::HashMap;

use super::{
    domain::{Domain, DomainError, DomainProblem},
    numeric::{bins, given, widths},
    tree::{ROOT_LABEL, Tree},
};
use crate::{
    counts::CountedColumn,
    policy::HierarchyChoice,
    schema::{Kind, MissingRule},
};

impl Domain {
    /// A column's domain from the values that occur in it.
    ///
    /// `tree` is the hierarchy file where the policy names one. `missing[code]` marks the values that stand for a
    /// missing one. Returns the domain and, for each code of `column`, the code in the domain.
    pub(crate) fn bind(
        column: &CountedColumn,
        kind: Kind,
        choice: &HierarchyChoice,
        tree: Option<&Tree>,
        missing: &[bool],
        rule: MissingRule,
    ) -> Result<(Self, Vec<u32>), DomainError> {
        let mut binder = Binder { column, missing, codes: vec![0; column.values.len()] };
        let mut domain = match kind {
            Kind::Number => binder.numbers(choice, tree)?,
            Kind::Category => binder.categories(tree, rule)?,
        };
        binder.add_missing(&mut domain, rule);
        Ok((domain, binder.codes))
    }
}

struct Binder<'a> {
    column: &'a CountedColumn,
    missing: &'a [bool],
    codes: Vec<u32>,
}

impl Binder<'_> {
    fn error(&self, raw: usize, problem: impl FnOnce(String) -> DomainProblem) -> DomainError {
        DomainError {
            column: self.column.name.clone(),
            record: Some(self.column.first_records[raw]),
            problem: problem(self.column.values[raw].to_string()),
        }
    }

    fn hierarchy_error(&self, problem: DomainProblem) -> DomainError {
        DomainError { column: self.column.name.clone(), record: None, problem }
    }

    /// The values that are there, in the order of the first record that has them: so the first error is the earliest.
    fn present(&self) -> Vec<usize> {
        let mut raws: Vec<usize> = (0..self.column.values.len()).filter(|&raw| !self.missing[raw]).collect();
        raws.sort_unstable_by_key(|&raw| self.column.first_records[raw]);
        raws
    }

    fn categories(&mut self, tree: Option<&Tree>, rule: MissingRule) -> Result<Domain, DomainError> {
        let Some(tree) = tree else { return self.flat_categories() };
        let leaves: HashMap<&str, u32> =
            (0..tree.leaf_count() as u32).map(|code| (tree.label(tree.leaf(code)), code)).collect();
        for raw in self.present() {
            let code = leaves.get(&*self.column.values[raw]);
            self.codes[raw] = *code.ok_or_else(|| self.error(raw, |value| DomainProblem::NotInHierarchy { value }))?;
        }
        let texts = (0..tree.leaf_count() as u32).map(|code| tree.label(tree.leaf(code)).into()).collect();
        let mut domain = Domain { tree: Some(tree.clone()), ..Domain::flat(texts) };
        // A hierarchy may have a leaf for the missing value itself, in a place of its own.
        let own = (0..self.missing.len()).find(|&raw| {
            self.missing[raw] && rule == MissingRule::Category && leaves.contains_key(&*self.column.values[raw])
        });
        if let Some(raw) = own {
            domain.missing = Some(leaves[&*self.column.values[raw]]);
        }
        Ok(domain)
    }

    fn flat_categories(&mut self) -> Result<Domain, DomainError> {
        let mut raws = self.present();
        if let Some(&raw) = raws.iter().find(|&&raw| &*self.column.values[raw] == ROOT_LABEL) {
            return Err(self.error(raw, |_| DomainProblem::Star));
        }
        raws.sort_by(|&a, &b| self.column.values[a].cmp(&self.column.values[b]));
        for (code, &raw) in raws.iter().enumerate() {
            self.codes[raw] = code as u32;
        }
        Ok(Domain::flat(raws.into_iter().map(|raw| self.column.values[raw].clone()).collect()))
    }

    fn numbers(&mut self, choice: &HierarchyChoice, tree: Option<&Tree>) -> Result<Domain, DomainError> {
        let mut numbers = Vec::new();
        for raw in self.present() {
            let value = parse_number(&self.column.values[raw]).map_err(|problem| self.error(raw, |_| problem))?;
            numbers.push((value, raw));
        }
        if let HierarchyChoice::Bins(edges) = choice {
            let (low, high) = (edges[0], edges[edges.len() - 1]);
            if let Some(&(_, raw)) = numbers.iter().find(|(value, _)| !(low..=high).contains(value)) {
                return Err(self.error(raw, |value| DomainProblem::OutsideBins { value, low, high }));
            }
        }
        // Equal numbers may be written in several ways: the shortest text speaks for all of them.
        let text = |raw: usize| &self.column.values[raw];
        numbers.sort_by(|(a, x), (b, y)| {
            a.total_cmp(b).then_with(|| (text(*x).len(), text(*x)).cmp(&(text(*y).len(), text(*y))))
        });
        let (mut values, mut texts): (Vec<f64>, Vec<Box<str>>) = (Vec::new(), Vec::new());
        let mut speaker = 0;
        for &(value, raw) in &numbers {
            if values.last() != Some(&value) {
                values.push(value);
                texts.push(text(raw).clone());
                speaker = raw;
            } else if !same_decimal(text(speaker), text(raw)) {
                return Err(self.error(raw, |value| DomainProblem::TooManyDigits { value }));
            }
            self.codes[raw] = values.len() as u32 - 1;
        }
        let tree = match (choice, tree) {
            (HierarchyChoice::Widths(widths), _) => Some(widths::build(&values, &texts, widths)),
            // Values outside the edges were refused above.
            (HierarchyChoice::Bins(edges), _) => bins::build(&values, &texts, edges).ok(),
            (_, Some(tree)) => Some(self.number_tree(tree, &values, &texts)?),
            (_, None) => None,
        };
        Ok(Domain { kind: Kind::Number, texts, values, tree, missing: None, missing_is_suppressed: false })
    }

    /// A hierarchy file over numbers: its leaves put in order, those that do not occur left out.
    fn number_tree(&self, tree: &Tree, values: &[f64], texts: &[Box<str>]) -> Result<Tree, DomainError> {
        let mut leaves = Vec::with_capacity(tree.leaf_count());
        for code in 0..tree.leaf_count() as u32 {
            let label = tree.label(tree.leaf(code));
            let value = parse_number(label)
                .map_err(|_| self.hierarchy_error(DomainProblem::LeafNotANumber { value: label.to_owned() }))?;
            leaves.push((value, code));
        }
        leaves.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (code, value) in values.iter().enumerate() {
            if leaves.binary_search_by(|(leaf, _)| leaf.total_cmp(value)).is_err() {
                let raw = (0..self.codes.len()).find(|&raw| !self.missing[raw] && self.codes[raw] as usize == code);
                return Err(self.error(raw.unwrap_or(0), |value| DomainProblem::NotInHierarchy { value }));
            }
        }
        given::build(tree, &leaves, values, texts).map_err(|problem| self.hierarchy_error(problem))
    }

    fn add_missing(&mut self, domain: &mut Domain, rule: MissingRule) {
        let Some(raw) = (0..self.missing.len()).find(|&raw| self.missing[raw]) else { return };
        let code = match domain.missing {
            Some(code) => code,
            None => {
                let suppressed = rule == MissingRule::Suppress;
                let text = if suppressed { ROOT_LABEL.into() } else { self.missing_text(raw) };
                domain.tree = domain.tree.take().map(|tree| tree.with_extra_leaf(text.clone()));
                domain.texts.push(text);
                domain.missing_is_suppressed = suppressed;
                domain.missing = Some(domain.len() as u32 - 1);
                domain.len() as u32 - 1
            }
        };
        for (raw, missing) in self.missing.iter().enumerate() {
            if *missing {
                self.codes[raw] = code;
            }
        }
    }

    /// Several texts may mean "missing": the shortest speaks for all of them.
    fn missing_text(&self, first: usize) -> Box<str> {
        let texts = (first..self.missing.len()).filter(|&raw| self.missing[raw]).map(|raw| &self.column.values[raw]);
        texts.min_by_key(|text| (text.len(), (*text).clone())).cloned().unwrap_or_default()
    }
}

/// A finite number as a person would write it.
pub fn parse_number(text: &str) -> Result<f64, DomainProblem> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value + 0.0),
        Ok(_) => Err(DomainProblem::NotFinite { value: text.to_owned() }),
        Err(_) => Err(DomainProblem::NotANumber { value: text.to_owned() }),
    }
}

/// Whether two texts of the same float are the same decimal number.
pub(crate) fn same_decimal(a: &str, b: &str) -> bool {
    a == b || decimal(a) == decimal(b)
}

/// Sign, digits without zeros at either end, and the exponent of the last digit.
pub(crate) fn decimal(text: &str) -> (bool, String, i64) {
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], text[at + 1..].parse().unwrap_or(0)),
        None => (text, 0i64),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let trimmed = digits.trim_end_matches('0');
    let exponent = exponent - fraction.len() as i64 + (digits.len() - trimmed.len()) as i64;
    let trimmed = trimmed.trim_start_matches('0');
    if trimmed.is_empty() { (false, String::new(), 0) } else { (negative, trimmed.to_owned(), exponent) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(values: &[&str]) -> CountedColumn {
        CountedColumn {
            name: "c".into(),
            values: values.iter().map(|v| (*v).into()).collect(),
            first_records: (1..=values.len() as u64).collect(),
        }
    }

    fn bind(
        values: &[&str],
        kind: Kind,
        choice: &HierarchyChoice,
        tree: Option<&Tree>,
        rule: MissingRule,
    ) -> Result<(Domain, Vec<u32>), DomainError> {
        let column = column(values);
        let missing: Vec<bool> = values.iter().map(|v| v.is_empty() || *v == "?").collect();
        Domain::bind(&column, kind, choice, tree, &missing, rule)
    }

    fn numbers(values: &[&str]) -> Result<(Domain, Vec<u32>), DomainError> {
        bind(values, Kind::Number, &HierarchyChoice::Default, None, MissingRule::Category)
    }

    #[test]
    fn equal_numbers_share_a_leaf_and_the_shortest_text_speaks() {
        let (domain, codes) = numbers(&["2.0", "10", "2", "1e1", "-3"]).unwrap();
        assert_eq!(codes, [1, 2, 1, 2, 0]);
        assert_eq!(domain.label(domain.cover(0, 2)), "[-3, 10]");
        assert_eq!(domain.label(domain.cover(1, 1)), "2");
    }

    #[test]
    fn numbers_that_a_float_cannot_tell_apart_are_refused() {
        let error = numbers(&["9007199254740993", "9007199254740992"]).unwrap_err();
        assert!(matches!(error.problem, DomainProblem::TooManyDigits { .. }), "{error}");
        assert!(numbers(&["0.10", "0.1", "1e-1", "+0.1"]).is_ok());
        assert!(numbers(&["0", "-0", "0.0"]).unwrap().1.iter().all(|&code| code == 0));
    }

    #[test]
    fn the_earliest_bad_value_is_named() {
        let error = numbers(&["1", "x", "inf"]).unwrap_err();
        assert_eq!((error.record, error.problem), (Some(2), DomainProblem::NotANumber { value: "x".into() }));
        let error = numbers(&["1", "NaN"]).unwrap_err();
        assert_eq!(error.problem, DomainProblem::NotFinite { value: "NaN".into() });
        let tree = super::super::file::parse("a;*\nb;*").unwrap();
        let error = bind(&["a", "c"], Kind::Category, &HierarchyChoice::Default, Some(&tree), MissingRule::Error);
        assert_eq!(
            error.unwrap_err().to_string(),
            "column `c`, record 2: `c` is not in the hierarchy; add a row for it, or correct the value"
        );
    }

    #[test]
    fn a_missing_number_is_only_covered_by_the_star() {
        let (domain, codes) = numbers(&["1", "?", "3", ""]).unwrap();
        assert_eq!(codes, [0, 2, 1, 2]);
        assert_eq!(domain.label(domain.cover(2, 2)), "");
        assert_eq!(domain.label(domain.cover(1, 2)), "*");
        assert_eq!(domain.ncp(domain.cover(1, 2)), 1.0);
        assert_eq!(domain.ncp(domain.cover(2, 2)), 0.0);
        let (domain, _) =
            bind(&["1", "?"], Kind::Number, &HierarchyChoice::Default, None, MissingRule::Suppress).unwrap();
        assert_eq!(domain.label(domain.cover(1, 1)), "*");
        assert_eq!(domain.ncp(domain.cover(1, 1)), 1.0);
    }

    #[test]
    fn a_hierarchy_may_have_a_place_for_the_missing_value() {
        let tree = super::super::file::parse("a;x;*\n?;x;*\nb;y;*").unwrap();
        let (domain, codes) =
            bind(&["a", "?"], Kind::Category, &HierarchyChoice::Default, Some(&tree), MissingRule::Category).unwrap();
        assert_eq!(codes, [0, 1]);
        assert_eq!(domain.label(domain.cover(0, 1)), "x");
    }

    #[test]
    fn a_file_over_numbers_is_put_in_order_and_must_be_intervals() {
        let tree = super::super::file::parse("30;old;*\n1;young;*\n2;young;*\n40;old;*").unwrap();
        let with = |tree: &Tree, values: &[&str]| {
            bind(values, Kind::Number, &HierarchyChoice::Default, Some(tree), MissingRule::Error)
        };
        let (domain, codes) = with(&tree, &["30", "1", "40"]).unwrap();
        assert_eq!(codes, [1, 0, 2]);
        assert_eq!(domain.label(domain.cover(1, 2)), "old");
        assert!((domain.ncp(domain.cover(1, 2)) - 10.0 / 39.0).abs() < 1e-12);
        let gap = super::super::file::parse("1;a;*\n2;b;*\n3;a;*").unwrap();
        let error = with(&gap, &["1"]).unwrap_err();
        assert_eq!(error.problem, DomainProblem::NotAnInterval { label: "a".into() });
        let error = with(&tree, &["1", "5"]).unwrap_err();
        assert_eq!(error.problem, DomainProblem::NotInHierarchy { value: "5".into() });
        let twice = super::super::file::parse("1;a;*\n2;b;*\n1.0;b;*").unwrap();
        assert_eq!(with(&twice, &["1"]).unwrap_err().problem, DomainProblem::LeafTwice { value: "1.0".into() });
    }

    #[test]
    fn numbers_directly_under_the_root_of_a_file_stay_there() {
        let tree = super::super::file::parse("1;1;*\n2;2;*\n3;high;*\n4;high;*").unwrap();
        let (domain, _) =
            bind(&["1", "2", "4"], Kind::Number, &HierarchyChoice::Default, Some(&tree), MissingRule::Error).unwrap();
        assert_eq!(domain.label(domain.cover(0, 1)), "*");
        assert_eq!(domain.label(domain.cover(2, 2)), "4");
    }

    #[test]
    fn a_file_over_numbers_may_be_as_deep_as_it_is_long() {
        use super::super::TreeBuilder;
        let mut builder = TreeBuilder::default();
        let mut above = TreeBuilder::ROOT;
        for value in 0..50_000 {
            builder.add(value.to_string(), above);
            above = builder.add(format!("above {value}"), above);
        }
        builder.add("50000", above);
        let (domain, _) = bind(
            &["7", "49999", "50000"],
            Kind::Number,
            &HierarchyChoice::Default,
            Some(&builder.build()),
            MissingRule::Error,
        )
        .unwrap();
        assert_eq!(domain.label(domain.cover(1, 2)), "above 49998");
        assert_eq!(domain.label(domain.cover(0, 2)), "above 6");
    }

    #[test]
    fn penalties_of_a_taxonomy() {
        // Seven leaves: two whose common ancestor covers six cost 6/7, two under the root cost 1 (spec 4).
        let tree = super::super::file::parse("a;x;*\nb;x;*\nc;x;*\nd;x;*\ne;x;*\nf;x;*\ng;y;*").unwrap();
        let (domain, _) =
            bind(&["a"], Kind::Category, &HierarchyChoice::Default, Some(&tree), MissingRule::Error).unwrap();
        assert_eq!(domain.ncp(domain.cover(0, 5)), 6.0 / 7.0);
        assert_eq!(domain.ncp(domain.cover(4, 6)), 1.0);
        assert_eq!(domain.ncp(domain.cover(3, 3)), 0.0);
        assert_eq!(domain.lm(domain.cover(0, 5)), 5.0 / 6.0);
    }
}

//! Builds a domain from the values of a column and the policy's declaration of it.
//!
//! Values that contradict the declaration are found here; every error names the first record with such a value.

use hashbrown::{HashMap, HashSet};

use super::{
    calendar::{self, DateLevel},
    domain::{Domain, DomainError, DomainProblem},
    numeric::{Built, DistinctValues, bins, given, widths},
    prefix,
    tree::{ROOT_LABEL, Tree},
    value_parser::ValueParser,
};
use crate::{
    counts::CountedColumn,
    decimal::Decimal,
    hierarchy::HierarchyChoice,
    schema::{Kind, MissingRule},
};

/// Distinct values of a column.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OccurringValues<'a> {
    /// The values with their codes, called raw codes here: they are in no particular order.
    pub column: &'a CountedColumn,
    /// By raw code, whether the text means a missing value.
    pub missing: &'a [bool],
    /// Records per raw code; may be empty if the hierarchy is not built from the data.
    pub records: &'a [u64],
}

/// Builds the tree of a column by the policy's choice; `None` if any interval may be released. `records` is the number
/// of records per value.
pub fn build_tree(
    column: &CountedColumn,
    records: &[u64],
    parser: &ValueParser,
    choice: &HierarchyChoice,
) -> Result<Option<Tree>, DomainError> {
    let missing = vec![false; column.values.len()];
    let occurring = OccurringValues { column, missing: &missing, records };
    Ok(Domain::bind(occurring, parser, choice, None, MissingRule::Error)?.0.tree)
}

impl Domain {
    /// Returns the domain of a column and, for each raw code, the code in the domain.
    ///
    /// `tree` is the hierarchy file if the policy names one; it takes precedence over a tree built from the data.
    pub(crate) fn bind(
        occurring: OccurringValues<'_>,
        parser: &ValueParser,
        choice: &HierarchyChoice,
        tree: Option<&Tree>,
        rule: MissingRule,
    ) -> Result<(Self, Vec<u32>), DomainError> {
        let OccurringValues { column, missing, records } = occurring;
        let mut binder = Binder { column, missing, records, parser, codes: vec![0; column.values.len()] };
        let mut domain = match (parser.kind(), choice) {
            (Kind::Number | Kind::Date, _) => binder.ordered(choice, tree)?,
            (Kind::Category, HierarchyChoice::Prefix(lengths)) => binder.prefixes(lengths)?,
            (Kind::Category, _) => binder.categories(tree, rule)?,
        };
        binder.add_missing(&mut domain, rule);
        Ok((domain, binder.codes))
    }
}

struct Binder<'a> {
    column: &'a CountedColumn,
    missing: &'a [bool],
    records: &'a [u64],
    parser: &'a ValueParser,
    codes: Vec<u32>,
}

impl Binder<'_> {
    fn error(&self, raw: usize, problem: impl FnOnce(String) -> DomainProblem) -> DomainError {
        DomainError::of_value(self.column, raw, problem(self.column.values[raw].to_string()))
    }

    fn hierarchy_error(&self, problem: DomainProblem) -> DomainError {
        DomainError { column: self.column.name.clone(), record: None, in_hierarchy: true, problem }
    }

    /// Raw codes that are not missing, by the first record that has them, so that the first error found is the
    /// earliest.
    fn present(&self) -> Vec<usize> {
        let mut raws: Vec<usize> = (0..self.column.values.len()).filter(|&raw| !self.missing[raw]).collect();
        raws.sort_unstable_by_key(|&raw| (self.column.first_record(raw), &self.column.values[raw]));
        raws
    }

    fn categories(&mut self, tree: Option<&Tree>, rule: MissingRule) -> Result<Domain, DomainError> {
        let Some(tree) = tree else { return self.flat_categories() };
        let leaves: HashMap<&str, u32> = tree.leaf_labels().zip(0..).collect();
        for raw in self.present() {
            let code = leaves.get(&*self.column.values[raw]);
            self.codes[raw] = *code.ok_or_else(|| self.error(raw, |value| DomainProblem::NotInHierarchy { value }))?;
        }
        let mut domain =
            Domain { tree: Some(tree.clone()), ..Domain::flat(tree.leaf_labels().map(Into::into).collect()) };
        // A hierarchy may have a leaf for the missing value anywhere in the tree.
        let own = (0..self.missing.len()).find(|&raw| {
            self.missing[raw] && rule == MissingRule::Category && leaves.contains_key(&*self.column.values[raw])
        });
        domain.missing = own.map(|raw| leaves[&*self.column.values[raw]]);
        Ok(domain)
    }

    fn flat_categories(&mut self) -> Result<Domain, DomainError> {
        let raws = self.present();
        if let Some(&raw) = raws.iter().find(|&&raw| &*self.column.values[raw] == ROOT_LABEL) {
            return Err(self.error(raw, |_| DomainProblem::Star));
        }
        Ok(Domain::in_text_order(self.column, raws, &mut self.codes))
    }

    fn prefixes(&mut self, lengths: &[u32]) -> Result<Domain, DomainError> {
        let cut = |raw: &usize| self.column.values[*raw].ends_with(ROOT_LABEL);
        if let Some(raw) = self.present().into_iter().find(cut) {
            return Err(self.error(raw, |value| DomainProblem::CutAlready { value }));
        }
        let domain = self.flat_categories()?;
        Ok(Domain { tree: Some(prefix::build(&domain.texts, lengths)), ..domain })
    }

    fn ordered(&mut self, choice: &HierarchyChoice, tree: Option<&Tree>) -> Result<Domain, DomainError> {
        let mut numbers = Vec::new();
        for raw in self.present() {
            let text = &self.column.values[raw];
            let value = self.parser.number(text).map_err(|problem| self.error(raw, |_| problem))?;
            let exact =
                || Decimal::parse(text).ok_or_else(|| self.error(raw, |value| DomainProblem::TooManyDigits { value }));
            match choice {
                HierarchyChoice::Bins(edges) => self.check_edges(raw, &exact()?, edges)?,
                // The exponent of a number that is 0 as a float may be too small to compute with.
                _ if self.parser.kind() == Kind::Number && value == 0.0 => drop(exact()?),
                _ => {}
            }
            numbers.push((value, raw));
        }
        // Equal values may be written in several ways; the shortest text represents all of them.
        let text = |raw: usize| &self.column.values[raw];
        numbers.sort_by(|(a, x), (b, y)| {
            a.total_cmp(b).then_with(|| (text(*x).len(), text(*x)).cmp(&(text(*y).len(), text(*y))))
        });
        let (mut values, mut texts): (Vec<f64>, Vec<Box<str>>) = (Vec::new(), Vec::new());
        let mut representatives: Vec<usize> = Vec::new();
        for &(value, raw) in &numbers {
            if values.last() != Some(&value) {
                values.push(value);
                texts.push(text(raw).clone());
                representatives.push(raw);
            } else if representatives.last().is_some_and(|&last| self.parser.compare(text(last), text(raw)).is_ne()) {
                return Err(self.error(raw, |value| DomainProblem::TooManyDigits { value }));
            }
            self.codes[raw] = values.len() as u32 - 1;
        }
        let tree = match (choice, tree) {
            (HierarchyChoice::Widths(widths), _) => {
                let refused = |(code, width): (usize, &Decimal)| {
                    let width = width.to_string().into();
                    self.error(representatives[code], |value| DomainProblem::TooLargeForWidth { value, width })
                };
                Some(widths::build(&decimals(&texts), &texts, widths).map_err(refused)?)
            }
            // Values outside the edges were refused above.
            (HierarchyChoice::Bins(edges), _) => bins::build(&decimals(&texts), &texts, edges).ok(),
            (HierarchyChoice::Built(built), None) => Some(self.built(built, &values, &texts)),
            (HierarchyChoice::Dates(levels), _) => Some(self.calendar(&texts, levels)),
            (_, Some(tree)) => Some(self.given(tree, &values, &texts)?),
            (_, None) => None,
        };
        let parser = self.parser.clone();
        Ok(Domain { parser, texts, values, tree, missing: None, missing_is_suppressed: false, scale: None })
    }

    fn check_edges(&self, raw: usize, value: &Decimal, edges: &[Decimal]) -> Result<(), DomainError> {
        let [low, .., high] = edges else { return Ok(()) };
        if (low..=high).contains(&value) {
            return Ok(());
        }
        let (low, high) = (low.to_string().into(), high.to_string().into());
        Err(self.error(raw, |value| DomainProblem::OutsideBins { value, low, high }))
    }

    fn built(&self, built: &Built, values: &[f64], texts: &[Box<str>]) -> Tree {
        let mut records = vec![0; values.len()];
        for (raw, code) in self.codes.iter().enumerate().filter(|(raw, _)| !self.missing[*raw]) {
            records[*code as usize] += self.records[raw];
        }
        built.tree(DistinctValues { values, texts, records: &records })
    }

    fn calendar(&self, texts: &[Box<str>], levels: &[DateLevel]) -> Tree {
        let moment = |text: &str| self.parser.moment(text).expect("it was read as a date before");
        calendar::build(&texts.iter().map(|text| moment(text)).collect::<Vec<_>>(), texts, levels)
    }

    /// A hierarchy file over numbers or dates: leaves are sorted by value, and those that do not occur are removed.
    fn given(&self, tree: &Tree, values: &[f64], texts: &[Box<str>]) -> Result<Tree, DomainError> {
        let mut leaves = Vec::with_capacity(tree.leaf_count());
        for (label, code) in tree.leaf_labels().zip(0..) {
            let value = self.parser.number(label).map_err(|problem| match self.parser.kind() {
                Kind::Date => self.hierarchy_error(problem),
                _ => self.hierarchy_error(DomainProblem::LeafNotANumber { value: label.to_owned() }),
            })?;
            leaves.push((value, code));
        }
        leaves.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (code, value) in values.iter().enumerate() {
            if leaves.binary_search_by(|(leaf, _)| leaf.total_cmp(value)).is_err() {
                let raw = (0..self.codes.len()).find(|&raw| !self.missing[raw] && self.codes[raw] as usize == code);
                return Err(self.error(raw.unwrap_or(0), |value| DomainProblem::NotInHierarchy { value }));
            }
        }
        let tree = given::build(tree, &leaves, values, texts).map_err(|problem| self.hierarchy_error(problem))?;
        if let Some(value) = label_of_group(&tree, texts) {
            return Err(self.hierarchy_error(DomainProblem::LabelOfGroup { value }));
        }
        // Values are in ascending order, so an interval that contains the first and the last below it contains all.
        for node in tree.nodes().filter(|node| !tree.is_leaf(*node)) {
            let (label, (first, last)) = (tree.label(node), tree.range(node));
            let excluded = |code: &&u32| self.parser.interval_contains(label, &texts[**code as usize]) == Some(false);
            if let Some(&code) = [first, last].iter().find(excluded) {
                let (label, value) = (label.to_owned(), texts[code as usize].to_string());
                return Err(self.hierarchy_error(DomainProblem::NotContained { label, value }));
            }
        }
        Ok(tree)
    }

    fn add_missing(&mut self, domain: &mut Domain, rule: MissingRule) {
        let Some(raw) = (0..self.missing.len()).find(|&raw| self.missing[raw]) else { return };
        let code = domain.missing.unwrap_or_else(|| {
            let suppressed = rule == MissingRule::Suppress;
            let text = if suppressed { ROOT_LABEL.into() } else { self.missing_text(raw) };
            domain.tree = domain.tree.take().map(|tree| tree.with_extra_leaf(text.clone()));
            domain.texts.push(text);
            domain.missing_is_suppressed = suppressed;
            domain.len() as u32 - 1
        });
        domain.missing = Some(code);
        for raw in (raw..self.missing.len()).filter(|&raw| self.missing[raw]) {
            self.codes[raw] = code;
        }
    }

    /// Several texts may mean "missing"; the shortest represents all of them.
    fn missing_text(&self, first: usize) -> Box<str> {
        let texts = (first..self.missing.len()).filter(|&raw| self.missing[raw]).map(|raw| &self.column.values[raw]);
        texts.min_by_key(|text| (text.len(), (*text).clone())).cloned().unwrap_or_default()
    }
}

/// First text that is the label of a group, too: a leaf `7.0` of a file has the text `7` if the data has it so.
fn label_of_group(tree: &Tree, texts: &[Box<str>]) -> Option<String> {
    let groups = tree.nodes().filter(|node| !tree.is_leaf(*node));
    let labels: HashSet<&str> = groups.map(|node| tree.label(node)).collect();
    texts.iter().find(|text| labels.contains(&***text)).map(ToString::to_string)
}

/// The numbers of texts that were read as numbers before, exactly.
fn decimals(texts: &[Box<str>]) -> Vec<Decimal> {
    texts.iter().map(|text| Decimal::parse(text).expect("it was read as a number before")).collect()
}

/// Parses a finite decimal number; -0 becomes 0.
pub fn parse_number(text: &str) -> Result<f64, DomainProblem> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value + 0.0),
        Ok(_) => Err(DomainProblem::NotFinite { value: text.to_owned() }),
        Err(_) => Err(DomainProblem::NotANumber { value: text.to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::{TreeBuilder, file};

    fn column(values: &[&str]) -> CountedColumn {
        CountedColumn {
            name: "c".into(),
            values: values.iter().map(|v| (*v).into()).collect(),
            first_records: Some((1..=values.len() as u64).collect()),
            typed: false,
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
        let records = vec![1; values.len()];
        let occurring = OccurringValues { column: &column, missing: &missing, records: &records };
        Domain::bind(occurring, &ValueParser::new(kind, None), choice, tree, rule)
    }

    fn numbers(values: &[&str]) -> Result<(Domain, Vec<u32>), DomainError> {
        bind(values, Kind::Number, &HierarchyChoice::Default, None, MissingRule::Category)
    }

    #[test]
    fn equal_numbers_share_a_leaf_and_the_shortest_text_represents_it() {
        let (domain, codes) = numbers(&["2.0", "10", "2", "1e1", "-3"]).unwrap();
        assert_eq!(codes, [1, 2, 1, 2, 0]);
        assert_eq!(domain.label(domain.cover(0, 2)), "[-3, 10]");
        assert_eq!(domain.label(domain.cover(1, 1)), "2");
    }

    #[test]
    fn numbers_that_are_the_same_float_are_refused() {
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
        let tree = file::parse("a;*\nb;*").unwrap();
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
        let tree = file::parse("a;x;*\n?;x;*\nb;y;*").unwrap();
        let (domain, codes) =
            bind(&["a", "?"], Kind::Category, &HierarchyChoice::Default, Some(&tree), MissingRule::Category).unwrap();
        assert_eq!(codes, [0, 1]);
        assert_eq!(domain.label(domain.cover(0, 1)), "x");
    }

    #[test]
    fn a_file_over_numbers_is_put_in_order_and_must_be_intervals() {
        let tree = file::parse("30;old;*\n1;young;*\n2;young;*\n40;old;*").unwrap();
        let with = |tree: &Tree, values: &[&str]| {
            bind(values, Kind::Number, &HierarchyChoice::Default, Some(tree), MissingRule::Error)
        };
        let (domain, codes) = with(&tree, &["30", "1", "40"]).unwrap();
        assert_eq!(codes, [1, 0, 2]);
        assert_eq!(domain.label(domain.cover(1, 2)), "old");
        assert!((domain.ncp(domain.cover(1, 2)) - 10.0 / 39.0).abs() < 1e-12);
        let gap = file::parse("1;a;*\n2;b;*\n3;a;*").unwrap();
        let error = with(&gap, &["1"]).unwrap_err();
        assert_eq!(error.problem, DomainProblem::NotAnInterval { label: "a".into() });
        let error = with(&tree, &["1", "5"]).unwrap_err();
        assert_eq!(error.problem, DomainProblem::NotInHierarchy { value: "5".into() });
        let group = file::parse("7.0;7;*\n8.0;7;*\n9.0;9.0;*").unwrap();
        assert!(with(&group, &["7.0", "8"]).is_ok());
        assert_eq!(with(&group, &["7", "8"]).unwrap_err().problem, DomainProblem::LabelOfGroup { value: "7".into() });
        let twice = file::parse("1;a;*\n2;b;*\n1.0;b;*").unwrap();
        assert_eq!(with(&twice, &["1"]).unwrap_err().problem, DomainProblem::LeafTwice { value: "1.0".into() });
    }

    #[test]
    fn numbers_directly_under_the_root_of_a_file_stay_there() {
        let tree = file::parse("1;1;*\n2;2;*\n3;high;*\n4;high;*").unwrap();
        let (domain, _) =
            bind(&["1", "2", "4"], Kind::Number, &HierarchyChoice::Default, Some(&tree), MissingRule::Error).unwrap();
        assert_eq!(domain.label(domain.cover(0, 1)), "*");
        assert_eq!(domain.label(domain.cover(2, 2)), "4");
    }

    #[test]
    fn labels_that_are_intervals_contain_their_values() {
        let bind = |label: &str| {
            let tree = file::parse(&format!("20;\"{label}\";*\n29.5;\"{label}\";*\n90;old;*")).unwrap();
            bind(&["20", "29.5"], Kind::Number, &HierarchyChoice::Default, Some(&tree), MissingRule::Error).map(|_| ())
        };
        for label in ["[20, 30[", "[20, 29.5]", "]19,30]", "<30", ">=20", "20-25", "up to 30", "[20, b["] {
            assert_eq!(bind(label), Ok(()), "{label}");
        }
        for label in ["[20, 29.5[", "]20, 30]", "<29.5", ">20", "[20, 25]"] {
            let error = bind(label).unwrap_err();
            assert!(matches!(error.problem, DomainProblem::NotContained { .. }), "{label}: {error}");
        }
    }

    #[test]
    fn a_file_over_numbers_may_be_as_deep_as_it_is_long() {
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

    fn dates(values: &[&str], choice: &HierarchyChoice) -> Result<(Domain, Vec<u32>), DomainError> {
        bind(values, Kind::Date, choice, None, MissingRule::Category)
    }

    #[test]
    fn dates_are_in_order_and_the_same_instant_is_one_value() {
        let values = ["1985-01-02", "1984-03-31", "1984-03-31T00:00", "", "1984-12-31"];
        let (domain, codes) = dates(&values, &HierarchyChoice::Dates(DateLevel::ALL.to_vec())).unwrap();
        assert_eq!(codes, [2, 0, 0, 3, 1]);
        assert_eq!(domain.label(domain.cover(0, 0)), "1984-03-31");
        assert_eq!(domain.label(domain.cover(0, 1)), "1984");
        assert_eq!(domain.label(domain.cover(0, 2)), "1980s");
        assert_eq!(domain.label(domain.cover(0, 3)), "*");
        assert!((domain.ncp(domain.cover(0, 1)) - 275.0 / 277.0).abs() < 1e-12);
        for free in [HierarchyChoice::Free, HierarchyChoice::Default] {
            let (domain, _) = dates(&values, &free).unwrap();
            assert_eq!(domain.label(domain.cover(0, 1)), "[1984-03-31, 1984-12-31]");
        }
        let (domain, _) = dates(&values, &HierarchyChoice::Dates(vec![DateLevel::Month])).unwrap();
        assert_eq!(domain.label(domain.cover(0, 1)), "*");
    }

    #[test]
    fn what_is_no_date_is_named_with_what_would_be() {
        let error = dates(&["1984-03-31", "31.03.1984"], &HierarchyChoice::Default).unwrap_err();
        assert_eq!(
            error.to_string(),
            "column `c`, record 2: `31.03.1984` is not a date written like 1984-03-31 or 1984-03-31T12:30, or there is no \
             such day; correct it, list this text under `missing` in `[input]` if it stands for a missing value, or set \
             the date format: `format = \"%d.%m.%Y\"`"
        );
        let same = ["1984-03-31T00:00:00.0000001", "1984-03-31T00:00:00.00000011"];
        let error = dates(&same, &HierarchyChoice::Default).unwrap_err();
        assert!(matches!(error.problem, DomainProblem::TooManyDigits { .. }), "{error}");
    }

    #[test]
    fn a_file_over_dates_is_put_in_order() {
        let tree = file::parse("1984-03-31;lent;*\n1983-12-24;xmas;*\n1983-12-25;xmas;*").unwrap();
        let values = ["1984-03-31", "1983-12-25", "1983-12-24"];
        let with =
            |tree| bind(&values, Kind::Date, &HierarchyChoice::File("f.csv".into()), Some(tree), MissingRule::Error);
        let (domain, codes) = with(&tree).unwrap();
        assert_eq!(codes, [2, 1, 0]);
        assert_eq!(domain.label(domain.cover(0, 1)), "xmas");
        // An upper end without a time of day includes the whole day.
        let times = |label: &str| {
            let tree = file::parse(&format!("1984-12-31T12:30;{label};*\n1984-01-01;{label};*")).unwrap();
            let choice = HierarchyChoice::File("f.csv".into());
            bind(&["1984-12-31T12:30", "1984-01-01"], Kind::Date, &choice, Some(&tree), MissingRule::Error).is_ok()
        };
        let labels = ["[1984-01-01, 1984-12-31]", "[1984-01-01, 1984-12-31)", "[1984-01-01, 1984-12-31T12:00]"];
        assert_eq!(labels.map(times), [true, false, false]);
        let error = with(&file::parse("Easter;*").unwrap()).unwrap_err();
        assert!(error.to_string().starts_with("column `c`, hierarchy: `Easter` is not a date"), "{error}");
    }

    #[test]
    fn codes_are_cut_and_a_code_that_ends_in_a_star_is_refused() {
        let choice = HierarchyChoice::Prefix(vec![2, 1]);
        let codes = |values: &[&str]| bind(values, Kind::Category, &choice, None, MissingRule::Category);
        let (domain, found) = codes(&["211", "12", "129", "?", "128"]).unwrap();
        assert_eq!(found, [3, 0, 2, 4, 1]);
        assert_eq!(domain.label(domain.cover(1, 2)), "12*");
        assert_eq!(domain.label(domain.cover(0, 2)), "1*");
        assert_eq!(domain.label(domain.cover(4, 4)), "?");
        let error = codes(&["211", "12*"]).unwrap_err();
        assert_eq!((error.record, error.problem), (Some(2), DomainProblem::CutAlready { value: "12*".into() }));
    }

    #[test]
    fn penalties_of_a_taxonomy() {
        // Seven leaves: two whose common ancestor covers six cost 6/7, two under the root cost 1 (spec 4).
        let tree = file::parse("a;x;*\nb;x;*\nc;x;*\nd;x;*\ne;x;*\nf;x;*\ng;y;*").unwrap();
        let (domain, _) =
            bind(&["a"], Kind::Category, &HierarchyChoice::Default, Some(&tree), MissingRule::Error).unwrap();
        assert_eq!(domain.ncp(domain.cover(0, 5)), 6.0 / 7.0);
        assert_eq!(domain.ncp(domain.cover(4, 6)), 1.0);
        assert_eq!(domain.ncp(domain.cover(3, 3)), 0.0);
        assert_eq!(domain.lm(domain.cover(0, 5)), 5.0 / 6.0);
    }
}

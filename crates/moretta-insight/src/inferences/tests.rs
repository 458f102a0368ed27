//! The paper's bank, and a naive reference: plain maps over texts.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use moretta_core::{hierarchy::Hierarchies, policy::Policy, profile::Profile, testing::counts};
use proptest::prelude::*;

use super::{Inferences, Question, THRESHOLDS, Tally, find};

/// Bank customers of Wang, Fung, Yu (2007).
const BANK: &[(&str, u64)] = &[
    ("Cook,US,No,Current", 4),
    ("Artist,France,No,Current", 4),
    ("Doctor,US,Yes,Never", 6),
    ("Trader,UK,No,Discharged", 4),
    ("Trader,UK,No,Never", 1),
    ("Trader,Canada,No,Never", 1),
    ("Clerk,Canada,No,Never", 3),
    ("Clerk,Canada,No,Discharged", 1),
];
const BANK_COLUMNS: &str = "version = 1\n[columns]\njob.role = \"quasi-identifier\"\ncountry.role = \"quasi-identifier\"\n\
                            child.role = \"quasi-identifier\"\nbankruptcy.role = \"sensitive\"\n";

struct BoundTable {
    policy: Policy,
    profile: Profile,
    questions: Vec<Question>,
}

impl BoundTable {
    /// `None` if the templates do not fit the table.
    fn bind(policy: &str, rows: &[(&str, u64)]) -> Option<Self> {
        let policy = Policy::parse(policy, &moretta_core::search::method_names()).expect("a policy");
        let profile = Profile::of_release(&policy, &Hierarchies::default(), &counts(&policy, rows)).expect("a table");
        let questions = Question::of_policy(&policy, &profile).ok()?;
        Some(Self { policy, profile, questions })
    }

    fn bank(privacy: &str) -> Self {
        Self::bind(&format!("{BANK_COLUMNS}{privacy}"), BANK).expect("templates that fit the table")
    }

    fn find(&self, above: f64) -> Inferences {
        find(&self.profile, &self.questions, above, None)
    }

    /// The listed inferences, as texts.
    fn listed(&self, found: &Inferences) -> Vec<TextInference> {
        let as_texts = |inference: &super::Inference| {
            let question = &self.questions[inference.question];
            let codes = self.profile.codes(inference.tuple);
            let text = |column: &moretta_core::ids::ColumnId| {
                let known = &self.profile.columns()[column.index()];
                (known.name.clone(), known.domain.text(codes[column.index()]).to_owned())
            };
            let attribute = &self.profile.attributes()[question.attribute.index()];
            TextInference {
                given: question.known[inference.set].iter().map(text).collect(),
                inferred: (attribute.name.clone(), attribute.values[inference.value as usize].to_string()),
                support: inference.support,
                records: inference.records,
                exceeds_limit: inference.exceeds_limit(),
            }
        };
        found.listed.iter().map(as_texts).collect()
    }
}

/// An inference as texts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct TextInference {
    given: Vec<(String, String)>,
    inferred: (String, String),
    support: u64,
    records: u64,
    exceeds_limit: bool,
}

fn template(given: &str, rest: &str) -> String {
    format!("[[privacy.template]]\ngiven = [{given}]\ncolumn = \"bankruptcy\"\n{rest}\n")
}

#[test]
fn the_banks_traders_are_found_out() {
    let table = BoundTable::bank(&template("\"country\", \"job\"", "values = [\"Discharged\"]\nmax-confidence = 0.75"));
    let found = table.find(0.2);
    let listed = table.listed(&found);
    let pair =
        |job: &str, country: &str| vec![("job".to_owned(), job.to_owned()), ("country".to_owned(), country.to_owned())];
    assert_eq!(listed.len(), 2);
    assert_eq!((&listed[0].given, listed[0].support, listed[0].records), (&pair("Trader", "UK"), 4, 5));
    assert_eq!((&listed[1].given, listed[1].support, listed[1].records), (&pair("Clerk", "Canada"), 1, 4));
    assert_eq!((listed[0].exceeds_limit, listed[1].exceeds_limit), (true, false));
    let tally = |inferences, records| Tally { inferences, records };
    assert_eq!(found.all.above, [tally(2, 5), tally(1, 4), tally(1, 4), tally(1, 4), tally(0, 0)]);
    assert_eq!((found.all.listed, found.all.above_limit), (tally(2, 5), tally(1, 4)));
}

#[test]
fn a_threshold_itself_is_not_above_it() {
    let table = BoundTable::bank(&template("\"job\", \"country\"", "values = [\"Discharged\"]\nmax-confidence = 0.8"));
    assert_eq!(table.find(0.8).listed, []);
    assert_eq!(table.find(0.25).listed.len(), 1);
    assert_eq!(table.find(0.0).all.above_limit, Tally::default());
}

#[test]
fn templates_that_say_the_same_count_once_and_the_strictest_decides() {
    let twice = template("\"job\", \"country\"", "values = [\"Discharged\", \"Never\"]\nmax-confidence = 0.9")
        + &template("\"country\", \"job\"", "values = [\"Discharged\"]\nmax-confidence = 0.1")
        + &template("\"job\"", "values = [\"Discharged\"]\nmax-confidence = 0.9");
    let table = BoundTable::bank(&twice);
    assert_eq!(table.questions.len(), 2);
    let found = table.find(0.0);
    // Never: doctors, traders in the UK and in Canada, clerks. Discharged: traders in the UK, clerks; by job the same.
    assert_eq!(found.by_question.iter().map(|of| of.listed.inferences).collect::<Vec<_>>(), [6, 2]);
    assert_eq!((found.all.listed.inferences, found.all.listed.records), (8, 16), "a record counts once");
    // Broken: both of Discharged at 10 %, and of Never the doctors and the trader in Canada.
    assert_eq!((found.all.above_limit.inferences, found.all.above_limit.records), (4, 12));
}

#[test]
fn without_templates_every_value_of_every_sensitive_column_is_asked_for() {
    let table = BoundTable::bank("[privacy]\nk = 2\n");
    let found = table.find(0.0);
    assert_eq!((table.questions.len(), table.questions[0].values.len()), (1, 3));
    assert_eq!((found.listed.len(), found.all.listed.records), (8, 24));
    assert_eq!(found.all.above_limit, Tally::default());
}

#[test]
fn lkc_asks_about_every_set_of_columns() {
    let table = BoundTable::bank("[privacy.lkc]\nl = 2\nk = 2\nc = 0.75\n");
    assert_eq!((table.questions.len(), table.questions[0].known.len()), (1, 3));
    let found = table.find(0.75);
    let listed = table.listed(&found);
    assert!(listed.iter().all(|found| found.given.len() == 2 && found.exceeds_limit), "{listed:?}");
    let discharged: Vec<&TextInference> = listed.iter().filter(|found| found.inferred.1 == "Discharged").collect();
    // Trader and UK; job and child say the same of less, and UK and No the same of the same five.
    let known: Vec<[&str; 2]> = discharged.iter().map(|found| [&*found.given[0].1, &*found.given[1].1]).collect();
    assert_eq!(known, [["Trader", "UK"], ["UK", "No"]]);
    assert_eq!((found.all.above_limit, found.by_question[0].above_limit), (found.all.listed, found.all.listed));
    // All but one discharged clerk and one trader of the UK who never was.
    assert_eq!(found.all.above_limit.records, 4 + 4 + 6 + 4 + 1 + 3);
}

#[test]
fn what_a_template_and_lkc_both_ask_counts_once_under_the_stricter_limit() {
    let template = template("\"job\", \"country\"", "values = [\"Discharged\"]\nmax-confidence = 0.2");
    let with = |l: u64| BoundTable::bank(&format!("{template}[privacy.lkc]\nl = {l}\nk = 2\nc = 0.9\n"));
    assert_eq!(with(9).find(0.0).all.listed.inferences, 2 + 8, "two for the pair, eight for all three columns");
    let table = with(2);
    let mut listed = table.listed(&table.find(0.0));
    listed
        .retain(|found| found.inferred.1 == "Discharged" && found.given[0].0 == "job" && found.given[1].0 == "country");
    assert_eq!(
        listed.iter().map(|found| (found.support, found.exceeds_limit)).collect::<Vec<_>>(),
        [(4, true), (1, true)]
    );
}

/// The naive reference: single records and maps over texts.
struct Naive {
    header: Vec<String>,
    records: Vec<Vec<String>>,
}

impl Naive {
    /// All texts of a missing value in a sensitive column become one: the most frequent, or the first in order.
    fn new(table: &BoundTable, rows: &[(&str, u64)]) -> Self {
        let header = Profile::grouped_columns(&table.policy);
        let record = |text: &str| text.split(',').map(str::to_owned).collect::<Vec<String>>();
        let mut records: Vec<Vec<String>> =
            rows.iter().flat_map(|&(text, times)| (0..times).map(move |_| record(text))).collect();
        let first = table.policy.quasi_identifiers().count();
        for column in first..header.len() {
            let missing = |text: &str| text.is_empty() || text == "?";
            let records_of = |text: &str| records.iter().filter(|record| record[column] == text).count();
            let texts = ["", "?"].map(|text| (Reverse(records_of(text)), text));
            let representative = texts.iter().min().map(|(_, text)| (*text).to_owned());
            for record in &mut records {
                if missing(&record[column]) {
                    record[column] = representative.clone().expect("two texts");
                }
            }
        }
        Self { header, records }
    }

    fn cell<'a>(&self, record: &'a [String], name: &str) -> &'a str {
        &record[self.header.iter().position(|other| other == name).expect("a column")]
    }

    fn rarest(&self, column: &str, share: f64) -> BTreeSet<String> {
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        self.records.iter().for_each(|record| *counts.entry(self.cell(record, column)).or_default() += 1);
        let mut sorted: Vec<(u64, &str)> = counts.into_iter().map(|(text, count)| (count, text)).collect();
        sorted.sort_unstable();
        let half = (share * sorted.len() as f64) as usize;
        sorted[..half].iter().map(|(_, text)| (*text).to_owned()).collect()
    }

    /// Every inference for known columns and guarded values with their limits, and the records that support it.
    fn ask(&self, given: &[&str], column: &str, values: &BTreeMap<String, f64>) -> Vec<(TextInference, Vec<usize>)> {
        let mut groups: BTreeMap<Vec<(String, String)>, Vec<usize>> = BTreeMap::new();
        for (index, record) in self.records.iter().enumerate() {
            let known = |name: &&str| ((*name).to_owned(), self.cell(record, name).to_owned());
            groups.entry(given.iter().map(known).collect()).or_default().push(index);
        }
        let mut inferences = Vec::new();
        for (given, members) in groups {
            for (value, limit) in values {
                let carries = |index: &&usize| self.cell(&self.records[**index], column) == value;
                let carriers: Vec<usize> = members.iter().filter(carries).copied().collect();
                if carriers.is_empty() {
                    continue;
                }
                let (support, records) = (carriers.len() as u64, members.len() as u64);
                let exceeds_limit = support as f64 > limit * records as f64 + 1e-9;
                let inferred = (column.to_owned(), value.clone());
                inferences.push((
                    TextInference { given: given.clone(), inferred, support, records, exceeds_limit },
                    carriers,
                ));
            }
        }
        inferences
    }
}

fn tally(inferences: &[(TextInference, Vec<usize>)], counts: impl Fn(&TextInference) -> bool) -> Tally {
    let counted: Vec<_> = inferences.iter().filter(|(found, _)| counts(found)).collect();
    let records: BTreeSet<usize> = counted.iter().flat_map(|(_, carriers)| carriers).copied().collect();
    Tally { inferences: counted.len() as u64, records: records.len() as u64 }
}

/// In whole numbers, to avoid rounding.
fn is_above(found: &TextInference, tenths: u64) -> bool {
    10 * found.support > tenths * found.records
}

const GIVEN: [&[&str]; 4] = [&["a"], &["a", "b"], &["b", "c"], &["a", "b", "c"]];
const VALUES: [&str; 5] =
    ["values = [\"p\"]", "values = [\"q\", \"r\"]", "values = [\"?\"]", "rarest = 0.5", "rarest = 1.0"];
const COLUMNS: &str = "version = 1\n[columns]\na.role = \"quasi-identifier\"\nb.role = \"quasi-identifier\"\n\
                       c.role = \"quasi-identifier\"\ns = { role = \"sensitive\", missing = \"category\" }\n\
                       t = { role = \"sensitive\", missing = \"category\" }\n[privacy]\nk = 2\n";

/// A random template: index in [`GIVEN`], column, index in [`VALUES`], limit in tenths.
type DrawnTemplate = (usize, &'static str, usize, u64);
/// LKC-privacy: number of known columns, and maximum confidence in tenths.
type AnyColumns = Option<(usize, u64)>;
/// For known columns and a sensitive column, the strictest limit of each guarded value.
type LimitsByQuestion = BTreeMap<(&'static [&'static str], &'static str), BTreeMap<String, f64>>;

/// All sets of one, two and three of the three columns.
const SETS: [&[&[&str]]; 3] =
    [&[&["a"], &["b"], &["c"]], &[&["a", "b"], &["a", "c"], &["b", "c"]], &[&["a", "b", "c"]]];

fn policy(templates: &[DrawnTemplate], any: AnyColumns) -> String {
    let template = |&(given, column, values, limit): &DrawnTemplate| {
        let (given, values, limit) = (GIVEN[given], VALUES[values], limit as f64 / 10.0);
        format!(
            "[[privacy.template]]\ngiven = {given:?}\ncolumn = \"{column}\"\n{values}\nmax-confidence = {limit:.1}\n"
        )
    };
    let lkc = any.map(|(l, c)| format!("[privacy.lkc]\nl = {l}\nk = 2\nc = {:.1}\n", c as f64 / 10.0));
    COLUMNS.to_owned() + &templates.iter().map(template).collect::<String>() + &lkc.unwrap_or_default()
}

fn limits_of_templates(naive: &Naive, templates: &[DrawnTemplate]) -> LimitsByQuestion {
    let mut limits = LimitsByQuestion::new();
    for &(given, column, values, limit) in templates {
        let all = naive.rarest(column, 1.0);
        let values: Vec<String> = match values {
            0 => vec!["p".to_owned()],
            1 => vec!["q".to_owned(), "r".to_owned()],
            2 => all.into_iter().filter(|text| text.is_empty() || text == "?").collect(),
            3 => naive.rarest(column, 0.5).into_iter().collect(),
            _ => all.into_iter().collect(),
        };
        let guarded = limits.entry((GIVEN[given], column)).or_default();
        for value in values {
            let strictest = guarded.entry(value).or_insert(1.0);
            *strictest = strictest.min(limit as f64 / 10.0);
        }
    }
    limits
}

/// Every value of each sensitive column with the same limit.
fn limits_of_all(naive: &Naive, sets: &[&'static [&'static str]], limit: f64) -> LimitsByQuestion {
    let values = |column| naive.rarest(column, 1.0).into_iter().map(|value| (value, limit)).collect();
    sets.iter().flat_map(|given| ["s", "t"].map(|column| ((*given, column), values(column)))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn the_reference_finds_the_same(
        rows in prop::collection::vec((0..4usize, 0..3usize, 0..3usize, 0..5usize, 0..4usize, 1..4u64), 1..30),
        templates in prop::collection::vec((0..4usize, prop::sample::select(vec!["s", "t"]), 0..5usize, 1..=10u64), 0..5),
        any in prop::option::of((1..5usize, 1..=10u64)),
        tenths in 0..10u64,
    ) {
        let (known, sensitive) = (["x", "y", "*", ""], ["p", "q", "r", "?", ""]);
        let texts: Vec<(String, u64)> = rows.iter().map(|&(a, b, c, s, t, times)| {
            (format!("{},{},{},{},{}", known[a], known[b], known[c], sensitive[s], sensitive[t]), times)
        }).collect();
        let rows: Vec<(&str, u64)> = texts.iter().map(|(text, times)| (text.as_str(), *times)).collect();
        // `rarest = 0.5` of a single value selects none: the policy is refused.
        let Some(table) = BoundTable::bind(&policy(&templates, any), &rows) else { return Ok(()) };
        let naive = Naive::new(&table, &rows);
        let of_templates = limits_of_templates(&naive, &templates);
        let of_all = match any {
            Some((l, c)) => limits_of_all(&naive, SETS[l.min(3) - 1], c as f64 / 10.0),
            None if templates.is_empty() => limits_of_all(&naive, SETS[2], f64::INFINITY),
            None => LimitsByQuestion::new(),
        };
        let mut limits = of_templates.clone();
        for (key, values) in &of_all {
            let guarded = limits.entry(*key).or_default();
            for (value, limit) in values {
                let strictest = guarded.entry(value.clone()).or_insert(f64::INFINITY);
                *strictest = strictest.min(*limit);
            }
        }
        let inferences: Vec<(TextInference, Vec<usize>)> =
            limits.iter().flat_map(|((given, column), values)| naive.ask(given, column, values)).collect();

        let found = table.find(tenths as f64 / 10.0);
        let mut listed = table.listed(&found);
        let share = |found: &TextInference| found.support as f64 / found.records as f64;
        prop_assert!(listed.is_sorted_by(|a, b| (share(a), a.support) >= (share(b), b.support)));
        let mut expected: Vec<TextInference> =
            inferences.iter().map(|(found, _)| found).filter(|found| is_above(found, tenths)).cloned().collect();
        listed.sort();
        expected.sort();
        prop_assert_eq!(listed, expected);
        for (threshold, above) in THRESHOLDS.iter().zip(found.all.above) {
            let tenths = (threshold * 10.0).round() as u64;
            prop_assert_eq!(above, tally(&inferences, |found| is_above(found, tenths)));
        }
        prop_assert_eq!(found.all.listed, tally(&inferences, |found| is_above(found, tenths)));
        prop_assert_eq!(found.all.above_limit, tally(&inferences, |found| found.exceeds_limit));
        let shorter = find(&table.profile, &table.questions, tenths as f64 / 10.0, Some(3));
        prop_assert_eq!(&shorter.listed[..], &found.listed[..found.listed.len().min(3)]);
        prop_assert_eq!((shorter.all, &shorter.by_question), (found.all, &found.by_question));
        prop_assert_eq!(table.questions.len(), of_templates.len() + if of_all.is_empty() { 0 } else { 2 });
        for (index, (question, of)) in table.questions.iter().zip(&found.by_question).enumerate() {
            let column = &table.profile.attributes()[question.attribute.index()].name;
            let limits = if index < of_templates.len() { &of_templates } else { &of_all };
            let mut own = Vec::new();
            for known in &question.known {
                let given: Vec<&str> = known.iter().map(|c| &*table.profile.columns()[c.index()].name).collect();
                own.extend(naive.ask(&given, column, &limits[&(&given[..], &**column)]));
            }
            prop_assert_eq!(of.listed, tally(&own, |found| is_above(found, tenths)));
            prop_assert_eq!(of.above_limit, tally(&own, |found| found.exceeds_limit));
        }
    }
}

//! Reading of a complete policy, the round trip through JSON, and robustness against arbitrary texts.

mod refused;

use proptest::prelude::*;

use std::sync::Arc;

use super::*;
use crate::{
    hierarchy::{
        HierarchyChoice,
        numeric::{Builder, Built},
    },
    objective::{Costs, Dispersion, LossMetric, ObjectiveKind},
    privacy::{Distance, KAnonymity, LDiversity, LDiversityKind, TCloseness, Template, TemplateValues},
    schema::{Kind, MissingRule, Role},
};

/// Every section and most keys. Other tests replace single lines of it.
const POLICY: &str = include_str!("policy.toml");
const METHODS: &[&str] = &["best", "bottom-up-generalization", "k-member", "mondrian"];

fn parse(text: &str) -> Result<Policy, PolicyError> {
    Policy::parse(text, METHODS)
}

/// The policy with one line (from 1) replaced.
fn with_line(line: usize, replacement: &str) -> String {
    let mut lines: Vec<&str> = POLICY.lines().collect();
    lines[line - 1] = replacement;
    lines.join("\n")
}

fn names<'p>(columns: impl Iterator<Item = &'p ColumnPolicy>) -> Vec<&'p str> {
    columns.map(|column| column.name.as_str()).collect()
}

#[test]
fn the_whole_policy_is_read() {
    let policy = parse(POLICY).unwrap();
    let text = |text: &str| text.to_owned();
    let template = Template {
        given: vec![text("job"), text("country")],
        column: text("bankruptcy"),
        values: TemplateValues::Listed(vec![text("Discharged")]),
        max_confidence: 0.75,
    };
    let privacy = Privacy {
        max_suppressed: 0.02,
        models: vec![
            Arc::new(KAnonymity { k: 10 }),
            Arc::new(template),
            Arc::new(LDiversity { column: text("diagnosis"), l: 3.0, kind: LDiversityKind::Distinct }),
            Arc::new(TCloseness { column: text("income"), t: 0.2, distance: Distance::Ordered }),
        ],
    };
    assert_eq!(policy.version, 1);
    assert_eq!(policy.privacy, privacy);
    assert_eq!(policy.method, MethodChoice::new("mondrian", toml::Table::new()));
    let age = ColumnPolicy {
        name: text("age"),
        role: Role::QuasiIdentifier,
        kind: Some(Kind::Number),
        format: None,
        hierarchy: HierarchyChoice::File(text("age.csv")),
        weight: 2.0,
        missing: MissingRule::Category,
        missing_texts: Vec::new(),
        fold: true,
    };
    assert_eq!(policy.columns[0], age);
    assert_eq!(policy.column("zip").unwrap().hierarchy, HierarchyChoice::Widths(vec![5.into(), 10.into(), 20.into()]));
    let job = ColumnPolicy {
        name: text("job"),
        role: Role::QuasiIdentifier,
        kind: None,
        format: None,
        hierarchy: HierarchyChoice::Default,
        weight: 1.0,
        missing: MissingRule::Error,
        missing_texts: Vec::new(),
        fold: true,
    };
    assert_eq!(policy.column("job"), Some(&job));
    assert_eq!(policy.column("nobody"), None);
    assert_eq!(policy.release, ReleaseOptions::default());
    let input =
        InputOptions { delimiter: Some(';'), quote: '\'', missing: vec![text("NA")], ..InputOptions::default() };
    assert_eq!(policy.input, input);
}

#[test]
fn columns_keep_the_order_of_the_file() {
    let policy = parse(POLICY).unwrap();
    assert_eq!(names(policy.quasi_identifiers()), ["age", "job", "country", "zip"]);
    assert_eq!(names(policy.attributes()), ["bankruptcy", "diagnosis", "income"]);
    assert_eq!(policy.class().map(|column| column.name.as_str()), Some("income"));
    assert_eq!(names(policy.dropped()), ["name"]);

    let text = "version = 1\nprivacy.k = 2\n[columns.b.hierarchy]\nwidths = [1]\n[columns.a]\nrole = \"class\"\n\
                [columns.b]\nrole = \"quasi-identifier\"";
    assert_eq!(names(parse(text).unwrap().columns.iter()), ["b", "a"], "b is named first, without its header");
}

#[test]
fn defaults_are_filled_in() {
    let policy = parse("version = 1\nprivacy.k = 2\ncolumns.a.role = \"quasi-identifier\"").unwrap();
    assert_eq!(policy.privacy, Privacy { models: vec![Arc::new(KAnonymity { k: 2 })], ..Privacy::default() });
    assert_eq!(policy.method, MethodChoice::new("best", toml::Table::new()));
    assert_eq!(policy.release, ReleaseOptions::default());
    let input = InputOptions { missing: vec![String::new(), "?".to_owned()], ..InputOptions::default() };
    assert_eq!(policy.input, input);
}

#[test]
fn the_other_choices_are_read() {
    for (line, replacement) in [
        (3, "k = 1"),
        (3, "k = 0x10"),
        (4, "max-suppressed = 1"),
        (8, "rarest = 0.5"),
        (9, "max-confidence = 1"),
        (13, "kind = \"entropy\""),
        (13, "kind = \"recursive\"\nc = 2"),
        (13, ""),
        (14, "[privacy.lkc]\nl = 2\nk = 1\nc = 0.6\n[[privacy.t-closeness]]"),
        (14, "[privacy.lkc]\nl = 99\nk = 5\nc = 1\n[[privacy.t-closeness]]"),
        (12, "l = 3.0"),
        (16, "t = 0"),
        (17, "distance = \"hierarchical\""),
        (19, "name = \"k-member\"\nstart = \"random\""),
        (20, "[measure]\nname = \"ncp\""),
        (20, "[measure]\nname = \"lm\""),
        (1, "version = 1\nmeasure.name = \"lm\""),
        (20, "[measure]\nname = \"lm\"\nweight = 1000000"),
        (20, "[[measure]]\nname = \"lm\""),
        (20, "[measure]\nname = \"cm\""),
        (20, "[measure]\nname = \"cm\"\ncosts = {}"),
        (
            20,
            "[measure]\nname = \"cm\"\ncolumn = \"diagnosis\"\ncosts.'>50K'.'<=50K' = 5\ncosts.a = { b = 0, c = 0.5 }",
        ),
        (20, "[measure]\nname = \"rm\""),
        (20, "[measure]\nname = \"rm\"\ncolumn = \"diagnosis\"\ndispersion = \"deviation\""),
        (20, "[[measure]]\nname = \"rm\"\n[[measure]]\nname = \"rm\"\ndispersion = \"deviation\"\nweight = 0.25"),
        (20, "[[measure]]\nname = \"ncp\"\n[[measure]]\nname = \"cm\"\nweight = 3\n[[measure]]\nname = \"lm\""),
        (34, "role = \"class\""),
        (34, "role = \"class\"\nfold = false"),
        (34, "role = \"sensitive\"\nfold = true"),
        (23, "hierarchy = { bins = [-9223372036854775808, 9007199254740993, 9223372036854775807] }"),
        (23, "hierarchy = \"free\""),
        (23, "hierarchy = { bins = [-1.5, 0, 1e3] }"),
        (23, "hierarchy = { widths = [0.1, 0.3, 0.9] }"),
        (23, "hierarchy = \"../hierarchies/ages\""),
        (23, "hierarchy.widths = [7]"),
        (23, "hierarchy = \"iotf\""),
        (23, "hierarchy = \"equal-frequency\""),
        (23, "hierarchy = { method = \"otf\", levels = 6 }"),
        (23, "hierarchy = { method = \"chu\", threshold = 3 }"),
        (23, "hierarchy = { method = \"han\", fan-out = 2, threshold = 1, levels = 2 }"),
        (23, "hierarchy = { method = \"equal-width\", parts = [12, 6, 3] }"),
        (39, "hierarchy = { prefix = [5, 3, 2] }"),
        (39, "type = \"category\"\nhierarchy = { prefix = [1] }"),
        (39, "type = \"date\""),
        (39, "type = \"date\"\nhierarchy = \"free\""),
        (39, "type = \"date\"\nhierarchy = \"chu\""),
        (39, "type = \"date\"\nhierarchy = \"zip.csv\""),
        (39, "format = \"%d.%m.%Y\""),
        (39, "hierarchy = { dates = [\"month\", \"year\"] }"),
        (39, "hierarchy = { dates = [\"day\", \"month\", \"quarter\", \"year\", \"decade\"] }\nformat = \"%F\""),
        (34, "role = \"sensitive\"\ntype = \"date\"\nformat = \"%d.%m.%Y\""),
        (25, "missing = \"suppress\""),
        (34, "role = \"sensitive\"\ntype = \"category\"\nhierarchy = \"diagnosis.csv\"\nmissing = \"category\""),
        (44, "labels = \"set\"\nnumbers = \"midpoint\"\norder = \"input\""),
        (46, "delimiter = \"\\t\""),
        (47, "missing = []"),
        (47, "population = 1"),
        (47, "population = 9_000_000_000"),
    ] {
        let policy = parse(&with_line(line, replacement)).unwrap_or_else(|error| panic!("{replacement}: {error}"));
        assert_eq!(through_json(&policy), policy, "{replacement}");
    }
}

#[test]
fn a_measure_is_the_one_that_is_named() {
    let objectives = |lines: &str| parse(&with_line(20, lines)).unwrap().objectives().to_vec();
    assert_eq!(objectives("[measure]\nname = \"lm\""), [Objective::precision(LossMetric::Lm)]);
    assert_eq!(objectives("[measure]\nname = \"ncp\""), [Objective::precision(LossMetric::Ncp)]);
    assert_eq!(objectives(""), []);
    let costs = [("sick", "well", 5.0), ("well", "sick", 0.0)];
    let costs = costs.map(|(own, called, cost)| (own.to_owned(), [(called.to_owned(), cost)].into()));
    let several = "[[measure]]\nname = \"cm\"\nweight = 2\ncosts = { sick.well = 5, well.sick = 0 }\n\
                   [[measure]]\nname = \"rm\"\ncolumn = \"diagnosis\"\ndispersion = \"deviation\"";
    let expected = [
        Objective { kind: ObjectiveKind::Classification { column: None, costs: Costs(costs.into()) }, weight: 2.0 },
        Objective {
            kind: ObjectiveKind::Regression { column: Some("diagnosis".to_owned()), dispersion: Dispersion::Deviation },
            weight: 1.0,
        },
    ];
    assert_eq!(objectives(several), expected);
}

#[test]
fn a_measure_is_written_as_it_is_read() {
    let json = |lines: &str| serde_json::to_value(parse(&with_line(20, lines)).unwrap()).unwrap();
    assert_eq!(json("").get("measure"), None, "the method knows what is usual");
    let one = serde_json::json!({"name": "lm"});
    assert_eq!(json("[measure]\nname = \"lm\"\nweight = 1")["measure"], one);
    assert_eq!(json("[[measure]]\nname = \"lm\"")["measure"], one, "one is one, however it is written");
    let rm = "name = \"rm\"\ndispersion = \"variance\"";
    assert_eq!(json(&format!("[measure]\n{rm}"))["measure"], serde_json::json!({"name": "rm"}));
    let several =
        format!("[[measure]]\nname = \"cm\"\ncolumn = \"income\"\ncosts.a.b = 5\n[[measure]]\n{rm}\nweight = 2");
    let expected = serde_json::json!([
        {"name": "cm", "column": "income", "costs": {"a": {"b": 5.0}}},
        {"name": "rm", "weight": 2.0}
    ]);
    assert_eq!(json(&several)["measure"], expected);
}

#[test]
fn of_several_classes_the_first_is_the_class() {
    let policy = parse(&with_line(34, "role = \"class\"")).unwrap();
    assert_eq!(policy.class().map(|column| column.name.as_str()), Some("diagnosis"));
    assert_eq!(names(policy.attributes()), ["bankruptcy", "diagnosis", "income"]);
}

#[test]
fn hierarchies_have_their_usual_parameters() {
    let zip = |hierarchy: &str| {
        let policy = parse(&with_line(39, &format!("hierarchy = {hierarchy}"))).unwrap();
        policy.column("zip").unwrap().clone()
    };
    let usual = vec![32, 16, 8, 4, 2];
    for (name, builder) in [
        ("iotf", Builder::Iotf),
        ("otf", Builder::Otf),
        ("chu", Builder::Chu { threshold: 2 }),
        ("han", Builder::Han { fan_out: 5, threshold: 4 }),
        ("equal-width", Builder::EqualWidth(usual.clone())),
        ("equal-frequency", Builder::EqualFrequency(usual)),
    ] {
        let built = HierarchyChoice::Built(Built { builder, levels: None });
        assert_eq!(zip(&format!("\"{name}\"")).hierarchy, built);
        assert_eq!(zip(&format!("{{ method = \"{name}\" }}")).hierarchy, built);
    }
    let json = |hierarchy| serde_json::to_value(zip(hierarchy).hierarchy).unwrap();
    let han = serde_json::json!({"method": "han", "fan-out": 5, "threshold": 3, "levels": 4});
    assert_eq!(json("{ method = \"han\", levels = 4, threshold = 3 }"), han);
    assert_eq!(json("{ prefix = [3, 2] }"), serde_json::json!({"prefix": [3, 2]}));
    assert_eq!(json("{ dates = [\"month\"] }"), serde_json::json!({"dates": ["month"]}));
    let kinds = ["\"iotf\"", "{ prefix = [3] }", "{ dates = [\"year\"] }"].map(|hierarchy| zip(hierarchy).kind);
    assert_eq!(kinds, [None, Some(Kind::Category), Some(Kind::Date)]);
}

#[test]
fn numbers_keep_their_fractions() {
    let text = with_line(13, "kind = \"entropy\"").replace("l = 3\n", "l = 2.5\n");
    let policy = parse(&text).unwrap();
    assert_eq!(policy.privacy.first::<LDiversity>().unwrap().l, 2.5);
    assert_eq!(through_json(&policy), policy);
}

fn through_json(policy: &Policy) -> Policy {
    let json = serde_json::to_string(policy).unwrap();
    serde_json::from_str(&json).unwrap_or_else(|error| panic!("{error}: {json}"))
}

#[test]
fn json_has_the_shape_of_the_file() {
    let json = serde_json::to_value(parse(POLICY).unwrap()).unwrap();
    let expected = serde_json::json!({
        "version": 1,
        "privacy": {
            "k": 10,
            "max-suppressed": 0.02,
            "template": [{
                "given": ["job", "country"],
                "column": "bankruptcy",
                "values": ["Discharged"],
                "max-confidence": 0.75
            }],
            "l-diversity": [{"column": "diagnosis", "l": 3, "kind": "distinct"}],
            "t-closeness": [{"column": "income", "t": 0.2, "distance": "ordered"}]
        },
        "method": {"name": "mondrian"},
        "columns": {
            "age": {
                "role": "quasi-identifier",
                "type": "number",
                "hierarchy": "age.csv",
                "weight": 2.0,
                "missing": "category"
            },
            "job": {"role": "quasi-identifier", "weight": 1.0, "missing": "error"},
            "country": {"role": "quasi-identifier", "weight": 1.0, "missing": "error"},
            "bankruptcy": {"role": "sensitive", "missing": "error"},
            "diagnosis": {"role": "sensitive", "missing": "error"},
            "income": {"role": "class", "missing": "error"},
            "zip": {
                "role": "quasi-identifier",
                "hierarchy": {"widths": [5.0, 10.0, 20.0]},
                "weight": 1.0,
                "missing": "error"
            },
            "name": {"role": "identifier"}
        },
        "release": {"labels": "node", "numbers": "interval", "order": "shuffled"},
        "input": {"delimiter": ";", "quote": "'", "missing": ["NA"]}
    });
    assert_eq!(serde_json::to_string_pretty(&json).unwrap(), serde_json::to_string_pretty(&expected).unwrap());
}

#[test]
fn json_is_checked_like_the_file() {
    let good = serde_json::to_value(parse(POLICY).unwrap()).unwrap();
    assert_eq!(serde_json::from_value::<Policy>(good.clone()).unwrap(), parse(POLICY).unwrap());
    for (path, value, expected) in [
        ("/privacy/k", serde_json::json!(0), "`k` is 0; it must be a whole number"),
        ("/privacy/k", serde_json::json!(null), "null"),
        ("/privacy/k", serde_json::json!(u64::MAX), "too many digits"),
        ("/columns/age/weight", serde_json::json!(1e300), "it must be a number from 0.000001"),
        ("/privacy/template/0/given/0", serde_json::json!("jbo"), "did you mean `job`?"),
        ("/release", serde_json::json!({"lables": "set"}), "did you mean `labels`?"),
        ("", serde_json::json!([1]), "a policy is a table"),
    ] {
        let mut bad = good.clone();
        *bad.pointer_mut(path).unwrap() = value;
        let error = serde_json::from_value::<Policy>(bad).unwrap_err().to_string();
        assert!(error.contains(expected), "{path}: {error}");
    }
    let twice = r#"{"version": 1, "version": 1}"#;
    assert!(serde_json::from_str::<Policy>(twice).unwrap_err().to_string().contains("`version` is set twice"));
}

#[test]
fn nested_text_does_not_exhaust_the_stack() {
    for text in [
        "[".repeat(100_000),
        format!("a = {}", "[".repeat(100_000)),
        format!("a = {}", "{a=".repeat(100_000)),
        format!("{}a = 1", "a.".repeat(100_000)),
        format!("[{}a]", "a.".repeat(100_000)),
        // Each bound of the parser alone, multiplied: tables in tables, each behind a long dotted key.
        format!("a = {}1{}", format!("{{{}a=", "a.".repeat(70)).repeat(70), "}".repeat(70)),
    ] {
        let error = parse(&text).unwrap_err();
        assert!(error.to_string().len() < 300, "{error}");
    }
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC{0,200}") {
        let _ = parse(&text).map_err(|error| (error.to_string(), error.line_column(&text)));
    }

    #[test]
    fn no_tokens_make_the_reader_panic(
        tokens in prop::collection::vec(prop::sample::select(TOKENS), 0..60)
    ) {
        let text = format!("version = 1\n{}", tokens.concat());
        let _ = parse(&text).map_err(|error| (error.to_string(), error.line_column(&text)));
    }

    #[test]
    fn no_mutation_makes_the_reader_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0_usize..12, prop::sample::select(TOKENS)), 1..6)
    ) {
        let mut text: Vec<char> = POLICY.chars().collect();
        for (at, removed, inserted) in changes {
            let at = at.index(text.len() + 1);
            let end = (at + removed).min(text.len());
            text.splice(at..end, inserted.chars());
        }
        let text: String = text.into_iter().collect();
        match parse(&text) {
            Ok(policy) => prop_assert_eq!(through_json(&policy), policy),
            Err(error) => {
                let (line, column) = error.line_column(&text).unwrap_or((1, 1));
                prop_assert!(line <= text.matches('\n').count() + 1 && column <= text.chars().count() + 1);
                prop_assert!(!error.to_string().contains('\n'), "{}", error);
            }
        }
    }
}

const TOKENS: &[&str] = &[
    "",
    "\n",
    " ",
    "=",
    " = ",
    "[",
    "]",
    "[[",
    "]]",
    "{",
    "}",
    ",",
    ".",
    "\"",
    "'",
    "\"\"\"",
    "#",
    "\\",
    "-",
    "0",
    "1",
    "2.5",
    "1e400",
    "-inf",
    "nan",
    "0x1F",
    "99999999999999999999",
    "true",
    "1979-05-27",
    "é",
    "\u{feff}",
    "\0",
    "\r\n",
    "\u{1b}",
    "version",
    "[privacy]\n",
    "k",
    "template",
    "[[privacy.template]]\n",
    "[privacy.lkc]\n",
    "given",
    "values",
    "rarest",
    "[method]\n",
    "[measure]\n",
    "[[measure]]\n",
    "\"cm\"",
    "\"rm\"",
    "costs",
    "column",
    "weight",
    "fold",
    "\"lm\"",
    "name",
    "[columns.",
    "columns",
    "role",
    "\"class\"",
    "\"quasi-identifier\"",
    "hierarchy",
    "widths",
    "bins",
    "[5, 5]",
    "\"iotf\"",
    "prefix",
    "dates",
    "format",
    "\"date\"",
    "\"%Y\"",
    "{ method = \"han\" }",
    "levels",
];

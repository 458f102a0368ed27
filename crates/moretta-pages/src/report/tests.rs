mod signer;
mod spread;

use std::{collections::HashMap, sync::Arc};

use moretta_core::{
    counts::{CountedColumn, Counts},
    hierarchy::file,
    measure::MEASURES,
    policy::Policy,
    privacy::{KAnonymity, Template},
    profile::Profile,
    run::VerifiedRun,
    search::{NoObserver, Stop, ValidPoint, method_names},
};
use moretta_insight::{
    recoding_comparison::{Both, Compared, MeasuredBoth},
    report::{ObjectiveResult, Report, Seconds},
    tradeoff,
};
use moretta_synthetic::{self as synthetic, COLUMNS, People};

use super::render;
use crate::tradeoff::{page as render_frontier, svg};
use moretta_insight::tradeoff::TradeOff;

const SEED: u64 = 8_917_236_450_918_273;

/// Synthetic people, counted naively.
fn count_people(policy: &Policy, records: u64) -> Counts {
    let names = Profile::grouped_columns(policy);
    let places: Vec<usize> = names.iter().map(|name| COLUMNS.iter().position(|known| known == name).unwrap()).collect();
    let column = |name: String| CountedColumn { name, ..CountedColumn::default() };
    let mut counts = Counts { columns: names.into_iter().map(column).collect(), records, ..Counts::default() };
    let mut rows: HashMap<Vec<u32>, usize> = HashMap::new();
    let people = People::new(1);
    for index in 0..records {
        let mut line = String::new();
        people.person(index).write_csv(&mut line);
        let cells: Vec<&str> = line.trim_end().split(',').collect();
        let mut codes = Vec::new();
        for (column, &place) in counts.columns.iter_mut().zip(&places) {
            let known = column.values.iter().position(|value| **value == *cells[place]);
            codes.push(known.unwrap_or(column.values.len()) as u32);
            if known.is_none() {
                column.values.push(cells[place].into());
                column.first_records.get_or_insert_default().push(index + 1);
            }
        }
        let new = rows.len();
        let row = *rows.entry(codes.clone()).or_insert(new);
        if row == new {
            counts.codes.extend(codes);
            counts.counts.push(0);
            counts.first_records.get_or_insert_default().push(index + 1);
        }
        counts.counts[row] += 1;
    }
    counts
}

fn report_under(policy: &str) -> Report {
    let policy = Policy::parse(policy, &method_names()).unwrap();
    let counts = count_people(&policy, 2_000);
    let tree = |column: &str| Some((column.to_owned(), file::parse(&synthetic::hierarchy(column)?).unwrap()));
    let hierarchies = policy.quasi_identifiers().filter_map(|column| tree(&column.name)).collect();
    let profile = Profile::build(&policy, &hierarchies, &counts).unwrap();
    let VerifiedRun { verified, stop, path: steps, work } =
        VerifiedRun::run(&policy, &profile, SEED, &NoObserver).unwrap();
    let mut report = Report::of(&policy, &profile, &verified, (stop, &work), SEED.into(), COLUMNS.len());
    report.seconds = Seconds { profile: 0.31, search: 1.42, release: 0.55, check: 0.28, total: 2.61 };
    report.peak_memory_bytes = Some(72_400_000);
    if !steps.is_empty() {
        report.path = tradeoff::measured(&profile, &policy, &steps, &[], &NoObserver).unwrap();
    }
    report
}

/// The demo with a method that has a path. Ages have no hierarchy, so their intervals must not be named.
fn climbed() -> Report {
    report_under(&policy().replace("\"mondrian\"", "\"bottom-up-generalization\""))
}

/// The policy of the demo, without the type of the insensitive column.
fn policy() -> String {
    synthetic::policy().replace("role = \"insensitive\"\ntype = \"number\"", "role = \"insensitive\"")
}

fn demo() -> Report {
    report_under(&policy())
}

/// The same people with every other privacy model, without k.
fn without_k() -> Report {
    let guarantees = r#"
        [[privacy.template]]
        given = ["age", "sex"]
        column = "diagnosis"
        rarest = 0.5
        max-confidence = 0.3
        [[privacy.l-diversity]]
        column = "insured"
        l = 1.2
        kind = "entropy"
        [[privacy.t-closeness]]
        column = "insured"
        t = 0.45
        distance = "equal"
    "#;
    let demo = policy();
    let (head, rest) = (demo.find("[privacy]").unwrap(), demo.find("[method]").unwrap());
    report_under(&format!("{}{guarantees}{}", &demo[..head], &demo[rest..]))
}

/// Returns the visible text: no tags, plain spaces instead of no-break ones.
fn text(page: &str) -> String {
    let body = &page[page.find("<body>").unwrap()..];
    let mut text = String::new();
    let mut inside = false;
    for character in body.chars() {
        match character {
            '<' => inside = true,
            '>' => inside = false,
            '\u{a0}' => text.push(' '),
            other if !inside => text.push(other),
            _ => {}
        }
    }
    text
}

/// Checks that all tags are closed in order.
fn assert_balanced(page: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = page;
    while let Some(start) = rest.find('<') {
        let end = start + rest[start..].find('>').expect("a tag ends");
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        let name = tag.split(' ').next().unwrap();
        match name.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name), "before {}", &rest[..rest.len().min(80)]),
            None if matches!(name, "!DOCTYPE" | "meta" | "wbr") => {}
            None => open.push(name),
        }
        if name == "style" {
            rest = &rest[rest.find("</style>").unwrap()..];
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

fn assert_sound(page: &str, report: &Report) {
    assert_balanced(page);
    for forbidden in ["http://", "https://", "<script", "<link", "<img", "<iframe", "@import", "url(", "javascript:"] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
    let seed = report.seed.for_search();
    assert!(!page.contains(&seed.to_string()) && !text(page).contains(&crate::numbers::count(seed)));
    assert!(!page.contains(&report.seed.to_string()), "the seed is confidential");
    let ids: Vec<&str> = page.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert!((1..ids.len()).all(|i| !ids[..i].contains(&ids[i])), "an id comes twice: {ids:?}");
    for referred in page.split("labelledby=\"").skip(1).flat_map(|rest| rest.split('"').next().unwrap().split(' ')) {
        assert!(ids.contains(&referred), "{referred}");
    }
}

#[test]
fn the_page_tells_everything() {
    let report = demo();
    let page = render(&report, "patients-released.csv");
    assert_sound(&page, &report);
    assert_eq!(page, render(&report, "patients-released.csv"));
    let text = text(&page);
    let sections = ["satisfies the policy", "Policy", "Privacy guarantees", "Information loss", "Group sizes"];
    for part in sections.into_iter().chain(["Run", "Approved by", "moretta check FILE --policy POLICY"]) {
        assert!(text.contains(part), "{part}");
    }
    assert!(text.contains("patients-released.csv") && text.contains(env!("CARGO_PKG_VERSION")));
    assert!(text.contains("is shared by at least 10 records.") && text.contains("2,000 records"));
    for column in &report.policy.columns {
        assert!(page.contains(&format!("<bdi class=\"name\">{}</bdi>", column.name)), "{}", column.name);
    }
    for measure in MEASURES {
        assert!(page.contains(&format!("<code>{}</code>", measure.name)), "{}", measure.name);
        assert!(text.contains(&measure.summary.replace('`', "")), "{}", measure.summary);
    }
    for part in ["k-anonymity", "k = 10", "distinct l-diversity", "diagnosis, l = 3", "diagnosis is HIV infection"] {
        assert!(text.contains(part), "{part}");
    }
    let facts = ["72.4 MB", "mondrian", "finished", "cuts tried", "verify the written file", "2.61 s"];
    for part in facts.into_iter().chain(["any interval", "hierarchies/sex.csv", "empty or “?”", "random order"]) {
        assert!(text.contains(part), "{part}");
    }
    for class in &report.group_sizes {
        assert!(text.contains(&crate::numbers::count(class.records)));
    }
}

#[test]
fn the_way_there_is_told_without_the_tables_own_numbers() {
    let report = climbed();
    let page = render(&report, "x.csv");
    assert_sound(&page, &report);
    let text = text(&page);
    let last = &report.path[report.path.len() - 1];
    for part in [
        "Generalization path",
        &format!("{} steps", last.step),
        &format!("Path{} steps", last.step),
        "age → the whole range",
    ] {
        assert!(text.contains(part), "{part}");
    }
    let ages: Vec<&str> =
        last.changes.iter().map(|change| change.to.as_str()).filter(|to| to.starts_with('[')).collect();
    assert!(ages.iter().all(|age| !text.contains(age)), "{ages:?}");
    assert!(!render(&demo(), "x.csv").contains("Generalization path"));
}

#[test]
fn the_page_on_a_path_tells_which_k_costs_what() {
    const HOSTILE: &str = "<script>alert(\"1\")</script>";
    let report = climbed();
    let mut found = TradeOff {
        method: HOSTILE,
        policy_method: "mondrian".to_owned(),
        reverts_steps: true,
        rows: report.input.rows,
        persons: None,
        max_suppressed_rows: 20,
        k: Some(7),
        first_valid: None,
        points: report.path.clone(),
    };
    let page = render_frontier(&found, HOSTILE);
    assert_sound(&page, &report);
    let shown = text(&page);
    for part in [
        "No step satisfies the policy",
        "1,000",
        "Information loss by k",
        "nil_inf",
        "mondrian, the method of the policy, has none",
        "allows 20 records",
    ] {
        assert!(shown.contains(part), "{part}");
    }
    assert!(!shown.contains("--at"), "the points of another method cannot be released");
    assert!(!shown.contains("NaN") && page.matches("class=\"chosen\"").count() == 1);
    (found.policy_method, found.max_suppressed_rows) = (found.method.to_owned(), 0);
    found.first_valid = Some(ValidPoint { step: 1, suppressed_rows: 1 });
    let shown = text(&render_frontier(&found, "x.csv"));
    for part in
        ["k = 7: ", "1 record suppressed", "satisfies the policy, with 1 record", "loses less", "--at 1 releases"]
    {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    found.first_valid = None;
    found.points.truncate(1);
    found.k = None;
    assert_sound(&render_frontier(&found, "a path of no steps"), &report);
    for picture in [svg(&found, HOSTILE), svg(&TradeOff { k: Some(1), ..found }, "")] {
        assert!(!picture.contains("<script") && !picture.contains("NaN"), "{picture}");
    }
}

#[test]
fn names_cannot_become_markup() {
    const HOSTILE: &str = "<script>alert(\"1\")</script>&amp;' onload='x";
    let mut report = demo();
    report.policy.columns[1].name = HOSTILE.to_owned();
    let mut template = report.policy.privacy.first::<Template>().unwrap().clone();
    template.given[0] = HOSTILE.to_owned();
    report.policy.privacy.models.push(Arc::new(template));
    report.columns[0].name = HOSTILE.to_owned();
    report.method = HOSTILE.to_owned();
    for template in &mut report.privacy.templates {
        template.given[0] = HOSTILE.to_owned();
        template.value = HOSTILE.to_owned();
    }
    for model in &mut report.privacy.models {
        model.model.limit = HOSTILE.to_owned();
    }
    report.policy.input.missing.push(HOSTILE.to_owned());
    let page = render(&report, HOSTILE);
    assert_sound(&page, &report);
    assert!(page.contains("&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;amp;"));
}

#[test]
fn without_k_the_reader_is_told_and_rare_values_are_not_named() {
    let report = without_k();
    let page = render(&report, "x.csv");
    assert_sound(&page, &report);
    let text = text(&page);
    for part in ["entropy l-diversity", "t-closeness", "the policy sets no minimum group size", "holds"] {
        assert!(text.contains(part), "{part}");
    }
    let rarest = report.privacy.templates.len();
    assert!(rarest > 1 && text.contains(&format!("one of its {rarest} rarest values")));
    for template in &report.privacy.templates {
        assert!(!text.contains(&template.value), "{}", template.value);
    }
}

#[test]
fn what_any_few_columns_give_away_is_told_in_plain_words() {
    let demo = policy();
    let (head, rest) = (demo.find("[privacy]").unwrap(), demo.find("[method]").unwrap());
    let lkc = "[privacy.lkc]\nl = 2\nk = 5\nc = 0.6\n";
    let report = report_under(&format!("{}{lkc}{}", &demo[..head], &demo[rest..]));
    let page = render(&report, "x.csv");
    assert_sound(&page, &report);
    let text = text(&page);
    let found = report.privacy.lkc.unwrap();
    assert!(found.smallest_group >= 5 && found.confidence <= 0.6 && (found.l, found.k) == (2, 5), "{found:?}");
    let plain = |shown: String| shown.replace('\u{a0}', " ");
    let smallest = plain(crate::numbers::counted(found.smallest_group, "record", "records"));
    let sure = plain(crate::numbers::percent(found.confidence));
    for part in [
        "an attacker who knows any 2 of age, sex, ",
        "of a person finds at least 5 records alike and can be at most 60 % sure of any value of diagnosis.",
        &format!("finds at least {smallest} alike and can be at most {sure} sure of any value of diagnosis."),
        "LKC-privacy",
        "any 2 of 6 columns known",
        "only against one who knows a few of them",
    ] {
        assert!(text.contains(part), "{part}");
    }
    assert!(!text.contains("no guarantee limits what can be inferred"));
}

#[test]
fn the_objective_is_shown_with_its_value() {
    assert!(!render(&demo(), "x.csv").contains("Objective of the search"), "the policy has no [measure]");
    let one = policy().replace("\"mondrian\"", "\"sweep\"\n[measure]\nname = \"lm\"");
    let report = report_under(&one);
    let page = render(&report, "x.csv");
    assert_sound(&page, &report);
    assert!(text(&page).contains("the method minimized this measure"));
    // Several objectives, which no method of these tests supports, set in the report.
    let several = "[[measure]]\nname = \"cm\"\nweight = 2.5\ncosts.yes.no = 5\n[[measure]]\nname = \"rm\"\n\
                   dispersion = \"deviation\"\n[[measure]]\nname = \"ncp\"";
    let class = "role = \"class\"\ntype = \"category\"";
    let several =
        policy().replace("[columns.name]", &format!("{several}\n[columns.name]")).replace(class, "role = \"class\"");
    let mut report = report_under(&one);
    report.policy = Policy::parse(&several, &method_names()).unwrap();
    let result = |measure, column: Option<&str>, weight, value| ObjectiveResult {
        measure,
        column: column.map(str::to_owned),
        weight,
        value,
    };
    report.objectives = vec![
        result("cm", Some("<insured>"), 2.5, Some(0.25)),
        result("rm", Some("insured"), 1.0, None),
        result("ncp", None, 1.0, Some(1.5)),
    ];
    let page = render(&report, "x.csv");
    assert_sound(&page, &report);
    let text = text(&page);
    for part in [
        "the method minimized the weighted sum of these measures",
        "cm0.25002.5records suppressed or outside their group’s majority of &lt;insured&gt;, weighted by the costs",
        "rmn/a1dispersion of insured within groups",
        "distances from the median",
        "ncp1.5001mean share of its column’s range",
    ] {
        assert!(text.contains(part), "{part}");
    }
}

#[test]
fn what_is_broken_is_said_first() {
    let mut report = demo();
    report.privacy.models[0].holds = false;
    let page = render(&report, "x.csv");
    let text = text(&page);
    assert!(text.contains("This release does not satisfy the policy") && text.contains("Do not publish this release."));
    let checks = report.privacy.models.len();
    assert!(text.contains(&format!("1 of {checks} checks fails")) && !text.contains("This release satisfies"));
    report.privacy.models.clear();
    let page = render(&report, "x.csv");
    assert!(page.contains("No guarantee was checked") && !page.contains("satisfies the policy"));
}

#[test]
fn a_bare_report_still_has_a_page() {
    let mut report = demo();
    report.policy.privacy.models.retain(|model| model.get::<KAnonymity>().is_some());
    report.stop = Stop::OutOfTime;
    report.seconds = Seconds::default();
    report.peak_memory_bytes = None;
    report.group_sizes.clear();
    report.groups = 0;
    (report.privacy.smallest_group, report.input.rows) = (0, 0);
    let page = render(&report, "");
    assert_sound(&page, &report);
    let text = text(&page);
    assert!(text.contains("stopped at the time limit") && text.contains("no guarantee limits what can be inferred"));
    assert!(!text.contains("NaN") && !text.contains("inf%"));
}

#[test]
fn a_comparison_is_shown_if_requested() {
    let mut report = demo();
    assert!(!render(&report, "r.csv").contains("id=\"compared\""));
    let lm = MeasuredBoth { name: "lm", column: None, value: Both { applied: 1.5, fresh: Some(1.2) } };
    let cm =
        MeasuredBoth { name: "cm", column: Some("<b>".to_owned()), value: Both { applied: 0.1, fresh: Some(0.0) } };
    let suppressed_rows = Both { applied: 12, fresh: Some(15) };
    let stop = Some(Stop::OutOfTime);
    report.compared = Some(Compared { suppressed_rows, measures: vec![lm, cm], stop, refused: None, seconds: 3.0 });
    let page = render(&report, "r.csv");
    assert_balanced(&page);
    let said = text(&page);
    assert!(said.contains("which took 3.00 s and stopped at the time limit"), "{said}");
    for row in ["Suppressed records1215−30.80", "lm1.5001.200+0.30001.25", "cm of &lt;b&gt;0.10000+0.1000n/a"] {
        assert!(said.contains(row), "{row}: {said}");
    }
}

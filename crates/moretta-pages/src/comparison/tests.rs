use moretta_core::{policy::Policy, search::method_names};

use moretta_insight::comparison::{
    Comparison,
    testing::{comparison, comparison_with_rarest},
};

use super::csv;

const POLICY: &str = "version = 1\n[privacy]\nk = 5\nmax-suppressed = 0.02\n[[privacy.template]]\ngiven = [\"<age>\"]\n\
                      column = \"ill\"\nrarest = 0.5\nmax-confidence = 0.8\n[method]\nname = \"mondrian\"\nrelaxed = true\n\
                      [columns.\"<age>\"]\nrole = \"quasi-identifier\"\n[columns.ill]\nrole = \"sensitive\"\n";

fn page(comparison: &Comparison) -> String {
    super::page(comparison, &Policy::parse(POLICY, &method_names()).unwrap(), "<b>people</b>.csv")
}

#[test]
fn the_page_is_self_contained_and_escaped() {
    let page = page(&comparison());
    for never in ["<script", "<b>", "<age>", "<this>", "NaN", ">inf<", "http-equiv=\"refresh\"", "src=", "@import"] {
        assert!(!page.contains(never), "{never}");
    }
    assert!(page.contains("default-src 'none'") && page.contains("&lt;b&gt;people&lt;/b&gt;.csv"));
    assert!(page.contains("cannot serve &lt;this&gt; policy"), "reasons are shown");
    for said in
        ["Lowest error of a classifier (E)", "rarest 50", "ran with the parameters of the policy", "Peak memory"]
    {
        assert!(page.contains(said), "{said}");
    }
}

#[test]
fn curves_where_there_are_several_k_and_bars_where_there_is_one() {
    let both = page(&comparison());
    assert_eq!(both.matches("class=\"chart\"").count(), 6, "gcp, lm, E, count, seconds, memory");
    assert!(both.contains(">B</text>") && both.contains(">W</text>"));
    let mut one = comparison();
    one.rows.truncate(3);
    let one = page(&one);
    assert_eq!((one.matches("class=\"chart\"").count(), one.matches("<svg class=\"bar\"").count()), (0, 12));
}

#[test]
fn the_picture_has_a_line_for_each_method() {
    let found = comparison();
    let picture = super::svg(&found).unwrap();
    assert_eq!(picture.matches("<polyline").count(), found.methods().len());
    assert!(picture.contains("xmlns") && !picture.contains("<script"));
    let mut without_k = comparison();
    without_k.rows.iter_mut().for_each(|row| row.k = None);
    assert_eq!(super::svg(&without_k), None);
}

#[test]
fn without_a_class_there_is_nothing_about_errors() {
    let mut bare = comparison();
    (bare.tested, bare.errors, bare.spread) = (None, None, None);
    for found in bare.rows.iter_mut().filter_map(|row| row.found.as_mut()) {
        (found.errors, found.spread) = (None, None);
    }
    let page = page(&bare);
    assert!(!page.contains("error E") && !page.contains("decision tree"));
    assert_eq!(page.matches("class=\"chart\"").count(), 5);
}

#[test]
fn persons_are_named_where_they_are_counted() {
    let mut counted = comparison();
    let texts =
        ["30,162 records of 9,000 persons", "the smallest group count persons", "Persons in the smallest group"];
    assert!(texts.iter().all(|text| !page(&counted).contains(text)));
    counted.persons = Some(9_000);
    let page = page(&counted);
    assert!(texts.iter().all(|text| page.contains(text)) && page.contains("had to be shared by at least k persons"));
}

#[test]
fn rarest_values_are_not_named() {
    let page = page(&comparison_with_rarest());
    assert!(
        page.contains("the policy cannot be satisfied, not even with all records in one group")
            && !page.contains("gout")
    );
}

#[test]
fn every_line_of_csv_has_every_column() {
    let text = csv(&comparison());
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 7);
    let commas = |line: &str| line.matches(',').count();
    assert!(lines.iter().filter(|line| !line.contains('"')).all(|line| commas(line) == commas(lines[0])), "{text}");
    assert!(lines[3].starts_with("k-member,5,\"method `k-member` cannot serve <this> policy"), "{}", lines[3]);
}

#[test]
fn csv_shows_no_value_that_a_template_learned() {
    let text = csv(&comparison_with_rarest());
    assert!(text.contains("the policy cannot be satisfied, not even with all records in one group"), "{text}");
    assert!(!text.contains("gout"), "{text}");
}

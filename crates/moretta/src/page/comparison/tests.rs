use moretta_core::{policy::Policy, search::method_names};

use super::render;
use crate::comparison::{
    Comparison,
    tests::{comparison, comparison_with_rarest},
};

const POLICY: &str = "version = 1\n[privacy]\nk = 5\nmax-suppressed = 0.02\n[[privacy.template]]\ngiven = [\"<age>\"]\n\
                      column = \"ill\"\nrarest = 0.5\nmax-confidence = 0.8\n[method]\nname = \"mondrian\"\nrelaxed = true\n\
                      [columns.\"<age>\"]\nrole = \"quasi-identifier\"\n[columns.ill]\nrole = \"sensitive\"\n";

fn page(comparison: &Comparison) -> String {
    render(comparison, &Policy::parse(POLICY, &method_names()).unwrap(), "<b>people</b>.csv")
}

#[test]
fn the_page_is_self_contained_and_escaped() {
    let page = page(&comparison());
    for never in ["<script", "<b>", "<age>", "<this>", "NaN", ">inf<", "http-equiv=\"refresh\"", "src=", "@import"] {
        assert!(!page.contains(never), "{never}");
    }
    assert!(page.contains("default-src 'none'") && page.contains("&lt;b&gt;people&lt;/b&gt;.csv"));
    assert!(page.contains("cannot serve &lt;this&gt; policy"), "reasons are told");
    for said in ["Least error of a model (E)", "rarest 50", "ran with its parameters there", "Most memory"] {
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
fn rarest_values_are_not_named() {
    let page = page(&comparison_with_rarest());
    assert!(
        page.contains("the policy cannot be met, not even with all records in one group") && !page.contains("gout")
    );
}

//! Re-identification risk and histograms.

use super::*;
use moretta_insight::distribution::Bar;

#[test]
fn the_risk_is_told_before_and_after_in_plain_words() {
    let mut report = demo();
    let shown = text(&render(&report, "x.csv"));
    let unique = crate::numbers::percent(report.risk.before.prosecutor.unique).replace('\u{a0}', " ");
    for part in [
        &format!(
            "In the original, {unique} of the records were unique; in the release none is, and an attacker who knows"
        ),
        "nothing else finds no person with a probability above 1 in 10.",
        "Knows that the person is in the table (the prosecutor)highest risk100.0 %10.0 %",
        "records with a risk above 10.0 %100.0 %0 %",
        "Does not know whether the person is in it (the journalist)highest risk100.0 %10.0 %",
        "Wants to find as many people as possible (the marketer)records re-identified on average",
        "the table itself counts as the population, and the risk of the journalist equals that of the prosecutor",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    report.risk.population = Some(1_000_000);
    report.risk.after.journalist.highest = 0.0002;
    report.risk.after.prosecutor.unique = 0.125;
    let shown = text(&render(&report, "x.csv"));
    for part in [
        "drawn from 1,000,000 people, each with the same probability.",
        "may be unique in the population too",
        "in the release 12.5 % still are",
        "highest risk100.0 %0.02 %",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(!shown.contains("itself counts as the population"));
}

#[test]
fn every_column_has_a_histogram_and_its_numbers() {
    let report = demo();
    let page = render(&report, "x.csv");
    assert_eq!(page.matches("class=\"spread\"").count(), report.columns.len());
    let shown = text(&page);
    assert!(shown.contains("bars with fewer than 10 records of the original table are merged with their neighbors"));
    for column in &report.columns {
        let distribution = &column.distribution;
        assert!(shown.contains(&format!("Values of {}, before and after", column.name)));
        assert!(distribution.bars.len() > 1, "{}", column.name);
        assert!(
            distribution.bars.iter().all(|bar| bar.before >= 10 || bar.label == "other values"),
            "{distribution:?}"
        );
        let whole = |bar: &Bar| crate::numbers::count(bar.after.round() as u64);
        for bar in &distribution.bars {
            assert!(shown.contains(&whole(bar)), "{bar:?}");
        }
    }
}

#[test]
fn labels_are_cut_and_cannot_become_markup() {
    const HOSTILE: &str = "<b onclick='x'>a very long value indeed</b>";
    let mut report = demo();
    report.columns[1].distribution.bars[0].label = HOSTILE.to_owned();
    report.columns[2].distribution.bars =
        vec![Bar { label: "all values".to_owned(), before: 0, after: 0.0, sure: 0.0 }];
    report.columns[3].distribution.bars.clear();
    let page = render(&report, "x.csv");
    assert_sound(&page, &report);
    assert!(!page.contains("<b onclick") && page.contains("&lt;b onclick='x'&gt;a very…"), "cut at 22 characters");
    assert!(!text(&page).contains("NaN"));
    assert_eq!(page.matches("class=\"spread\"").count(), report.columns.len() - 1, "no bars, no picture");
}

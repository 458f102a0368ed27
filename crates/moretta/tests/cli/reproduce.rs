//! `moretta reproduce` on synthetic records with the columns of Adult, and on the real data if
//! it is available.

use std::{fs, path::Path};

use crate::folder::{Folder, real_data};

const CATEGORIES: [&str; 7] =
    ["occupation", "education", "native-country", "marital-status", "sex", "race", "workclass"];

/// Synthetic records over the leaves of the hierarchies; married people are often rich.
fn made_up(folder: &Folder, train: usize, test: usize) {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/adult/hierarchies");
    let mut leaves = Vec::new();
    for name in CATEGORIES {
        let text = fs::read_to_string(examples.join(format!("{name}.csv"))).unwrap();
        leaves.push(text.lines().map(|line| line.split(';').next().unwrap().to_owned()).collect::<Vec<_>>());
        for kind in ["hierarchies", "hierarchies-arx"] {
            folder.write(&format!("data/adult/{kind}/{name}.csv"), &text);
        }
    }
    for (file, seed, records) in [("adult_train", 1, train), ("adult_test", 2, test)] {
        let mut table = format!("{},income\n", CATEGORIES.join(","));
        let mut random = seed;
        for _ in 0..records {
            let mut draw = |most: usize| {
                random = (random * 6_364_136_223_846_793_005_u128 + 1_442_695_040_888_963_407) % (1 << 64);
                // Squared, so that the first values are frequent.
                let unit = (random >> 40) as f64 / (1u64 << 24) as f64;
                (unit * unit * most as f64) as usize
            };
            let cells: Vec<&str> = leaves.iter().map(|leaves| leaves[draw(leaves.len())].as_str()).collect();
            let rich = cells[3].starts_with("Married") && draw(10) < 6;
            table += &format!("{},{}\n", cells.join(","), if rich { ">50K" } else { "<=50K" });
        }
        folder.write(&format!("data/adult/{file}.csv"), table);
    }
}

fn rows(page: &str) -> Vec<Vec<&str>> {
    page.lines().filter_map(|line| line.strip_prefix("| ")).map(|line| line.split(" | ").collect()).collect()
}

#[test]
fn a_paper_is_made_again_from_the_data_alone() {
    let folder = Folder::empty();
    made_up(&folder, 900, 400);
    let run = ["reproduce", "1", "--data", "data"];
    let said = folder.ok(&run);
    assert!(said.contains("as published or better, see docs/results/papers/1-bottom-up-generalization.md"), "{said}");
    let page = folder.read("docs/results/papers/1-bottom-up-generalization.md");
    for picture in page.lines().filter_map(|line| line.strip_prefix("![")?.split_once("](")) {
        let svg = folder.read(&format!("docs/results/papers/{}", picture.1.trim_end_matches(')')));
        assert!(svg.starts_with("<svg") && svg.contains("<circle") && !svg.contains("NaN"), "{}", picture.1);
    }
    assert_eq!(page.matches("\n![").count(), 2);
    // Published results are constants, ours are computed: on other data they differ.
    let claim = |what: &str| rows(&page).into_iter().find(|row| row[0].starts_with(what)).unwrap();
    assert_eq!(claim("B, ")[1], "17.4 %");
    assert_ne!(claim("B, ")[2], "17.7 %");
    let errors: Vec<_> =
        rows(&page).into_iter().filter(|row| row[0].parse::<u64>().is_ok() && row.len() == 5).collect();
    assert_eq!(errors.len(), 8, "one for each K: {page}");

    let refused = folder.run(&run);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("--overwrite"), "{}", refused.stderr);
    folder.ok(&["reproduce", "1", "--data", "data", "--overwrite", "--threads", "1"]);
    let again = folder.read("docs/results/papers/1-bottom-up-generalization.md");
    let errors_of = |page: &str| page.split("## Errors").nth(1).unwrap().split("## Scale").next().unwrap().to_owned();
    assert_eq!(errors_of(&page), errors_of(&again), "the same on any number of threads");
}

#[test]
fn what_is_not_the_data_is_refused_and_nothing_written() {
    let folder = Folder::empty();
    let refused = |arguments: &[&str], message: &str| {
        let before = folder.files();
        let run = folder.run(arguments);
        assert_eq!(run.code, 2, "{arguments:?}: {}", run.stdout);
        assert!(run.stderr.contains(message), "{arguments:?}: {}", run.stderr);
        assert_eq!(folder.files(), before);
    };
    refused(&["reproduce", "6", "--data", "data"], "choose 1, 2, 3, 4, 5 or all");
    refused(&["reproduce", "1"], "--data");
    refused(&["reproduce", "all", "--data", "nowhere"], "nowhere/adult/");
    made_up(&folder, 20, 20);
    refused(&["reproduce", "1", "--data", "data"], "cannot be satisfied");
    folder.write("data/adult/adult_train.csv", "age,sex\n30,f\n");
    refused(&["reproduce", "1", "--data", "data"], "adult_train.csv: there is no column `occupation`");
    refused(&["reproduce", "1", "--data", "data", "-o", "data/adult/results"], "is inside the data folder");
    folder.write("out", "a file");
    refused(&["reproduce", "1", "--data", "data", "-o", "out"], "out is a file");
}

/// The main claims; docs/results/papers has all of them.
#[test]
fn adult_gives_the_published_errors_of_bottom_up_generalization() {
    let Some(data) = real_data("adult_gives_the_published_errors_of_bottom_up_generalization") else { return };
    let folder = Folder::empty();
    folder.ok(&["reproduce", "1", "--data", data.to_str().unwrap()]);
    let page = folder.read("docs/results/papers/1-bottom-up-generalization.md");
    let holds = |what: &str| {
        let row = rows(&page).into_iter().find(|row| row[0] == what).unwrap_or_else(|| panic!("{what}: {page}"));
        assert_eq!(row[3], "yes |", "{row:?}");
    };
    holds("B, error on the data as it is, within 0.5 points");
    holds("W, error with all columns at the root, within 0.5 points");
    holds("E - B for K = 10..500, default");
    holds("E lower than plain (or the same, to 0.1 points), with take-back");
}

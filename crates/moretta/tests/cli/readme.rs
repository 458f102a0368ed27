//! What the README shows is what the program does.

use crate::{
    folder::Folder,
    people::{column, rows},
};

#[test]
fn the_table_is_from_the_demo() {
    let folder = Folder::empty();
    folder.ok(&["demo"]);
    let policy = "moretta-demo/policy.toml";
    folder.ok(&["anonymize", "moretta-demo/people.csv", "-p", policy, "-o", "out.csv", "--keep-order", "--seed", "1"]);
    let (before, after) = (folder.read("moretta-demo/people.csv"), folder.read("out.csv"));
    let readme = include_str!("../../../../README.md");
    let shown: Vec<Vec<String>> = readme
        .lines()
        .filter(|line| line.contains('→'))
        .map(|line| line.trim_matches('|').split('|').map(|cell| cell.trim().replace("\\*", "*")).collect())
        .collect();
    assert_eq!(shown.len(), 3);
    let names = column(&before, "name");
    for line in shown {
        let at = names.iter().position(|name| *name == line[0]).unwrap();
        let cells = |text: &str, columns: &[&str]| -> Vec<String> {
            columns.iter().map(|name| column(text, name)[at].clone()).collect()
        };
        let columns = ["age", "sex", "postcode", "education", "diagnosis"];
        assert_eq!(line[1..6], cells(&before, &columns));
        assert_eq!(line[7..12], cells(&after, &columns));
    }
    assert_eq!(rows(&before).len(), rows(&after).len());
}

//! The table of the README is from the demo, and every link of the documents leads to a file or heading.

use std::{collections::HashMap, fs, path::Path};

use crate::{
    documents::{documents, files, read, root},
    folder::Folder,
    people::{column, rows},
};

/// The cells of the Markdown table of a text that has these headings, without the headings.
fn table(text: &str, headings: &[&str]) -> Vec<Vec<String>> {
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|').split('|').map(|cell| cell.trim().replace("\\*", "*")).collect()
    };
    let rows = text.lines().skip_while(|line| cells(line) != headings).take_while(|line| line.starts_with('|'));
    rows.skip(2).map(cells).collect()
}

#[test]
fn the_table_is_from_the_demo() {
    let folder = Folder::empty();
    folder.ok(&["demo"]);
    let policy = "moretta-demo/policy.toml";
    folder.ok(&["anonymize", "moretta-demo/people.csv", "-p", policy, "-o", "out.csv", "--keep-order", "--seed", "1"]);
    let (original, release) = (folder.read("moretta-demo/people.csv"), folder.read("out.csv"));
    assert_eq!(rows(&original).len(), rows(&release).len());
    let readme = read("README.md");
    let columns = ["name", "age", "sex", "postcode", "income", "diagnosis"];
    let (before, after) = (table(&readme, &columns), table(&readme, &columns[1..]));
    assert_eq!((before.len(), after.len()), (3, 3));
    let names = column(&original, "name");
    for (before, after) in before.iter().zip(&after) {
        let index = names.iter().position(|name| *name == before[0]).unwrap();
        let cells = |text: &str, columns: &[&str]| -> Vec<String> {
            columns.iter().map(|name| column(text, name)[index].clone()).collect()
        };
        assert_eq!(*before, cells(&original, &columns));
        assert_eq!(*after, cells(&release, &columns[1..]));
    }
}

/// Lines outside fences.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut code = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        code ^= fence;
        !fence && !code
    })
}

/// Targets of the links of a line: `[text](target)`, `[name]: target`, `src="target"`, `href="target"`, but not links
/// in code.
fn targets(line: &str) -> Vec<String> {
    let line: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
    let between = |begin: &str, end: char| -> Vec<String> {
        let parts = line.split(begin).skip(1);
        parts.filter_map(|part| Some(part.split_once(end)?.0.split(' ').next()?.to_owned())).collect()
    };
    let mut targets = [between("](", ')'), between("src=\"", '"'), between("href=\"", '"')].concat();
    if let Some((_, target)) = line.split_once("]: ").filter(|_| line.starts_with('[')) {
        targets.push(target.trim().to_owned());
    }
    targets
}

/// Anchors of the headings as GitHub makes them: lower-case letters, digits, `-` and `_`, a `-` for each blank, and a
/// number after a repeated one.
fn anchors(text: &str) -> Vec<String> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let is_heading = |line: &&str| line.starts_with('#') && line.trim_start_matches('#').starts_with(' ');
    let anchor = |line: &str| {
        let mut heading = line.trim_start_matches('#').trim().to_lowercase();
        // A link is replaced by its text.
        while let Some((from, to)) = heading.find("](").and_then(|from| Some((from, from + heading[from..].find(')')?)))
        {
            heading.replace_range(from..=to, "");
        }
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        let anchor: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect();
        let before = seen.entry(anchor.clone()).or_default();
        *before += 1;
        if *before == 1 { anchor } else { format!("{anchor}-{}", *before - 1) }
    };
    prose(text).filter(is_heading).map(anchor).collect()
}

#[test]
fn every_link_of_the_documents_leads_somewhere() {
    assert_eq!(targets("a [b `c`](d.md \"e\") ![](f.svg) `[g](h)` <a href=\"i\">"), ["d.md", "f.svg", "i"]);
    assert_eq!(anchors("# A `b`, c_d\n```\n# e\n```\n## [F](g.md) & h\n## A b c_d"), ["a-b-c_d", "f--h", "a-b-c_d-1"]);
    let mut checked = 0;
    let mut broken = Vec::new();
    for document in documents() {
        let folder = root().join(&document).parent().unwrap().to_owned();
        for target in prose(&read(&document)).flat_map(targets).filter(|target| !target.contains(':')) {
            checked += 1;
            let (file, anchor) =
                target.split_once('#').map_or((target.as_str(), None), |(file, anchor)| (file, Some(anchor)));
            let file = if file.is_empty() { root().join(&document) } else { folder.join(file) };
            let leads = match anchor {
                None => file.exists(),
                Some(anchor) => fs::read_to_string(&file).is_ok_and(|text| anchors(&text).iter().any(|a| a == anchor)),
            };
            if !leads {
                broken.push(format!("{document}: {target}"));
            }
        }
    }
    assert!(checked > 20, "{checked} links");
    assert!(broken.is_empty(), "links that lead nowhere:\n{}", broken.join("\n"));
}

/// File names in backticks, such as `pass.rs`: each is a file of the tree, so that a renamed file is renamed here too.
#[test]
fn every_source_file_that_a_document_names_exists() {
    let sources = ["crates", "benchmarks", "fuzz", "supply-chain"].map(|folder| files(folder, "rs")).concat();
    let is_source = |name: &&str| name.ends_with(".rs") && !name.contains([' ', '*', '<']);
    let mut named = 0;
    for document in ["ARCHITECTURE.md", "CONTRIBUTING.md", "docs/decisions.md"] {
        for name in read(document).split('`').skip(1).step_by(2).filter(is_source) {
            named += 1;
            assert!(
                sources.iter().any(|path| Path::new(path).ends_with(name)),
                "{document}: there is no file `{name}`"
            );
        }
    }
    assert!(named > 50, "{named}");
}

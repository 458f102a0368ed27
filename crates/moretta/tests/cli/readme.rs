//! What the README shows is what the program does, and every link of the documents leads somewhere.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
};

use moretta_core::privacy::{MODELS, ModelEntry, SectionForm};

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

/// After a change of the registry, run this test with `MORETTA_UPDATE_DOCS=1` and read the diff.
#[test]
fn the_guides_table_of_models_is_the_registry() {
    let row = |entry: &ModelEntry| {
        let asked = if entry.form == SectionForm::Key {
            format!("`{}` in `[privacy]`", entry.key)
        } else {
            format!("`{}`", entry.header())
        };
        format!("| {} | {asked} | {} |\n", entry.name, entry.summary)
    };
    let table: String = MODELS.iter().map(row).collect();
    let table =
        format!("<!-- models -->\n| Model | In the policy | Guarantee |\n| --- | --- | --- |\n{table}<!-- /models -->");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../GUIDE.md");
    let guide = fs::read_to_string(&path).unwrap();
    let (start, end) = (guide.find("<!-- models -->").unwrap(), guide.find("<!-- /models -->").unwrap());
    let shown = &guide[start..end + "<!-- /models -->".len()];
    if std::env::var_os("MORETTA_UPDATE_DOCS").is_some() {
        fs::write(&path, guide.replace(shown, &table)).unwrap();
    } else {
        assert_eq!(shown, table);
    }
}

const DOCUMENTS: [&str; 5] = ["README.md", "GUIDE.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"];

/// These, and whatever is below docs.
fn documents(root: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = DOCUMENTS.iter().map(|name| root.join(name)).collect();
    let mut open = vec![root.join("docs")];
    while let Some(folder) = open.pop() {
        for path in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            match path.extension() {
                _ if path.is_dir() => open.push(path),
                Some(extension) if extension == "md" => files.push(path),
                _ => {}
            }
        }
    }
    files.sort();
    files
}

/// The lines that are not code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut code = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        code ^= fence;
        !fence && !code
    })
}

/// Where the links of a line lead: `[text](target)`, `[name]: target`, `src="target"`, `href="target"`. Not those in code.
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

/// The anchors of headings as GitHub makes them: small letters, digits, `-` and `_`, a `-` for each blank, and a number
/// behind what was there before.
fn anchors(text: &str) -> Vec<String> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let is_heading = |line: &&str| line.starts_with('#') && line.trim_start_matches('#').starts_with(' ');
    let anchor = |line: &str| {
        let mut heading = line.trim_start_matches('#').trim().to_lowercase();
        // Of a link only its text is shown.
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
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let mut checked = 0;
    let mut broken = Vec::new();
    for document in documents(&root) {
        let text = fs::read_to_string(&document).unwrap();
        for target in prose(&text).flat_map(targets).filter(|target| !target.contains(':')) {
            checked += 1;
            let (file, anchor) = target.split_once('#').map_or((target.as_str(), None), |(file, at)| (file, Some(at)));
            let file = if file.is_empty() { document.clone() } else { document.parent().unwrap().join(file) };
            let leads = match anchor {
                None => file.exists(),
                Some(anchor) => fs::read_to_string(&file).is_ok_and(|text| anchors(&text).iter().any(|a| a == anchor)),
            };
            if !leads {
                broken.push(format!("{}: {target}", document.strip_prefix(&root).unwrap().display()));
            }
        }
    }
    assert!(checked > 20, "{checked} links");
    assert!(broken.is_empty(), "links that lead nowhere:\n{}", broken.join("\n"));
}

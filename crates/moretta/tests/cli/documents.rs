//! The documents as files: which there are, their fences, and how generated parts are compared or written again.

use std::{
    fs,
    ops::Range,
    path::{Path, PathBuf},
};

const AT_THE_ROOT: [&str; 7] = [
    "README.md",
    "GUIDE.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "examples/adult/README.md",
];

/// The root of the repository. Asked at run time: clones that share a build directory may share the compiled test.
pub fn root() -> PathBuf {
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo");
    Path::new(&manifest).join("../..").canonicalize().unwrap()
}

/// Every file with this extension in a folder of the repository and the folders below, relative to [`root`].
pub fn files(folder: &str, extension: &str) -> Vec<String> {
    let root = root();
    let mut names = Vec::new();
    let mut open = vec![root.join(folder)];
    while let Some(folder) = open.pop() {
        for path in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                names.push(path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    names
}

/// Paths of all documents, relative to [`root`]: those listed here, and every Markdown file in `docs`.
pub fn documents() -> Vec<String> {
    let mut names = files("docs", "md");
    names.extend(AT_THE_ROOT.iter().map(|&name| name.to_owned()));
    names.sort();
    names
}

pub fn read(document: &str) -> String {
    fs::read_to_string(root().join(document)).unwrap_or_else(|error| panic!("{document}: {error}"))
}

/// Requires that a document has this text; with `MORETTA_UPDATE_DOCS=1` writes it instead, and the diff is to be read.
pub fn require(document: &str, text: &str) {
    if std::env::var_os("MORETTA_UPDATE_DOCS").is_some() {
        fs::write(root().join(document), text).unwrap();
    } else {
        pretty_compare(document, &read(document), text);
    }
}

fn pretty_compare(document: &str, shown: &str, now: &str) {
    let differ = shown.lines().zip(now.lines()).enumerate().find(|(_, (shown, now))| shown != now);
    if let Some((index, (shown, now))) = differ {
        panic!(
            "{document}:{}: the document has\n  {shown}\nand the program prints\n  {now}\n\
             run the tests with MORETTA_UPDATE_DOCS=1 and read the diff",
            index + 1
        );
    }
    assert!(shown == now, "{document}: too short or too long; run the tests with MORETTA_UPDATE_DOCS=1");
}

/// Replaces what stands between `<!-- name -->` and `<!-- /name -->`, which the text must have.
pub fn with_block(text: &str, name: &str, content: &str) -> String {
    let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
    let start = text.find(&begin).unwrap_or_else(|| panic!("no line {begin}")) + begin.len();
    let stop = start + text[start..].find(&end).unwrap_or_else(|| panic!("no line {end}"));
    format!("{}{content}{}", &text[..start], &text[stop..])
}

/// A fenced block: what stands behind the opening backticks, and the indices of the lines inside.
pub struct Fence<'a> {
    pub info: &'a str,
    pub lines: Range<usize>,
}

pub fn fences<'a>(lines: &[&'a str]) -> Vec<Fence<'a>> {
    let mut fences = Vec::new();
    let mut open: Option<(&str, usize)> = None;
    for (index, line) in lines.iter().enumerate() {
        let Some(info) = line.trim_start().strip_prefix("```") else { continue };
        match open.take() {
            None => open = Some((info.trim(), index + 1)),
            Some((info, start)) => fences.push(Fence { info, lines: start..index }),
        }
    }
    assert!(open.is_none(), "a fence is not closed");
    fences
}

//! The core's modules are layers: these tests fail if two modules depend on each other, directly or through others.
//!
//! The check reads the source text of `src`. It strips comments, literals and `#[cfg(test)]` items, then resolves every
//! path that starts with `crate`, `self` or `super` (in `use` trees and in code) to the top-level module it names.
//! Paths through macros or `#[path]` are not seen; the core has none.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
    path::Path,
};

/// The module with support for tests. It may use everything, and using it is no dependency: without the feature
/// `testing` it does not exist, so the compiler refuses such a use outside tests.
const TESTING: &str = "testing";

/// For each pair of top-level modules where the first uses the second, the places that do, as `file:line`.
type Uses = BTreeMap<(String, String), BTreeSet<String>>;

/// Collects all source files below a folder except tests, with their paths relative to `src`.
fn sources(folder: &Path, below: &str, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).expect("a folder of the core") {
        let entry = entry.expect("an entry of a folder of the core");
        let name = entry.file_name().into_string().expect("a name in UTF-8");
        let path = format!("{below}{name}");
        if entry.path().is_dir() && name != "tests" {
            sources(&entry.path(), &format!("{path}/"), found);
        } else if name.ends_with(".rs") && name != "tests.rs" && path != format!("{TESTING}.rs") {
            found.push((path, fs::read_to_string(entry.path()).expect("a source file")));
        }
    }
}

fn core() -> Vec<(String, String)> {
    let mut found = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), "", &mut found);
    found.sort();
    found
}

/// The module path of a file: `[a, b]` for `a/b.rs` and `a/b/mod.rs`; empty for `lib.rs`.
fn module_of(path: &str) -> Vec<String> {
    let path = path.trim_end_matches(".rs").trim_end_matches("/mod");
    path.split('/').filter(|name| *name != "lib").map(str::to_owned).collect()
}

/// Length in bytes of the comment, string or character literal at the start of the text; 0 if there is none.
fn skipped(text: &str) -> usize {
    let until = |end: &str, from: usize| text[from..].find(end).map_or(text.len(), |at| from + at + end.len());
    if text.starts_with("//") {
        return text.find('\n').unwrap_or(text.len());
    }
    if text.starts_with("/*") {
        return until("*/", 2);
    }
    let raw = text.strip_prefix('r').map(|rest| rest.len() - rest.trim_start_matches('#').len());
    if let Some(hashes) = raw.filter(|hashes| text[1 + hashes..].starts_with('"')) {
        return until(&format!("\"{}", "#".repeat(hashes)), 2 + hashes);
    }
    let quote = match text.as_bytes() {
        [b'"', ..] => '"',
        // A lifetime has no second quote.
        [b'\'', b'\\', ..] => '\'',
        [b'\'', ..] if text.chars().nth(2) == Some('\'') => '\'',
        _ => return 0,
    };
    let mut escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if character == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Identifiers, `::` and single characters, each with its line (from 1). Items under `#[cfg(test)]` are left out.
fn tokens(text: &str) -> Vec<(&str, usize)> {
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    let (mut found, mut at, mut line) = (Vec::new(), 0, 1);
    while let Some(character) = text[at..].chars().next() {
        let rest = &text[at..];
        let skip = skipped(rest);
        let length = if skip > 0 {
            skip
        } else if is_word(character) {
            rest.find(|character| !is_word(character)).unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else {
            character.len_utf8()
        };
        if skip == 0 && !character.is_whitespace() {
            found.push((&rest[..length], line));
        }
        line += rest[..length].matches('\n').count();
        at += length;
    }
    while let Some(start) = found.windows(7).position(|seven| seven.iter().map(|token| token.0).eq(TEST)) {
        let end = end_of_item(&found, start + TEST.len());
        found.drain(start..end);
    }
    found
}

const TEST: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];

/// Index after the `;` or closing brace that ends the item which starts at a token.
fn end_of_item(tokens: &[(&str, usize)], start: usize) -> usize {
    let mut depth = 0;
    for (at, (token, _)) in tokens.iter().enumerate().skip(start) {
        match *token {
            "{" => depth += 1,
            "}" => depth -= 1,
            ";" if depth == 0 => return at + 1,
            _ => continue,
        }
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}

/// Parses the path or `use` tree at a token and adds the names of the crate root that it uses. Returns the index after
/// it.
fn follow(tokens: &[(&str, usize)], mut at: usize, mut here: Vec<String>, named: &mut Vec<(String, usize)>) -> usize {
    let token = |at: usize| tokens.get(at).map_or("", |token| token.0);
    loop {
        match token(at) {
            "crate" => here.clear(),
            "self" => {}
            "super" => drop(here.pop()),
            "{" => {
                while !matches!(token(at), "}" | "") {
                    at = follow(tokens, at + 1, here.clone(), named);
                }
                return at + 1;
            }
            "}" => return at,
            name => {
                if here.is_empty() {
                    named.push((name.to_owned(), tokens[at].1));
                }
                here.push(name.to_owned());
            }
        }
        at += 1;
        if token(at) == "::" {
            at += 1;
            continue;
        }
        // Skips the new name of `as`.
        return if token(at) == "as" { at + 2 } else { at };
    }
}

/// Names of the crate root that a file uses, each with its line.
fn names_in_root(path: &str, text: &str) -> Vec<(String, usize)> {
    let tokens = tokens(text);
    let (mut here, mut named) = (module_of(path), Vec::new());
    // The brace depth inside each inline module.
    let (mut depth, mut inline) = (0, Vec::new());
    let mut at = 0;
    while at < tokens.len() {
        let before = at.checked_sub(1).map_or("", |before| tokens[before].0);
        match tokens[at].0 {
            "{" => {
                depth += 1;
                if at > 1 && tokens[at - 2].0 == "mod" {
                    inline.push(depth);
                    here.push(before.to_owned());
                }
            }
            "}" => {
                if inline.last() == Some(&depth) {
                    inline.pop();
                    here.pop();
                }
                depth -= 1;
            }
            "crate" | "self" | "super" if before != "::" && tokens.get(at + 1).is_some_and(|next| next.0 == "::") => {
                at = follow(&tokens, at, here.clone(), &mut named);
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    named
}

/// Collects the uses between modules. A name of the root that is no module is an error: it would hide a use of a
/// module.
fn uses(sources: &[(String, String)]) -> Uses {
    let modules: BTreeSet<String> = sources.iter().filter_map(|(path, _)| module_of(path).into_iter().next()).collect();
    let mut uses = Uses::new();
    for (path, text) in sources.iter().filter(|(path, _)| path != "lib.rs") {
        let own = &module_of(path)[0];
        for (name, line) in names_in_root(path, text) {
            assert!(modules.contains(&name), "src/{path}:{line}: `{name}` in the root of the crate is no module");
            if name != *own && name != TESTING {
                uses.entry((own.clone(), name)).or_default().insert(format!("src/{path}:{line}"));
            }
        }
    }
    uses
}

/// For each module, all modules that it uses, directly or through others (transitive closure).
fn reach(uses: &Uses) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut reach: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (from, to) in uses.keys() {
        reach.entry(from).or_default().insert(to);
    }
    loop {
        let before = reach.clone();
        for reached in reach.values_mut() {
            *reached =
                reached.iter().flat_map(|by| before.get(by).into_iter().flatten().chain([by])).copied().collect();
        }
        if reach == before {
            return reach;
        }
    }
}

/// Report of the modules that reach themselves and of the imports between them; empty if there are none.
fn cycles(uses: &Uses) -> String {
    let reach = reach(uses);
    let mut report = String::new();
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for (module, reached) in reach.iter().filter(|(module, reached)| reached.contains(*module)) {
        let cycle: Vec<&str> =
            reached.iter().copied().filter(|other| reach.get(other).is_some_and(|all| all.contains(module))).collect();
        if !seen.insert(cycle[0]) {
            continue;
        }
        writeln!(report, "modules that depend on each other: {}", cycle.join(", ")).expect("a String takes all");
        for ((from, to), places) in uses {
            if cycle.contains(&from.as_str()) && cycle.contains(&to.as_str()) {
                let places: Vec<&str> = places.iter().map(String::as_str).collect();
                writeln!(report, "  {from} -> {to}: {}", places.join(", ")).expect("a String takes all");
            }
        }
    }
    report
}

/// The modules in the list under `# Layers`, lowest first.
fn listed(lib: &str) -> Vec<&str> {
    let list = lib.split("//! # Layers").nth(1).expect("a section `# Layers` in lib.rs");
    let list = list.lines().skip_while(|line| !line.starts_with("//! - ")).take_while(|line| *line != "//!");
    list.flat_map(|line| line.split("[`").skip(1))
        .map(|link| link.split('`').next().unwrap_or(link).trim_start_matches("mod@"))
        .collect()
}

#[test]
fn no_modules_depend_on_each_other() {
    let cycles = cycles(&uses(&core()));
    assert!(cycles.is_empty(), "{cycles}");
}

#[test]
fn a_module_uses_only_those_listed_before_it() {
    let sources = core();
    let lib = &sources.iter().find(|(path, _)| path == "lib.rs").expect("lib.rs").1;
    let listed = listed(lib);
    let declared =
        lib.lines().filter_map(|line| line.trim_start_matches("pub ").strip_prefix("mod ")?.strip_suffix(';'));
    let declared: BTreeSet<&str> = declared.filter(|module| *module != TESTING).collect();
    assert_eq!(listed.iter().copied().collect::<BTreeSet<_>>(), declared, "the list in lib.rs has every module");
    assert_eq!(listed.len(), declared.len(), "the list in lib.rs has each module once");
    let place = |module: &str| listed.iter().position(|known| *known == module);
    let upward = uses(&sources).into_iter().filter(|((from, to), _)| from != TESTING && place(to) > place(from));
    let upward: Vec<String> = upward.map(|((from, to), places)| format!("{from} -> {to}: {places:?}")).collect();
    assert!(upward.is_empty(), "modules that use one which lib.rs lists after them:\n{}", upward.join("\n"));
}

fn made_up(files: &[(&str, &str)]) -> Uses {
    let file = |(path, text): &(&str, &str)| ((*path).to_owned(), (*text).to_owned());
    uses(&files.iter().map(file).collect::<Vec<_>>())
}

#[test]
fn a_made_up_cycle_is_found() {
    let found = made_up(&[
        ("lib.rs", "pub mod high;\npub mod low;\npub mod middle;\npub mod other;\n"),
        (
            "high.rs",
            "use std::fmt;\n\nuse crate::{\n    middle::{Deep as Name, self, inner::{A, B}},\n    other,\n};\n",
        ),
        ("middle/mod.rs", "mod inner;\npub(crate) use self::inner::A;\nuse super::{\n    low::{X, Y},\n};\n"),
        ("middle/inner.rs", "pub fn f<'a>() -> char {\n    super::super::other::g('\"');\n    '\\''\n}\n"),
        ("low.rs", "mod inner {\n    impl super::super::high::T for super::S {}\n}\n"),
        ("other.rs", "pub fn g() {}\n"),
    ]);
    let expected = "modules that depend on each other: high, low, middle\n  \
                    high -> middle: src/high.rs:4\n  \
                    low -> high: src/low.rs:2\n  \
                    middle -> low: src/middle/mod.rs:4\n";
    assert_eq!(cycles(&found), expected);
    assert_eq!(found[&("high".to_owned(), "other".to_owned())], BTreeSet::from(["src/high.rs:5".to_owned()]));
    assert_eq!(found[&("middle".to_owned(), "other".to_owned())], BTreeSet::from(["src/middle/inner.rs:2".to_owned()]));
}

#[test]
fn comments_literals_and_tests_use_nothing() {
    let code = r##"//! [`x`](crate::high::X)
/* crate::high */
const A: &str = "\" crate::high";
const B: &str = r#"" crate::high"#;
#[cfg(test)]
use crate::high;
#[cfg(test)]
mod tests {
    use crate::high::X;
}
pub(in super::super) fn f() -> crate::base::Y {}
"##;
    let found = made_up(&[("high.rs", "use crate::low;\n"), ("low/deep.rs", code), ("base.rs", "")]);
    let pairs: Vec<(&str, &str)> = found.keys().map(|(from, to)| (from.as_str(), to.as_str())).collect();
    assert_eq!(pairs, [("high", "low"), ("low", "base")]);
    assert_eq!(cycles(&found), "");
}

//! Column names with `*` in a policy: patterns that stand for columns of the table.
//!
//! ```text
//! header: age, lab_na, lab_k, lab_date
//! [columns.age]             role = "quasi-identifier"
//! [columns."lab_*"]         role = "sensitive"      ->  [columns.lab_na], [columns.lab_k]
//! [columns.lab_date]        role = "identifier"         its own entry wins over the pattern
//! ```
//!
//! Patterns are replaced in the tree of the file, before anything else is checked, so all other code sees a policy that
//! names every column. The columns of a pattern take its place in the policy, in the order of the header. `*` stands
//! for any number of characters. A name with `*` that the header has is that column and no pattern.

use std::collections::{HashMap, HashSet};

use super::{InputOptions, Policy, PolicyError, ReleaseOptions, check};
use crate::{
    document::{Entry, TomlTable, Value, section},
    text::shown,
};

/// A policy file whose column names may be patterns.
#[derive(Debug, Clone)]
pub struct PolicyFile<'t> {
    text: &'t str,
    tree: TomlTable,
    matches: Vec<PatternMatch>,
}

/// The columns that a pattern stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternMatch {
    /// The pattern, as the policy writes it.
    pub pattern: String,
    /// Role of its columns, as the policy writes it.
    pub role: String,
    /// Its columns, in the order of the table; those with an entry of their own are not among them.
    pub columns: Vec<String>,
}

impl<'t> PolicyFile<'t> {
    /// Reads TOML; the policy is not checked yet.
    pub fn parse(text: &'t str) -> Result<Self, PolicyError> {
        let tree = TomlTable::parse(text).map_err(|error| error.in_text(text))?;
        Ok(Self { text, tree, matches: Vec::new() })
    }

    /// The policy as a tree.
    pub fn tree(&self) -> &TomlTable {
        &self.tree
    }

    /// Whether a column name has a `*`. Then the policy can be checked only for a table.
    pub fn has_patterns(&self) -> bool {
        let columns = section(&self.tree, "columns").ok().flatten();
        columns.is_some_and(|columns| columns.entries.iter().any(|entry| entry.key.contains('*')))
    }

    /// The patterns that [`PolicyFile::resolve`] replaced, in policy order.
    pub fn matches(&self) -> &[PatternMatch] {
        &self.matches
    }

    /// How the table is read, and a release of it. Its columns are needed to replace patterns.
    pub fn tables(&self) -> Result<(InputOptions, ReleaseOptions), PolicyError> {
        let read = || {
            let input = check::input(&self.tree)?;
            let release = check::release_dialect(&self.tree, &input)?;
            Ok((input, release))
        };
        read().map_err(|error: PolicyError| error.in_text(self.text))
    }

    /// Checks the policy. Names with `*` are names.
    pub fn policy(&self, known_methods: &[&str]) -> Result<Policy, PolicyError> {
        check::policy(&self.tree, self.text, Some(known_methods)).map_err(|error| error.in_text(self.text))
    }

    /// Replaces patterns by the columns of a table. A released table lacks the columns that are never released, so a
    /// pattern of such a role may match none.
    pub fn resolve(mut self, header: &[String], released: bool) -> Result<Self, PolicyError> {
        if let Some(entry) = self.tree.entries.iter_mut().find(|entry| entry.key == "columns")
            && let Value::Table(columns) = &mut entry.item.value
        {
            let resolved = resolved(&columns.entries, header, released).map_err(|error| error.in_text(self.text))?;
            (columns.entries, self.matches) = resolved;
        }
        Ok(self)
    }
}

/// Replaces entries with patterns by an entry for each of their columns.
fn resolved(
    entries: &[Entry],
    header: &[String],
    released: bool,
) -> Result<(Vec<Entry>, Vec<PatternMatch>), PolicyError> {
    let names: HashSet<&str> = header.iter().map(String::as_str).collect();
    let is_pattern = |entry: &Entry| entry.key.contains('*') && !names.contains(entry.key.as_str());
    let mut owners: HashMap<&str, &Entry> =
        entries.iter().filter(|entry| !is_pattern(entry)).map(|entry| (entry.key.as_str(), entry)).collect();
    let mut resolved = Vec::with_capacity(entries.len());
    let mut found = Vec::new();
    for entry in entries {
        if !is_pattern(entry) {
            resolved.push(entry.clone());
            continue;
        }
        let mut matches = header.iter().filter(|name| is_match(&entry.key, name)).peekable();
        if matches.peek().is_none() && !(released && is_never_released(entry)) {
            let message = format!("the pattern `{}` matches no column of the table", shown(&entry.key));
            return Err(PolicyError::new(&entry.key_span, message).help("correct the pattern, or remove it"));
        }
        let mut columns = Vec::new();
        for name in matches {
            match owners.get(name.as_str()) {
                None => {
                    owners.insert(name, entry);
                    columns.push(name.clone());
                    resolved.push(Entry { key: name.clone(), ..entry.clone() });
                }
                Some(owner) if !is_pattern(owner) || std::ptr::eq(*owner, entry) => {}
                Some(owner) if owner.item.to_toml() == entry.item.to_toml() => {}
                Some(owner) => return Err(ambiguous(name, owner, entry)),
            }
        }
        let role = text_of(entry, "role").unwrap_or_default().to_owned();
        found.push(PatternMatch { pattern: entry.key.clone(), role, columns });
    }
    Ok((resolved, found))
}

/// Error for a column that two patterns match with different settings.
fn ambiguous(name: &str, first: &Entry, second: &Entry) -> PolicyError {
    let patterns = [first, second].map(|entry| shown(&entry.key));
    let [one, other] = [first, second].map(|entry| text_of(entry, "role"));
    let difference = match (one, other) {
        (Some(one), Some(other)) if one != other => format!("the roles \"{}\" and \"{}\"", shown(one), shown(other)),
        _ => "different settings".to_owned(),
    };
    let message = format!(
        "column `{}` matches the patterns `{}` and `{}`, with {difference}",
        shown(name),
        patterns[0],
        patterns[1]
    );
    PolicyError::new(&second.key_span, message)
        .help("declare the column by its own name, or change one of the patterns")
}

/// Whether the columns of an entry are dropped from every release.
fn is_never_released(entry: &Entry) -> bool {
    let role = text_of(entry, "role").and_then(|name| check::columns::ROLES.iter().find(|(known, _)| *known == name));
    role.is_some_and(|(_, role)| !role.is_released())
}

/// A text in the table of a column.
fn text_of<'e>(entry: &'e Entry, key: &str) -> Option<&'e str> {
    let Value::Table(table) = &entry.item.value else { return None };
    match &table.get(key)?.item.value {
        Value::Text(text) => Some(text),
        _ => None,
    }
}

/// Whether a name matches a pattern, in which `*` stands for any number of characters.
fn is_match(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut left) = name.strip_prefix(start) else { return false };
    let (middle, end) = rest.rsplit_once('*').map_or(("", rest), |(middle, end)| (middle, end));
    // The first occurrence of each part leaves most of the name for the parts behind it.
    for part in middle.split('*') {
        let Some(at) = left.find(part) else { return false };
        left = &left[at + part.len()..];
    }
    left.ends_with(end)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::schema::Role;

    const POLICY: &str = "version = 1\nprivacy.k = 2\n[columns.age]\nrole = \"quasi-identifier\"\n\
                          [columns.\"lab_*\"]\nrole = \"sensitive\"\n[columns.lab_date]\nrole = \"identifier\"\n";

    fn resolve(text: &str, header: &[&str], released: bool) -> Result<Policy, String> {
        let header: Vec<String> = header.iter().map(|name| (*name).to_owned()).collect();
        let file = PolicyFile::parse(text).unwrap().resolve(&header, released);
        file.and_then(|file| file.policy(&["best"])).map_err(|error| error.to_string())
    }

    fn columns(policy: &Policy) -> Vec<(&str, Role)> {
        policy.columns.iter().map(|column| (column.name.as_str(), column.role)).collect()
    }

    #[test]
    fn columns_take_the_place_of_their_pattern() {
        let header = ["lab_date", "lab_k", "age", "lab_na"];
        let policy = resolve(POLICY, &header, false).unwrap();
        let file = PolicyFile::parse(POLICY).unwrap().resolve(&header.map(str::to_owned), false).unwrap();
        let columns_of = |found: &PatternMatch| (found.pattern.clone(), found.role.clone(), found.columns.join(","));
        let found: Vec<_> = file.matches().iter().map(columns_of).collect();
        assert_eq!(found, [("lab_*".to_owned(), "sensitive".to_owned(), "lab_k,lab_na".to_owned())]);
        let expected = [
            ("age", Role::QuasiIdentifier),
            ("lab_k", Role::Sensitive),
            ("lab_na", Role::Sensitive),
            ("lab_date", Role::Identifier),
        ];
        assert_eq!(columns(&policy), expected);
        assert!(PolicyFile::parse(POLICY).unwrap().has_patterns());
        // Other sections may name the columns of a pattern.
        let guarded = format!("{POLICY}[[privacy.l-diversity]]\ncolumn = \"lab_k\"\nl = 2\n");
        assert!(resolve(&guarded, &["age", "lab_k", "lab_date"], false).is_ok());
        assert!(resolve(&guarded, &["age", "lab_x", "lab_date"], false).unwrap_err().starts_with("line 10: `column`"));
    }

    #[test]
    fn a_name_with_a_star_is_that_column() {
        let policy = resolve(POLICY, &["age", "lab_*", "lab_date"], false).unwrap();
        assert_eq!(columns(&policy)[1], ("lab_*", Role::Sensitive));
        assert_eq!(policy.columns.len(), 3);
    }

    #[test]
    fn a_pattern_without_columns_is_refused() {
        let expected = "line 5: the pattern `lab_*` matches no column of the table; correct the pattern, or remove it";
        for released in [false, true] {
            assert_eq!(resolve(POLICY, &["age"], released).unwrap_err(), expected);
        }
        // A release has no identifiers.
        let names = POLICY.replace("\"sensitive\"", "\"identifier\"");
        assert_eq!(resolve(&names, &["age"], false).unwrap_err(), expected);
        assert_eq!(resolve(&names, &["age"], true).unwrap().columns.len(), 2);
    }

    #[test]
    fn two_patterns_with_different_settings_are_refused() {
        let with = |settings: &str| format!("{POLICY}[columns.\"*_k\"]\n{settings}\n");
        let header = ["age", "lab_k", "lab_date"];
        assert_eq!(
            resolve(&with("role = \"class\""), &header, false).unwrap_err(),
            "line 9: column `lab_k` matches the patterns `lab_*` and `*_k`, with the roles \"sensitive\" and \"class\"; \
             declare the column by its own name, or change one of the patterns"
        );
        let error = resolve(&with("role = \"sensitive\"\ntype = \"number\""), &header, false).unwrap_err();
        assert!(error.contains("with different settings"), "{error}");
        assert_eq!(resolve(&with("role = \"sensitive\""), &header, false).unwrap().columns.len(), 3);
    }

    /// Tries every way to divide the name.
    fn naive(pattern: &[char], name: &[char]) -> bool {
        match pattern.split_first() {
            None => name.is_empty(),
            Some(('*', rest)) => (0..=name.len()).any(|at| naive(rest, &name[at..])),
            Some((first, rest)) => name.split_first().is_some_and(|(one, left)| one == first && naive(rest, left)),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn matches_are_those_of_a_full_search(pattern in "[ab*ä]{0,7}", name in "[abä]{0,8}") {
            let chars = |text: &str| text.chars().collect::<Vec<_>>();
            prop_assert_eq!(is_match(&pattern, &name), naive(&chars(&pattern), &chars(&name)));
        }
    }
}

//! Compares the policy with the columns of the input.
//!
//! The first line of a file without a header is a record of a person, and every message about columns would show it.
//! So the first line counts as a header only if it names more than half of the policy's columns; those that a release
//! lacks (identifiers, the person, the household) are not counted. Otherwise a [`ColumnMismatch`] has no text of it. If
//! the line break after the header is lost, the first record follows in the same line: so a message names one
//! undeclared column at most.

use std::{collections::HashSet, fmt};

use super::Policy;
use crate::{
    document::toml_key,
    schema::Role,
    suggest::{folded, nearest},
    text::{counted, shown},
};

/// Maximum suggestions per message: each costs a pass over the header. Not tuned.
const MAX_SUGGESTIONS: usize = 20;

/// The policy and the input do not have the same columns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ColumnMismatch {
    /// Whether the first line may be a record. Then `undeclared` and `repeated` are empty, and no `meant` is set.
    pub may_be_record: bool,
    /// Columns of the input that the policy does not name, all of them, in the input's order.
    pub undeclared: Vec<String>,
    /// Columns of the policy that the input does not have, in policy order.
    pub absent: Vec<AbsentColumn>,
    /// Names that several columns of the input carry.
    pub repeated: Vec<String>,
}

/// A column that the policy names and the input does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AbsentColumn {
    /// Its name in the policy.
    pub name: String,
    /// Undeclared column of the input with a similar name.
    pub meant: Option<String>,
}

impl Policy {
    /// Checks the columns of the input: each must be declared, so that nothing is released by accident, each declared
    /// column must exist, and no name may occur twice.
    pub fn check_columns(&self, header: &[String]) -> Result<(), ColumnMismatch> {
        self.compare_columns(header, false)
    }

    /// Checks the columns of a released file, which may lack those that are not released.
    pub fn check_released_columns(&self, header: &[String]) -> Result<(), ColumnMismatch> {
        self.compare_columns(header, true)
    }

    fn compare_columns(&self, header: &[String], released: bool) -> Result<(), ColumnMismatch> {
        let mut mismatch = ColumnMismatch { may_be_record: !self.is_header(header), ..ColumnMismatch::default() };
        let seen: HashSet<&str> = header.iter().map(String::as_str).collect();
        if !mismatch.may_be_record {
            let declared: HashSet<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
            let mut once = HashSet::new();
            let mut repeated = HashSet::new();
            for name in header {
                if once.insert(name.as_str()) {
                    if !declared.contains(name.as_str()) {
                        mismatch.undeclared.push(name.clone());
                    }
                } else if repeated.insert(name.as_str()) {
                    mismatch.repeated.push(name.clone());
                }
            }
        }
        let optional = |role: Role| released && !role.is_released();
        for column in
            self.columns.iter().filter(|column| !seen.contains(column.name.as_str()) && !optional(column.role))
        {
            let meant = if mismatch.absent.len() < MAX_SUGGESTIONS {
                nearest(&column.name, mismatch.undeclared.iter().map(String::as_str)).map(str::to_owned)
            } else {
                None
            };
            mismatch.absent.push(AbsentColumn { name: column.name.clone(), meant });
        }
        let same = mismatch.absent.is_empty() && mismatch.undeclared.is_empty() && mismatch.repeated.is_empty();
        if same && !mismatch.may_be_record { Ok(()) } else { Err(mismatch) }
    }

    /// Whether the first line of a file names more than half of the policy's released columns. Case is ignored: a name
    /// that differs in case shows nothing that the policy does not.
    fn is_header(&self, first_line: &[String]) -> bool {
        let first_line: HashSet<String> = first_line.iter().map(|name| folded(name)).collect();
        let released = || self.columns.iter().filter(|column| column.role.is_released());
        let named = released().filter(|column| first_line.contains(&folded(&column.name)));
        2 * named.count() > released().count()
    }
}

impl ColumnMismatch {
    /// The undeclared column that a message may name: one that resembles a column of the policy, or the first.
    fn named(&self) -> Option<&String> {
        let renamed = self
            .absent
            .iter()
            .find_map(|AbsentColumn { name, meant }| meant.as_ref().filter(|meant| folded(meant) != folded(name)));
        renamed.or_else(|| self.undeclared.first())
    }
}

impl fmt::Display for ColumnMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.may_be_record {
            f.write_str(
                "at most half of the policy's columns are in the first line, which may be a record of a person and is \
                 not shown; check that this is the right table and that it has a header",
            )?;
        } else {
            f.write_str("the policy and the input do not have the same columns")?;
        }
        if !self.absent.is_empty() {
            f.write_str("\nin the policy, but not in the input:")?;
            for AbsentColumn { name, meant } in &self.absent {
                write!(f, "\n  `{}`", shown(name))?;
                // A name that differs only in case shows nothing that the policy does not show.
                let may_show = |meant: &&String| Some(*meant) == self.named() || folded(meant) == folded(name);
                if let Some(meant) = meant.as_ref().filter(may_show) {
                    write!(f, " (did you mean `{}`?)", shown(meant))?;
                }
            }
        }
        let several = self.undeclared.len() > 1;
        let mut repeated = self.repeated.iter().filter(|name| !several || !self.undeclared.contains(name)).peekable();
        if repeated.peek().is_some() {
            f.write_str("\nmore than once in the input:")?;
            repeated.try_for_each(|name| write!(f, "\n  `{}`", shown(name)))?;
        }
        let roles = "(identifier, quasi-identifier, sensitive, class, insensitive, person or household)";
        match &self.undeclared[..] {
            [] => Ok(()),
            [name] => {
                write!(f, "\nin the input, but not in the policy; declare its role {roles}:")?;
                match shown(name) {
                    plain if plain == *name => write!(f, "\n[columns.{}]\nrole = \"...\"", toml_key(name)),
                    // Not to be pasted into a policy.
                    other => write!(f, "\n  `{other}`"),
                }
            }
            [first, others @ ..] => write!(
                f,
                "\nin the input, but not in the policy: `{}` and {}, not named here because the first line may contain \
                 cells of a record; declare the role of each {roles}",
                shown(self.named().unwrap_or(first)),
                counted(others.len() as u64, "other column", "other columns"),
            ),
        }
    }
}

impl std::error::Error for ColumnMismatch {}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy() -> Policy {
        let text =
            "version = 1\nprivacy.k = 2\ncolumns.age.role = \"quasi-identifier\"\ncolumns.name.role = \"identifier\"";
        Policy::parse(text, &[crate::policy::DEFAULT_METHOD]).unwrap()
    }

    fn header(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn the_same_columns_in_any_order_are_fine() {
        assert_eq!(policy().check_columns(&header(&["name", "age"])), Ok(()));
    }

    #[test]
    fn every_difference_is_named() {
        let mismatch = policy().check_columns(&header(&["Age", "ssn", "marital status", "ssn", "ssn"])).unwrap_err();
        assert_eq!(mismatch.undeclared, ["Age", "ssn", "marital status"]);
        assert_eq!(mismatch.repeated, ["ssn"]);
        let meant: Vec<_> = mismatch.absent.iter().map(|absent| absent.meant.as_deref()).collect();
        assert_eq!(meant, [Some("Age"), None]);
        let message = mismatch.to_string();
        assert!(message.contains("`age` (did you mean `Age`?)\n  `name`\n"), "{message}");
        // Undeclared names may be cells of a record, so one is shown at most.
        assert!(message.contains("not in the policy: `Age` and 2 other columns"), "{message}");
        assert!(!message.contains("ssn"), "{message}");
        let message = policy().check_columns(&header(&["age", "name", "marital status"])).unwrap_err().to_string();
        assert!(message.ends_with("\n[columns.\"marital status\"]\nrole = \"...\""), "{message}");
    }

    #[test]
    fn a_record_is_not_shown() {
        let text = "version = 1\nprivacy.k = 2\ncolumns.age.role = \"quasi-identifier\"\ncolumns.ill.role = \
                    \"sensitive\"\ncolumns.name.role = \"identifier\"";
        let policy = Policy::parse(text, &[crate::policy::DEFAULT_METHOD]).unwrap();
        // One cell is the name of a column by chance, one resembles the name of another, and one is there twice.
        for record in [&["Otto", "29", "Otto"][..], &["Ill", "agee", "Otto", "Otto"], &["name", "29", "Otto"]] {
            for mismatch in [policy.check_columns(&header(record)), policy.check_released_columns(&header(record))] {
                let message = mismatch.unwrap_err().to_string();
                assert!(message.contains("may be a record") && message.contains("\n  `age`"), "{message}");
                assert!(!["Otto", "29", "agee", "Ill"].iter().any(|cell| message.contains(cell)), "{message}");
            }
        }
    }

    #[test]
    fn a_release_may_lack_identifiers() {
        assert_eq!(policy().check_released_columns(&header(&["age"])), Ok(()));
        assert!(policy().check_columns(&header(&["age"])).is_err());
    }
}

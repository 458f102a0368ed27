//! Compares the policy with the columns of the input.

use std::{collections::HashSet, fmt};

use super::Policy;
use crate::{document::toml_key, suggest::nearest, text::shown};

/// Maximum suggestions per message: each costs a pass over the header. Not tuned.
const MAX_SUGGESTIONS: usize = 20;

/// The policy and the input do not have the same columns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ColumnMismatch {
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
        let declared: HashSet<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        let mut mismatch = ColumnMismatch::default();
        let mut seen = HashSet::new();
        let mut repeated = HashSet::new();
        for name in header {
            if seen.insert(name.as_str()) {
                if !declared.contains(name.as_str()) {
                    mismatch.undeclared.push(name.clone());
                }
            } else if repeated.insert(name.as_str()) {
                mismatch.repeated.push(name.clone());
            }
        }
        for column in self.columns.iter().filter(|column| !seen.contains(column.name.as_str())) {
            let meant = if mismatch.absent.len() < MAX_SUGGESTIONS {
                nearest(&column.name, mismatch.undeclared.iter().map(String::as_str)).map(str::to_owned)
            } else {
                None
            };
            mismatch.absent.push(AbsentColumn { name: column.name.clone(), meant });
        }
        if mismatch == ColumnMismatch::default() { Ok(()) } else { Err(mismatch) }
    }
}

impl fmt::Display for ColumnMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the policy and the input do not have the same columns")?;
        if !self.absent.is_empty() {
            f.write_str("\nin the policy, but not in the input:")?;
            for AbsentColumn { name, meant } in &self.absent {
                write!(f, "\n  `{}`", shown(name))?;
                if let Some(meant) = meant {
                    write!(f, " (did you mean `{}`?)", shown(meant))?;
                }
            }
        }
        if !self.repeated.is_empty() {
            f.write_str("\nmore than once in the input:")?;
            for name in &self.repeated {
                write!(f, "\n  `{}`", shown(name))?;
            }
        }
        if !self.undeclared.is_empty() {
            f.write_str("\nin the input, but not in the policy; declare the role of each")?;
            f.write_str(" (identifier, quasi-identifier, sensitive, class or insensitive):")?;
            for name in &self.undeclared {
                write!(f, "\n[columns.{}]\nrole = \"...\"", toml_key(name))?;
            }
        }
        Ok(())
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
        assert!(message.contains("\n[columns.ssn]\nrole = \"...\"\n[columns.\"marital status\"]\nrole"), "{message}");
    }
}

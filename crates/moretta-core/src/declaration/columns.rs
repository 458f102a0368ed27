//! Looking up columns that a section of a policy names.

use hashbrown::HashMap;

use super::ColumnPolicy;
use crate::{
    document::{Fields, PolicyError, Span, toml_key},
    schema::Role,
    suggest::nearest,
    text::shown,
};

const KEPT: &str = "a column with role \"sensitive\" or \"class\"";

/// Declared columns by name, to check the columns that `[privacy]` and `[measure]` name.
pub struct Columns<'c> {
    all: &'c [ColumnPolicy],
    roles: HashMap<&'c str, Role>,
}

impl<'c> Columns<'c> {
    /// All declared columns.
    pub fn new(all: &'c [ColumnPolicy]) -> Self {
        Self { all, roles: all.iter().map(|column| (column.name.as_str(), column.role)).collect() }
    }

    /// Refuses a column that is not declared, or in a role that `fits` refuses.
    pub fn require(
        &self,
        key: &str,
        name: &str,
        span: &Span,
        right: &str,
        fits: impl Fn(Role) -> bool,
    ) -> Result<(), PolicyError> {
        let name_shown = shown(name);
        match self.roles.get(name) {
            Some(role) if fits(*role) => Ok(()),
            Some(role) => {
                let role = role.name();
                let message = format!("`{key}` names `{name_shown}`, whose role is \"{role}\"; it must name {right}");
                Err(PolicyError::new(span, message))
            }
            None => {
                let message = format!("`{key}` names `{name_shown}`, which the policy does not declare");
                let fitting = self.all.iter().filter(|column| fits(column.role)).map(|column| column.name.as_str());
                let help = match nearest(name, fitting) {
                    Some(near) => format!("did you mean `{}`?", shown(near)),
                    None if name_shown == name => format!("add [columns.{}], or name {right}", toml_key(name)),
                    None => format!("name {right}"),
                };
                Err(PolicyError::new(span, message).help(help))
            }
        }
    }

    /// Number of columns of a role.
    pub fn of_role(&self, role: Role) -> u64 {
        self.all.iter().filter(|column| column.role == role).count() as u64
    }

    /// The column that a privacy model guards.
    pub fn guarded(&self, fields: &Fields<'_>) -> Result<String, PolicyError> {
        fields.required("column", KEPT, self.kept(fields)?)
    }

    /// The sensitive or class column that the key `column` names, if it is set.
    pub fn kept(&self, fields: &Fields<'_>) -> Result<Option<String>, PolicyError> {
        let Some(name) = fields.text("column", KEPT)? else { return Ok(None) };
        let is_kept = |role| matches!(role, Role::Sensitive | Role::Class);
        self.require("column", name, fields.span("column"), KEPT, is_kept)?;
        Ok(Some(name.to_owned()))
    }
}

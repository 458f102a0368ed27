//! `[columns]`: the role of each column, and how its values are generalized.

use super::hierarchy::hierarchy;
use crate::{
    dates::DateFormat,
    declaration::ColumnPolicy,
    document::{self, Entry, Fields, PolicyError, Value, as_number, list, section, toml_key, wrong},
    hierarchy::HierarchyChoice,
    schema::{Kind, MissingRule, Role},
    text::shown,
};

/// The keys of a column's table.
pub(super) const COLUMN: &[&str] =
    &["role", "type", "format", "hierarchy", "weight", "missing", "missing-texts", "fold"];

pub(in crate::policy) const ROLES: &[(&str, Role)] = &[
    ("identifier", Role::Identifier),
    ("quasi-identifier", Role::QuasiIdentifier),
    ("sensitive", Role::Sensitive),
    ("class", Role::Class),
    ("insensitive", Role::Insensitive),
    ("person", Role::Person),
    ("household", Role::Household),
];
const KINDS: &[(&str, Kind)] = &[("number", Kind::Number), ("category", Kind::Category), ("date", Kind::Date)];
const MISSING: &[(&str, MissingRule)] =
    &[("category", MissingRule::Category), ("suppress", MissingRule::Suppress), ("error", MissingRule::Error)];

/// Keys that a column of this role may have.
fn keys_of(role: Role) -> &'static [&'static str] {
    match role {
        Role::QuasiIdentifier => &["role", "type", "format", "hierarchy", "weight", "missing", "missing-texts"],
        Role::Sensitive | Role::Class => &["role", "type", "format", "hierarchy", "missing", "missing-texts", "fold"],
        Role::Person | Role::Household => &["role", "missing", "missing-texts", "fold"],
        // Numbers of a kept column may be written in another notation.
        Role::Insensitive => &["role", "type"],
        Role::Identifier => &["role"],
    }
}

pub(super) fn columns(policy: &Fields<'_>) -> Result<Vec<ColumnPolicy>, PolicyError> {
    let Some(table) = section(policy.table, "columns")?.filter(|table| !table.entries.is_empty()) else {
        let help = "each column of the input needs a table: [columns.age] with role = \"quasi-identifier\"";
        return Err(PolicyError::new(policy.span("columns"), "the policy names no columns").help(help));
    };
    let columns: Vec<ColumnPolicy> = table.entries.iter().map(column).collect::<Result<_, _>>()?;
    if columns.iter().all(|column| column.role != Role::QuasiIdentifier) {
        let span = table.entries.first().map_or(&table.span, |entry| &entry.key_span);
        let error = PolicyError::new(span, "no column has the role quasi-identifier, so there is nothing to anonymize");
        return Err(error.help("give this role to the columns that could be joined with outside data to find a person"));
    }
    for role in [Role::Person, Role::Household] {
        let mut of_role = table.entries.iter().zip(&columns).filter(|(_, column)| column.role == role);
        if let (Some((_, first)), Some((second, _))) = (of_role.next(), of_role.next()) {
            let (role, first, name) = (role.name(), shown(&first.name), shown(&second.key));
            let message = format!("`{name}` and `{first}` both have the role \"{role}\"; one column can have it");
            let help = format!("if the {role} is identified by both together, join them into one column of the input");
            return Err(PolicyError::new(&second.key_span, message).help(help));
        }
    }
    Ok(columns)
}

fn column(entry: &Entry) -> Result<ColumnPolicy, PolicyError> {
    let name = toml_key(&entry.key);
    let Value::Table(table) = &entry.item.value else {
        let right = format!("a table, begun with [columns.{name}], with a `role`");
        return Err(wrong(&shown(&entry.key), &entry.item, &right));
    };
    let section = format!("[columns.{name}]");
    let fields = Fields::new(table, &section, COLUMN)?;
    let role = fields.required_choice("role", ROLES)?;
    if let Some(extra) = table.entries.iter().find(|entry| !keys_of(role).contains(&entry.key.as_str())) {
        let key = &extra.key;
        let fitting = ROLES.iter().filter(|(_, role)| keys_of(*role).contains(&key.as_str()));
        let roles = list(fitting.map(|(name, _)| *name));
        let message = format!("`{key}` has no effect for role \"{}\"; it is for {roles}", role.name());
        return Err(PolicyError::new(&extra.key_span, message));
    }
    let kind = fields.choice("type", KINDS)?;
    let format = format(&fields, kind)?;
    let kind = kind.or(format.as_ref().map(|_| Kind::Date));
    let hierarchy = hierarchy(&fields, kind)?;
    if matches!(role, Role::Sensitive | Role::Class)
        && !matches!(hierarchy, HierarchyChoice::Default | HierarchyChoice::File(_))
        && let Some(item) = fields.item("hierarchy")
    {
        let message = format!("the `hierarchy` of a column of role \"{}\" must be a file", role.name());
        return Err(PolicyError::new(&item.span, message).help(
            "its values are released unchanged; the file only gives their distances, for t-closeness. To make values less \
             precise, use the role quasi-identifier",
        ));
    }
    let implied = match hierarchy {
        HierarchyChoice::Prefix(_) => Some(Kind::Category),
        HierarchyChoice::Dates(_) => Some(Kind::Date),
        _ => None,
    };
    Ok(ColumnPolicy {
        name: entry.key.clone(),
        role,
        kind: kind.or(implied),
        format,
        hierarchy,
        weight: weight(&fields)?,
        missing: missing(&fields, role)?,
        missing_texts: missing_texts(&fields)?,
        fold: fold(&fields)?,
    })
}

fn format(fields: &Fields<'_>, kind: Option<Kind>) -> Result<Option<DateFormat>, PolicyError> {
    let right = "how dates are written, in the notation of strftime, e.g. \"%d.%m.%Y\" for 31.03.1984";
    let (Some(text), Some(item)) = (fields.text("format", right)?, fields.item("format")) else { return Ok(None) };
    if let Some(kind) = kind.filter(|kind| *kind != Kind::Date) {
        let message = format!("`format` is for dates, but `type` is \"{}\"", kind.name());
        return Err(PolicyError::new(&item.span, message));
    }
    DateFormat::new(text).map(Some).map_err(|problem| wrong("format", item, right).help(problem))
}

fn weight(fields: &Fields<'_>) -> Result<f64, PolicyError> {
    if let Some(item) = fields.item("weight")
        && as_number(&item.value) == Some(0.0)
    {
        let error = PolicyError::new(&item.span, "`weight` is 0; it must be above 0");
        return Err(error.help("if the column cannot identify anyone, give it another role"));
    }
    document::weight(fields)
}

fn missing(fields: &Fields<'_>, role: Role) -> Result<MissingRule, PolicyError> {
    match (fields.choice("missing", MISSING)?, fields.item("missing")) {
        (Some(MissingRule::Suppress), Some(item)) if role != Role::QuasiIdentifier => {
            let fate = if role.is_released() { "whose values are released unchanged" } else { "which is not released" };
            let right = format!("\"category\" or \"error\" for role \"{}\", {fate}", role.name());
            Err(wrong("missing", item, &right))
        }
        (rule, _) => Ok(rule.unwrap_or_default()),
    }
}

fn missing_texts(fields: &Fields<'_>) -> Result<Vec<String>, PolicyError> {
    let right = "a list of texts that mean a missing value in this column, besides those under `missing` in [input]";
    let texts = fields.texts("missing-texts", right)?.unwrap_or_default();
    Ok(texts.into_iter().map(|(text, _)| text.to_owned()).collect())
}

fn fold(fields: &Fields<'_>) -> Result<bool, PolicyError> {
    let right = "true (the default: texts that differ only in blanks, case, Unicode form or the spelling of a number \
                 count as one value) or false";
    let fold = fields.read("fold", right, |value| match value {
        Value::Bool(fold) => Some(*fold),
        _ => None,
    })?;
    Ok(fold.unwrap_or(true))
}

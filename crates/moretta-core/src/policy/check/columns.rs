//! `[columns]`: what each column is, and how it may be made less precise.

use super::super::error::{PolicyError, shown};
use super::super::header::toml_key;
use super::super::suggest::nearest;
use super::super::tree::{Entry, Item, Value};
use super::super::{ColumnPolicy, HierarchyChoice};
use super::fields::{self, Fields, as_number, section, wrong};
use crate::schema::{Kind, MissingRule, Role};

const ROLES: &[(&str, Role)] = &[
    ("identifier", Role::Identifier),
    ("quasi-identifier", Role::QuasiIdentifier),
    ("sensitive", Role::Sensitive),
    ("class", Role::Class),
    ("insensitive", Role::Insensitive),
];
const KINDS: &[(&str, Kind)] = &[("number", Kind::Number), ("category", Kind::Category)];
const MISSING: &[(&str, MissingRule)] =
    &[("category", MissingRule::Category), ("suppress", MissingRule::Suppress), ("error", MissingRule::Error)];

/// Ways to build a hierarchy from the data that the policy language names and this version does not have.
const LATER: &[&str] = &["iotf", "otf", "chu", "han"];

const HIERARCHY: &str =
    "the path of a hierarchy file (such as \"ages.csv\"), \"free\", { widths = [..] } or { bins = [..] }";

/// As the policy writes a role.
pub(super) fn role_name(role: Role) -> &'static str {
    ROLES.iter().find(|(_, other)| *other == role).map_or("", |(name, _)| name)
}

/// Which keys mean something for which role.
fn keys_of(role: Role) -> &'static [&'static str] {
    match role {
        Role::QuasiIdentifier => fields::COLUMN,
        Role::Sensitive | Role::Class => &["role", "type", "hierarchy", "missing"],
        Role::Identifier | Role::Insensitive => &["role"],
    }
}

pub(super) fn columns(policy: &Fields<'_>) -> Result<Vec<ColumnPolicy>, PolicyError> {
    let Some(table) = section(policy.table, "columns")?.filter(|table| !table.entries.is_empty()) else {
        let span = policy.get("columns").map_or(&policy.table.span, |entry| &entry.item.span);
        let error = PolicyError::new(span, "the policy names no columns");
        return Err(
            error.help("each column of the input needs a table: [columns.age] with role = \"quasi-identifier\"")
        );
    };
    let mut columns = Vec::with_capacity(table.entries.len());
    let mut class: Option<&str> = None;
    for entry in &table.entries {
        let column = column(entry)?;
        if column.role == Role::Class {
            if let Some(first) = class {
                let (first, second) = (shown(first), shown(&entry.key));
                let message = format!("`{first}` and `{second}` both have the role class; at most one column may");
                return Err(
                    PolicyError::new(&entry.key_span, message).help("the other may be sensitive or insensitive")
                );
            }
            class = Some(&entry.key);
        }
        columns.push(column);
    }
    if columns.iter().all(|column| column.role != Role::QuasiIdentifier) {
        let span = table.entries.first().map_or(&table.span, |entry| &entry.key_span);
        let error = PolicyError::new(span, "no column has the role quasi-identifier, so there is nothing to anonymise");
        return Err(error.help("give it to the columns that could be joined with outside data to find a person"));
    }
    Ok(columns)
}

fn column(entry: &Entry) -> Result<ColumnPolicy, PolicyError> {
    let name = toml_key(&entry.key);
    let Value::Table(table) = &entry.item.value else {
        return Err(wrong(
            &shown(&entry.key),
            &entry.item,
            &format!("a table, begun with [columns.{name}], with a `role`"),
        ));
    };
    let section = format!("[columns.{name}]");
    let fields = Fields::new(table, &section, fields::COLUMN)?;
    let Some(role) = fields.choice("role", ROLES)? else {
        let roles = fields::list(ROLES.iter().map(|(name, _)| *name));
        return Err(fields.missing("role", &roles));
    };
    if let Some(extra) = table.entries.iter().find(|entry| !keys_of(role).contains(&entry.key.as_str())) {
        let key = &extra.key;
        let roles: Vec<_> = ROLES.iter().filter(|(_, role)| keys_of(*role).contains(&key.as_str())).collect();
        let roles = fields::list(roles.iter().map(|(name, _)| *name));
        let message = format!("`{key}` means nothing for role \"{}\"; it is for {roles}", role_name(role));
        return Err(PolicyError::new(&extra.key_span, message));
    }
    let kind = fields.choice("type", KINDS)?;
    Ok(ColumnPolicy {
        name: entry.key.clone(),
        role,
        kind,
        hierarchy: hierarchy(&fields, kind)?,
        weight: weight(&fields)?,
        missing: missing(&fields, role)?,
    })
}

fn weight(fields: &Fields<'_>) -> Result<f64, PolicyError> {
    if let Some(item) = fields.item("weight")
        && as_number(item) == Some(0.0)
    {
        let error = PolicyError::new(&item.span, "`weight` is 0; it must be above 0");
        return Err(error.help("leave the column out of the quasi-identifier instead, if it cannot identify anyone"));
    }
    Ok(fields.number("weight", "a number above 0 (1 unless set)", |weight| weight > 0.0)?.unwrap_or(1.0))
}

fn missing(fields: &Fields<'_>, role: Role) -> Result<MissingRule, PolicyError> {
    match (fields.choice("missing", MISSING)?, fields.item("missing")) {
        (Some(MissingRule::Suppress), Some(item)) if role != Role::QuasiIdentifier => {
            let right =
                format!("\"category\" or \"error\" for role \"{}\", whose values leave as they are", role_name(role));
            Err(wrong("missing", item, &right))
        }
        (rule, _) => Ok(rule.unwrap_or_default()),
    }
}

fn hierarchy(fields: &Fields<'_>, kind: Option<Kind>) -> Result<HierarchyChoice, PolicyError> {
    let Some(item) = fields.item("hierarchy") else {
        return Ok(HierarchyChoice::Default);
    };
    let choice = match &item.value {
        Value::Text(text) => named(text, item)?,
        Value::Table(table) => {
            let inner = Fields::new(table, "`hierarchy`", &["widths", "bins"])?;
            match (inner.item("widths"), inner.item("bins")) {
                (Some(item), None) => HierarchyChoice::Widths(widths(item)?),
                (None, Some(item)) => HierarchyChoice::Bins(bins(item)?),
                (Some(_), Some(second)) => {
                    return Err(PolicyError::new(
                        &second.span,
                        "`hierarchy` has both `widths` and `bins`; it must have one",
                    ));
                }
                (None, None) => return Err(wrong("hierarchy", item, HIERARCHY)),
            }
        }
        _ => return Err(wrong("hierarchy", item, HIERARCHY)),
    };
    let for_numbers = matches!(choice, HierarchyChoice::Free | HierarchyChoice::Widths(_) | HierarchyChoice::Bins(_));
    if for_numbers && kind == Some(Kind::Category) {
        let message = "this `hierarchy` is for numbers, but `type` is \"category\"";
        return Err(PolicyError::new(&item.span, message)
            .help("a category has a hierarchy file, or none: then all its values are directly under `*`"));
    }
    Ok(choice)
}

/// A hierarchy that is given as a text.
fn named(text: &str, item: &Item) -> Result<HierarchyChoice, PolicyError> {
    if text == "free" {
        return Ok(HierarchyChoice::Free);
    }
    if LATER.iter().any(|later| later.eq_ignore_ascii_case(text)) {
        let message = format!("`hierarchy` is {item}, which this version does not build yet; it must be {HIERARCHY}");
        return Err(PolicyError::new(&item.span, message));
    }
    if text.contains(['.', '/', '\\']) {
        return Ok(HierarchyChoice::File(text.to_owned()));
    }
    let help = match nearest(text, ["free", "widths", "bins"]) {
        Some("free") => Some("did you mean \"free\"?".to_owned()),
        Some(near) => Some(format!("did you mean {{ {near} = [..] }}?")),
        None if text.is_empty() => None,
        None => Some(format!("if it is a file, write \"./{0}\" or \"{0}.csv\"", shown(text))),
    };
    Err(wrong("hierarchy", item, HIERARCHY).maybe_help(help))
}

fn widths(item: &Item) -> Result<Vec<f64>, PolicyError> {
    let right = "a list of numbers above 0, each a multiple of the one before and larger, e.g. [5, 10, 20]";
    let widths = numbers("widths", item, right, 1)?;
    let mut last: Option<f64> = None;
    for (width, item) in &widths {
        let nests = last.is_none_or(|last| crate::hierarchy::numeric::widths::nests(last, *width));
        match last {
            _ if *width <= 0.0 => {
                return Err(PolicyError::new(&item.span, format!("`widths` holds {item}; it must be {right}")));
            }
            Some(last) if !nests => {
                let message = format!("`widths` has {item} after {last}; it must be {right}");
                return Err(PolicyError::new(&item.span, message));
            }
            _ => last = Some(*width),
        }
    }
    Ok(widths.into_iter().map(|(width, _)| width).collect())
}

fn bins(item: &Item) -> Result<Vec<f64>, PolicyError> {
    let right =
        "a list of at least two numbers, the edges of the bins, each larger than the one before, e.g. [0, 18, 65, 120]";
    let edges = numbers("bins", item, right, 2)?;
    for pair in edges.windows(2) {
        if let [(before, _), (edge, item)] = pair
            && edge <= before
        {
            let message = format!("`bins` has {item} after {before}; it must be {right}");
            return Err(PolicyError::new(&item.span, message));
        }
    }
    Ok(edges.into_iter().map(|(edge, _)| edge).collect())
}

fn numbers<'t>(key: &str, item: &'t Item, right: &str, least: usize) -> Result<Vec<(f64, &'t Item)>, PolicyError> {
    let Value::Array(items) = &item.value else {
        return Err(wrong(key, item, right));
    };
    if items.len() < least {
        return Err(wrong(key, item, right));
    }
    let number = |item: &'t Item| match as_number(item) {
        Some(number) => Ok((number, item)),
        None => Err(PolicyError::new(&item.span, format!("`{key}` holds {item}; it must be {right}"))),
    };
    items.iter().map(number).collect()
}

//! `[privacy]`: what must hold in the release, and of which columns.

use std::collections::HashMap;

use super::super::error::PolicyError;
use super::super::header::toml_key;
use super::super::tree::{Span, Table};
use super::super::{
    ColumnPolicy, Distance, LDiversity, LDiversityKind, Lkc, Privacy, TCloseness, Template, TemplateValues,
};
use super::fields::{self, Fields, section, section_written, wrong};
use crate::schema::Role;
use crate::suggest::nearest;
use crate::text::{count, counted, shown};

const K: &str = "a whole number of at least 1 (usual: 5 to 50)";

const KEPT: &str = "a column with role \"sensitive\" or \"class\"";

const DISTANCES: &[(&str, Distance)] =
    &[("equal", Distance::Equal), ("ordered", Distance::Ordered), ("hierarchical", Distance::Hierarchical)];

const ASK: &str = "ask for `k` of at least 2 (usual: 5 to 50), or add [[privacy.template]], \
                   [privacy.lkc], [[privacy.l-diversity]] or [[privacy.t-closeness]]";

pub(super) fn privacy(policy: &Fields<'_>, columns: &[ColumnPolicy]) -> Result<Privacy, PolicyError> {
    let Some(table) = section(policy.table, "privacy")? else {
        return Err(policy.error("the policy has no [privacy]: it states no guarantee").help(ASK));
    };
    let fields = Fields::new(table, "[privacy]", fields::PRIVACY)?;
    let columns = Columns::new(columns);
    let right = "a share of the records, from 0 to 1 (usual: 0 to 0.05)";
    let max_suppressed = fields.number("max-suppressed", right, |share| (0.0..=1.0).contains(&share))?.unwrap_or(0.0);
    let privacy = Privacy {
        k: fields.whole("k", K)?,
        max_suppressed,
        templates: each(&fields, "template", "[[privacy.template]]", |table| template(table, &columns))?,
        lkc: lkc(&fields, &columns)?,
        l_diversity: each(&fields, "l-diversity", "[[privacy.l-diversity]]", |table| l_diversity(table, &columns))?,
        t_closeness: each(&fields, "t-closeness", "[[privacy.t-closeness]]", |table| t_closeness(table, &columns))?,
    };
    guarantees_something(&privacy, &fields)?;
    Ok(privacy)
}

fn each<T>(
    fields: &Fields<'_>,
    key: &str,
    section: &str,
    read: impl Fn(&Table) -> Result<T, PolicyError>,
) -> Result<Vec<T>, PolicyError> {
    fields.tables(key, section)?.into_iter().map(read).collect()
}

/// Something must be asked for that not every table satisfies: a release is proved against the policy, and a proof
/// of nothing looks like one of something.
fn guarantees_something(privacy: &Privacy, fields: &Fields<'_>) -> Result<(), PolicyError> {
    let asked = [
        privacy.k.is_some_and(|k| k > 1),
        privacy.templates.iter().any(|template| template.max_confidence < 1.0),
        privacy.lkc.is_some(),
        privacy.l_diversity.iter().any(|diversity| diversity.l > 1.0),
        privacy.t_closeness.iter().any(|closeness| closeness.t < 1.0),
    ];
    if asked.contains(&true) {
        return Ok(());
    }
    let empty = privacy.templates.is_empty() && privacy.l_diversity.is_empty() && privacy.t_closeness.is_empty();
    let error = match fields.item("k") {
        Some(item) if empty => {
            PolicyError::new(&item.span, "`k` is 1 and nothing else is asked: that guarantees nothing")
        }
        None if empty => fields.error("[privacy] states no guarantee"),
        _ => fields.error("[privacy] guarantees nothing: every table satisfies what it asks for"),
    };
    Err(error.help(ASK))
}

/// The columns by name, for those that `[privacy]` and `[measure]` name.
pub(super) struct Columns<'c> {
    all: &'c [ColumnPolicy],
    roles: HashMap<&'c str, Role>,
}

impl<'c> Columns<'c> {
    pub fn new(all: &'c [ColumnPolicy]) -> Columns<'c> {
        Columns { all, roles: all.iter().map(|column| (column.name.as_str(), column.role)).collect() }
    }

    /// Refuses a column that is not declared, or in a role that `fits` refuses.
    fn require(
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
                    None => format!("add [columns.{}], or name {right}", toml_key(name)),
                };
                Err(PolicyError::new(span, message).help(help))
            }
        }
    }

    fn of_role(&self, role: Role) -> u64 {
        self.all.iter().filter(|column| column.role == role).count() as u64
    }

    /// The column that a privacy model guards.
    fn guarded(&self, fields: &Fields<'_>) -> Result<String, PolicyError> {
        fields.required("column", KEPT, self.kept(fields)?)
    }

    /// The column that is named, whose values leave as they are.
    pub fn kept(&self, fields: &Fields<'_>) -> Result<Option<String>, PolicyError> {
        let Some(name) = fields.text("column", KEPT)? else { return Ok(None) };
        self.require("column", name, fields.span("column"), KEPT, |role| {
            matches!(role, Role::Sensitive | Role::Class)
        })?;
        Ok(Some(name.to_owned()))
    }
}

fn above_zero_to_one(number: f64) -> bool {
    number > 0.0 && number <= 1.0
}

fn template(table: &Table, columns: &Columns<'_>) -> Result<Template, PolicyError> {
    let fields = Fields::new(table, "[[privacy.template]]", fields::TEMPLATE)?;
    let right = "a list of columns with role \"quasi-identifier\", at least one";
    let given = fields.required("given", right, fields.texts("given", right)?)?;
    if let (true, Some(item)) = (given.is_empty(), fields.item("given")) {
        return Err(wrong("given", item, right));
    }
    for (name, span) in &given {
        let right = "columns with role \"quasi-identifier\"";
        columns.require("given", name, span, right, |role| role == Role::QuasiIdentifier)?;
    }
    let column = columns.guarded(&fields)?;
    let values = template_values(&fields)?;
    let right = "a number above 0, up to 1 (0.75 is 75 %)";
    let max_confidence = fields.number("max-confidence", right, above_zero_to_one)?;
    let max_confidence = fields.required("max-confidence", right, max_confidence)?;
    Ok(Template { given: given.into_iter().map(|(name, _)| name.to_owned()).collect(), column, values, max_confidence })
}

fn template_values(fields: &Fields<'_>) -> Result<TemplateValues, PolicyError> {
    let right = "a list of the values to guard, at least one";
    let values = fields.texts("values", right)?;
    let share = "a share of the column's values, above 0, up to 1 (0.5 is the rarer half)";
    let rarest = fields.number("rarest", share, above_zero_to_one)?;
    match (values, rarest) {
        (Some(values), None) if !values.is_empty() => {
            Ok(TemplateValues::Listed(values.into_iter().map(|(value, _)| value.to_owned()).collect()))
        }
        (None, Some(share)) => Ok(TemplateValues::Rarest(share)),
        (Some(_), Some(_)) => {
            let span = fields.get("rarest").map_or(&fields.table.span, |entry| &entry.key_span);
            Err(PolicyError::new(span, "the template has both `values` and `rarest`; it must have one of them"))
        }
        (_, None) => match fields.item("values") {
            Some(item) => Err(wrong("values", item, right)),
            None => Err(fields
                .error("the template does not say which values it guards")
                .help("it needs values = [\"..\"], or rarest = 0.5 for the rarer half")),
        },
    }
}

fn lkc(privacy: &Fields<'_>, columns: &Columns<'_>) -> Result<Option<Lkc>, PolicyError> {
    let Some(table) = section_written(privacy.table, "lkc", "privacy.lkc")? else { return Ok(None) };
    let fields = Fields::new(table, "[privacy.lkc]", fields::LKC)?;
    let right = "a whole number of at least 1: how many quasi-identifiers somebody may know (usual: 2 to 4)";
    let l = fields.required("l", right, fields.whole("l", right)?)?;
    let k = fields.required("k", K, fields.whole("k", K)?)?;
    let right = "a number above 0, up to 1 (0.6 is 60 %)";
    let c = fields.required("c", right, fields.number("c", right, above_zero_to_one)?)?;
    if k == 1 && c >= 1.0 {
        let error =
            fields.error("[privacy.lkc] guarantees nothing: `k` is 1 and `c` is 1, which every table satisfies");
        return Err(error.help("raise `k` (usual: 5 to 50), lower `c` (0.6 is 60 %), or leave the section out"));
    }
    if columns.of_role(Role::Sensitive) == 0 {
        let error = fields.error("[privacy.lkc] guards no column: `c` is for those with role \"sensitive\"");
        return Err(error.help("give a column that role, or ask for `k` under [privacy] instead"));
    }
    few_enough_sets(&fields, l, columns.of_role(Role::QuasiIdentifier))?;
    Ok(Some(Lkc { l, k, c }))
}

/// Each set of `l` columns is judged on its own, so there must not be too many.
fn few_enough_sets(fields: &Fields<'_>, l: u64, columns: u64) -> Result<(), PolicyError> {
    const COUNTED: u64 = 1_000_000_000;
    let found = Lkc::sets(columns, l, COUNTED);
    if found <= Lkc::MOST_SETS {
        return Ok(());
    }
    let many = if found < COUNTED { count(found) } else { format!("more than {}", count(COUNTED - 1)) };
    let message = format!(
        "`l` is {l}: there are {many} sets of {l} of the {columns} quasi-identifiers, and at most {} are judged; lower `l`",
        count(Lkc::MOST_SETS)
    );
    let fits = (1..l.min(columns))
        .rev()
        .map(|l| (l, Lkc::sets(columns, l, COUNTED)))
        .find(|(_, sets)| *sets <= Lkc::MOST_SETS);
    let help = fits.map(|(l, sets)| format!("`l = {l}` has {}", counted(sets, "set", "sets")));
    Err(PolicyError::new(fields.span("l"), message).maybe_help(help))
}

fn l_diversity(table: &Table, columns: &Columns<'_>) -> Result<LDiversity, PolicyError> {
    #[derive(Clone, Copy, PartialEq)]
    enum Word {
        Distinct,
        Entropy,
        Recursive,
    }
    const WORDS: &[(&str, Word)] =
        &[("distinct", Word::Distinct), ("entropy", Word::Entropy), ("recursive", Word::Recursive)];

    let fields = Fields::new(table, "[[privacy.l-diversity]]", fields::L_DIVERSITY)?;
    let column = columns.guarded(&fields)?;
    let word = fields.choice("kind", WORDS)?.unwrap_or(Word::Distinct);
    let (least, right) = match word {
        Word::Distinct => (1.0, "a whole number of at least 1 (usual: 2 to 10)"),
        Word::Entropy => (1.0, "a number of at least 1 (usual: 2 to 10)"),
        Word::Recursive => (2.0, "a whole number of at least 2 (usual: 2 to 10)"),
    };
    let fits = |l: f64| l >= least && (word == Word::Entropy || l.fract() == 0.0);
    let l = fields.required("l", right, fields.number("l", right, fits)?)?;
    let right = "a number above 0 (usual: 1 to 5)";
    let c = fields.number("c", right, |c| c > 0.0)?;
    let kind = match (word, c, fields.get("c")) {
        (Word::Recursive, Some(c), _) => LDiversityKind::Recursive { c },
        (Word::Recursive, None, _) => {
            return Err(fields.error(format!("recursive l-diversity needs `c`, which must be {right}")));
        }
        (_, _, Some(c)) => {
            let message = "`c` is only for kind = \"recursive\"; leave it out, or set that";
            return Err(PolicyError::new(&c.key_span, message));
        }
        (Word::Distinct, ..) => LDiversityKind::Distinct,
        (Word::Entropy, ..) => LDiversityKind::Entropy,
    };
    Ok(LDiversity { column, l, kind })
}

fn t_closeness(table: &Table, columns: &Columns<'_>) -> Result<TCloseness, PolicyError> {
    let fields = Fields::new(table, "[[privacy.t-closeness]]", fields::T_CLOSENESS)?;
    let column = columns.guarded(&fields)?;
    let right = "a number from 0 to 1 (usual: 0.1 to 0.3)";
    let t = fields.required("t", right, fields.number("t", right, |t| (0.0..=1.0).contains(&t))?)?;
    Ok(TCloseness { column, t, distance: fields.required_choice("distance", DISTANCES)? })
}

//! Guesses the role of a column from its name and values, with a reason. No reason contains a value of the data.

use moretta_core::{schema::Role, text::count};

use super::{
    look::{ENOUGH, Look, Shape},
    topics::{Meaning, POSTCODE, Words},
};

/// Maximum number of distinct numbers that are probably codes of categories, often demographic ones; not tuned.
const MAX_CODED_NUMBERS: u64 = 12;
/// Maximum number of values of a class column; not tuned.
const MAX_CLASSES: u64 = 20;

/// Guess for one column.
#[derive(Debug)]
pub(super) struct Decision {
    pub role: Role,
    pub why: String,
    pub notes: Vec<String>,
    /// Whether the values are codes of digits, not numbers.
    pub is_code: bool,
    /// Rank as a candidate for the class column (higher is better), and the reason.
    class: Option<(u8, String)>,
}

impl Decision {
    fn new(role: Role, why: impl Into<String>) -> Self {
        Self { role, why: why.into(), notes: Vec::new(), is_code: false, class: None }
    }

    fn note(mut self, note: &str) -> Self {
        self.notes.push(note.to_owned());
        self
    }

    fn or_class(self, rank: u8, why: impl Into<String>) -> Self {
        Self { class: Some((rank, why.into())), ..self }
    }
}

/// `3 different values`, with a noun for their type.
fn amount(look: &Look) -> String {
    let (one, many) = match look.shape {
        Shape::Nothing => return "no values".to_owned(),
        Shape::Numbers { .. } => ("number", "numbers"),
        Shape::Code => ("code of digits", "codes of digits"),
        Shape::Dates(_) => ("date", "dates"),
        _ => ("value", "values"),
    };
    match look.different {
        1 => format!("always the same {one}"),
        different => format!("{} different {many}", count(different)),
    }
}

/// Guesses the role of one column.
pub(super) fn decide(name: &str, look: &Look, complete: bool, last: bool) -> Decision {
    let words = Words::of(name);
    let mut decision = by_strong_values(look)
        .or_else(|| by_name(&words, look))
        .or_else(|| by_values(look))
        .unwrap_or_else(|| by_default(look, complete));
    let by_value = !matches!(look.shape, Shape::Sexes | Shape::MaritalStatuses | Shape::Dates(_));
    if last && words.topic().is_none() && by_value && matches!(look.different, 2 | 3) && look.present >= ENOUGH {
        let why = format!("the last column, with {}: looks like a value to predict", amount(look));
        decision = decision.or_class(1, why);
    }
    decision.is_code = look.shape == Shape::Code || is_postcode(&words, look);
    if look.shape == Shape::Code {
        decision.notes.push("Some values start with 0, so they are read as codes, not as numbers.".to_owned());
    } else if decision.is_code && look.shape != Shape::Texts {
        decision.notes.push("Postcodes are read as codes, not as numbers.".to_owned());
    }
    decision
}

/// Whether the name says postcode and the values are whole numbers or texts.
fn is_postcode(words: &Words, look: &Look) -> bool {
    matches!(look.shape, Shape::Numbers { whole: true, .. } | Shape::Texts)
        && words.topic().is_some_and(|topic| topic.what == POSTCODE)
}

fn by_strong_values(look: &Look) -> Option<Decision> {
    match look.shape {
        Shape::Personal(what) => {
            Some(Decision::new(Role::Identifier, format!("its values look like {what}, so it is removed")))
        }
        Shape::FreeText => {
            Some(Decision::new(Role::Identifier, "free text, which may contain names, so it is removed"))
        }
        _ => None,
    }
}

fn by_name(words: &Words, look: &Look) -> Option<Decision> {
    if words.says_id() && look.nearly_unique() {
        return Some(unique_id(look));
    }
    let topic = words.topic()?;
    let says = |rest: &str| format!("the name suggests {}, with {}: {rest}", topic.what, amount(look));
    let quasi = || Decision::new(Role::QuasiIdentifier, says("an attacker may know it"));
    Some(match topic.meaning {
        Meaning::Identifier | Meaning::WeakIdentifier => {
            let few = match topic.meaning {
                Meaning::Identifier => look.different <= 3,
                _ => look.different.saturating_mul(20) < look.present,
            };
            if few && look.present >= ENOUGH {
                let why = says("too few to identify a person, but an attacker may know it");
                return Some(Decision::new(Role::QuasiIdentifier, why));
            }
            Decision::new(Role::Identifier, format!("the name suggests {}, so it is removed", topic.what))
        }
        Meaning::SurveyWeight => survey_weight(look),
        Meaning::Quasi => quasi(),
        Meaning::Weight => match look.shape {
            Shape::Numbers { low, high, .. } if low < 0.0 || high > 700.0 => survey_weight(look),
            _ => quasi(),
        },
        Meaning::Year => match look.shape {
            Shape::Numbers { low, high, whole: true, .. } if low >= 1850.0 && high <= 2100.0 => quasi(),
            _ => return None,
        },
        Meaning::Class if (2..=MAX_CLASSES).contains(&look.different) => {
            let rank = if words.is_single() { 3 } else { 2 };
            Decision::new(Role::Sensitive, says("another column is the class, so this one is protected as sensitive"))
                .or_class(rank, says("looks like a value to predict"))
        }
        Meaning::Class => return None,
        Meaning::Money => {
            let decision = Decision::new(Role::Sensitive, says("an attacker should not learn it"));
            match look.different {
                2 | 3 => decision.or_class(2, says("looks like a value to predict")),
                _ => decision,
            }
        }
        Meaning::Sensitive => Decision::new(Role::Sensitive, says("an attacker should not learn it")),
    })
}

fn survey_weight(look: &Look) -> Decision {
    let why = format!("looks like a survey weight ({}), which is no property of a person", amount(look));
    Decision::new(Role::Insensitive, why)
        .note("If an attacker may know the weights, make it an identifier: they single people out.")
}

fn unique_id(look: &Look) -> Decision {
    let (different, present) = (count(look.different), count(look.present));
    let why = format!("{different} different values in {present} records: looks like an id, so it is removed");
    Decision::new(Role::Identifier, why)
}

fn by_values(look: &Look) -> Option<Decision> {
    let quasi = |what: &str| Decision::new(Role::QuasiIdentifier, format!("its values look like {what}"));
    Some(match look.shape {
        Shape::Dates(_) => quasi("dates, which an attacker may know"),
        Shape::Sexes => quasi("sexes, which an attacker knows"),
        Shape::MaritalStatuses => quasi("marital statuses, which an attacker may know"),
        Shape::Icd => Decision::new(
            Role::Sensitive,
            "its values look like codes of diagnoses, which an attacker should not learn",
        ),
        Shape::Texts | Shape::Code if look.nearly_unique() => unique_id(look),
        Shape::Numbers { .. } if look.is_running_number() => unique_id(look),
        _ => return None,
    })
}

fn by_default(look: &Look, complete: bool) -> Decision {
    match (&look.shape, look.different) {
        (Shape::Nothing, _) if complete => Decision::new(Role::Insensitive, "it has no values"),
        (Shape::Nothing, _) => {
            let why = "no values in the sample: later records are unknown, so it is removed";
            Decision::new(Role::Identifier, why)
        }
        (_, 1) if complete => {
            Decision::new(Role::Insensitive, "the same value in every record, which distinguishes no person")
        }
        (Shape::Numbers { .. }, different) if different > MAX_CODED_NUMBERS => {
            let why = format!("{}: looks like a measurement that an attacker does not know", amount(look));
            let decision = Decision::new(Role::Insensitive, why);
            let unique = "Nearly every number is unique: if an attacker may know it, make it a quasi-identifier.";
            let known = "If an attacker may know it, make it a quasi-identifier.";
            decision.note(if look.nearly_unique() { unique } else { known })
        }
        _ => {
            let why = format!("{}; in doubt, an attacker may know it", amount(look));
            Decision::new(Role::QuasiIdentifier, why)
        }
    }
}

/// Gives the role of the class to the candidate with the highest rank, on ties to the last one.
pub(super) fn choose_class(decisions: &mut [Decision]) {
    let ranked = decisions.iter().enumerate().filter_map(|(index, decision)| Some((decision.class.as_ref()?.0, index)));
    if let Some((_, index)) = ranked.max()
        && let Some(decision) = decisions.get_mut(index)
        && let Some((_, why)) = decision.class.take()
    {
        (decision.role, decision.why) = (Role::Class, why);
    }
}

/// A policy needs a quasi-identifier: if none was found, the most plausible columns become one, with a reason.
pub(super) fn ensure_quasi_identifier(decisions: &mut [Decision], looks: &[Look]) {
    if decisions.iter().any(|decision| decision.role == Role::QuasiIdentifier) {
        return;
    }
    let tier = |at: usize| match decisions[at].role {
        Role::Insensitive if looks[at].different > 1 => 0,
        Role::Insensitive => 1,
        Role::Class => 2,
        Role::Sensitive => 3,
        Role::Identifier | Role::QuasiIdentifier | Role::Person | Role::Household => 4,
    };
    let mut order: Vec<usize> = (0..decisions.len().min(looks.len())).collect();
    order.sort_by_key(|&at| (tier(at), looks[at].different));
    let Some(best) = order.first().map(|&at| tier(at)) else { return };
    // Several measurements may be known together; of other roles, one column is enough for a valid policy.
    let chosen: Vec<usize> =
        order.into_iter().filter(|&at| tier(at) == best).take(if best == 0 { 3 } else { 1 }).collect();
    for at in chosen {
        let decision = &mut decisions[at];
        decision.role = Role::QuasiIdentifier;
        decision.why = format!(
            "a policy needs a quasi-identifier and no column looks like one, so this one was chosen (otherwise: {})",
            decision.why
        );
    }
}

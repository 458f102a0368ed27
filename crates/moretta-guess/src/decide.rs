//! From a column's name and look to a role, and the reason in words. No reason holds a value of the data.

use moretta_core::schema::Role;
use moretta_core::text::count;

use super::look::{ENOUGH, Look, Shape};
use super::words::{Meaning, POSTCODE, Words};

/// Numbers with at most so many different values are categories in disguise, often demographic ones.
const FEW_NUMBERS: u64 = 12;
/// A class has at most so many values.
const MOST_CLASSES: u64 = 20;

/// What a column may be.
#[derive(Debug)]
pub(super) struct Decision {
    pub role: Role,
    pub why: String,
    pub notes: Vec<String>,
    /// Digits that do not count anything.
    pub is_code: bool,
    /// How well it would do as the class, and why.
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

/// `3 different values`, in the words that fit them.
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

/// Guesses one column's role.
pub(super) fn decide(name: &str, look: &Look, complete: bool, last: bool) -> Decision {
    let words = Words::of(name);
    let mut decision = by_strong_values(look)
        .or_else(|| by_name(&words, look))
        .or_else(|| by_values(look))
        .unwrap_or_else(|| by_default(look, complete));
    let by_value = !matches!(look.shape, Shape::Sexes | Shape::MaritalStatuses | Shape::Dates(_));
    if last && words.topic().is_none() && by_value && matches!(look.different, 2 | 3) && look.present >= ENOUGH {
        let why = format!("the last column, with {}: looks like what is to be predicted", amount(look));
        decision = decision.or_class(1, why);
    }
    decision.is_code = look.shape == Shape::Code || is_postcode(&words, look);
    if look.shape == Shape::Code {
        decision.notes.push("Some of its digits start with 0, so it is read as a code, not as a number.".to_owned());
    } else if decision.is_code && look.shape != Shape::Texts {
        decision.notes.push("A postcode is read as a code, not as a number.".to_owned());
    }
    decision
}

/// Digits under the name of a postcode are a code, and so are texts. Fractions are not digits.
fn is_postcode(words: &Words, look: &Look) -> bool {
    matches!(look.shape, Shape::Numbers { whole: true, .. } | Shape::Texts)
        && words.topic().is_some_and(|topic| topic.what == POSTCODE)
}

fn by_strong_values(look: &Look) -> Option<Decision> {
    match look.shape {
        Shape::Personal(what) => {
            Some(Decision::new(Role::Identifier, format!("its values look like {what}, so it is dropped")))
        }
        Shape::FreeText => {
            Some(Decision::new(Role::Identifier, "free text, which may hold names and anything else, so it is dropped"))
        }
        _ => None,
    }
}

fn by_name(words: &Words, look: &Look) -> Option<Decision> {
    if words.says_id() && look.nearly_unique() {
        return Some(unique_id(look));
    }
    let topic = words.topic()?;
    let says = |rest: &str| format!("the name says {}, with {}: {rest}", topic.what, amount(look));
    let quasi = || Decision::new(Role::QuasiIdentifier, says("others may know it"));
    Some(match topic.meaning {
        Meaning::Identifier | Meaning::WeakIdentifier => {
            let few = match topic.meaning {
                Meaning::Identifier => look.different <= 3,
                _ => look.different.saturating_mul(20) < look.present,
            };
            if few && look.present >= ENOUGH {
                let why = says("too few to name a person, but others may know it");
                return Some(Decision::new(Role::QuasiIdentifier, why));
            }
            Decision::new(Role::Identifier, format!("the name says {}, so it is dropped", topic.what))
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
        Meaning::Class if (2..=MOST_CLASSES).contains(&look.different) => {
            let rank = if words.is_single() { 3 } else { 2 };
            Decision::new(Role::Sensitive, says("another column is the class, so it is kept as one to guard"))
                .or_class(rank, says("looks like what is to be predicted"))
        }
        Meaning::Class => return None,
        Meaning::Money => {
            let decision = Decision::new(Role::Sensitive, says("nobody should learn it about a person"));
            match look.different {
                2 | 3 => decision.or_class(2, says("looks like what is to be predicted")),
                _ => decision,
            }
        }
        Meaning::Sensitive => Decision::new(Role::Sensitive, says("nobody should learn it about a person")),
    })
}

fn survey_weight(look: &Look) -> Decision {
    let why = format!("looks like a survey weight ({}), which says nothing about a person", amount(look));
    Decision::new(Role::Insensitive, why)
        .note("If others have the same weights, it singles people out: then it is an identifier.")
}

fn unique_id(look: &Look) -> Decision {
    let (different, present) = (count(look.different), count(look.present));
    let why = format!("{different} different values in {present} records: looks like an id, so it is dropped");
    Decision::new(Role::Identifier, why)
}

fn by_values(look: &Look) -> Option<Decision> {
    let quasi = |what: &str| Decision::new(Role::QuasiIdentifier, format!("its values look like {what}"));
    Some(match look.shape {
        Shape::Dates(_) => quasi("dates, which others may remember"),
        Shape::Sexes => quasi("the sexes, which others know"),
        Shape::MaritalStatuses => quasi("marital statuses, which others may know"),
        Shape::Icd => {
            Decision::new(Role::Sensitive, "its values look like codes of diagnoses, which nobody should learn")
        }
        Shape::Texts | Shape::Code if look.nearly_unique() => unique_id(look),
        Shape::Numbers { .. } if look.is_running_number() => unique_id(look),
        _ => return None,
    })
}

fn by_default(look: &Look, complete: bool) -> Decision {
    match (&look.shape, look.different) {
        (Shape::Nothing, _) if complete => Decision::new(Role::Insensitive, "there are no values in it"),
        (Shape::Nothing, _) => {
            let why = "no values in the records looked at: what later ones hold is unknown, so it is dropped";
            Decision::new(Role::Identifier, why)
        }
        (_, 1) if complete => {
            Decision::new(Role::Insensitive, "the same value in every record, which says nothing about a person")
        }
        (Shape::Numbers { .. }, different) if different > FEW_NUMBERS => {
            let why = format!("{}: looks like a measurement that others do not know", amount(look));
            let decision = Decision::new(Role::Insensitive, why);
            let unique = "Nearly every record has its own number: it singles people out if it is known to others.";
            let known = "It could be a quasi-identifier, if it is known to others.";
            decision.note(if look.nearly_unique() { unique } else { known })
        }
        _ => {
            let why = format!("{}, and nothing else to go by: in doubt, others may know it", amount(look));
            Decision::new(Role::QuasiIdentifier, why)
        }
    }
}

/// Gives the role of the class to the best candidate: by its name, then by its place. Of equals, the last.
pub(super) fn choose_class(decisions: &mut [Decision]) {
    let ranked = decisions.iter().enumerate().filter_map(|(at, decision)| Some((decision.class.as_ref()?.0, at)));
    if let Some((_, at)) = ranked.max()
        && let Some(decision) = decisions.get_mut(at)
        && let Some((_, why)) = decision.class.take()
    {
        (decision.role, decision.why) = (Role::Class, why);
    }
}

/// A policy needs a quasi-identifier. Where none was found, the likeliest columns become one, and say so.
pub(super) fn ensure_quasi_identifier(decisions: &mut [Decision], looks: &[Look]) {
    if decisions.iter().any(|decision| decision.role == Role::QuasiIdentifier) {
        return;
    }
    let tier = |at: usize| match decisions[at].role {
        Role::Insensitive if looks[at].different > 1 => 0,
        Role::Insensitive => 1,
        Role::Class => 2,
        Role::Sensitive => 3,
        Role::Identifier | Role::QuasiIdentifier => 4,
    };
    let mut order: Vec<usize> = (0..decisions.len().min(looks.len())).collect();
    order.sort_by_key(|&at| (tier(at), looks[at].different));
    let Some(best) = order.first().map(|&at| tier(at)) else { return };
    // Several measurements may be known together; of anything else, one is enough to have a policy.
    let chosen: Vec<usize> =
        order.into_iter().filter(|&at| tier(at) == best).take(if best == 0 { 3 } else { 1 }).collect();
    for at in chosen {
        let decision = &mut decisions[at];
        decision.role = Role::QuasiIdentifier;
        decision.why = format!(
            "a policy needs a quasi-identifier and no column looks like one, so this one stands in (otherwise: {})",
            decision.why
        );
    }
}

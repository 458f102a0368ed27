//! Numbers of persons, households, cases and other things: by uniqueness, by form, by name.

use moretta_core::{schema::Role, text::count};

use super::{Decision, Evidence};
use crate::{
    reading::Reading,
    topics::{OFFICIAL_NUMBER, POSTCODE},
    values::{ENOUGH, Numbers, Shape},
};

/// Things with a number that are no persons.
#[rustfmt::skip]
const THINGS: &[&str] = &[
    "encounter", "visit", "stay", "case", "fall", "order", "invoice", "transaction", "ticket", "product", "item", "provider",
    "organization", "organisation", "hospital", "school", "company", "firm", "employer", "branch", "station", "ward", "payer",
    "device", "session", "account", "utility", "plant", "site", "claim", "event", "contract", "vehicle", "car", "room",
    "class", "course", "doctor", "physician", "teacher", "gp", "arzt", "vertrag", "rechnung", "auftrag", "betrieb", "firma",
    "schule", "klinik", "schedule", "record", "row",
];

fn unique(column: &Evidence<'_>) -> Decision {
    // Amounts have five digits, too.
    let has_form = match &column.look.shape {
        Shape::Numbers(numbers) => numbers.digits.is_some_and(|digits| digits >= 5),
        shape => *shape == Shape::Uuids || column.look.has_form_of_ids,
    };
    let is_id = has_form || column.words.says_id() || column.look.is_running_number();
    let what = if is_id { "looks like an id" } else { "it names nearly every record" };
    Decision::new(Role::Identifier, format!("{}: {what}, so it is removed", column.amount_in_records()))
}

/// `2,000 records of 900 values`: how often a number of something repeats.
fn repetition(column: &Evidence<'_>) -> String {
    let first = if column.complete { "" } else { "the first " };
    let (records, different) = (count(column.look.present), count(column.look.different));
    format!("{first}{records} records have {different} different values")
}

pub(super) fn households(column: &Evidence<'_>) -> Option<Decision> {
    // A household of twenty is none; a table of a household each has no use for its number.
    let plausible = column.look.different >= ENOUGH
        && column.look.present <= column.look.different.saturating_mul(20)
        && !matches!(column.look.shape, Shape::Dates(_));
    if !(column.words.says_household_id() && plausible) {
        return None;
    }
    if !column.repeats() {
        return Some(Decision::new(Role::Identifier, "the name suggests the number of a household, so it is removed"));
    }
    let why = format!(
        "the name suggests the number of a household, and values repeat ({}): it is removed",
        repetition(column)
    );
    let note = "Who finds one person of a household finds all of them, and risk figures count that.";
    Some(Decision::new(Role::Household, why).note(note))
}

/// Numbers of persons that repeat. `table/persons.rs` chooses one of them.
pub(super) fn persons(column: &Evidence<'_>) -> Option<Decision> {
    let topic = column.words.topic(&column.look);
    // A passport that some lack does not say which records are of one person.
    let is_official = topic.is_some_and(|topic| topic.what == OFFICIAL_NUMBER) && column.look.missing == 0;
    let has_form = column.may_be_ids()
        || column.look.has_prefixed_numbers
        || is_official && matches!(column.look.shape, Shape::Personal(_));
    if !(has_form && column.repeats() && column.look.different >= ENOUGH) {
        return None;
    }
    let is_long = column.look.has_form_of_ids && column.look.longest.is_some_and(|longest| longest >= 8);
    let is_number_of_digits = |numbers: &Numbers| numbers.whole && numbers.digits.is_some_and(|digits| digits >= 7);
    let is_long_id = match &column.look.shape {
        Shape::Texts => is_long,
        // Amounts and measurements differ in their number of digits.
        Shape::Numbers(numbers) => is_number_of_digits(numbers),
        _ => false,
    };
    let strong_form = column.look.shape == Shape::Uuids || (is_long_id && !column.look.has_few_values());
    let person = match () {
        () if column.words.says_person() => 2,
        () if is_official => 2,
        () if column.words.has_any(THINGS) || !column.may_be_ids() && !column.words.is_only_id() => 0,
        () if column.words.is_only_id() => 2,
        () => u8::from(strong_form && topic.is_none()),
    };
    if person == 0 {
        return None;
    }
    let why = match column.words.says_person() {
        true => format!("the name suggests the number of a person, so it is removed ({})", repetition(column)),
        false if is_official => {
            format!("the name suggests {OFFICIAL_NUMBER}, so it is removed ({})", repetition(column))
        }
        false => format!("looks like an id that repeats, so it is removed ({})", repetition(column)),
    };
    Some(Decision { person, ..Decision::new(Role::Identifier, why) })
}

pub(super) fn universal(column: &Evidence<'_>) -> Option<Decision> {
    if column.look.shape != Shape::Uuids {
        return None;
    }
    Some(match column.look.nearly_unique() {
        true => unique(column),
        false => Decision::new(Role::Identifier, "its values look like universal ids, so it is removed"),
    })
}

/// Unique values under a name that says an id.
pub(super) fn unique_name(column: &Evidence<'_>) -> Option<Decision> {
    let may_be_id = !matches!(column.look.shape, Shape::Dates(_));
    (column.words.says_id() && column.look.nearly_unique() && may_be_id).then(|| unique(column))
}

/// The name says an id, and the values repeat: the number of a thing in another table, or a code.
pub(super) fn foreign(column: &Evidence<'_>) -> Option<Decision> {
    let may_be_id = match &column.look.shape {
        Shape::Numbers(numbers) => numbers.whole,
        // Words are no ids, unless the name leaves no doubt: `Bescheid` ends like one.
        Shape::Texts => column.look.has_digits || column.words.has_word_for_id(),
        Shape::Code => true,
        _ => false,
    };
    if !(column.words.says_id() && may_be_id && column.look.present >= ENOUGH) {
        return None;
    }
    if column.words.says_person() && column.may_be_ids() {
        return Some(Decision::new(Role::Identifier, "the name suggests the number of a person, so it is removed"));
    }
    // A code of an id has a few values, each shared by many: a type, a branch, a hospital.
    if column.look.has_few_values() && column.look.different <= 100 {
        // `number of children` counts: its few values are dense and do not look like ids.
        if !column.words.says_only_id() {
            return None;
        }
        let why = format!(
            "the name suggests the id of a category or a place, with {}: an attacker may know it",
            column.amount()
        );
        return Some(Decision::new(Role::QuasiIdentifier, why).reads(Reading::category("the name says an id")));
    }
    column.may_be_ids().then(|| {
        let why =
            format!("the name suggests a number that identifies something, so it is removed ({})", repetition(column));
        Decision::new(Role::Identifier, why)
            .note("If several records of a person share it, make it `person`: groups then count persons.")
    })
}

/// Nearly unique texts and codes of digits, except postcodes.
pub(super) fn unique_text(column: &Evidence<'_>) -> Option<Decision> {
    let is_text = matches!(column.look.shape, Shape::Texts | Shape::Code | Shape::Medical(_));
    let is_postcode = column.words.topic(&column.look).is_some_and(|topic| topic.what == POSTCODE);
    (is_text && column.look.nearly_unique() && !is_postcode).then(|| unique(column))
}

/// Nearly unique whole numbers without further evidence.
pub(super) fn unique_number(column: &Evidence<'_>) -> Option<Decision> {
    let is_whole = column.look.numbers().is_some_and(|numbers| numbers.whole);
    (is_whole && (column.look.nearly_unique() || column.look.is_running_number())).then(|| unique(column))
}

/// Texts that differ in most records: no group of records would share one.
pub(super) fn mostly_unique(column: &Evidence<'_>) -> Option<Decision> {
    let is_text = matches!(column.look.shape, Shape::Texts);
    let most = column.look.present >= ENOUGH && column.look.different.saturating_mul(2) >= column.look.present;
    (is_text && most).then(|| {
        let why = format!("{}: too many to be a category, so it is removed", column.amount_in_records());
        Decision::new(Role::Identifier, why)
    })
}

/// Numbers or codes whose equal values follow one another: records are listed by them.
pub(super) fn blocks(column: &Evidence<'_>) -> Option<Decision> {
    let enough = column.look.different >= 100 && column.repeats();
    let is_number = match &column.look.shape {
        Shape::Numbers(numbers) => numbers.whole && numbers.are_dense(column.look.different),
        Shape::Code | Shape::Texts => column.look.has_form_of_ids,
        _ => false,
    };
    let sizes_are_alike =
        column.look.present.saturating_mul(8) >= column.look.most.saturating_mul(column.look.different);
    (column.look.is_in_blocks && enough && is_number && sizes_are_alike).then(|| {
        let why = format!(
            "equal values follow one another ({}): looks like the number of a household or a case, so it is removed",
            repetition(column)
        );
        Decision::new(Role::Identifier, why)
            .note("If its records are of one person, make it `person`: groups then count persons. If they are of one household, make it `household`.")
    })
}

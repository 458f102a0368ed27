//! Steps and paths in sentences, without a value of the data.

use moretta_core::{
    recoding::Action,
    search::ValidPoint,
    text::{count, counted},
};

use super::{Change, Point, TradeOff};

/// `zip → 537**`, `zip: 537** reverted`, `zip: 537** disclosed`, `7 changes in age, zip`.
pub fn what(point: &Point) -> String {
    let Some(action) = point.action else { return "the original table".to_owned() };
    let mut columns: Vec<&str> = point.changes.iter().map(|change| change.column.as_str()).collect();
    columns.dedup();
    match (action, &point.changes[..], &columns[..]) {
        (Action::Generalize, [change], _) => format!("{} → {}", change.column, to(change)),
        (Action::TakeBack, [change, ..], [column]) => format!("{column}: {} reverted", to(change)),
        (Action::Disclose, [change], _) => {
            format!("{}: {} disclosed", change.column, change.disclosed().unwrap_or("a value"))
        }
        (Action::Disclose, _, [column]) => format!("{column}: an interval split"),
        (_, changes, _) => {
            columns.sort_unstable();
            columns.dedup();
            let changes = match changes.len() {
                1 => "1 change".to_owned(),
                many => format!("{many} changes"),
            };
            format!("{changes} in {}", columns.join(", "))
        }
    }
}

fn to(change: &Change) -> &str {
    change.name().unwrap_or(if change.is_whole() { "the whole range" } else { "a wider interval" })
}

/// Sentences on how the losses of a path differ from those of a release: method, reverted steps, suppression.
pub fn caveat(tradeoff: &TradeOff) -> Vec<String> {
    let TradeOff { method, policy_method, .. } = tradeoff;
    let mut sentences = Vec::new();
    if !tradeoff.is_own() {
        sentences.push(format!(
            "This is the generalization path of `{method}`: `{policy_method}`, the method of the policy, has none."
        ));
    }
    sentences.push(match (tradeoff.is_own(), tradeoff.reverts_steps) {
        (true, false) => "The losses are those of the generalization path.".to_owned(),
        (true, true) => "The losses are those of the generalization path. A release by `moretta anonymize` reverts needless \
                         steps and searches further, so it loses less, often much less: use these losses to compare values \
                         of k, not to predict the loss of a release."
            .to_owned(),
        (false, _) => format!(
            "The losses are those of the generalization path. A release by `moretta anonymize` uses `{policy_method}`, with \
             other losses: use these to compare values of k, not to predict the loss of a release."
        ),
    });
    sentences.push(match tradeoff.max_suppressed_rows {
        0 => "No step suppresses records.".to_owned(),
        allowed => format!(
            "No step suppresses records; the policy allows {}, which can make a release more precise.",
            records(allowed)
        ),
    });
    sentences
}

/// Where the policy first holds.
pub fn held(holds: Option<ValidPoint>) -> String {
    match holds {
        Some(ValidPoint { step, suppressed_rows: 0 }) => format!("step {step} is the first that satisfies the policy"),
        Some(ValidPoint { step, suppressed_rows }) => {
            format!("step {step} is the first that satisfies the policy, with {} suppressed", records(suppressed_rows))
        }
        None => "no step satisfies the policy, not even with all values fully generalized: no step can be released; \
                 lower the requirements of the policy"
            .to_owned(),
    }
}

/// The release that a command makes: `release with k = 10`.
pub fn release(tradeoff: &TradeOff) -> String {
    tradeoff.k.map_or("release under this policy".to_owned(), |k| format!("release with k = {}", count(k)))
}

/// The GCP of a point, if it is defined.
pub fn lost(point: &Point) -> Option<f64> {
    point.measures.get("gcp")
}

fn records(number: u64) -> String {
    counted(number, "record", "records")
}

/// Wraps a text into lines of at most `width` characters; longer words get a line of their own.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    joined(text.split(' '), width)
}

/// Joins parts with blanks into lines of at most `width` characters. Parts are never broken.
pub fn joined<'a>(parts: impl IntoIterator<Item = &'a str>, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + part.chars().count() <= width => {
                line.push(' ');
                line.push_str(part);
            }
            _ => lines.push(part.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::{joined, wrapped};

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrapped("which k costs what", 8), ["which k", "costs", "what"]);
        assert_eq!(wrapped("", 8), [""]);
        assert_eq!(joined(["a = 1,", "b = 2 3"], 8), ["a = 1,", "b = 2 3"]);
    }
}

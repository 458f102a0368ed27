//! Formatting of numbers, names and untrusted texts in the messages of all crates.

/// A whole number with commas between thousands: `30,162`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number with its noun: `1 group`, `30,162 groups`.
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

/// Location in a message: `, record 17`; empty if records have no numbers.
pub fn at_record(record: Option<u64>) -> String {
    record.map_or(String::new(), |record| format!(", record {record}"))
}

/// Names in a sentence: `a, b and c`.
pub fn listed<T: AsRef<str>>(names: &[T]) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    match names.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => names.concat(),
    }
}

/// An untrusted text for a message: on one line, at most 60 characters, control characters escaped.
pub fn shown(text: &str) -> String {
    const MAX_CHARACTERS: usize = 60;
    let mut out = String::new();
    for (i, character) in text.chars().enumerate() {
        if i == MAX_CHARACTERS {
            out.push('…');
            break;
        }
        if character.is_control() {
            out.extend(character.escape_default());
        } else {
            out.push(character);
        }
    }
    out
}

/// Merges neighbors with equal keys and adds up their counts. Equal keys must be adjacent.
pub fn merge_counts<K: PartialEq>(sorted: &mut Vec<(K, u64)>) {
    sorted.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
}

#[cfg(test)]
mod tests {
    #[test]
    fn counts_come_in_threes() {
        let shown: Vec<String> = [0, 7, 999, 1000, 1234567].into_iter().map(super::count).collect();
        assert_eq!(shown, ["0", "7", "999", "1,000", "1,234,567"]);
        assert_eq!([&["a"][..], &["a", "b"], &["a", "b", "c"]].map(super::listed), ["a", "a and b", "a, b and c"]);
        assert_eq!([1, 2000].map(|n| super::counted(n, "step", "steps")), ["1 step", "2,000 steps"]);
    }

    #[test]
    fn shown_is_short_and_harmless() {
        assert_eq!(super::shown("a\u{1b}[31m\n"), "a\\u{1b}[31m\\n");
        assert_eq!(super::shown(&"é".repeat(100)).chars().count(), 61);
    }
}

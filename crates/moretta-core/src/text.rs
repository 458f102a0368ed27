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

/// Maximum characters of an untrusted text in a message. Not tuned.
const MAX_SHOWN: usize = 60;

/// An untrusted text (a cell, a label, a name) for a message or a table on a terminal: on one line, about 60 characters
/// at most, without characters that control the terminal or cannot be seen. Every message shows such texts through this
/// function.
pub fn shown(text: &str) -> String {
    let mut out = String::new();
    let mut length = 0;
    for character in text.chars() {
        if length >= MAX_SHOWN {
            out.push('…');
            break;
        }
        let start = out.len();
        push_escaped(&mut out, character);
        length += out[start..].chars().count();
    }
    out
}

/// Maximum bytes of a file name in a message: more than a usual path has. Not tuned.
const MAX_LINE: usize = 1000;

/// A text of parts that [`shown`] was not applied to, such as a file name: on one line, about 1,000 bytes at most.
pub fn one_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len().min(MAX_LINE));
    for character in text.chars() {
        // Escaped characters have several.
        if out.len() >= MAX_LINE {
            out.push('…');
            break;
        }
        push_escaped(&mut out, character);
    }
    out
}

/// A whole message, with line breaks and tabs, in which [`shown`] was not applied to every part, such as file names.
pub fn escaped(message: &str) -> String {
    let mut out = String::with_capacity(message.len());
    for character in message.chars() {
        match character {
            '\n' | '\t' => out.push(character),
            _ => push_escaped(&mut out, character),
        }
    }
    out
}

fn push_escaped(out: &mut String, character: char) {
    if is_invisible(character) {
        out.extend(character.escape_default());
    } else {
        out.push(character);
    }
}

/// Whether a character controls the terminal or the direction of text, breaks the line, or has no width. Joiners
/// (U+200C, U+200D) are none of these: some scripts need them.
pub(crate) fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{feff}')
        || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fff9}'..='\u{fffb}')
        || matches!(c, '\u{e0000}'..='\u{e007f}')
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
        assert!(super::shown(&"\0".repeat(300_000)).len() < 80);
        for c in
            ['\u{9b}', '\u{200b}', '\u{200e}', '\u{2028}', '\u{202a}', '\u{202e}', '\u{2066}', '\u{2069}', '\u{feff}']
        {
            let expected = format!("a\\u{{{:x}}}b", u32::from(c));
            assert_eq!([super::shown(&format!("a{c}b")), super::escaped(&format!("a{c}b"))], [&*expected, &*expected]);
        }
        let kept = ["Ünï", "שלום", "👨\u{200d}👩"];
        assert_eq!(kept.map(super::shown), kept);
        assert_eq!(super::one_line("a\n\u{1b}[2J"), "a\\n\\u{1b}[2J");
        // Found by the fuzzer: the name of a hierarchy file in a policy had 18,000 characters.
        assert_eq!(super::one_line(&"a".repeat(18_000)).chars().count(), 1001);
        assert!(super::one_line(&"\u{feff}".repeat(900)).len() < 1020);
        assert_eq!(super::escaped("two\nlines\t\u{1b}[2J"), "two\nlines\t\\u{1b}[2J");
    }
}

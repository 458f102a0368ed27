//! Recognizes e-mail addresses, dates, UUIDs and other forms of a single value, in linear time.

fn all_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// `user@example.org`
pub(crate) fn is_email(text: &str) -> bool {
    let Some((user, host)) = text.trim().rsplit_once('@') else { return false };
    let plain = |part: &str| !part.is_empty() && !part.contains(|c: char| c.is_whitespace() || c == '@');
    plain(user) && plain(host) && host.trim_matches('.').contains('.')
}

/// Hexadecimal digits in groups of 8, 4, 4, 4 and 12.
pub(crate) fn is_uuid(text: &str) -> bool {
    let groups: Vec<&str> = text.trim().trim_matches(['{', '}']).split('-').take(6).collect();
    groups.len() == 5
        && groups
            .iter()
            .zip([8, 4, 4, 4, 12])
            .all(|(group, length)| group.len() == length && group.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Two letters, two digits, and 11 to 30 letters or digits.
pub(crate) fn is_iban(text: &str) -> bool {
    let text: Vec<u8> = text.bytes().filter(|byte| *byte != b' ').take(35).collect();
    (15..=34).contains(&text.len())
        && text[..2].iter().all(u8::is_ascii_uppercase)
        && text[2..4].iter().all(u8::is_ascii_digit)
        && text[4..].iter().all(u8::is_ascii_alphanumeric)
        && text[4..].iter().filter(|byte| byte.is_ascii_digit()).count() >= 8
}

/// IPv4 or IPv6 address.
pub(crate) fn is_ip_address(text: &str) -> bool {
    text.trim().parse::<std::net::IpAddr>().is_ok()
}

/// A phone, card or social security number: 7 to 16 digits with a plus before them or at least two gaps between.
pub(crate) fn is_phone(text: &str) -> bool {
    let text = text.trim();
    if text.len() > 24 || is_date(text) || is_ip_address(text) {
        return false;
    }
    let (mut digits, mut gaps, mut in_gap) = (0, 0, true);
    for byte in text.bytes() {
        match byte {
            b'0'..=b'9' => {
                digits += 1;
                in_gap = false;
            }
            b' ' | b'-' | b'/' | b'(' | b')' | b'.' => {
                gaps += u32::from(!in_gap);
                in_gap = true;
            }
            b'+' if digits == 0 => {}
            _ => return false,
        }
    }
    let plus = text.starts_with('+');
    (plus && (8..=16).contains(&digits)) || (gaps >= 2 && (9..=16).contains(&digits))
}

/// `2024-03-31`, `2024/3/31`, `31.3.2024`, `3/31/24`, each with or without a time behind it.
pub(crate) fn is_date(text: &str) -> bool {
    let day = text.trim();
    let day = day.split(['T', ' ']).next().unwrap_or(day);
    ['-', '/', '.'].iter().any(|separator| {
        let parts: Vec<&str> = day.split(*separator).take(4).collect();
        let [a, b, c] = parts[..] else { return false };
        if ![a, b, c].iter().all(|part| part.len() <= 4 && all_digits(part)) {
            return false;
        }
        let number = |part: &str| part.parse::<u32>().unwrap_or(0);
        let (first, second, third) = (number(a), number(b), number(c));
        let small = |month: u32, day: u32| (1..=12).contains(&month) && (1..=31).contains(&day);
        let year_first = a.len() == 4 && b.len() <= 2 && c.len() <= 2 && small(second, third);
        let year_last = a.len() <= 2 && b.len() <= 2 && matches!(c.len(), 2 | 4);
        year_first || (year_last && (small(first, second) || small(second, first)))
    })
}

/// `19840331`: convincing only if all values of a column match.
pub(crate) fn is_compact_date(text: &str) -> bool {
    let text = text.trim();
    let part = |from: usize, to: usize| text.get(from..to).and_then(|part| part.parse::<u32>().ok()).unwrap_or(0);
    text.len() == 8
        && all_digits(text)
        && (1850..=2100).contains(&part(0, 4))
        && (1..=12).contains(&part(4, 6))
        && (1..=31).contains(&part(6, 8))
}

/// ICD-10 code with digits after the dot; without them, too many other codes match.
pub(crate) fn is_icd(text: &str) -> bool {
    let Some((category, detail)) = text.trim().split_once('.') else { return false };
    is_icd_category(category)
        && (1..=4).contains(&detail.len())
        && detail.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// The part of an ICD-10 code before the dot: a letter and two digits.
pub(crate) fn is_icd_category(text: &str) -> bool {
    let text = text.trim().as_bytes();
    text.len() == 3 && text[0].is_ascii_uppercase() && text[1].is_ascii_digit() && text[2].is_ascii_alphanumeric()
}

/// Code of the German procedure classification OPS: `5-470.11`.
pub(crate) fn is_ops(text: &str) -> bool {
    let Some((chapter, rest)) = text.trim().split_once('-') else { return false };
    let (group, detail) = rest.split_once('.').unwrap_or((rest, ""));
    let plain = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase());
    matches!(chapter, "1" | "3" | "5" | "6" | "8" | "9")
        && group.len() == 3
        && plain(group)
        && detail.len() <= 2
        && plain(detail)
}

/// Whether the text is several digits with a leading 0: a code, not a number.
pub(crate) fn has_leading_zero(text: &str) -> bool {
    text.len() > 1 && text.starts_with('0') && all_digits(text)
}

/// Returns the number of digits if the text has only digits.
pub(crate) fn digits(text: &str) -> Option<usize> {
    all_digits(text).then_some(text.len())
}

/// A single word of at least five letters and digits, with two digits: `K0012345`, `S99984236`, `7-221-B`.
pub(crate) fn has_form_of_id(text: &str) -> bool {
    let text = text.trim();
    text.len() >= 5
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'/' | b'.'))
        && text.bytes().filter(u8::is_ascii_digit).count() >= 2
}

/// Up to four letters, and a number of at least two digits: `P100`, `PAT-0012`. Codes of categories have this form,
/// too.
pub(crate) fn is_prefixed_number(text: &str) -> bool {
    let rest = text.trim().trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let letters = text.trim().len() - rest.len();
    let digits = rest.strip_prefix(['-', '_']).unwrap_or(rest);
    (1..=4).contains(&letters) && digits.len() >= 2 && digits.bytes().all(|byte| byte.is_ascii_digit())
}

#[rustfmt::skip]
const OUTCOMES: &[[&str; 2]] = &[
    ["+", "-"], ["good", "bad"], ["positive", "negative"], ["pos", "neg"], ["pass", "fail"], ["passed", "failed"],
    ["approved", "rejected"], ["approved", "denied"], ["accepted", "rejected"], ["benign", "malignant"], ["won", "lost"],
    ["success", "failure"], ["fraud", "legit"], ["gut", "schlecht"], ["positiv", "negativ"], ["genehmigt", "abgelehnt"],
    ["bestanden", "nicht bestanden"], ["bewilligt", "abgelehnt"], ["accordé", "refusé"],
    ["concedida", "denegada"], ["aprobado", "suspenso"], ["approvato", "respinto"], ["benigno", "maligno"], ["gutartig", "bösartig"], ["bon", "mauvais"],
];

/// Whether two texts are the two results of a test or a decision.
pub(crate) fn are_outcomes(a: &str, b: &str) -> bool {
    let (a, b) = (a.trim().to_lowercase(), b.trim().to_lowercase());
    OUTCOMES.iter().any(|[good, bad]| (a == *good && b == *bad) || (a == *bad && b == *good))
}

#[rustfmt::skip]
const SEXES: &[&str] = &[
    "f", "m", "w", "d", "x", "female", "male", "woman", "man", "women", "men", "weiblich", "männlich", "divers",
    "femme", "homme", "masculin", "féminin", "feminin", "hombre", "mujer", "masculino", "femenino", "varón", "maschio",
    "femmina", "maschile", "femminile", "uomo", "donna", "other", "diverse", "nonbinary", "non-binary",
];
#[rustfmt::skip]
const MARITAL: &[&str] = &[
    "single", "married", "divorced", "widowed", "separated", "never-married", "never married", "ledig",
    "verheiratet", "geschieden", "verwitwet", "célibataire", "marié", "mariée", "marié(e)", "divorcé", "divorcée",
    "divorcé(e)", "veuf", "veuve", "veuf(ve)", "pacsé", "pacsé(e)", "soltero", "soltera", "casado", "casada", "divorciado",
    "divorciada", "viudo", "viuda", "celibe", "nubile", "celibe/nubile", "coniugato", "coniugata", "coniugato/a",
    "divorziato", "divorziata", "divorziato/a", "vedovo", "vedova", "vedovo/a",
];

fn within(list: &[&str], text: &str) -> bool {
    // No entry of the lists is longer.
    text.len() <= 24 && list.contains(&text.trim().to_lowercase().as_str())
}

/// Whether the text is a word for a sex.
pub(crate) fn is_sex(text: &str) -> bool {
    within(SEXES, text)
}

/// Whether the text is a word for a marital status.
pub(crate) fn is_marital(text: &str) -> bool {
    within(MARITAL, text)
}

/// Texts that often mean a missing value, besides the empty text.
const MARKERS: &[&str] = &[
    "?",
    "na",
    "n/a",
    "n.a.",
    "#n/a",
    "null",
    "nan",
    "-",
    "--",
    "unknown",
    "missing",
    "k.a.",
    "k. a.",
    "keine angabe",
    "n. a.",
    "nicht bekannt",
    "#null!",
    "<na>",
    "none given",
    "not available",
];

/// Whether a text often means a missing value.
pub(crate) fn is_missing_marker(text: &str) -> bool {
    let trimmed = text.trim();
    trimmed.is_empty() && text.len() <= 8 || text.len() <= 12 && MARKERS.contains(&trimmed.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(test: fn(&str) -> bool, yes: &[&str], no: &[&str]) {
        for text in yes {
            assert!(test(text), "{text}");
        }
        for text in no {
            assert!(!test(text), "{text}");
        }
    }

    #[test]
    fn identifiers() {
        all(is_email, &["a.b@c.org", " x@y.co.uk "], &["a@b", "@b.c", "a b@c.d", "@", "user@.", ""]);
        all(is_uuid, &["123e4567-e89b-12d3-a456-426614174000"], &["123e4567", "1-2-3-4-5", ""]);
        all(is_iban, &["DE89 3704 0044 0532 0130 00"], &["DE89", "Self-employed person", "ABCDEFGHIJKLMNOPQRST", "ß"]);
        all(
            is_phone,
            &["+49 30 1234567", "030/123 4567 89", "(555) 123-4567", "123-45-6789", "+4915112345678"],
            &["12345-6789", "2024-03-31", "31.12.1999", "1234567890", "12.5", "192.168.0.10", "", "+", "a-b-c"],
        );
        all(is_ip_address, &["192.168.0.10", "::1"], &["1.2.3", "300.1.1.1"]);
    }

    #[test]
    fn dates_and_codes() {
        all(
            is_date,
            &[
                "2024-03-31",
                "2024/3/31",
                "31.3.2024",
                "3/31/24",
                "31/3/2024",
                "2024-03-31T10:00:00Z",
                "2024-03-31 10:00",
            ],
            &["2024-13-31", "12.5", "1.2.3.4", "1-2", "99/99/2024", "", "123-45-6789", "--"],
        );
        all(is_compact_date, &["19840331"], &["19841331", "1984033", "ä984033", "12345678"]);
        all(is_icd, &["E11.9", "C50.911"], &["A11", "E11.", "e11.9", "12.5", "", "."]);
        all(is_ops, &["5-470.11", "8-800.c", "1-632"], &["2-470", "5-47", "5-4701", "1-2-3", "A-123"]);
        all(has_leading_zero, &["01", "00202"], &["0", "0.5", "10", "", "0a"]);
    }

    #[test]
    fn missing_markers() {
        let yes = ["", " ", "?", " ?", "NA", "N/A", "NULL", "null", "nan", "NaN", "-", "unknown", "Unknown"];
        all(is_missing_marker, &yes, &["no", "0", "none", "nana", "unknown person"]);
    }
}

//! Number formats: `1,234`, `12.3 %`, `0.0718`, `3 min 12 s`, `72.4 MB`.

/// No-break space between a number and its unit.
const SPACE: char = '\u{a0}';

/// Shown if there is no number.
pub(super) const NOTHING: &str = "–";

pub(super) use moretta_core::text::count;

/// `1,234 records`
pub(super) fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{}{SPACE}{}", count(number), if number == 1 { one } else { many })
}

/// A short whole number for an axis: `640`, `2.6k`, `1.3M`.
pub(super) fn short(number: u64) -> String {
    let scaled = |unit: u64, suffix: &str| {
        let value = number as f64 / unit as f64;
        let text = if value < 9.95 { format!("{value:.1}") } else { format!("{value:.0}") };
        format!("{}{suffix}", text.strip_suffix(".0").unwrap_or(&text))
    };
    match number {
        0..1_000 => number.to_string(),
        1_000..1_000_000 => scaled(1_000, "k"),
        1_000_000..1_000_000_000 => scaled(1_000_000, "M"),
        _ => scaled(1_000_000_000, "G"),
    }
}

/// A measured value without a unit.
pub(super) fn figure(value: f64) -> String {
    match value.abs() {
        size if !size.is_finite() => NOTHING.to_owned(),
        0.0 => "0".to_owned(),
        size if size < 0.000_05 => "< 0.0001".replace(' ', &SPACE.to_string()),
        size if size < 1.0 => format!("{value:.4}"),
        size if size < 10.0 => format!("{value:.3}"),
        size if size < 999.95 => format!("{value:.1}"),
        size => format!("{}{}", if value < 0.0 { "−" } else { "" }, count(size.round() as u64)),
    }
}

/// A measured share of 1. A share above 0 never prints as 0 %, and one below 1 never as 100 %.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        _ if !percent.is_finite() => NOTHING.to_owned(),
        p if p <= 0.0 => format!("0{SPACE}%"),
        p if p < 0.01 => format!("<{SPACE}0.01{SPACE}%"),
        p if p < 0.095 => format!("{p:.2}{SPACE}%"),
        p if (99.95..100.0).contains(&p) => format!(">{SPACE}99.9{SPACE}%"),
        p => format!("{p:.1}{SPACE}%"),
    }
}

/// A share of 1 from the policy, printed exactly.
pub(super) fn limit_percent(share: f64) -> String {
    // Rounded to twelve decimals, because 0.07 * 100 is not exactly 7.
    format!("{}{SPACE}%", (share * 1e14).round() / 1e12)
}

/// A length in percent for an SVG attribute.
pub(super) fn length(percent: f64) -> String {
    let percent = if percent.is_finite() { percent.clamp(0.0, 100.0) } else { 0.0 };
    format!("{percent:.2}%")
}

/// A duration, given in seconds.
pub(super) fn seconds(seconds: f64) -> String {
    match seconds {
        s if !s.is_finite() || s < 0.0 => NOTHING.to_owned(),
        0.0 => format!("0{SPACE}s"),
        s if s < 0.0005 => format!("<{SPACE}0.001{SPACE}s"),
        s if s < 0.0095 => format!("{s:.3}{SPACE}s"),
        s if s < 9.995 => format!("{s:.2}{SPACE}s"),
        s if s < 59.95 => format!("{s:.1}{SPACE}s"),
        s => {
            let whole = s.round() as u64;
            let (hours, minutes, rest) = (whole / 3600, whole / 60 % 60, whole % 60);
            match hours {
                0 => format!("{minutes}{SPACE}min {rest}{SPACE}s"),
                _ => format!("{}{SPACE}h {minutes}{SPACE}min", count(hours)),
            }
        }
    }
}

/// An amount of memory, given in bytes.
pub(super) fn bytes(bytes: u64) -> String {
    let (unit, name) = match bytes {
        0..1_000 => return format!("{bytes}{SPACE}B"),
        1_000..1_000_000 => (1e3, "kB"),
        1_000_000..1_000_000_000 => (1e6, "MB"),
        _ => (1e9, "GB"),
    };
    format!("{:.1}{SPACE}{name}", bytes as f64 / unit)
}

/// Adds thousands separators to whole numbers in a text: `12345 records` becomes `12,345 records`; `0.12345` stays.
pub(super) fn with_separators(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut before = ' ';
    while let Some(next) = rest.chars().next() {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if digits == 0 {
            out.push(next);
            before = next;
            rest = &rest[next.len_utf8()..];
            continue;
        }
        let (number, after) = rest.split_at(digits);
        match number.parse() {
            Ok(number) if before != '.' && !before.is_alphanumeric() => out.push_str(&count(number)),
            _ => out.push_str(number),
        }
        (before, rest) = ('0', after);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: String) -> String {
        text.replace(SPACE, " ")
    }

    #[test]
    fn whole_numbers_come_with_separators() {
        assert_eq!(
            [0, 999, 1_000, 123_456, 1_234_567].map(count),
            ["0", "999", "1,000", "123,456", "1,234,567"].map(str::to_owned)
        );
        assert_eq!(plain(counted(1, "record", "records")), "1 record");
        assert_eq!(
            [640, 2_560, 20_480, 1_310_720, 5_000_000_000].map(short),
            ["640", "2.6k", "20k", "1.3M", "5G"].map(str::to_owned)
        );
        assert_eq!(with_separators("12345 records of 7, at 0.12345"), "12,345 records of 7, at 0.12345");
    }

    #[test]
    fn shares_never_round_to_nothing_or_all() {
        let shown = [0.0, 0.000_01, 0.000_5, 0.123_4, 0.999_9, 1.0, f64::NAN].map(percent).map(plain);
        assert_eq!(shown, ["0 %", "< 0.01 %", "0.05 %", "12.3 %", "> 99.9 %", "100.0 %", "–"]);
        assert_eq!([0.07, 0.02, 0.125, 1.0].map(limit_percent).map(plain), ["7 %", "2 %", "12.5 %", "100 %"]);
    }

    #[test]
    fn figures_have_the_digits_that_matter() {
        let shown = [0.0, 0.00001, 0.071_84, 1.234_56, 123.45, 1_234_567.8, f64::INFINITY].map(figure).map(plain);
        assert_eq!(shown, ["0", "< 0.0001", "0.0718", "1.235", "123.5", "1,234,568", "–"]);
    }

    #[test]
    fn times_and_sizes_have_units() {
        let shown = [0.0, 0.0001, 0.004, 0.042, 1.0, 12.34, 192.0, 7_500.0].map(seconds).map(plain);
        assert_eq!(shown, ["0 s", "< 0.001 s", "0.004 s", "0.04 s", "1.00 s", "12.3 s", "3 min 12 s", "2 h 5 min"]);
        assert_eq!([17, 72_400_000, 3_210_000_000].map(bytes).map(plain), ["17 B", "72.4 MB", "3.2 GB"]);
    }
}

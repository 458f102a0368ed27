//! Mutations of any file, and of text without regard to its format.

use crate::rng::Rng;

/// Texts that often find a missing check: signs of the formats, odd Unicode, control characters, extreme numbers.
pub const ODD: [&str; 44] = [
    "",
    " ",
    "\0",
    "\u{feff}",
    "\r",
    "\n",
    "\r\n",
    "\t",
    "\"",
    "\"\"",
    "'",
    ",",
    ";",
    "|",
    "*",
    "?",
    "[",
    "]",
    "{",
    "}",
    "[1, 2]",
    "[2, 1)",
    "{a, b}",
    "#",
    "=",
    "\\",
    "\u{1b}[31m",
    "\u{202e}",
    "\u{200b}",
    "e\u{301}",
    "\u{e9}",
    "ß",
    "İ",
    "日本",
    "💉",
    "NaN",
    "inf",
    "-0",
    "0x1f",
    "1e400",
    "-1e-400",
    "99999999999999999999",
    "2024-02-30",
    "1,000.5",
];

/// Numbers at and beyond the bounds of the usual types.
pub const EXTREME: [&str; 24] = [
    "0",
    "-0",
    "-1",
    "1",
    "2",
    "0.5",
    "1e-320",
    "1e308",
    "-1e308",
    "1e309",
    "nan",
    "inf",
    "-inf",
    "127",
    "255",
    "65536",
    "2147483648",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551616",
    "0.1",
    "1_000",
];

/// Changes bytes at random places.
pub fn bytes(rng: &mut Rng, data: &mut Vec<u8>, splice: &[u8]) {
    if data.is_empty() {
        data.extend_from_slice(&splice[..splice.len().min(64)]);
    }
    let length = data.len();
    match rng.below(9) {
        0 => flip(rng, data, 0..length),
        // Where a format keeps its lengths and offsets.
        1 => flip(rng, data, length.saturating_sub(64)..length),
        2 => flip(rng, data, length.saturating_sub(2000)..length),
        3 => data.truncate(rng.below(length)),
        4 => drop(data.drain(rng.range(length, 200))),
        5 => {
            let (from, at) = (rng.range(length, 300), rng.below(length));
            let copy = data[from].to_vec();
            data.splice(at..at, copy);
        }
        6 => {
            let from = rng.range(splice.len(), 300);
            let at = rng.range(length, 300);
            data.splice(at, splice.get(from).unwrap_or_default().to_vec());
        }
        7 => {
            let fill = *rng.one(&[0u8, 0xff, 0x7f, 0x80, b'"', b'\n']);
            let range = rng.range(length, 40);
            data[range].fill(fill);
        }
        _ => {
            let at = rng.below(length);
            let number = *rng.one(&[u32::MAX, i32::MAX as u32, 0, 1, 0x8000_0000, 1 << 24]);
            let end = (at + 4).min(length);
            data[at..end].copy_from_slice(&number.to_le_bytes()[..end - at]);
        }
    }
}

fn flip(rng: &mut Rng, data: &mut [u8], range: std::ops::Range<usize>) {
    for _ in 0..1 + rng.below(4) {
        let at = range.start + rng.below(range.len());
        if let Some(byte) = data.get_mut(at) {
            *byte ^= 1 << rng.below(8);
        }
    }
}

/// Changes the characters of a text.
pub fn text(rng: &mut Rng, data: &mut Vec<u8>, splice: &[u8]) {
    let at = rng.below(data.len() + 1);
    match rng.below(6) {
        0 => drop(data.splice(at..at, rng.one(&ODD).bytes())),
        1 => drop(data.splice(at..at, rng.one(&EXTREME).bytes())),
        // Not UTF-8.
        2 => drop(data.splice(at..at, [*rng.one(&[0xffu8, 0xc0, 0x80, 0xe2])])),
        3 => {
            let long = rng.one(&ODD).repeat(*rng.one(&[10, 100, 3000]));
            data.splice(at..at, long.bytes());
        }
        _ => bytes(rng, data, splice),
    }
}

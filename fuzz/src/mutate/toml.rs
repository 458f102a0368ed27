//! Mutations of a policy or a file of queries: keys, values and sections of TOML.

use super::{
    bytes::{EXTREME, ODD},
    lines::lines,
};
use crate::rng::Rng;

/// Keys and values of policies that a mutation moves to places where they do not belong.
const KEYS: [&str; 36] = [
    "role",
    "type",
    "hierarchy",
    "weight",
    "missing",
    "format",
    "k",
    "l",
    "t",
    "c",
    "column",
    "given",
    "values",
    "rarest",
    "max-confidence",
    "max-suppressed",
    "kind",
    "distance",
    "name",
    "labels",
    "numbers",
    "order",
    "delimiter",
    "quote",
    "population",
    "version",
    "fold",
    "known",
    "count",
    "where",
    "decimal",
    "thousands",
    "header",
    "names",
    "missing-texts",
    "guard-formulas",
];

const VALUES: [&str; 38] = [
    "true",
    "false",
    "\",\"",
    "\" \"",
    "[\"a\", \"b\"]",
    "\"*\"",
    "\"quasi-identifier\"",
    "\"identifier\"",
    "\"sensitive\"",
    "\"class\"",
    "\"number\"",
    "\"date\"",
    "\"category\"",
    "\"suppress\"",
    "\"free\"",
    "\"iotf\"",
    "\"han\"",
    "\"table.csv\"",
    "\".\"",
    "\"/dev/null\"",
    "{ widths = [5, 10] }",
    "{ bins = [0, 1] }",
    "{ prefix = [3, 1] }",
    "{ dates = [\"month\"] }",
    "\"%Y\"",
    "\"%\"",
    "\"%Q%:z\"",
    "\"mean\"",
    "\"median\"",
    "\"set\"",
    "\"genetic\"",
    "1979-05-27",
    "07:32:00",
    "[]",
    "{}",
    "\"\"",
    "'''a\nb'''",
    "{ method = \"equal-width\", parts = [4294967295, 2] }",
];

/// Changes one place of a TOML text. Returns `false` if there is nothing to change.
pub fn toml(rng: &mut Rng, data: &mut Vec<u8>) -> bool {
    let Ok(text) = std::str::from_utf8(data) else { return false };
    let mut rows: Vec<String> = text.lines().map(str::to_owned).collect();
    let keyed: Vec<usize> = (0..rows.len()).filter(|row| rows[*row].contains('=')).collect();
    if keyed.is_empty() || rng.chance(25) {
        return lines(rng, data);
    }
    let row = *rng.one(&keyed);
    let (key, value) =
        rows[row].split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned())).unwrap_or_default();
    rows[row] = match rng.below(12) {
        0 | 1 => format!("{key}= {}", rng.one(&EXTREME)),
        2 | 3 => format!("{key}= {}", rng.one(&VALUES)),
        4 => format!("{key}= \"{}\"", rng.one(&ODD).replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")),
        5 => format!("{} ={value}", rng.one(&KEYS)),
        6 => format!("{}\n{} = {}", rows[row], rng.one(&KEYS), rng.one(&VALUES)),
        // The same value in another type, or as a list.
        7 => format!("{key}= [{value}, {value}]"),
        8 => format!("{key}= {{ {} = {value} }}", rng.one(&KEYS)),
        9 => {
            let times = *rng.one(&[3, 200, 5000]);
            format!("{key}= [{}]", vec![*rng.one(&EXTREME); times].join(", "))
        }
        10 => {
            let depth = *rng.one(&[5, 90, 3000]);
            format!("{key}= {}1{}", "[".repeat(depth), "]".repeat(depth))
        }
        // Replaces the value by that of another key.
        _ => {
            let other = rows[*rng.one(&keyed)].split_once('=').map(|(_, value)| value.to_owned()).unwrap_or_default();
            format!("{key}={other}")
        }
    };
    *data = rows.join("\n").into_bytes();
    true
}

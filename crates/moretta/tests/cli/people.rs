//! Synthetic people as files.

use moretta_synthetic::{self as synthetic, People};

use crate::folder::Folder;

/// Creates a folder with table, policy and hierarchies of the demo.
pub fn folder(people: u64) -> Folder {
    let folder = Folder::empty();
    folder.write("people.csv", table(1, 0..people)).write("policy.toml", synthetic::policy());
    for column in synthetic::COLUMNS {
        if let Some(text) = synthetic::hierarchy(column) {
            folder.write(&format!("hierarchies/{column}.csv"), text);
        }
    }
    folder
}

/// Like [`folder`], with a predictable class: marital status depends on age.
pub fn folder_to_predict(people: u64) -> Folder {
    let folder = folder(people);
    let from = "role = \"quasi-identifier\"\ntype = \"category\"\nhierarchy = \"hierarchies/marital-status.csv\"";
    folder.edit("policy.toml", "role = \"class\"", "role = \"sensitive\"");
    folder.edit("policy.toml", from, "role = \"class\"");
    folder.edit("policy.toml", "exact = [", "exact = [\"marital-status\", ");
    folder
}

/// Returns a range of the people of a seed as CSV.
pub fn table(seed: u64, indices: std::ops::Range<u64>) -> String {
    let people = People::new(seed);
    let mut text = synthetic::header();
    indices.for_each(|index| people.person(index).write_csv(&mut text));
    text
}

/// Splits CSV text into cells; supports quotes, but no line breaks in cells.
pub fn rows(text: &str) -> Vec<Vec<String>> {
    let cells = |line: &str| {
        let (mut cells, mut cell, mut quoted) = (Vec::new(), String::new(), false);
        for c in line.chars() {
            match c {
                '"' => quoted = !quoted,
                ',' if !quoted => cells.push(std::mem::take(&mut cell)),
                c => cell.push(c),
            }
        }
        cells.push(cell);
        cells
    };
    text.lines().map(cells).collect()
}

/// Returns one column of a CSV text, without the header.
pub fn column(text: &str, name: &str) -> Vec<String> {
    let rows = rows(text);
    let at = rows[0].iter().position(|cell| cell == name).unwrap();
    rows[1..].iter().map(|row| row[at].clone()).collect()
}

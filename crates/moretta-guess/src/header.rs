//! Recognizes a first line that is a record: its cells would become names of columns in the draft policy.

use moretta_core::hierarchy::parse_number;

use crate::{ColumnFacts, values::patterns};

/// Number (from 1) of the first column whose name looks like a value, and why; `None` if the names look like a header.
///
/// One such column suffices: a table whose first line is a record has hardly a chance to pass if one of its columns has
/// numbers, dates or few distinct values.
pub fn name_like_a_value(facts: &[ColumnFacts]) -> Option<(usize, &'static str)> {
    (1..).zip(facts).find_map(|(number, column)| Some((number, reason(column)?)))
}

type HasForm = fn(&str) -> bool;

fn reason(column: &ColumnFacts) -> Option<&'static str> {
    let name = column.name.trim();
    if name.is_empty() {
        return None;
    }
    let is_number = |text: &str| parse_number(text.trim()).is_ok();
    let values = || column.values.iter().filter(|(text, _)| !text.trim().is_empty());
    if values().any(|(text, _)| text.trim() == name) {
        return Some("it is also a value of the column");
    }
    let forms: [(HasForm, &str); 6] = [
        (patterns::is_date, "it is a date"),
        (patterns::is_email, "it is an e-mail address"),
        (patterns::is_phone, "it is a telephone number"),
        (patterns::is_uuid, "it is a UUID"),
        (patterns::is_iban, "it is an account number"),
        (patterns::is_ip_address, "it is a network address"),
    ];
    if let Some((_, reason)) = forms.iter().find(|(has_form, _)| has_form(name)) {
        return Some(reason);
    }
    // A year above texts is the name of a column; above numbers it may be a value.
    let (mut numbers, mut others) = (0, 0);
    values().for_each(|(text, records)| *if is_number(text) { &mut numbers } else { &mut others } += records);
    (is_number(name) && numbers >= others).then_some("it is a number, like its values")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(header: &str, rows: &[&str]) -> Option<usize> {
        let split = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<String>>();
        let rows: Vec<Vec<String>> = rows.iter().map(|row| split(row)).collect();
        name_like_a_value(&crate::facts(&split(header), &rows)).map(|(number, _)| number)
    }

    #[test]
    fn a_record_is_not_a_header() {
        let rows = ["Livia Alder,Dr.,30,flu,Wien,1980-02-01", "Ida Gutt,Dr.,31,HIV,Linz,1981-07-12"];
        assert_eq!(found("Otto Kroneck,Dr.,29,HIV,Graz,1990-01-31", &rows), Some(2));
        assert_eq!(found("Otto Kroneck,Prof.,29,cold,Graz,1990-01-31", &rows), Some(3));
        assert_eq!(found("Otto Kroneck,Prof.,x,HIV,Graz,y", &rows), Some(4));
        assert_eq!(found("Otto Kroneck,Prof.,x,cold,Graz,1990-01-31", &rows), Some(6));
        assert_eq!(found("otto@example.org,Prof.,x,cold,Graz,y", &rows), Some(1));
        assert_eq!(found("name,title,age,diagnosis,city,born", &rows), None);
        assert_eq!(found(",2019,age,diagnosis,city,born", &rows), None);
    }
}

//! Comparison with the naive reference on Adult.

use super::{clusters, reference, run};
use crate::testing::{TestTable, data, select};

const COLUMNS: [&str; 8] =
    ["age", "education-num", "workclass", "marital-status", "occupation", "race", "sex", "native-country"];

fn adult(columns: &[&str], k: u64, records: usize) -> Option<TestTable> {
    let test = "k-member on Adult";
    let rows = select(&data("adult/adult_train.csv", test)?, columns);
    let mut policy = format!("privacy.k = {k}\n");
    let mut files = Vec::new();
    for column in columns {
        let is_number = ["age", "education-num", "hours-per-week"].contains(column);
        let file = if is_number { None } else { data(&format!("adult/hierarchies/{column}.csv"), test) };
        let how = if is_number { "type = \"number\"".to_owned() } else { format!("hierarchy = \"{column}.csv\"") };
        policy += &format!("[columns.{column}]\nrole = \"quasi-identifier\"\n{how}\n");
        files.extend(file.map(|text| (*column, text)));
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(column, text)| (*column, text.as_str())).collect();
    let rows: Vec<(&str, u64)> = rows.iter().take(records).map(|row| (row.as_str(), 1)).collect();
    Some(TestTable::new(&policy, &files, &rows))
}

#[test]
fn two_thousand_records_of_adult_are_clustered_as_the_naive_reference_does() {
    for columns in [&["age", "education-num", "hours-per-week"][..], &COLUMNS] {
        for k in [2, 5, 20] {
            let Some(table) = adult(columns, k, 2000) else { return };
            let outcome = run(&table, None, k);
            assert!(clusters(&table, &outcome) == reference::clusters(&table.profile, k as usize, k).0, "k = {k}");
        }
    }
}

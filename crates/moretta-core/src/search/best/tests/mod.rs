//! The incremental structures compared with plain computations, and the guarantees of the method.

mod grow;
mod guarantees;
mod state;

use proptest::prelude::*;

use crate::testing::TestTable;

const TREE: &str = "a;a;x;*\nb;g;x;*\nc;g;x;*\nd;d;d;*\ne;h;y;*\nf;h;y;*\nu;h;y;*\nw;i;y;*";

/// Free numbers with and without a missing value, a tree with leaves at all depths, and a sensitive column.
fn rows() -> impl Strategy<Value = Vec<(String, u64)>> {
    let row = (0..60u32, 0..40u32, 0..7usize, 0..4u32, 1..4u64).prop_map(|(number, other, leaf, s, records)| {
        let other = if other > 36 { "?".to_owned() } else { other.to_string() };
        (format!("{},{other},{},s{s}", number * number % 50, ["a", "b", "c", "d", "e", "f", "?"][leaf]), records)
    });
    prop::collection::vec(row, 1..90)
}

/// `privacy` is the beginning of the policy.
fn table(privacy: &str, rows: &[(String, u64)], weights: [u32; 3]) -> TestTable {
    let policy = format!(
        "{privacy}[columns.n]\nrole = \"quasi-identifier\"\nweight = {}\ntype = \"number\"\n\
         [columns.m]\nrole = \"quasi-identifier\"\nweight = {}\ntype = \"number\"\nmissing = \"category\"\n\
         [columns.t]\nrole = \"quasi-identifier\"\nweight = {}\nhierarchy = \"t.csv\"\nmissing = \"suppress\"\n\
         [columns.s]\nrole = \"sensitive\"\n",
        weights[0], weights[1], weights[2]
    );
    let rows: Vec<(&str, u64)> = rows.iter().map(|(row, records)| (row.as_str(), *records)).collect();
    TestTable::new(&policy, &[("t", TREE)], &rows)
}

//! A naive engine: groups and counts the records of a table in memory, and rewrites them one by one.

use std::collections::{BTreeMap, BTreeSet};

use moretta_core::{
    counts::{Change, CountedColumn, Counts, KeyColumn, RecordOrder, Rewrite},
    rewrite_plan,
    testing::conformance::Dice,
    verify::Verified,
};

use crate::world::{TextRows, World};

/// Groups records by `columns` and counts them, like SQL's `GROUP BY`. Codes and distinct rows are in order of first
/// occurrence.
pub fn group_and_count(header: &[String], rows: &TextRows, columns: &[String]) -> Counts {
    let indices: Vec<usize> =
        columns.iter().map(|name| header.iter().position(|known| known == name).unwrap()).collect();
    let mut counts = Counts { records: rows.len() as u64, ..Counts::default() };
    for name in columns {
        counts.columns.push(CountedColumn { name: name.clone(), ..CountedColumn::default() });
    }
    let mut seen: BTreeMap<Vec<u32>, usize> = BTreeMap::new();
    for (record, row) in (1u64..).zip(rows) {
        let mut codes = Vec::new();
        for (column, &at) in counts.columns.iter_mut().zip(&indices) {
            let known = column.values.iter().position(|text| **text == *row[at]);
            codes.push(known.unwrap_or_else(|| {
                column.values.push(row[at].as_str().into());
                column.first_records.get_or_insert_default().push(record);
                column.values.len() - 1
            }) as u32);
        }
        let next = counts.counts.len();
        let index = *seen.entry(codes.clone()).or_insert(next);
        if index == next {
            counts.codes.extend(codes);
            counts.counts.push(0);
            counts.first_records.get_or_insert_default().push(record);
        }
        counts.counts[index] += 1;
    }
    counts
}

/// Returns the same counts with random codes and in a random order of rows, as another engine might return them.
pub fn shuffled(counts: &Counts, dice: &mut Dice) -> Counts {
    let mut columns = counts.columns.clone();
    let mut maps: Vec<Vec<u32>> = Vec::new();
    for column in &mut columns {
        let mut order: Vec<usize> = (0..column.values.len()).collect();
        dice.shuffle(&mut order);
        let old = column.clone();
        column.values = order.iter().map(|&old_code| old.values[old_code].clone()).collect();
        column.first_records = order.iter().map(|&old_code| old.first_record(old_code)).collect();
        let mut map = vec![0; order.len()];
        order.iter().enumerate().for_each(|(new, &old_code)| map[old_code] = new as u32);
        maps.push(map);
    }
    let mut rows: Vec<usize> = (0..counts.rows()).collect();
    dice.shuffle(&mut rows);
    let mut other = Counts { columns, records: counts.records, ..Counts::default() };
    for row in rows {
        other.codes.extend(counts.row(row).iter().zip(&maps).map(|(&old_code, map)| map[old_code as usize]));
        other.counts.push(counts.counts[row]);
        other.first_records.get_or_insert_default().extend(counts.first_record(row));
    }
    other
}

/// Returns the same counts with one row per record, so that equal rows repeat.
pub fn one_row_per_record(header: &[String], rows: &TextRows, counts: &Counts) -> Counts {
    let mut other = Counts { columns: counts.columns.clone(), records: counts.records, ..Counts::default() };
    for (record, row) in (1u64..).zip(rows) {
        for column in &counts.columns {
            let at = header.iter().position(|known| *known == column.name).unwrap();
            other.codes.push(column.values.iter().position(|text| **text == *row[at]).unwrap() as u32);
        }
        other.counts.push(1);
        other.first_records.get_or_insert_default().push(record);
    }
    other
}

/// Returns the released table: its header, and its rows in the order of the original.
pub fn rewrite(header: &[String], rows: &TextRows, rewrite: &Rewrite) -> (Vec<String>, TextRows) {
    let indices: Vec<usize> =
        rewrite.key.iter().map(|key| header.iter().position(|known| *known == key.name).unwrap()).collect();
    let code = |key: &KeyColumn, text: &str| key.values.iter().position(|known| **known == *text).unwrap() as u32;
    let width = rewrite.key.len();
    let mut queues = group_queues(&rewrite.change, width);
    let mut out = Vec::new();
    for row in rows {
        let mut row = row.clone();
        let codes: Vec<u32> = rewrite.key.iter().zip(&indices).map(|(key, &at)| code(key, &row[at])).collect();
        let group = queues.get_mut(&codes).map(|queue| queue.pop().expect("the shares of a row add up to its records"));
        let keys = rewrite.key.iter().enumerate().filter(|(_, key)| key.rewritten);
        for (rewritten, (position, _)) in keys.enumerate() {
            row[indices[position]] = match (&rewrite.change, group) {
                (Change::Map { suppressed, .. }, _) if suppressed.chunks(width).any(|row| row == codes) => "*".into(),
                (Change::Map { labels, .. }, _) => labels[rewritten][codes[position] as usize].to_string(),
                (Change::Shares { labels, .. }, Some(group)) => labels[rewritten][group as usize].to_string(),
                (Change::Shares { .. }, None) => panic!("no group for a record; its codes: {codes:?}"),
            };
        }
        out.push(row);
    }
    assert!(queues.values().all(Vec::is_empty), "groups without enough records, by codes: {queues:?}");
    let dropped: BTreeSet<usize> =
        rewrite.dropped.iter().map(|name| header.iter().position(|known| known == name).unwrap()).collect();
    let kept = |row: &Vec<String>| -> Vec<String> {
        row.iter().enumerate().filter(|(at, _)| !dropped.contains(at)).map(|(_, text)| text.clone()).collect()
    };
    (kept(&header.to_vec()), out.iter().map(kept).collect())
}

/// The groups of a local recoding's records: for each distinct row, one entry per record.
fn group_queues(change: &Change, width: usize) -> BTreeMap<Vec<u32>, Vec<u32>> {
    let mut queues: BTreeMap<Vec<u32>, Vec<u32>> = BTreeMap::new();
    if let Change::Shares { rows, offsets, shares, .. } = change {
        for (row, codes) in rows.chunks(width).enumerate() {
            let row_shares = &shares[offsets[row] as usize..offsets[row + 1] as usize];
            let queue = row_shares.iter().flat_map(|share| vec![share.group; share.records as usize]).collect();
            assert!(queues.insert(codes.to_vec(), queue).is_none(), "a distinct row is listed twice");
        }
    }
    queues
}

/// Returns the header, rows and change of the release of a verified recoding.
pub fn print_release(world: &World, counts: &Counts, verified: &Verified<'_>) -> (Vec<String>, TextRows, Change) {
    let plan = rewrite_plan::rewrite(verified, counts.clone(), RecordOrder::Input, 1.into());
    let (header, rows) = rewrite(&world.header, &world.rows, &plan);
    (header, rows, plan.change)
}

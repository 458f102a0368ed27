//! Measures the seconds of each pass: `passes FILE col,col,... [threads] [out.csv|out.parquet] [map|shares]
//! [input|shuffled]`.

use std::time::Instant;

use moretta_core::{
    counts::{Change, KeyColumn, RecordOrder, Rewrite, Share},
    observer::NoObserver,
    seed::Seed,
};
use moretta_engine::{CsvOptions, EngineOptions, LocalEngine, Source, Target, peak_memory_bytes};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().collect();
    let columns: Vec<String> = args[2].split(',').filter(|name| !name.is_empty()).map(String::from).collect();
    let threads = args.get(3).map_or(Ok(2), |threads| threads.parse())?;
    let source = Source::open(&args[1], &CsvOptions::default())?;
    let engine = LocalEngine::with_options(source, EngineOptions { threads, ..EngineOptions::default() });
    let start = Instant::now();
    let counts = engine.group_and_count(&columns, &NoObserver)?;
    let peak = || peak_memory_bytes().unwrap_or(0) >> 20;
    println!(
        "group and count: {:.2} s, {} records, {} distinct rows, peak {} MB",
        start.elapsed().as_secs_f64(),
        counts.records,
        counts.rows(),
        peak()
    );
    let Some(out) = args.get(4) else {
        return Ok(());
    };
    let key: Vec<KeyColumn> = counts
        .columns
        .iter()
        .map(|column| KeyColumn { name: column.name.clone(), values: column.values.clone(), rewritten: true })
        .collect();
    let change = if args.get(5).is_some_and(|shape| shape == "shares") {
        shares(&counts)
    } else {
        Change::Map { labels: key.iter().map(|column| column.values.clone()).collect(), suppressed: vec![] }
    };
    let order =
        if args.get(6).is_some_and(|order| order == "input") { RecordOrder::Input } else { RecordOrder::Shuffled };
    let rewrite = Rewrite { key, change, dropped: vec![], renotated: Vec::new(), order, seed: Seed::Number(1) };
    drop(counts);
    let start = Instant::now();
    let staged = engine.stage(&rewrite, &Target::new(out)?, &NoObserver)?;
    println!(
        "rewrite: {:.2} s, {} records, {} bytes, peak {} MB",
        start.elapsed().as_secs_f64(),
        staged.records(),
        staged.bytes(),
        peak()
    );
    Ok(())
}

/// Ten consecutive rows form a group; the records of one row in eight are divided among two groups.
fn shares(counts: &moretta_core::counts::Counts) -> Change {
    let groups = counts.rows().div_ceil(10) + 1;
    let mut offsets = vec![0];
    let mut shares = Vec::new();
    for (row, &records) in counts.counts.iter().enumerate() {
        let group = (row / 10) as u32;
        if row % 8 == 0 && records > 1 {
            shares.push(Share { group, records: records / 2 });
            shares.push(Share { group: group + 1, records: records - records / 2 });
        } else {
            shares.push(Share { group, records });
        }
        offsets.push(shares.len() as u32);
    }
    let labels = counts
        .columns
        .iter()
        .enumerate()
        .map(|(index, column)| {
            (0..groups)
                .map(|group| column.values[counts.row((group * 10).min(counts.rows() - 1))[index] as usize].clone())
                .collect()
        })
        .collect();
    Change::Shares { rows: counts.codes.clone(), offsets, shares, labels }
}

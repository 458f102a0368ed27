//! Cases with a damaged table in another form than plain CSV or Parquet: compressed, in another encoding, or Arrow.

use std::{
    fs::{self, File},
    io::Write,
    path::Path,
};

use arrow_array::RecordBatch;
use arrow_ipc::{
    CompressionType,
    writer::{FileWriter, IpcWriteOptions, StreamWriter},
};
use flate2::{Compression, write::GzEncoder};

use super::{Inputs, Skipped, inputs::anonymize, parquet};
use crate::{csv::TextTable, job::Job, mutate::Format, rng::Rng, stock::Stock};

const GZIP: &str = "table.csv.gz";
const ZSTD: &str = "table.csv.zst";
const CSV: &str = "table.csv";

/// A table that is a file of several members or frames in half of the cases.
fn compressed(rng: &mut Rng, folder: &Path, name: &'static str, pack: fn(&[u8]) -> Vec<u8>) -> Result<Inputs, Skipped> {
    let stock = Stock::persons(rng);
    stock.write_policy(folder).map_err(|_| Skipped)?;
    let text = crate::csv::print(&stock.table, ',').into_bytes();
    let (head, tail) = text.split_at(if rng.chance(50) { rng.below(text.len()) } else { text.len() });
    let parts = [head, tail].into_iter().filter(|part| !part.is_empty());
    let bytes: Vec<u8> = parts.flat_map(pack).collect();
    fs::write(folder.join(name), &bytes).map_err(|_| Skipped)?;
    let output = *rng.one(&["out.csv", "out.csv.gz", "out.csv.zst"]);
    let jobs = jobs(rng, name, output);
    Ok(Inputs {
        target: name.to_owned(),
        format: Format::Binary,
        splice: text,
        jobs,
        table: stock.table,
        tables: vec![name],
    })
}

fn jobs(rng: &mut Rng, input: &'static str, output: &'static str) -> Vec<Job> {
    match rng.below(4) {
        0 => vec![Job::Init { input }, Job::Risks { input }],
        1 => vec![Job::Check { released: input }],
        _ => vec![anonymize(rng, input, output)],
    }
}

pub fn gzip(rng: &mut Rng, folder: &Path) -> Result<Inputs, Skipped> {
    compressed(rng, folder, GZIP, |text| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        // Writing to memory does not fail.
        let _ = encoder.write_all(text);
        encoder.finish().unwrap_or_default()
    })
}

pub fn zstd(rng: &mut Rng, folder: &Path) -> Result<Inputs, Skipped> {
    compressed(rng, folder, ZSTD, |text| zstd::stream::encode_all(text, 3).unwrap_or_default())
}

/// A text in an encoding; characters that it lacks become question marks.
fn encoded(name: &str, text: &str) -> Vec<u8> {
    match name {
        "utf-16" => [0xFEFF].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect(),
        "utf-16le" => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        "utf-16be" => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        _ => text
            .chars()
            .map(|char| u8::try_from(u32::from(char)).ok().filter(|b| !(0x80..0xA0).contains(b)).unwrap_or(b'?'))
            .collect(),
    }
}

pub fn encoding(rng: &mut Rng, folder: &Path) -> Result<Inputs, Skipped> {
    let mut stock = Stock::persons(rng);
    let names = ["utf-16", "utf-16le", "utf-16be", "windows-1252", "latin-1", "utf-8-bom"];
    let (declared, written) = (*rng.one(&names), *rng.one(&names));
    // Usually the declaration is right.
    let written = if rng.chance(80) { declared } else { written };
    // The judge reads releases as UTF-8; releases in other encodings are tested elsewhere.
    let release = "encoding = \"utf-8\"\n";
    if stock.policy.contains("[input]") {
        return Err(Skipped);
    }
    if !stock.policy.contains("[release]\n") {
        stock.policy += "\n[release]\n";
    }
    stock.policy = stock.policy.replacen("[release]\n", &format!("[release]\n{release}"), 1);
    stock.policy += &format!("\n[input]\nencoding = \"{declared}\"\n");
    stock.write_policy(folder).map_err(|_| Skipped)?;
    for row in stock.table.iter_mut().skip(1) {
        if rng.chance(30) {
            row[0].push(*rng.one(&['é', 'ß', '€', 'Ł', '\u{1F600}']));
        }
    }
    let text = encoded(written, &crate::csv::print(&stock.table, ','));
    fs::write(folder.join(CSV), &text).map_err(|_| Skipped)?;
    let jobs = jobs(rng, CSV, "out.csv");
    Ok(Inputs {
        target: CSV.to_owned(),
        format: Format::Binary,
        splice: text,
        jobs,
        table: stock.table,
        tables: vec![CSV],
    })
}

/// Writes a batch in Arrow IPC. Returns `false` if the type cannot be written.
fn write_arrow(rng: &mut Rng, batch: &RecordBatch, path: &Path, stream: bool) -> bool {
    let compression = *rng.one(&[None, Some(CompressionType::LZ4_FRAME), Some(CompressionType::ZSTD)]);
    let Ok(options) = IpcWriteOptions::default().try_with_compression(compression) else { return false };
    let Ok(file) = File::create(path) else { return false };
    let parts = 1 + rng.below(3);
    let size = batch.num_rows().div_ceil(parts).max(1);
    let slices = (0..batch.num_rows()).step_by(size).map(|at| batch.slice(at, size.min(batch.num_rows() - at)));
    let written = if stream {
        StreamWriter::try_new_with_options(file, &batch.schema(), options).and_then(|mut writer| {
            slices.into_iter().try_for_each(|slice| writer.write(&slice))?;
            writer.finish()
        })
    } else {
        FileWriter::try_new_with_options(file, &batch.schema(), options).and_then(|mut writer| {
            slices.into_iter().try_for_each(|slice| writer.write(&slice))?;
            writer.finish()
        })
    };
    written.is_ok()
}

pub fn arrow(rng: &mut Rng, folder: &Path) -> Result<Inputs, Skipped> {
    let stream = rng.chance(50);
    let name = if stream { "table.arrows" } else { "table.arrow" };
    let path = folder.join(name);
    let mut table: TextTable = vec![Vec::new()];
    let batch = if rng.chance(30) {
        let stock = Stock::persons(rng);
        stock.write_policy(folder).map_err(|_| Skipped)?;
        let batch = parquet::batch_of_texts(&stock.table);
        table = stock.table;
        batch
    } else {
        let (rows, columns) = (1 + rng.below(40), 1 + rng.below(5));
        let arrays = (0..columns).map(|at| (format!("c{at}"), parquet::column(rng, rows), true)).collect::<Vec<_>>();
        fs::write(folder.join("policy.toml"), parquet::policy(rng, columns)).map_err(|_| Skipped)?;
        RecordBatch::try_from_iter_with_nullable(arrays).map_err(|_| Skipped)?
    };
    if !write_arrow(rng, &batch, &path, stream) {
        return Err(Skipped);
    }
    let output = *rng.one(&["out.csv", "out.arrow", "out.arrows", "out.parquet"]);
    let jobs = jobs(rng, name, output);
    let splice = fs::read(&path).map_err(|_| Skipped)?;
    Ok(Inputs { target: name.to_owned(), format: Format::Binary, splice, jobs, table, tables: vec![name] })
}

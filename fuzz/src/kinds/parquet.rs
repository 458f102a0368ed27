//! Cases with a damaged Parquet file: small files of many types, codecs and page sizes, with bytes changed.

use std::{fs::File, path::Path, sync::Arc};

use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Date64Array, Decimal128Array, DictionaryArray, Float32Array,
    Float64Array, Int8Array, Int32Array, LargeStringArray, ListArray, RecordBatch, StringArray, StringViewArray,
    Time64MicrosecondArray, TimestampMillisecondArray, TimestampNanosecondArray, UInt64Array, types::Int32Type,
};
use parquet::{
    arrow::ArrowWriter,
    basic::{Compression, ZstdLevel},
    file::properties::{WriterProperties, WriterVersion},
};

use super::{Inputs, Skipped, inputs::anonymize};
use crate::{csv::TextTable, job::Job, mutate::Format, rng::Rng, stock::Stock};

const TABLE: &str = "table.parquet";

/// A column of random type. Numbers are in `0..40`; some are null.
pub fn column(rng: &mut Rng, rows: usize) -> ArrayRef {
    let nulls = *rng.one(&[0, 0, 10, 100]);
    let numbers: Vec<Option<i64>> = (0..rows).map(|_| (!rng.chance(nulls)).then(|| rng.below(40) as i64)).collect();
    let texts: Vec<Option<String>> = numbers.iter().map(|number| number.map(|number| format!("t{number}"))).collect();
    let each = numbers.iter().copied();
    match rng.below(18) {
        0 => Arc::new(StringArray::from(texts)),
        1 => Arc::new(LargeStringArray::from(texts)),
        2 => Arc::new(StringViewArray::from_iter(texts.iter().map(Option::as_deref))),
        3 => Arc::new(texts.iter().map(Option::as_deref).collect::<DictionaryArray<Int32Type>>()),
        4 => Arc::new(each.map(|number| number.map(|number| number as i8)).collect::<Int8Array>()),
        5 => Arc::new(each.map(|number| number.map(|number| number as i32)).collect::<Int32Array>()),
        6 => Arc::new(each.map(|number| number.map(|number| number as u64)).collect::<UInt64Array>()),
        7 => Arc::new(each.map(|number| number.map(|number| number as f32 / 8.0)).collect::<Float32Array>()),
        8 => Arc::new(each.map(|number| number.map(|number| number as f64 / 8.0)).collect::<Float64Array>()),
        9 => Arc::new(each.map(|number| number.map(|number| number > 20)).collect::<BooleanArray>()),
        10 => Arc::new(each.map(|number| number.map(|number| number as i32 + 9000)).collect::<Date32Array>()),
        11 => Arc::new(each.map(|number| number.map(|number| number * 86_400_000)).collect::<Date64Array>()),
        12 => {
            Arc::new(each.map(|n| n.map(|n| n * 3_600_000)).collect::<TimestampMillisecondArray>().with_timezone("UTC"))
        }
        13 => Arc::new(each.map(|n| n.map(|n| n * 1_000_000_007)).collect::<TimestampNanosecondArray>()),
        14 => Arc::new(each.collect::<Time64MicrosecondArray>()),
        15 => Arc::new(texts.iter().map(|text| text.as_ref().map(String::as_bytes)).collect::<BinaryArray>()),
        16 => Arc::new(each.map(|number| number.map(i128::from)).collect::<Decimal128Array>()),
        _ => Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(
            each.map(|number| number.map(|number| vec![Some(number as i32); number as usize % 3])),
        )),
    }
}

fn properties(rng: &mut Rng) -> WriterProperties {
    let codecs = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::ZSTD(ZstdLevel::default()),
        Compression::LZ4_RAW,
        Compression::GZIP(parquet::basic::GzipLevel::default()),
    ];
    WriterProperties::builder()
        .set_compression(*rng.one(&codecs))
        .set_dictionary_enabled(rng.chance(50))
        .set_writer_version(*rng.one(&[WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0]))
        .set_data_page_row_count_limit(*rng.one(&[5, 100]))
        .set_write_batch_size(*rng.one(&[5, 100]))
        .set_max_row_group_row_count(Some(*rng.one(&[7, 1000])))
        .build()
}

/// Writes a batch as Parquet. Returns `false` if the type cannot be written.
fn write(batch: &RecordBatch, properties: WriterProperties, path: &Path) -> bool {
    let Ok(file) = File::create(path) else { return false };
    let writer = ArrowWriter::try_new(file, batch.schema(), Some(properties));
    writer.and_then(|mut writer| writer.write(batch).and_then(|()| writer.close())).is_ok()
}

/// A table of texts as a batch.
pub fn batch_of_texts(table: &TextTable) -> RecordBatch {
    let column = |at: usize| -> ArrayRef {
        Arc::new(table[1..].iter().map(|row| Some(row[at].as_str())).collect::<StringArray>())
    };
    let columns = table[0].iter().enumerate().map(|(at, name)| (name.clone(), column(at)));
    RecordBatch::try_from_iter(columns).expect("columns of one length")
}

/// Writes a table of texts as Parquet.
pub fn write_texts(table: &TextTable, path: &Path) {
    let written = write(&batch_of_texts(table), WriterProperties::default(), path);
    assert!(written, "a table of texts can be written");
}

/// A policy for columns `c0`, `c1`, ..: most are quasi-identifiers.
pub fn policy(rng: &mut Rng, columns: usize) -> String {
    let mut text = format!("version = 1\n[privacy]\nk = 2\n{}", crate::stock::method(rng));
    let mut exact = Vec::new();
    for at in 0..columns {
        let role =
            if at == 0 { "quasi-identifier" } else { rng.one(&["quasi-identifier", "insensitive", "sensitive"]) };
        let rule = if role == "insensitive" { "" } else { "missing = \"category\"\n" };
        text += &format!("[columns.c{at}]\nrole = \"{role}\"\n{rule}");
        exact.extend((role != "quasi-identifier").then(|| format!("c{at}")));
    }
    text + &format!("[release]\nexact = {exact:?}\n")
}

pub fn parquet(rng: &mut Rng, folder: &Path) -> Result<Inputs, Skipped> {
    let (rows, columns) = (1 + rng.below(40), 1 + rng.below(5));
    let path = folder.join(TABLE);
    let mut table = vec![Vec::new()];
    if rng.chance(30) {
        let stock = Stock::persons(rng);
        stock.write_policy(folder).map_err(|_| Skipped)?;
        write_texts(&stock.table, &path);
        table = stock.table;
    } else {
        let arrays = (0..columns).map(|at| (format!("c{at}"), column(rng, rows))).collect::<Vec<_>>();
        let batch =
            RecordBatch::try_from_iter_with_nullable(arrays.into_iter().map(|(name, array)| (name, array, true)));
        let policy = policy(rng, columns);
        std::fs::write(folder.join("policy.toml"), policy).map_err(|_| Skipped)?;
        if !write(&batch.map_err(|_| Skipped)?, properties(rng), &path) {
            return Err(Skipped);
        }
    }
    let jobs = match rng.below(4) {
        0 => vec![Job::Init { input: TABLE }, Job::Risks { input: TABLE }],
        1 => vec![Job::Check { released: TABLE }],
        2 => vec![anonymize(rng, TABLE, "out.parquet")],
        _ => vec![anonymize(rng, TABLE, "out.csv")],
    };
    let splice = std::fs::read(&path).map_err(|_| Skipped)?;
    Ok(Inputs { target: TABLE.to_owned(), format: Format::Binary, splice, jobs, table, tables: vec![TABLE] })
}

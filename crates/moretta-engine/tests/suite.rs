//! Conformance suite of all engines, run for releases as CSV and as Parquet.

use std::{cell::Cell, path::PathBuf};

use moretta_core::testing::engine_suite::{EngineUnderTest, TextTable, engine_suite};
use moretta_engine::{CsvOptions, EngineOptions, LocalEngine, Source, Target};

struct Files {
    folder: tempfile::TempDir,
    ending: &'static str,
    made: Cell<usize>,
}

impl Files {
    fn path(&self, ending: &str) -> PathBuf {
        self.made.set(self.made.get() + 1);
        self.folder.path().join(format!("{}.{ending}", self.made.get()))
    }
}

fn open(path: &std::path::Path) -> LocalEngine {
    let source = Source::open(&path.to_string_lossy(), &CsvOptions::default()).expect("opens");
    LocalEngine::with_options(source, EngineOptions { threads: 3, block_size: 64, ..EngineOptions::default() })
}

impl EngineUnderTest for Files {
    type Engine = LocalEngine;

    fn engine(&self, table: &TextTable) -> LocalEngine {
        let quoted = |cell: &String| format!("\"{}\"", cell.replace('"', "\"\""));
        let line = |row: &Vec<String>| row.iter().map(quoted).collect::<Vec<_>>().join(",") + "\n";
        let path = self.path("csv");
        let text: String = std::iter::once(&table.columns).chain(&table.rows).map(line).collect();
        std::fs::write(&path, text).expect("written");
        open(&path)
    }

    fn target(&self) -> Target {
        Target::new(self.path(self.ending)).expect("a target")
    }

    fn published(&self, target: &Target) -> Option<TextTable> {
        target.path.exists().then(|| {
            let sample = open(&target.path).first_records(usize::MAX).expect("reads");
            TextTable { columns: sample.columns, rows: sample.rows }
        })
    }
}

#[test]
fn the_local_engine_passes_the_suite() {
    for ending in ["csv", "parquet"] {
        engine_suite(&Files { folder: tempfile::tempdir().expect("folder"), ending, made: Cell::new(0) });
    }
}

//! Results of the benchmark in files, so that a run goes on where it was stopped.
//!
//! The results of `best` belong to this build of the program, those of the other methods to its version: they change
//! seldom, and take most of the time. The argument `fresh` ignores all of them.

use std::{
    error::Error,
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    path::PathBuf,
};

use crate::work;

/// Loss from 0 to 1 and seconds; `None` if a method refuses the policy or took too long.
pub(super) type Lost = Option<(f64, f64)>;

pub(super) struct Kept {
    folder: PathBuf,
    program: String,
    is_fresh: bool,
}

impl Kept {
    pub(super) fn open(is_fresh: bool) -> Result<Self, Box<dyn Error>> {
        let folder = work().join("default");
        fs::create_dir_all(&folder)?;
        let mut hasher = DefaultHasher::new();
        fs::read(std::env::current_exe()?)?.hash(&mut hasher);
        Ok(Self { folder, program: format!("{:016x}", hasher.finish()), is_fresh })
    }

    fn path(&self, cell: &str, method: &str) -> PathBuf {
        let of = if method.starts_with("best") { &self.program } else { env!("CARGO_PKG_VERSION") };
        self.folder.join(format!("{cell}-{method}-{of}.txt"))
    }

    /// The result of a method in a cell of the table, if there is one: two numbers, or a dash.
    pub(super) fn get(&self, cell: &str, method: &str) -> Option<Lost> {
        let text = fs::read_to_string(self.path(cell, method)).ok().filter(|_| !self.is_fresh)?;
        if text == "-" {
            return Some(None);
        }
        let (loss, seconds) = text.split_once(' ')?;
        Some(Some((loss.parse().ok()?, seconds.parse().ok()?)))
    }

    pub(super) fn put(&self, cell: &str, method: &str, lost: Lost) -> Result<(), Box<dyn Error>> {
        let text = lost.map_or("-".to_owned(), |(loss, seconds)| format!("{loss} {seconds}"));
        Ok(fs::write(self.path(cell, method), text)?)
    }
}

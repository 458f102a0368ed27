//! The dialect of tables for which there is no policy, or that may be originals or releases.

use moretta_core::{
    engine::{Records, Sample},
    policy::{InputOptions, Policy, ReleaseOptions},
};
use moretta_engine::{Format, FoundEncoding, LocalEngine};
use moretta_guess::{ColumnFacts, Dialect};

use crate::{error::FlowError, input::Input, policy::LoadedPolicy, session::Session};

/// A table of an unknown dialect.
pub(crate) struct UnknownTable {
    pub(crate) engine: LocalEngine,
    /// The first records.
    pub(crate) sample: Sample,
    /// Summary of the sample; the numbers of number columns are in plain notation.
    pub(crate) facts: Vec<ColumnFacts>,
    pub(crate) dialect: Dialect,
}

impl Session<'_> {
    /// Opens a table and finds out how it is written, from its first records. If the first line of CSV looks like a
    /// record, it is read as one, and the columns are called `c1`, `c2`, ..
    pub(crate) fn open_unknown(&self, input: &Input, records: usize) -> Result<UnknownTable, FlowError> {
        let found = self.find_encoding(input)?;
        let encoding = found.map(FoundEncoding::encoding);
        let mut engine = self.open(input, &InputOptions { encoding, ..InputOptions::default() })?;
        let mut sample = engine.sample(records)?;
        let mut facts = moretta_guess::facts(&sample.columns, &sample.rows);
        let encoding_is_certain = found == Some(FoundEncoding::Marked);
        let mut dialect = Dialect { encoding, encoding_is_certain, ..Dialect::default() };
        if let Some(found) = moretta_guess::name_like_a_value(&facts) {
            if engine.source().format() != Format::Csv {
                // The names are not shown, nor written to a policy: they may be a record of a person.
                return Err(FlowError::headerless(input, found));
            }
            dialect.header = false;
            engine = self.open(input, &InputOptions { header: false, encoding, ..InputOptions::default() })?;
            sample = engine.sample(records)?;
            facts = moretta_guess::facts(&sample.columns, &sample.rows);
        }
        let delimiter = engine.source().csv_options().delimiter.map(char::from);
        let delimiter = delimiter.filter(|_| engine.source().format() == Format::Csv);
        dialect.delimiter = delimiter.filter(|delimiter| *delimiter != ',');
        if delimiter.is_some() {
            dialect.numbers = moretta_guess::found_notation(&facts, delimiter);
            facts = moretta_guess::in_plain_notation(&facts, dialect.numbers.notation);
        }
        Ok(UnknownTable { engine, sample, facts, dialect })
    }

    /// Opens a file that may be an original or a release, which may have different dialects. A file that can be read as
    /// a release and has no column that must not be released is one. Returns the policy under which its texts are read.
    pub(crate) fn open_either(
        &self,
        input: &Input,
        loaded: LoadedPolicy,
    ) -> Result<(LocalEngine, LoadedPolicy), FlowError> {
        let policy = &loaded.policy;
        let ReleaseOptions { delimiter, encoding, decimal, header, guard_formulas, .. } = policy.release;
        let as_input =
            delimiter.is_none() && encoding.is_none() && decimal.is_none() && header.is_none() && !guard_formulas;
        if as_input && policy.input.header {
            return Ok((self.open(input, &policy.input)?, loaded));
        }
        let is_release = |engine: &LocalEngine| {
            let columns = engine.columns();
            let dropped = policy.dropped().any(|column| columns.contains(&column.name));
            !dropped && policy.check_released_columns(columns).is_ok()
        };
        if let Some(engine) = self.open_release(input, policy).ok().filter(is_release) {
            return Ok((engine, loaded));
        }
        let engine = self.open(input, &policy.input)?;
        let release = ReleaseOptions {
            delimiter: None,
            encoding: None,
            decimal: None,
            header: None,
            guard_formulas: false,
            ..policy.release.clone()
        };
        let policy = Policy { release, ..policy.clone() };
        Ok((engine, LoadedPolicy { policy, ..loaded }))
    }

    /// Opens a table for one of its columns. A table that lacks it may have no header, and the column is `c3`.
    pub(crate) fn open_with_column(&self, input: &Input, column: &str) -> Result<LocalEngine, FlowError> {
        /// Records that show whether the first line is a header. Not tuned.
        const RECORDS: usize = 1_000;
        let encoding = self.find_encoding(input)?.map(FoundEncoding::encoding);
        let engine = self.open(input, &InputOptions { encoding, ..InputOptions::default() })?;
        if engine.columns().iter().any(|name| name == column) || engine.source().format() != Format::Csv {
            return Ok(engine);
        }
        let other = self.open_unknown(input, RECORDS)?.engine;
        Ok(if other.columns().iter().any(|name| name == column) { other } else { engine })
    }
}

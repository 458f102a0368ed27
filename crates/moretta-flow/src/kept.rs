//! Kept columns: a release whose kept columns single out too many records is refused before its search.
//!
//! Requests that write a release are refused (`anonymize`, `apply`), and `check` fails; requests that write none
//! (`measure`, `compare`, `evaluate`, `frontier`) are not. The rule and the figures are those of
//! [`moretta_insight::kept`].

use moretta_core::{engine::Records, policy::Policy, schema::Unit};
use moretta_insight::kept::{self, KeptSizes};

use crate::{error::FlowError, memory::sample_counts, session::Session};

/// Maximum cells of the records that are read to choose columns, without a memory limit.
const MAX_SAMPLE_CELLS: u64 = 4_000_000;

/// Approximate bytes of a cell of these records.
const CELL_BYTES: u64 = 60;

/// Sets of columns that are counted at once to confirm a choice.
const SETS_AT_ONCE: usize = 8;

impl Session<'_> {
    /// Refuses a table whose kept columns single out more records than the policy allows. `advice` is added to the
    /// message.
    pub(crate) fn check_kept(
        &self,
        policy: &Policy,
        table: &dyn Records,
        sizes: &KeptSizes,
        advice: &str,
    ) -> Result<(), FlowError> {
        if !sizes.singles_out(policy) {
            return Ok(());
        }
        let chosen = self.columns_to_list(policy, table, sizes)?;
        let message = kept::refusal(policy, sizes, &chosen);
        Err(FlowError::unsatisfied(format!("{}: {message}{advice}", table.name())))
    }

    /// A small set of kept columns without which the others single out few records: chosen on the first records, and
    /// confirmed on all.
    fn columns_to_list(
        &self,
        policy: &Policy,
        table: &dyn Records,
        sizes: &KeptSizes,
    ) -> Result<Vec<String>, FlowError> {
        let columns = kept::not_exact(policy);
        if policy.unit() == Unit::Persons {
            // A choice by unique records would be too small.
            return Ok(columns);
        }
        let cells = self.memory_limit().map_or(MAX_SAMPLE_CELLS, |limit| MAX_SAMPLE_CELLS.min(limit / 4 / CELL_BYTES));
        let records = (cells as usize / table.columns().len().max(1)).min(kept::greedy_records(columns.len()));
        let sample = table.sample(records)?;
        let complete = sample.rows.len() < records;
        let Some(counts) = sample_counts(&sample, sample.rows.len(), &columns) else { return Ok(columns) };
        let distinct: Vec<u64> = columns.iter().map(|column| sizes.distinct(column)).collect();
        let (order, mut chosen) = kept::order(&counts, &distinct);
        let without = |listed: usize| -> Vec<String> {
            columns
                .iter()
                .enumerate()
                .filter(|(index, _)| !order[..listed].contains(index))
                .map(|(_, c)| c.clone())
                .collect()
        };
        // Without any columns, no record is singled out.
        while !complete && chosen < columns.len() {
            let next = (chosen + SETS_AT_ONCE).min(columns.len());
            let sets: Vec<Vec<String>> = (chosen..next).map(without).collect();
            let sizes = table.group_sizes(&sets, self.observer)?;
            match sizes.iter().position(|sizes| !kept::exceeds(sizes)) {
                Some(more) => {
                    chosen += more;
                    break;
                }
                None => chosen = next,
            }
        }
        Ok(order[..chosen].iter().map(|&index| columns[index].clone()).collect())
    }
}

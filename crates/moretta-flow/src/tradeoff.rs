//! `frontier`: the privacy-utility trade-off along a generalization path.

use moretta_core::{
    observer::{Note, Stage},
    policy::BoundPolicy,
    profile::Tables,
    search::Task,
};
use moretta_insight::tradeoff::TradeOff;

use crate::{
    error::FlowError,
    files::{OutputFile, OutputFormat},
    input::{Input, PolicySource},
    memory::Purpose,
    preflight,
    session::Session,
};

/// Request of `moretta frontier`.
#[derive(Debug, Clone)]
pub struct FindTradeOff {
    /// Table that is read.
    pub input: Input,
    /// Policy of the request.
    pub policy: PolicySource,
    /// Random seed of the search.
    pub seed: u64,
    /// The trade-off as .csv, .svg or .html.
    pub output: OutputFile,
}

impl Session<'_> {
    /// Follows a generalization path to its end and measures privacy and loss at every step.
    pub fn find_trade_off(&self, request: &FindTradeOff) -> Result<TradeOff, FlowError> {
        self.install(|| {
            let loaded = self.policy_for(&request.policy, &request.input)?;
            let engine = self.open(&request.input, &loaded.policy.input)?;
            let rule = "the trade-off must be named .csv, .svg or .html; `--json` prints JSON";
            let format = request.output.format(&[OutputFormat::Csv, OutputFormat::Svg, OutputFormat::Html], rule)?;
            request.output.check(&loaded.files, &[&engine])?;
            let (counts, profile) = self.original(&loaded, &engine)?;
            let others = self.second_tables(&loaded.policy, &loaded.hierarchies, &loaded.folder)?;
            let bound = BoundPolicy::with_tables(&loaded.policy, Tables { table: &profile, others: &others })?;
            preflight::path(&bound)?;
            self.check_memory(&bound, &counts, (Purpose::Path, &[]))?;
            drop(counts);
            self.observer.stage(Stage::Searching);
            let found = TradeOff::find(&loaded.policy, &Task::of(&bound, request.seed), self.observer)?;
            if !found.is_own() {
                let (chosen, shown) = (found.policy_method.clone(), found.method);
                self.observer.note(&Note::NoPath { chosen, shown });
            }
            let name = request.input.file_name();
            request.output.write(|| match format {
                Some(OutputFormat::Svg) => moretta_pages::tradeoff::svg(&found, &name),
                Some(OutputFormat::Html) => moretta_pages::tradeoff::page(&found, &name),
                _ => moretta_pages::tradeoff::csv(&found),
            })?;
            Ok(found)
        })
    }
}

//! The report: what was asked, what holds, what was lost, what was done. This is what programs read; pages are made from it.
//!
//! Nothing in it is about one person: counts, figures, labels of columns, and the policy itself.

use std::sync::Arc;

use moretta_core::{
    hierarchy::Cell,
    ids::TupleId,
    measure::{MeasureContext, Measures},
    objective::Objective,
    policy::Policy,
    privacy::{Description, Lkc, ModelFacts, Sentence, Template, TemplateFacts},
    profile::Profile,
    recoding::{Cut, Recoding},
    search::Stop,
    verify::{Judgement, Verified},
};
use serde::{Serialize, Serializer};

use crate::{
    distribution::{self, Distribution},
    recoding_comparison::Compared,
    risk::Risk,
    tradeoff::Point,
};

/// The version of the report format.
pub const VERSION: u32 = 1;

/// A report on a release.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// The version of this format.
    pub version: u32,
    /// What came in.
    pub input: Input,
    /// What was asked.
    pub policy: Policy,
    /// The method that was used.
    pub method: String,
    /// The step of the method's path that was asked for, where one was; whoever asked fills it in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<usize>,
    /// The seed. Whoever has it can put the records back in the order of the input, so it stays in the house.
    pub seed: u64,
    /// Why the search ended.
    pub stop: Stop,
    /// What holds.
    pub privacy: Privacy,
    /// The risk of being found, before and after.
    pub risk: Risk,
    /// How many records the recoding suppresses. (Measures also take a group for suppressed that prints `*` throughout.)
    pub suppressed_rows: u64,
    /// How many records leave with `*` in every quasi-identifier: the suppressed ones, and those of whose values none is
    /// told.
    pub starred_rows: u64,
    /// How many groups of records print alike.
    pub groups: usize,
    /// How many groups there are of each size, small sizes first.
    pub group_sizes: Vec<SizeClass>,
    /// What the release was made for, and what came of it, in the order of the policy; empty where it has no `[measure]`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[serde(rename = "goals")]
    pub objectives: Vec<ObjectiveResult>,
    /// What was lost.
    pub measures: Measures,
    /// What a search anew would have lost, where a recoding was applied and somebody asked; whoever asked fills it in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compared: Option<Compared>,
    /// What was lost, column by column.
    pub columns: Vec<ColumnLoss>,
    /// Columns in which a label stands for the values below it that are not released under a narrower one.
    pub nested: Vec<String>,
    /// The points of the way there, where the method leaves a path; whoever asks for a report fills them in.
    pub path: Vec<Point>,
    /// What the search did, by name.
    pub work: serde_json::Map<String, serde_json::Value>,
    /// How long it took.
    pub seconds: Seconds,
    /// The most memory that was held.
    pub peak_memory_bytes: Option<u64>,
}

/// What came in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Input {
    /// Records.
    pub rows: u64,
    /// Columns.
    pub columns: usize,
}

/// What holds in the release.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Privacy {
    /// The k that was asked for.
    pub k: Option<u64>,
    /// The smallest group of records that print alike.
    pub smallest_group: u64,
    /// Each template and the highest confidence found.
    pub templates: Vec<TemplateResult>,
    /// LKC-privacy and what was found, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lkc: Option<LkcResult>,
    /// Every model in words, and its worst group.
    pub models: Vec<ModelResult>,
}

/// A template and what was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TemplateResult {
    /// The policy's template, which may guard several values.
    #[serde(skip)]
    pub template: Arc<Template>,
    /// Whether it holds.
    #[serde(skip)]
    pub holds: bool,
    /// The known columns.
    pub given: Vec<String>,
    /// The sensitive column.
    pub column: String,
    /// The value.
    pub value: String,
    /// The limit.
    pub max_confidence: f64,
    /// The highest confidence of inferring it.
    pub confidence: f64,
    /// The template (its place in the list) that this one follows from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub implied_by: Option<usize>,
}

/// LKC-privacy and what was found.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LkcResult {
    /// How many columns are known.
    pub l: u64,
    /// The k that was asked for.
    pub k: u64,
    /// The limit on the confidence.
    pub c: f64,
    /// The smallest group of records alike in so many columns.
    pub smallest_group: u64,
    /// The highest confidence of inferring a sensitive value from so many columns.
    pub confidence: f64,
}

/// A model and what was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelResult {
    /// The model in words.
    #[serde(serialize_with = "in_words")]
    pub model: Description,
    /// Whether it holds.
    pub holds: bool,
    /// The worst group's figure in words.
    pub worst: String,
    /// The same as a number; `None` if the model's definition has none.
    pub figure: Option<f64>,
    /// The model's own facts: its parameters.
    pub facts: ModelFacts,
    /// A sentence on what was found, if the worst figure does not say all.
    #[serde(skip)]
    pub finding: Option<Sentence>,
    /// Whether the model judges the table as a whole, so that no group is the worst.
    #[serde(skip)]
    pub of_table: bool,
}

fn in_words<S: Serializer>(model: &Description, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(model)
}

/// A measure that the policy asks to be small, and what it came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ObjectiveResult {
    /// Its name.
    pub measure: &'static str,
    /// The column it is about, where it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// How much it counts beside others.
    pub weight: f64,
    /// What it came to, without the weight; none where the table has nothing it could be computed from.
    pub value: Option<f64>,
}

/// Information loss of a column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ColumnLoss {
    /// The column.
    pub name: String,
    /// Every measure that has a value per column, as a field of its own.
    #[serde(flatten)]
    pub losses: Measures,
    /// How its values were spread, and how they look from the release.
    pub distribution: Distribution,
}

impl ColumnLoss {
    /// The first of its losses, which is a share from 0 to 1 and drawn as a bar.
    pub fn share(&self) -> f64 {
        self.losses.0.first().and_then(|(_, value)| *value).unwrap_or(0.0)
    }
}

/// Groups of about one size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SizeClass {
    /// The least size.
    pub from: u64,
    /// The greatest size.
    pub to: u64,
    /// How many groups.
    pub groups: u64,
    /// How many records in them.
    pub records: u64,
}

/// How long each station took, in seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Seconds {
    /// Group and count.
    pub profile: f64,
    /// Search and verification.
    pub search: f64,
    /// Rewrite.
    pub release: f64,
    /// Reading the file back.
    pub check: f64,
    /// All of it.
    pub total: f64,
}

impl Privacy {
    /// From every model's judgement.
    pub fn of(policy: &Policy, judgements: &[Judgement], smallest_group: u64) -> Self {
        let is_template = |judgement: &&Judgement| judgement.facts.get::<TemplateFacts>().is_some();
        // From a place among all judgements to one among the templates.
        let place = |index: usize| judgements[..index].iter().filter(is_template).count();
        let template = |judgement: &Judgement| {
            let TemplateFacts { template, value } = judgement.facts.get()?;
            let Template { given, column, max_confidence, .. } = &**template;
            Some(TemplateResult {
                template: Arc::clone(template),
                holds: judgement.holds,
                given: given.clone(),
                column: column.clone(),
                value: value.clone(),
                max_confidence: *max_confidence,
                confidence: judgement.confidence.unwrap_or(0.0),
                implied_by: judgement.implied_by.map(place),
            })
        };
        let lkc = |judgement: &Judgement| {
            let &Lkc { l, k, c } = judgement.facts.get()?;
            let Judgement { smallest_group, confidence, .. } = *judgement;
            Some(LkcResult { l, k, c, smallest_group, confidence: confidence.unwrap_or(0.0) })
        };
        let model = |judgement: &Judgement| ModelResult {
            model: judgement.model.clone(),
            holds: judgement.holds,
            worst: judgement.worst.clone(),
            figure: Some(judgement.worst_figure).filter(|figure| figure.is_finite()),
            facts: judgement.facts.clone(),
            finding: judgement.finding.clone(),
            of_table: judgement.of_table,
        };
        Self {
            k: policy.privacy.k(),
            smallest_group,
            templates: judgements.iter().filter_map(template).collect(),
            lkc: judgements.iter().find_map(lkc),
            models: judgements.iter().map(model).collect(),
        }
    }
}

impl Report {
    /// As JSON, for programs.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a report is texts and numbers") + "\n"
    }

    /// Into how many blocks a method cut the table before it searched each on its own; none where it did not.
    pub fn blocks(&self) -> Option<u64> {
        self.work.get("blocks").and_then(serde_json::Value::as_u64).filter(|&blocks| blocks > 1)
    }

    /// Whether any value of a quasi-identifier is disclosed. LM decides: it is 1 in every column of a fully generalized
    /// record, while NCP is 0 in a column that has only one value.
    pub fn discloses_anything(&self) -> bool {
        self.columns.iter().any(|column| column.losses.get("lm").is_none_or(|lm| lm < 1.0))
    }

    /// On a release that was verified; path, times and memory are filled in by whoever ran it.
    pub fn of(
        policy: &Policy,
        profile: &Profile,
        verified: &Verified,
        outcome: (Stop, &[(&'static str, u64)]),
        seed: u64,
        input_columns: usize,
    ) -> Self {
        let released = verified.released();
        let context = MeasureContext::of_recoding(policy, profile, released);
        let sizes: Vec<u64> = (0..released.groups()).map(|group| released.records(group)).collect();
        let distributions = distribution::all(policy, profile, released);
        let column_loss =
            |((column, described), distribution): ((usize, &moretta_core::profile::Column), Distribution)| {
                let losses = Measures::of_column(&context, column);
                ColumnLoss { name: described.name.clone(), losses, distribution }
            };
        let objective_result = |objective: &Objective| ObjectiveResult {
            measure: objective.kind.name(),
            column: objective.kind.attribute(profile).map(|attribute| attribute.name.clone()),
            weight: objective.weight,
            value: objective.value(&context),
        };
        let (stop, work) = outcome;
        Self {
            version: VERSION,
            input: Input { rows: profile.records(), columns: input_columns },
            policy: policy.clone(),
            method: policy.method.name.clone(),
            at: None,
            seed,
            stop,
            privacy: Privacy::of(policy, verified.judgements(), sizes.iter().copied().min().unwrap_or(0)),
            risk: Risk::of(policy, profile, released),
            suppressed_rows: verified.recoding().suppressed_records(profile),
            starred_rows: released.suppressed_records(),
            groups: released.groups(),
            group_sizes: size_classes(&sizes, policy.privacy.k().unwrap_or(1)),
            objectives: policy.objectives().iter().map(objective_result).collect(),
            measures: Measures::of(&context),
            compared: None,
            columns: profile.columns().iter().enumerate().zip(distributions).map(column_loss).collect(),
            nested: nested(policy, profile, verified.recoding()),
            path: Vec::new(),
            work: work.iter().map(|(name, count)| ((*name).to_owned(), (*count).into())).collect(),
            seconds: Seconds::default(),
            peak_memory_bytes: None,
        }
    }
}

/// The columns in which a released cell of a global recoding lies within another.
fn nested(policy: &Policy, profile: &Profile, recoding: &Recoding) -> Vec<String> {
    let Recoding::Global(cut) = recoding else { return Vec::new() };
    let nests = |column: usize| {
        let domain = &profile.columns()[column].domain;
        // A set or a mean is of the group's own values, whatever the cell.
        let printed = !policy.release.prints_group_values(domain.kind());
        let mut cells = if printed { released_cells(profile, cut, column) } else { Vec::new() };
        // A missing value may print `*` on its own account.
        cells.retain(|cell| *cell == domain.whole() || !domain.is_star(*cell));
        cells.windows(2).any(|two| two[1].first <= two[0].last)
    };
    (0..profile.columns().len()).filter(|&c| nests(c)).map(|c| profile.columns()[c].name.clone()).collect()
}

/// The cells of a column that some record leaves as, in order, each once.
fn released_cells(profile: &Profile, cut: &Cut, column: usize) -> Vec<Cell> {
    let tuples = (0..profile.tuples()).map(TupleId::from_index);
    let leaves = tuples.filter(|tuple| cut.suppressed.binary_search(tuple).is_err());
    let mut seen = vec![false; cut.cells[column].len()];
    leaves.for_each(|tuple| seen[profile.codes(tuple)[column] as usize] = true);
    let mut cells: Vec<Cell> = cut.cells[column].iter().zip(seen).filter(|(_, seen)| *seen).map(|(c, _)| *c).collect();
    cells.sort_unstable();
    cells.dedup();
    cells
}

/// Sizes in classes that double: k..2k-1, 2k..4k-1, ...
fn size_classes(sizes: &[u64], k: u64) -> Vec<SizeClass> {
    let mut classes: Vec<SizeClass> = Vec::new();
    let (mut from, greatest) = (k.max(1), sizes.iter().copied().max().unwrap_or(0));
    // Below k there is nothing when k was asked for; without k everything starts at 1.
    if sizes.iter().any(|&size| size < from) {
        from = 1;
    }
    while from <= greatest {
        let to = from.saturating_mul(2) - 1;
        let inside = || sizes.iter().filter(|size| (from..=to).contains(*size));
        classes.push(SizeClass { from, to, groups: inside().count() as u64, records: inside().sum() });
        from = to + 1;
    }
    classes
}

#[cfg(test)]
mod tests {
    use moretta_core::{testing::TestTable, verify::verify_against};

    use super::*;

    #[test]
    fn a_release_of_stars_discloses_nothing_even_in_a_column_of_one_value() {
        let policy = "privacy.k = 2\ncolumns.a.role = \"quasi-identifier\"\ncolumns.b.role = \"quasi-identifier\"";
        let TestTable { policy, profile, models } = TestTable::new(policy, &[], &[("1,x", 2), ("1,y", 2)]);
        let discloses = |cut: Cut| {
            let verified = verify_against(&profile, Recoding::Global(cut), &models, &policy, 4).unwrap();
            Report::of(&policy, &profile, &verified, (Stop::Finished, &[]), 1, 2).discloses_anything()
        };
        let identity = Cut::identity(&profile);
        let suppressed = (0..profile.tuples()).map(TupleId::from_index).collect();
        assert!(discloses(identity.clone()) && !discloses(Cut { suppressed, ..identity }));
    }
}

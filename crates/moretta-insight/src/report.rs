//! The report on a release: policy, guarantees, risk, losses and run statistics. It is written as JSON; HTML pages are
//! made from it.
//!
//! It contains no data about a single person: only counts, measures, labels of columns, and the policy. Values and
//! nodes are named as [`naming`] allows.

use std::sync::Arc;

use moretta_core::{
    engine::ReleaseFile,
    hierarchy::Cell,
    ids::TupleId,
    measure::{MeasureContext, Measures},
    objective::Objective,
    policy::Policy,
    privacy::{Description, Lkc, ModelFacts, Sentence, Template, TemplateFacts},
    profile::Profile,
    recoding::{Cut, Recoding},
    search::{Stop, Tried},
    seed::Seed,
    verify::{Judgement, Verified},
};
use serde::{Serialize, Serializer};

use crate::{
    bound::Certificate,
    distribution::{self, Distribution},
    kept::Kept,
    linkage::Linkage,
    naming,
    provenance::Provenance,
    recoding_comparison::Compared,
    risk::Risk,
    statistics::Statistics,
    tradeoff::Point,
    typical_rows::TypicalRows,
};

/// The version of the report format.
pub const VERSION: u32 = 1;

/// A report on a release.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// The version of this format.
    pub version: u32,
    /// The released file; `None` if the release is not a file. The caller fills it in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release: Option<ReleaseFile>,
    /// When and from which files the release was made; `None` if it was not made from files. The caller fills it in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Provenance>,
    /// Size of the input.
    pub input: Input,
    /// The policy of the release.
    pub policy: Policy,
    /// The method that was used.
    pub method: String,
    /// The requested step of the generalization path (`--at`); the caller fills it in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<usize>,
    /// The random seed, as text. With it the order of the input can be restored, so it must not be published.
    pub seed: Seed,
    /// Why the search ended.
    pub stop: Stop,
    /// Guarantees of the release.
    pub privacy: Privacy,
    /// Re-identification risk, before and after.
    pub risk: Risk,
    /// Records that kept columns single out; the caller fills it in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<Kept>,
    /// Records that the recoding suppresses. (Measures also count records with `*` in every column as suppressed.)
    pub suppressed_rows: u64,
    /// Records released with `*` in every quasi-identifier: the suppressed ones and the fully generalized ones.
    pub starred_rows: u64,
    /// Number of groups.
    pub groups: usize,
    /// Numbers of groups by size, small sizes first.
    pub group_sizes: Vec<SizeClass>,
    /// Objectives of the policy and their values, in its order; empty if it has no `[measure]`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[serde(rename = "goals")]
    pub objectives: Vec<ObjectiveResult>,
    /// Information loss and other measures.
    pub measures: Measures,
    /// The lower bound on the loss of any release, if requested; the caller fills it in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<Certificate>,
    /// Comparison of an applied recoding with a fresh search, if requested; the caller fills it in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compared: Option<Compared>,
    /// Knowledge of an attacker who also holds earlier releases, if they were given; the caller fills it in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub linkage: Option<Linkage>,
    /// Information loss of each quasi-identifier.
    pub columns: Vec<ColumnLoss>,
    /// Statistics of the quasi-identifiers, if a report was requested; the caller fills them in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub statistics: Option<Statistics>,
    /// A few released rows, if a report was requested; the caller fills them in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub typical_rows: Option<TypicalRows>,
    /// Columns with nested labels: a label does not stand for values that are released with a narrower label.
    pub nested: Vec<String>,
    /// Points of the generalization path, if the method has one; the caller fills them in.
    pub path: Vec<Point>,
    /// Methods that the search tried, and what each lost; empty if it is a single method. The caller fills it in.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tried: Vec<Tried>,
    /// Counters of the search, by name.
    pub work: serde_json::Map<String, serde_json::Value>,
    /// Running times.
    pub seconds: Seconds,
    /// Peak memory of the process; `None` if the system does not report it.
    pub peak_memory_bytes: Option<u64>,
}

/// Size of the input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Input {
    /// Number of records.
    pub rows: u64,
    /// Number of persons, if the policy counts them: then k, sizes of groups and risks count persons.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub persons: Option<u64>,
    /// Number of columns.
    pub columns: usize,
}

/// Guarantees of a release and the results found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Privacy {
    /// The k of the policy.
    pub k: Option<u64>,
    /// Records or persons of the smallest group.
    pub smallest_group: u64,
    /// Each template and the highest confidence found.
    pub templates: Vec<TemplateResult>,
    /// Result of LKC-privacy, if the policy asks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lkc: Option<LkcResult>,
    /// Every model with its worst group.
    pub models: Vec<ModelResult>,
}

/// Result of a template for one value.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TemplateResult {
    /// The policy's template, which may guard several values.
    #[serde(skip)]
    pub template: Arc<Template>,
    /// Whether the confidence is within the limit.
    #[serde(skip)]
    pub holds: bool,
    /// Names of the columns that the attacker is assumed to know.
    pub given: Vec<String>,
    /// Name of the sensitive column.
    pub column: String,
    /// The guarded value; one of the rarest values, which come from the data, has a number instead.
    pub value: String,
    /// Maximum confidence.
    pub max_confidence: f64,
    /// Highest confidence of inferring the value.
    pub confidence: f64,
    /// Index of the template that implies this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub implied_by: Option<usize>,
}

/// Result of LKC-privacy.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LkcResult {
    /// Number of known columns.
    pub l: u64,
    /// Minimum records.
    pub k: u64,
    /// Maximum confidence.
    pub c: f64,
    /// Records or persons of the smallest group over all sets of `l` columns.
    pub smallest_group: u64,
    /// Highest confidence of inferring a sensitive value from any `l` columns.
    pub confidence: f64,
}

/// Result of a model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelResult {
    /// The model in words.
    #[serde(serialize_with = "in_words")]
    pub model: Description,
    /// Whether the release satisfies the model.
    pub holds: bool,
    /// Figure of the worst group, in words.
    pub worst: String,
    /// The same as a number; `None` if the model's definition has none.
    pub figure: Option<f64>,
    /// Parameters of the model.
    pub facts: ModelFacts,
    /// A sentence about the result, for models whose worst figure does not say all.
    #[serde(skip)]
    pub finding: Option<Sentence>,
    /// Whether the model judges the table as a whole, so that no group is the worst.
    #[serde(skip)]
    pub of_table: bool,
}

fn in_words<S: Serializer>(model: &Description, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(model)
}

/// An objective of the policy and its value.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ObjectiveResult {
    /// Name of the measure.
    pub measure: &'static str,
    /// The class or sensitive column that it is about, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// Weight among the objectives.
    pub weight: f64,
    /// Value without the weight; `None` if it is not defined for the table.
    pub value: Option<f64>,
}

/// Information loss of a column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ColumnLoss {
    /// Name of the column.
    pub name: String,
    /// Measures that are defined per column, each as a field.
    #[serde(flatten)]
    pub losses: Measures,
    /// Histogram before and after.
    pub distribution: Distribution,
}

impl ColumnLoss {
    /// The first measure, a share from 0 to 1 that pages draw as a bar.
    pub fn share(&self) -> f64 {
        self.losses.0.first().and_then(|(_, value)| *value).unwrap_or(0.0)
    }
}

/// Groups in a range of sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SizeClass {
    /// Smallest size: records or, if they are counted, persons.
    pub from: u64,
    /// Largest size.
    pub to: u64,
    /// Number of groups.
    pub groups: u64,
    /// Records of these groups.
    pub records: u64,
}

/// Running time of each stage, in seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Seconds {
    /// Grouping and counting the records.
    pub profile: f64,
    /// Search and verification.
    pub search: f64,
    /// Writing the release.
    pub release: f64,
    /// Reading the file back.
    pub check: f64,
    /// Total.
    pub total: f64,
}

impl Privacy {
    /// Collects the judgements of all models.
    pub fn of(policy: &Policy, judgements: &[Judgement], smallest_group: u64) -> Self {
        let is_template = |judgement: &&Judgement| judgement.facts.get::<TemplateFacts>().is_some();
        // Turns an index among all judgements into one among the templates.
        let place = |index: usize| judgements[..index].iter().filter(is_template).count();
        let template = |judgement: &Judgement| {
            let TemplateFacts { template, named, .. } = judgement.facts.get()?;
            let Template { given, column, max_confidence, .. } = &**template;
            Some(TemplateResult {
                template: Arc::clone(template),
                holds: judgement.holds,
                given: given.clone(),
                column: column.clone(),
                value: named.clone(),
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
            model: naming::description(&judgement.facts, judgement.model.clone()),
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

    /// Number of blocks into which the method partitioned the table; `None` if it did not.
    pub fn blocks(&self) -> Option<u64> {
        self.work.get("blocks").and_then(serde_json::Value::as_u64).filter(|&blocks| blocks > 1)
    }

    /// Whether any value of a quasi-identifier is disclosed. LM decides: it is 1 in every column of a fully generalized
    /// record, while NCP is 0 in a column that has only one value.
    pub fn discloses_anything(&self) -> bool {
        self.columns.iter().any(|column| column.losses.get("lm").is_none_or(|lm| lm < 1.0))
    }

    /// Builds the report on a verified release. The caller fills in file, path, times and memory.
    pub fn of(
        policy: &Policy,
        profile: &Profile,
        verified: &Verified,
        outcome: (Stop, &[(&'static str, u64)]),
        seed: Seed,
        input_columns: usize,
    ) -> Self {
        let released = verified.released();
        let context = MeasureContext::of_recoding(policy, profile, released);
        let grouping = released.grouping();
        let sizes: Vec<(u64, u64)> =
            (0..grouping.len()).map(|group| (grouping.size(group, profile), grouping.records(group))).collect();
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
            release: None,
            provenance: None,
            input: Input { rows: profile.records(), persons: profile.persons(), columns: input_columns },
            policy: policy.clone(),
            method: policy.method.name.clone(),
            at: None,
            seed,
            stop,
            privacy: Privacy::of(policy, verified.judgements(), sizes.iter().map(|(size, _)| *size).min().unwrap_or(0)),
            risk: Risk::of(policy, profile, released),
            kept: None,
            suppressed_rows: verified.recoding().suppressed_records(profile),
            starred_rows: released.suppressed_records(),
            groups: released.groups(),
            group_sizes: size_classes(&sizes, policy.privacy.k().unwrap_or(1)),
            objectives: policy.objectives().iter().map(objective_result).collect(),
            measures: Measures::of(&context),
            bound: None,
            compared: None,
            linkage: None,
            columns: profile.columns().iter().enumerate().zip(distributions).map(column_loss).collect(),
            statistics: None,
            typical_rows: None,
            nested: nested(policy, profile, verified.recoding()),
            path: Vec::new(),
            tried: Vec::new(),
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
        // Sets and means are computed from the group's values and do not show the cell.
        let printed = !policy.release.prints_group_values(domain.kind());
        let mut cells = if printed { released_cells(profile, cut, column) } else { Vec::new() };
        // A missing value may be released as `*` although its cell is not the whole column.
        cells.retain(|cell| *cell == domain.whole() || !domain.is_star(*cell));
        cells.windows(2).any(|two| two[1].first <= two[0].last)
    };
    (0..profile.columns().len()).filter(|&c| nests(c)).map(|c| profile.columns()[c].name.clone()).collect()
}

/// The distinct cells of a column that are released, sorted.
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

/// Groups in size ranges that double: k to 2k-1, 2k to 4k-1, and so on. A group is given as its size (persons if they
/// are counted) and its records.
fn size_classes(sizes: &[(u64, u64)], k: u64) -> Vec<SizeClass> {
    let mut classes: Vec<SizeClass> = Vec::new();
    let (mut from, greatest) = (k.max(1), sizes.iter().map(|(size, _)| *size).max().unwrap_or(0));
    // No group is smaller than the policy's k; without k the first range starts at 1.
    if sizes.iter().any(|(size, _)| *size < from) {
        from = 1;
    }
    while from <= greatest {
        let to = from.saturating_mul(2) - 1;
        let inside = || sizes.iter().filter(|(size, _)| (from..=to).contains(size));
        let records = inside().map(|(_, records)| records).sum();
        classes.push(SizeClass { from, to, groups: inside().count() as u64, records });
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
            Report::of(&policy, &profile, &verified, (Stop::Finished, &[]), Seed::Number(1), 2).discloses_anything()
        };
        let identity = Cut::identity(&profile);
        let suppressed = (0..profile.tuples()).map(TupleId::from_index).collect();
        assert!(discloses(identity.clone()) && !discloses(Cut { suppressed, ..identity }));
    }
}

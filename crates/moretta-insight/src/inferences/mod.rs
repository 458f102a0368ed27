//! Sensitive values that an attacker can infer from a table, raw or released.
//!
//! An *inference* `qid -> pi` (Wang, Fung, Yu 2007): among the records with the values `qid` in the known columns, some
//! carry the sensitive value `pi`. Their number is the *support*, their share the *confidence*:
//!
//! ```text
//! job = Trader, country = UK -> bankruptcy = Discharged     4 of 5 records: support 4, confidence 0.8
//! ```
//!
//! [`find`] counts every inference with a support of at least 1, exactly, and lists those with a confidence strictly
//! above a threshold. Rounding is tolerated as in the privacy models, so an inference exceeds its limit here if and
//! only if [`Template`] refuses it. A record is *exposed* above a threshold if it supports an inference with a higher
//! confidence.
//!
//! A [`Question`] has the known columns and the guarded values. Templates with the same known columns and the same
//! sensitive column are one question; LKC-privacy is one question per sensitive column, with all its sets of known
//! columns. An inference that several questions cover is listed and counted once in the totals, under the strictest
//! limit.
//!
//! The profile must be that of the file itself ([`Profile::of_release`]): every text of a quasi-identifier, including
//! `*` and missing values, is a value of its own.
//!
//! Cost: one grouping of the tuples per distinct set of known columns, and one pass over the variants per question.
//! Memory: O(variants + listed inferences).

mod listing;
#[cfg(test)]
mod tests;

pub use listing::{Listing, columns};

use std::cmp::Ordering;

use moretta_core::{
    ids::{AttributeId, ColumnId, TupleId, VariantId},
    policy::Policy,
    privacy::{Group, Lkc, ModelError, PrivacyModel, ShareLimit, Template, known_sets},
    profile::{Attribute, Profile, VariantCount},
    released::Grouping,
    schema::Role,
};
use serde::Serialize;

/// Confidence thresholds above which inferences are always counted.
pub const THRESHOLDS: [f64; 5] = [0.1, 0.3, 0.5, 0.7, 0.9];

/// The values of one sensitive column that an attacker should not infer from known columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The sets of columns that the attacker may know, each sorted: at least one set; several for LKC-privacy.
    pub known: Vec<Vec<ColumnId>>,
    /// The sensitive or class column.
    pub attribute: AttributeId,
    /// The guarded values, sorted by code.
    pub values: Vec<GuardedValue>,
}

/// A guarded value: one that an attacker should not infer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GuardedValue {
    /// Code of the value.
    pub value: u32,
    /// Maximum confidence that the policy allows; `None` if it sets no limit.
    pub max_confidence: Option<f64>,
}

impl Question {
    /// The questions of the policy's templates and LKC-privacy. Without either, one question per sensitive column: all
    /// quasi-identifiers known, all values guarded, no limit.
    pub fn of_policy(policy: &Policy, profile: &Profile) -> Result<Vec<Self>, ModelError> {
        let mut questions = Self::of_templates(policy, profile)?;
        if let Some(&Lkc { l, c, .. }) = policy.privacy.first() {
            questions.extend(Self::of_sensitive(&known_sets(l, profile), Some(c), profile));
        }
        if questions.is_empty() {
            questions.extend(Self::of_sensitive(&known_sets(u64::MAX, profile), None, profile));
        }
        Ok(questions)
    }

    /// One question per sensitive column, about all its values.
    fn of_sensitive(known: &[Vec<ColumnId>], max_confidence: Option<f64>, profile: &Profile) -> Vec<Self> {
        let sensitive = profile.attributes().iter().enumerate().filter(|(_, column)| column.role == Role::Sensitive);
        let question = |(index, column): (usize, &Attribute)| {
            let values = (0..column.values.len() as u32).map(|value| GuardedValue { value, max_confidence });
            Self { known: known.to_vec(), attribute: AttributeId::from_index(index), values: values.collect() }
        };
        sensitive.map(question).collect()
    }

    fn of_templates(policy: &Policy, profile: &Profile) -> Result<Vec<Self>, ModelError> {
        let mut questions: Vec<Self> = Vec::new();
        for template in policy.privacy.all::<Template>() {
            template.check_table(profile)?;
            let (given, attribute) = template.columns(profile)?;
            let same = |question: &Self| question.known == [&*given] && question.attribute == attribute;
            let at = questions.iter().position(same).unwrap_or(questions.len());
            if at == questions.len() {
                questions.push(Self { known: vec![given], attribute, values: Vec::new() });
            }
            let known = &profile.attributes()[attribute.index()];
            let codes = template.values_in(profile)?.into_iter().filter_map(|value| known.code_of_named(&value));
            let max_confidence = Some(template.max_confidence);
            questions[at].values.extend(codes.map(|value| GuardedValue { value, max_confidence }));
        }
        for values in questions.iter_mut().map(|question| &mut question.values) {
            // If a value has several limits, the strictest is kept.
            let limit = |guarded: &GuardedValue| guarded.max_confidence.unwrap_or(1.0);
            values.sort_by(|a, b| a.value.cmp(&b.value).then(limit(a).total_cmp(&limit(b))));
            values.dedup_by_key(|guarded| guarded.value);
        }
        Ok(questions)
    }

    fn guarded(&self, value: u32) -> Option<&GuardedValue> {
        self.values.binary_search_by_key(&value, |guarded| guarded.value).ok().map(|at| &self.values[at])
    }
}

/// An inference and its counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Inference {
    /// Index of the question.
    pub question: usize,
    /// Index of the known columns among the question's sets.
    pub set: usize,
    /// A tuple with the known values; its values in other columns have no meaning.
    pub tuple: TupleId,
    /// Code of the inferred value.
    pub value: u32,
    /// Records with the known values and the inferred value.
    pub support: u64,
    /// Records with the known values.
    pub records: u64,
    /// Maximum confidence that the policy allows, if it sets a limit.
    pub max_confidence: Option<f64>,
}

impl Inference {
    /// Share of the records with the known values that carry the inferred value.
    pub fn confidence(&self) -> f64 {
        self.support as f64 / self.records as f64
    }

    /// Whether the confidence is above the limit of the policy.
    pub fn exceeds_limit(&self) -> bool {
        self.max_confidence.is_some_and(|limit| is_above(self.confidence(), limit))
    }

    fn is_stricter_than(&self, other: &Self) -> bool {
        let limit = |of: &Self| of.max_confidence.unwrap_or(f64::INFINITY);
        limit(self) < limit(other)
    }

    /// Order of the list: highest confidence first, then highest support.
    fn compare(&self, other: &Self) -> Ordering {
        let position = |of: &Self| (of.question, of.set, of.tuple, of.value);
        let by_confidence = other.confidence().total_cmp(&self.confidence());
        by_confidence.then(other.support.cmp(&self.support)).then_with(|| position(self).cmp(&position(other)))
    }
}

/// Number of inferences, and of the records that they expose.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Number of inferences.
    pub inferences: u64,
    /// Number of distinct exposed records.
    pub records: u64,
}

/// Counts of inferences by confidence.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tallies {
    /// Above each of [`THRESHOLDS`].
    pub above: [Tally; THRESHOLDS.len()],
    /// Above the threshold of the list.
    pub listed: Tally,
    /// Above the limit of the policy.
    pub above_limit: Tally,
}

impl Tallies {
    fn add(&mut self, listed_above: f64, (confidence, exceeds_limit): (f64, bool), inferences: u64, records: u64) {
        let add = |tally: &mut Tally, counts: bool| {
            if counts {
                tally.inferences += inferences;
                tally.records += records;
            }
        };
        for (tally, threshold) in self.above.iter_mut().zip(THRESHOLDS) {
            add(tally, is_above(confidence, threshold));
        }
        add(&mut self.listed, is_above(confidence, listed_above));
        add(&mut self.above_limit, exceeds_limit);
    }
}

/// All inferences of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Inferences {
    /// Totals over all questions. A record that several inferences expose counts once.
    pub all: Tallies,
    /// Counts for each question.
    pub by_question: Vec<Tallies>,
    /// Inferences above the threshold, highest confidence first, then highest support; cut off at the requested length.
    pub listed: Vec<Inference>,
}

/// Whether a confidence is strictly above a threshold.
fn is_above(confidence: f64, threshold: f64) -> bool {
    !ShareLimit::at_most(threshold).allows(confidence)
}

/// Counts all inferences and lists those with a confidence above `above`, at most `max_listed` of them.
pub fn find(profile: &Profile, questions: &[Question], above: f64, max_listed: Option<usize>) -> Inferences {
    let no_exposure = || Exposure(vec![(0.0, false); profile.variants()]);
    let mut scan = InferenceScan {
        profile,
        questions,
        above,
        max_listed: max_listed.unwrap_or(usize::MAX),
        found: Inferences {
            all: Tallies::default(),
            by_question: vec![Tallies::default(); questions.len()],
            listed: Vec::new(),
        },
        exposure: no_exposure(),
        by_question: questions.iter().map(|question| (question.known.len() > 1).then(no_exposure)).collect(),
    };
    let sets = |(question, of): (usize, &Question)| (0..of.known.len()).map(move |set| BoundQuestion { question, set });
    let mut bound: Vec<BoundQuestion> = questions.iter().enumerate().flat_map(sets).collect();
    let known = |bound: &BoundQuestion| &questions[bound.question].known[bound.set];
    let attribute = |bound: &BoundQuestion| questions[bound.question].attribute;
    // Questions with the same known columns share a grouping, and only one grouping is in memory at a time.
    bound.sort_by(|a, b| known(a).cmp(known(b)).then(attribute(a).cmp(&attribute(b))));
    let tuples = Grouping::of_tuples(profile);
    for same_columns in bound.chunk_by(|a, b| known(a) == known(b)) {
        let given = known(&same_columns[0]);
        let coarse = (given.len() < profile.columns().len()).then(|| tuples.coarsened(given));
        let groups = coarse.as_ref().unwrap_or(&tuples);
        for members in (0..groups.len()).map(|group| groups.members(group)) {
            let group = Group::new(profile, members);
            for bound in same_columns.chunk_by(|a, b| attribute(a) == attribute(b)) {
                scan.scan_group(&group, members, attribute(&bound[0]), bound);
            }
        }
    }
    scan.finish()
}

/// A question with one of its sets of known columns, as indices.
#[derive(Clone, Copy)]
struct BoundQuestion {
    question: usize,
    set: usize,
}

/// For each variant, the highest confidence of an inference that it supports, and whether any of them exceeds its
/// limit.
struct Exposure(Vec<(f64, bool)>);

impl Exposure {
    fn add(&mut self, variant: VariantId, inference: &Inference) {
        let (confidence, exceeds_limit) = &mut self.0[variant.index()];
        *confidence = confidence.max(inference.confidence());
        *exceeds_limit |= inference.exceeds_limit();
    }

    fn count(&self, profile: &Profile, above: f64, tallies: &mut Tallies) {
        for (member, sure) in profile.everything().iter().zip(&self.0) {
            tallies.add(above, *sure, 0, member.records);
        }
    }
}

struct InferenceScan<'a> {
    profile: &'a Profile,
    questions: &'a [Question],
    above: f64,
    max_listed: usize,
    found: Inferences,
    /// Over all questions.
    exposure: Exposure,
    /// For each question with several sets of known columns. With one set, no record supports two inferences of a
    /// question.
    by_question: Vec<Option<Exposure>>,
}

impl InferenceScan<'_> {
    /// Counts the inferences in a group for questions with the same known columns and sensitive column.
    fn scan_group(
        &mut self,
        group: &Group<'_>,
        members: &[VariantCount],
        attribute: AttributeId,
        bound: &[BoundQuestion],
    ) {
        let Some(first) = members.first() else { return };
        let (questions, tuple, records) = (self.questions, self.profile.tuple_of(first.variant), group.records());
        let inferences = |value: u32, support: u64| {
            bound.iter().filter_map(move |&BoundQuestion { question, set }| {
                let max_confidence = questions[question].guarded(value)?.max_confidence;
                Some(Inference { question, set, tuple, value, support, records, max_confidence })
            })
        };
        for &(value, support) in group.histogram(attribute) {
            let mut strictest: Option<Inference> = None;
            for inference in inferences(value, support) {
                let sure = (inference.confidence(), inference.exceeds_limit());
                let exposes = if self.by_question[inference.question].is_some() { 0 } else { support };
                self.found.by_question[inference.question].add(self.above, sure, 1, exposes);
                if strictest.is_none_or(|other| inference.is_stricter_than(&other)) {
                    strictest = Some(inference);
                }
            }
            if let Some(inference) = strictest {
                self.found.all.add(self.above, (inference.confidence(), inference.exceeds_limit()), 1, 0);
                self.list(inference);
            }
        }
        for variant in members.iter().map(|member| member.variant) {
            let value = self.profile.value(variant, attribute);
            for inference in inferences(value, group.weight_of(attribute, value)) {
                self.exposure.add(variant, &inference);
                if let Some(exposure) = &mut self.by_question[inference.question] {
                    exposure.add(variant, &inference);
                }
            }
        }
    }

    fn list(&mut self, inference: Inference) {
        /// Inferences collected beyond `max_listed` before the list is sorted and cut. Affects speed and memory only.
        const ROOM: usize = 10_000;
        if is_above(inference.confidence(), self.above) {
            self.found.listed.push(inference);
            if self.found.listed.len() > self.max_listed.saturating_add(ROOM) {
                self.shorten();
            }
        }
    }

    fn shorten(&mut self) {
        self.found.listed.sort_unstable_by(Inference::compare);
        self.found.listed.truncate(self.max_listed);
    }

    fn finish(mut self) -> Inferences {
        self.shorten();
        self.exposure.count(self.profile, self.above, &mut self.found.all);
        for (exposure, tallies) in self.by_question.iter().zip(&mut self.found.by_question) {
            if let Some(exposure) = exposure {
                exposure.count(self.profile, self.above, tallies);
            }
        }
        self.found
    }
}

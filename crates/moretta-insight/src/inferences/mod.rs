//! What can be inferred from a table as it stands, raw or released: the danger, before anything is done about it.
//!
//! An *inference* `qid -> pi` (Wang, Fung, Yu 2007) says: of the records with the values `qid` in some columns this
//! share, its *confidence*, carries the sensitive value `pi`; so many of them, its *support*, do. [`find`] counts every
//! inference with a support of at least one, exactly, and lists those with a confidence strictly above a threshold,
//! with the same room for rounding as the privacy models: what is marked as broken here is what
//! [`Template`] refuses. A record is *exposure* above a threshold if it is one of those that carry the `pi` of such an
//! inference.
//!
//! Which columns are known and which values are guarded is a [`Question`]. Templates with the same known columns and the
//! same sensitive column are one question; LKC-privacy is one for each sensitive column, with every set of columns that
//! somebody may know. Where several ask about the same columns and value, the inference is listed and counted in all
//! once, under the strictest limit.
//!
//! The profile is to be one of the file as it stands ([`Profile::of_release`]): every text in a quasi-identifier, `*`
//! and a missing value included, is a value like any other.
//!
//! Cost: the tuples are grouped once for each distinct set of known columns, and every variant is looked at once for
//! each question; memory follows the variants and what is listed, of which a limit keeps the surest.

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

/// The confidences above which inferences are always counted.
pub const THRESHOLDS: [f64; 5] = [0.1, 0.3, 0.5, 0.7, 0.9];

/// What does whoever knows some columns learn about another?
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The sets of columns that may be known, each in order: at least one, and more where it is any few columns.
    pub known: Vec<Vec<ColumnId>>,
    /// The sensitive or class column.
    pub attribute: AttributeId,
    /// The values not to be inferred, in order of their codes.
    pub values: Vec<GuardedValue>,
}

/// A value not to be inferred.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GuardedValue {
    /// Its code.
    pub value: u32,
    /// The greatest confidence that the policy allows; none where it does not speak of the value.
    pub max_confidence: Option<f64>,
}

impl Question {
    /// What the policy's templates and its LKC-privacy ask; where there is neither, what all quasi-identifiers tell about
    /// every value of each sensitive column.
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

    /// About every value of each sensitive column.
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
            let codes = template.values_in(profile)?.into_iter().filter_map(|value| known.code(&value));
            let max_confidence = Some(template.max_confidence);
            questions[at].values.extend(codes.map(|value| GuardedValue { value, max_confidence }));
        }
        for values in questions.iter_mut().map(|question| &mut question.values) {
            // Of several limits on a value the strictest counts.
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

/// Of the records with some values, so many carry a sensitive one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Inference {
    /// The question it answers, by its place.
    pub question: usize,
    /// The known columns, by their place among the question's sets.
    pub set: usize,
    /// A tuple that has the known values; in other columns it is one of many.
    pub tuple: TupleId,
    /// The code of what is inferred.
    pub value: u32,
    /// How many records carry both.
    pub support: u64,
    /// How many records have the known values.
    pub records: u64,
    /// The greatest confidence that the policy allows.
    pub max_confidence: Option<f64>,
}

impl Inference {
    /// How sure whoever knows the values can be.
    pub fn confidence(&self) -> f64 {
        self.support as f64 / self.records as f64
    }

    /// Whether the policy forbids it.
    pub fn is_broken(&self) -> bool {
        self.max_confidence.is_some_and(|limit| is_above(self.confidence(), limit))
    }

    fn is_stricter_than(&self, other: &Self) -> bool {
        let limit = |of: &Self| of.max_confidence.unwrap_or(f64::INFINITY);
        limit(self) < limit(other)
    }

    /// The order of the list.
    fn compare(&self, other: &Self) -> Ordering {
        let position = |of: &Self| (of.question, of.set, of.tuple, of.value);
        let by_confidence = other.confidence().total_cmp(&self.confidence());
        by_confidence.then(other.support.cmp(&self.support)).then_with(|| position(self).cmp(&position(other)))
    }
}

/// So many inferences, and so many records that they expose.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Inferences.
    pub inferences: u64,
    /// Records, each once.
    pub records: u64,
}

/// Inferences by how sure they are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tallies {
    /// Above each of [`THRESHOLDS`].
    pub above: [Tally; THRESHOLDS.len()],
    /// Above the threshold of the list.
    pub listed: Tally,
    /// Above what the policy allows.
    pub broken: Tally,
}

impl Tallies {
    fn add(&mut self, listed_above: f64, (confidence, broken): (f64, bool), inferences: u64, records: u64) {
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
        add(&mut self.broken, broken);
    }
}

/// What was found in a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Inferences {
    /// All questions together. A record that several inferences expose counts once.
    pub all: Tallies,
    /// Each question on its own.
    pub by_question: Vec<Tallies>,
    /// Those above the threshold of the list, or the first of them: the surest first, then those that concern most
    /// records.
    pub listed: Vec<Inference>,
}

/// Whether a confidence is strictly above a threshold.
fn is_above(confidence: f64, threshold: f64) -> bool {
    !ShareLimit::at_most(threshold).allows(confidence)
}

/// Counts all inferences and lists those with a confidence above `above`, or the first `most` of them.
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
    // Questions with the same known columns share their groups, and only one grouping is held at a time.
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

/// A question about one of its sets of columns.
#[derive(Clone, Copy)]
struct BoundQuestion {
    question: usize,
    set: usize,
}

/// Of each variant, the surest inference that it supports, and whether the policy forbids any of them.
struct Exposure(Vec<(f64, bool)>);

impl Exposure {
    fn add(&mut self, variant: VariantId, inference: &Inference) {
        let (confidence, broken) = &mut self.0[variant.index()];
        *confidence = confidence.max(inference.confidence());
        *broken |= inference.is_broken();
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
    /// By all questions.
    exposure: Exposure,
    /// By each that has several sets of known columns; with one set no record supports two inferences.
    by_question: Vec<Option<Exposure>>,
}

impl InferenceScan<'_> {
    /// What questions with the same known columns and the same sensitive one find in a group.
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
                let sure = (inference.confidence(), inference.is_broken());
                let exposes = if self.by_question[inference.question].is_some() { 0 } else { support };
                self.found.by_question[inference.question].add(self.above, sure, 1, exposes);
                if strictest.is_none_or(|other| inference.is_stricter_than(&other)) {
                    strictest = Some(inference);
                }
            }
            if let Some(inference) = strictest {
                self.found.all.add(self.above, (inference.confidence(), inference.is_broken()), 1, 0);
                self.list(inference);
            }
        }
        for variant in members.iter().map(|member| member.variant) {
            let value = self.profile.value(variant, attribute);
            for inference in inferences(value, group.records_with(attribute, value)) {
                self.exposure.add(variant, &inference);
                if let Some(exposure) = &mut self.by_question[inference.question] {
                    exposure.add(variant, &inference);
                }
            }
        }
    }

    fn list(&mut self, inference: Inference) {
        /// So many more than are wanted are gathered before the surest are chosen from them.
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

//! Linkage of several releases of one table: what an attacker learns who holds all of them.
//!
//! Every release satisfies the policy on its own. Together they may not: a person is in one group of each release, and
//! only the people in all of these groups remain.
//!
//! ```text
//! age              22    27    38    41    52    58
//! release 1       [ flu, ulcer, HIV ][ asthma, gout, asthma ]
//! release 2       [ flu, ulcer ][ HIV, asthma, gout, asthma  ]
//! person of 38                   x
//! ```
//!
//! Both releases have k = 2 and l = 2. By release 1, a person of age 38 has flu, an ulcer or HIV; by release 2, HIV,
//! asthma or gout. Both are about the same people, so it is HIV.
//!
//! # Definitions
//!
//! The attacker knows the quasi-identifiers of a person (the *target*) and that the person is in every release.
//!
//! - The *candidates* of a target in a release are the records whose printed cells all contain the target's values.
//!   Boxes may overlap, and a suppressed record (`*`) is a candidate of every person, so candidates can come from
//!   several groups.
//! - Sensitive, class and insensitive columns are copied unchanged. So a candidate of one release can be the target
//!   only if every other release has a candidate with the same combination of copied texts.
//! - The *joint group* of a target is the multiset intersection of its candidates over all releases: each combination
//!   of copied values, as often as in the release where it is rarest among the candidates. In the example: HIV, once.
//!   No more people than that can be candidates in all releases. For a single release with disjoint boxes, it is the
//!   target's group.
//! - Few people are suppressed, so an attacker may ignore suppressed records and is right about all other people. So
//!   each target has a second joint group without them; with them where a release has no other candidate, because the
//!   target must be suppressed there. It does not count if it is empty.
//! - The policy's models judge both joint groups of every target, as they judge the groups of one release; both must
//!   satisfy them. A model that assumes fewer columns to be known (a template, LKC-privacy) gets joint groups by these
//!   columns only.
//! - A sensitive value is *certain* if all records of one of the joint groups have it.
//!
//! A joint group contains the target's own record and, as a bound, everyone who may share it: attackers who also reason
//! about who else must be in which group may learn more. So a joint group with fewer than k records or l values is a
//! violation, and the absence of violations is no proof. Shares (templates, t-closeness) are those of the joint group.
//!
//! The order of the records is not considered: a profile has none. Releases in the order of their original have the
//! same person in the same row, and no joint group protects them.
//!
//! # Targets
//!
//! [`people()`] takes the records of the original: these are the people who can be found, and the counts are exact.
//! Without the original, [`regions()`] takes every non-empty intersection of boxes, one of each release, whose groups
//! have a combination of copied values in common. A person may live in any of them; some may be empty, so the counts
//! are those of regions, not of people.
//!
//! Both assume that all releases have the same records and refuse others. Nothing in the result names a value of the
//! data or a record.
//!
//! Cost: one tree query per target and release, and the sizes of the candidates; for regions, the number of pairs of
//! boxes that overlap, up to [`MAX_STEPS`].

mod boxes;
mod copied;
mod joint;
mod memory;
mod people;
mod regions;
mod tally;
#[cfg(test)]
mod tests;

use moretta_core::{
    counts::Counts,
    hierarchy::{DomainError, Hierarchies},
    policy::{ColumnPolicy, Numbers, Policy},
    privacy::{Description, ModelFacts},
    profile::Profile,
    schema::{Kind, MissingRule, Role},
    text::{at_record, count, listed, shown},
};
use serde::{Serialize, Serializer};

pub use self::{
    memory::{LinkedSize, linking_bytes},
    people::people,
    regions::{MAX_STEPS, REGION_BYTES, regions},
};

/// A released file.
#[derive(Debug)]
pub struct ReleasedTable {
    /// Name of the file.
    pub name: String,
    /// Its profile, in which every text of a copied column is a value.
    pub(crate) profile: Profile,
}

impl ReleasedTable {
    /// A release from the counts of its columns under the [`linking_policy`].
    pub fn new(name: String, linking: &Policy, counts: &Counts) -> Result<Self, DomainError> {
        let mut exact = linking.clone();
        // No text is missing here: `NA` and an empty cell are two texts that link records.
        exact.input.missing.clear();
        exact.columns.iter_mut().for_each(|column| column.missing_texts.clear());
        for column in exact.columns.iter_mut().filter(|column| column.role != Role::QuasiIdentifier) {
            (column.kind, column.fold, column.missing) = (Some(Kind::Category), false, MissingRule::Category);
        }
        let profile = Profile::of_release(&exact, &Hierarchies::default(), counts)?;
        Ok(Self { name, profile })
    }
}

/// Knowledge of an attacker who holds several releases.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Linkage {
    /// Whether every joint group satisfies every model of the policy.
    pub holds: bool,
    /// The releases, in the order given.
    pub releases: Vec<LinkedRelease>,
    /// Whether people or regions are counted.
    pub targets: Targets,
    /// Number of targets.
    pub total: u64,
    /// Records of the smallest joint group, if the attacker knows all quasi-identifiers.
    pub smallest_joint_group: u64,
    /// One entry per sensitive column.
    pub certain: Vec<CertainValues>,
    /// One entry per model of the policy.
    pub models: Vec<JointResult>,
}

impl Linkage {
    /// Violations and certain values as a clause: `k-anonymity (k = 4) is violated for 812 of 2,000 people, ..`.
    pub fn violations(&self) -> String {
        let total = self.targets.counted(self.total);
        let violated = |model: &&JointResult| !model.holds;
        let model = |model: &JointResult| {
            let judged = self.targets.counted(model.total);
            format!("{} is violated for {} of {judged}", model.model, count(model.violating))
        };
        let certain = |column: &&CertainValues| column.together > 0;
        let value = |column: &CertainValues| {
            format!("`{}` becomes certain for {} of {total}", column.column, count(column.together))
        };
        let models = self.models.iter().filter(violated).map(model);
        listed(&models.chain(self.certain.iter().filter(certain).map(value)).collect::<Vec<_>>())
    }
}

/// Assumption of every result, as a clause.
pub const RANDOM_ORDER: &str = "the records of each release are assumed to be in random order: two releases in the order \
    of the original have the same person in the same row";

/// Limits of a result without violations, as a clause.
pub const NO_PROOF: &str = "that no violation was found is no proof: an attacker who knows more than the \
    quasi-identifiers, who reasons about the other people in the groups, or who guesses by shares may learn more";

/// One of the releases.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LinkedRelease {
    /// Name of the file.
    pub file: String,
    /// Number of records.
    pub rows: u64,
    /// Number of groups.
    pub groups: usize,
}

/// The targets of the attack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Targets {
    /// The records of the original, one person each.
    People,
    /// Intersections of boxes, one of each release.
    Regions,
}

impl Targets {
    /// A number of targets with its noun.
    pub fn counted(self, number: u64) -> String {
        let (one, many) = match self {
            Self::People => ("person", "people"),
            Self::Regions => ("region", "regions"),
        };
        moretta_core::text::counted(number, one, many)
    }
}

/// Targets whose value in a sensitive column is certain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CertainValues {
    /// Name of the column.
    pub column: String,
    /// Targets whose value a single release discloses.
    pub alone: u64,
    /// Targets whose value all releases together disclose.
    pub together: u64,
}

/// Result of one model for the joint groups.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JointResult {
    /// The model in words.
    #[serde(serialize_with = "in_words")]
    pub model: Description,
    /// Whether every joint group satisfies the model.
    pub holds: bool,
    /// Targets that violate it. Regions count once for each set of columns that a model assumes known.
    pub violating: u64,
    /// Targets that were judged. Regions differ between models, because they depend on the columns that are known.
    pub total: u64,
    /// Figure of the worst joint group, in words.
    pub worst: String,
    /// The same as a number; `None` if the model's definition has none.
    pub figure: Option<f64>,
    /// Parameters of the model.
    pub facts: ModelFacts,
}

fn in_words<S: Serializer>(model: &Description, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(model)
}

/// Why releases cannot be linked.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LinkageError {
    /// A released cell that the policy cannot explain.
    #[error(
        "column `{column}`{}: `{}` is no label that the policy can read; use the policy of this release, or add its \
         hierarchy or levels to the policy, or give both releases the same `decimal` in [release]",
        at_record(*.record),
        shown(.value)
    )]
    Label {
        /// Index of the release.
        release: usize,
        /// Name of the column.
        column: String,
        /// Number of the first record with this cell (from 1), if the engine numbers records.
        record: Option<u64>,
        /// Text of the cell.
        value: String,
    },
    /// The copied columns differ.
    #[error(
        "its sensitive, class and insensitive columns do not have the same values equally often; only releases of the \
         same records can be linked, and [release] of the policy must say how both are written (`decimal`)"
    )]
    OtherRecords {
        /// Index of the release.
        release: usize,
    },
    /// A person of the original is not in a release.
    #[error(
        "no record fits record {} of the original; only releases of this original can be linked",
        .record.map_or("?".to_owned(), count)
    )]
    Absent {
        /// Index of the release.
        release: usize,
        /// Number of the original's record (from 1), if the engine numbers records.
        record: Option<u64>,
    },
    /// One number per group does not show its range.
    #[error(
        "column `{column}` is released as one number per group (`numbers` in [release]), which does not show whom the \
         group can contain; only intervals can be linked"
    )]
    OneNumber {
        /// Name of the column.
        column: String,
    },
    /// A model of the whole table.
    #[error("{0} judges a table as a whole, so it cannot judge the joint groups of several releases")]
    TableModel(Description),
    /// A table without records.
    #[error("there are no records")]
    Empty,
    /// Too many intersections.
    #[error("the boxes intersect in more than {} ways; with --original, people are counted instead", count(*max_steps))]
    TooManyRegions {
        /// Maximum number of them.
        max_steps: u64,
    },
    /// The values of the releases contradict the policy.
    #[error(transparent)]
    Domain(#[from] DomainError),
    /// The observer requested a stop.
    #[error("interrupted")]
    Interrupted,
}

impl LinkageError {
    /// Index of the release at fault, if it is one.
    pub fn release(&self) -> Option<usize> {
        match self {
            Self::Label { release, .. } | Self::OtherRecords { release } | Self::Absent { release, .. } => {
                Some(*release)
            }
            _ => None,
        }
    }
}

/// The policy under which releases are counted to be linked: insensitive columns are counted too, because they are
/// copied and link records as sensitive columns do.
pub fn linking_policy(policy: &Policy) -> Policy {
    let counted = |column: &ColumnPolicy| match column.role {
        Role::Insensitive => ColumnPolicy {
            role: Role::Class,
            kind: None,
            missing: MissingRule::Category,
            fold: false,
            ..column.clone()
        },
        _ => column.clone(),
    };
    Policy { columns: policy.columns.iter().map(counted).collect(), ..policy.clone() }
}

/// Refuses numbers that are released as one number per group.
fn check_numbers(policy: &Policy, domains: &Profile) -> Result<(), LinkageError> {
    let one_number = |column: &&moretta_core::profile::Column| {
        policy.release.numbers != Numbers::Interval
            && policy.release.prints_group_values(column.domain.kind())
            && column.domain.kind().is_ordered()
    };
    match domains.columns().iter().find(one_number) {
        Some(column) => Err(LinkageError::OneNumber { column: column.name.clone() }),
        None => Ok(()),
    }
}

//! LKC-privacy (Mohammed, Fung, Hung, Lee 2009): an attacker who knows any `l` of the quasi-identifiers finds at least
//! `k` records alike, and infers no value of a sensitive column with more than confidence `c`.
//!
//! It is for tables of many columns, where no attacker knows all of a person's values. The guarantee is about every
//! set of at most `l` columns; only the sets of exactly `min(l, p)` of the `p` columns are judged, because records
//! alike in fewer columns are a union of such groups, and both conditions are closed under union.
//!
//! If persons are counted, the confidence is not closed under union, so all sets of 1 to `l` columns are judged, unless
//! `c` is 1.
//!
//! There is one bound model for each set, at most [`Lkc::MAX_SETS`]; they are parts of one judgement.

#[cfg(any(test, feature = "testing"))]
mod conformance;
mod section;
mod sets;

use std::sync::Arc;

use serde::Serialize;

pub(super) use self::section::ENTRY;
pub use self::sets::known_sets;
use super::{
    BoundModel, BoundModels, Description, Figure, Group, Limit, ModelError, ModelFacts, Part, PrivacyModel, Sentence,
    ShareLimit, at_most, attribute_named, names_of, to_json, unit_of,
};
use crate::{
    declaration::ColumnPolicy,
    ids::{AttributeId, ColumnId},
    profile::{Profile, Tables},
    schema::{Role, Unit},
    text::listed,
};

/// Limits on what any `l` quasi-identifiers disclose.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Lkc {
    /// Known columns, at least 1. More than there are quasi-identifiers means all of them.
    pub l: u64,
    /// Minimum records or persons, at least 1.
    pub k: u64,
    /// Maximum confidence, above 0, at most 1.
    pub c: f64,
}

struct BoundLkc {
    model: Lkc,
    limit: Arc<str>,
    /// Names of the known columns, for messages; `None` if all columns are known.
    given: Option<String>,
    sensitive: Arc<[GuardedColumn]>,
    names: Arc<Names>,
    /// Records of the whole table.
    records: u64,
    scope: Vec<ColumnId>,
    unit: Unit,
}

/// Names of the columns in the model's sentence.
struct Names {
    quasi_identifiers: Vec<String>,
    sensitive: Vec<String>,
}

struct GuardedColumn {
    attribute: AttributeId,
    name: String,
    values: u32,
}

impl Lkc {
    /// The guarantee with these limits. A limit that is `None` is left out of the sentence.
    fn sentence_with(&self, names: &Names, size: Option<Part>, confidence: Option<Part>) -> Sentence {
        let both = size.is_some() && confidence.is_some();
        let mut sentence = Sentence::default().text("an attacker who knows ");
        if self.l < names.quasi_identifiers.len() as u64 {
            sentence = sentence.text(format!("any {} of ", self.l));
        }
        sentence = sentence.names(&names.quasi_identifiers, "and").text(" of a person ");
        if let Some(size) = size {
            sentence = sentence.text("finds at least ").part(size).text(" alike");
        }
        if both {
            sentence = sentence.text(" and ");
        }
        if let Some(confidence) = confidence {
            sentence = sentence.text("can be at most ").part(confidence).text(" sure of any value of ");
            sentence = sentence.names(&names.sensitive, "or");
        }
        sentence
    }

    /// The sets of columns that are judged.
    fn judged_sets(&self, profile: &Profile) -> Vec<Vec<ColumnId>> {
        let judged = |l| known_sets(l, profile);
        match profile.unit() {
            Unit::Persons if self.c < 1.0 => {
                (1..=self.l.min(profile.columns().len() as u64)).flat_map(judged).collect()
            }
            _ => judged(self.l),
        }
    }

    fn limit(&self, known: usize, columns: usize, unit: Unit) -> String {
        let Self { k, c, .. } = self;
        let counted = if unit == Unit::Persons { " persons" } else { "" };
        let known = match (known, columns) {
            (1, 1) => "the column".to_owned(),
            _ if known == columns => format!("all {columns} columns"),
            _ => format!("any {known} of {columns} columns"),
        };
        format!("{known} known: k = {k}{counted}, confidence at most {c}")
    }
}

impl PrivacyModel for Lkc {
    fn key(&self) -> &'static str {
        ENTRY.key
    }

    fn section(&self) -> serde_json::Value {
        to_json(self)
    }

    fn sentence(&self, columns: &[ColumnPolicy]) -> Sentence {
        let sensitive = names_of(columns, Role::Sensitive);
        let names = Names { quasi_identifiers: names_of(columns, Role::QuasiIdentifier), sensitive };
        let confidence = (self.c < 1.0).then_some(Part::Share(self.c));
        let size = (self.k > 1).then(|| Part::Size(self.k, unit_of(columns)));
        self.sentence_with(&names, size, confidence)
    }

    fn guards(&self, columns: &[ColumnPolicy]) -> Vec<String> {
        if self.c < 1.0 { names_of(columns, Role::Sensitive) } else { Vec::new() }
    }

    fn assumes_known(&self, columns: &[ColumnPolicy]) -> Vec<String> {
        names_of(columns, Role::QuasiIdentifier)
    }

    fn is_trivial(&self) -> bool {
        self.k <= 1 && self.c >= 1.0
    }

    /// k persons have at least k records; shares of persons and of records are not comparable.
    fn implied_on_records(&self) -> Option<Arc<dyn PrivacyModel>> {
        Some(Arc::new(Self { c: 1.0, ..*self }))
    }

    fn bind(&self, tables: &Tables<'_>) -> Result<BoundModels, ModelError> {
        let profile = tables.table;
        let columns = profile.columns().len();
        let sets = self.judged_sets(profile);
        let mut sensitive = Vec::new();
        for attribute in profile.attributes().iter().filter(|attribute| attribute.role == Role::Sensitive) {
            let values = attribute.values.len() as u32;
            let id = attribute_named(profile, &attribute.name)?;
            sensitive.push(GuardedColumn { attribute: id, name: attribute.name.clone(), values });
        }
        let known = sets.iter().map(Vec::len).max().unwrap_or(columns);
        let limit: Arc<str> = self.limit(known, columns, profile.unit()).into();
        let names = Arc::new(Names {
            quasi_identifiers: profile.columns().iter().map(|column| column.name.clone()).collect(),
            sensitive: sensitive.iter().map(|guarded| guarded.name.clone()).collect(),
        });
        let sensitive: Arc<[GuardedColumn]> = sensitive.into();
        let bound = |scope: Vec<ColumnId>| -> Box<dyn BoundModel> {
            let given: Vec<&str> = scope.iter().map(|column| &*profile.columns()[column.index()].name).collect();
            Box::new(BoundLkc {
                model: *self,
                limit: Arc::clone(&limit),
                given: (scope.len() < columns).then(|| listed(&given)),
                sensitive: Arc::clone(&sensitive),
                names: Arc::clone(&names),
                records: profile.records(),
                scope,
                unit: profile.unit(),
            })
        };
        Ok(BoundModels { of_groups: sets.into_iter().map(bound).collect(), ..BoundModels::default() })
    }
}

impl BoundLkc {
    /// Highest confidence of inferring a sensitive value, and its column.
    fn inferred(&self, group: &Group<'_>) -> (f64, &str) {
        let mut best = (0.0, "");
        for guarded in self.sensitive.iter() {
            let largest = group.histogram(guarded.attribute).iter().map(|(_, records)| *records).max().unwrap_or(0);
            let confidence = largest as f64 / group.size().max(1) as f64;
            if confidence > best.0 {
                best = (confidence, &guarded.name);
            }
        }
        best
    }

    /// The margins of the records and of the confidence.
    fn margins(&self, group: &Group<'_>) -> [f64; 2] {
        let k = self.model.k as f64;
        [(group.size() as f64 - k) / k, at_most(self.model.c, self.inferred(group).0)]
    }

    /// The known columns, unless the group is the whole table or all columns are known.
    fn given(&self, group: &Group<'_>) -> Option<&str> {
        self.given.as_deref().filter(|_| group.records() < self.records)
    }
}

impl BoundModel for BoundLkc {
    fn describe(&self) -> Description {
        Description::new(ENTRY.key, "LKC-privacy", &*self.limit)
    }

    fn scope(&self) -> &[ColumnId] {
        &self.scope
    }

    fn is_closed_under_union(&self) -> bool {
        self.unit == Unit::Records || self.model.c >= 1.0
    }

    fn is_part(&self) -> bool {
        true
    }

    fn margin(&self, group: &Group<'_>) -> f64 {
        let [records, confidence] = self.margins(group);
        records.min(confidence)
    }

    fn holds(&self, group: &Group<'_>) -> bool {
        group.size() >= self.model.k && ShareLimit::at_most(self.model.c).allows(self.inferred(group).0)
    }

    fn min_records(&self) -> u64 {
        self.model.k
    }

    fn limits(&self) -> Option<Vec<Limit>> {
        if self.unit == Unit::Persons {
            return None;
        }
        let share = ShareLimit::at_most(self.model.c);
        let mut limits = vec![Limit::Records(self.model.k)];
        for &GuardedColumn { attribute, values, .. } in self.sensitive.iter() {
            limits.extend((0..values).map(|value| Limit::Share { attribute, value, share }));
        }
        Some(limits)
    }

    fn figure(&self, group: &Group<'_>) -> Figure {
        let [by_records, by_confidence] = self.margins(group);
        let size = self.unit.counted(group.size());
        let (confidence, column) = self.inferred(group);
        let given = self.given(group).map(|given| format!("given {given}"));
        let inferred = |given: Option<String>| {
            let of: Vec<String> = std::iter::once(column.to_owned()).chain(given).collect();
            format!("confidence {confidence:.3} ({})", of.join(", "))
        };
        let value = if by_records < by_confidence { group.size() as f64 } else { confidence };
        let words = match (by_records < 0.0 && by_confidence < 0.0, by_records < by_confidence) {
            (true, _) => format!("{size} and {}", inferred(given)),
            (_, true) => size + &given.map_or(String::new(), |given| format!(" ({given})")),
            _ => inferred(given),
        };
        Figure::new(value, words)
    }

    fn confidence(&self, group: &Group<'_>) -> Option<f64> {
        Some(self.inferred(group).0)
    }

    fn facts(&self) -> ModelFacts {
        ModelFacts::new(self.model)
    }

    fn finding(&self, smallest: u64, confidence: Option<f64>) -> Option<Sentence> {
        let confidence = confidence.map(Part::Measured);
        Some(self.model.sentence_with(&self.names, Some(Part::Size(smallest, self.unit)), confidence))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{testing::TestTable, verify::check_against};

    const COLUMNS: &str = "[columns]\na.role = \"quasi-identifier\"\nb.role = \"quasi-identifier\"\nc.role = \
                           \"quasi-identifier\"\nill.role = \"sensitive\"\npaid.role = \"sensitive\"\n";

    /// By a and c: (1, x) 4 records with flu 3 times, (2, x) 4, flu 2. By a and b: (1, p) 2, both of them flu.
    const ROWS: &[(&str, u64)] =
        &[("1,p,x,flu,no", 2), ("1,q,x,flu,yes", 1), ("1,q,x,cold,no", 1), ("2,q,x,flu,no", 2), ("2,q,x,cold,yes", 2)];

    fn lkc(l: u64, k: u64, c: f64) -> TestTable {
        TestTable::new(&format!("{COLUMNS}[privacy.lkc]\nl = {l}\nk = {k}\nc = {c:?}\n"), &[], ROWS)
    }

    #[test]
    fn all_sets_of_columns_are_one_judgement() {
        let table = lkc(2, 3, 0.8);
        assert_eq!(table.models.len(), 3);
        let judgements = check_against(&table.profile, &table.models);
        let [judgement] = judgements.as_slice() else { panic!("{judgements:?}") };
        assert_eq!(
            judgement.model.to_string(),
            "LKC-privacy (any 2 of 3 columns known: k = 3, confidence at most 0.8)"
        );
        // a, b: 1p (2 records) 1q (2) 2q (4); a, c: 1x, 2x (4 each); b, c: px (2), qx (6).
        assert_eq!((judgement.groups, judgement.failing_groups, judgement.failing_records), (7, 3, 6));
        assert_eq!((judgement.smallest_group, judgement.confidence), (2, Some(1.0)));
        assert_eq!(judgement.worst, "2 records and confidence 1.000 (ill, given a and b)");
        assert_eq!(judgement.where_.len(), 2, "the same first record once: {:?}", judgement.where_);
    }

    #[test]
    fn what_is_worse_is_named() {
        let of = |table: TestTable| check_against(&table.profile, &table.models)[0].clone();
        assert_eq!(of(lkc(1, 2, 0.6)).worst, "confidence 1.000 (ill, given b)");
        assert_eq!(of(lkc(2, 3, 0.5)).worst, "2 records and confidence 1.000 (ill, given a and b)");
        // All columns known: they need not be named.
        let all = of(lkc(9, 1, 1.0 - 1e-6));
        assert_eq!(
            (all.model.to_string().as_str(), all.worst.as_str()),
            ("LKC-privacy (all 3 columns known: k = 1, confidence at most 0.999999)", "confidence 1.000 (ill)")
        );
    }

    #[test]
    fn its_limits_say_the_same_as_its_margin() {
        let table = lkc(2, 4, 0.75);
        let members = table.members(|row| row[0] == "1");
        let group = Group::new(&table.profile, &members);
        // Four records, three of them with flu: exactly at both limits.
        assert_eq!((table.margin(&members), table.models[0].min_records()), (0.0, 4));
        let limits = table.models[0].limits().unwrap();
        assert_eq!((limits[0], limits.len()), (Limit::Records(4), 5));
        for limit in &limits[1..] {
            let &Limit::Share { attribute, value, share } = limit else { panic!("{limit:?}") };
            assert!(share.allows(group.share_of(attribute, value)));
        }
    }
}

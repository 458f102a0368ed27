//! LKC-privacy (Mohammed, Fung, Hung, Lee 2009): whoever knows any `l` of the quasi-identifiers finds at least `k`
//! records alike, and infers no value of a sensitive column with more than confidence `c`.
//!
//! It is for tables of many columns, of which nobody outside knows all of one person. The guarantee is about every
//! set of at most `l` columns; only the sets of exactly `min(l, p)` of the `p` columns are judged, because records
//! alike in fewer columns are a union of such groups, and both parts are closed under union.
//!
//! There is one bound model for each set, at most [`Lkc::MOST_SETS`]. They state the same facts, by which verification makes
//! one judgement of them.

use super::{
    BoundModel, Group, Limit, ModelEntry, ModelError, ModelFacts, PrivacyModel, ShareLimit, attribute_named, below,
    every_column,
};
use crate::{
    ids::{AttributeId, ColumnId},
    policy::Lkc,
    profile::Profile,
    schema::Role,
    text::{counted, listed},
};

pub(super) const ENTRY: ModelEntry = ModelEntry {
    name: "lkc",
    summary: "whoever knows any l quasi-identifiers finds at least k records alike and infers a sensitive value with at most c",
    example: "[privacy.lkc]\nl = 2\nk = 5\nc = 0.6",
    from_policy: |policy| {
        let sensitive = policy.columns.iter().filter(|column| column.role == Role::Sensitive);
        let sensitive: Vec<String> = sensitive.map(|column| column.name.clone()).collect();
        let boxed = |asked| Box::new(LkcPrivacy { asked, sensitive }) as Box<dyn PrivacyModel>;
        policy.privacy.lkc.map(boxed).into_iter().collect()
    },
};

/// What any `l` columns may give away.
#[derive(Debug, Clone)]
pub struct LkcPrivacy {
    /// What the policy asks for.
    pub asked: Lkc,
    /// The columns whose values must not be inferred.
    pub sensitive: Vec<String>,
}

struct Bound {
    asked: Lkc,
    words: String,
    /// The known columns; none where all are known, whose names say nothing.
    given: Option<String>,
    sensitive: Vec<Guarded>,
    /// Of the whole table.
    records: u64,
    scope: Vec<ColumnId>,
}

#[derive(Clone)]
struct Guarded {
    attribute: AttributeId,
    name: String,
    values: u32,
}

/// Every choice of so many of the columns, in order.
fn choices(columns: &[ColumnId], chosen: usize) -> Vec<Vec<ColumnId>> {
    let mut all = Vec::new();
    let mut places: Vec<usize> = (0..chosen).collect();
    loop {
        all.push(places.iter().map(|&place| columns[place]).collect());
        let room = |at: &usize| places[*at] < columns.len() - chosen + *at;
        let Some(at) = (0..chosen).rev().find(room) else { return all };
        places[at] += 1;
        for next in at + 1..chosen {
            places[next] = places[next - 1] + 1;
        }
    }
}

/// The sets of `l` quasi-identifiers that an attacker may know, in column order; the whole set if there are fewer than `l`.
pub fn known_sets(l: u64, profile: &Profile) -> Vec<Vec<ColumnId>> {
    let columns = every_column(profile);
    let known = usize::try_from(l).map_or(columns.len(), |l| l.min(columns.len()));
    choices(&columns, known)
}

impl PrivacyModel for LkcPrivacy {
    fn bind(&self, profile: &Profile) -> Result<Vec<Box<dyn BoundModel>>, ModelError> {
        let columns = profile.columns().len();
        let sets = known_sets(self.asked.l, profile);
        let mut sensitive = Vec::new();
        for name in &self.sensitive {
            let attribute = attribute_named(profile, name)?;
            let values = profile.attributes()[attribute.index()].values.len() as u32;
            sensitive.push(Guarded { attribute, name: name.clone(), values });
        }
        let words = self.words(sets[0].len(), columns);
        let bound = |scope: Vec<ColumnId>| -> Box<dyn BoundModel> {
            let names: Vec<&str> = scope.iter().map(|column| &*profile.columns()[column.index()].name).collect();
            Box::new(Bound {
                asked: self.asked,
                words: words.clone(),
                given: (scope.len() < columns).then(|| listed(&names)),
                sensitive: sensitive.clone(),
                records: profile.records(),
                scope,
            })
        };
        Ok(sets.into_iter().map(bound).collect())
    }
}

impl LkcPrivacy {
    fn words(&self, known: usize, columns: usize) -> String {
        let Lkc { k, c, .. } = self.asked;
        let known = match (known, columns) {
            (1, 1) => "the column".to_owned(),
            _ if known == columns => format!("all {columns} columns"),
            _ => format!("any {known} of {columns} columns"),
        };
        format!("LKC-privacy ({known} known: k = {k}, confidence at most {c})")
    }
}

impl Bound {
    /// The value that is inferred best: its confidence and its column.
    fn inferred(&self, group: &Group<'_>) -> (f64, &str) {
        let mut best = (0.0, "");
        for guarded in &self.sensitive {
            let most = group.histogram(guarded.attribute).iter().map(|(_, records)| *records).max().unwrap_or(0);
            let confidence = most as f64 / group.records().max(1) as f64;
            if confidence > best.0 {
                best = (confidence, &guarded.name);
            }
        }
        best
    }

    /// How far the records are above k, in multiples of k, and the confidence below c.
    fn margins(&self, group: &Group<'_>) -> [f64; 2] {
        let k = self.asked.k as f64;
        [(group.records() as f64 - k) / k, below(self.asked.c, self.inferred(group).0)]
    }

    /// What is known of the persons in a group, unless it is the whole table or all columns are known.
    fn given(&self, group: &Group<'_>) -> Option<&str> {
        self.given.as_deref().filter(|_| group.records() < self.records)
    }
}

impl BoundModel for Bound {
    fn describe(&self) -> String {
        self.words.clone()
    }

    fn scope(&self) -> &[ColumnId] {
        &self.scope
    }

    fn margin(&self, group: &Group<'_>) -> f64 {
        let [records, confidence] = self.margins(group);
        records.min(confidence)
    }

    fn holds(&self, group: &Group<'_>) -> bool {
        group.records() >= self.asked.k && ShareLimit::at_most(self.asked.c).allows(self.inferred(group).0)
    }

    fn least_records(&self) -> u64 {
        self.asked.k
    }

    fn limits(&self) -> Option<Vec<Limit>> {
        let share = ShareLimit::at_most(self.asked.c);
        let mut limits = vec![Limit::Records(self.asked.k)];
        for &Guarded { attribute, values, .. } in &self.sensitive {
            limits.extend((0..values).map(|value| Limit::Share { attribute, value, share }));
        }
        Some(limits)
    }

    fn figure(&self, group: &Group<'_>) -> String {
        let [by_records, by_confidence] = self.margins(group);
        let records = counted(group.records(), "record", "records");
        let (confidence, column) = self.inferred(group);
        let given = self.given(group).map(|given| format!("given {given}"));
        let inferred = |given: Option<String>| {
            let of: Vec<String> = std::iter::once(column.to_owned()).chain(given).collect();
            format!("confidence {confidence:.3} ({})", of.join(", "))
        };
        match (by_records < 0.0 && by_confidence < 0.0, by_records < by_confidence) {
            (true, _) => format!("{records} and {}", inferred(given)),
            (_, true) => records + &given.map_or(String::new(), |given| format!(" ({given})")),
            _ => inferred(given),
        }
    }

    fn confidence(&self, group: &Group<'_>) -> Option<f64> {
        Some(self.inferred(group).0)
    }

    fn facts(&self) -> ModelFacts {
        let Lkc { l, k, c } = self.asked;
        ModelFacts::Lkc { l, k, c }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{testing::TestTable, verify::check_against};

    #[test]
    fn sets_are_counted_as_they_are_chosen() {
        for columns in 1..9u32 {
            let all: Vec<ColumnId> = (0..columns as usize).map(ColumnId::from_index).collect();
            for chosen in 1..=columns {
                let naive: Vec<u32> = (0..1u32 << columns).filter(|set| set.count_ones() == chosen).collect();
                let mut found: Vec<u32> = choices(&all, chosen as usize)
                    .iter()
                    .map(|set| set.iter().map(|column| 1 << column.index()).sum())
                    .collect();
                assert_eq!(Lkc::sets(columns.into(), chosen.into(), 1000), naive.len() as u64);
                found.sort_unstable();
                assert_eq!(found, naive);
            }
        }
        assert_eq!(Lkc::sets(30, 5, 1_000_000), 142_506);
        assert_eq!(Lkc::sets(5000, 2500, u64::MAX), u64::MAX);
        assert_eq!(Lkc::sets(3, 9, 1000), 1);
    }

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
        assert_eq!(judgement.model, "LKC-privacy (any 2 of 3 columns known: k = 3, confidence at most 0.8)");
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
            (all.model.as_str(), all.worst.as_str()),
            ("LKC-privacy (all 3 columns known: k = 1, confidence at most 0.999999)", "confidence 1.000 (ill)")
        );
    }

    #[test]
    fn its_limits_say_the_same_as_its_margin() {
        let table = lkc(2, 4, 0.75);
        let members = table.members(|row| row[0] == "1");
        let group = Group::new(&table.profile, &members);
        // Four records, three of them with flu: exactly at both limits.
        assert_eq!((table.margin(&members), table.models[0].least_records()), (0.0, 4));
        let limits = table.models[0].limits().unwrap();
        assert_eq!((limits[0], limits.len()), (Limit::Records(4), 5));
        for limit in &limits[1..] {
            let &Limit::Share { attribute, value, share } = limit else { panic!("{limit:?}") };
            assert!(share.allows(group.records_with(attribute, value) as f64 / 4.0));
        }
    }
}

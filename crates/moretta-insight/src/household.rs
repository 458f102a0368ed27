//! Household risk: finding one member of a household finds all.
//!
//! A person's risk is 1 / size of the group, for the prosecutor of [`risk`](crate::risk); of a person with several
//! records in a household the highest. A household is found if one of its members is, each independently of the others,
//! so the household risk of each of its records is `1 - Π (1 - r)` over its members: distinct persons or, without a
//! person column, records. Records without a household number are households of one member.
//!
//! ```text
//! members with risks 0.5, 0.2 and 0.1: 1 - 0.5 · 0.8 · 0.9 = 0.64
//! ```
//!
//! Cost: one pass over the variants of each group and a sort, only if the policy has a household column.

use std::collections::HashMap;

use moretta_core::{
    ids::VariantId,
    profile::{Profile, VariantCount},
    released::{Grouping, Released},
};
use serde::Serialize;

/// A household risk this much above the threshold is rounded, not higher.
const ROUNDING: f64 = 1e-9;

/// Household risk, before and after.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Households {
    /// In the original table.
    pub before: HouseholdRisk,
    /// In the release.
    pub after: HouseholdRisk,
}

/// Household risk in one table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct HouseholdRisk {
    /// Mean over all records, a share of 1.
    pub mean: f64,
    /// Expected number of records whose household is found: the sum over all records.
    pub expected: f64,
    /// Records whose household risk is above the threshold, although the risk of their own person is not.
    pub above_only_by_household: u64,
}

/// A household: of the column, or of records that have none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Household {
    Numbered(u32),
    OfPerson(u32),
    OfRecord(VariantId),
}

impl Households {
    /// Computes the risk before and after; `None` if the table has no household column. A risk above `1 / min_group` is
    /// high.
    pub fn of(profile: &Profile, released: &Released, min_group: u64) -> Option<Self> {
        profile.has_households().then(|| Self {
            before: HouseholdRisk::of(profile, &Grouping::of_tuples(profile), min_group),
            after: HouseholdRisk::of(profile, released.grouping(), min_group),
        })
    }
}

impl HouseholdRisk {
    fn of(profile: &Profile, grouping: &Grouping, min_group: u64) -> Self {
        let household = |variant: VariantId| match (profile.household(variant), profile.person(variant)) {
            (Some(household), _) => Household::Numbered(household),
            (None, Some(person)) => Household::OfPerson(person),
            (None, None) => Household::OfRecord(variant),
        };
        let groups = || (0..grouping.len()).map(|group| (grouping.size(group, profile), grouping.members(group)));
        // By person of a household: the size of the smallest group, and the records.
        let mut members: Vec<(Household, Option<u32>, u64, u64)> = Vec::new();
        for (size, group) in groups() {
            let member = |&VariantCount { variant, records }: &VariantCount| {
                (household(variant), profile.person(variant), size, records)
            };
            members.extend(group.iter().map(member));
        }
        members.sort_unstable();
        // Logarithms of the probabilities that no member is found.
        let mut not_found: HashMap<Household, f64> = HashMap::new();
        let mut persons: Vec<(Household, u64, u64)> = Vec::new();
        for person in members.chunk_by(|a, b| a.1.is_some() && (a.0, a.1) == (b.0, b.1)) {
            let (household, counted, smallest, records) = person[0];
            let members = if counted.is_some() || matches!(household, Household::OfRecord(_)) { 1 } else { records };
            *not_found.entry(household).or_default() += members as f64 * (-1.0 / smallest as f64).ln_1p();
            persons.push((household, smallest, person.iter().map(|member| member.3).sum()));
        }
        let (mut all, mut risk) = (0, Self::default());
        for (household, smallest, records) in persons {
            let of_household = match household {
                // Equal records without a number are households of their own.
                Household::OfRecord(_) => 1.0 / smallest as f64,
                _ => -not_found[&household].exp_m1(),
            };
            all += records;
            risk.expected += records as f64 * of_household;
            let is_high = of_household > 1.0 / min_group as f64 + ROUNDING;
            risk.above_only_by_household += if smallest >= min_group && is_high { records } else { 0 };
        }
        risk.mean = if all > 0 { risk.expected / all as f64 } else { 0.0 };
        risk
    }
}

#[cfg(test)]
mod tests {
    use moretta_core::{
        recoding::{Cut, Recoding},
        testing::TestTable,
    };
    use proptest::prelude::*;

    use super::*;

    const POLICY: &str = "privacy.k = 5\ncolumns.age.role = \"quasi-identifier\"\ncolumns.h.role = \"household\"\n\
                          columns.h.missing = \"category\"\n";

    fn before(policy: &str, rows: &[(&str, u64)], min_group: u64) -> HouseholdRisk {
        let table = TestTable::new(policy, &[], rows);
        HouseholdRisk::of(&table.profile, &Grouping::of_tuples(&table.profile), min_group)
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    /// Members with risks 0.5, 0.2 and 0.1; the other records are households of one.
    #[test]
    fn the_example_of_the_header() {
        let rows = [("20,h1", 1), ("20,", 1), ("30,h1", 1), ("30,", 4), ("40,h1", 1), ("40,?", 9)];
        let risk = before(POLICY, &rows, 5);
        let expected = 3.0 * 0.64 + 0.5 + 4.0 * 0.2 + 9.0 * 0.1;
        assert!(close(risk.expected, expected) && close(risk.mean, expected / 17.0), "{risk:?}");
        // Those of 30 and 40 are above 1 in 5 only because of their household.
        assert_eq!(risk.above_only_by_household, 2);
        let table = TestTable::new(POLICY, &[], &rows);
        let whole = Recoding::Global(Cut::whole(&table.profile));
        let released = Released::of_recoding(&table.profile, &whole, &table.policy.release);
        let Households { before, after } = Households::of(&table.profile, &released, 5).unwrap();
        let three = 1.0 - (16f64 / 17.0).powi(3);
        assert_eq!(before, risk);
        assert!(close(after.expected, 3.0 * three + 14.0 / 17.0) && after.above_only_by_household == 0, "{after:?}");
    }

    /// Records of one person count once, with the highest risk of the person in the household.
    #[test]
    fn a_person_is_one_member() {
        let policy = format!("{POLICY}columns.p.role = \"person\"\n");
        // Age 20: persons a and b; age 30: a, c, d, e. Person a lives in h1 with c.
        let rows = [("20,a,h1", 3), ("20,b,", 1), ("30,a,h1", 1), ("30,c,h1", 2), ("30,d,", 1), ("30,e,", 1)];
        let risk = before(&policy, &rows, 3);
        let h1 = 1.0 - 0.5 * 0.75;
        assert!(close(risk.expected, 6.0 * h1 + 0.5 + 0.25 + 0.25), "{risk:?}");
        assert_eq!(risk.above_only_by_household, 2, "the records of c");
    }

    proptest! {
        #[test]
        fn it_equals_the_product_record_by_record(
            records in prop::collection::vec((0u32..4, 0u32..6), 1..40),
            min_group in 2u64..6,
        ) {
            // Household 0 is a missing number.
            let text = |&(age, h): &(u32, u32)| format!("{age},{}", if h == 0 { String::new() } else { format!("h{h}") });
            let texts: Vec<String> = records.iter().map(text).collect();
            let rows: Vec<(&str, u64)> = texts.iter().map(|row| (row.as_str(), 1)).collect();
            let own = |age: u32| 1.0 / records.iter().filter(|other| other.0 == age).count() as f64;
            let of = |&(age, h): &(u32, u32)| {
                if h == 0 {
                    return own(age);
                }
                1.0 - records.iter().filter(|other| other.1 == h).map(|other| 1.0 - own(other.0)).product::<f64>()
            };
            let threshold = 1.0 / min_group as f64 + 1e-12;
            let above = records.iter().filter(|record| own(record.0) <= threshold && of(record) > threshold).count();
            let risk = before(POLICY, &rows, min_group);
            prop_assert!(close(risk.expected, records.iter().map(of).sum::<f64>()));
            prop_assert!(close(risk.mean, risk.expected / records.len() as f64));
            prop_assert_eq!(risk.above_only_by_household, above as u64);
        }
    }
}

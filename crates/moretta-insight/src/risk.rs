//! Re-identification risk, before and after.
//!
//! Three attacker models (Dankar and El Emam, 2008 and 2010). All attackers know the quasi-identifiers of a person
//! exactly, and nothing else:
//!
//! - the **prosecutor** knows that the person is in the table and picks one of the `f` records of the group: risk `1 /
//!   f`;
//! - the **journalist** does not know whether the person is in the table; the record belongs to one of the `F` people
//!   of the population with the same values: risk `1 / F`;
//! - the **marketer** wants to re-identify as many records as possible and accepts errors: the expected share of
//!   re-identified records, which is the sum of `f / F` over the groups, divided by the number of records.
//!
//! `F` is unknown. If the policy states the size of the population (`population` in `[input]`), every person is assumed
//! to be sampled with probability `p = records / population`. Then `F` given `f` is negative binomial, and the expected
//! `1 / F` is the individual risk of Benedetti and Franconi (1998) and of Franconi and Polettini (2004). For small
//! groups it exceeds `p / f`: a person who is unique in the table may be unique in the population. Without a
//! population, `F = f`, the worst case. Either way the marketer's share equals the journalist's mean; it is reported
//! separately because it answers another question.
//!
//! If the policy counts persons, `f` is the number of distinct persons of a group, and all figures are over persons:
//! the risk of a person with several records is the highest one, that of the smallest group with a record of this
//! person.
//!
//! Before, the groups are the distinct tuples of the table; after, the groups of the release. Records with `*` in every
//! column, suppressed or not, are a group like any other, as for every privacy model: the attacker is assumed to know
//! to which group the person belongs, which is the worst case.

use std::collections::BTreeMap;

use moretta_core::{
    ids::TupleId,
    policy::Policy,
    profile::{Profile, VariantCount},
    released::{Grouping, Released},
};
use serde::Serialize;

use crate::household::Households;

/// Without a k, a risk above 1 in 5 counts as high: groups of at least five are a common rule for health data.
const MIN_GROUP_WITHOUT_K: u64 = 5;

/// Records in a group that is not small: k of the policy, or 5.
pub(crate) fn min_group(policy: &Policy) -> u64 {
    policy.privacy.k().unwrap_or(MIN_GROUP_WITHOUT_K).max(1)
}

/// Re-identification risk, before and after.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Risk {
    /// Size of the population; `None` if the policy does not state it or it is smaller than the table.
    pub population: Option<u64>,
    /// A risk above this is high: 1/k, or 0.2 without a k.
    pub threshold: f64,
    /// Risk in the original table.
    pub before: Risks,
    /// Risk in the release.
    pub after: Risks,
    /// Risk that a household is found by any of its members; `None` if the policy has no household column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub household: Option<Households>,
    /// Largest share of the records of a group of the release that are of one person; `None` if records are counted. An
    /// attacker who picks a record of that group at random picks one of this person with this probability.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub largest_share: Option<f64>,
}

/// The risk in one table, by attacker. All figures are shares of 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Risks {
    /// The attacker knows that the person is in the table.
    pub prosecutor: Prosecutor,
    /// The attacker does not know whether the person is in the table.
    pub journalist: Journalist,
    /// The attacker wants to re-identify as many records as possible.
    pub marketer: Marketer,
}

/// Risk by an attacker who knows that the person is in the table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Prosecutor {
    /// Highest risk of a record or person.
    pub highest: f64,
    /// Mean risk over all records or persons.
    pub mean: f64,
    /// Share of records or persons whose risk is above the threshold.
    pub above_threshold: f64,
    /// Share of records or persons that are alone in a group.
    pub unique: f64,
}

/// Risk by an attacker who does not know whether the person is in the table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Journalist {
    /// Highest risk of a record.
    pub highest: f64,
    /// Mean risk over all records.
    pub mean: f64,
}

/// Risk by an attacker who wants to re-identify as many records as possible.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Marketer {
    /// Expected share of re-identified records.
    pub expected: f64,
}

impl Risk {
    /// Computes the risk in a table and in its release.
    pub fn of(policy: &Policy, profile: &Profile, released: &Released) -> Self {
        let min_group = min_group(policy);
        // A recoding may be applied to more records than the population it was found for.
        let population = policy.input.population.filter(|&population| population >= profile.size());
        let (threshold, household) = (1.0 / min_group as f64, Households::of(profile, released, min_group));
        if profile.persons().is_some() {
            let of = |grouping: &Grouping| Risks::of_persons(profile, grouping, population, min_group);
            let (before, after) = (of(&Grouping::of_tuples(profile)), of(released.grouping()));
            let largest_share = Some(largest_share(profile, released.grouping()));
            return Self { population, threshold, before, after, household, largest_share };
        }
        let before = (0..profile.tuples()).map(|tuple| profile.tuple_records(TupleId::from_index(tuple)));
        let after = (0..released.groups()).map(|group| released.records(group));
        Self {
            population,
            threshold,
            before: Risks::of(before, population, min_group),
            after: Risks::of(after, population, min_group),
            household,
            largest_share: None,
        }
    }
}

/// Largest share of the records of a group that are of one person.
fn largest_share(profile: &Profile, grouping: &Grouping) -> f64 {
    let of_group = |group: usize| {
        let members = grouping.members(group);
        let person = |member: &VariantCount| (profile.person(member.variant), member.records);
        let mut records: Vec<(Option<u32>, u64)> = members.iter().map(person).collect();
        records.sort_unstable();
        let of_person = |same: &[(Option<u32>, u64)]| same.iter().map(|(_, records)| records).sum::<u64>();
        let most = records.chunk_by(|one, other| one.0 == other.0).map(of_person).max().unwrap_or(0);
        most as f64 / of_person(&records).max(1) as f64
    };
    (0..grouping.len()).map(of_group).fold(0.0, f64::max)
}

impl Risks {
    /// From the sizes of groups. A group of fewer than `min_group` records is at high risk.
    fn of(sizes: impl Iterator<Item = u64>, population: Option<u64>, min_group: u64) -> Self {
        let sizes: Vec<u64> = sizes.filter(|&size| size > 0).collect();
        let (mut groups, mut records, mut smallest, mut few, mut unique) = (0u64, 0u64, u64::MAX, 0u64, 0u64);
        for &size in &sizes {
            groups += 1;
            records += size;
            smallest = smallest.min(size);
            few += if size < min_group { size } else { 0 };
            unique += u64::from(size == 1);
        }
        if records == 0 {
            return Self::default();
        }
        let share = |part: u64| part as f64 / records as f64;
        let prosecutor = Prosecutor {
            highest: 1.0 / smallest as f64,
            mean: share(groups),
            above_threshold: share(few),
            unique: share(unique),
        };
        let drawn = records as f64 / population.unwrap_or(records) as f64;
        let found: f64 = sizes.iter().map(|&size| size as f64 * individual(size, drawn)).sum();
        let journalist = Journalist { highest: individual(smallest, drawn), mean: found / records as f64 };
        Self { prosecutor, journalist, marketer: Marketer { expected: journalist.mean } }
    }
}

impl Risks {
    /// From the smallest group of each person.
    fn of_persons(profile: &Profile, grouping: &Grouping, population: Option<u64>, min_group: u64) -> Self {
        let persons = profile.persons().unwrap_or(0);
        let mut smallest_group = vec![u64::MAX; persons as usize];
        for group in 0..grouping.len() {
            let size = grouping.size(group, profile);
            for person in grouping.members(group).iter().filter_map(|member| profile.person(member.variant)) {
                let smallest = &mut smallest_group[person as usize];
                *smallest = size.min(*smallest);
            }
        }
        let mut by_size: BTreeMap<u64, u64> = BTreeMap::new();
        smallest_group.into_iter().for_each(|size| *by_size.entry(size).or_default() += 1);
        let Some((&smallest, _)) = by_size.first_key_value() else { return Self::default() };
        let mean = |of_size: &dyn Fn(u64) -> f64| {
            by_size.iter().map(|(&size, &count)| count as f64 * of_size(size)).sum::<f64>() / persons as f64
        };
        let prosecutor = Prosecutor {
            highest: 1.0 / smallest as f64,
            mean: mean(&|size| 1.0 / size as f64),
            above_threshold: mean(&|size| f64::from(size < min_group)),
            unique: mean(&|size| f64::from(size == 1)),
        };
        let drawn = persons as f64 / population.unwrap_or(persons) as f64;
        let journalist =
            Journalist { highest: individual(smallest, drawn), mean: mean(&|size| individual(size, drawn)) };
        Self { prosecutor, journalist, marketer: Marketer { expected: journalist.mean } }
    }
}

/// Expected `1 / F` of a group of `f` records, if people are sampled with probability `p`.
fn individual(f: u64, p: f64) -> f64 {
    let (rest, size) = (1.0 - p, f as f64);
    let near = p / (size - rest);
    // Closed forms for the smallest groups. For p near 1 they cancel numerically, so the approximation is used.
    let exact = match f {
        1 if rest > 0.01 => -p / rest * p.ln(),
        2 if rest > 0.01 => p / rest.powi(2) * (p * p.ln() + rest),
        3 if rest > 0.01 => p / (2.0 * rest.powi(3)) * (p * (3.0 * p - 4.0) - 2.0 * p * p * p.ln() + 1.0),
        _ => near,
    };
    exact.min(1.0 / size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use moretta_core::{policy::ReleaseOptions, recoding::Recoding, testing::TestTable};
    use proptest::prelude::*;

    const COLUMNS: &str = "[columns]\nage.role = \"quasi-identifier\"\nage.hierarchy = \"free\"";
    /// Two unique records, a group of three and a group of five.
    const ROWS: &[(&str, u64)] = &[("20", 1), ("30", 3), ("40", 5), ("50", 1)];

    fn risk(head: &str, suppressed: &[u32]) -> Risk {
        let table = TestTable::new(&format!("{head}\n{COLUMNS}"), &[], ROWS);
        let Recoding::Global(mut cut) = Recoding::identity(&table.profile) else { panic!("the identity is a cut") };
        cut.suppressed = suppressed.iter().map(|&tuple| TupleId(tuple)).collect();
        let released = Released::of_recoding(&table.profile, &Recoding::Global(cut), &ReleaseOptions::default());
        Risk::of(&table.policy, &table.profile, &released)
    }

    #[test]
    fn counted_by_hand() {
        let risk = risk("[privacy]\nk = 4", &[]);
        assert_eq!((risk.population, risk.threshold), (None, 0.25));
        let prosecutor = Prosecutor { highest: 1.0, mean: 0.4, above_threshold: 0.5, unique: 0.2 };
        assert_eq!(risk.before.prosecutor, prosecutor);
        assert_eq!(risk.before.journalist, Journalist { highest: 1.0, mean: 0.4 }, "the table is the population");
        assert_eq!(risk.before.marketer.expected, 0.4);
        assert_eq!(risk.after, risk.before, "nothing was changed");
    }

    #[test]
    fn suppressed_records_are_a_group_of_their_own() {
        let risk = risk("[privacy]\nk = 2", &[0, 3]);
        let prosecutor = Prosecutor { highest: 0.5, mean: 0.3, above_threshold: 0.0, unique: 0.0 };
        assert_eq!(risk.after.prosecutor, prosecutor, "two suppressed, three and five");
        assert_eq!(risk.before.prosecutor.above_threshold, 0.2);
    }

    #[test]
    fn a_population_makes_a_journalist_less_sure() {
        let risk = risk("input.population = 100\n[privacy]\nk = 4", &[0, 3]);
        assert_eq!(risk.population, Some(100));
        assert_eq!(risk.before.prosecutor.highest, 1.0, "the prosecutor needs no population");
        // p = 0.1. A unique record has risk ln(10) / 9 instead of 0.1: it may be unique in the population.
        let (alone, three, five) = (10f64.ln() / 9.0, individual(3, 0.1), 0.1 / 4.1);
        let close = |a: f64, b: f64| (a - b).abs() < 1e-12;
        assert!(close(risk.before.journalist.highest, alone));
        assert!(close(risk.before.journalist.mean, (2.0 * alone + 3.0 * three + 5.0 * five) / 10.0));
        assert_eq!(risk.before.marketer.expected, risk.before.journalist.mean);
        assert!(close(risk.after.journalist.highest, individual(2, 0.1)));
        assert!(risk.after.journalist.mean < risk.before.journalist.mean);
    }

    #[test]
    fn the_closed_forms_are_the_sum_over_all_populations() {
        for (f, p) in [(1u64, 0.3f64), (2, 0.3), (3, 0.3), (1, 0.05), (3, 0.9)] {
            // The sum over all F of the negative binomial probability times 1 / F.
            let (mut chance, mut sum, mut people) = (p.powi(f as i32), 0.0, f as f64);
            for _ in 0..20_000 {
                sum += chance / people;
                chance *= people * (1.0 - p) / (people + 1.0 - f as f64);
                people += 1.0;
            }
            assert!((individual(f, p) - sum).abs() < 1e-9, "{f}, {p}: {} and {sum}", individual(f, p));
        }
        for f in 1..9 {
            assert_eq!(individual(f, 1.0), 1.0 / f as f64, "the table is the population");
            assert!((individual(f, 0.989) - individual(f, 0.991)).abs() < 0.01, "no leap between the forms");
            assert!(individual(f, 1e-6) > 0.0 && individual(f, 1e-6) < 1e-4);
        }
    }

    #[test]
    fn a_population_smaller_than_the_table_is_not_believed() {
        assert_eq!(risk("input.population = 9\n[privacy]\nk = 4", &[]).population, None);
        assert_eq!(risk("input.population = 10\n[privacy]\nk = 4", &[]).population, Some(10));
    }

    #[test]
    fn the_risk_of_a_person_is_that_of_the_smallest_group() {
        let policy = format!("[privacy]\nk = 3\n{COLUMNS}\np.role = \"person\"");
        // Age 20: person a alone; 30: a and b, with three records; 40: b, c, d, e.
        let rows = [("20,a", 5), ("30,a", 1), ("30,b", 2), ("40,b", 1), ("40,c", 1), ("40,d", 1), ("40,e", 1)];
        let table = TestTable::new(&policy, &[], &rows);
        let identity = Recoding::identity(&table.profile);
        let released = Released::of_recoding(&table.profile, &identity, &ReleaseOptions::default());
        let risk = Risk::of(&table.policy, &table.profile, &released);
        let mean = (1.0 + 0.5 + 3.0 * 0.25) / 5.0;
        let prosecutor = Prosecutor { highest: 1.0, mean, above_threshold: 0.4, unique: 0.2 };
        assert_eq!((risk.before.prosecutor, risk.after.prosecutor), (prosecutor, prosecutor));
        assert_eq!((risk.before.journalist.mean, risk.before.marketer.expected), (mean, mean));
        // If every record has its own person, the figures are those of records.
        let each: Vec<String> =
            ["20", "30", "30", "30", "40"].iter().zip(0..).map(|(age, p)| format!("{age},{p}")).collect();
        let each: Vec<(&str, u64)> = each.iter().map(|row| (row.as_str(), 1)).collect();
        let of = |policy: &str, rows: &[(&str, u64)]| {
            let table = TestTable::new(policy, &[], rows);
            let released =
                Released::of_recoding(&table.profile, &Recoding::identity(&table.profile), &ReleaseOptions::default());
            Risk::of(&table.policy, &table.profile, &released)
        };
        let records = of(&format!("[privacy]\nk = 3\n{COLUMNS}"), &[("20", 1), ("30", 3), ("40", 1)]);
        assert_eq!(of(&policy, &each).after, records.after);
    }

    #[test]
    fn without_k_one_in_five_is_high() {
        let sizes = [4, 5, 6].into_iter();
        let min_group = MIN_GROUP_WITHOUT_K;
        assert_eq!(Risks::of(sizes, None, min_group).prosecutor.above_threshold, 4.0 / 15.0);
        assert_eq!(Risks::of([].into_iter(), Some(5), min_group), Risks::default(), "an empty table has no risk");
    }

    proptest! {
        #[test]
        fn means_are_those_of_the_records(sizes in prop::collection::vec(1u64..9, 1..40), more in 0u64..1000) {
            let records: u64 = sizes.iter().sum();
            let population = records + more;
            let risks = Risks::of(sizes.iter().copied(), Some(population), 3);
            // Record by record, from the size of its group.
            let each: Vec<u64> = sizes.iter().flat_map(|&size| (0..size).map(move |_| size)).collect();
            let mean = |of: &dyn Fn(u64) -> f64| each.iter().map(|&size| of(size)).sum::<f64>() / records as f64;
            let drawn = records as f64 / population as f64;
            let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
            prop_assert!(close(risks.prosecutor.mean, mean(&|size| 1.0 / size as f64)));
            prop_assert!(close(risks.journalist.mean, mean(&|size| individual(size, drawn))));
            prop_assert!(close(risks.marketer.expected, mean(&|size| individual(size, drawn))));
            prop_assert!(close(risks.prosecutor.unique, mean(&|size| f64::from(size == 1))));
            prop_assert!(close(risks.prosecutor.above_threshold, mean(&|size| f64::from(size < 3))));
            prop_assert!(risks.journalist.highest <= risks.prosecutor.highest);
        }
    }
}

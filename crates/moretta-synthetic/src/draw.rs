//! Draws a person: each column depends on those before it.
//!
//! ```text
//! age ─▶ sex ─▶ education ─▶ occupation ─▶ income ─▶ insured
//!  └──────┴─▶ marital-status, diagnosis      ▲
//!                                postcode ───┘
//! ```

use super::Person;
use super::diagnoses::{DIAGNOSIS, DIAGNOSIS_BANDS};
use super::names::Name;
use super::random::Random;
use super::tables::*;

/// Draws all columns of one person.
pub(super) fn person(random: &mut Random) -> Person {
    let five_years = AGES.pick(random);
    let age = (five_years as u32 * 5 + random.below(5)) as u8;
    let sex = usize::from(!random.chance(WOMEN[five_years]));
    let place = &PLACES[PEOPLE_BY_PLACE.pick(random)];
    let postcode = place.postcode(random.below_squared(place.areas * place.codes));
    let education = EDUCATION_BY_AGE[band(age, &EDUCATION_BANDS)].pick(random);
    let occupation = occupation(random, age, sex, education);
    let income = income(random, age, sex, education, occupation, place.pay);
    Person {
        name: Name::draw(random),
        age,
        sex: sex as u8,
        postcode,
        education: education as u8,
        occupation: occupation as u8,
        marital_status: MARITAL_STATUS[sex][band(age, &MARITAL_BANDS)].pick(random) as u8,
        income,
        diagnosis: DIAGNOSIS[sex][band(age, &DIAGNOSIS_BANDS)].pick(random) as u8,
        insured: insurance(random, age, education, income),
    }
}

/// Returns the index of the band of an age, given the first age of each band but the first.
fn band(age: u8, starts: &[u8]) -> usize {
    starts.iter().filter(|&&start| start <= age).count()
}

fn occupation(random: &mut Random, age: u8, sex: usize, education: usize) -> usize {
    // Drawn for all people, so that later draws do not depend on the status.
    let work = WORK[EDUCATIONS[education].class][sex].pick(random);
    let status = random.below(1000);
    let (studying, retired) = match age {
        0..=5 => return CHILD,
        6..=15 => return PUPIL,
        16..=19 if education <= LOWER_SECONDARY => return if status < 850 { PUPIL } else { work },
        16..=27 if education == UPPER_SECONDARY => (700, 0),
        16..=25 if education == BACHELOR => (400, 0),
        16..=54 => (0, 0),
        55..=59 => (0, 40),
        60..=64 => (0, 300),
        65..=69 => (0, 820),
        _ => (0, 975),
    };
    if status < studying {
        return STUDENT;
    }
    if status < retired {
        return RETIRED;
    }
    if age >= 65 {
        return work;
    }
    // Uses the upper end of `status`, which does not overlap with students and the retired.
    let unemployed = if EDUCATIONS[education].class == 0 { 70 } else { 28 };
    let at_home = if sex == FEMALE && age >= 25 { 85 } else { 6 };
    if status >= 1000 - unemployed {
        UNEMPLOYED
    } else if status >= 1000 - unemployed - at_home {
        HOMEMAKER
    } else {
        work
    }
}

/// Returns the yearly income, rounded to a multiple of 500.
fn income(random: &mut Random, age: u8, sex: usize, education: usize, occupation: usize, local_pay: u32) -> u32 {
    let experience: u32 = match occupation {
        STUDENT | HOMEMAKER | UNEMPLOYED | RETIRED => 100,
        _ => match age {
            0..=19 => 55,
            20..=24 => 75,
            25..=29 => 88,
            30..=34 => 98,
            35..=44 => 106,
            45..=64 => 112,
            _ => 60,
        },
    };
    let gap = if sex == FEMALE { 84 } else { 100 };
    // In per mille: mostly 60 to 100 % of the usual income, seldom up to 280 %; 100 % on average.
    let per_mille = 600 + random.below(400) + random.below_tail(1800);
    let percents = [EDUCATIONS[education].pay, experience, gap, local_pay];
    let mut pay = u64::from(OCCUPATIONS[occupation].pay * per_mille);
    for percent in percents {
        pay = pay * u64::from(percent) / 100;
    }
    ((pay + 250) / 500 * 500) as u32
}

fn insurance(random: &mut Random, age: u8, education: usize, income: u32) -> u8 {
    let (private, uninsured) = match (age, income) {
        (0..=17, _) => (90, 4),
        (_, 0..12_000) => (12, 90),
        (_, 12_000..25_000) => (20, 45),
        (_, 25_000..45_000) => (50, 12),
        (_, 45_000..65_000) => (150, 5),
        (_, 65_000..85_000) => (560, 2),
        _ => (760, 2),
    };
    let schooling = match (age, education) {
        (0..=17, _) => 0,
        (_, DOCTORATE) => 180,
        (_, BACHELOR..) => 70,
        _ => 0,
    };
    // Nearly all pensioners are insured.
    let uninsured = if age >= 67 { uninsured / 15 } else { uninsured };
    let drawn = random.below(1000);
    if drawn < private + schooling {
        1
    } else if drawn >= 1000 - uninsured {
        2
    } else {
        0
    }
}

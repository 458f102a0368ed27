//! Synthetic people for the demo, tests and benchmarks, in any number.
//!
//! No real person is included, and nothing was learned from records of people: the model is a set of hand-written
//! tables of round numbers (`tables.rs`, `diagnoses.rs`), and names are combined at random. The tables have the
//! properties that make anonymization hard or easy in practice:
//!
//! - an age pyramid from 0 to 99, with more women among the old;
//! - 2,319 postcodes; three cities have 30 % of the people, and within a place the center has more;
//! - education by age, marital status by age and sex;
//! - occupation by education and sex, with children, students, the retired and people without work;
//! - income by occupation, education, age, sex and place, with a long tail;
//! - a diagnosis by age and sex, some of them rare: the sensitive column;
//! - type of health insurance by income, age and education: the class column.
//!
//! # Records by index
//!
//! A [`Person`] depends only on the seed and its index. So records can be generated in any order and on any number of
//! threads, a file of any length needs no memory, and the first thousand people do not depend on the number of people.
//! All arithmetic is on integers: a seed gives the same bytes on every machine. A record takes well below a
//! microsecond.
//!
//! ```
//! use moretta_synthetic::{self as synthetic, People};
//!
//! let people = People::new(7);
//! let mut csv = synthetic::header();
//! for index in 0..100 {
//!     people.person(index).write_csv(&mut csv);
//! }
//! assert_eq!(csv.lines().count(), 101);
//! ```

mod diagnoses;
mod draw;
mod hierarchies;
mod names;
mod random;
mod tables;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

pub use hierarchies::hierarchy;
use names::Name;
use random::Random;

/// Columns in order.
pub const COLUMNS: [&str; 10] =
    ["name", "age", "sex", "postcode", "education", "occupation", "marital-status", "income", "diagnosis", "insured"];

/// Columns for benchmarks: all but the name, about 100 bytes per line.
pub const BENCH_COLUMNS: &[&str] = COLUMNS.split_at(1).1;

/// Maximum draws per requested distinct person in [`People::with_distinct`]; after that it returns fewer. Not tuned.
const MAX_DRAWS_PER_PROTOTYPE: u64 = 32;

/// Returns the header line of a CSV file with [`COLUMNS`].
pub fn header() -> String {
    COLUMNS.join(",") + "\n"
}

/// Returns the header line of a CSV file with [`BENCH_COLUMNS`].
pub fn bench_header() -> String {
    BENCH_COLUMNS.join(",") + "\n"
}

/// Returns the commented policy of `moretta demo`, with the default method. It refers to each [`hierarchy`] as
/// `hierarchies/<column>.csv`.
pub fn demo_policy() -> &'static str {
    include_str!("demo.toml")
}

/// Returns a policy for tables of any size, for tests and benchmarks: with the fastest method, and few distinct tuples,
/// because the income is copied. It refers to hierarchies like [`demo_policy`].
pub fn policy() -> &'static str {
    include_str!("policy.toml")
}

/// An unlimited population of synthetic people.
#[derive(Debug, Clone)]
pub struct People {
    seed: u64,
    /// People equal one of these but for the name; `None` if every person is drawn independently.
    prototypes: Option<Vec<Person>>,
}

impl People {
    /// A population in which every person is drawn independently: the number of distinct people grows with its size.
    pub fn new(seed: u64) -> Self {
        Self { seed, prototypes: None }
    }

    /// A population in which every person equals one of `prototypes` people but for the name.
    ///
    /// The prototypes differ in the columns that an anonymizer groups by (all but name and income), so the number of
    /// distinct tuples is at most `prototypes`, and 99 % of it with ten times as many records. Their frequencies are
    /// skewed: about `r^(-2/3)` for rank `r`, and a third of the average for the last rank.
    ///
    /// The prototypes are drawn here and kept: about 20 bytes and a fraction of a microsecond each. There is at least
    /// one; far beyond ten million there may be fewer than requested, because new combinations become rare.
    pub fn with_distinct(seed: u64, prototypes: u64) -> Self {
        let requested = prototypes.max(1);
        let mut keys = HashSet::new();
        let mut list = Vec::new();
        for index in 0..requested.saturating_mul(MAX_DRAWS_PER_PROTOTYPE) {
            let person = draw::person(&mut Random::new(seed, index));
            if keys.insert(person.grouped()) {
                list.push(person);
            }
            if list.len() as u64 == requested {
                break;
            }
        }
        Self { seed, prototypes: Some(list) }
    }

    /// Returns the person at an index, always the same one.
    pub fn person(&self, index: u64) -> Person {
        let mut random = Random::new(self.seed, index);
        match &self.prototypes {
            None => draw::person(&mut random),
            Some(list) => {
                let rank = random.below_cubed(list.len() as u64);
                Person { name: Name::draw(&mut random), ..list[rank as usize] }
            }
        }
    }
}

/// A synthetic person. Categories are indices into the tables, to save memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Person {
    name: Name,
    age: u8,
    sex: u8,
    education: u8,
    occupation: u8,
    marital_status: u8,
    diagnosis: u8,
    insured: u8,
    postcode: u32,
    income: u32,
}

impl Person {
    /// First name and surname. Different people may share it.
    pub fn name(&self) -> String {
        let mut name = String::new();
        self.name.write(usize::from(self.sex), &mut name);
        name
    }

    /// Years, 0 to 99.
    pub fn age(&self) -> u8 {
        self.age
    }

    /// `female` or `male`.
    pub fn sex(&self) -> &'static str {
        tables::SEXES[usize::from(self.sex)]
    }

    /// Printed with five digits.
    pub fn postcode(&self) -> u32 {
        self.postcode
    }

    /// The highest level reached; below 16 years, the school attended.
    pub fn education(&self) -> &'static str {
        tables::EDUCATIONS[usize::from(self.education)].label
    }

    /// Occupation, or status of people who do not work.
    pub fn occupation(&self) -> &'static str {
        tables::OCCUPATIONS[usize::from(self.occupation)].label
    }

    /// People under 18 are never married.
    pub fn marital_status(&self) -> &'static str {
        tables::MARITAL_STATUSES[usize::from(self.marital_status)][0]
    }

    /// Per year, a multiple of 500; 0 for children.
    pub fn income(&self) -> u32 {
        self.income
    }

    /// Diagnosis, the sensitive column.
    pub fn diagnosis(&self) -> &'static str {
        diagnoses::DIAGNOSES[usize::from(self.diagnosis)].label
    }

    /// `statutory`, `private` or `uninsured`.
    pub fn insured(&self) -> &'static str {
        tables::INSURANCES[usize::from(self.insured)]
    }

    /// Appends a CSV line of [`COLUMNS`], with its line end. No value needs quoting.
    pub fn write_csv(&self, out: &mut String) {
        self.name.write(usize::from(self.sex), out);
        out.push(',');
        self.write_bench_csv(out);
    }

    /// Appends a CSV line of [`BENCH_COLUMNS`], with its line end. No value needs quoting.
    pub fn write_bench_csv(&self, out: &mut String) {
        push_number(out, u32::from(self.age), 1);
        for text in [",", self.sex(), ","] {
            out.push_str(text);
        }
        push_number(out, self.postcode, 5);
        for text in [",", self.education(), ",", self.occupation(), ",", self.marital_status(), ","] {
            out.push_str(text);
        }
        push_number(out, self.income, 1);
        for text in [",", self.diagnosis(), ",", self.insured(), "\n"] {
            out.push_str(text);
        }
    }

    /// Encodes the columns that an anonymizer groups by as one number.
    fn grouped(&self) -> u64 {
        [self.age, self.sex, self.education, self.occupation, self.marital_status, self.diagnosis, self.insured]
            .into_iter()
            // Every code is below 100, and 100^7 times the postcodes is below 2^64.
            .fold(u64::from(self.postcode), |key, code| key * 100 + u64::from(code))
    }
}

/// Appends a decimal number, padded with zeros to `digits`. `write!` would take longer than the rest of the line.
fn push_number(out: &mut String, mut number: u32, digits: usize) {
    let mut buffer = [b'0'; 10];
    let mut start = buffer.len();
    while number > 0 || buffer.len() - start < digits {
        start -= 1;
        buffer[start] = b'0' + (number % 10) as u8;
        number /= 10;
    }
    out.push_str(str::from_utf8(&buffer[start..]).expect("digits are ASCII"));
}

//! Made-up people: for the demo, for tests and for benchmarks, in any number.
//!
//! No real person is in here. Nothing was learned from records of people: the model is a set of tables of round
//! numbers written by hand (`tables.rs`, `diagnoses.rs`), and names are put together at random. What the tables
//! do have is the shape that makes anonymisation hard or easy in life:
//!
//! - an age pyramid from 0 to 99, with more women among the old;
//! - 2,319 postcodes, three people in ten in three cities, and within a place more in its middle;
//! - education by age, marital status by age and sex;
//! - occupation by education and sex, with children, students, the retired and people without work;
//! - income by occupation, education, age, sex and place, with a long tail;
//! - a diagnosis by age and sex, some of them rare: the sensitive column;
//! - kind of health insurance by income, age and education: the class column, worth predicting.
//!
//! # Each record by its index
//!
//! A [`Person`] depends on the seed and on its index, and on nothing else. So records can be made in any order and on
//! any number of threads, a file of any length needs no memory, and the first thousand people are the same thousand
//! whether a thousand or ten million are asked for. Everything is integer arithmetic: a seed gives the same bytes on
//! every machine. A record takes well below a microsecond.
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

/// The columns of a line, in order.
pub const COLUMNS: [&str; 10] =
    ["name", "age", "sex", "postcode", "education", "occupation", "marital-status", "income", "diagnosis", "insured"];

/// The columns of a line for benchmarks: all but the name, about 100 bytes.
pub const BENCH_COLUMNS: &[&str] = COLUMNS.split_at(1).1;

/// How many persons are looked at for each distinct one that is asked for, before [`People::with_distinct`] makes do
/// with fewer.
const PATIENCE: u64 = 32;

/// The head of a CSV file with [`COLUMNS`], with its line end.
pub fn header() -> String {
    COLUMNS.join(",") + "\n"
}

/// The head of a CSV file with [`BENCH_COLUMNS`], with its line end.
pub fn bench_header() -> String {
    BENCH_COLUMNS.join(",") + "\n"
}

/// A commented policy for [`COLUMNS`], in TOML. It expects the text of each [`hierarchy`] in a file
/// `hierarchies/<column>.csv` beside it.
pub fn policy() -> &'static str {
    include_str!("policy.toml")
}

/// An endless population of made-up people.
#[derive(Debug, Clone)]
pub struct People {
    seed: u64,
    /// Whom everybody takes after; `None` where all are drawn afresh.
    prototypes: Option<Vec<Person>>,
}

impl People {
    /// A population in which everybody is drawn afresh: the number of distinct people grows with their number.
    pub fn new(seed: u64) -> Self {
        People { seed, prototypes: None }
    }

    /// A population in which everybody but for the name equals one of so many prototypes.
    ///
    /// The prototypes differ from each other in the columns that an anonymiser groups by (all but name and income), so
    /// the number of distinct tuples is at most `prototypes`, and close to it once there are ten times as many records
    /// (99 % are then in use). Some come far more often than others: the one of rank `r` with a frequency of about
    /// `r^(-2/3)`, the last still a third as often as on average.
    ///
    /// The prototypes are drawn here and kept: some 20 bytes and a fraction of a microsecond for each. At least one is
    /// made; far beyond ten million, where combinations that the model can bring forth become hard to find, there
    /// may be fewer than asked for.
    pub fn with_distinct(seed: u64, prototypes: u64) -> Self {
        let wanted = prototypes.max(1);
        let mut keys = HashSet::new();
        let mut list = Vec::new();
        for index in 0..wanted.saturating_mul(PATIENCE) {
            let person = draw::person(&mut Random::new(seed, index));
            if keys.insert(person.grouped()) {
                list.push(person);
            }
            if list.len() as u64 == wanted {
                break;
            }
        }
        People { seed, prototypes: Some(list) }
    }

    /// The person at that index: always the same one.
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

/// A made-up person. Categories are indices into the tables, which keeps a person small.
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

    /// To be written with five digits.
    pub fn postcode(&self) -> u32 {
        self.postcode
    }

    /// The highest one reached or, below 16, the school attended.
    pub fn education(&self) -> &'static str {
        tables::EDUCATIONS[usize::from(self.education)].label
    }

    /// What the person does, at work or otherwise.
    pub fn occupation(&self) -> &'static str {
        tables::OCCUPATIONS[usize::from(self.occupation)].label
    }

    /// Under 18 always never married.
    pub fn marital_status(&self) -> &'static str {
        tables::MARITAL_STATUSES[usize::from(self.marital_status)][0]
    }

    /// Per year, a multiple of 500; children have none.
    pub fn income(&self) -> u32 {
        self.income
    }

    /// What the person was treated for.
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

    /// The columns that are grouped by, as one number.
    fn grouped(&self) -> u64 {
        [self.age, self.sex, self.education, self.occupation, self.marital_status, self.diagnosis, self.insured]
            .into_iter()
            // The largest base that any of the seven needs; 100^7 times the postcodes stays below 2^64.
            .fold(u64::from(self.postcode), |key, code| key * 100 + u64::from(code))
    }
}

/// Appends a number in decimal, filled up with zeros to `digits`. `write!` would take longer than all the rest of the line.
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

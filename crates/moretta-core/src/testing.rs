//! Small tables for tests: a policy, hierarchies and rows with multiplicities, as texts.

pub mod conformance;
pub mod engine_suite;
pub mod models;
mod near_shares;

pub use near_shares::NearShares;

use std::{
    fs,
    path::PathBuf,
    sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
};

use hashbrown::HashMap;

use crate::{
    counts::{CountedColumn, Counts},
    hierarchy::{Hierarchies, file},
    ids::{TupleId, VariantId},
    policy::{Policy, bind_all},
    privacy::{BoundModel, Group},
    profile::{Profile, VariantCount},
    recoding::Recoding,
    search::{Observer, Stop, method_names},
};

/// Bank customers of Wang, Fung, Yu (2007): job, country, child, bankruptcy, rating.
pub const BANK: &[(&str, u64)] = &[
    ("Cook,US,No,Current,Bad", 4),
    ("Artist,France,No,Current,Good", 1),
    ("Artist,France,No,Current,Bad", 3),
    ("Doctor,US,Yes,Never,Good", 4),
    ("Doctor,US,Yes,Never,Bad", 2),
    ("Trader,UK,No,Discharged,Good", 4),
    ("Trader,UK,No,Never,Good", 1),
    ("Trader,Canada,No,Never,Good", 1),
    ("Clerk,Canada,No,Never,Good", 3),
    ("Clerk,Canada,No,Discharged,Good", 1),
];

/// Twenty points: x, y, class. If x is split after 7.5 and y after 3.5, three points are not of their group's majority
/// class.
pub const POINTS: &[(&str, u64)] = &[
    ("0,0,+", 4),
    ("3,2,+", 3),
    ("7.5,3.5,-", 1),
    ("8,1,-", 4),
    ("1,4,-", 3),
    ("7,10,+", 2),
    ("10,10,+", 2),
    ("9,5,+", 1),
];

/// Reads a file of public data from the folder `MORETTA_DATA`, or from `shared/data` beside the project. `None` if
/// there is no such file: the test is skipped with a message.
pub fn data(path: &str, test: &str) -> Option<String> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let text = fs::read_to_string(std::env::var_os("MORETTA_DATA").map_or(beside, PathBuf::from).join(path));
    if text.is_err() {
        eprintln!("SKIPPED {test}: no {path}; set MORETTA_DATA to the folder that has it");
    }
    text.ok()
}

/// Some columns of a CSV without quotes, row by row.
pub fn select(text: &str, columns: &[&str]) -> Vec<String> {
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let place = |name: &&str| header.iter().position(|known| known == name).expect("a column of the file");
    let places: Vec<usize> = columns.iter().map(place).collect();
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        places.iter().map(|&place| cells[place]).collect::<Vec<_>>().join(",")
    };
    lines.map(row).collect()
}

/// A profile with the policy it was built under.
pub struct TestTable {
    /// The text of the test, with `version = 1` before it.
    pub policy: Policy,
    /// Variants in the order of the profile, not of the rows.
    pub profile: Profile,
    /// All models of the policy, bound to the profile.
    pub models: Vec<Box<dyn BoundModel>>,
}

/// Counts of rows with their records. A row has the grouped columns of the policy, separated by commas.
pub fn counts(policy: &Policy, rows: &[(&str, u64)]) -> Counts {
    let column = |name| CountedColumn { name, ..CountedColumn::default() };
    let columns = Profile::grouped_columns(policy).into_iter().map(column).collect();
    let mut counts = Counts { columns, ..Counts::default() };
    let mut known: Vec<HashMap<String, u32>> = vec![HashMap::new(); counts.columns.len()];
    for (row, records) in rows {
        let first = counts.records + 1;
        for ((column, known), text) in counts.columns.iter_mut().zip(&mut known).zip(row.split(',')) {
            let code = *known.entry(text.to_owned()).or_insert_with(|| {
                column.values.push(text.into());
                column.first_records.get_or_insert_default().push(first);
                column.values.len() as u32 - 1
            });
            counts.codes.push(code);
        }
        counts.counts.push(*records);
        counts.first_records.get_or_insert_default().push(first);
        counts.records += records;
    }
    counts
}

impl TestTable {
    /// A row has the quasi-identifiers, then the sensitive and class columns, separated by commas; the number is its
    /// records.
    pub fn new(policy: &str, hierarchies: &[(&str, &str)], rows: &[(&str, u64)]) -> Self {
        let parsed = |(name, text): &(&str, &str)| ((*name).to_owned(), file::parse(text).expect("a hierarchy"));
        Self::with_trees(policy, hierarchies.iter().map(parsed).collect(), rows)
    }

    /// Like [`TestTable::new`], with the hierarchies as trees.
    pub fn with_trees(policy: &str, trees: Hierarchies, rows: &[(&str, u64)]) -> Self {
        let policy = Policy::parse(&format!("version = 1\n{policy}"), &method_names()).expect("a policy");
        let counts = counts(&policy, rows);
        let profile = Profile::build(&policy, &trees, &counts).expect("a table that fits its policy");
        let models = bind_all(&policy, &profile).expect("models that fit the table");
        Self { policy, profile, models }
    }

    /// The variants whose texts (quasi-identifiers, then sensitive and class values) `wanted` accepts, with all their
    /// records.
    pub fn members(&self, wanted: impl Fn(&[&str]) -> bool) -> Vec<VariantCount> {
        let texts = |variant: VariantId| {
            let codes = self.profile.codes(self.profile.tuple_of(variant)).iter().zip(self.profile.columns());
            let mut texts: Vec<&str> = codes.map(|(&code, column)| column.domain.text(code)).collect();
            for (index, attribute) in self.profile.attributes().iter().enumerate() {
                let value = self.profile.value(variant, crate::ids::AttributeId::from_index(index));
                texts.push(&attribute.values[value as usize]);
            }
            texts
        };
        self.profile.everything().into_iter().filter(|member| wanted(&texts(member.variant))).collect()
    }

    /// The first model's margin for these members.
    pub fn margin(&self, members: &[VariantCount]) -> f64 {
        self.models[0].margin(&Group::new(&self.profile, members))
    }
}

/// An observer that stops a search once it has checked for a stop a given number of times.
pub struct After {
    left: AtomicU64,
    stopped: AtomicBool,
}

impl After {
    /// Number of checks for a stop that the search passes before it is stopped.
    pub fn asked(times: u64) -> Self {
        Self { left: AtomicU64::new(times), stopped: AtomicBool::new(false) }
    }

    /// Whether the search has seen the stop.
    pub fn stopped(&self) -> bool {
        self.stopped.load(Relaxed)
    }
}

impl Observer for After {
    fn stop(&self) -> Option<Stop> {
        let left = self.left.fetch_update(Relaxed, Relaxed, |left| Some(left.saturating_sub(1)));
        let stop = left == Ok(0);
        self.stopped.fetch_or(stop, Relaxed);
        stop.then_some(Stop::OutOfTime)
    }
}

/// The tuples of each group's records, in order.
pub fn tuples_of_groups(table: &TestTable, recoding: &Recoding) -> Vec<Vec<TupleId>> {
    let Recoding::Local(groups) = recoding else { panic!("local recoding makes groups") };
    let mut found = vec![Vec::new(); groups.boxes.len() / table.profile.columns().len()];
    for assignment in &groups.assignments {
        let tuple = table.profile.tuple_of(assignment.variant);
        found[assignment.group.index()].extend((0..assignment.records).map(|_| tuple));
    }
    found.iter_mut().for_each(|group: &mut Vec<TupleId>| group.sort_unstable());
    found
}

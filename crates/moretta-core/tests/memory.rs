//! Methods estimate the memory of their search before it starts. Here the heap is measured: an estimate must be an
//! upper bound, and not much more than is used.
//!
//! One test only: the counters of the allocator are those of the whole process.

use moretta_core::{
    counts::{CountedColumn, Counts},
    hierarchy::Hierarchies,
    observer::NoObserver,
    policy::{BoundPolicy, Policy},
    profile::Profile,
    search::{Task, method_names, method_of},
};
use peak_alloc::PeakAlloc;

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// A table of distinct random tuples.
struct Shape {
    name: &'static str,
    tuples: u64,
    /// Values of each column.
    values: &'static [u64],
    /// Declaration of each column.
    declared: &'static [&'static str],
    /// Variants of a tuple.
    variants: u64,
    k: u64,
    /// Sections of other models.
    models: &'static str,
}

const FREE: &str = "type = \"number\"";
const PREFIX: &str = "type = \"category\"\nhierarchy = { prefix = [4, 3, 2, 1] }";
const FLAT: &str = "type = \"category\"";

/// A model of all columns that needs the members of groups, and one of some columns that limits counts.
const MODELS: &str = "[[privacy.l-diversity]]\ncolumn = \"s\"\nl = 3\n[[privacy.template]]\ngiven = [\"c0\", \"c1\"]\n\
                      column = \"s\"\nvalues = [\"10007\"]\nmax-confidence = 0.5\n";

const SHAPES: &[Shape] = &[
    Shape { name: "codes", tuples: 12_000, values: &[12_000], declared: &[FREE], variants: 1, k: 5, models: "" },
    Shape { name: "prefixes", tuples: 12_000, values: &[12_000], declared: &[PREFIX], variants: 1, k: 5, models: "" },
    Shape {
        name: "people",
        tuples: 12_000,
        values: &[80, 2, 9_000, 9_000],
        declared: &[FREE, FLAT, PREFIX, FREE],
        variants: 1,
        k: 5,
        models: "",
    },
    Shape {
        name: "guarded",
        tuples: 12_000,
        values: &[80, 2, 9_000, 9_000],
        declared: &[FREE, FLAT, PREFIX, FREE],
        variants: 1,
        k: 5,
        models: MODELS,
    },
    Shape {
        name: "coarse",
        tuples: 8_000,
        values: &[30, 12, 8, 6, 10, 4, 9, 20],
        declared: &[FREE, FLAT, FLAT, FLAT, FREE, FLAT, FLAT, PREFIX],
        variants: 3,
        k: 20,
        models: "",
    },
    Shape {
        name: "coarse, guarded",
        tuples: 8_000,
        values: &[30, 12, 8, 6, 10, 4, 9, 20],
        declared: &[FREE, FLAT, FLAT, FLAT, FREE, FLAT, FLAT, PREFIX],
        variants: 3,
        k: 20,
        models: MODELS,
    },
];

/// Bytes that an estimate may be above four times the used ones: buffers of a fixed size.
const ALLOWANCE: u64 = 40_000_000;

fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

impl Shape {
    fn policy(&self, method: &str) -> Policy {
        let column = |(index, declared): (usize, &&str)| {
            format!("[columns.c{index}]\nrole = \"quasi-identifier\"\n{declared}\n")
        };
        let columns: String = self.declared.iter().enumerate().map(column).collect();
        // The population has its full size after a few rounds.
        let iterations = if method == "genetic" { "method.iterations = 5000\n" } else { "" };
        let text = format!(
            "version = 1\nmethod.name = \"{method}\"\n{iterations}privacy.k = {}\n{}{columns}[columns.s]\nrole = \"sensitive\"\n\
             [columns.class]\nrole = \"class\"\n",
            self.k, self.models
        );
        Policy::parse(&text, &method_names()).expect("a policy")
    }

    fn counts(&self, policy: &Policy) -> Counts {
        let mut state = 7;
        let mut rows: Vec<Vec<u32>> = (0..2 * self.tuples)
            .map(|row| {
                let value =
                    |&values: &u64| if values >= self.tuples { row % values } else { random(&mut state) % values };
                self.values.iter().map(value).map(|value| value as u32).collect()
            })
            .collect();
        rows.sort_unstable();
        rows.dedup();
        rows.truncate(self.tuples as usize);
        let mut counts = Counts::default();
        for (row, values) in rows.iter().enumerate() {
            for variant in 0..self.variants {
                counts.codes.extend(values);
                counts.codes.extend([(row as u64 * 3 + variant) as u32 % 20, random(&mut state) as u32 % 2]);
                counts.counts.push(1);
                counts.records += 1;
            }
        }
        let mut sizes = self.values.to_vec();
        sizes.extend([20, 2]);
        for (name, size) in Profile::grouped_columns(policy).into_iter().zip(sizes) {
            let values = (0..size).map(|value| format!("{:05}", value * 7 + 10_000).into()).collect();
            counts.columns.push(CountedColumn { name, values, first_records: None, typed: false });
        }
        counts
    }
}

#[test]
fn estimates_are_upper_bounds() {
    let mut wrong = Vec::new();
    for shape in SHAPES {
        let counts = shape.counts(&shape.policy("mondrian"));
        let before = HEAP.current_usage();
        let profile = Profile::build(&shape.policy("mondrian"), &Hierarchies::default(), &counts).expect("a profile");
        let _ = profile.code_records(moretta_core::ids::ColumnId(0));
        let held = HEAP.current_usage() - before;
        eprintln!("{}: profile {held} estimated {}", shape.name, profile.bytes());
        for method in method_names() {
            let policy = shape.policy(method);
            let bound = BoundPolicy::new(&policy, &profile).expect("a policy that fits");
            let task = Task::of(&bound, 1);
            let method_built = method_of(&policy).expect("a method");
            if method_built.supports(&task).is_err() {
                continue;
            }
            let estimated = method_built.memory(&task).peak;
            let before = HEAP.current_usage();
            HEAP.reset_peak_usage();
            let start = std::time::Instant::now();
            let outcome = method_built.run(&task, &NoObserver).expect("an outcome");
            let used = (HEAP.peak_usage() - before) as u64;
            drop(outcome);
            let share = used as f64 / estimated as f64;
            eprintln!(
                "{:10} {method:26} used {:7.1} MB estimated {:7.1} MB share {share:.2} per tuple {} s {:.1}",
                shape.name,
                used as f64 / 1e6,
                estimated as f64 / 1e6,
                used / shape.tuples,
                start.elapsed().as_secs_f64()
            );
            if used > estimated || estimated > 4 * used + ALLOWANCE {
                wrong.push((shape.name, method, share));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

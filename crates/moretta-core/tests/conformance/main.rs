//! One suite for every method, every privacy model, and global and local recoding.
//!
//! A [`world`] is a random small table with a random policy. [`naive_engine`] prints its release. The naive
//! verdicts of the models (`privacy/*/conformance.rs`) and the naive measures in [`losses`] judge the printed
//! texts with plain maps over strings; they share no code with the models and measures under test.
//!
//! A new method joins by its entry in `search::METHODS`; parameters other than the defaults are one line in
//! [`PARAMETERS`].

mod cuts;
mod files;
mod losses;
mod methods;
mod models;
mod naive_engine;
mod profiles;
mod random_cut;
mod recipe;
mod saved;
mod world;

/// Parameters with which a method is tested in addition to its defaults.
pub const PARAMETERS: &[(&str, &str)] = &[
    ("mondrian", "choose = \"widest\""),
    ("mondrian", "relaxed = true"),
    ("mondrian", "relaxed = true\nchoose = \"widest\""),
    ("bottom-up-generalization", "take-back = false"),
    ("bottom-up-generalization", "measure = \"lm\"\nsearch = 10"),
    ("bottom-up-generalization", "measure = \"ncp\"\nsearch = 10\npartial = false"),
    ("bottom-up-generalization", "search = 0\npartial = false"),
    ("bottom-up-generalization", "take-back = false\nprune = false"),
    ("top-down-disclosure", "measure = \"lm\""),
    ("top-down-disclosure", "measure = \"ncp\"\ntries = 1"),
    ("k-member", "block = 5"),
    ("sweep", "vectors = 3"),
    ("genetic", "population = 8\niterations = 40\nseeds = false\nlocal-search = false\npartial = false\npoints = 3"),
];

/// Replacements for the defaults of methods that search long: the suite runs each method thousands of times.
pub const SHORT_PARAMETERS: &[(&str, &str)] =
    &[("bottom-up-generalization", "search = 8"), ("genetic", "population = 12\niterations = 40")];

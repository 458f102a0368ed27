//! One suite for every method, every privacy model and both shapes of a recoding.
//!
//! A [`world`] is a random small table with a random policy. [`expand`] does to its records what an engine would do,
//! naively. The naive verdicts of the models (`privacy/*/conformance.rs`) and [`losses`] judge the printed texts that come
//! out with plain maps over strings: they share no code with models and measures. A new method joins by its entry in `search::METHODS`; parameters other than the
//! defaults are one line in [`PARAMETERS`].

mod cuts;
mod expand;
mod files;
mod losses;
mod methods;
mod models;
mod profiles;
mod random_cut;
mod recipe;
mod saved;
mod world;

/// The parameters with which a method is tried besides its defaults.
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

/// What stands in for the defaults of a method that would otherwise search for long, thousands of times.
pub const SHORT_PARAMETERS: &[(&str, &str)] =
    &[("bottom-up-generalization", "search = 8"), ("genetic", "population = 12\niterations = 40")];

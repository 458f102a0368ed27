//! One suite for every method, every privacy model, and global and local recoding.
//!
//! A [`world`] is a random small table with a random policy. [`naive_engine`] prints its release. The naive
//! verdicts of the models (`privacy/*/conformance.rs`) and the naive measures in [`losses`] judge the printed
//! texts with plain maps over strings; they share no code with the models and measures under test.
//!
//! A new method joins by its entry in `search::METHODS`; parameters other than the defaults are one line in
//! [`parameters::PARAMETERS`].

mod cells;
mod cuts;
mod files;
mod losses;
mod methods;
mod models;
mod naive_engine;
mod parameters;
mod profiles;
mod random_cut;
mod recipe;
mod saved;
mod suppression;
mod world;

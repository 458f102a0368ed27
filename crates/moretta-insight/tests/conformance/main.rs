//! Compares results of this crate with naive ones, on the random tables of the core's conformance suite.

#![allow(dead_code, reason = "the shared modules serve the core's suite too")]

#[path = "../../../moretta-core/tests/conformance/losses.rs"]
mod losses;
#[path = "../../../moretta-core/tests/conformance/naive_engine.rs"]
mod naive_engine;
mod queries;
#[path = "../../../moretta-core/tests/conformance/random_cut.rs"]
mod random_cut;
#[path = "../../../moretta-core/tests/conformance/recipe.rs"]
mod recipe;
#[path = "../../../moretta-core/tests/conformance/world.rs"]
mod world;

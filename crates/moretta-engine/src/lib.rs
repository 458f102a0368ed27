//! moretta-engine.

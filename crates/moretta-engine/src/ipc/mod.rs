//! Arrow IPC: files (`.arrow`, and `.feather` of version 2) and streams (`.arrows`), read with the arrow-ipc crate.
//!
//! Guarantee: a damaged file is an error. Sizes that a message claims are compared with the bytes that the file has before
//! the decoder allocates them, and its panics are caught.

mod messages;
pub(crate) mod scan;
pub(crate) mod strings;

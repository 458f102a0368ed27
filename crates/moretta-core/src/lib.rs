//! Make a table about persons fit to leave the house: the pure part.
//!
//! The data flows one way, and the modules are its stations:
//!
//! 1. [`policy`]: what the holder asks for; [`schema`]: columns and their roles; [`dates`]: how dates are written.
//! 2. [`counts`]: what an engine's *group and count* brings back.
//! 3. [`profile`]: distinct tuples with counts over [`hierarchy`] domains: all that a method sees.
//! 4. [`search`]: the methods. One interface; a profile and bound [`privacy`] models in, a [`recoding`] out.
//! 5. [`mod@verify`]: regroups the profile under the recoding from scratch and asks every model. Only this makes a
//!    [`Verified`](verify::Verified), and only that can be turned into a [`release`].
//! 6. [`readback`]: the written file against what was verified.
//! 7. [`released`], [`measure`], [`report`]: what leaves, what it lost, and how that is told; [`risk`] of being found
//!    and [`distribution`] of each column, before and after; [`path`]: the measures of every point on the way of a
//!    method that goes step by step.
//!
//! Beside the way, [`trial`] goes it without writing anything, and [`mod@evaluate`] asks what a model can still learn
//! from a release, on records that no search has seen.
//! Before all that, [`mod@guess`] writes a first policy from a look at the data, and [`inferences`] counts what the table
//! gives away as it stands.
//!
//! Nothing here does I/O, and nothing sees a record: an engine does the two passes over those.
#![doc = include_str!("example.md")]

pub mod compare;
pub mod counts;
pub mod dates;
pub mod distribution;
pub mod evaluate;
pub mod guess;
pub mod hierarchy;
pub mod ids;
pub mod inferences;
pub mod measure;
pub mod observer;
pub mod path;
pub mod policy;
pub mod privacy;
pub mod profile;
pub mod readback;
pub mod recoding;
pub mod release;
pub mod released;
pub mod report;
pub mod risk;
pub mod schema;
pub mod search;
pub mod synthetic;
#[cfg(test)]
mod testing;
pub mod text;
pub mod trial;
pub mod verify;

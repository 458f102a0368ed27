//! Decisions that need the whole table: what columns say of each other, which of several is the class or the person,
//! and whether the columns that stay unchanged single people out.

mod class;
mod fallback;
mod kept;
mod persons;
mod relations;

pub(crate) use self::{
    class::choose_class,
    fallback::ensure_quasi_identifier,
    kept::settle_kept,
    persons::{choose_household, choose_person},
    relations::{Relations, agree_on_roles, note_relations},
};

//! The vocabulary of this crate, and a newtype over `u32` for each kind of index, so that none can be confused with
//! another.
//!
//! Four words have a fixed meaning everywhere in moretta:
//!
//! | word | meaning | id |
//! | --- | --- | --- |
//! | record | one row of the input: one person, or one of several of a person | none: only engines see records |
//! | tuple | a *distinct* combination of quasi-identifier values (in papers, a tuple is a record) | [`TupleId`] |
//! | variant | a tuple together with one combination of sensitive and class values | [`VariantId`] |
//! | group | an equivalence class: all records released with the same quasi-identifier values | [`GroupId`] |
//!
//! Five records with the quasi-identifiers age and sex and the sensitive column diagnosis:
//!
//! ```text
//! record  age  sex  diagnosis     tuple          variant                 group after recoding age
//! 1       34   f    flu           t0 = (34, f)   v0 = (t0, flu)          g0 = ([34, 36], f)
//! 2       34   f    flu           t0             v0                      g0
//! 3       34   f    asthma        t0             v1 = (t0, asthma)       g0
//! 4       36   f    flu           t1 = (36, f)   v2 = (t1, flu)          g0
//! 5       51   m    asthma        t2 = (51, m)   v3 = (t2, asthma)       g1 = (51, m)
//! ```
//!
//! "Class" alone means a column with the role `class`, the one that a recipient predicts; an equivalence class is
//! always called a group. A *cluster* is a group under construction, a *box* the cells of a group, one per column.

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// Index into a vector with one element per id.
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// Inverse of [`index`](Self::index).
            ///
            /// # Panics
            /// If the index does not fit into a `u32`.
            pub fn from_index(index: usize) -> Self {
                Self(u32::try_from(index).expect("fewer than 2^32 of anything"))
            }
        }
    )*};
}

ids! {
    /// A quasi-identifier column; ids follow the order of the policy.
    ColumnId,
    /// A sensitive or class column; ids follow the order of the policy.
    AttributeId,
    /// A node of one column's hierarchy; ids are in preorder, 0 is the root.
    NodeId,
    /// A tuple: a distinct combination of quasi-identifier values. Ids are in lexicographic order of the codes.
    TupleId,
    /// A variant: a tuple with one combination of sensitive and class values. The variants of a tuple have consecutive
    /// ids.
    VariantId,
    /// A group (equivalence class): records released with identical quasi-identifier values.
    GroupId,
}

//! Numbers that name things, each with its own type so that one cannot be taken for another.

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// As an index into a table of these.
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// From an index into a table of these.
            ///
            /// # Panics
            /// Where there are more than `u32::MAX` of them.
            pub fn from_index(index: usize) -> Self {
                Self(u32::try_from(index).expect("fewer than 2^32 of anything"))
            }
        }
    )*};
}

ids! {
    /// A quasi-identifier column, in the order of the policy.
    ColumnId,
    /// A sensitive or class column, in the order of the policy.
    AttributeId,
    /// A node of one column's hierarchy, in preorder; 0 is the root.
    NodeId,
    /// A distinct combination of quasi-identifier values, in order of its codes.
    TupleId,
    /// A tuple together with one combination of sensitive and class values.
    VariantId,
    /// A group of records that leave with the same quasi-identifier values.
    GroupId,
}

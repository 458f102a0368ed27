//! The hierarchies of a table, by column.

use std::collections::BTreeMap;

use super::Tree;

/// At most one tree per column; a column without a hierarchy file has none. Columns are in order of their names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hierarchies(BTreeMap<String, Tree>);

impl Hierarchies {
    /// `None` if the column has no tree.
    pub fn get(&self, column: &str) -> Option<&Tree> {
        self.0.get(column)
    }

    /// Replaces the tree that the column had.
    pub fn insert(&mut self, column: String, tree: Tree) {
        self.0.insert(column, tree);
    }

    /// In order of the columns' names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Tree)> {
        self.0.iter().map(|(column, tree)| (column.as_str(), tree))
    }
}

impl FromIterator<(String, Tree)> for Hierarchies {
    fn from_iter<I: IntoIterator<Item = (String, Tree)>>(trees: I) -> Self {
        Self(trees.into_iter().collect())
    }
}

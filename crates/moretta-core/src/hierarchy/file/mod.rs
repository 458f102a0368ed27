//! Hierarchy files: delimited text as ARX writes it, JSON trees, and the hierarchies of Amnesia.
//!
//! A delimited file has one row per value: the value, its parent, and so on up to the root. Fields are separated by
//! `;`, tab or `,` (the first of these that occurs in the first row), may be quoted, and every row has the same number
//! of them. The root is whatever label all rows end in; it is released as `*`. A contradiction is an error that names
//! the row, never repaired: a hierarchy decides what is released.
//!
//! Every form becomes rows first (`delimited.rs`, `json.rs`, `amnesia.rs`), and `assemble.rs` makes a tree of them.

mod amnesia;
mod assemble;
mod delimited;
mod fault;
mod json;
mod levels;
mod note;
#[cfg(test)]
mod tests;

use self::assemble::{Known, Row, assemble};
pub use self::{
    fault::{Fault, HierarchyFileError, HierarchyProblem, Place},
    note::FileNote,
};
use super::tree::Tree;
use crate::ids::NodeId;

/// A hierarchy, as a file has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HierarchyFile {
    /// The tree, with the labels that are released.
    pub tree: Tree,
    /// Names of the levels, the values' first; empty if the file has none.
    pub levels: Vec<String>,
    /// Readings that a user may not expect.
    pub notes: Vec<FileNote>,
}

/// The forms in which a hierarchy is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// One row per value, with this delimiter: `;`, `,` or a tab.
    Delimited(char),
    /// Nested objects and arrays.
    Json,
}

/// A tree that a form cannot hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FormError {
    /// Readers of JSON refuse deeper nesting.
    #[error("the hierarchy has {levels} levels, and JSON holds at most {}; write CSV", json::MAX_LEVELS)]
    TooDeep {
        /// Levels of the tree.
        levels: usize,
    },
}

/// Reads a delimited file or a hierarchy of Amnesia; `column` is the column that it is for, if known.
pub fn read(text: &str, column: Option<&str>) -> Result<HierarchyFile, HierarchyFileError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if amnesia::is_one(text) {
        return finish(&amnesia::rows(text)?, Vec::new(), None);
    }
    let (mut rows, _) = delimited::rows(text)?;
    let (levels, guessed) = levels::take(&mut rows, column)?;
    let note = guessed.then_some(FileNote::Header { levels: levels.len() });
    finish(&rows, levels, note)
}

/// Reads a JSON tree.
pub fn read_json(text: &str) -> Result<HierarchyFile, HierarchyFileError> {
    let (rows, levels) = json::rows(text.strip_prefix('\u{feff}').unwrap_or(text))?;
    finish(&rows, levels, None)
}

fn finish(rows: &[Row], levels: Vec<String>, note: Option<FileNote>) -> Result<HierarchyFile, HierarchyFileError> {
    let (tree, more) = assemble(rows, Known { levels: &levels, empty_leaf: false })?;
    let notes = note.into_iter().chain(more).collect();
    Ok(HierarchyFile { tree, levels, notes })
}

/// Reads the tree of a file whose column is not known.
pub fn parse(text: &str) -> Result<Tree, HierarchyFileError> {
    read(text, None).map(|file| file.tree)
}

/// Inverse of [`rows`]. Unlike in a file, a value may be the empty text, and no row has names of levels.
pub fn from_rows(rows: Vec<Vec<String>>) -> Result<Tree, HierarchyFileError> {
    let row = |(index, fields)| Row { place: Place::Row(index + 1), fields };
    let rows: Vec<Row> = rows.into_iter().enumerate().map(row).collect();
    // A table without values has a tree without leaves.
    if rows.is_empty() {
        return Ok(super::TreeBuilder::default().build());
    }
    assemble(&rows, Known { empty_leaf: true, ..Known::default() }).map(|(tree, _)| tree)
}

impl HierarchyFile {
    /// Text of the hierarchy in a form.
    pub fn write(&self, form: Form) -> Result<String, FormError> {
        match form {
            Form::Delimited(delimiter) => {
                let names: Vec<String> = std::iter::once(levels::MARK.to_owned())
                    .chain(self.levels_of_rows().iter().map(|name| delimited::field(name)))
                    .collect();
                let head = if names.len() > 1 { names.join(&delimiter.to_string()) + "\n" } else { String::new() };
                Ok(head + &delimited_text(&self.tree, delimiter))
            }
            Form::Json => {
                let levels = deepest(&self.tree) as usize + 1;
                if levels > json::MAX_LEVELS {
                    return Err(FormError::TooDeep { levels });
                }
                Ok(json::write(&self.tree, self.levels_of_rows()))
            }
        }
    }

    /// Names of the levels, or none if the tree has fewer levels than the file, because some were only filling.
    fn levels_of_rows(&self) -> &[String] {
        if self.levels.len() == deepest(&self.tree) as usize + 1 { &self.levels } else { &[] }
    }
}

/// Text of a tree as a hierarchy file; inverse of [`parse`]. Check [`bytes`] first: a deep tree makes a very long text.
pub fn write(tree: &Tree) -> String {
    delimited_text(tree, ';')
}

fn delimited_text(tree: &Tree, delimiter: char) -> String {
    let labels: Vec<String> = tree.nodes().map(|node| delimited::field(tree.label(node))).collect();
    let mut text = String::with_capacity(usize::try_from(bytes(tree)).unwrap_or(0));
    let deepest = deepest(tree);
    for code in 0..tree.leaf_count() as u32 {
        for (field, node) in row_of(tree, code, deepest).enumerate() {
            text.extend((field > 0).then_some(delimiter));
            text.push_str(&labels[node.index()]);
        }
        text.push('\n');
    }
    text
}

/// Length of the file in bytes, which may be quadratic in the size of a deep tree. Cost: linear in the tree.
pub fn bytes(tree: &Tree) -> u64 {
    let deepest = deepest(tree);
    // By node, the length of its path to the root.
    let mut paths = vec![0u64; tree.len()];
    let mut sum = 0u64;
    for node in tree.nodes() {
        let own = delimited::field(tree.label(node)).len() as u64 + 1;
        paths[node.index()] = own + tree.parent(node).map_or(0, |parent| paths[parent.index()]);
        if tree.is_leaf(node) {
            let repeated = own.saturating_mul(u64::from(deepest - tree.depth(node)));
            sum = sum.saturating_add(paths[node.index()]).saturating_add(repeated);
        }
    }
    sum
}

fn deepest(tree: &Tree) -> u32 {
    tree.nodes().map(|node| tree.depth(node)).max().unwrap_or(0)
}

/// One path per leaf, from the leaf to the root, all of the same length: shorter paths repeat the leaf.
pub fn rows(tree: &Tree) -> Vec<Vec<&str>> {
    let deepest = deepest(tree);
    let labels = |code: u32| row_of(tree, code, deepest).map(|node| tree.label(node)).collect();
    (0..tree.leaf_count() as u32).map(labels).collect()
}

/// The nodes of a leaf's row: the leaf, again for each level that its path lacks, then the nodes above it.
fn row_of(tree: &Tree, code: u32, deepest: u32) -> impl Iterator<Item = NodeId> {
    let leaf = tree.leaf(code);
    let filling = std::iter::repeat_n(leaf, (deepest - tree.depth(leaf)) as usize);
    filling.chain(std::iter::successors(Some(leaf), |node| tree.parent(*node)))
}

//! A recoding as a file: versioned JSON that can be applied to new records.
//!
//! The file contains the policy, the hierarchy files that the policy names, and the labels of the released cells: all
//! that is needed to apply the recoding. It names its release by a hash. It contains no tuples, no values that were
//! generalized, and no assignment of records to groups, so it discloses no more about a person than the release and the
//! hierarchies do. Hierarchies that were built from the table are not stored: their released intervals become the
//! hierarchy of the new table.

mod profile;

use hashbrown::{HashMap, HashSet};
use serde::{Deserialize, Serialize};

use crate::{
    declaration::Declaration,
    engine::ReleaseFile,
    hierarchy::{Cell, Hierarchies, LabelReader, ROOT_LABEL, ReadCell, Tree, file},
    ids::{GroupId, TupleId},
    policy::Policy,
    privacy::BoundModel,
    profile::{Column, Profile, VariantCount},
    recoding::{
        BoxIndex, Cut, GroupAssignment, LocalRecoding, PrintedCell, Recoding, assign_to_boxes,
        suppress_violating_groups,
    },
    schema::Kind,
    text::shown,
};

/// The version of the file format.
pub const VERSION: u32 = 1;

/// A recoding that can be written, read and applied.
#[derive(Debug, Clone)]
pub struct Saved {
    /// The policy of the recoding, with the column types found in the original table.
    pub policy: Policy,
    /// Hierarchies of the policy's columns that have a hierarchy file.
    pub hierarchies: Hierarchies,
    /// The release that the recoding was made for; `None` if it is not a file, or unknown.
    pub release: Option<ReleaseFile>,
    labels: SavedLabels,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum SavedLabels {
    /// By column, the labels of the cut from left to right; `None` stands for all other values, released as `*`. (Among
    /// other labels, the label `*` is that of a missing value.)
    #[serde(rename = "cut")]
    Global(Vec<Vec<Option<String>>>),
    /// By group, the labels of its box.
    #[serde(rename = "groups")]
    Local(Vec<Vec<String>>),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RecodingFile {
    moretta: String,
    version: u32,
    /// Absent in files of earlier versions of the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    release: Option<ReleaseFile>,
    policy: Policy,
    hierarchies: std::collections::BTreeMap<String, Vec<Vec<String>>>,
    recoding: SavedLabels,
}

/// Reason why a text is not a valid recoding file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SavedError {
    /// Not JSON, or not of this form.
    #[error("not a recoding that `moretta anonymize --recoding` wrote: {}", brief(.0))]
    Form(#[from] serde_json::Error),
    /// Another kind of file, or another version.
    #[error("this is `{}` version {version}; a recoding of version {VERSION} is needed", shown(.kind))]
    Version {
        /// Content of the key `moretta`.
        kind: String,
        /// Content of the key `version`.
        version: u32,
    },
    /// A hierarchy in it contradicts itself.
    #[error("the hierarchy of `{}`: {error}", shown(.column))]
    Hierarchy {
        /// Name of the column.
        column: String,
        /// Row and contradiction.
        error: file::HierarchyFileError,
    },
    /// A box with another number of labels than there are columns.
    #[error("a box has {found} labels for {expected} quasi-identifiers")]
    Width {
        /// Number of labels.
        found: usize,
        /// Number of quasi-identifiers.
        expected: usize,
    },
}

/// The text of a JSON error, which may quote keys and values of any length: at most 200 characters, and the place.
fn brief(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.char_indices().nth(200) {
        Some((end, _)) => format!("{}… at line {} column {}", &text[..end], error.line(), error.column()),
        None => text,
    }
}

/// By column and code, whether a record that is not suppressed has the value. The file must not disclose the others.
fn released_values(profile: &Profile, cut: &Cut) -> Vec<Vec<bool>> {
    let mut released: Vec<Vec<bool>> = profile.columns().iter().map(|c| vec![false; c.domain.len()]).collect();
    let suppressed: HashSet<TupleId> = cut.suppressed.iter().copied().collect();
    for tuple in (0..profile.tuples() as u32).map(TupleId).filter(|tuple| !suppressed.contains(tuple)) {
        for (released, &code) in released.iter_mut().zip(profile.codes(tuple)) {
            released[code as usize] = true;
        }
    }
    released
}

impl Saved {
    /// The recoding of a table, without the values and tuples of the table. The caller fills in `release`.
    pub fn of(policy: &Policy, hierarchies: &Hierarchies, profile: &Profile, recoding: &Recoding) -> Self {
        let columns = profile.columns();
        let mut policy = policy.with_kinds_of(profile);
        // A model whose requirement depends on the table keeps that of this table.
        for model in &mut policy.privacy.models {
            *model = model.fixed(profile).unwrap_or_else(|| model.clone());
        }
        let label = |column: usize, cell: &Cell| columns[column].domain.label(*cell);
        let saved_labels = match recoding {
            Recoding::Global(cut) => {
                let released = released_values(profile, cut);
                let labels = |(column, cells): (usize, &Vec<Cell>)| {
                    // The values of a hierarchy file are stored in any case, also those that do not occur.
                    let has_file = hierarchies.get(&columns[column].name).is_some();
                    let public = has_file && columns[column].domain.kind() == Kind::Category;
                    let is_released = |(_, released): &(&Cell, &bool)| public || **released;
                    let cells = cells.iter().zip(&released[column]).filter(is_released);
                    let mut distinct: Vec<Cell> = cells.map(|(cell, _)| *cell).collect();
                    distinct.sort_unstable();
                    distinct.dedup();
                    let others = distinct.len() > 1;
                    let rest = |cell: &&Cell| others && **cell == columns[column].domain.whole();
                    let label = |cell: &Cell| Some(cell).filter(|cell| !rest(cell)).map(|cell| label(column, cell));
                    distinct.iter().map(label).collect()
                };
                SavedLabels::Global(cut.cells.iter().enumerate().map(labels).collect())
            }
            Recoding::Local(groups) => {
                let suppressed = groups.suppressed.map(GroupId::index);
                let boxes = groups.boxes.chunks(columns.len()).enumerate();
                let open = boxes.filter(|(group, _)| Some(*group) != suppressed).map(|(_, cells)| cells);
                let labels = |cells: &[Cell]| cells.iter().enumerate().map(|(at, cell)| label(at, cell)).collect();
                let mut boxes: Vec<Vec<String>> = open.map(labels).collect();
                boxes.sort();
                boxes.dedup();
                SavedLabels::Local(boxes)
            }
        };
        Self { policy, hierarchies: hierarchies.clone(), release: None, labels: saved_labels }
    }

    /// The text of the recoding file.
    pub fn to_json(&self) -> String {
        let owned = |tree: &Tree| -> Vec<Vec<String>> {
            file::rows(tree).into_iter().map(|row| row.into_iter().map(str::to_owned).collect()).collect()
        };
        let hierarchies = self.hierarchies.iter().map(|(name, tree)| (name.to_owned(), owned(tree))).collect();
        let contents = RecodingFile {
            moretta: "recoding".to_owned(),
            version: VERSION,
            release: self.release.clone(),
            policy: self.policy.clone(),
            hierarchies,
            recoding: self.labels.clone(),
        };
        serde_json::to_string_pretty(&contents).expect("texts and numbers are always JSON") + "\n"
    }

    /// Parses the text of a recoding file.
    pub fn parse(text: &str) -> Result<Self, SavedError> {
        #[derive(Deserialize)]
        struct Head {
            moretta: String,
            version: u32,
        }
        let head: Head = serde_json::from_str(text)?;
        if head.moretta != "recoding" || head.version != VERSION {
            return Err(SavedError::Version { kind: head.moretta, version: head.version });
        }
        let contents: RecodingFile = serde_json::from_str(text)?;
        let mut hierarchies = Hierarchies::default();
        for (column, rows) in contents.hierarchies {
            let tree =
                file::from_rows(rows).map_err(|error| SavedError::Hierarchy { column: column.clone(), error })?;
            hierarchies.insert(column, tree);
        }
        let expected = contents.policy.quasi_identifiers().count();
        let widths: Vec<usize> = match &contents.recoding {
            SavedLabels::Global(columns) => vec![columns.len()],
            SavedLabels::Local(boxes) => boxes.iter().map(Vec::len).collect(),
        };
        if let Some(&found) = widths.iter().find(|&&found| found != expected) {
            return Err(SavedError::Width { found, expected });
        }
        let RecodingFile { policy, release, recoding: labels, .. } = contents;
        Ok(Self { policy, hierarchies, release, labels })
    }

    /// Cell of a label in a column of the new table; `None` if the label covers nothing there.
    fn read(&self, column: &Column, reader: &LabelReader<'_>, label: &str) -> Option<Cell> {
        let missing = || {
            let mut texts = self.policy.column(&column.name).into_iter().flat_map(|it| self.policy.missing_texts(it));
            let stands_for_missing = texts.any(|text| text == label);
            stands_for_missing.then(|| reader.missing_cell()).flatten()
        };
        match reader.read(label) {
            Some(ReadCell::Cell(cell)) => Some(cell),
            // The missing value may have another text in the new table.
            _ => missing(),
        }
    }

    /// Recoding of a new table. Records that no cell covers and groups that violate a model are suppressed.
    pub fn apply(&self, profile: &Profile, models: &[Box<dyn BoundModel>]) -> Recoding {
        match &self.labels {
            SavedLabels::Global(labels) => self.apply_global(profile, models, labels),
            SavedLabels::Local(boxes) => self.apply_local(profile, models, boxes),
        }
    }

    /// By column, the number of records of a new table with a value that no cell covers; columns with none are left
    /// out.
    pub fn uncovered(&self, profile: &Profile) -> Vec<(String, u64)> {
        let covered: Vec<Vec<bool>> = match &self.labels {
            SavedLabels::Global(labels) => {
                let read = self.read_cut(profile, labels);
                read.iter().map(|column| column.iter().map(Option::is_some).collect()).collect()
            }
            SavedLabels::Local(boxes) => {
                // Each column by itself: a box counts here even if its label in another column cannot be read.
                let column = |(index, column): (usize, &Column)| {
                    let reader = LabelReader::new(&column.domain);
                    let labels: HashSet<&str> = boxes.iter().map(|labels| labels[index].as_str()).collect();
                    let cells: Vec<Cell> =
                        labels.iter().filter_map(|label| self.read(column, &reader, label)).collect();
                    (0..column.domain.len() as u32).map(|code| cells.iter().any(|cell| cell.contains(code))).collect()
                };
                profile.columns().iter().enumerate().map(column).collect()
            }
        };
        let records = |column: usize| {
            let outside = |tuple: &TupleId| !covered[column][profile.codes(*tuple)[column] as usize];
            let tuples = (0..profile.tuples() as u32).map(TupleId).filter(outside);
            tuples.map(|tuple| profile.tuple_records(tuple)).sum::<u64>()
        };
        let columns = profile.columns().iter().enumerate();
        let counted = columns.map(|(index, column)| (column.name.clone(), records(index)));
        counted.filter(|(_, records)| *records > 0).collect()
    }

    /// Whether every value of a column has one label, whatever the other columns have.
    pub fn is_global(&self) -> bool {
        matches!(self.labels, SavedLabels::Global(_))
    }

    /// Labels of each tuple of a new table, by column; `None` if no cell covers it. Nothing is suppressed for privacy,
    /// so the result must not be released: it serves to test a classifier on held-out records.
    pub fn labels(&self, profile: &Profile) -> Vec<Option<Vec<&str>>> {
        let tuples = (0..profile.tuples() as u32).map(|tuple| profile.codes(TupleId(tuple)));
        match &self.labels {
            SavedLabels::Global(labels) => {
                let read = self.read_cut(profile, labels);
                let label = |codes: &[u32], column: usize| Some(read[column][codes[column] as usize]?.1);
                tuples.map(|codes| (0..codes.len()).map(|column| label(codes, column)).collect()).collect()
            }
            SavedLabels::Local(boxes) => {
                let (open, labels): (Vec<_>, Vec<_>) = self.read_boxes(profile, boxes).into_iter().unzip();
                let index = BoxIndex::new(profile, &open);
                let first = |codes: &[u32]| index.covering(&open, codes).first().map(|&found| labels[found as usize]);
                tuples.map(|codes| Some(first(codes)?.iter().map(String::as_str).collect())).collect()
            }
        }
    }

    /// By column and code, the smallest cell of the cut that covers it, with its label.
    fn read_cut<'a>(&self, profile: &Profile, labels: &'a [Vec<Option<String>>]) -> Vec<Vec<Option<(Cell, &'a str)>>> {
        let of_column = |(column, labels): (&Column, &'a Vec<Option<String>>)| {
            let domain = &column.domain;
            let reader = LabelReader::new(domain);
            let read = |label: &'a Option<String>| {
                let Some(label) = label else { return Some((domain.whole(), ROOT_LABEL)) };
                // Among other labels, `*` is that of a missing value, not the whole column.
                let star = label == ROOT_LABEL && labels.len() > 1;
                let cell = if star { reader.missing_cell() } else { self.read(column, &reader, label) };
                Some((cell?, label.as_str()))
            };
            let mut cells = vec![None; domain.len()];
            // A table without records has no values to cover.
            let labels = if domain.is_empty() { &[] } else { labels.as_slice() };
            let mut read: Vec<(Cell, &str)> = labels.iter().filter_map(read).collect();
            read.sort_by_key(|(cell, _)| cell.last - cell.first);
            for (cell, label) in read {
                let inside = &mut cells[cell.first as usize..=cell.last as usize];
                inside.iter_mut().filter(|known| known.is_none()).for_each(|known| *known = Some((cell, label)));
            }
            cells
        };
        profile.columns().iter().zip(labels).map(of_column).collect()
    }

    /// Boxes that can be read in the new table, with their labels, lowest loss first.
    fn read_boxes<'a>(&self, profile: &Profile, boxes: &'a [Vec<String>]) -> Vec<(Vec<Cell>, &'a Vec<String>)> {
        let readers: Vec<LabelReader<'_>> = profile.columns().iter().map(|c| LabelReader::new(&c.domain)).collect();
        let read = |labels: &'a Vec<String>| -> Option<(Vec<Cell>, &'a Vec<String>)> {
            let columns = readers.iter().zip(profile.columns()).zip(labels);
            let cells = columns.map(|((reader, column), label)| self.read(column, reader, label));
            Some((cells.collect::<Option<_>>()?, labels))
        };
        // A box that cannot be read covers no record of the new table.
        let mut open: Vec<_> = boxes.iter().filter_map(read).collect();
        let loss = |cells: &Vec<Cell>| -> f64 {
            cells.iter().zip(profile.columns()).map(|(cell, column)| column.weight * column.domain.ncp(*cell)).sum()
        };
        open.sort_by(|(a, _), (b, _)| loss(a).total_cmp(&loss(b)).then_with(|| a.cmp(b)));
        open
    }

    /// Cell that identifies the label of a cell: a missing value released as `*` has the label of the whole column.
    fn as_printed(&self, column: &Column, cell: Cell) -> Cell {
        let (domain, release) = (&column.domain, &self.policy.release);
        if domain.is_star(cell) && !release.prints_group_values(domain.kind()) { domain.whole() } else { cell }
    }

    fn apply_global(&self, profile: &Profile, models: &[Box<dyn BoundModel>], cut: &[Vec<Option<String>>]) -> Recoding {
        let read = self.read_cut(profile, cut);
        let released_cells = |(column, read): (&Column, &Vec<Option<(Cell, &str)>>)| -> Vec<Cell> {
            let alone = |code: u32| column.domain.cover(code, code);
            (0u32..).zip(read).map(|(code, read)| read.map_or_else(|| alone(code), |(cell, _)| cell)).collect()
        };
        let cells: Vec<Vec<Cell>> = profile.columns().iter().zip(&read).map(released_cells).collect();
        let mut groups: HashMap<Vec<Cell>, usize> = HashMap::new();
        let mut keys: Vec<Vec<Cell>> = Vec::new();
        let mut assigned: Vec<Option<usize>> = Vec::new();
        for tuple in (0..profile.tuples() as u32).map(TupleId) {
            let codes = profile.codes(tuple);
            let open = codes.iter().zip(&read).all(|(&code, read)| read[code as usize].is_some());
            assigned.push(open.then(|| {
                let key: Vec<Cell> = codes.iter().zip(&cells).map(|(&code, cells)| cells[code as usize]).collect();
                *groups.entry(key).or_insert_with_key(|key| {
                    keys.push(key.clone());
                    keys.len() - 1
                })
            }));
        }
        let print = |(column, cell): (usize, &Cell)| (self.as_printed(&profile.columns()[column], *cell), None);
        let prints: Vec<Vec<_>> = keys.iter().map(|key| key.iter().enumerate().map(print).collect()).collect();
        suppress_violating_groups(profile, models, &prints, &mut assigned);
        let suppressed = (0u32..).zip(&assigned).filter(|(_, group)| group.is_none()).map(|(t, _)| TupleId(t));
        Recoding::Global(Cut { cells, suppressed: suppressed.collect() })
    }

    fn apply_local(&self, profile: &Profile, models: &[Box<dyn BoundModel>], boxes: &[Vec<String>]) -> Recoding {
        let mut open: Vec<Vec<Cell>> = self.read_boxes(profile, boxes).into_iter().map(|(cells, _)| cells).collect();
        let index = BoxIndex::new(profile, &open);
        let release = &self.policy.release;
        let prints_group: Vec<bool> =
            profile.columns().iter().map(|column| release.prints_group_values(column.domain.kind())).collect();
        let print = |(group, cells): (usize, &Vec<Cell>)| -> Vec<PrintedCell> {
            let cells = cells.iter().zip(profile.columns()).map(|(cell, column)| self.as_printed(column, *cell));
            cells.zip(&prints_group).map(|(cell, prints_group)| (cell, prints_group.then_some(group))).collect()
        };
        let prints: Vec<Vec<PrintedCell>> = open.iter().enumerate().map(print).collect();
        let choices: Vec<Vec<u32>> =
            (0..profile.tuples() as u32).map(|tuple| index.covering(&open, profile.codes(TupleId(tuple)))).collect();
        let assigned = assign_to_boxes(profile, models, &choices, &prints);
        let suppressed = GroupId::from_index(open.len());
        let whole: Vec<Cell> = profile.columns().iter().map(|column| column.domain.whole()).collect();
        open.push(whole);
        let mut assignments = Vec::new();
        for (tuple, group) in (0u32..).map(TupleId).zip(assigned) {
            let group = group.map_or(suppressed, GroupId::from_index);
            let assignment = |VariantCount { variant, records }| GroupAssignment { group, variant, records };
            assignments.extend(profile.members_of(tuple).map(assignment));
        }
        Recoding::Local(LocalRecoding { boxes: open.concat(), assignments, suppressed: Some(suppressed) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Found by the fuzzer: a key of 6 kB was shown whole.
    #[test]
    fn errors_are_short_and_name_the_place() {
        let long = "é".repeat(3000);
        for text in [
            format!("{{\"moretta\": \"recoding\", \"version\": 1, \"{long}\": 1}}"),
            format!("{{\"moretta\": \"{long}\", \"version\": 1}}"),
            format!("{{\"moretta\": \"recoding\", \"version\": \"{long}\"}}"),
        ] {
            let message = Saved::parse(&text).expect_err("not a recoding").to_string();
            assert!(message.chars().count() < 400, "{message}");
            assert!(message.contains("line 1 column") || message.contains("version 1"), "{message}");
        }
        let message = Saved::parse("{\"moretta\": 1}").expect_err("not a recoding").to_string();
        assert!(message.ends_with("expected a string at line 1 column 13"), "{message}");
    }
}

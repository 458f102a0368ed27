//! A recoding as a file: versioned JSON that can be applied to new records.
//!
//! It carries the policy and the hierarchy files it names, so that nothing else is needed to apply it, and the cells that
//! may leave as they print. It does not carry tuples, values that were generalised away, or which record went where: the
//! file tells no more about a person than the release and the hierarchies do. Nor does it carry hierarchies
//! that were built from the table: what they release are intervals, and these are the hierarchy of another table.

mod profile;

use hashbrown::{HashMap, HashSet};
use serde::{Deserialize, Serialize};

use crate::{
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
};

/// The version of the file format.
pub const VERSION: u32 = 1;

/// A recoding that can be written, read and applied.
#[derive(Debug, Clone)]
pub struct Saved {
    /// The policy it was found for.
    pub policy: Policy,
    /// The hierarchies of its columns.
    pub hierarchies: Hierarchies,
    labels: SavedLabels,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum SavedLabels {
    /// For each column, the labels of the cut from left to right; none stands for all other values, which leave as
    /// `*`. (Among other labels a `*` is the missing value's, released as that.)
    #[serde(rename = "cut")]
    Global(Vec<Vec<Option<String>>>),
    /// For each group, the labels of its box.
    #[serde(rename = "groups")]
    Local(Vec<Vec<String>>),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RecodingFile {
    moretta: String,
    version: u32,
    policy: Policy,
    hierarchies: std::collections::BTreeMap<String, Vec<Vec<String>>>,
    recoding: SavedLabels,
}

/// A file that is no recoding of ours.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SavedError {
    /// Not JSON, or not of this form.
    #[error("not a recoding that `moretta anonymize --recoding` wrote: {0}")]
    Form(#[from] serde_json::Error),
    /// Another kind of file, or another version.
    #[error("this is `{kind}` version {version}; a recoding of version {VERSION} is needed")]
    Version {
        /// What it calls itself.
        kind: String,
        /// Its version.
        version: u32,
    },
    /// A hierarchy in it contradicts itself.
    #[error("the hierarchy of `{column}`: {error}")]
    Hierarchy {
        /// The column.
        column: String,
        /// What is wrong.
        error: file::HierarchyFileError,
    },
    /// A box with another number of labels than there are columns.
    #[error("a box has {found} labels for {expected} quasi-identifiers")]
    Width {
        /// Labels.
        found: usize,
        /// Columns.
        expected: usize,
    },
}

/// Which values of each column some record has that is not suppressed. The others are nobody's to know.
fn released_values(profile: &Profile, cut: &Cut) -> Vec<Vec<bool>> {
    let mut released: Vec<Vec<bool>> =
        profile.columns().iter().map(|column| vec![false; column.domain.len()]).collect();
    let suppressed: HashSet<TupleId> = cut.suppressed.iter().copied().collect();
    for tuple in (0..profile.tuples() as u32).map(TupleId).filter(|tuple| !suppressed.contains(tuple)) {
        for (released, &code) in released.iter_mut().zip(profile.codes(tuple)) {
            released[code as usize] = true;
        }
    }
    released
}

impl Saved {
    /// What is kept of a recoding.
    pub fn of(policy: &Policy, hierarchies: &Hierarchies, profile: &Profile, recoding: &Recoding) -> Self {
        let columns = profile.columns();
        let mut policy = policy.with_kinds_of(profile);
        // A model asks the same of any other table.
        for model in &mut policy.privacy.models {
            *model = model.fixed(profile).unwrap_or_else(|| model.clone());
        }
        let label = |column: usize, cell: &Cell| columns[column].domain.label(*cell);
        let saved_labels = match recoding {
            Recoding::Global(cut) => {
                let released = released_values(profile, cut);
                let labels = |(column, cells): (usize, &Vec<Cell>)| {
                    // All values of a hierarchy file are in it anyway, also those that do not occur.
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
                let labels =
                    |cells: &[Cell]| cells.iter().enumerate().map(|(column, cell)| label(column, cell)).collect();
                let mut boxes: Vec<Vec<String>> = open.map(labels).collect();
                boxes.sort();
                boxes.dedup();
                SavedLabels::Local(boxes)
            }
        };
        Self { policy, hierarchies: hierarchies.clone(), labels: saved_labels }
    }

    /// As JSON.
    pub fn to_json(&self) -> String {
        let owned = |tree: &Tree| -> Vec<Vec<String>> {
            file::rows(tree).into_iter().map(|row| row.into_iter().map(str::to_owned).collect()).collect()
        };
        let hierarchies = self.hierarchies.iter().map(|(name, tree)| (name.to_owned(), owned(tree))).collect();
        let contents = RecodingFile {
            moretta: "recoding".to_owned(),
            version: VERSION,
            policy: self.policy.clone(),
            hierarchies,
            recoding: self.labels.clone(),
        };
        serde_json::to_string_pretty(&contents).expect("texts and numbers are always JSON") + "\n"
    }

    /// From JSON.
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
        Ok(Self { policy: contents.policy, hierarchies, labels: contents.recoding })
    }

    /// The cell of another table's column that a label stands for, where there is one.
    fn read(&self, reader: &LabelReader<'_>, label: &str) -> Option<Cell> {
        let missing = || {
            let stands_for_missing = self.policy.input.missing.iter().any(|text| text == label);
            stands_for_missing.then(|| reader.missing_cell()).flatten()
        };
        match reader.read(label) {
            Some(ReadCell::Cell(cell)) => Some(cell),
            // Another text may speak for the missing value there.
            _ => missing(),
        }
    }

    /// The recoding of another table, with the suppression needed there: records that no cell covers, and groups
    /// that break a model.
    pub fn apply(&self, profile: &Profile, models: &[Box<dyn BoundModel>]) -> Recoding {
        match &self.labels {
            SavedLabels::Global(labels) => self.apply_cut(profile, models, labels),
            SavedLabels::Local(boxes) => self.apply_groups(profile, models, boxes),
        }
    }

    /// How many records of another table have a value that no cell of its column covers, by column; those with none are left
    /// out.
    pub fn uncovered(&self, profile: &Profile) -> Vec<(String, u64)> {
        let covered: Vec<Vec<bool>> = match &self.labels {
            SavedLabels::Global(labels) => {
                let read = self.read_cut(profile, labels);
                read.iter().map(|column| column.iter().map(Option::is_some).collect()).collect()
            }
            SavedLabels::Local(boxes) => {
                // Each column by itself: a box of which another column cannot be read still says what this one may be.
                let column = |(index, column): (usize, &Column)| {
                    let reader = LabelReader::new(&column.domain);
                    let labels: HashSet<&str> = boxes.iter().map(|labels| labels[index].as_str()).collect();
                    let cells: Vec<Cell> = labels.iter().filter_map(|label| self.read(&reader, label)).collect();
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
        columns
            .map(|(index, column)| (column.name.clone(), records(index)))
            .filter(|(_, records)| *records > 0)
            .collect()
    }

    /// What each tuple of another table leaves as, column by column; none where no cell covers it. Nothing is suppressed
    /// for privacy, so this is not for a release: it says how records that no search has seen look to a model.
    pub fn labels(&self, profile: &Profile) -> Vec<Option<Vec<&str>>> {
        let tuples = (0..profile.tuples() as u32).map(|tuple| profile.codes(TupleId(tuple)));
        match &self.labels {
            SavedLabels::Global(labels) => {
                let read = self.read_cut(profile, labels);
                let label = |codes: &[u32], column: usize| Some(read[column][codes[column] as usize]?.1);
                tuples.map(|codes| (0..codes.len()).map(|column| label(codes, column)).collect()).collect()
            }
            SavedLabels::Local(boxes) => {
                let (open, labels): (Vec<Vec<Cell>>, Vec<&Vec<String>>) =
                    self.read_boxes(profile, boxes).into_iter().unzip();
                let index = BoxIndex::new(profile, &open);
                let first = |codes: &[u32]| index.covering(&open, codes).first().map(|&found| labels[found as usize]);
                tuples.map(|codes| Some(first(codes)?.iter().map(String::as_str).collect())).collect()
            }
        }
    }

    /// For each column and code, the smallest cell of the cut that covers it, and how it was released.
    fn read_cut<'a>(&self, profile: &Profile, labels: &'a [Vec<Option<String>>]) -> Vec<Vec<Option<(Cell, &'a str)>>> {
        let of_column = |(column, labels): (&Column, &'a Vec<Option<String>>)| {
            let domain = &column.domain;
            let reader = LabelReader::new(domain);
            let read = |label: &'a Option<String>| {
                let Some(label) = label else { return Some((domain.whole(), ROOT_LABEL)) };
                // Among others, a `*` is not the whole column but the missing values, released as that.
                let star = label == ROOT_LABEL && labels.len() > 1;
                let cell = if star { reader.missing_cell() } else { self.read(&reader, label) };
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

    /// The boxes that can be read, with how they were released, least loss first.
    fn read_boxes<'a>(&self, profile: &Profile, boxes: &'a [Vec<String>]) -> Vec<(Vec<Cell>, &'a Vec<String>)> {
        let readers: Vec<LabelReader<'_>> = profile.columns().iter().map(|c| LabelReader::new(&c.domain)).collect();
        let read = |labels: &'a Vec<String>| -> Option<(Vec<Cell>, &'a Vec<String>)> {
            let cells: Option<Vec<Cell>> =
                readers.iter().zip(labels).map(|(reader, label)| self.read(reader, label)).collect();
            Some((cells?, labels))
        };
        // A box that cannot be read covers none of these records.
        let mut open: Vec<_> = boxes.iter().filter_map(read).collect();
        let loss = |cells: &Vec<Cell>| -> f64 {
            cells.iter().zip(profile.columns()).map(|(cell, column)| column.weight * column.domain.ncp(*cell)).sum()
        };
        open.sort_by(|(a, _), (b, _)| loss(a).total_cmp(&loss(b)).then_with(|| a.cmp(b)));
        open
    }

    /// The cell that prints as this one does: a missing value may be released as `*`, like the whole column.
    fn as_printed(&self, column: &Column, cell: Cell) -> Cell {
        let domain = &column.domain;
        if domain.is_star(cell) && !self.policy.release.prints_group_values(domain.kind()) {
            domain.whole()
        } else {
            cell
        }
    }

    fn apply_cut(&self, profile: &Profile, models: &[Box<dyn BoundModel>], labels: &[Vec<Option<String>>]) -> Recoding {
        let read = self.read_cut(profile, labels);
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
        let prints: Vec<Vec<PrintedCell>> =
            keys.iter().map(|key| key.iter().enumerate().map(print).collect()).collect();
        suppress_violating_groups(profile, models, &prints, &mut assigned);
        let suppressed = (0u32..).zip(&assigned).filter(|(_, group)| group.is_none()).map(|(t, _)| TupleId(t));
        Recoding::Global(Cut { cells, suppressed: suppressed.collect() })
    }

    fn apply_groups(&self, profile: &Profile, models: &[Box<dyn BoundModel>], boxes: &[Vec<String>]) -> Recoding {
        // A record goes to the first box that covers it, where nothing speaks against it.
        let mut open: Vec<Vec<Cell>> = self.read_boxes(profile, boxes).into_iter().map(|(cells, _)| cells).collect();
        let index = BoxIndex::new(profile, &open);
        let prints_group: Vec<bool> = profile
            .columns()
            .iter()
            .map(|column| self.policy.release.prints_group_values(column.domain.kind()))
            .collect();
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

//! Columns that say the same, and columns that follow from others.

use moretta_core::{
    schema::Role,
    text::{listed, shown},
};
use moretta_insight::column_sets::ColumnSets;

use crate::detect::{Decision, Evidence};

/// Records that would disagree by chance if two columns were independent; fewer prove nothing. Not tuned.
const MIN_EVIDENCE: f64 = 20.0;

/// Which columns of the sample determine which: no two records that are equal in one differ in the other.
#[derive(Debug, Default)]
pub(crate) struct Relations {
    /// Pairs of columns, the determining one first; sorted.
    pairs: Vec<(usize, usize)>,
}

impl Relations {
    /// Finds the pairs for which the sample has evidence. Columns without repeated values determine all others, and
    /// every column determines a constant: neither says anything.
    pub fn of(columns: &[Evidence<'_>], sets: &ColumnSets, at_of: &[usize]) -> Self {
        let distinct: Vec<u64> = at_of.iter().map(|&at| sets.distinct(&[at])).collect();
        let is_evident = |from: usize, to: usize| {
            // The most frequent value often is a missing one; one value says nothing about the others.
            let largest = columns[from].look.most.max(columns[from].look.missing);
            let repeated = (sets.records() + 1).saturating_sub(distinct[from] + largest) as f64;
            from != to
                && distinct[from] >= distinct[to]
                && distinct[to] > 1
                && repeated * columns[to].look.diversity >= MIN_EVIDENCE
        };
        let all = (0..columns.len()).flat_map(|from| (0..columns.len()).map(move |to| (from, to)));
        let pairs = all.filter(|&(from, to)| is_evident(from, to) && sets.determines(at_of[from], at_of[to])).collect();
        Self { pairs }
    }

    /// Columns that determine this one.
    pub fn determined_by(&self, to: usize) -> impl Iterator<Item = usize> {
        self.pairs.iter().filter(move |pair| pair.1 == to).map(|pair| pair.0)
    }

    /// Columns that this one determines.
    pub fn determines(&self, from: usize) -> impl Iterator<Item = usize> {
        self.pairs.iter().filter(move |pair| pair.0 == from).map(|pair| pair.1)
    }

    /// Columns that this one determines, without copies of it and those that follow from another of them.
    pub fn directly_determined_by(&self, from: usize) -> impl Iterator<Item = usize> {
        let is_between = move |between: usize, to: usize| {
            between != to && !self.are_copies(between, to) && !self.are_copies(from, between) && self.has(between, to)
        };
        self.determines(from)
            .filter(move |&to| !self.are_copies(from, to))
            .filter(move |&to| !self.determines(from).any(|between| is_between(between, to)))
    }

    fn has(&self, from: usize, to: usize) -> bool {
        self.pairs.binary_search(&(from, to)).is_ok()
    }

    /// Whether two columns determine each other: copies in other words.
    pub fn are_copies(&self, a: usize, b: usize) -> bool {
        self.has(a, b) && self.has(b, a)
    }
}

/// A column whose role was given in doubt takes the role of a column that it discloses: a copy of an identifier
/// identifies, and a code that determines a diagnosis is one. A copy of the class would give the class away as a
/// quasi-identifier, so it is removed.
pub(crate) fn agree_on_roles(decisions: &mut [Decision], columns: &[Evidence<'_>], relations: &Relations) {
    for at in 0..decisions.len() {
        if decisions[at].is_known || decisions[at].role != Role::QuasiIdentifier {
            continue;
        }
        let disclosed: Vec<usize> = relations.determines(at).filter(|&other| decisions[other].is_known).collect();
        let copies = |role: Role| {
            disclosed.iter().find(|&&other| decisions[other].role == role && relations.are_copies(at, other)).copied()
        };
        let identifier = copies(Role::Identifier).or_else(|| copies(Role::Person)).or_else(|| copies(Role::Household));
        let class = copies(Role::Class);
        let sensitive = disclosed.iter().find(|&&other| decisions[other].role == Role::Sensitive).copied();
        let (role, other, says) = match (identifier, class, sensitive) {
            (Some(other), ..) => (Role::Identifier, other, "says the same as"),
            (None, Some(other), _) => (Role::Identifier, other, "says the same as"),
            (None, None, Some(other)) => (Role::Sensitive, other, "determines"),
            _ => continue,
        };
        let end = if role == Role::Identifier { "so it is removed" } else { "which an attacker should not learn" };
        decisions[at].why = format!("it {says} `{}`, {end}", shown(columns[other].name));
        decisions[at].role = role;
    }
}

/// Adds notes with advice: one for each group of copies, at its first column, and one for each column that determines
/// others.
pub(crate) fn note_relations(decisions: &mut [Decision], columns: &[Evidence<'_>], relations: &Relations) {
    let is_kept = |at: usize| is_released(decisions[at].role);
    let copies_of = |at: usize| -> Vec<usize> {
        (0..columns.len()).filter(|&other| is_kept(other) && relations.are_copies(at, other)).collect()
    };
    let is_first = |at: usize| copies_of(at).iter().all(|&other| other > at);
    let names = |list: &[usize]| {
        let names: Vec<String> = list.iter().map(|&at| format!("`{}`", shown(columns[at].name))).collect();
        listed(&names)
    };
    let mut notes: Vec<(usize, String)> = Vec::new();
    for at in (0..columns.len()).filter(|&at| is_kept(at) && is_first(at)) {
        let in_sample = if columns[at].complete { "" } else { " in the sample" };
        let copies = copies_of(at);
        if !copies.is_empty() {
            let (say, them) =
                if copies.len() == 1 { ("says", "it an identifier") } else { ("say", "them identifiers") };
            notes.push((
                at,
                format!(
                    "{} {say} the same as this column{in_sample}, value by value. Each costs precision: make {them}, or \
                     this one.",
                    names(&copies)
                ),
            ));
        }
        let determined: Vec<usize> =
            relations.directly_determined_by(at).filter(|&to| is_kept(to) && is_first(to)).collect();
        if !determined.is_empty() {
            let (follows, adds, them) = match determined.len() {
                1 => ("follows", "it adds", "it an identifier, or use its values as a level"),
                _ => ("follow", "they add", "them identifiers, or use their values as levels"),
            };
            notes.push((
                at,
                format!(
                    "{} {follows} from this column{in_sample}, so {adds} nothing: make {them} of a hierarchy of this one.",
                    names(&determined)
                ),
            ));
        }
    }
    for (at, note) in notes {
        decisions[at].notes.push(note);
    }
}

fn is_released(role: Role) -> bool {
    matches!(role, Role::QuasiIdentifier | Role::Sensitive | Role::Class | Role::Insensitive)
}

//! Sensitive and class columns: what their values are, and which texts mean the same one.

use hashbrown::{HashMap, HashSet};

use super::{first_by_record, infer_kind};
use crate::{
    counts::CountedColumn,
    declaration::{ColumnPolicy, Declaration},
    hierarchy::{DomainError, DomainProblem, Tree, ValueParser},
    schema::{Kind, Role},
};

/// A sensitive or class column of a profile: left as it is, so its values are plain texts.
#[derive(Debug, Clone)]
pub struct Attribute {
    /// Its name.
    pub name: String,
    /// [`Role::Sensitive`] or [`Role::Class`].
    pub role: Role,
    /// Distinct values by code, each as its shortest text: numbers and dates in order, categories in order of the
    /// hierarchy or the alphabet.
    pub values: Vec<Box<str>>,
    /// The numbers (of dates, the seconds) by code, where all values have one.
    pub numbers: Option<Vec<f64>>,
    /// The hierarchy, whose leaves in order are the values that occur.
    pub tree: Option<Tree>,
    parser: ValueParser,
    /// Every text that stands for a value.
    codes: HashMap<Box<str>, u32>,
}

impl Attribute {
    /// Whether values are numbers, dates or names.
    pub fn kind(&self) -> Kind {
        self.parser.kind()
    }

    /// How its texts are read.
    pub fn parser(&self) -> &ValueParser {
        &self.parser
    }

    /// The code of the value that a text stands for; none where it does not occur.
    pub fn code(&self, text: &str) -> Option<u32> {
        let number = |text: &str| self.kind().is_ordered() && self.parser.number(text).is_ok();
        let same = |known: &str| number(known) && number(text) && self.parser.compare(known, text).is_eq();
        let written_differently = || self.values.iter().position(|known| same(known)).map(|code| code as u32);
        self.codes.get(text).copied().or_else(written_differently)
    }

    pub(super) fn bind(
        policy: &impl Declaration,
        counted: &CountedColumn,
        declared: &ColumnPolicy,
        tree: Option<&Tree>,
        missing: &[bool],
    ) -> Result<(Self, Vec<u32>), DomainError> {
        // A hierarchy gives the values their order and their distances, even where they are digits.
        let by_tree = tree.map(|_| Kind::Category);
        let kind = declared.kind.or(by_tree).unwrap_or_else(|| infer_kind(declared, counted, missing));
        let parser = declared.parser(kind);
        let mut own_tree = None;
        let order = match (kind, tree) {
            (Kind::Number | Kind::Date, _) => order_of_numbers(counted, missing, &parser)?,
            (Kind::Category, None) => {
                let mut order: Vec<usize> = (0..counted.values.len()).collect();
                order.sort_by_key(|&raw| (missing[raw], &counted.values[raw]));
                order
            }
            (Kind::Category, Some(tree)) => {
                let (order, pruned) = order_of_leaves(counted, missing, tree)?;
                own_tree = Some(pruned);
                order
            }
        };
        // Equal numbers and dates are one value however they are written, and so are all ways to say that there is none:
        // otherwise `1` and `1.0` would pass for two different values.
        let text = |raw: usize| &counted.values[raw];
        let same = |a: usize, b: usize| match (missing[a], missing[b]) {
            (false, false) => kind.is_ordered() && parser.compare(text(a), text(b)).is_eq(),
            (a, b) => a && b,
        };
        let (mut map, mut representatives): (Vec<u32>, Vec<usize>) = (vec![0; order.len()], Vec::new());
        for &raw in &order {
            if representatives.last().is_none_or(|&representative| !same(representative, raw)) {
                representatives.push(raw);
            }
            map[raw] = representatives.len() as u32 - 1;
        }
        let mut codes: HashMap<Box<str>, u32> = order.iter().map(|&raw| (text(raw).clone(), map[raw])).collect();
        if let Some(raw) = missing.iter().position(|missing| *missing) {
            codes.extend(policy.input().missing.iter().map(|text| (text.as_str().into(), map[raw])));
        }
        let number = |&raw: &usize| parser.number(text(raw)).ok().filter(|_| kind.is_ordered() && !missing[raw]);
        let numbers = representatives.iter().map(number).collect();
        let values = representatives.iter().map(|&raw| text(raw).clone()).collect();
        let attribute =
            Self { name: declared.name.clone(), role: declared.role, values, numbers, tree: own_tree, parser, codes };
        Ok((attribute, map))
    }
}

/// Raw codes by size, the shortest text of a number or date first, then the missing ones.
fn order_of_numbers(
    counted: &CountedColumn,
    missing: &[bool],
    parser: &ValueParser,
) -> Result<Vec<usize>, DomainError> {
    let parsed: Vec<_> = counted.values.iter().map(|text| parser.number(text)).collect();
    if let Some(raw) = first_by_record(counted, |raw| !missing[raw] && parsed[raw].is_err()) {
        return Err(DomainError::of_value(counted, raw, parsed[raw].clone().expect_err("just seen")));
    }
    let size = |raw: usize| if missing[raw] { f64::INFINITY } else { parsed[raw].clone().unwrap_or(f64::INFINITY) };
    let exact = |a: usize, b: usize| match missing[a] || missing[b] {
        true => missing[a].cmp(&missing[b]),
        false => parser.compare(&counted.values[a], &counted.values[b]),
    };
    let text = |raw: usize| (counted.values[raw].len(), &counted.values[raw]);
    let mut order: Vec<usize> = (0..counted.values.len()).collect();
    order.sort_by(|&a, &b| size(a).total_cmp(&size(b)).then_with(|| exact(a, b)).then_with(|| text(a).cmp(&text(b))));
    Ok(order)
}

/// Raw codes in order of the hierarchy's leaves, and the hierarchy of the values that occur. A missing value has the
/// hierarchy's leaf for it, or one of its own at the far right.
fn order_of_leaves(counted: &CountedColumn, missing: &[bool], tree: &Tree) -> Result<(Vec<usize>, Tree), DomainError> {
    let leaves: HashMap<&str, u32> =
        (0..tree.leaf_count() as u32).map(|code| (tree.label(tree.leaf(code)), code)).collect();
    let leaf = |raw: usize| leaves.get(&*counted.values[raw]).copied();
    if let Some(raw) = first_by_record(counted, |raw| !missing[raw] && leaf(raw).is_none()) {
        let value = counted.values[raw].to_string();
        return Err(DomainError::of_value(counted, raw, DomainProblem::NotInHierarchy { value }));
    }
    let missing_leaf = (0..missing.len()).filter(|&raw| missing[raw]).filter_map(leaf).min();
    let place = |raw: usize| if missing[raw] { missing_leaf } else { leaf(raw) };
    let mut order: Vec<usize> = (0..counted.values.len()).collect();
    order.sort_by_key(|&raw| (place(raw).unwrap_or(u32::MAX), counted.values[raw].len(), &counted.values[raw]));
    let occurring: HashSet<u32> = order.iter().filter_map(|&raw| place(raw)).collect();
    let pruned = tree.retain_leaves(|code| occurring.contains(&code));
    let extra = order.iter().find(|&&raw| place(raw).is_none());
    let pruned = extra.map_or_else(|| pruned.clone(), |&raw| pruned.with_extra_leaf(counted.values[raw].clone()));
    Ok((order, pruned))
}

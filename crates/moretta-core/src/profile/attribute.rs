//! Sensitive and class columns: their distinct values, and the texts that mean the same value.

use hashbrown::{HashMap, HashSet};

use super::{first_by_record, infer_kind};
use crate::{
    counts::CountedColumn,
    declaration::{ColumnPolicy, Declaration},
    hierarchy::{DomainError, DomainProblem, Tree, ValueParser},
    schema::{Kind, Role},
};

/// A sensitive or class column of a profile. It is released unchanged, so its values are plain texts.
#[derive(Debug, Clone)]
pub struct Attribute {
    /// Name of the column.
    pub name: String,
    /// [`Role::Sensitive`] or [`Role::Class`].
    pub role: Role,
    /// Distinct values by code, each as its shortest text: numbers and dates ascending, categories in the order of the
    /// hierarchy or the alphabet, missing values last.
    pub values: Vec<Box<str>>,
    /// Number (seconds for dates) by code; `None` unless every value has one.
    pub numbers: Option<Vec<f64>>,
    /// The hierarchy, pruned to the values that occur: its leaves in order are `values`.
    pub tree: Option<Tree>,
    parser: ValueParser,
    /// Code by text, for every text that occurs or means a missing value.
    codes: HashMap<Box<str>, u32>,
}

impl Attribute {
    /// Whether values are numbers, dates or names.
    pub fn kind(&self) -> Kind {
        self.parser.kind()
    }

    /// Parser of the column's texts.
    pub fn parser(&self) -> &ValueParser {
        &self.parser
    }

    /// Code of the value that a text means, however it is written; `None` if the value does not occur.
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
        // With a hierarchy, values are categories even if they are digits: the tree defines their order and distances.
        let by_tree = tree.map(|_| Kind::Category);
        let kind = declared.kind.or(by_tree).unwrap_or_else(|| infer_kind(declared, counted, missing));
        let parser = declared.parser(kind);
        let mut pruned = None;
        let order = match (kind, tree) {
            (Kind::Number | Kind::Date, _) => number_order(counted, missing, &parser)?,
            (Kind::Category, None) => {
                let mut order: Vec<usize> = (0..counted.values.len()).collect();
                order.sort_by_key(|&raw| (missing[raw], &counted.values[raw]));
                order
            }
            (Kind::Category, Some(tree)) => {
                let (order, tree) = leaf_order(counted, missing, tree)?;
                pruned = Some(tree);
                order
            }
        };
        // Texts that mean the same number or date are one value, and so are all texts for a missing value: otherwise
        // `1` and `1.0` would count as two distinct sensitive values.
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
            Self { name: declared.name.clone(), role: declared.role, values, numbers, tree: pruned, parser, codes };
        Ok((attribute, map))
    }
}

/// Raw codes in ascending order of their numbers, shortest text first, missing values last.
fn number_order(counted: &CountedColumn, missing: &[bool], parser: &ValueParser) -> Result<Vec<usize>, DomainError> {
    let parsed: Vec<_> = counted.values.iter().map(|text| parser.number(text)).collect();
    if let Some(raw) = first_by_record(counted, |raw| !missing[raw] && parsed[raw].is_err()) {
        return Err(DomainError::of_value(counted, raw, parsed[raw].clone().expect_err("just seen")));
    }
    let size = |raw: usize| if missing[raw] { f64::INFINITY } else { parsed[raw].clone().unwrap_or(f64::INFINITY) };
    let exact = |a: usize, b: usize| {
        if missing[a] || missing[b] {
            missing[a].cmp(&missing[b])
        } else {
            parser.compare(&counted.values[a], &counted.values[b])
        }
    };
    let text = |raw: usize| (counted.values[raw].len(), &counted.values[raw]);
    let mut order: Vec<usize> = (0..counted.values.len()).collect();
    order.sort_by(|&a, &b| size(a).total_cmp(&size(b)).then_with(|| exact(a, b)).then_with(|| text(a).cmp(&text(b))));
    Ok(order)
}

/// Raw codes in the order of the hierarchy's leaves, and the hierarchy pruned to the values that occur. A missing value
/// has the hierarchy's leaf for it, or an extra leaf at the far right.
fn leaf_order(counted: &CountedColumn, missing: &[bool], tree: &Tree) -> Result<(Vec<usize>, Tree), DomainError> {
    let leaves: HashMap<&str, u32> = tree.leaf_labels().zip(0..).collect();
    let leaf = |raw: usize| leaves.get(&*counted.values[raw]).copied();
    if let Some(raw) = first_by_record(counted, |raw| !missing[raw] && leaf(raw).is_none()) {
        let value = counted.values[raw].to_string();
        return Err(DomainError::of_value(counted, raw, DomainProblem::NotInHierarchy { value }));
    }
    let missing_leaf = (0..missing.len()).filter(|&raw| missing[raw]).filter_map(leaf).min();
    let leaf_of = |raw: usize| if missing[raw] { missing_leaf } else { leaf(raw) };
    let mut order: Vec<usize> = (0..counted.values.len()).collect();
    order.sort_by_key(|&raw| (leaf_of(raw).unwrap_or(u32::MAX), counted.values[raw].len(), &counted.values[raw]));
    let occurring: HashSet<u32> = order.iter().filter_map(|&raw| leaf_of(raw)).collect();
    let pruned = tree.retain_leaves(|code| occurring.contains(&code));
    let extra = order.iter().find(|&&raw| leaf_of(raw).is_none());
    let pruned = extra.map_or_else(|| pruned.clone(), |&raw| pruned.with_extra_leaf(counted.values[raw].clone()));
    Ok((order, pruned))
}

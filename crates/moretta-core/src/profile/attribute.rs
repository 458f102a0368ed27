//! Sensitive and class columns: their distinct values, and the texts that mean the same value.

use std::{borrow::Cow, cmp::Reverse};

use hashbrown::{HashMap, HashSet};

use super::{ReadValues, first_by_record, fold::fold};
use crate::{
    counts::CountedColumn,
    declaration::{ColumnPolicy, Declaration},
    hierarchy::{DomainError, DomainProblem, Tree, ValueParser},
    memory,
    notation::Notation,
    observer::Note,
    schema::{Kind, Role},
};

/// A sensitive or class column of a profile. It is released unchanged, so its values are plain texts.
#[derive(Debug, Clone)]
pub struct Attribute {
    /// Name of the column.
    pub name: String,
    /// [`Role::Sensitive`] or [`Role::Class`].
    pub role: Role,
    /// Distinct values by code, each as its most frequent spelling: numbers and dates ascending, categories in the
    /// order of the hierarchy or the alphabet, missing values last.
    pub values: Vec<Box<str>>,
    /// Number (seconds for dates) by code; `None` unless every value has one.
    pub numbers: Option<Vec<f64>>,
    /// The hierarchy, pruned to the values that occur: its leaves in order are those of `values`.
    pub tree: Option<Tree>,
    parser: ValueParser,
    /// Notation of the numbers in [`values`](Self::values): plain in a number column.
    pub notation: Notation,
    /// Notation of the numbers that a policy names.
    policy_notation: Notation,
    spelling: Spelling,
    /// Number of distinct texts and of values, missing ones aside, if texts were folded.
    folded: Option<(usize, usize)>,
    /// Every text with its records, sorted, if texts were folded; otherwise empty.
    spellings: Vec<(Box<str>, u64)>,
    /// Code by key, for every text that occurs or means a missing value.
    codes: HashMap<Box<str>, u32>,
}

/// Which texts of a column are one value, apart from numbers and dates in a column of such.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spelling {
    /// Every text is a value.
    Exact,
    /// Spellings of one value count as one; numbers are in this notation.
    Folded(Notation),
}

impl Spelling {
    /// Which texts a column's declaration takes together; in a quasi-identifier none. Texts that are not read as numbers
    /// are released as they are, so that also in a release their numbers are in the notation of the input.
    pub(super) fn of(policy: &impl Declaration, declared: &ColumnPolicy, typed: bool) -> Self {
        let notation = if typed { Notation::PLAIN } else { policy.input().notation() };
        if declared.fold && declared.role != Role::QuasiIdentifier { Self::Folded(notation) } else { Self::Exact }
    }

    /// Texts with the same key are one value.
    pub(super) fn key(self, text: &str) -> Cow<'_, str> {
        match self {
            Self::Exact => Cow::Borrowed(text),
            Self::Folded(notation) => Cow::Owned(fold(text, notation)),
        }
    }
}

/// Refuses a released column whose texts are all numbers in the notation of the input, and not in that of the release:
/// read as categories, `1,5` and `1,50` would be two values for every model.
fn check_notation(
    counted: &CountedColumn,
    missing: &[bool],
    (input, release): (Notation, Notation),
) -> Result<(), DomainError> {
    let is_read = |notation: Notation, raw: usize| notation.number(&counted.values[raw]).is_some();
    let is_of_input = (0..missing.len()).all(|raw| missing[raw] || is_read(input, raw));
    match first_by_record(counted, |raw| !missing[raw] && !is_read(release, raw)) {
        Some(raw) if is_of_input => {
            let value = counted.values[raw].to_string();
            Err(DomainError::of_value(counted, raw, DomainProblem::InputNotation { value, release }))
        }
        _ => Ok(()),
    }
}

impl Attribute {
    /// Whether values are numbers, dates or names.
    pub fn kind(&self) -> Kind {
        self.parser.kind()
    }

    /// Bytes of the heap that the column takes.
    pub(super) fn bytes(&self) -> u64 {
        let values = self.values.len() as u64;
        let codes = memory::hash_table(self.codes.len() as u64, 24);
        let known = memory::texts(self.codes.keys().map(|text| &**text)) - 16 * self.codes.len() as u64;
        let tree = self.tree.as_ref().map_or(0, Tree::bytes);
        let spellings = memory::texts(self.spellings.iter().map(|(text, _)| &**text)) + 8 * self.spellings.len() as u64;
        memory::texts(self.values.iter().map(|text| &**text)) + 8 * values + codes + known + spellings + tree
    }

    /// Every text with its records, sorted, if several are spellings of one value; otherwise empty, because the values
    /// are the texts.
    pub(crate) fn spellings(&self) -> &[(Box<str>, u64)] {
        &self.spellings
    }

    /// Parser of the column's texts.
    pub fn parser(&self) -> &ValueParser {
        &self.parser
    }

    /// Note that texts of the column count as one value; `None` if every text of a category column is a value.
    pub fn folded(&self) -> Option<Note> {
        let (spellings, values) = self.folded?;
        Some(Note::Folded { column: self.name.clone(), spellings, values })
    }

    /// Code of a value that a policy names, in the notation of the input; `None` if it does not occur.
    pub fn code_of_named(&self, text: &str) -> Option<u32> {
        self.code_in(text, self.policy_notation)
    }

    /// Code of a text whose numbers are in a notation; `None` if it does not occur.
    pub fn code_in(&self, text: &str, notation: Notation) -> Option<u32> {
        if self.kind() != Kind::Number || notation.is_plain() {
            return self.code(text);
        }
        // The text of a missing value is no number in this notation.
        self.code(&notation.label(text)?)
    }

    /// A value as a policy names it: the reverse of [`code_of_named`](Self::code_of_named).
    pub fn named(&self, code: u32) -> Cow<'_, str> {
        let value = &self.values[code as usize];
        if self.kind() == Kind::Number { self.policy_notation.write(value) } else { Cow::Borrowed(value) }
    }

    /// Code of the value that a text of a profile means, however it is written; `None` if the value does not occur.
    pub fn code(&self, text: &str) -> Option<u32> {
        let number = |text: &str| self.kind().is_ordered() && self.parser.number(text).is_ok();
        let same = |known: &str| number(known) && number(text) && self.parser.compare(known, text).is_eq();
        let written_differently = || self.values.iter().position(|known| same(known)).map(|code| code as u32);
        self.codes.get(&*self.spelling.key(text)).copied().or_else(written_differently)
    }

    /// Returns the column and, for each raw code, the code in the column. `records` returns the records per raw code.
    pub(super) fn bind(
        policy: &impl Declaration,
        (counted, notation): (&CountedColumn, Notation),
        declared: &ColumnPolicy,
        tree: Option<&Tree>,
        missing: &[bool],
        records: impl FnOnce() -> Vec<u64>,
    ) -> Result<(Self, Vec<u32>), DomainError> {
        let input = policy.input().notation();
        if notation != input && !counted.typed && declared.kind.is_none() {
            check_notation(counted, missing, (input, notation))?;
        }
        // With a hierarchy, values are categories even if they are digits: the tree defines their order and distances.
        let by_tree = tree.map(|_| Kind::Category);
        let ReadValues { kind, counted } = ReadValues::of(declared, by_tree, (counted, missing), notation)?;
        let counted = &*counted;
        let parser = declared.parser(kind);
        // A number or a date that can be parsed has no spelling that is not recognized as such.
        let is_category = kind == Kind::Category;
        let spelling = if is_category { Spelling::of(policy, declared, counted.typed) } else { Spelling::Exact };
        let missing_keys: Vec<Cow<'_, str>> = policy.missing_texts(declared).map(|text| spelling.key(text)).collect();
        let classes = match kind {
            Kind::Number | Kind::Date => Classes::of_numbers(counted, missing, &parser)?,
            Kind::Category => {
                let keys: Vec<Cow<'_, str>> = counted.values.iter().map(|text| spelling.key(text)).collect();
                Classes::of_keys(&keys, |raw| missing[raw])
            }
        };
        // Counting the records per text costs a pass over the rows, so it is done only if there is a choice.
        let has_choice = classes.len < counted.values.len();
        let records = if has_choice { records() } else { vec![0; counted.values.len()] };
        let mut representatives = classes.representatives(counted, &records);
        let (mut order, mut pruned): (Vec<usize>, _) = ((0..representatives.len()).collect(), None);
        match (kind, tree) {
            (Kind::Number | Kind::Date, _) => {}
            (Kind::Category, None) => {
                order.sort_by_key(|&class| (classes.missing == Some(class), &counted.values[representatives[class]]));
            }
            (Kind::Category, Some(tree)) => {
                let leaves = leaves_by_key(tree, spelling).map_err(|problem| DomainError {
                    column: counted.name.clone(),
                    record: None,
                    in_hierarchy: true,
                    problem,
                })?;
                let leaf = |raw: usize| leaves.get(&*spelling.key(&counted.values[raw])).copied();
                let leaf_of_class = classes.leaves(counted, leaf)?;
                order.sort_by_key(|&class| leaf_of_class[class].unwrap_or(u32::MAX));
                let occurring: HashSet<u32> = leaf_of_class.iter().flatten().copied().collect();
                let kept = tree.retain_leaves(|code| occurring.contains(&code));
                // A missing value without a leaf has an extra one at the far right.
                let extra = leaf_of_class.iter().position(Option::is_none);
                let text = |class: usize| counted.values[representatives[class]].clone();
                pruned = Some(extra.map_or_else(|| kept.clone(), |class| kept.with_extra_leaf(text(class))));
            }
        }
        let mut code_of_class = vec![0; order.len()];
        (0u32..).zip(&order).for_each(|(code, &class)| code_of_class[class] = code);
        let map: Vec<u32> = classes.of_raw.iter().map(|&class| code_of_class[class]).collect();
        representatives = order.iter().map(|&class| representatives[class]).collect();
        let text = |raw: usize| &counted.values[raw];
        let mut codes: HashMap<Box<str>, u32> =
            (0..map.len()).map(|raw| (spelling.key(text(raw)).into(), map[raw])).collect();
        let missing_code = classes.missing.map(|class| code_of_class[class]);
        codes.extend(missing_keys.into_iter().filter_map(|key| Some((key.into(), missing_code?))));
        let is_number = |raw: usize| kind.is_ordered() && Some(map[raw]) != missing_code;
        let number = |&raw: &usize| parser.number(text(raw)).ok().filter(|_| is_number(raw));
        let numbers = representatives.iter().map(number).collect();
        let values = representatives.iter().map(|&raw| text(raw).clone()).collect();
        let folded = matches!(spelling, Spelling::Folded(_)).then(|| classes.spellings_and_values());
        let folded = folded.filter(|(spellings, values)| spellings > values);
        let (name, role) = (declared.name.clone(), declared.role);
        let mut spellings: Vec<(Box<str>, u64)> = Vec::new();
        if folded.is_some() {
            spellings.extend(counted.values.iter().cloned().zip(records));
            spellings.sort_unstable();
        }
        let attribute = Self {
            name,
            role,
            values,
            numbers,
            tree: pruned,
            parser,
            notation: if kind == Kind::Number { Notation::PLAIN } else { notation },
            policy_notation: policy.input().notation(),
            spelling,
            folded,
            spellings,
            codes,
        };
        Ok((attribute, map))
    }
}

/// Texts of a column, divided into classes of one value each.
struct Classes {
    /// By raw code.
    of_raw: Vec<usize>,
    /// Number of classes.
    len: usize,
    /// Class of the missing value; `None` if no value is missing.
    missing: Option<usize>,
}

impl Classes {
    /// Texts with the same key, and all missing ones, are one class.
    fn of_keys(keys: &[Cow<'_, str>], is_missing: impl Fn(usize) -> bool) -> Self {
        let mut known: HashMap<Option<&str>, usize> = HashMap::new();
        let mut class = |raw: usize| {
            let next = known.len();
            *known.entry((!is_missing(raw)).then_some(&*keys[raw])).or_insert(next)
        };
        let of_raw = (0..keys.len()).map(&mut class).collect();
        Self { of_raw, len: known.len(), missing: known.get(&None).copied() }
    }

    /// Texts that mean the same number or date are one class, in ascending order; that of missing values is the last.
    fn of_numbers(counted: &CountedColumn, missing: &[bool], parser: &ValueParser) -> Result<Self, DomainError> {
        let same = |a: usize, b: usize| match (missing[a], missing[b]) {
            (false, false) => parser.compare(&counted.values[a], &counted.values[b]).is_eq(),
            (a, b) => a && b,
        };
        let mut classes = Self { of_raw: vec![0; counted.values.len()], len: 0, missing: None };
        let mut last: Option<usize> = None;
        for raw in number_order(counted, missing, parser)? {
            classes.len += usize::from(!last.is_some_and(|last| same(last, raw)));
            classes.of_raw[raw] = classes.len - 1;
            last = Some(raw);
        }
        classes.missing = missing.iter().position(|missing| *missing).map(|raw| classes.of_raw[raw]);
        Ok(classes)
    }

    /// Raw code of the spelling that represents each class: the most frequent one; of several, the shortest.
    fn representatives(&self, counted: &CountedColumn, records: &[u64]) -> Vec<usize> {
        let mut representatives: Vec<Option<usize>> = vec![None; self.len];
        let rank = |raw: usize| (Reverse(records[raw]), counted.values[raw].len(), &counted.values[raw]);
        for (raw, &class) in self.of_raw.iter().enumerate() {
            let known = &mut representatives[class];
            *known = known.filter(|known| rank(*known) < rank(raw)).or(Some(raw));
        }
        representatives.into_iter().flatten().collect()
    }

    /// Leaf of each class; `None` if it is missing and has none. An error if another value has no leaf.
    fn leaves(
        &self,
        counted: &CountedColumn,
        leaf: impl Fn(usize) -> Option<u32>,
    ) -> Result<Vec<Option<u32>>, DomainError> {
        let is_missing = |raw: usize| Some(self.of_raw[raw]) == self.missing;
        if let Some(raw) = first_by_record(counted, |raw| !is_missing(raw) && leaf(raw).is_none()) {
            let value = counted.values[raw].to_string();
            return Err(DomainError::of_value(counted, raw, DomainProblem::NotInHierarchy { value }));
        }
        let mut leaves: Vec<Option<u32>> = vec![None; self.len];
        for (raw, &class) in self.of_raw.iter().enumerate() {
            leaves[class] = leaves[class].into_iter().chain(leaf(raw)).min();
        }
        Ok(leaves)
    }

    /// Number of texts and of classes, missing ones aside.
    fn spellings_and_values(&self) -> (usize, usize) {
        let present = self.of_raw.iter().filter(|class| Some(**class) != self.missing).count();
        (present, self.len - usize::from(self.missing.is_some()))
    }
}

/// Leaf codes of a hierarchy by key. An error if two leaves are spellings of one value.
fn leaves_by_key(tree: &Tree, spelling: Spelling) -> Result<HashMap<Cow<'_, str>, u32>, DomainProblem> {
    let mut leaves: HashMap<Cow<'_, str>, u32> = HashMap::new();
    for (label, code) in tree.leaf_labels().zip(0..) {
        if let Some(other) = leaves.insert(spelling.key(label), code) {
            let (value, other) = (label.to_owned(), tree.label(tree.leaf(other)).to_owned());
            return Err(DomainProblem::SpelledTwice { value, other });
        }
    }
    Ok(leaves)
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

#[cfg(test)]
mod tests {
    use crate::{
        hierarchy::{DomainProblem, Hierarchies, file},
        observer::Note,
        policy::Policy,
        profile::Profile,
        search::method_names,
        testing::{TestTable, counts},
        verify::{Judgement, check_against},
    };

    const COLUMNS: &str = "[columns.a]\nrole = \"quasi-identifier\"\n[columns.s]\nrole = \"sensitive\"\n";

    /// Blanks beside a missing text would make a group diverse.
    #[test]
    fn a_spelling_of_a_missing_text_is_missing() {
        let bound = |declared: &str, rows: &[(&str, u64)]| {
            let text = format!("version = 1\nprivacy.k = 2\n{COLUMNS}{declared}");
            let policy = Policy::parse(&text, &method_names()).unwrap();
            let counts = counts(&policy, rows);
            let profile = Profile::build(&policy, &Hierarchies::default(), &counts);
            profile.map(|profile| profile.attributes()[0].values.len()).map_err(|error| error.problem)
        };
        let rows = [("1,HIV", 2), ("1, ", 1), ("1, ?", 1)];
        assert_eq!(bound("", &rows), Err(DomainProblem::Missing { records: 2 }));
        assert_eq!(bound("missing = \"category\"\n", &rows), Ok(2));
        assert_eq!(bound("fold = false\n", &rows), Ok(3));
        assert_eq!(bound("", &[("1,5", 2), ("1, ", 1)]), Err(DomainProblem::Missing { records: 1 }));
    }

    #[test]
    fn the_most_frequent_spelling_represents_a_value() {
        let policy = format!("privacy.k = 2\n{COLUMNS}missing = \"category\"\n");
        let rows = [
            ("1,hiv", 1),
            ("1,HIV ", 2),
            ("1,HIV", 3),
            ("1,flu", 1),
            ("1, Flu", 1),
            ("1,?", 1),
            ("1, ? ", 2),
            ("1,", 1),
        ];
        let table = TestTable::new(&policy, &[], &rows);
        let attribute = &table.profile.attributes()[0];
        assert_eq!(attribute.values, ["HIV", "flu", " ? "].map(Into::into));
        assert_eq!(attribute.folded(), Some(Note::Folded { column: "s".into(), spellings: 5, values: 2 }));
        for (text, code) in [("hIV", 0), ("FLU\u{a0}", 1), ("?", 2), ("", 2), (" ", 2)] {
            assert_eq!(attribute.code(text), Some(code), "{text:?}");
        }
        assert_eq!(attribute.code("cold"), None);
        // Without folding every text is a value, but all texts of a missing value are still one.
        let exact = TestTable::new(&format!("{policy}fold = false\n"), &[], &rows);
        let attribute = &exact.profile.attributes()[0];
        assert_eq!(attribute.values, [" ? ", " Flu", "HIV", "HIV ", "flu", "hiv", ""].map(Into::into));
        assert_eq!((attribute.folded(), attribute.code("hIV")), (None, None));
    }

    #[test]
    fn one_code_among_numbers_does_not_distinguish_their_spellings() {
        let rows = [("1,1000", 2), ("1,1000.0", 1), ("1,01000", 1), ("1,+1e3", 1), ("1,n/a", 1), ("1,2000", 1)];
        let table = TestTable::new(&format!("privacy.k = 2\n{COLUMNS}"), &[], &rows);
        assert_eq!(table.profile.attributes()[0].values, ["1000", "2000", "n/a"].map(Into::into));
        assert_eq!(table.profile.attributes()[0].numbers, None);
    }

    fn judged(model: &str, more: &str, rows: &[(&str, u64)]) -> Vec<(bool, usize, String)> {
        let policy = format!("[privacy]\nmax-suppressed = 0\n{model}\n{COLUMNS}{more}");
        // The hierarchy needs every text as a leaf only if spellings are distinguished.
        let folded = "HIV;viral;*\nflu;viral;*\nulcer;other;*";
        let exact = format!("{folded}\n\"hiv \";viral;*\nFLU;other;*");
        let tree = [("s", if more.contains("false") { exact.as_str() } else { folded })];
        let trees = if model.contains("hierarchical") { &tree[..] } else { &[] };
        let table = TestTable::new(&policy, trees, rows);
        let told = |judgement: Judgement| {
            (judgement.holds, judgement.failing_groups, format!("{:.9}", judgement.worst_figure))
        };
        check_against(&table.profile, &table.models).into_iter().map(told).collect()
    }

    #[test]
    fn no_model_distinguishes_spellings() {
        let spelled =
            [("1,HIV", 2), ("1,hiv ", 2), ("1,flu", 1), ("1,ulcer", 1), ("2,HIV", 1), ("2,FLU", 4), ("2,ulcer", 3)];
        let plain = [("1,HIV", 4), ("1,flu", 1), ("1,ulcer", 1), ("2,HIV", 1), ("2,flu", 4), ("2,ulcer", 3)];
        for model in [
            "[[privacy.l-diversity]]\ncolumn = \"s\"\nl = 4",
            "[[privacy.l-diversity]]\ncolumn = \"s\"\nl = 1.7\nkind = \"entropy\"",
            "[[privacy.l-diversity]]\ncolumn = \"s\"\nl = 2\nc = 3\nkind = \"recursive\"",
            "[[privacy.t-closeness]]\ncolumn = \"s\"\nt = 0.3\ndistance = \"equal\"",
            "[[privacy.t-closeness]]\ncolumn = \"s\"\nt = 0.3\ndistance = \"hierarchical\"",
            "[[privacy.template]]\ngiven = [\"a\"]\ncolumn = \"s\"\nvalues = [\"Hiv\"]\nmax-confidence = 0.5",
            "[[privacy.template]]\ngiven = [\"a\"]\ncolumn = \"s\"\nrarest = 0.34\nmax-confidence = 0.5",
            "[privacy.lkc]\nl = 1\nk = 2\nc = 0.5",
            "[[privacy.delta-disclosure]]\ncolumn = \"s\"\ndelta = 1.0",
        ] {
            let hierarchy = if model.contains("hierarchical") { "hierarchy = \"s.csv\"\n" } else { "" };
            let (folded, exact) = (hierarchy.to_owned(), format!("{hierarchy}fold = false\n"));
            assert_eq!(judged(model, &folded, &spelled), judged(model, &folded, &plain), "{model}");
            assert_ne!(judged(model, &exact, &spelled), judged(model, &folded, &plain), "{model}");
        }
    }

    #[test]
    fn a_hierarchy_has_each_value_once_however_it_is_spelled() {
        let built = |more: &str, tree: &str| {
            let text = format!("version = 1\nprivacy.k = 2\n{COLUMNS}hierarchy = \"s.csv\"\n{more}");
            let policy = Policy::parse(&text, &method_names()).unwrap();
            let trees = Hierarchies::from_iter([("s".to_owned(), file::parse(tree).unwrap())]);
            let counts = counts(&policy, &[("1,hiv", 1), ("1,HIV", 1)]);
            Profile::build(&policy, &trees, &counts).map(|profile| profile.attributes()[0].values.len())
        };
        assert_eq!(built("", "Hiv;viral;*\nflu;viral;*"), Ok(1));
        let twice = built("", "HIV;viral;*\nhiv;other;*").unwrap_err();
        let problem = DomainProblem::SpelledTwice { value: "hiv".into(), other: "HIV".into() };
        assert_eq!((twice.in_hierarchy, twice.problem), (true, problem));
        assert_eq!(built("fold = false", "HIV;viral;*\nhiv;other;*"), Ok(2));
        let absent = built("fold = false", "Hiv;viral;*\nhiv;other;*").unwrap_err();
        assert_eq!(absent.problem, DomainProblem::NotInHierarchy { value: "HIV".into() });
    }
}

//! The type of a column, and its numbers in plain notation.

use std::borrow::Cow;

use super::first_by_record;
use crate::{
    counts::CountedColumn,
    dates::Moment,
    declaration::ColumnPolicy,
    hierarchy::{DomainError, DomainProblem, HierarchyChoice, parse_number},
    notation::Notation,
    schema::Kind,
};

/// The values of a column, read in the notation of the table.
pub(super) struct ReadValues<'a> {
    pub(super) kind: Kind,
    /// The column; in a number column the texts are in plain notation, but for missing ones.
    pub(super) counted: Cow<'a, CountedColumn>,
}

impl<'a> ReadValues<'a> {
    /// Reads the values of a column. Its type is the declared one, that which its hierarchy implies, or inferred. Texts
    /// that are no numbers in the notation are refused in a number column, also if they would be numbers in plain
    /// notation.
    pub(super) fn of(
        declared: &ColumnPolicy,
        implied: Option<Kind>,
        (counted, missing): (&'a CountedColumn, &[bool]),
        notation: Notation,
    ) -> Result<Self, DomainError> {
        let as_written = |kind| Self { kind, counted: Cow::Borrowed(counted) };
        let known = declared.kind.or(implied);
        if notation.is_plain() || known.is_some_and(|kind| kind != Kind::Number) {
            return Ok(as_written(known.unwrap_or_else(|| infer_kind(declared, counted, missing))));
        }
        let mut plain = counted.clone();
        let mut unread = vec![false; plain.values.len()];
        for ((text, unread), _) in
            plain.values.iter_mut().zip(&mut unread).zip(missing).filter(|(_, missing)| !**missing)
        {
            match notation.number(text) {
                Some(number) => *text = number.into(),
                None => *unread = true,
            }
        }
        let kind = known.unwrap_or_else(|| infer_kind(declared, &plain, missing));
        match first_by_record(counted, |raw| unread[raw]) {
            _ if kind != Kind::Number => Ok(as_written(kind)),
            None => Ok(Self { kind, counted: Cow::Owned(plain) }),
            // Texts such as `1.5` under a decimal comma make it a category, unless it has to be a number.
            Some(_) if known.is_none() && !declared.hierarchy.is_for_numbers() => Ok(as_written(Kind::Category)),
            Some(raw) => {
                let value = counted.values[raw].to_string();
                Err(DomainError::of_value(counted, raw, DomainProblem::NotInNotation { value, notation }))
            }
        }
    }
}

/// Type of a column that declares none. Dates: all values are ISO dates. Numbers: all values are finite numbers and
/// none is a code such as `00123`. Otherwise categories.
pub(crate) fn infer_kind(declared: &ColumnPolicy, counted: &CountedColumn, missing: &[bool]) -> Kind {
    let mut present = counted.values.iter().zip(missing).filter(|(_, missing)| !**missing).map(|(value, _)| value);
    // With a hierarchy file, dates stay categories: the file may group them by weekday, which is no interval.
    let may_be_dates =
        matches!(declared.hierarchy, HierarchyChoice::Default | HierarchyChoice::Free | HierarchyChoice::Built(_));
    let is_date = |text: &str| Moment::read(text, None).is_some();
    if may_be_dates && present.clone().next().is_some() && present.clone().all(|text| is_date(text)) {
        return Kind::Date;
    }
    if declared.hierarchy.is_for_numbers() {
        return Kind::Number;
    }
    let code = |text: &str| {
        let digits = text.trim_start_matches(['-', '+']);
        digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0.")
    };
    let number = present.clone().next().is_some() && present.all(|text| parse_number(text).is_ok() && !code(text));
    if number { Kind::Number } else { Kind::Category }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::{
        counts::{CountedColumn, Counts},
        hierarchy::{DomainProblem, Hierarchies, LabelReader, file},
        notation::Notation,
        policy::Policy,
        profile::Profile,
        schema::Kind,
        search::method_names,
    };

    const GERMAN: &str = "[input]\ndecimal = \",\"\nthousands = \".\"\n";

    /// Profile of one quasi-identifier with these texts.
    fn profile(
        (declared, input): (&str, &str),
        tree: Option<&str>,
        (texts, typed): (&[&str], bool),
    ) -> Result<Profile, DomainProblem> {
        let text = format!(
            "version = 1\nprivacy.k = 2\n[columns.c]\nrole = \"quasi-identifier\"\nmissing = \"category\"\n{declared}\n{input}"
        );
        let policy = Policy::parse(&text, &method_names()).unwrap();
        let values: Vec<Box<str>> = texts.iter().map(|text| (*text).into()).collect();
        let (rows, records) = (texts.len(), texts.len() as u64);
        let first_records = Some((1..=records).collect());
        let column = CountedColumn { name: "c".into(), values, first_records, typed };
        let codes = (0..rows as u32).collect();
        let counts = Counts { columns: vec![column], codes, counts: vec![1; rows], first_records: None, records };
        let tree = tree.map(|text| ("c".to_owned(), file::parse(text).unwrap()));
        Profile::build(&policy, &Hierarchies::from_iter(tree), &counts).map_err(|error| error.problem)
    }

    fn texts(profile: &Profile) -> Vec<&str> {
        let domain = &profile.columns()[0].domain;
        (0..domain.len() as u32).map(|code| domain.text(code)).collect()
    }

    #[test]
    fn the_type_depends_on_the_notation() {
        let kind = |input: &str, values: &[&str]| {
            profile(("", input), None, (values, false)).unwrap().columns()[0].domain.kind()
        };
        assert_eq!(kind(GERMAN, &["72,5", "1.000", ""]), Kind::Number);
        assert_eq!(kind("", &["72,5", "1.000", ""]), Kind::Category);
        assert_eq!(kind(GERMAN, &["72.5", "1.000", ""]), Kind::Category, "a decimal point");
        assert_eq!(kind(GERMAN, &["007", "010"]), Kind::Category, "codes");
        assert_eq!(kind(GERMAN, &["1984-03-31", "1985-01-01"]), Kind::Date);
        let found = profile(("", GERMAN), None, (&["1.5", "2.25"], true)).unwrap();
        assert_eq!(texts(&found), ["1.5", "2.25"], "typed numbers");
        for declared in ["type = \"number\"", "hierarchy = \"free\""] {
            let refused = profile((declared, GERMAN), None, (&["1,5", "2.5"], false)).unwrap_err();
            assert!(matches!(refused, DomainProblem::NotInNotation { value, .. } if value == "2.5"));
        }
    }

    #[test]
    fn spellings_of_a_number_share_a_leaf_and_missing_texts_stay() {
        let declared = "missing-texts = [\"-99\", \"k.A.\"]";
        let found =
            profile((declared, GERMAN), None, (&["1.000", "1000", "-99", "2,5", "k.A.", "1000,0"], false)).unwrap();
        assert_eq!(texts(&found), ["2.5", "1000", "-99"]);
    }

    #[test]
    fn a_hierarchy_file_is_in_the_notation_of_the_table() {
        let tree = "1,5;\"[1,5; 2,75]\";*\n2,75;\"[1,5; 2,75]\";*\n1.000;viel;*\n";
        let found = profile(("type = \"number\"", GERMAN), Some(tree), (&["1,50", "2,75", "1000"], false)).unwrap();
        let domain = &found.columns()[0].domain;
        assert_eq!(domain.label(domain.cover(0, 1)), "[1.5, 2.75]");
        let german = Notation { decimal: ',', thousands: Some('.') };
        let reader = LabelReader::of_file(domain, german);
        for (label, codes) in
            [("[1,5; 2,75]", &[0, 1][..]), ("viel", &[2]), ("1.000", &[2]), ("1.5", &[]), ("*", &[0, 1, 2])]
        {
            assert_eq!(reader.codes_inside(label), codes, "{label}");
        }
        let wrong = "1,5;\"[1,5; 2]\";*\n2,75;\"[1,5; 2]\";*\n";
        let refused = profile(("type = \"number\"", GERMAN), Some(wrong), (&["1,5", "2,75"], false));
        assert!(matches!(refused, Err(DomainProblem::NotContained { .. })));
    }

    proptest! {
        /// The texts of a table in any notation make the domain of the plain texts.
        #[test]
        fn a_domain_is_that_of_plain_numbers(
            numbers in prop::collection::btree_set(-9_999_999i64..9_999_999, 1..12),
            at in 0usize..Notation::COMMON.len(), grouped: bool,
        ) {
            let notation = Notation::COMMON[at];
            let plain: Vec<String> = numbers.iter().map(|number| format!("{:.2}", *number as f64 / 100.0)).collect();
            let written: Vec<String> = plain.iter().map(|text| {
                let (whole, cents) = text.split_once('.').unwrap();
                let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |digits| ("-", digits));
                let mut out = sign.to_owned();
                for (at, digit) in digits.chars().enumerate() {
                    if grouped && at > 0 && (digits.len() - at) % 3 == 0 {
                        out.extend(notation.thousands);
                    }
                    out.push(digit);
                }
                format!("{out}{}{cents}", notation.decimal)
            }).collect();
            let thousands = notation.thousands.map_or(String::new(), |it| format!("thousands = \"{it}\"\n"));
            let input = format!("[input]\ndecimal = \"{}\"\n{thousands}", notation.decimal);
            let of = |input: &str, texts: &[String]| {
                let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
                let declared = ("type = \"number\"\nhierarchy = { widths = [2.5, 1000] }", input);
                let found = profile(declared, None, (&texts, false)).unwrap();
                let domain = &found.columns()[0].domain;
                let labels = (0..domain.len() as u32).map(|last| domain.label(domain.cover(0, last)));
                labels.collect::<Vec<String>>()
            };
            prop_assert_eq!(of(&input, &written), of("", &plain));
        }
    }
}

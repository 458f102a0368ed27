//! delta-disclosure privacy (Brickell, Shmatikov 2008): in no group is a sensitive value much more or much less
//! frequent than in the whole table.
//!
//! With `q` the share of a value in a group and `p` its share in the table, `|log2(q / p)| < delta` for **every** value
//! of the table, strictly. A value that a group lacks has `log2 0`, which violates every delta: that no record of a
//! group has hiv is a disclosure, too. (ARX and pycanon ignore such values. That reading is not closed under union:
//! with p = 0.2 and delta = 1, a group without the value and one with a share of 0.12 would hold, and both together
//! have 0.06 < 0.1.)
//!
//! As limits on shares, `p 2^-delta < q < p 2^delta`, it is closed under union, and searches that keep counts take it.
//! It is severe: every group needs a record of every value, and more than `2^-delta / min p` records.

#[cfg(any(test, feature = "testing"))]
mod conformance;

use std::sync::Arc;

use serde::Serialize;

use super::{
    BoundModel, BoundModels, Description, Figure, Group, Limit, ModelEntry, ModelError, ModelFacts, PrivacyModel,
    SectionForm, Sentence, ShareLimit, TOLERANCE, attribute_named, every_column, names_of, to_json,
};
use crate::{
    declaration::{ColumnPolicy, Columns},
    document::{Fields, PolicyError},
    ids::{AttributeId, ColumnId},
    profile::Tables,
    schema::{Role, Unit},
    text::count,
};

pub(super) const ENTRY: ModelEntry = ModelEntry {
    name: "delta-disclosure",
    key: "delta-disclosure",
    form: SectionForm::List,
    keys: &["column", "delta"],
    summary: "in every group each value of a sensitive column is nearly as frequent as in the whole table, none is missing",
    example: "[[privacy.delta-disclosure]]\ncolumn = \"diagnosis\"\ndelta = 1.0   # in bits: less than twice, more than half as frequent",
    read,
    draft: |columns| {
        let column = columns.category().filter(|column| column.distinct <= MAX_DRAFT_VALUES)?;
        Some(format!(
            "# In each group every value of a sensitive column occurs, nearly as often as in the whole table: less than 2^delta\n\
             # times as often, and more than 1 / 2^delta times. It makes large groups.\n\
             [[privacy.delta-disclosure]]\ncolumn = {}\ndelta = 1.0\n",
            column.name
        ))
    },
    #[cfg(any(test, feature = "testing"))]
    conformance: conformance::CONFORMANCE,
};

/// A draft policy proposes it only for columns with at most this many values: every group needs all of them. Not tuned.
const MAX_DRAFT_VALUES: u64 = 10;

/// From this many records on, the group size that the model implies is worth a note. Not tuned.
const LARGE_GROUP: u64 = 50;

/// A limit on how much the share of any value in a group may differ from its share in the table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DeltaDisclosure {
    /// The guarded column: sensitive or class.
    pub column: String,
    /// In bits, above 0.
    pub delta: f64,
}

struct BoundDeltaDisclosure {
    model: DeltaDisclosure,
    attribute: AttributeId,
    /// By value, its share in the table and the shares that a group may have.
    values: Vec<(f64, ShareLimit)>,
    scope: Vec<ColumnId>,
    unit: Unit,
}

fn read(fields: &Fields<'_>, columns: &Columns<'_>) -> Result<Arc<dyn PrivacyModel>, PolicyError> {
    let column = columns.guarded(fields)?;
    let accepted = "a number of bits from 0.000001 to 1000 (1 is less than twice and more than half as frequent)";
    let delta = fields.number("delta", accepted, |delta| (1e-6..=1e3).contains(&delta))?;
    Ok(Arc::new(DeltaDisclosure { column, delta: fields.required("delta", accepted, delta)? }))
}

impl PrivacyModel for DeltaDisclosure {
    fn key(&self) -> &'static str {
        ENTRY.key
    }

    fn section(&self) -> serde_json::Value {
        to_json(self)
    }

    fn sentence(&self, _: &[ColumnPolicy]) -> Sentence {
        let factor = format!("{:.2}", self.delta.exp2());
        let factor = factor.trim_end_matches('0').trim_end_matches('.');
        let sentence = Sentence::default().text("in every group, each value of ").name(&self.column);
        sentence.text(format!(
            " occurs, less than {factor} times as often and more than 1/{factor} times as often as in the whole table"
        ))
    }

    fn guards(&self, _: &[ColumnPolicy]) -> Vec<String> {
        vec![self.column.clone()]
    }

    fn assumes_known(&self, columns: &[ColumnPolicy]) -> Vec<String> {
        names_of(columns, Role::QuasiIdentifier)
    }

    fn is_trivial(&self) -> bool {
        false
    }

    fn bind(&self, tables: &Tables<'_>) -> Result<BoundModels, ModelError> {
        let attribute = attribute_named(tables.table, &self.column)?;
        let factor = self.delta.exp2();
        let limit = |share: f64| (share, ShareLimit::between(share / factor, share * factor));
        let values = tables.table.shares(attribute).into_iter().map(limit).collect();
        let (model, scope, unit) = (self.clone(), every_column(tables.table), tables.table.unit());
        Ok(BoundModels::of_group(BoundDeltaDisclosure { model, attribute, values, scope, unit }))
    }
}

impl BoundDeltaDisclosure {
    /// The largest change of a share, in bits; infinite if the group lacks a value.
    fn largest_change(&self, group: &Group<'_>) -> f64 {
        let histogram = group.histogram(self.attribute);
        if histogram.len() < self.values.len() {
            return f64::INFINITY;
        }
        let change = |&(value, records): &(u32, u64)| {
            let share = records as f64 / group.total(self.attribute) as f64;
            (share / self.values[value as usize].0).log2().abs()
        };
        histogram.iter().map(change).fold(0.0, f64::max)
    }
}

impl BoundModel for BoundDeltaDisclosure {
    fn describe(&self) -> Description {
        let DeltaDisclosure { column, delta } = &self.model;
        Description::new(ENTRY.key, ENTRY.name, format!("{column}, delta = {delta}"))
    }

    fn scope(&self) -> &[ColumnId] {
        &self.scope
    }

    fn is_closed_under_union(&self) -> bool {
        self.unit == Unit::Records
    }

    /// Margin of the worst share; -1 if a value is missing.
    fn margin(&self, group: &Group<'_>) -> f64 {
        let shares = (0u32..).zip(&self.values);
        let total = group.total(self.attribute).max(1) as f64;
        let share = |value| group.weight_of(self.attribute, value) as f64 / total;
        let margins = shares.map(|(value, (_, limit))| limit.margin(share(value)));
        margins.fold(f64::INFINITY, f64::min)
    }

    fn figure(&self, group: &Group<'_>) -> Figure {
        let change = self.largest_change(group);
        let words = if change.is_finite() {
            format!("a share changed by {change:.3} bits")
        } else {
            "a value missing".to_owned()
        };
        Figure::new(change, words)
    }

    fn facts(&self) -> ModelFacts {
        ModelFacts::new(self.model.clone())
    }

    /// A record of the rarest value must not be too large a share: `1 / records < p 2^delta`. If persons are counted, a
    /// group has no more pairs of a person and a value than records.
    fn min_records(&self) -> u64 {
        let rarest = self.values.iter().map(|(share, _)| *share).fold(1.0, f64::min);
        let above = 1.0 / (rarest * self.model.delta.exp2());
        // Rounded down by the tolerance: a search must not reject a group that satisfies the model.
        ((above * (1.0 - TOLERANCE)).floor() as u64 + 1).max(self.values.len() as u64)
    }

    fn limits(&self) -> Option<Vec<Limit>> {
        let limit =
            |(value, &(_, share)): (u32, &(f64, ShareLimit))| Limit::Share { attribute: self.attribute, value, share };
        (self.unit == Unit::Records).then(|| (0u32..).zip(&self.values).map(limit).collect())
    }

    fn advice(&self) -> Option<String> {
        let (model, records) = (self.describe(), self.min_records());
        (records >= LARGE_GROUP).then(|| {
            format!(
                "{model}: every group needs each of the {} values of the column and at least {} records; merging rare \
                 values before the release allows smaller groups",
                count(self.values.len() as u64),
                count(records)
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        privacy::Group,
        testing::{TestTable, data, select},
        verify::check_against,
    };

    /// Four groups by age and sex; only the young men have all three illnesses.
    const TINY: &[(&str, u64)] = &[
        ("young,m,flu", 2),
        ("young,m,hiv", 1),
        ("young,m,cough", 1),
        ("young,f,flu", 1),
        ("young,f,cough", 1),
        ("old,m,flu", 3),
        ("old,f,hiv", 1),
    ];

    fn tiny(delta: f64) -> TestTable {
        let columns =
            "[columns]\nage.role = \"quasi-identifier\"\nsex.role = \"quasi-identifier\"\nill.role = \"sensitive\"\n";
        let model = format!("[[privacy.delta-disclosure]]\ncolumn = \"ill\"\ndelta = {delta:?}\n");
        TestTable::new(&format!("{columns}{model}"), &[], TINY)
    }

    #[test]
    fn the_tiny_table() {
        let table = tiny(0.33);
        let judgement = &check_against(&table.profile, &table.models)[0];
        assert_eq!((judgement.groups, judgement.failing_groups, judgement.failing_records), (4, 3, 6));
        assert_eq!((judgement.worst.as_str(), judgement.worst_figure), ("a value missing", f64::INFINITY));
        let change = |wanted: &dyn Fn(&[&str]) -> bool| {
            let members = table.members(wanted);
            table.models[0].figure(&Group::new(&table.profile, &members)).value
        };
        let young_men = |row: &[&str]| row[..2] == ["young", "m"];
        assert!((change(&young_men) - 0.321_928).abs() < 1e-6);
        assert_eq!(change(&|_| true), 0.0);
        assert!(table.margin(&table.members(young_men)) > 0.0 && table.margin(&table.members(|_| true)) > 0.0);
        assert_eq!(table.margin(&table.members(|row| row[0] == "old")), -1.0, "nobody coughs");
        assert_eq!(table.models[0].min_records(), 4);
    }

    #[test]
    fn the_limit_itself_is_not_allowed() {
        // One value in two records of four and in two of eight: exactly one bit.
        let table = |delta: f64| {
            let policy = format!(
                "columns.q.role = \"quasi-identifier\"\ncolumns.s.role = \"sensitive\"\n[[privacy.delta-disclosure]]\ncolumn = \"s\"\ndelta = {delta:?}\n"
            );
            TestTable::new(&policy, &[], &[("1,a", 2), ("1,b", 2), ("2,b", 4)])
        };
        let ones = |row: &[&str]| row[0] == "1";
        for (delta, holds) in [(1.0, false), (1.0 + 1e-6, true), (0.9, false)] {
            let table = table(delta);
            assert_eq!(table.margin(&table.members(ones)) >= 0.0, holds, "{delta}");
        }
    }

    #[test]
    fn bad_sections_are_refused() {
        use crate::policy::Policy;
        let with = |lines: &str| {
            format!(
                "version = 1\n[[privacy.delta-disclosure]]\n{lines}\n[columns]\na.role = \"quasi-identifier\"\ns.role = \"sensitive\"\n"
            )
        };
        for (lines, words) in [
            ("column = \"s\"", "line 2: [[privacy.delta-disclosure]] has no `delta`, which must be a number of bits"),
            ("column = \"s\"\ndelta = 0", "line 4: `delta` is 0; it must be a number of bits from 0.000001 to 1000"),
            ("column = \"s\"\ndelta = -1", "line 4: `delta` is -1"),
            ("column = \"s\"\ndelta = \"one\"", "line 4: `delta` is \"one\""),
            ("delta = 1", "has no `column`"),
            ("column = \"a\"\ndelta = 1", "whose role is \"quasi-identifier\""),
            ("column = \"s\"\ndelta = 1\nl = 2", "line 5: `l` is not a key of [[privacy.delta-disclosure]]"),
        ] {
            let error = Policy::parse(&with(lines), &["best"]).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
        let policy = Policy::parse(&with("column = \"s\"\ndelta = 1.5"), &["best"]).unwrap();
        let sentence = policy.privacy.models[0].sentence(&policy.columns).to_string();
        assert_eq!(
            sentence,
            "in every group, each value of `s` occurs, less than 2.83 times as often and more than 1/2.83 times as often \
             as in the whole table"
        );
    }

    #[test]
    fn on_adult_a_rare_occupation_needs_large_groups() {
        let Some(text) = data("adult/adult_train.csv", "on_adult_a_rare_occupation_needs_large_groups") else { return };
        let rows = select(&text, &["sex", "occupation"]);
        let rows: Vec<(&str, u64)> = rows.iter().map(|row| (row.as_str(), 1)).collect();
        let policy = "columns.sex.role = \"quasi-identifier\"\ncolumns.occupation.role = \"sensitive\"\n\
                      [[privacy.delta-disclosure]]\ncolumn = \"occupation\"\ndelta = 2.0\n";
        let table = TestTable::new(policy, &[], &rows);
        assert_eq!(table.models[0].min_records(), 838);
        assert!(
            table.models[0].advice().unwrap().contains("each of the 14 values of the column and at least 838 records")
        );
    }
}

//! Turns a training and a test profile into sets for the classifier, in the codes of the training profile.

use hashbrown::HashMap;
use moretta_core::{
    hierarchy::ROOT_LABEL,
    ids::{AttributeId, TupleId, VariantId},
    policy::{Labels, Numbers, Policy, ReleaseOptions},
    profile::{Attribute, Profile, VariantCount},
    recoding::Recoding,
    released::Released,
    saved::Saved,
    schema::Role,
};

use super::{
    EvaluateError,
    c45::{Feature, TrainingSet, UNKNOWN},
};

/// A missing number is a value of its own, as in the policy: below all others, so that one threshold separates it.
const MISSING: f64 = f64::NEG_INFINITY;

/// Position of a column in the policy, and its training and test features.
type PolicyOrdered = (usize, (Feature, Feature));

/// A table to train on and one to test with.
pub(super) struct TrainAndTest<'a> {
    train: &'a Profile,
    test: &'a Profile,
    class: AttributeId,
    /// The sensitive columns.
    sensitive: Vec<AttributeId>,
    /// Position in the policy of each quasi-identifier, then of each sensitive column. Features are in this order: ties
    /// between splits go to the first feature, and the tree must not depend on the roles of columns.
    policy_positions: Vec<usize>,
}

impl<'a> TrainAndTest<'a> {
    pub(super) fn new(train: &'a Profile, test: &'a Profile, policy: &Policy) -> Result<Self, EvaluateError> {
        let class = train.class().ok_or(EvaluateError::NoClass)?;
        for (profile, table) in [(train, "training"), (test, "test")] {
            if profile.records() == 0 {
                return Err(EvaluateError::Empty { table });
            }
        }
        let sensitive = |id: &AttributeId| train.attributes()[id.index()].role == Role::Sensitive;
        let sensitive: Vec<AttributeId> =
            (0..train.attributes().len()).map(AttributeId::from_index).filter(sensitive).collect();
        let names = train.columns().iter().map(|column| &column.name);
        let names = names.chain(sensitive.iter().map(|id| &train.attributes()[id.index()].name));
        let position = |name: &String| policy.columns.iter().position(|column| column.name == *name);
        let policy_positions = names.map(|name| position(name).unwrap_or(usize::MAX)).collect();
        Ok(Self { train, test, class, sensitive, policy_positions })
    }

    pub(super) fn has_sensitive(&self) -> bool {
        !self.sensitive.is_empty()
    }

    /// Training and test set with original values of the selected columns.
    pub(super) fn raw(&self, quasi_identifiers: bool, sensitive: bool) -> (TrainingSet, TrainingSet) {
        let (train, test) = (self.train.everything(), self.test.everything());
        let (width, mut columns) = (self.train.columns().len(), Vec::new());
        if quasi_identifiers {
            let own = (0..width).map(|column| self.quasi_identifier(column, &train, &test));
            columns.extend(self.policy_positions.iter().copied().zip(own));
        }
        if sensitive {
            columns.extend(self.policy_positions[width..].iter().copied().zip(self.sensitive_columns(&train, &test)));
        }
        self.tables(columns, &train, &test)
    }

    /// Training and test set with released quasi-identifiers and original sensitive columns. The training set is the
    /// release of the search; the recoding is applied to the test set.
    pub(super) fn released(&self, recoding: &Recoding, saved: &Saved) -> (TrainingSet, TrainingSet) {
        let form = ReleaseOptions { labels: Labels::Node, numbers: Numbers::Interval, ..saved.policy.release.clone() };
        let released = Released::of_recoding(self.train, recoding, &form);
        let (mut train, mut groups) = (Vec::new(), Vec::new());
        for group in 0..released.groups() {
            let members = released.grouping().members(group);
            train.extend_from_slice(members);
            groups.extend(members.iter().map(|_| group));
        }
        self.with_labels(&train, |row, column| released.label(groups[row], column), saved)
    }

    /// Like [`TrainAndTest::released`], for a recoding from another table, which is applied to both sets.
    pub(super) fn applied(&self, saved: &Saved) -> (TrainingSet, TrainingSet) {
        let train = self.train.everything();
        let labels = saved.labels(self.train);
        let label = |row: usize, column| applied_label(&labels, self.train.tuple_of(train[row].variant), column);
        self.with_labels(&train, label, saved)
    }

    /// Training set with these labels as quasi-identifiers, and test set with the labels of a saved recoding.
    fn with_labels<'l>(
        &self,
        train: &[VariantCount],
        train_label: impl Fn(usize, usize) -> &'l str,
        saved: &'l Saved,
    ) -> (TrainingSet, TrainingSet) {
        let test = self.test.everything();
        let labels = saved.labels(self.test);
        let column = |column: usize| {
            let now = test.iter().map(|member| applied_label(&labels, self.test.tuple_of(member.variant), column));
            categories((0..train.len()).map(|row| train_label(row, column)), now)
        };
        let own = (0..self.train.columns().len()).map(column);
        let columns = own.chain(self.sensitive_columns(train, &test));
        self.tables(self.policy_positions.iter().copied().zip(columns).collect(), train, &test)
    }

    fn quasi_identifier(&self, column: usize, train: &[VariantCount], test: &[VariantCount]) -> (Feature, Feature) {
        let domain = |profile: &'a Profile| &profile.columns()[column].domain;
        let code = |profile: &Profile, member: &VariantCount| profile.codes(profile.tuple_of(member.variant))[column];
        if domain(self.train).kind().is_ordered() {
            let missing = if domain(self.train).missing().is_some() { MISSING } else { f64::NAN };
            let numbers = |profile: &'a Profile, members: &[VariantCount]| {
                let number = |member: &VariantCount| domain(profile).number(code(profile, member)).unwrap_or(missing);
                Feature::Numeric(members.iter().map(number).collect())
            };
            return (numbers(self.train, train), numbers(self.test, test));
        }
        let text = |profile: &'a Profile, member: &VariantCount| domain(profile).text(code(profile, member));
        categories(
            train.iter().map(|member| text(self.train, member)),
            test.iter().map(|member| text(self.test, member)),
        )
    }

    fn sensitive_columns(&self, train: &[VariantCount], test: &[VariantCount]) -> Vec<(Feature, Feature)> {
        let column = |&id: &AttributeId| {
            let known = &self.train.attributes()[id.index()];
            let train = train.iter().map(|member| self.train.value(member.variant, id));
            if known.kind().is_ordered() {
                let before = numbers(known, known);
                let now = numbers(&self.test.attributes()[id.index()], known);
                let test = test.iter().map(|member| now[self.test.value(member.variant, id) as usize]);
                return (
                    Feature::Numeric(train.map(|value| before[value as usize]).collect()),
                    Feature::Numeric(test.collect()),
                );
            }
            (Feature::Categorical(train.collect()), Feature::Categorical(self.test_codes(id, test)))
        };
        self.sensitive.iter().map(column).collect()
    }

    /// Values of the test table in the codes of the training table; [`UNKNOWN`] for new ones.
    fn test_codes(&self, id: AttributeId, test: &[VariantCount]) -> Vec<u32> {
        let known = &self.train.attributes()[id.index()];
        let values = self.test.attributes()[id.index()].values.iter();
        let codes: Vec<u32> = values.map(|value| known.code(value).unwrap_or(UNKNOWN)).collect();
        let value = |variant: VariantId| self.test.value(variant, id) as usize;
        test.iter().map(|member| codes[value(member.variant)]).collect()
    }

    /// Training and test set of these features, in the order of the policy.
    fn tables(
        &self,
        mut columns: Vec<PolicyOrdered>,
        train: &[VariantCount],
        test: &[VariantCount],
    ) -> (TrainingSet, TrainingSet) {
        columns.sort_by_key(|(position, _)| *position);
        let weights = |members: &[VariantCount]| members.iter().map(|member| member.records).collect();
        let (before, after): (Vec<Feature>, Vec<Feature>) = columns.into_iter().map(|(_, columns)| columns).unzip();
        let classes = train.iter().map(|member| self.train.value(member.variant, self.class)).collect();
        let train = TrainingSet::new(before, classes, weights(train));
        (train, TrainingSet::new(after, self.test_codes(self.class, test), weights(test)))
    }
}

/// Label of a tuple in a column; `*` if no cell covers the tuple.
fn applied_label<'l>(labels: &[Option<Vec<&'l str>>], tuple: TupleId, column: usize) -> &'l str {
    labels[tuple.index()].as_ref().map_or(ROOT_LABEL, |labels| labels[column])
}

/// By code, the numbers or seconds of a column. A text that is no number is [`MISSING`] if it occurs in the training
/// table, otherwise unknown (NaN).
fn numbers(attribute: &Attribute, known: &Attribute) -> Vec<f64> {
    let none = |text: &str| if known.code(text).is_some() { MISSING } else { f64::NAN };
    let number = |text: &str| known.parser().number(text).unwrap_or_else(|_| none(text));
    attribute.values.iter().map(|text| number(text)).collect()
}

/// Categorical features of texts, coded by the training texts.
fn categories<'a>(train: impl Iterator<Item = &'a str>, test: impl Iterator<Item = &'a str>) -> (Feature, Feature) {
    let mut known: HashMap<&str, u32> = HashMap::new();
    let mut learn = |text: &'a str| {
        let next = known.len() as u32;
        *known.entry(text).or_insert(next)
    };
    let train = train.map(&mut learn).collect();
    let test = test.map(|text| known.get(text).copied().unwrap_or(UNKNOWN)).collect();
    (Feature::Categorical(train), Feature::Categorical(test))
}

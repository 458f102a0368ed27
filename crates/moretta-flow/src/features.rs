//! Features of records for models, and the labels of a saved recoding for records that are not released.

use moretta_core::{
    counts::{CountedColumn, Counts},
    declaration::{ColumnPolicy, Declaration, InputOptions, ReleaseOptions},
    hierarchy::{Hierarchies, HierarchyChoice, ROOT_LABEL, file},
    observer::Stage,
    profile::Profile,
    saved::Saved,
    schema::{Kind, MissingRule, Role},
    text::shown,
};
use moretta_insight::features::{Categories, ColumnContext, ColumnEncoder, Encoder, KnownColumn};

use crate::{
    error::{ErrorKind, FlowError},
    input::{Input, PolicySource},
    session::Session,
};

/// Options of an encoder of features.
#[derive(Debug, Clone)]
pub struct FeatureOptions {
    /// Policy of the release; without one, every column is a quasi-identifier without a hierarchy.
    pub policy: Option<PolicySource>,
    /// Features of categories.
    pub categories: Categories,
}

/// What an encoder learned from a release.
#[derive(Debug, Clone)]
pub struct FittedFeatures {
    /// Its columns.
    pub known: Vec<KnownColumn>,
    /// Names of the features.
    pub names: Vec<String>,
    /// Hierarchy files of the policy, as texts by column: an encoder needs them, wherever it is used.
    pub hierarchies: Vec<(String, String)>,
}

/// Request for the features of records.
#[derive(Debug, Clone)]
pub struct EncodeFeatures {
    /// Table that is read: a release or original records.
    pub input: Input,
    /// What the encoder learned.
    pub known: Vec<KnownColumn>,
    /// Options of the encoder.
    pub options: FeatureOptions,
}

/// Texts of a column by record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextColumn {
    /// Name of the column.
    pub name: String,
    /// Distinct texts.
    pub texts: Vec<String>,
    /// Index of the text of each record, in input order.
    pub codes: Vec<u32>,
}

/// Declarations of the columns of an encoder.
struct Columns {
    columns: Vec<ColumnPolicy>,
    hierarchies: Hierarchies,
    input: InputOptions,
    release: ReleaseOptions,
}

impl Declaration for Columns {
    fn columns(&self) -> &[ColumnPolicy] {
        &self.columns
    }

    fn input(&self) -> &InputOptions {
        &self.input
    }

    fn release(&self) -> &ReleaseOptions {
        &self.release
    }
}

/// Declaration of a column for which there is no policy.
fn undeclared(name: &str) -> ColumnPolicy {
    ColumnPolicy {
        name: name.to_owned(),
        role: Role::QuasiIdentifier,
        kind: None,
        format: None,
        hierarchy: HierarchyChoice::Default,
        weight: 1.0,
        missing: MissingRule::Category,
        missing_texts: Vec::new(),
        fold: false,
    }
}

impl Columns {
    fn context(&self, name: &str) -> Result<ColumnContext, FlowError> {
        let declared = self.columns.iter().find(|column| column.name == name);
        let declared = declared
            .ok_or_else(|| FlowError::usage(format!("the policy does not declare the column `{}`", shown(name))))?;
        Ok(ColumnContext {
            declared: declared.clone(),
            tree: self.hierarchies.get(name).filter(|_| declared.role == Role::QuasiIdentifier).cloned(),
            missing: self.missing_texts(declared).map(str::to_owned).collect(),
            notation: self.release_notation(),
            labels: self.release.labels,
        })
    }
}

impl Session<'_> {
    /// Learns the features of columns of a release; by default of all columns that the policy releases, but for those
    /// with the role `class`.
    pub fn fit_features(
        &self,
        input: &Input,
        columns: Option<&[String]>,
        options: &FeatureOptions,
    ) -> Result<FittedFeatures, FlowError> {
        self.install(|| {
            let declared = self.feature_columns(input, options)?;
            let engine = self.open(input, &declared.input)?;
            let is_feature = |name: &&String| {
                let column = declared.columns.iter().find(|column| column.name == **name);
                column.is_some_and(|column| column.role.is_released() && column.role != Role::Class)
            };
            let names = match columns {
                Some(columns) => columns.to_vec(),
                None => engine.source().columns().iter().filter(is_feature).cloned().collect(),
            };
            self.observer.stage(Stage::Reading);
            let mut rows = engine.rows(&names, self.observer)?;
            let columns = std::mem::take(&mut rows.columns);
            let hierarchies = declared.hierarchies.iter().map(|(name, tree)| (name.to_owned(), file::write(tree)));
            let hierarchies = hierarchies.collect();
            let (mut known, mut encoders) = (Vec::new(), Vec::new());
            for column in &columns {
                let context = declared.context(&column.name)?;
                let encoder = ColumnEncoder::fit(context, column, options.categories);
                let encoder = encoder.map_err(|error| FlowError::input(input.name(), error))?;
                known.push(encoder.known(column));
                encoders.push(encoder);
            }
            Ok(FittedFeatures { known, names: Encoder::new(encoders).names(), hierarchies })
        })
    }

    /// Encodes records: row by row, as many numbers as there are features.
    pub fn encode_features(&self, request: &EncodeFeatures) -> Result<Vec<f64>, FlowError> {
        self.install(|| {
            let EncodeFeatures { input, known, options } = request;
            let declared = self.feature_columns(input, options)?;
            let engine = self.open(input, &declared.input)?;
            let in_input = |error| FlowError::input(input.name(), error);
            let encoder = |known: &KnownColumn| {
                let mut context = declared.context(&known.name)?;
                context.declared.kind = Some(known.kind);
                let values = known.labels.iter().map(|label| label.as_str().into()).collect();
                let column = CountedColumn { name: known.name.clone(), values, first_records: None, typed: false };
                ColumnEncoder::fit(context, &column, options.categories).map_err(in_input)
            };
            let encoder = Encoder::new(known.iter().map(encoder).collect::<Result<_, _>>()?);
            let names: Vec<String> = known.iter().map(|column| column.name.clone()).collect();
            self.observer.stage(Stage::Reading);
            encoder.encode(&engine.rows(&names, self.observer)?).map_err(in_input)
        })
    }

    fn feature_columns(&self, input: &Input, options: &FeatureOptions) -> Result<Columns, FlowError> {
        let Some(policy) = &options.policy else {
            let (read, release) = (InputOptions::default(), ReleaseOptions::default());
            let engine = self.open(input, &read)?;
            let columns = engine.source().columns().iter().map(|name| undeclared(name)).collect();
            return Ok(Columns { columns, hierarchies: Hierarchies::default(), input: read, release });
        };
        let loaded = self.policy_for_release(policy, input)?;
        let (policy, hierarchies) = (loaded.policy, loaded.hierarchies);
        Ok(Columns { columns: policy.columns, hierarchies, input: policy.input, release: policy.release })
    }

    /// The texts of some columns.
    pub fn texts(&self, input: &Input, columns: &[String]) -> Result<Vec<TextColumn>, FlowError> {
        self.install(|| {
            let engine = self.open(input, &InputOptions::default())?;
            let mut rows = engine.rows(columns, self.observer)?;
            let (columns, width) = (std::mem::take(&mut rows.columns), columns.len());
            let column = |(index, CountedColumn { name, values, .. }): (usize, CountedColumn)| TextColumn {
                name,
                texts: values.into_iter().map(String::from).collect(),
                codes: rows.codes.iter().skip(index).step_by(width).copied().collect(),
            };
            Ok(columns.into_iter().enumerate().map(column).collect())
        })
    }

    /// The labels that a global recoding gives to records. Nothing is suppressed and nothing is verified, so they must
    /// not be released: they serve to apply a model that was trained on the release. A record that the recoding does not
    /// cover is `*` in every column.
    pub fn relabel(&self, recoding: &str, input: &Input) -> Result<Vec<TextColumn>, FlowError> {
        self.install(|| {
            let saved = Saved::parse(recoding);
            let saved = saved.map_err(|error| FlowError::of_file(ErrorKind::Policy, "the recoding", error))?;
            if !saved.is_global() {
                return Err(FlowError::usage(
                    "under a local recoding a record has no label of its own; use a global method",
                ));
            }
            let names: Vec<String> = saved.policy.quasi_identifiers().map(|column| column.name.clone()).collect();
            let engine = self.open(input, &saved.policy.input)?;
            self.observer.stage(Stage::Reading);
            let mut rows: Counts = engine.rows(&names, self.observer)?;
            let profile = saved.profile(&mut rows);
            let profile = profile.map_err(|error| FlowError::domain(input.name(), &error))?;
            let labels = saved.labels(&profile);
            let tuples: Vec<usize> =
                (0..rows.rows()).map(|row| profile.tuple_of(profile.variant_of_row(row)).index()).collect();
            let column = |(index, name): (usize, String)| relabeled(name, index, (&saved, &profile), &labels, &tuples);
            Ok(names.into_iter().enumerate().map(column).collect())
        })
    }
}

/// Labels of a column by tuple, in the notation of the release, as codes by record.
fn relabeled(
    name: String,
    column: usize,
    (saved, profile): (&Saved, &Profile),
    labels: &[Option<Vec<&str>>],
    tuples: &[usize],
) -> TextColumn {
    let by_tuple: Vec<&str> =
        labels.iter().map(|tuple| tuple.as_ref().map_or(ROOT_LABEL, |labels| labels[column])).collect();
    let mut distinct = by_tuple.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let codes: Vec<u32> = by_tuple.iter().map(|label| distinct.partition_point(|other| other < label) as u32).collect();
    let notation = saved.policy.release_notation();
    let is_number = profile.columns()[column].domain.kind() == Kind::Number;
    let written = |label: &&str| if is_number { notation.write(label).into_owned() } else { (*label).to_owned() };
    TextColumn {
        name,
        texts: distinct.iter().map(written).collect(),
        codes: tuples.iter().map(|&tuple| codes[tuple]).collect(),
    }
}

//! Random small tables with random policies.

use std::{fmt, sync::Arc};

use moretta_core::{
    counts::Counts,
    hierarchy::{Hierarchies, file},
    policy::{Policy, bind_all},
    privacy::{BoundModel, MODELS, ModelEntry, PrivacyModel},
    profile::Profile,
    search::method_names,
    testing::conformance::{ColumnSpec, Dice, PERSON, Printed, RandomColumns, Verdict},
};
use proptest::prelude::*;

use crate::{
    naive_engine::group_and_count,
    recipe::{only, privacy, release},
};

/// The cells of each record.
pub type TextRows = Vec<Vec<String>>;

/// A random small table with a random policy.
#[derive(Clone)]
pub struct World {
    /// Text of the policy.
    pub text: String,
    pub policy: Policy,
    pub files: Vec<(String, String)>,
    pub hierarchies: Hierarchies,
    pub quasi: Vec<ColumnSpec>,
    pub attributes: Vec<ColumnSpec>,
    pub class: Option<String>,
    pub header: Vec<String>,
    pub rows: TextRows,
    /// A second table with the same columns.
    pub other: TextRows,
    /// For further random choices.
    pub dice: Dice,
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{}", self.text)?;
        for (name, text) in &self.files {
            write!(f, "--- {name}.csv\n{text}\n")?;
        }
        for (title, rows) in [("table", &self.rows), ("other", &self.other)] {
            writeln!(f, "--- {title}\n{}", self.header.join(","))?;
            rows.iter().try_for_each(|row| writeln!(f, "{}", row.join(",")))?;
        }
        Ok(())
    }
}

/// Number of random worlds per property; the environment variable `CONFORMANCE_TIMES` multiplies it.
pub fn cases(cases: u32) -> ProptestConfig {
    let times = std::env::var("CONFORMANCE_TIMES").ok().and_then(|times| times.parse().ok()).unwrap_or(1);
    ProptestConfig::with_cases(cases.saturating_mul(times))
}

/// Worlds that proptest can shrink to fewer and simpler choices.
pub fn worlds() -> impl Strategy<Value = World> {
    prop::collection::vec(any::<u16>(), 0..900).prop_map(|choices| World::new(Dice::new(choices)))
}

impl World {
    /// Draws random models.
    pub fn new(dice: Dice) -> Self {
        Self::with(dice, privacy)
    }

    /// Uses one model, or k if the columns do not allow it.
    pub fn with_model(dice: Dice, entry: &ModelEntry) -> Self {
        Self::with(dice, |dice, columns| only(dice, columns, entry))
    }

    fn with(mut dice: Dice, privacy: impl Fn(&mut Dice, &RandomColumns<'_>) -> String) -> Self {
        let quasi: Vec<ColumnSpec> =
            (0..1 + dice.below(5)).map(|index| ColumnSpec::quasi_identifier(&mut dice, index)).collect();
        let mut attributes: Vec<ColumnSpec> =
            (0..dice.below(3)).map(|index| ColumnSpec::attribute(&mut dice, &format!("s{index}"))).collect();
        let class = dice.chance(50).then(|| "class".to_owned());
        if let Some(name) = &class {
            attributes.push(ColumnSpec::attribute(&mut dice, name));
        }
        let mut text = "version = 1\n".to_owned();
        text += &privacy(&mut dice, &RandomColumns { quasi: &quasi, attributes: &attributes });
        text += &release(&mut dice);
        // Requests that write a release refuse kept columns that single out records: nearly all in a small table.
        let kept: Vec<&str> = attributes.iter().map(|spec| spec.name.as_str()).chain(["note"]).collect();
        text += &format!("exact = {kept:?}\n");
        text += "[columns.id]\nrole = \"identifier\"\n";
        for spec in &quasi {
            text += &spec.toml("quasi-identifier");
        }
        text += "[columns.note]\nrole = \"insensitive\"\n";
        for spec in &attributes {
            text += &spec.toml(if spec.name == "class" { "class" } else { "sensitive" });
        }
        // A share of the tables has several records per person, and some have households.
        let few_or_many = *dice.one(&[6, 40]);
        let persons = dice.chance(30).then(|| 1 + dice.below(few_or_many));
        let households = dice.chance(15).then(|| 1 + dice.below(20));
        let units = [(PERSON, persons), ("household", households)];
        let units: Vec<(&str, usize)> = units.into_iter().filter_map(|(name, count)| Some((name, count?))).collect();
        for (role, _) in &units {
            text += &format!("[columns.{role}]\nrole = \"{role}\"\nmissing = \"category\"\n");
        }
        let policy = Policy::parse(&text, &method_names()).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let mut files = Vec::new();
        for (index, spec) in quasi.iter().chain(&attributes).enumerate() {
            files.extend(spec.file(&mut dice, index < quasi.len()).map(|file| (spec.name.clone(), file)));
        }
        let parsed = |(name, text): &(String, String)| (name.clone(), file::parse(text).expect("a sound hierarchy"));
        let hierarchies = files.iter().map(parsed).collect();
        let specs: Vec<&ColumnSpec> = quasi.iter().chain(&attributes).collect();
        let mut header: Vec<String> = specs.iter().map(|spec| spec.name.clone()).collect();
        header.extend(["id".to_owned(), "note".to_owned()]);
        header.extend(units.iter().map(|(name, _)| (*name).to_owned()));
        let rows = draw(&mut dice, &specs, &units);
        let other = draw(&mut dice, &specs, &units);
        Self { text, policy, files, hierarchies, quasi, attributes, class, header, rows, other, dice }
    }

    pub fn column(&self, name: &str) -> usize {
        self.header.iter().position(|known| known == name).expect("a column of the table")
    }

    pub fn counts(&self) -> Counts {
        group_and_count(&self.header, &self.rows, &Profile::grouped_columns(&self.policy))
    }

    pub fn profile(&self, counts: &Counts) -> Profile {
        Profile::build(&self.policy, &self.hierarchies, counts).expect("the table fits its policy")
    }

    pub fn models(&self, profile: &Profile) -> Vec<Box<dyn BoundModel>> {
        bind_all(&self.policy, profile).expect("the models fit the table")
    }

    /// A table of texts with this world's columns.
    pub fn printed<'a>(&'a self, header: &'a [String], rows: &'a TextRows) -> Printed<'a> {
        Printed { quasi: &self.quasi, attributes: &self.attributes, header, rows }
    }

    /// A printed release in the order of the original, with the person of each record, if the table has persons.
    pub fn with_persons(&self, header: &[String], rows: &TextRows) -> (Vec<String>, TextRows) {
        let (mut header, mut rows) = (header.to_vec(), rows.clone());
        assert!(!header.iter().any(|name| name == PERSON), "a release has no persons");
        if let Some(at) = self.header.iter().position(|name| name == PERSON) {
            header.push(PERSON.to_owned());
            rows.iter_mut().zip(&self.rows).for_each(|(row, original)| row.push(original[at].clone()));
        }
        (header, rows)
    }

    /// The naive verdicts of the policy's models of the registry, in their order.
    pub fn verdicts(&self, header: &[String], rows: &TextRows) -> Vec<Verdict> {
        let printed = self.printed(header, rows);
        let entry = |key: &str| MODELS.iter().find(|entry| entry.key == key);
        let verdicts = |model: &Arc<dyn PrivacyModel>| {
            entry(model.key()).map_or(Vec::new(), |entry| (entry.conformance.verdicts)(&**model, &printed))
        };
        self.policy.privacy.models.iter().flat_map(verdicts).collect()
    }

    /// Whether every model holds, naively.
    pub fn holds(&self, header: &[String], rows: &TextRows) -> bool {
        self.verdicts(header, rows).iter().all(|verdict| verdict.holds)
    }

    pub fn allowed_suppressed(&self) -> u64 {
        (self.policy.privacy.max_suppressed * self.rows.len() as f64) as u64
    }
}

/// 1 to 60 records, many of them repeated.
fn draw(dice: &mut Dice, specs: &[&ColumnSpec], units: &[(&str, usize)]) -> TextRows {
    let mut rows: TextRows = Vec::new();
    let repeat = *dice.one(&[0, 30, 70]);
    for id in 0..1 + dice.below(60) {
        let mut row: Vec<String> = if rows.is_empty() || !dice.chance(repeat) {
            specs.iter().map(|spec| spec.cell(dice)).collect()
        } else {
            dice.one(&rows)[..specs.len()].to_vec()
        };
        row.extend([format!("id{id}"), format!("note {}", id % 7)]);
        for (name, count) in units {
            let number = dice.below(*count);
            row.push(match dice.below(12) {
                0 => "?".to_owned(),
                1 => format!(" {}{number} ", name.to_uppercase()),
                _ => format!("{name}{number}"),
            });
        }
        rows.push(row);
    }
    rows
}

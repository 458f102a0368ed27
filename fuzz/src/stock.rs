//! Valid inputs that cases start from: a table about persons whose cells can be recognized in a message, or a random
//! table of the conformance suite; each with a policy and hierarchy files.

use std::{fs, io, path::Path};

use moretta_core::search::METHODS;

use crate::{
    csv::{TextTable, print},
    parameters::{PARAMETERS, SHORT_PARAMETERS},
    rng::Rng,
    world::World,
};

/// A valid table with a valid policy.
#[derive(Debug, Clone)]
pub struct Stock {
    /// The table, with its header.
    pub table: TextTable,
    /// The policy, with a method.
    pub policy: String,
    /// Hierarchy files by name.
    pub hierarchies: Vec<(String, String)>,
    /// A quasi-identifier with a hierarchy file, if there is one.
    pub tree_column: Option<String>,
    /// A quasi-identifier with numbers, or any other.
    pub number_column: String,
}

impl Stock {
    /// Persons in half of the draws, a table of the conformance suite otherwise.
    pub fn any(rng: &mut Rng) -> Self {
        if rng.chance(50) { Self::persons(rng) } else { Self::of_world(&World::new(rng.dice()), &method(rng)) }
    }

    /// A table of the conformance suite.
    pub fn of_world(world: &World, method: &str) -> Self {
        let hierarchies: Vec<(String, String)> =
            world.files.iter().map(|(name, text)| (format!("{name}.csv"), text.clone())).collect();
        let tree_column = world.quasi.iter().find(|spec| spec.shape.paths().is_some()).map(|spec| spec.name.clone());
        let number = world.quasi.iter().find(|spec| spec.shape.is_number()).unwrap_or(&world.quasi[0]);
        let mut table = vec![world.header.clone()];
        table.extend(world.rows.iter().cloned());
        Self {
            table,
            policy: with_method(&world.text, method),
            hierarchies,
            tree_column,
            number_column: number.name.clone(),
        }
    }

    /// Persons: name, note, date of birth, postcode and income of each occur nowhere else.
    pub fn persons(rng: &mut Rng) -> Self {
        let names = ["name", "age", "postcode", "job", "born", "illness", "income", "note"];
        let mut table = vec![names.map(str::to_owned).to_vec()];
        let jobs = ["baker", "cook", "nurse", "doctor", "clerk", "judge"];
        let illnesses = ["measles", "asthma", "diabetes", "influenza"];
        for person in 0..12 + rng.below(40) {
            let born = format!("19{:02}-{:02}-{:02}", 20 + rng.below(80), 1 + rng.below(12), 1 + rng.below(28));
            table.push(vec![
                format!("Nqx{person:03}w{}", rng.below(1000)),
                (18 + rng.below(60)).to_string(),
                format!("{:05}", 10_000 + rng.below(80_000)),
                (*rng.one(&jobs)).to_owned(),
                born,
                (*rng.one(&illnesses)).to_owned(),
                (100_000 + rng.below(900_000)).to_string(),
                format!("Zkv{person:03}y{}", rng.below(1000)),
            ]);
        }
        let mut policy = format!("version = 1\n[privacy]\nk = {}\n", 2 + rng.below(4));
        if rng.chance(30) {
            policy += *rng.one(&["max-suppressed = 0.2\n", "max-suppressed = 1\n"]);
        }
        for section in [
            "[[privacy.l-diversity]]\ncolumn = \"illness\"\nl = 2\n",
            "[[privacy.l-diversity]]\ncolumn = \"illness\"\nl = 2\nkind = \"recursive\"\nc = 2.5\n",
            "[[privacy.t-closeness]]\ncolumn = \"illness\"\nt = 0.5\ndistance = \"equal\"\n",
            "[[privacy.template]]\ngiven = [\"job\"]\ncolumn = \"illness\"\nvalues = [\"asthma\"]\nmax-confidence = 0.8\n",
            "[privacy.lkc]\nl = 2\nk = 2\nc = 0.9\n",
        ] {
            if rng.chance(20) {
                policy += section;
            }
        }
        let age =
            *rng.one(&["", "hierarchy = \"iotf\"\n", "hierarchy = { widths = [5, 10, 20] }\n", "type = \"number\"\n"]);
        let code = *rng.one(&["hierarchy = { prefix = [3, 1] }\n", "type = \"category\"\n", "hierarchy = \"free\"\n"]);
        let born = *rng.one(&["type = \"date\"\n", "hierarchy = { dates = [\"month\", \"year\", \"decade\"] }\n"]);
        let quasi = "role = \"quasi-identifier\"\n";
        policy += &with_method(
            &format!(
                "[columns.name]\nrole = \"identifier\"\n[columns.age]\n{quasi}{age}[columns.postcode]\n{quasi}{code}\
                 [columns.job]\n{quasi}hierarchy = \"job.csv\"\n[columns.born]\n{quasi}{born}[columns.illness]\n\
                 role = \"sensitive\"\n[columns.income]\nrole = \"class\"\n[columns.note]\nrole = \"insensitive\"\n\
                 [release]\nexact = [\"illness\", \"income\", \"note\"]\n"
            ),
            &method(rng),
        );
        let job = "baker;food;*\ncook;food;*\nnurse;health;*\ndoctor;health;*\nclerk;office;*\njudge;office;*\n";
        Self {
            table,
            policy,
            hierarchies: vec![("job.csv".to_owned(), job.to_owned())],
            tree_column: Some("job".to_owned()),
            number_column: "age".to_owned(),
        }
    }

    /// Writes policy, hierarchies and the table as `table.csv`.
    pub fn write(&self, folder: &Path, delimiter: char) -> io::Result<()> {
        fs::write(folder.join("table.csv"), print(&self.table, delimiter))?;
        self.write_policy(folder)
    }

    /// Writes policy and hierarchies.
    pub fn write_policy(&self, folder: &Path) -> io::Result<()> {
        fs::write(folder.join("policy.toml"), &self.policy)?;
        self.hierarchies.iter().try_for_each(|(name, text)| fs::write(folder.join(name), text))
    }
}

/// A policy with a section for the method. Columns may follow the section, so it is inserted before them.
pub fn with_method(policy: &str, method: &str) -> String {
    match policy.find("[columns.") {
        Some(at) => format!("{}{method}{}", &policy[..at], &policy[at..]),
        None => format!("{policy}{method}"),
    }
}

/// The section of a random method, with parameters of the conformance suite.
pub fn method(rng: &mut Rng) -> String {
    method_section(rng, rng.clone().one(METHODS).name)
}

/// The section of a method, with parameters of the conformance suite.
pub fn method_section(rng: &mut Rng, name: &str) -> String {
    let others: Vec<&str> = PARAMETERS.iter().filter(|(known, _)| *known == name).map(|(_, text)| *text).collect();
    let short = SHORT_PARAMETERS.iter().find(|(known, _)| *known == name).map_or("", |(_, text)| *text);
    let parameters = if others.is_empty() || rng.chance(50) { short } else { rng.one(&others) };
    let entry = METHODS.iter().find(|entry| entry.name == name);
    let metric = entry.is_some_and(|entry| entry.objectives.default_metric().is_some()) && rng.chance(50);
    let measure = if metric { format!("[measure]\nname = \"{}\"\n", rng.one(&["ncp", "lm"])) } else { String::new() };
    format!("[method]\nname = \"{name}\"\n{parameters}\n{measure}")
}

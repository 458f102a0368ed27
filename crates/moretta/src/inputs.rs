//! What a command starts from: a policy with its hierarchies, a source, a profile.

use std::path::{Path, PathBuf};

use hashbrown::HashMap;
use moretta_core::{
    counts::Counts,
    hierarchy::{Tree, file},
    policy::{HierarchyChoice, InputOptions, Numbers, Policy},
    privacy::{self, BoundModel, Confidence},
    profile::Profile,
    released::Released,
    search,
};
use moretta_engine::{CsvOptions, Engine, LocalEngine, Settings, Source, write_pending};

use crate::{arguments::Resources, failure::Failure, watch::Watch};

/// A policy and the hierarchy files it names.
pub struct Asked {
    /// The policy.
    pub policy: Policy,
    /// The hierarchies, by column.
    pub hierarchies: HashMap<String, Tree>,
    /// Every file that was read for it.
    pub files: Vec<PathBuf>,
    /// How many guesses of `init` nobody has confirmed.
    pub unconfirmed: usize,
}

impl Asked {
    /// Reads a policy; hierarchy files are found relative to it.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let text = read_text(path)?;
        let methods = search::method_names();
        let policy = Policy::parse(&text, &methods).map_err(|error| Failure::policy(path, &text, &error))?;
        search::method_of(&policy).map_err(|error| Failure::policy(path, &text, &error))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let (mut hierarchies, mut files) = (HashMap::new(), vec![path.to_owned()]);
        for column in &policy.columns {
            if let HierarchyChoice::File(name) = &column.hierarchy {
                let file = folder.join(name);
                let tree = read_hierarchy(&file).map_err(|failure| {
                    Failure::input(format!("{} (the hierarchy of `{}`)", failure.message, column.name))
                })?;
                hierarchies.insert(column.name.clone(), tree);
                files.push(file);
            }
        }
        let unconfirmed = text.lines().filter(|line| line.contains("# CONFIRM")).count();
        Ok(Self { policy, hierarchies, files, unconfirmed })
    }
}

/// A text file.
pub fn read_text(path: &Path) -> Result<String, Failure> {
    let bytes = std::fs::read(path).map_err(|error| Failure::file("read", path, &error))?;
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        Failure::input(format!("{}, line {line}: not UTF-8 text; save the file as UTF-8", path.display()))
    })
}

/// A hierarchy file.
pub fn read_hierarchy(path: &Path) -> Result<Tree, Failure> {
    file::parse(&read_text(path)?).map_err(|error| Failure::hierarchy(path, &error))
}

/// How the policy says that CSV is written.
pub fn csv_options(input: &InputOptions) -> CsvOptions {
    CsvOptions { delimiter: input.delimiter.map(|c| c as u8), quote: input.quote as u8 }
}

/// How the user wants the work divided.
pub fn settings(resources: &Resources) -> Settings {
    let mut settings = Settings { memory: resources.memory, ..Settings::default() };
    if let Some(threads) = resources.threads {
        settings.threads = usize::from(threads);
        // The search's threads; an error means that they are there already, which no command does.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(settings.threads).build_global();
    }
    settings
}

/// An engine over a file, folder or pattern.
pub fn engine(input: &str, options: &InputOptions, settings: Settings) -> Result<LocalEngine, Failure> {
    Ok(LocalEngine::with_settings(Source::open(input, &csv_options(options))?, settings))
}

/// Every column of the input must be declared, and the other way round.
pub fn check_header(asked: &Policy, input: &str, header: &[String]) -> Result<(), Failure> {
    if !asked.columns.iter().any(|column| header.contains(&column.name)) {
        // Then the first line may be a person, who is not to be shown.
        let message = "no column of the policy is in the first line; is this another table, or is its header missing?";
        return Err(Failure::input(format!("{input}: {message}")));
    }
    asked.check_columns(header).map_err(|mismatch| Failure::input(format!("{input}: {mismatch}")))
}

/// A release has no identifiers; apart from these its columns are the input's.
pub fn check_released_header(asked: &Policy, file: &str, mut header: Vec<String>) -> Result<(), Failure> {
    let absent: Vec<String> =
        asked.identifiers().map(|column| column.name.clone()).filter(|name| !header.contains(name)).collect();
    header.extend(absent);
    check_header(asked, file, &header)
}

/// First pass: the counts and the profile of a table under a policy.
pub fn profile(
    engine: &LocalEngine,
    input: &str,
    policy: &Policy,
    hierarchies: &HashMap<String, Tree>,
) -> Result<(Counts, Profile), Failure> {
    check_header(policy, input, &engine.columns()?)?;
    let counts = engine.group_and_count(&Profile::grouped_columns(policy), &Watch::new("reading"))?;
    let profile = Profile::build(policy, hierarchies, &counts).map_err(|error| Failure::domain(input, &error))?;
    Ok((counts, profile))
}

/// A release and its original, read from their files.
pub struct Pair {
    /// The table before.
    pub original: Profile,
    /// The released file as it stands.
    pub file: Profile,
    /// The same as groups of cells.
    pub released: Released,
    /// Whether the file shows what its cells lost: one number for a whole group does not show how wide the group is.
    pub cells: bool,
}

impl Pair {
    /// Reads both; an error where they do not belong together.
    pub fn read(
        before: &str,
        after: &str,
        policy: &Policy,
        hierarchies: &HashMap<String, Tree>,
        resources: &Resources,
    ) -> Result<Self, Failure> {
        let settings = settings(resources);
        let (_, original) = profile(&engine(before, &policy.input, settings.clone())?, before, policy, hierarchies)?;
        let engine = engine(after, &policy.input, settings)?;
        let counts = engine.group_and_count(&Profile::grouped_columns(policy), &Watch::new("reading"))?;
        let in_file = |message: String| Failure::input(format!("{after}: {message}"));
        let file = Profile::of_release(policy, hierarchies, &counts).map_err(|error| in_file(error.to_string()))?;
        if file.records() != original.records() {
            return Err(in_file(format!(
                "{} records, but {before} has {}; these are not a release and its original",
                file.records(),
                original.records()
            )));
        }
        let cells = policy.release.numbers == Numbers::Interval;
        let released = match cells {
            true => Released::of_file(&original, &file).map_err(|error| in_file(error.to_string()))?,
            false => Released::of_opaque(&file),
        };
        Ok(Self { original, file, released, cells })
    }
}

/// Every model the policy asks for; an error where one would guard nothing, for nobody would notice.
pub fn bind(policy: &Policy, profile: &Profile) -> Result<Vec<Box<dyn BoundModel>>, Failure> {
    for model in Confidence::all(policy) {
        model.check_values(profile)?;
    }
    Ok(privacy::bind_all(policy, profile)?)
}

/// A template on a value that the table does not have holds whatever the table says: most likely it is misspelt.
pub fn check_templates(policy: &Policy, profile: &Profile, path: &Path) -> Result<(), Failure> {
    for model in Confidence::all(policy) {
        if let Some((value, near)) = model.unknown_value(profile) {
            let hint = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            let column = &model.template.column;
            let message = format!("a template guards `{value}`, which does not occur in column `{column}`{hint}");
            return Err(Failure::input(format!("{}: {message}", path.display())));
        }
    }
    Ok(())
}

/// What the release is to be good for must make sense of the table: else a search would make something else small, and
/// nobody would notice.
pub fn check_goals(policy: &Policy, profile: &Profile, path: &Path) -> Result<(), Failure> {
    match policy.goals().iter().find_map(|goal| goal.unfit(profile)) {
        Some(message) => Err(Failure::input(format!("{}: {message}", path.display()))),
        None => Ok(()),
    }
}

/// A table cannot have more people than it was drawn from: the population would make the risk look greater than it is,
/// and most likely it is another table's.
pub fn check_population(policy: &Policy, profile: &Profile, path: &Path) -> Result<(), Failure> {
    match policy.input.population.filter(|&population| population < profile.records()) {
        Some(population) => Err(Failure::input(format!(
            "{}: `population` in [input] is {population}, but the table has {} records; it is how many people the \
             table was drawn from, so at least as many",
            path.display(),
            profile.records()
        ))),
        None => Ok(()),
    }
}

/// Writes a small file at once: a temporary one beside it, then renamed.
pub fn write_text(path: &Path, text: &str, overwrite: bool) -> Result<(), Failure> {
    Ok(write_pending(path, text.as_bytes())?.persist(overwrite)?)
}

/// Files a command is about to write: none may be there unless it may be replaced, none may be read as well, and
/// each needs a folder.
pub fn check_outputs(outputs: &[&Path], sources: &[PathBuf], overwrite: bool) -> Result<(), Failure> {
    for (index, path) in outputs.iter().enumerate() {
        let shown = path.display();
        let same = |other: &Path| place(other) == place(path) || moretta_engine::same_file(other, path);
        if sources.iter().any(|source| same(source)) {
            return Err(Failure::input(format!(
                "{shown} is read by this command and cannot be written by it; name another file"
            )));
        }
        if outputs[..index].iter().any(|other| same(other)) {
            return Err(Failure::input(format!("{shown} is named twice as a file to write")));
        }
        if path.is_dir() {
            return Err(Failure::input(format!("{shown} is a folder; name a file to write")));
        }
        if !overwrite && path.exists() {
            return Err(Failure::input(format!(
                "{shown} exists already; name another file, or give --overwrite to replace it"
            )));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if !folder.is_dir() {
            return Err(Failure::input(format!("cannot write {shown}: there is no folder {}", folder.display())));
        }
        // Better now than after the work: the temporary file is removed at once.
        drop(write_pending(*path, &[])?);
    }
    Ok(())
}

/// Where a path leads, however it is written; for a file that may not be there yet.
fn place(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Some(folder.canonicalize().ok()?.join(path.file_name()?))
}

/// A release in the folder that was read would be part of the next input.
pub fn check_beside(output: &Path, input: &str) -> Result<(), Failure> {
    let folder = Path::new(input);
    let inside =
        folder.is_dir() && place(output).is_some_and(|place| place.parent() == folder.canonicalize().ok().as_deref());
    if inside {
        let message = format!(
            "{} would be read as input the next time; write it to another folder than {input}",
            output.display()
        );
        return Err(Failure::input(message));
    }
    Ok(())
}

//! `moretta compare`: all methods for several k, side by side.

use std::path::{Path, PathBuf};

use moretta_core::{
    counts::Counts,
    policy::Policy,
    search::{self, near_method},
};
use moretta_engine::{LocalEngine, Observer, Settings};

use crate::{
    arguments::{Compare, HeldBack},
    commands::evaluate,
    comparison::{
        self, Comparison, Pair, Refused, children, name,
        trial::{self, Against, Job},
    },
    failure::{self, Failure},
    inputs::{self, Asked},
    page, summary,
    watch::Watch,
};

#[derive(Clone, Copy)]
enum Form {
    Csv,
    Html,
}

fn form(path: &Path) -> Result<Form, Failure> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("csv") => Ok(Form::Csv),
        Some("html" | "htm") => Ok(Form::Html),
        _ => Err(Failure::input(format!(
            "{}: a comparison's name ends in .csv or .html; `--json` prints it as JSON",
            path.display()
        ))),
    }
}

/// Runs it.
pub fn run(arguments: &Compare) -> Result<(), Failure> {
    if arguments.child {
        children::end_with_parent();
    }
    let asked = Asked::read(&arguments.policy)?;
    let pairs = pairs(arguments, &asked.policy)?;
    if pairs.len() > 1 {
        check_lasting(arguments, &asked)?;
    }
    check_class(arguments, &asked.policy)?;
    let settings = inputs::settings(&arguments.resources);
    let engine = inputs::engine(&arguments.input, &asked.policy.input, settings.clone())?;
    let output = arguments.output.as_deref().map(|path| form(path).map(|form| (path, form))).transpose()?;
    if let Some((path, _)) = output {
        check_output(path, arguments, &asked, &engine)?;
    }
    let found = compared(arguments, &asked, &pairs, &engine, settings)?;

    if let Some((path, form)) = output {
        let file = Path::new(&arguments.input).file_name().unwrap_or_default().to_string_lossy();
        let text = match form {
            Form::Csv => comparison::csv(&found),
            Form::Html => page::render_comparison(&found, &asked.policy, &file),
        };
        inputs::write_text(path, &text, arguments.overwrite)?;
    }
    summary::print(&match output {
        _ if arguments.json => json(&found),
        Some((path, _)) => comparison::written(&found, path),
        None => comparison::table(&found),
    });
    Ok(())
}

fn json(comparison: &Comparison) -> String {
    serde_json::to_string_pretty(comparison).expect("texts and numbers") + "\n"
}

/// Every process reads everything again: what can be read only once, or is another thing there, will not do.
fn check_lasting(arguments: &Compare, asked: &Asked) -> Result<(), Failure> {
    let data = [Some(&arguments.input), arguments.test.as_ref()].into_iter().flatten().map(Path::new);
    let passing = |path: &&Path| {
        let own = ["/dev/stdin", "/dev/fd", "/proc"].iter().any(|folder| path.starts_with(folder));
        own || path.metadata().is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
    };
    match data.chain(asked.files.iter().map(PathBuf::as_path)).find(passing) {
        None => Ok(()),
        Some(path) => Err(Failure::input(format!(
            "{} can be read only once, and every method and k reads it anew; save it in a file first",
            path.display()
        ))),
    }
}

/// Without a class no model is trained, and what says on which records it is tested would be ignored.
fn check_class(arguments: &Compare, policy: &Policy) -> Result<(), Failure> {
    if policy.class().is_some() {
        return Ok(());
    }
    let none = "no column has the role `class`, so no model can be trained";
    let HeldBack { folds, hold_out } = &arguments.held_back;
    let given =
        [("--test", arguments.test.is_some()), ("--folds", folds.is_some()), ("--hold-out", hold_out.is_some())];
    if let Some((flag, _)) = given.iter().find(|(_, given)| *given) {
        return Err(Failure::input(format!("{flag}: {none}, and there is nothing to test")));
    }
    if !arguments.child {
        summary::note(&format!("{none}: there are no errors to compare"));
    }
    Ok(())
}

/// Every method with every k, k by k.
fn pairs(arguments: &Compare, policy: &Policy) -> Result<Vec<Pair>, Failure> {
    let mut methods: Vec<&'static str> = Vec::new();
    for asked in arguments.methods.iter().map(|name| name.trim()) {
        let known = search::method_names().into_iter().find(|known| *known == asked).ok_or_else(|| unknown(asked))?;
        if !methods.contains(&known) {
            methods.push(known);
        }
    }
    if methods.is_empty() {
        methods = search::method_names();
    }
    let privacy = &policy.privacy;
    let alone = privacy.templates.is_empty()
        && privacy.lkc.is_none()
        && privacy.l_diversity.is_empty()
        && privacy.t_closeness.is_empty();
    if alone && arguments.k.contains(&1) {
        return Err(Failure::input("--k 1: the policy asks for nothing else, and that guarantees nothing"));
    }
    let mut ks: Vec<Option<u64>> = arguments.k.iter().copied().map(Some).collect();
    ks.sort_unstable();
    ks.dedup();
    if ks.is_empty() {
        ks = vec![privacy.k];
    }
    let with_k = |k: Option<u64>| methods.iter().map(move |&method| Pair { method, k }).collect::<Vec<_>>();
    Ok(ks.into_iter().flat_map(with_k).collect())
}

fn unknown(name: &str) -> Failure {
    let hint = match near_method(name) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there is `{}`", search::method_names().join("`, `")),
    };
    Failure::input(format!("--methods: there is no method `{name}`; {hint}"))
}

fn check_output(path: &Path, arguments: &Compare, asked: &Asked, engine: &LocalEngine) -> Result<(), Failure> {
    let mut reads: Vec<PathBuf> = engine.source().paths().map(PathBuf::from).collect();
    reads.extend(asked.files.iter().cloned());
    inputs::check_beside(path, &arguments.input)?;
    if let Some(test) = &arguments.test {
        let engine = inputs::engine(test, &asked.policy.input, Settings::default())?;
        reads.extend(engine.source().paths().map(PathBuf::from));
        inputs::check_beside(path, test)?;
    }
    inputs::check_outputs(&[path], &reads, arguments.overwrite)
}

/// Reads the table, so that whatever is wrong with it is said once, and tries every pair.
fn compared(
    arguments: &Compare,
    asked: &Asked,
    pairs: &[Pair],
    engine: &LocalEngine,
    settings: Settings,
) -> Result<Comparison, Failure> {
    let plan = evaluate::plan(&arguments.held_back)?;
    let (counts, profile) = inputs::profile(engine, &arguments.input, &asked.policy, &asked.hierarchies)?;
    inputs::check_templates(&asked.policy, &profile, &arguments.policy)?;
    inputs::check_goals(&asked.policy, &profile, &arguments.policy)?;
    inputs::bind(&asked.policy, &profile)?;
    let against = match (evaluate::class(&asked.policy), &arguments.test) {
        (None, _) => Against::Nothing,
        (Some(_), Some(test)) => {
            evaluate::check_other(&arguments.input, test)?;
            Against::Others(evaluate::test_counts(test, &asked.policy, settings)?)
        }
        (Some(class), None) => {
            evaluate::check_size(&counts, plan, &arguments.input)?;
            Against::HeldBack(class, plan)
        }
    };
    let nothing = nothing(arguments, asked, &counts);
    if let [pair] = pairs {
        let found = trial::run(Job { arguments, asked, counts, profile: &profile, against }, pair)?;
        return found.map_err(|refused| alone(arguments, pair, nothing, refused));
    }
    drop((counts, profile, against));
    each_by_itself(arguments, pairs, nothing)
}

/// A comparison before the first row.
fn nothing(arguments: &Compare, asked: &Asked, counts: &Counts) -> Comparison {
    Comparison {
        records: counts.records,
        seed: arguments.seed,
        queries: arguments.queries,
        summed: None,
        measure: trial::measure(&asked.policy),
        tested: None,
        errors: None,
        spread: None,
        rows: Vec::new(),
    }
}

/// Where the only pair finds nothing, the reason is the result; a parent reads it as a row.
fn alone(arguments: &Compare, pair: &Pair, mut all: Comparison, refused: Refused) -> Failure {
    if arguments.child {
        all.rows.push(refused.row(pair));
        summary::print(&json(&all));
    }
    refused.failure
}

/// One process after the other: two at a time would disturb each other's seconds.
fn each_by_itself(arguments: &Compare, pairs: &[Pair], mut all: Comparison) -> Result<Comparison, Failure> {
    let watch = Watch::new("comparing");
    let mut refused: Vec<Failure> = Vec::new();
    for (done, pair) in pairs.iter().enumerate() {
        Observer::progress(&watch, done as u64, pairs.len() as u64);
        watch.tell(pair.name());
        match children::run(arguments, pair, all.records, &watch)? {
            Ok(one) => all.join(one),
            Err(one) => {
                all.rows.push(one.row(pair));
                refused.push(one.failure);
            }
        }
    }
    if refused.len() < pairs.len() { Ok(all) } else { Err(all_refused(pairs, &refused)) }
}

/// Where nothing was found, the reasons are the result.
fn all_refused(pairs: &[Pair], refused: &[Failure]) -> Failure {
    let unsatisfied = refused.iter().any(|failure| failure.code == failure::UNSATISFIED);
    let code = if unsatisfied { failure::UNSATISFIED } else { failure::BAD_INPUT };
    let message = match refused {
        [first, rest @ ..] if rest.iter().all(|other| other.message == first.message) => first.message.clone(),
        _ => {
            let line = |(pair, failure): (&Pair, &Failure)| {
                format!("\n  {}: {}", name(pair.method, pair.k), failure.message.replace('\n', "\n  "))
            };
            format!("no method finds anything:{}", pairs.iter().zip(refused).map(line).collect::<String>())
        }
    };
    Failure { code, message }
}

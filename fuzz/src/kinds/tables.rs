//! Random tables with random policies through every method. The naive verdicts of the conformance suite judge the
//! printed release: every model holds, every cell covers its original, all records are released, other columns are
//! unchanged, identifiers are dropped; `check` accepts the file; two threads write the same bytes as one.

use std::{fs, path::Path};

use moretta_core::search::METHODS;
use moretta_flow::ErrorKind;

use crate::{
    cells::check_cells,
    csv::{DELIMITERS, TextTable, parse_any},
    job::{Answer, Job, Notes},
    judge::{self, Persons, Violation},
    kinds::parquet,
    rng::Rng,
    stock::{Stock, method_section},
    world::World,
};

/// Share of cases in percent that are read from Parquet, and of those that run on two threads again.
const SHARE: usize = 25;

pub fn tables(rng: &mut Rng, folder: &Path) -> Result<(), Violation> {
    let world = World::new(rng.dice());
    let delimiter = *rng.one(&DELIMITERS);
    let from_parquet = rng.chance(SHARE);
    for entry in METHODS {
        let section = method_section(rng, entry.name);
        let stock = Stock::of_world(&world, &section);
        stock.write(folder, delimiter).map_err(|error| format!("cannot write\n{error}"))?;
        let input = if from_parquet { "table.parquet" } else { "table.csv" };
        if from_parquet {
            parquet::write_texts(&stock.table, &folder.join(input));
        }
        let seed = rng.next() >> 11;
        let of_method = |violation: Violation| match violation.split_once('\n') {
            Some((rule, rest)) => format!("{} ({})\n{rest}", rule, entry.name),
            None => format!("{violation} ({})", entry.name),
        };
        release(&world, &stock, folder, (input, seed)).map_err(of_method)?;
        if rng.chance(SHARE) {
            same_on_two_threads(folder, (input, seed)).map_err(of_method)?;
        }
        let _ = fs::remove_file(folder.join("out.csv"));
    }
    Ok(())
}

fn anonymize(input: &'static str, output: &'static str, seed: u64, threads: u16) -> Job {
    // The naive verdicts compare each record with its original.
    Job::Anonymize { input, output, seed, threads, keep_order: true, extras: false, earlier: None }
}

fn release(world: &World, stock: &Stock, folder: &Path, (input, seed): (&'static str, u64)) -> Result<(), Violation> {
    let persons = Persons::new(&stock.table, folder, &["table.csv", "table.parquet"]);
    let has_persons = world.policy.person().is_some();
    let notes = Notes::default();
    let result = anonymize(input, "out.csv", seed, 1).run(folder, &notes);
    persons.check(&notes.text())?;
    match result {
        Ok(_) => {}
        Err(error) => {
            judge::error(&error, &persons)?;
            let mut rows = world.rows.clone();
            rows.iter_mut().for_each(|row| row[..world.quasi.len()].fill("*".to_owned()));
            return match error.kind {
                ErrorKind::Unsatisfied if !world.holds(&world.header, &rows) => Ok(()),
                ErrorKind::Unsatisfied => Err(format!("gives up although `*` everywhere would do\n{}", error.message)),
                // A template guards values that the random table lacks.
                ErrorKind::Policy if error.message.contains("does not occur") => Ok(()),
                ErrorKind::Policy if error.message.contains("is none; raise it") => Ok(()),
                // With persons, most models are not closed under union.
                _ if has_persons && error.message.contains("may violate it together; use `best`") => Ok(()),
                _ if has_persons && error.message.contains("count as one person, which is too few") => Ok(()),
                _ => Err(format!("refuses a valid table and policy\n{}", error.message)),
            };
        }
    }
    let text = fs::read_to_string(folder.join("out.csv")).map_err(|error| format!("no release\n{error}"))?;
    let names: Vec<String> = world.quasi.iter().map(|spec| spec.name.clone()).collect();
    let mut table: TextTable = parse_any(&text, &names).ok_or("release is not a CSV table to RFC 4180 readers")?;
    let header = table.remove(0);
    check_cells(world, &header, &table, false).map_err(|error| format!("wrong cells\n{error}"))?;
    let verdicts = world.verdicts(&header, &table);
    if let Some(failing) = verdicts.iter().find(|verdict| !verdict.holds) {
        return Err(format!("release violates a model\n{failing:?}"));
    }
    match (Job::Check { released: "out.csv" }).run(folder, &Notes::default()) {
        Ok(Answer::Checked(true)) => Ok(()),
        Err(error) if has_persons && error.message.contains("the policy counts persons") => Ok(()),
        Ok(_) => Err("check finds that a release violates its policy".to_owned()),
        Err(error) => Err(format!("check refuses a release\n{}", error.message)),
    }
}

fn same_on_two_threads(folder: &Path, (input, seed): (&'static str, u64)) -> Result<(), Violation> {
    if !folder.join("out.csv").exists() {
        return Ok(());
    }
    anonymize(input, "two.csv", seed, 2)
        .run(folder, &Notes::default())
        .map_err(|error| format!("fails on two threads\n{}", error.message))?;
    let read = |name: &str| fs::read(folder.join(name)).unwrap_or_default();
    let same = read("out.csv") == read("two.csv");
    let _ = fs::remove_file(folder.join("two.csv"));
    if same { Ok(()) } else { Err("two threads write other bytes than one".to_owned()) }
}

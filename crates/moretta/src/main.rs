//! The command line: arguments in, files and messages out. What it does is in `commands`, what goes wrong in `failure`.

mod arguments;
mod commands;
mod comparison;
mod csv;
mod failure;
mod frontier;
mod inferences;
mod inputs;
mod page;
mod pipeline;
mod queries;
mod summary;
mod watch;

use std::process::ExitCode;

use arguments::{Arguments, Command};
use clap::Parser;
use failure::Failure;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { failure::BAD_INPUT } else { 0 });
        }
    };
    watch::catch_interrupts();
    match run(&arguments.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure { code, message }) => {
            summary::error(&message);
            ExitCode::from(code)
        }
    }
}

fn run(command: &Command) -> Result<(), Failure> {
    match command {
        Command::Init(arguments) => commands::init::run(arguments),
        Command::Inferences(arguments) => commands::inferences::run(arguments),
        Command::Anonymize(arguments) => commands::anonymize::run(arguments),
        Command::Check(arguments) => commands::check::run(arguments),
        Command::Measure(arguments) => commands::measure::run(arguments),
        Command::Queries(arguments) => commands::queries::run(arguments),
        Command::Frontier(arguments) => commands::frontier::run(arguments),
        Command::Apply(arguments) => commands::apply::run(arguments),
        Command::Evaluate(arguments) => commands::evaluate::run(arguments),
        Command::Compare(arguments) => commands::compare::run(arguments),
        Command::Reproduce(arguments) => commands::reproduce::run(arguments),
        Command::Hierarchy(arguments) => commands::hierarchy::run(arguments),
        Command::Methods(arguments) => {
            commands::list::methods(arguments);
            Ok(())
        }
        Command::Measures(arguments) => {
            commands::list::measures(arguments);
            Ok(())
        }
        Command::Models(arguments) => {
            commands::list::models(arguments);
            Ok(())
        }
        Command::Demo(arguments) => commands::demo::run(arguments),
    }
}

//! The command line: arguments in, requests to `moretta-flow`, texts out. One file per command in `commands`.
//!
//! It is a library, so that other programs that contain moretta, such as the Python package, have the same command line.

mod arguments;
mod child_process;
mod commands;
pub mod json;
mod stdout;
mod summary;
mod tables;
mod terminal;
pub mod values;

use std::{ffi::OsString, sync::OnceLock};

use arguments::{Arguments, Command};
use clap::Parser;
use moretta_core::text::escaped;
use moretta_flow::{ErrorKind, FlowError};

/// The exit code of bad usage or input.
const BAD_INPUT_CODE: u8 = 2;
/// The exit code after Ctrl-C.
const INTERRUPTED_CODE: u8 = 130;

/// The exit code of a kind of error; a defect of moretta ends like a panic.
fn exit_code(kind: ErrorKind) -> u8 {
    match kind {
        ErrorKind::Unsatisfied => 1,
        ErrorKind::Usage | ErrorKind::Policy | ErrorKind::Memory | ErrorKind::Input => BAD_INPUT_CODE,
        ErrorKind::Interrupted => INTERRUPTED_CODE,
        ErrorKind::Internal => 101,
    }
}

/// Keeps panics silent that are caught: the decoder of Parquet panics on some damaged files.
fn silence_caught_panics() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !moretta_engine::catches_panics() {
            print(panic);
        }
    }));
}

/// Name by which this command line was called.
static CALLED: OnceLock<OsString> = OnceLock::new();

/// Name by which this command line was called; `None` outside [`run`].
fn called() -> Option<&'static OsString> {
    CALLED.get()
}

/// Runs the command line of a process whose first argument is its name, and returns the exit code. `child` is the
/// command that starts the same command line in another process; the current executable by default.
///
/// To be called once, before other threads start: from now on signals go to the command.
pub fn run(arguments: &[OsString], child: Option<Vec<OsString>>) -> u8 {
    // The command line of a process runs once.
    let _ = CALLED.set(arguments.first().cloned().unwrap_or_default());
    silence_caught_panics();
    child_process::start_with(child);
    let parsed = match Arguments::try_parse_from(arguments) {
        Ok(parsed) => parsed,
        Err(error) => {
            if error.use_stderr() {
                print_usage(&error, arguments);
                return BAD_INPUT_CODE;
            }
            // Help or version.
            return ended(stdout::print(&error.render().ansi().to_string()));
        }
    };
    terminal::catch_signals();
    ended(run_command(parsed.command))
}

/// Prints the error, if any, and returns the exit code.
fn ended(result: Result<(), FlowError>) -> u8 {
    match result {
        Ok(()) => 0,
        Err(FlowError { kind, message, .. }) => {
            summary::error(&message);
            exit_code(kind)
        }
    }
}

/// Prints an error of the command line, or the help. An argument may be the name of a file, with control characters.
fn print_usage(error: &clap::Error, arguments: &[OsString]) {
    let is_plain = |argument: &OsString| {
        let argument = argument.to_string_lossy();
        escaped(&argument) == argument
    };
    if arguments.iter().all(is_plain) {
        let _ = error.print();
    } else {
        eprint!("{}", escaped(&error.to_string()));
    }
}

fn run_command(command: Command) -> Result<(), FlowError> {
    match command {
        Command::Init(arguments) => commands::init::run(arguments),
        Command::Risks(arguments) => commands::risks::run(arguments),
        Command::Policy(arguments) => commands::policy::run(arguments),
        Command::Inferences(arguments) => commands::inferences::run(arguments),
        Command::Anonymize(arguments) => commands::anonymize::run(arguments),
        Command::Bound(arguments) => commands::bound::run(arguments),
        Command::Check(arguments) => commands::check::run(arguments),
        Command::Linkage(arguments) => commands::linkage::run(arguments),
        Command::Measure(arguments) => commands::measure::run(arguments),
        Command::Queries(arguments) => commands::queries::run(arguments),
        Command::Frontier(arguments) => commands::frontier::run(arguments),
        Command::Apply(arguments) => commands::apply::run(arguments),
        Command::Evaluate(arguments) => commands::evaluate::run(arguments),
        Command::Compare(arguments) => commands::compare::run(&arguments),
        Command::Reproduce(arguments) => commands::reproduce::run(&arguments),
        Command::Report(arguments::Report::Verify(arguments)) => commands::report::verify(arguments),
        Command::Hierarchy(arguments) => commands::hierarchy::run(arguments),
        Command::Methods(arguments) => commands::list::methods(arguments.json),
        Command::Measures(arguments) => commands::list::measures(arguments.json),
        Command::Models(arguments) => commands::list::models(arguments.json),
        Command::Formats(arguments) => commands::list::formats(arguments.json),
        Command::Demo(arguments) => commands::demo::run(&arguments),
    }
}

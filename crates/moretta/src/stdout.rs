//! Standard output. All that the program prints there goes through this module, so that lost output is an error.

use std::io::{ErrorKind, Write};

use moretta_flow::FlowError;

/// Prints text for people; styles are removed if standard output is not a terminal.
pub fn print(text: &str) -> Result<(), FlowError> {
    write(anstream::stdout(), text)
}

/// Prints data for programs, byte by byte.
pub fn print_data(text: &str) -> Result<(), FlowError> {
    write(std::io::stdout(), text)
}

/// Writes and flushes. A closed pipe is not an error: its reader, such as `head`, needs no more, and the exit code
/// stays that of the command (`moretta check .. | head -1` still fails if the policy is violated).
fn write(mut stdout: impl Write, text: &str) -> Result<(), FlowError> {
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(FlowError::usage(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

//! `moretta init`

use moretta_flow::{FlowError, OutputFile};

use super::run_request;
use crate::{
    arguments::{Init, Resources},
    stdout::{print, print_data},
    summary,
};

pub fn run(arguments: Init) -> Result<(), FlowError> {
    let Init { input, output, table, overwrite } = arguments;
    let [output, table] = [output, table].map(|path| OutputFile { path, overwrite });
    let request = moretta_flow::Init { input: input.into(), output, table };
    let draft = run_request(&Resources::default(), |session| session.init(&request))?;
    let written = match &request.output.path {
        Some(path) => summary::guesses(&draft.guesses, path),
        None if request.table.path.is_none() => return print_data(&draft.text),
        None => String::new(),
    };
    let table = request.table.path.as_deref().map_or(String::new(), |path| {
        format!("wrote {}, a line per column; review each, and set `confirmed` to yes\n", summary::file_name(path))
    });
    print(&(written + &table))
}

//! Results for programs, as `--json` prints them. Results that are not here serialize themselves.

pub use crate::{
    commands::{
        check::json_of as check,
        evaluate::json_of as evaluation,
        list::{formats_json as formats, measures_json as measures, methods_json as methods, models_json as models},
        measure::json_of as measured,
    },
    summary::to_json as of,
};

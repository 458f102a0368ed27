//! `moretta methods`, `measures`, `models`, `formats`: prints the registries.

use moretta_core::{
    measure::{MEASURES, MeasureEntry},
    privacy::{MODELS, ModelEntry},
    search::{AcceptedObjectives, METHODS, MethodEntry},
};
use moretta_engine::{FORMATS, FormatEntry, PACKINGS};
use moretta_flow::FlowError;
use serde_json::json;

use crate::{
    stdout::{print, print_data},
    summary::to_json,
};

pub fn methods(json: bool) -> Result<(), FlowError> {
    if json {
        return print_data(&methods_json());
    }
    for (index, method) in METHODS.iter().enumerate() {
        let gap = if index > 0 { "\n" } else { "" };
        print(&format!("{gap}{}\n    {}\n", method.name, method.summary))?;
        if let Some(loss) = method.objectives.default_metric() {
            let also = match method.objectives {
                AcceptedObjectives::Any(_) => " (any measure, or a weighted sum of several)",
                _ => "",
            };
            print(&format!("    minimizes {} by default; set [measure] to change it{also}\n", loss.name()))?;
        }
        for parameter in method.parameters {
            let key = format!("{} = {}", parameter.key, parameter.default);
            print(&format!("    {key:<20} {}\n", parameter.meaning))?;
        }
    }
    Ok(())
}

pub fn measures(json: bool) -> Result<(), FlowError> {
    if json {
        return print_data(&measures_json());
    }
    for measure in MEASURES {
        print(&format!("{:<12} {}\n", measure.name, measure.summary))?;
    }
    Ok(())
}

pub fn models(json: bool) -> Result<(), FlowError> {
    if json {
        return print_data(&models_json());
    }
    let widest = MODELS.iter().map(|model| model.name.len()).max().unwrap_or(0);
    for model in MODELS {
        let example: String = model.example.lines().map(|line| format!("    {line}\n")).collect();
        print(&format!("{:<widest$} {}\n{example}\n", model.name, model.summary))?;
    }
    Ok(())
}

pub fn formats(json: bool) -> Result<(), FlowError> {
    if json {
        return print_data(&formats_json());
    }
    for entry in &FORMATS {
        let names = extensions(entry).join(", ");
        print(&format!("{:<13} {names}\n{:13} {}\n", entry.name, "", entry.remark))?;
        if entry.packed {
            let packed: Vec<String> =
                PACKINGS.iter().map(|packing| format!(".{} ({})", packing.extension, packing.name)).collect();
            print(&format!(
                "{:13} also compressed as a whole: {} after the extension, as in .csv.gz\n",
                "",
                packed.join(", ")
            ))?;
        }
    }
    print("\nAll are read and written. `-` is standard input or output; --format names its format.\n")
}

/// Extensions of a format, with dot.
fn extensions(entry: &FormatEntry) -> Vec<String> {
    entry.extensions.iter().map(|end| format!(".{end}")).collect()
}

/// The methods for programs.
pub fn methods_json() -> String {
    let entry = |m: &MethodEntry| json!({"name": m.name, "summary": m.summary, "measure": m.objectives.default_metric(), "parameters": m.parameters});
    to_json(&METHODS.iter().map(entry).collect::<Vec<_>>())
}

/// The measures for programs.
pub fn measures_json() -> String {
    let entry = |m: &MeasureEntry| json!({"name": m.name, "summary": m.summary});
    to_json(&MEASURES.iter().map(entry).collect::<Vec<_>>())
}

/// The privacy models for programs.
pub fn models_json() -> String {
    let entry = |m: &ModelEntry| json!({"name": m.name, "summary": m.summary, "example": m.example});
    to_json(&MODELS.iter().map(entry).collect::<Vec<_>>())
}

/// The file formats for programs.
pub fn formats_json() -> String {
    let packings = || PACKINGS.iter().map(|entry| format!(".{}", entry.extension));
    let entry = |entry: &FormatEntry| {
        let packed: Vec<String> = if entry.packed { packings().collect() } else { Vec::new() };
        json!({"name": entry.name, "extensions": extensions(entry), "compressed": packed, "read": true, "write": true,
               "remark": entry.remark})
    };
    to_json(&FORMATS.iter().map(entry).collect::<Vec<_>>())
}

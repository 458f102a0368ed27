//! The result of `linkage`, and the lines on earlier releases of `anonymize`.

use std::fmt::Write as _;

use moretta_core::text::{count, counted, one_line, shown};
use moretta_insight::linkage::{JointResult, Linkage, NO_PROOF, RANDOM_ORDER, Targets};

use crate::summary::{BAD, GOOD, records};

/// Returns the summary of `linkage`.
pub fn text(linkage: &Linkage) -> String {
    let mut text = String::new();
    for release in &linkage.releases {
        let groups = counted(release.groups as u64, "group", "groups");
        let _ = writeln!(text, "{}: {} in {groups}", one_line(&release.file), records(release.rows));
    }
    let total = linkage.targets.counted(linkage.total);
    let _ = writeln!(text, "together, for an attacker who knows the quasi-identifiers of a person: {total} judged");
    text += &lines(linkage);
    if linkage.targets == Targets::Regions {
        text +=
            "  note   a region is an intersection of boxes, and some may have no person; --original counts people\n";
    }
    text
}

/// Returns a line for each model and each sensitive column, and the notes on all results.
pub fn lines(linkage: &Linkage) -> String {
    let mut text = String::new();
    for JointResult { model, holds, violating, total, worst, .. } in &linkage.models {
        let total = linkage.targets.counted(*total);
        let (model, worst) = (one_line(&model.to_string()), one_line(worst));
        let _ = match holds {
            true => writeln!(text, "  {GOOD}ok{GOOD:#}     {model}: worst joint group has {worst}"),
            false => {
                let violating = count(*violating);
                writeln!(
                    text,
                    "  {BAD}FAIL{BAD:#}   {model}: violated for {violating} of {total}; worst joint group has {worst}"
                )
            }
        };
    }
    let total = linkage.targets.counted(linkage.total);
    let _ = writeln!(text, "  joint  the smallest joint group has {}", records(linkage.smallest_joint_group));
    for column in &linkage.certain {
        let (together, alone) = (count(column.together), count(column.alone));
        let _ = writeln!(
            text,
            "  values `{}` is certain for {together} of {total} ({alone} from a single release)",
            shown(&column.column)
        );
    }
    let _ = writeln!(text, "  note   {RANDOM_ORDER}");
    if linkage.holds {
        let _ = writeln!(text, "  note   {NO_PROOF}");
    }
    text
}

//! Measures of what a recipient's model can still be built on: by what the policy says of classes and numbers where it
//! does, otherwise plainly and of the class.

use super::MeasureContext;
use crate::{
    ids::AttributeId,
    objective::{Costs, Dispersion, Purpose},
    privacy::Group,
    profile::Member,
};

/// By the first goal of the policy that is one, with its column and costs; otherwise of the class column.
pub(super) fn cm(context: &MeasureContext<'_>) -> Option<f64> {
    as_asked(context, &Purpose::Classification { column: None, costs: Costs::default() })
}

/// By the first goal of the policy that is one, with its column and dispersion; otherwise of the class column.
pub(super) fn rm(context: &MeasureContext<'_>) -> Option<f64> {
    as_asked(context, &Purpose::Regression { column: None, dispersion: Dispersion::default() })
}

fn as_asked(context: &MeasureContext<'_>, default: &Purpose) -> Option<f64> {
    let mut purposes = context.objectives.iter().map(|goal| &goal.purpose);
    purposes.find(|purpose| purpose.name() == default.name()).unwrap_or(default).value(context)
}

/// The mean cost of a record that is called by its group's majority, or suppressed.
pub(super) fn mistakes(context: &MeasureContext<'_>, class: AttributeId, costs: &Costs) -> f64 {
    let costs = costs.bind(&context.records.attributes()[class.index()]);
    let of_group = |group: usize| {
        let members = context.released.grouping().members(group);
        let suppressed = context.released.is_suppressed(group);
        // Most groups of a table as it is: one member has one class, and nothing to count.
        if members.len() == 1 && !suppressed {
            return 0.0;
        }
        let group = Group::new(context.records, members);
        let histogram = group.histogram(class);
        match suppressed {
            true => histogram.iter().map(|&(class, n)| costs.of_suppressed(class) * n as f64).sum(),
            false => costs.of_group(histogram),
        }
    };
    (0..context.released.groups()).map(of_group).sum::<f64>() / context.total()
}

/// How numbers are dispersed within groups, over how they are in the table; suppressed records are one group. None
/// where not all are numbers.
pub(super) fn dispersed(context: &MeasureContext<'_>, column: AttributeId, dispersion: Dispersion) -> Option<f64> {
    let numbers = context.records.attributes()[column.index()].numbers.as_ref()?;
    let of_members = |members: &[Member]| match members {
        [_] => 0.0,
        _ => dispersion.of(numbers, Group::new(context.records, members).histogram(column)),
    };
    let whole = of_members(&context.records.everything());
    let within: f64 =
        (0..context.released.groups()).map(|group| of_members(context.released.grouping().members(group))).sum();
    Some(if whole > 0.0 { within / whole } else { 0.0 })
}

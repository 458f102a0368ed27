//! Classification metric (Iyengar 2002): records that differ from the majority class of their group.

use super::{MeasureContext, MeasureEntry, goal};
use crate::{
    ids::AttributeId,
    objective::{Costs, Purpose},
    privacy::Group,
};

pub(super) const ENTRY: MeasureEntry = MeasureEntry {
    name: "cm",
    summary: "classification metric: share of records suppressed or not of their group's majority class, by `costs` if any",
    value: |context| goal::of_policy(context, &Purpose::Classification { column: None, costs: Costs::default() }),
    of_column: None,
    needs_cells: false,
};

/// Mean cost per record of classifying it by its group's majority, or of its suppression.
pub(super) fn mistakes(context: &MeasureContext<'_>, class: AttributeId, costs: &Costs) -> f64 {
    let costs = costs.bind(&context.records.attributes()[class.index()]);
    let of_group = |group: usize| {
        let members = context.released.grouping().members(group);
        let suppressed = context.released.is_suppressed(group);
        // Most groups of an original table have one member, which has one class: there is nothing to count.
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

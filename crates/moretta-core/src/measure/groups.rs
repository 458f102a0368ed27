//! Measures of how large the groups are.

use super::MeasureContext;

pub(super) fn dm(context: &MeasureContext<'_>) -> Option<f64> {
    let released = context.released;
    let of_group =
        |group: usize| if released.is_suppressed(group) { context.total() } else { released.records(group) as f64 };
    Some((0..released.groups()).map(|group| released.records(group) as f64 * of_group(group)).sum())
}

pub(super) fn avg(context: &MeasureContext<'_>) -> Option<f64> {
    Some(context.total() / (context.released.groups() as f64 * context.k? as f64))
}

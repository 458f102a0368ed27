//! Measures of how imprecise the released cells are.

use super::MeasureContext;
use crate::objective::Loss;

/// Over columns by their weights, the mean loss of a cell.
pub(super) fn mean(context: &MeasureContext<'_>, loss: Loss) -> f64 {
    let lost = |cell: &crate::released::Loss| match loss {
        Loss::Ncp => cell.ncp,
        Loss::Lm => cell.lm,
    };
    context.mean_over_records(|group| {
        context
            .released
            .losses(group)
            .iter()
            .zip(&context.weights)
            .map(|(cell, weight)| weight * lost(cell))
            .sum::<f64>()
    })
}

pub(super) fn ncp(context: &MeasureContext<'_>) -> Option<f64> {
    Some(mean(context, Loss::Ncp) * context.total())
}

pub(super) fn gcp(context: &MeasureContext<'_>) -> Option<f64> {
    Some(ncp(context)? / (context.total() * context.weights.iter().sum::<f64>()))
}

pub(super) fn lm(context: &MeasureContext<'_>) -> Option<f64> {
    Some(context.mean_over_records(|group| context.released.losses(group).iter().map(|loss| loss.lm).sum::<f64>()))
}

/// The mean over columns of the share of its range that a group spans.
fn spanned(context: &MeasureContext<'_>, group: usize) -> f64 {
    let losses = context.released.losses(group);
    losses.iter().map(|loss| loss.ncp).sum::<f64>() / losses.len() as f64
}

pub(super) fn ntil(context: &MeasureContext<'_>) -> Option<f64> {
    Some(context.mean_over_records(|group| spanned(context, group)))
}

pub(super) fn nil1(context: &MeasureContext<'_>) -> Option<f64> {
    let groups = context.released.groups();
    Some((0..groups).map(|group| spanned(context, group)).sum::<f64>() / groups as f64)
}

pub(super) fn nil_inf(context: &MeasureContext<'_>) -> Option<f64> {
    let groups = 0..context.released.groups();
    let columns = context.weights.len();
    let worst =
        |column: usize| groups.clone().map(|group| context.released.losses(group)[column].ncp).fold(0.0, f64::max);
    Some((0..columns).map(worst).sum::<f64>() / columns as f64)
}

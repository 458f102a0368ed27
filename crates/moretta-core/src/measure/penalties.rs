//! Measures of how imprecise the released cells are.

use super::Scene;
use crate::objective::Loss;

/// Over columns by their weights, the mean loss of a cell.
pub(super) fn mean(scene: &Scene<'_>, loss: Loss) -> f64 {
    let lost = |cell: &crate::released::Loss| match loss {
        Loss::Ncp => cell.ncp,
        Loss::Lm => cell.lm,
    };
    scene.mean_over_records(|group| {
        scene.released.losses(group).iter().zip(scene.weights).map(|(cell, weight)| weight * lost(cell)).sum::<f64>()
    })
}

pub(super) fn ncp(scene: &Scene<'_>) -> Option<f64> {
    Some(mean(scene, Loss::Ncp) * scene.total())
}

pub(super) fn gcp(scene: &Scene<'_>) -> Option<f64> {
    Some(ncp(scene)? / (scene.total() * scene.weights.iter().sum::<f64>()))
}

pub(super) fn lm(scene: &Scene<'_>) -> Option<f64> {
    Some(scene.mean_over_records(|group| scene.released.losses(group).iter().map(|loss| loss.lm).sum::<f64>()))
}

/// The mean over columns of the share of its range that a group spans.
fn spanned(scene: &Scene<'_>, group: usize) -> f64 {
    let losses = scene.released.losses(group);
    losses.iter().map(|loss| loss.ncp).sum::<f64>() / losses.len() as f64
}

pub(super) fn ntil(scene: &Scene<'_>) -> Option<f64> {
    Some(scene.mean_over_records(|group| spanned(scene, group)))
}

pub(super) fn nil1(scene: &Scene<'_>) -> Option<f64> {
    let groups = scene.released.groups();
    Some((0..groups).map(|group| spanned(scene, group)).sum::<f64>() / groups as f64)
}

pub(super) fn nil_inf(scene: &Scene<'_>) -> Option<f64> {
    let groups = 0..scene.released.groups();
    let columns = scene.weights.len();
    let worst =
        |column: usize| groups.clone().map(|group| scene.released.losses(group)[column].ncp).fold(0.0, f64::max);
    Some((0..columns).map(worst).sum::<f64>() / columns as f64)
}

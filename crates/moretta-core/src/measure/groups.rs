//! Measures of how large the groups are.

use super::Scene;

pub(super) fn dm(scene: &Scene<'_>) -> Option<f64> {
    let released = scene.released;
    let of_group =
        |group: usize| if released.is_suppressed(group) { scene.total() } else { released.records(group) as f64 };
    Some((0..released.groups()).map(|group| released.records(group) as f64 * of_group(group)).sum())
}

pub(super) fn avg(scene: &Scene<'_>) -> Option<f64> {
    Some(scene.total() / (scene.released.groups() as f64 * scene.k? as f64))
}

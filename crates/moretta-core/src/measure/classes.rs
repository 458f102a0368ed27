//! Measures of what a recipient's model can still be built on.

use super::Scene;
use crate::privacy::{Group, Member};

pub(super) fn cm(scene: &Scene<'_>) -> Option<f64> {
    let class = scene.records.class()?;
    let penalised = |group: usize| {
        let records = scene.released.records(group);
        if scene.released.is_suppressed(group) {
            return records;
        }
        let members = scene.released.grouping().members(group);
        // Most groups of a table as it is: one member has one class, and nothing to count.
        if members.len() == 1 {
            return 0;
        }
        let group = Group::new(scene.records, members);
        records - group.histogram(class).iter().map(|(_, records)| *records).max().unwrap_or(0)
    };
    Some((0..scene.released.groups()).map(penalised).sum::<u64>() as f64 / scene.total())
}

/// Variance about the mean, within groups over within the table; suppressed records are one group.
pub(super) fn rm(scene: &Scene<'_>) -> Option<f64> {
    let class = scene.records.class()?;
    let numbers = scene.records.attributes()[class.index()].numbers.as_ref()?;
    let dispersion = |members: &[Member]| {
        if members.len() == 1 {
            return 0.0;
        }
        let group = Group::new(scene.records, members);
        let histogram = group.histogram(class);
        let records: u64 = histogram.iter().map(|(_, records)| records).sum();
        let value = |code: u32| numbers[code as usize];
        let mean = histogram.iter().map(|&(code, n)| value(code) * n as f64).sum::<f64>() / records as f64;
        histogram.iter().map(|&(code, n)| (value(code) - mean).powi(2) * n as f64).sum::<f64>()
    };
    let whole = dispersion(&scene.records.everything());
    let within: f64 =
        (0..scene.released.groups()).map(|group| dispersion(scene.released.grouping().members(group))).sum();
    Some(if whole > 0.0 { within / whole } else { 0.0 })
}

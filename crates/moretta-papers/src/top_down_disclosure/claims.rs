//! Comparison with the published errors.

use moretta_insight::evaluate::{Errors, Spread, mean};

use super::{
    credit::{ADULT, ADULT_WITH_HIERARCHIES, CRX, DataSet, GERMAN},
    errors::{ErrorsFor, shown},
};
use crate::{
    document::{Document, percent, points, span},
    error::PaperError,
};

/// Maximum difference from a published error that counts as agreement, if the split is the published one.
pub(super) const NEAR: f64 = 0.005;
/// Tolerance for errors that the paper calls "about", and for differences of errors.
const ABOUT: f64 = 0.01;
const ABOUT_DIFFERENCE: f64 = 0.03;

/// Published errors of a data set.
pub(super) struct Published {
    pub(super) set: &'static DataSet,
    /// Baseline error BE.
    pub(super) base: f64,
    /// Maximum of SE - BE; `None` if the paper gives none.
    pub(super) more: Option<f64>,
    /// Minimum and maximum of SE, if published.
    released: Option<(f64, f64)>,
    /// RE - SE by number of sensitive columns.
    removed: &'static [(usize, f64)],
}

/// The paper has no figures with hierarchies; those results are compared with the published ones without.
pub(super) const PUBLISHED: [Published; 4] = [
    Published { set: &ADULT, base: 0.176, more: Some(0.008), released: None, removed: &[(4, 0.06)] },
    Published { set: &ADULT_WITH_HIERARCHIES, base: 0.176, more: Some(0.008), released: None, removed: &[] },
    Published {
        set: &CRX,
        base: 0.154,
        more: Some(0.011),
        released: Some((0.154, 0.165)),
        removed: &[(1, 0.101), (4, 0.313)],
    },
    Published { set: &GERMAN, base: 0.288, more: None, released: None, removed: &[] },
];
/// Name of an error, its published value, and the function that selects the reproduced one.
type About = (&'static str, f64, fn(&Errors) -> f64);

/// Published approximate SE and RE for German from Top2 on.
const GERMAN_ABOUT: [About; 2] =
    [("SE", 0.31, |errors| errors.released), ("RE", 0.36, |errors| errors.removed.unwrap_or(f64::NAN))];

/// Errors under the policies that can be satisfied.
type Met<'a> = Vec<(&'a ErrorsFor, &'a Spread)>;

/// Adds the claims. `majority` is the error of predicting the most frequent class for every record.
pub(super) fn add(
    document: &mut Document,
    published: &Published,
    found: &[ErrorsFor],
    majority: f64,
) -> Result<(), PaperError> {
    let met: Met<'_> = found.iter().filter_map(|found| Some((found, found.errors.as_ref()?))).collect();
    base(document, published, &met);
    if let Some(most) = published.more {
        more(document, published, &met, (most, found.len() - met.len()))?;
    }
    for &(columns, said) in published.removed {
        removed(document, published, &met, (columns, said))?;
    }
    if published.set.name == GERMAN.name {
        for (what, said, value) in GERMAN_ABOUT {
            german(document, &met, (what, said, value), majority)?;
        }
    }
    Ok(())
}

fn base(document: &mut Document, published: &Published, met: &Met<'_>) {
    let Some((_, first)) = met.first().filter(|_| published.set.hierarchies.is_none()) else { return };
    let (ours, spread) = (first.mean.raw, first.deviation.map(|deviation| deviation.raw));
    let within = if spread.is_some() { "within the spread" } else { "within 0.5 points" };
    let holds = (ours - published.base).abs() <= spread.unwrap_or(NEAR).max(NEAR);
    let what = format!("{}, BE, {within}", published.set.name);
    document.claim(&what, &percent(published.base), shown(ours, spread), holds);
}

/// SE - BE.
fn more(
    document: &mut Document,
    published: &Published,
    met: &Met<'_>,
    (most_said, unmet): (f64, usize),
) -> Result<(), PaperError> {
    let name = published.set.name;
    let difference = |spread: &Spread| spread.mean.released - spread.mean.raw;
    let (least, most) = span(met.iter().map(|(_, spread)| difference(spread)))?;
    let unmet = if unmet == 0 { String::new() } else { format!(" ({unmet} of {} cannot be met)", unmet + met.len()) };
    let ours = format!("{} to {} points{unmet}", points(least), points(most));
    let said = match published.set.hierarchies {
        Some(_) => format!("(without: below {} points)", points(most_said)),
        None => format!("below {} points", points(most_said)),
    };
    let above = met.iter().filter(|(_, spread)| difference(spread) >= most_said);
    let above: Vec<String> =
        above.map(|(found, _)| format!("Top{} at {}", found.columns, percent(found.confidence))).collect();
    document.claim(&format!("{name}, SE - BE"), &said, ours, most < most_said).because(format!(
        "It is larger for {} only, of {} that can be met. Without hierarchies, a value is either disclosed or \
         suppressed; in the section with hierarchies, its parent may be disclosed instead.",
        above.join(", "),
        met.len()
    ));
    Ok(())
}

/// RE - SE, averaged over h.
fn removed(
    document: &mut Document,
    published: &Published,
    met: &Met<'_>,
    (columns, said): (usize, f64),
) -> Result<(), PaperError> {
    let with = || met.iter().filter(|(found, _)| found.columns == columns).map(|(_, spread)| &spread.mean);
    let all = |value: &dyn Fn(&Errors) -> f64| {
        mean(&with().map(value).collect::<Vec<_>>()).ok_or_else(|| PaperError::without("table that can be met"))
    };
    let without = |errors: &Errors| errors.removed.unwrap_or(f64::NAN);
    let (released, removed) = (all(&|errors| errors.released)?, all(&without)?);
    let ours = removed - released;
    let holds = (ours - said).abs() <= ABOUT_DIFFERENCE;
    let what = format!("{}, RE - SE for Top{columns}, mean over h, within 3 points", published.set.name);
    let published_sum = published.released.map_or(String::new(), |(least, most)| {
        format!(" (published SE and RE - SE add up to {} to {})", percent(least + said), percent(most + said))
    });
    let claim = document.claim(&what, &format!("{} points", points(said)), format!("{} points", points(ours)), holds);
    claim.because(format!("RE is {}{published_sum}, and SE {}.", percent(removed), percent(released)));
    Ok(())
}

fn german(document: &mut Document, met: &Met<'_>, (what, said, value): About, majority: f64) -> Result<(), PaperError> {
    let (least, most) =
        span(met.iter().filter(|(found, _)| found.columns >= 2).map(|(_, spread)| value(&spread.mean)))?;
    let holds = most <= said + ABOUT && least >= said - ABOUT;
    let (ours, published) =
        (format!("{} to {}", percent(least), percent(most)), format!("about {:.0} %", 100.0 * said));
    let what = format!("{}, {what} from Top2 on, within a point", GERMAN.name);
    document.claim(&what, &published, ours, holds).because(format!(
        "Predicting the most frequent class for every record has an error of {}. The program that trained the \
         published trees and the 334 test records are not known.",
        percent(majority)
    ));
    Ok(())
}

//! A point of a path as a recoding.

use crate::{
    privacy::BoundModel,
    profile::Profile,
    recoding::{Cut, suppressed_by},
    search::Step,
};

/// The cut after so many steps, with those tuples suppressed that would break a model. It need not satisfy the policy:
/// that is for [`verify`](mod@crate::verify) to say.
pub fn cut_at(profile: &Profile, models: &[Box<dyn BoundModel>], steps: &[Step], at: usize, suppress: bool) -> Cut {
    let mut cut = Cut::identity(profile);
    steps[..at].iter().for_each(|step| cut.apply(step));
    if suppress {
        cut.suppressed = suppressed_by(profile, models, &cut);
    }
    cut
}

//! `moretta linkage`: fails if the releases together do not satisfy the policy.

use moretta_flow::{FlowError, LinkReleases};

use super::run_request;
use crate::{
    arguments::Linkage,
    stdout::{print, print_data},
    summary::to_json,
    tables,
};

pub fn run(arguments: Linkage) -> Result<(), FlowError> {
    let Linkage { releases, policy, original, json, resources } = arguments;
    let releases = releases.into_iter().map(Into::into).collect();
    let (source, original) = (policy.clone().into(), original.map(Into::into));
    let request = LinkReleases { releases, policy: source, original };
    let linkage = run_request(&resources, |session| session.linkage(&request))?;
    if json {
        print_data(&to_json(&linkage))?;
    } else {
        print(&tables::linkage::text(&linkage))?;
    }
    if linkage.holds {
        return Ok(());
    }
    let together = format!("the releases together do not satisfy {}", policy.display());
    Err(FlowError::unsatisfied(together))
}

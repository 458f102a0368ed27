mod golden;
mod lower;
mod numbers;
mod published;
mod random;
mod reference;

use super::{TopDownDisclosure, TopDownParams};
use crate::{
    search::{Method, NoObserver, Outcome, SearchError, Task},
    testing::TestTable,
};

fn run(table: &TestTable, params: TopDownParams) -> Result<Outcome, SearchError> {
    let task = Task { profile: &table.profile, models: &table.models, max_suppressed: 0, seed: 0 };
    TopDownDisclosure(params).run(&task, &NoObserver)
}

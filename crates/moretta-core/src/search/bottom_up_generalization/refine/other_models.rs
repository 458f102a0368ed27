//! Checks whether models other than k-anonymity hold after a reversal.
//!
//! Without a suppression budget, every group of a state satisfies its models, and a reversal only splits the groups
//! that carry its node. These are judged again, in each scope that contains the column: the cost is the tuples below
//! the node. With a budget, the records to suppress depend on all groups together, so all groups are judged.

use super::state::{CutState, Reversal};
use crate::{
    ids::{NodeId, TupleId},
    privacy::Group,
    profile::VariantCount,
    recoding::Suppression,
    search::{cluster::members_of, grouping::group_rows},
};

/// Work of judging the records of a tuple, relative to reading the tuple; a rough estimate.
const JUDGE_WORK: u64 = 4;
/// Work per variant of finding the records to suppress, relative to reading a tuple; a rough estimate.
const SUPPRESS_WORK: u64 = 20;

impl CutState<'_> {
    /// Whether the models other than k-anonymity hold after a reversal.
    pub(super) fn satisfies_after(&mut self, reversal: Reversal) -> bool {
        if self.context.max_suppressed == 0 {
            self.changed_groups_satisfy(reversal)
        } else {
            self.all_groups_satisfy(reversal)
        }
    }

    fn all_groups_satisfy(&mut self, reversal: Reversal) -> bool {
        let before = self.nodes[reversal.column].clone();
        self.reverted_children(reversal).into_iter().for_each(|child| self.generalize(reversal.column, child));
        let Suppression { suppressed, work } = self.context.suppression(&self.nodes);
        self.work += work.max(SUPPRESS_WORK * self.context.profile.variants() as u64);
        self.nodes[reversal.column] = before;
        suppressed.is_some()
    }

    fn changed_groups_satisfy(&mut self, reversal: Reversal) -> bool {
        let context = self.context;
        let Reversal { column, node, child } = reversal;
        let tree = context.taxonomies[column].tree();
        let part = |code: u32| match child {
            None => tree.child_above(node, code),
            Some(child) if (tree.range(child).0..=tree.range(child).1).contains(&code) => child,
            Some(_) => node,
        };
        let changing: Vec<(NodeId, u32)> = context
            .tuples(column, node)
            .iter()
            .map(|&tuple| (context.codes(tuple)[column], tuple))
            .filter(|&(code, _)| self.nodes[column][code as usize] == node)
            .map(|(code, tuple)| (part(code), tuple))
            .collect();
        let mut tuples_judged = 0;
        let holds = context.scopes.iter().filter(|(scope, _)| scope.contains(&column)).all(|(scope, models)| {
            tuples_judged += changing.len() as u64;
            let sizes: Vec<usize> = scope.iter().map(|&scoped| context.losses[scoped].len()).collect();
            let node = |row: usize, position: usize| {
                let (part, tuple) = changing[row];
                let scoped = scope[position];
                if scoped == column { part.0 } else { self.nodes[scoped][context.codes(tuple)[scoped] as usize].0 }
            };
            let groups = group_rows(changing.len(), &sizes, node).of_row;
            let mut keyed: Vec<(u32, u32)> = groups.into_iter().zip(changing.iter().map(|(_, tuple)| *tuple)).collect();
            keyed.sort_unstable();
            keyed.chunk_by(|a, b| a.0 == b.0).all(|alike| {
                let tuples = alike.iter().map(|&(_, tuple)| TupleId(tuple));
                let members: Vec<VariantCount> = members_of(context.profile, tuples).collect();
                let group = Group::new(context.profile, &members);
                models.iter().all(|model| model.holds(&group))
            })
        });
        self.work += JUDGE_WORK * tuples_judged;
        holds
    }
}

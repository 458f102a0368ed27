//! Agglomerative clustering on a line: the two nearest neighbors are merged (the leftmost pair on a tie) until one node
//! is left.
//!
//! Searching all pairs for each merge takes O(m^2), and a heap has poor locality. Neither is needed if a node that
//! grows comes no nearer to its neighbors: then two nodes that are each other's nearest stay so whatever is merged
//! elsewhere, and merging them at once gives the same tree (the nearest-neighbor chain argument). So one pass from left
//! to right suffices. On the stack, each node is nearer to the next than to the one before; if the next node is farther
//! from the top than the top is from the node below it, these two are merged. Cost: O(m), without recursion.

use super::intervals::CodeRange;

/// Merges the leaves, given from left to right; returns the merged nodes in preorder.
///
/// `distance` must not decrease when either node is replaced by its union with the neighbor on its other side.
pub(super) fn merge<N: Copy>(
    leaves: impl ExactSizeIterator<Item = N>,
    distance: impl Fn(N, N) -> f64,
    union: impl Fn(N, N) -> N,
) -> Vec<CodeRange> {
    let values = leaves.len();
    let mut leaves = leaves.zip((0..).map(|at| (at, at)));
    let mut merged = Vec::with_capacity(values.saturating_sub(1));
    // Each node with its distance to the node below it on the stack; distances decrease towards the top.
    let mut stack: Vec<(N, CodeRange, f64)> = Vec::new();
    // Stack of nodes to process before the remaining leaves.
    let mut waiting: Vec<(N, CodeRange)> = Vec::new();
    loop {
        let next = waiting.pop().or_else(|| leaves.next());
        let Some(&(top, (_, last), to_below)) = stack.last() else {
            let Some((node, interval)) = next else { break };
            stack.push((node, interval, f64::INFINITY));
            continue;
        };
        let to_next = next.map_or(f64::INFINITY, |(node, _)| distance(top, node));
        if stack.len() > 1 && to_below <= to_next {
            stack.pop();
            let Some((below, (first, _), _)) = stack.pop() else { break };
            merged.push((first, last));
            waiting.extend(next);
            waiting.push((union(below, top), (first, last)));
        } else {
            let Some((node, interval)) = next else { break };
            stack.push((node, interval, to_next));
        }
    }
    preorder(&merged, values)
}

/// Sorts merged nodes into preorder (counting sort by first code). Of nodes with the same first code, the one merged
/// later is the ancestor and comes first.
fn preorder(merged: &[CodeRange], values: usize) -> Vec<CodeRange> {
    let mut places = vec![0u32; values + 1];
    for &(first, _) in merged {
        places[first as usize + 1] += 1;
    }
    for position in 0..values {
        places[position + 1] += places[position];
    }
    let mut sorted = vec![(0, 0); merged.len()];
    for &(first, last) in merged.iter().rev() {
        let place = &mut places[first as usize];
        sorted[*place as usize] = (first, last);
        *place += 1;
    }
    sorted
}

#[cfg(test)]
pub(super) mod tests {
    use std::cmp::Reverse;

    use super::*;

    /// Reference implementation: searches all pairs for each merge, O(m^2).
    pub fn naive<N: Copy>(nodes: Vec<N>, distance: impl Fn(N, N) -> f64, union: impl Fn(N, N) -> N) -> Vec<CodeRange> {
        let mut left: Vec<(N, CodeRange)> = nodes.into_iter().zip((0..).map(|at| (at, at))).collect();
        let mut merged = Vec::new();
        while left.len() > 1 {
            let far = |at: usize| distance(left[at].0, left[at + 1].0);
            let nearest = (1..left.len() - 1).fold(0, |best, at| if far(at) < far(best) { at } else { best });
            let (node, (_, last)) = left.remove(nearest + 1);
            left[nearest] = (union(left[nearest].0, node), (left[nearest].1.0, last));
            merged.push(left[nearest].1);
        }
        merged.sort_by_key(|&(first, last)| (first, Reverse(last)));
        merged
    }
}

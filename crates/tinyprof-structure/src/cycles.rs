//! The cycles of a directed graph: its strongly connected components.

/// Returns the components that have a cycle: several nodes, or one with an edge to itself. Nodes
/// are numbers below `nodes`; those of a component are sorted.
///
/// # Cost
/// Sorts the edges. Uses no recursion: a hostile profile may have long chains.
pub(super) fn cycles(nodes: usize, edges: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let forward = Adjacent::new(nodes, edges.iter().copied());
    let backward = Adjacent::new(nodes, edges.iter().map(|(from, to)| (*to, *from)));
    // Kosaraju: the last node that a search leaves is of a component without edges from others.
    let mut left = Vec::with_capacity(nodes);
    let mut is_seen = vec![false; nodes];
    for start in 0..nodes {
        search(&forward, start, &mut is_seen, &mut left);
    }
    let mut is_seen = vec![false; nodes];
    let mut found = Vec::new();
    for start in left.into_iter().rev() {
        let mut component = Vec::new();
        search(&backward, start, &mut is_seen, &mut component);
        let has_cycle = component.len() > 1
            || component.first().is_some_and(|node| forward.of(*node).contains(node));
        if has_cycle {
            component.sort_unstable();
            found.push(component);
        }
    }
    found.sort_unstable();
    found
}

/// The neighbours of each node.
struct Adjacent {
    starts: Vec<usize>,
    ends: Vec<usize>,
}

impl Adjacent {
    fn new(nodes: usize, edges: impl Iterator<Item = (usize, usize)>) -> Self {
        let mut edges: Vec<(usize, usize)> = edges.collect();
        edges.sort_unstable();
        let starts = (0..=nodes).map(|node| edges.partition_point(|(from, _)| *from < node));
        Self { starts: starts.collect(), ends: edges.into_iter().map(|(_, to)| to).collect() }
    }

    fn of(&self, node: usize) -> &[usize] {
        &self.ends[self.starts[node]..self.starts[node + 1]]
    }
}

/// Visits what can be reached from `start` and was not seen, and adds each node when it is left.
fn search(edges: &Adjacent, start: usize, is_seen: &mut [bool], left: &mut Vec<usize>) {
    if std::mem::replace(&mut is_seen[start], true) {
        return;
    }
    let mut stack = vec![(start, 0)];
    while let Some((node, next)) = stack.last_mut() {
        let Some(to) = edges.of(*node).get(*next).copied() else {
            left.push(*node);
            stack.pop();
            continue;
        };
        *next += 1;
        if !std::mem::replace(&mut is_seen[to], true) {
            stack.push((to, 0));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_chain_has_no_cycle_and_an_edge_to_itself_is_one() {
        assert_eq!(cycles(4, &[(0, 1), (1, 2), (2, 3)]), Vec::<Vec<usize>>::new());
        assert_eq!(cycles(3, &[(0, 1), (1, 1), (1, 2)]), [[1]]);
        assert_eq!(cycles(5, &[(0, 1), (1, 0), (1, 2), (2, 3), (3, 4), (4, 2)]).len(), 2);
    }

    proptest! {
        /// Two nodes are in one component if each can be reached from the other.
        #[test]
        fn components_are_those_of_the_closure(
            edges in proptest::collection::vec((0_usize..8, 0_usize..8), 0..20)
        ) {
            let mut reach = [[false; 8]; 8];
            edges.iter().for_each(|(from, to)| reach[*from][*to] = true);
            for via in 0..8 {
                let onward = reach[via];
                for reached in reach.iter_mut().filter(|reached| reached[via]) {
                    for (to, is_reached) in reached.iter_mut().enumerate() {
                        *is_reached |= onward[to];
                    }
                }
            }
            let found = cycles(8, &edges);
            for (from, reached) in reach.iter().enumerate() {
                let own = found.iter().find(|component| component.contains(&from));
                prop_assert_eq!(own.is_some(), reached[from]);
                for (to, is_reached) in reached.iter().enumerate() {
                    let both = *is_reached && reach[to][from];
                    prop_assert_eq!(own.is_some_and(|own| own.contains(&to)), both);
                }
            }
        }
    }
}

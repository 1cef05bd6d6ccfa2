//! Graphs from a formula. Each rank makes its own edges, and the graph is the same on any number of
//! ranks.

/// The shape of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Kind {
    /// Each vertex leads to the next; `--edges` does not matter
    Chain,
    /// A square of vertices, each of which leads to the right and down; `--edges` does not matter
    Grid,
    /// Both ends of each edge by chance
    Random,
    /// A few vertices are the end of very many edges: the k-th about in proportion to 1 / k
    Powerlaw,
}

/// A generated graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Graph {
    pub(crate) kind: Kind,
    pub(crate) vertices: u32,
    pub(crate) edges: u64,
    pub(crate) seed: u64,
}

impl Graph {
    /// Returns the edges that rank `rank` of `ranks` makes.
    pub(crate) fn edges_of(&self, rank: u64, ranks: u64) -> Vec<[u32; 2]> {
        let count = match self.kind {
            _ if self.vertices == 0 => 0,
            Kind::Chain => u64::from(self.vertices) - 1,
            // Each vertex has room for two edges; those at the right and at the bottom do not use
            // both.
            Kind::Grid => 2 * u64::from(self.side()) * u64::from(self.side()),
            Kind::Random | Kind::Powerlaw => self.edges,
        };
        (count * rank / ranks..count * (rank + 1) / ranks)
            .filter_map(|number| self.edge(number))
            .collect()
    }

    fn side(&self) -> u32 {
        self.vertices.isqrt()
    }

    fn edge(&self, number: u64) -> Option<[u32; 2]> {
        let narrow =
            |number: u64| u32::try_from(number).expect("there are fewer than 2^32 vertices");
        match self.kind {
            Kind::Chain => Some([narrow(number), narrow(number + 1)]),
            Kind::Grid => {
                let (vertex, side) = (narrow(number / 2), self.side());
                let (row, column) = (vertex / side, vertex % side);
                let right = (column + 1 < side).then_some(vertex + 1);
                let down = (row + 1 < side).then_some(vertex + side);
                let end = if number.is_multiple_of(2) { right } else { down };
                end.map(|end| [vertex, end])
            }
            Kind::Random => Some([self.any(number, 0), self.any(number, 1)]),
            Kind::Powerlaw => Some([self.any(number, 0), self.popular(number)]),
        }
    }

    /// Returns a vertex; all are equally likely.
    fn any(&self, number: u64, end: u64) -> u32 {
        let product = u128::from(self.chance(number, end)) * u128::from(self.vertices);
        u32::try_from(product >> 64).expect("it is a vertex")
    }

    /// Returns vertex k with a probability in proportion to 1 / (k + 1).
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a vertex more or less is one by chance"
    )]
    fn popular(&self, number: u64) -> u32 {
        let part = self.chance(number, 1) as f64 / 2.0_f64.powi(64);
        let vertex = (f64::from(self.vertices) + 1.0).powf(part) - 1.0;
        (vertex as u32).min(self.vertices - 1)
    }

    /// Returns `SplitMix64` of the number of an edge and of its end.
    fn chance(&self, number: u64, end: u64) -> u64 {
        let mut z = self
            .seed
            .wrapping_add((2 * number + end).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
impl proptest::arbitrary::Arbitrary for Kind {
    type Parameters = ();
    type Strategy = proptest::sample::Select<Self>;

    fn arbitrary_with((): ()) -> Self::Strategy {
        proptest::sample::select(vec![Self::Chain, Self::Grid, Self::Random, Self::Powerlaw])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(kind: Kind) -> Graph {
        Graph { kind, vertices: 10, edges: 30, seed: 1 }
    }

    #[test]
    fn ranks_make_the_same_graph_together() {
        for kind in [Kind::Chain, Kind::Grid, Kind::Random, Kind::Powerlaw] {
            let whole = graph(kind).edges_of(0, 1);
            for ranks in [2, 3, 50] {
                let parts: Vec<_> =
                    (0..ranks).flat_map(|rank| graph(kind).edges_of(rank, ranks)).collect();
                assert_eq!(parts, whole);
            }
            assert!(whole.iter().flatten().all(|&vertex| vertex < 10), "{whole:?}");
            assert_eq!(Graph { vertices: 0, ..graph(kind) }.edges_of(0, 1), [[0; 2]; 0]);
        }
    }

    #[test]
    fn shapes_are_what_they_are_called() {
        assert_eq!(graph(Kind::Chain).edges_of(0, 1).len(), 9);
        let grid = graph(Kind::Grid).edges_of(0, 1);
        assert_eq!(grid[..4], [[0, 1], [0, 3], [1, 2], [1, 4]]);
        assert_eq!(grid.len(), 12, "3 by 3");
        let many = Graph { vertices: 1000, edges: 10_000, ..graph(Kind::Powerlaw) };
        let to_0 = many.edges_of(0, 1).iter().filter(|edge| edge[1] == 0).count();
        assert!((800..1_200).contains(&to_0), "one of ln(1001) / ln(2): {to_0}");
    }
}

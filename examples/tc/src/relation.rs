//! Relations: sets of tuples of fixed arity, distributed over the ranks by the first column, which
//! is the column of joins.

mod buckets;
mod index;

pub(crate) use buckets::Buckets;
pub(crate) use index::Index;

/// One row. The relation is joined on column 0.
pub(crate) type Tuple<const N: usize> = [u32; N];

/// The tuples of one relation that this rank owns, and the distribution of the relation over all
/// ranks.
#[derive(Debug)]
pub(crate) struct Relation<const N: usize> {
    index: Index<N>,
    buckets: Buckets,
    /// The number of tuples in each bucket on this rank.
    lengths: Vec<u64>,
}

impl<const N: usize> Relation<N> {
    /// Returns an empty relation over `ranks` ranks.
    pub(crate) fn new(ranks: usize) -> Self {
        let buckets = Buckets::new(ranks);
        Self { index: Index::default(), lengths: vec![0; buckets.count()], buckets }
    }

    pub(crate) fn buckets(&self) -> &Buckets {
        &self.buckets
    }

    pub(crate) fn index(&self) -> &Index<N> {
        &self.index
    }

    /// Returns the number of tuples in each bucket on this rank.
    pub(crate) fn lengths(&self) -> &[u64] {
        &self.lengths
    }

    /// Adds tuples, all of which this rank must own, and returns the new ones, in order.
    pub(crate) fn insert(&mut self, tuples: Vec<Tuple<N>>) -> Vec<Tuple<N>> {
        let new = self.index.insert(tuples);
        new.iter().for_each(|tuple| self.lengths[self.buckets.bucket(tuple[0])] += 1);
        new
    }

    /// Redistributes the relation as `buckets` says: removes and returns the tuples that this rank
    /// no longer owns.
    pub(crate) fn spread(&mut self, buckets: Buckets, rank: usize) -> Vec<Tuple<N>> {
        self.buckets = buckets;
        let moved = self.index.take(|tuple| self.buckets.owner(tuple) != rank);
        moved.iter().for_each(|tuple| self.lengths[self.buckets.bucket(tuple[0])] -= 1);
        moved
    }
}

//! Relations: sets of tuples of fixed arity, spread over the ranks by the first column, on which
//! they are joined.

mod buckets;
mod index;

pub(crate) use buckets::Buckets;
pub(crate) use index::Index;

/// One row. Column 0 is the one that the relation is joined on.
pub(crate) type Tuple<const N: usize> = [u32; N];

/// The tuples of one relation that this rank owns, and how the relation is spread over all ranks.
#[derive(Debug)]
pub(crate) struct Relation<const N: usize> {
    index: Index<N>,
    buckets: Buckets,
    /// The tuples of each bucket on this rank.
    lengths: Vec<u64>,
}

impl<const N: usize> Relation<N> {
    /// An empty relation over so many ranks.
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

    /// The tuples of each bucket on this rank.
    pub(crate) fn lengths(&self) -> &[u64] {
        &self.lengths
    }

    /// Adds tuples, all of which this rank must own, and returns those that were not there yet, in
    /// order.
    pub(crate) fn insert(&mut self, tuples: Vec<Tuple<N>>) -> Vec<Tuple<N>> {
        let new = self.index.insert(tuples);
        new.iter().for_each(|tuple| self.lengths[self.buckets.bucket(tuple[0])] += 1);
        new
    }

    /// Spreads the relation as `buckets` says: the tuples that this rank owns no more are taken out
    /// and returned.
    pub(crate) fn spread(&mut self, buckets: Buckets, rank: usize) -> Vec<Tuple<N>> {
        self.buckets = buckets;
        let moved = self.index.take(|tuple| self.buckets.owner(tuple) != rank);
        moved.iter().for_each(|tuple| self.lengths[self.buckets.bucket(tuple[0])] -= 1);
        moved
    }
}

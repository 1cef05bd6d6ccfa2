//! A number for each stream, in a table of fixed size.

use super::Stream;

/// The places that are searched for a stream.
const PROBES: usize = 16;
/// The communicators that can be closed one by one; beyond them all are.
const CLOSED: usize = 8;
/// The communicators that are told apart to find out whether one has any stream.
const REMAINDERS: usize = 4096;

/// A counter for each of at most `N` streams. `N` is a power of two.
///
/// ```
/// use tinyprof_messages::matching::{Stream, Streams};
///
/// let mut sent = Streams::<64>::new();
/// let stream = Stream { communicator: 0, peer: 3, tag: 42 };
/// assert_eq!((sent.next(stream), sent.next(stream)), (Some(0), Some(1)));
/// assert_eq!(sent.next(Stream { tag: 43, ..stream }), Some(0));
/// ```
///
/// # Cost
///
/// A hash and, where the table is half empty, about two comparisons; at most 16.
#[derive(Clone, Debug)]
pub struct Streams<const N: usize> {
    /// On the heap: a thread that begins MPI may have a small stack.
    places: Box<[Place; N]>,
    /// Communicators with a stream that found no place. It would be counted from the middle if it
    /// found one later, so no stream is added to them any more.
    closed: [u32; CLOSED],
    closed_used: usize,
    full: u64,
    /// A bit for each remainder of the communicators that have had streams.
    in_use: [u64; REMAINDERS / 64],
}

/// A place: the communicator and what is there, the partner and the tag, and the number of the next
/// message. All are 0 where no stream ever was, so that a table takes the memory of what is used.
type Place = [u64; 3];

/// Set in the first word of a place that was freed: streams may follow that were put here before.
const REMOVED: u64 = 1 << 32;
/// Set in the first word of a place with a stream.
const USED: u64 = 1 << 33;

/// Returns the first two words of the place of a stream.
#[inline]
fn words(stream: Stream) -> (u64, u64) {
    let tag = u64::from(stream.tag.cast_unsigned());
    (USED | u64::from(stream.communicator), u64::from(stream.peer) << 32 | tag)
}

/// Returns the word and the bit of a communicator in a set of those in use.
#[inline]
const fn in_use(communicator: u32) -> (usize, u64) {
    let remainder = communicator as usize % REMAINDERS;
    (remainder / 64, 1 << (remainder % 64))
}

/// Returns the same for the first word of a place with a stream.
#[expect(clippy::cast_possible_truncation, reason = "the communicator is its low half")]
const fn in_use_of(first: u64) -> (usize, u64) {
    in_use(first as u32)
}

impl<const N: usize> Streams<N> {
    /// Returns an empty table.
    #[must_use]
    pub fn new() -> Self {
        const { assert!(N.is_power_of_two() && N >= PROBES, "a power of two, of at least 16") };
        let places = vec![Place::default(); N].into_boxed_slice();
        let Ok(places) = places.try_into() else { unreachable!("it has that length") };
        Self { places, closed: [0; CLOSED], closed_used: 0, full: 0, in_use: [0; REMAINDERS / 64] }
    }

    /// Returns the number of the next message of a stream, and counts it. `None` if there is no
    /// place for the stream: it is never counted then.
    #[inline]
    pub fn next(&mut self, stream: Stream) -> Option<u64> {
        let number = self.number_mut(stream)?;
        *number += 1;
        Some(*number - 1)
    }

    /// Returns the counter of a stream, 0 if it is new, or `None` if there is no place for it.
    #[inline]
    pub fn number_mut(&mut self, stream: Stream) -> Option<&mut u64> {
        let (mut free, wanted) = (None, words(stream));
        for at in places::<N>(stream) {
            match self.places[at] {
                [first, second, _] if (first, second) == wanted => {
                    return Some(&mut self.places[at][2]);
                }
                [REMOVED, ..] => free = free.or(Some(at)),
                [0, ..] => {
                    free = free.or(Some(at));
                    break;
                }
                _ => {}
            }
        }
        let Some(at) = free.filter(|_| !self.is_closed(stream.communicator)) else {
            self.close(stream.communicator);
            return None;
        };
        self.places[at] = [wanted.0, wanted.1, 0];
        let (word, bit) = in_use(stream.communicator);
        self.in_use[word] |= bit;
        Some(&mut self.places[at][2])
    }

    /// Returns the counter of a stream, or `None` if it has none.
    #[must_use]
    #[inline]
    pub fn number(&self, stream: Stream) -> Option<u64> {
        let wanted = words(stream);
        for at in places::<N>(stream) {
            match self.places[at] {
                [first, second, number] if (first, second) == wanted => return Some(number),
                [0, ..] => return None,
                _ => {}
            }
        }
        None
    }

    fn is_closed(&self, communicator: u32) -> bool {
        self.closed_used > CLOSED || self.closed[..self.closed_used].contains(&communicator)
    }

    #[cold]
    fn close(&mut self, communicator: u32) {
        self.full += 1;
        if !self.is_closed(communicator) {
            if let Some(place) = self.closed.get_mut(self.closed_used) {
                *place = communicator;
            }
            self.closed_used += 1;
        }
    }

    /// Forgets the streams of a communicator that is freed.
    ///
    /// # Cost
    ///
    /// A pass over the whole table, if there may be any: most communicators that programs make in
    /// loops have none.
    pub fn remove(&mut self, communicator: u32) {
        let (word, bit) = in_use(communicator);
        if self.in_use[word] & bit != 0 {
            self.remove_places(communicator);
        }
        let mut closed = self.closed.iter().take(self.closed_used);
        if let Some(at) = closed.position(|closed| *closed == communicator)
            && self.closed_used <= CLOSED
        {
            self.closed_used -= 1;
            self.closed[at] = self.closed[self.closed_used];
        }
    }

    #[cold]
    fn remove_places(&mut self, communicator: u32) {
        let (word, bit) = in_use(communicator);
        self.in_use[word] &= !bit;
        for place in self.places.iter_mut().filter(|place| place[0] & USED != 0) {
            if place[0] == USED | u64::from(communicator) {
                place[0] = REMOVED;
            } else if in_use_of(place[0]) == (word, bit) {
                self.in_use[word] |= bit;
            }
        }
    }

    /// Returns how many messages were not counted because the table was full.
    #[must_use]
    pub const fn full(&self) -> u64 {
        self.full
    }
}

impl<const N: usize> Default for Streams<N> {
    fn default() -> Self {
        Self::new()
    }
}

/// Returns the places that may hold a stream.
#[inline]
fn places<const N: usize>(stream: Stream) -> impl Iterator<Item = usize> {
    let key = u64::from(stream.peer) << 32 | u64::from(stream.tag.cast_unsigned());
    let hash = (key ^ u64::from(stream.communicator) << 48).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let first = (hash >> 32) as usize;
    (first..first + PROBES).map(|at| at & (N - 1))
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_full_table_counts_no_new_stream_and_goes_on_with_the_others() {
        let mut streams = Streams::<16>::new();
        let stream = |tag| Stream { communicator: 1, peer: 0, tag };
        let fitting = (0..100).filter(|tag| streams.next(stream(*tag)) == Some(0)).count();
        assert_eq!((fitting, streams.full()), (16, 84));
        assert_eq!(streams.next(stream(0)), Some(1));
        streams.remove(1);
        assert_eq!((streams.next(stream(99)), streams.number(stream(0))), (Some(0), None));
    }

    #[test]
    fn a_stream_that_found_no_place_is_not_counted_from_its_middle() {
        let mut streams = Streams::<16>::new();
        let stream = |communicator, tag| Stream { communicator, peer: 0, tag };
        (0..16).for_each(|tag| assert_eq!(streams.next(stream(1, tag)), Some(0)));
        assert_eq!(streams.next(stream(2, 0)), None);
        streams.remove(1);
        assert_eq!(streams.next(stream(2, 0)), None);
        assert_eq!(streams.next(stream(3, 0)), Some(0));
        streams.remove(2);
        assert_eq!(streams.next(stream(2, 0)), Some(0), "a new communicator with its number");
    }

    proptest! {
        #[test]
        fn it_counts_as_a_map_does(
            steps in proptest::collection::vec((0_u32..3, 0_u32..3, -1_i32..3, 0_u32..20), 0..300)
        ) {
            // 36 streams, which all find a place.
            let mut streams = Streams::<256>::new();
            let mut map: HashMap<Stream, u64> = HashMap::new();
            for (communicator, peer, tag, step) in steps {
                let communicator = [0, 1, 4096][communicator as usize];
                if step == 0 {
                    streams.remove(communicator);
                    map.retain(|stream, _| stream.communicator != communicator);
                    continue;
                }
                let stream = Stream { communicator, peer, tag };
                prop_assert_eq!(streams.number(stream), map.get(&stream).copied());
                let number = map.entry(stream).or_default();
                prop_assert_eq!(streams.next(stream), Some(*number));
                *number += 1;
            }
        }
    }

    #[test]
    fn communicators_with_one_remainder_are_forgotten_one_by_one() {
        let mut streams = Streams::<64>::new();
        let of = |communicator| Stream { communicator, peer: 2, tag: 7 };
        let all = [5, 5 + 4096, 6];
        for communicator in all {
            assert_eq!(streams.next(of(communicator)), Some(0));
        }
        streams.remove(5);
        let numbers =
            |streams: &Streams<64>| all.map(|communicator| streams.number(of(communicator)));
        assert_eq!(numbers(&streams), [None, Some(1), Some(1)]);
        streams.remove(5 + 4096);
        assert_eq!(numbers(&streams), [None, None, Some(1)]);
        assert_eq!(streams.next(of(5)), Some(0), "it counts from the beginning");
        streams.remove(5);
        assert_eq!(streams.number(of(5)), None);
    }
}

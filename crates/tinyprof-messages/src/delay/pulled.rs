//! A copy of what a rank wants to know of another one, and its serial form.

use std::ops::Range;

use super::instance::Instance;
use super::layout::Sizes;
use super::list::{self, List};

/// Since when a rank and the reader of its page are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// It knows of nothing that the reader does not know.
    Unknown,
    /// Since it has waited for the reader, which was at this time.
    Partner(u64),
    /// Since both have left this operation, which it has left at this time.
    Instance(Instance, u64),
}

/// The number of lists: the state of the rank, then that of the moment since which it is compared.
const LISTS: usize = 7;
/// The words of the serial form before its lists.
const HEAD: usize = 4;

/// A copy of the state of a rank.
#[derive(Clone, Debug)]
pub struct Pulled {
    words: Box<[u64]>,
    sizes: Sizes,
    pub(super) origin: Origin,
    /// The rank had done too much since the moment that was asked for.
    pub(super) is_late: bool,
}

impl Pulled {
    /// Returns room for a copy. The only function here that allocates.
    #[must_use]
    pub fn new(sizes: Sizes) -> Self {
        let words = ranges(&sizes)[LISTS - 1].end;
        Self {
            words: vec![0; words].into_boxed_slice(),
            sizes,
            origin: Origin::Unknown,
            is_late: false,
        }
    }

    /// Returns the room for clock, base, blame and path.
    pub(super) fn state(&mut self) -> [&mut [u64]; 4] {
        let [clock, base, blame, path, ..] = ranges(&self.sizes).map(|range| range.len());
        let (clock, rest) = self.words.split_at_mut(clock);
        let (base, rest) = rest.split_at_mut(base);
        let (blame, rest) = rest.split_at_mut(blame);
        [clock, base, blame, &mut rest[..path]]
    }

    /// Returns the room for the clock and the blame of a moment, and for the reader's clock then.
    pub(super) fn moment(&mut self) -> [&mut [u64]; 3] {
        let [.., clock, blame, reader] = ranges(&self.sizes);
        let (before, reader) = self.words[..reader.end].split_at_mut(reader.start);
        let (before, blame) = before.split_at_mut(blame.start);
        [&mut before[clock.start..], blame, reader]
    }

    fn list(&self, number: usize) -> List<'_, u64> {
        List::new(&self.words[ranges(&self.sizes)[number].clone()])
    }

    pub(super) fn clock(&self) -> List<'_, u64> {
        self.list(0)
    }

    pub(super) fn base(&self) -> List<'_, u64> {
        self.list(1)
    }

    pub(super) fn blame(&self) -> List<'_, u64> {
        self.list(2)
    }

    pub(super) fn path(&self) -> List<'_, u64> {
        self.list(3)
    }

    pub(super) fn clock_then(&self) -> List<'_, u64> {
        self.list(4)
    }

    pub(super) fn blame_then(&self) -> List<'_, u64> {
        self.list(5)
    }

    pub(super) fn reader_then(&self) -> List<'_, u64> {
        self.list(6)
    }

    /// Returns the most words that [`to_mail`](Self::to_mail) writes.
    #[must_use]
    pub fn mail_words(sizes: &Sizes) -> usize {
        HEAD + ranges(sizes)[LISTS - 1].end
    }

    /// Writes the state as words for a rank of another host. Returns how many.
    ///
    /// ```text
    ///  | origin: 0, 1, 2 | time | communicator | instance | lists, each as long as it is |
    /// ```
    ///
    /// # Panics
    /// If there is less room than [`mail_words`](Self::mail_words).
    pub fn to_mail(&self, mail: &mut [u64]) -> usize {
        let (lists, head) = match self.origin {
            Origin::Unknown => (4, [0; HEAD]),
            Origin::Partner(at_ns) => (7, [1, at_ns, 0, 0]),
            Origin::Instance(instance, at_ns) => {
                (6, [2, at_ns, instance.communicator, instance.number])
            }
        };
        mail[..HEAD].copy_from_slice(&head);
        let mut end = HEAD;
        for number in 0..lists {
            let words = self.list(number).words_in_use();
            mail[end..end + words.len()].copy_from_slice(words);
            end += words.len();
        }
        end
    }

    /// Reads words of [`to_mail`](Self::to_mail), sent by a rank whose sizes are equal, with times
    /// that are `offset_ns` before those of the reader's clock. Returns false if they are none;
    /// then the state is of no meaning.
    #[must_use]
    pub fn read_mail(&mut self, mail: &[u64], offset_ns: i64) -> bool {
        let Some((&[kind, at_ns, communicator, number], mut rest)) = mail.split_first_chunk()
        else {
            return false;
        };
        let at_ns = at_ns.saturating_add_signed(offset_ns);
        let instance = Instance { communicator, number };
        let (lists, origin) = match kind {
            0 => (4, Origin::Unknown),
            1 => (7, Origin::Partner(at_ns)),
            2 => (6, Origin::Instance(instance, at_ns)),
            _ => return false,
        };
        (self.origin, self.is_late) = (origin, false);
        for range in ranges(&self.sizes).into_iter().take(lists) {
            let room = &mut self.words[range];
            let Some(words) = list::length(rest).filter(|words| *words <= room.len()) else {
                return false;
            };
            room[..words].copy_from_slice(&rest[..words]);
            rest = &rest[words..];
        }
        rest.is_empty()
    }
}

/// Returns where the lists are: clock, base, blame, path; then clock, blame, and the reader's
/// clock.
fn ranges(sizes: &Sizes) -> [Range<usize>; LISTS] {
    let Sizes { activities, causes, path, .. } = *sizes;
    let mut end = 0;
    [activities, activities, causes, path, activities, causes, activities].map(|entries| {
        let begin = end;
        end += list::words(entries);
        begin..end
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: Sizes = Sizes { activities: 4, causes: 6, path: 5, partners: 2, finest: 1_000 };

    fn pulled(origin: Origin) -> Pulled {
        let mut pulled = Pulled::new(SIZES);
        let list = |words: &mut [u64], entries: u64| {
            let entry = (1..=entries).flat_map(|key| [key, 10 * key]);
            let all = [100, entries].into_iter().chain(entry);
            words.iter_mut().zip(all).for_each(|(to, from)| *to = from);
        };
        pulled.state().into_iter().zip([4, 3, 6, 5]).for_each(|(words, used)| list(words, used));
        pulled.moment().into_iter().zip([2, 0, 1]).for_each(|(words, used)| list(words, used));
        pulled.origin = origin;
        pulled
    }

    fn entries(pulled: &Pulled, lists: usize) -> Vec<Vec<(u64, u64)>> {
        (0..lists).map(|number| pulled.list(number).entries().collect()).collect()
    }

    #[test]
    fn a_mail_says_the_same() {
        let instance = Instance { communicator: 3, number: 9 };
        for (origin, lists, arrived) in [
            (Origin::Unknown, 4, Origin::Unknown),
            (Origin::Partner(500), 7, Origin::Partner(420)),
            (Origin::Instance(instance, 500), 6, Origin::Instance(instance, 420)),
        ] {
            let sent = pulled(origin);
            let mut mail = vec![0; Pulled::mail_words(&SIZES)];
            let words = sent.to_mail(&mut mail);
            let mut received = Pulled::new(SIZES);
            assert!(received.read_mail(&mail[..words], -80));
            assert_eq!(entries(&received, lists), entries(&sent, lists));
            assert_eq!(received.origin, arrived);
        }
    }

    #[test]
    fn a_mail_that_is_none_is_refused() {
        let mut mail = vec![0; Pulled::mail_words(&SIZES)];
        let words = pulled(Origin::Partner(500)).to_mail(&mut mail);
        let mut received = Pulled::new(SIZES);
        for end in 0..words {
            assert!(!received.read_mail(&mail[..end], 0), "{end} of {words} words");
        }
        for at in [0, HEAD + 1, words] {
            let mut damaged = mail.clone();
            damaged.resize(words + 1, 0);
            damaged[at] = u64::MAX;
            assert!(!received.read_mail(&damaged, 0), "word {at}");
        }
    }
}

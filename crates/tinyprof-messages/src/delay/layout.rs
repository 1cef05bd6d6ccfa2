//! Where the parts of a page are, and the sizes of its lists.
//!
//! ```text
//!  | sequence | waits | clock | log | states | anchors | partners |
//!
//!  clock     time by activity: what the rank has done
//!  log       the last additions to the clock
//!  state     | since when | base | blame | path |, after each of the last waits
//!    base      the clock when the rank took over its path
//!    blame     time by cause: what the rank has waited for
//!    path      time by cause: the path that the rank has taken over
//!  anchor    | communicator | instance | time | clock, blame |
//!  partner   | rank + 1 | time | own clock, blame | the partner's clock, blame |
//! ```

use std::ops::Range;

use super::{list, log};

/// The operations of all ranks of a communicator that are kept.
pub(super) const ANCHORS: usize = 4;
/// The partners among which the oldest gives way.
pub(super) const WAYS: usize = 2;
/// The words before the moments of an anchor, and of a partner.
pub(super) const ANCHOR_HEAD: usize = 3;
pub(super) const PARTNER_HEAD: usize = 2;
/// The words of the sequence counter, and of the number of waits.
pub(super) const SEQUENCE: usize = 0;
pub(super) const WAITS: usize = 1;
const CLOCK: usize = 2;
/// The most recent waits whose resulting states are kept.
pub(super) const STATES: usize = 4;

/// The sizes of the lists of a rank, equal on all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// The activities of the clock.
    pub activities: usize,
    /// The causes of the rank's own waiting.
    pub causes: usize,
    /// The parts of the path that ends at the rank.
    pub path: usize,
    /// The partners with whom the rank has synchronised.
    pub partners: usize,
    /// The smallest part of a wait whose cause is kept, as a divisor.
    pub finest: u64,
}

/// Where a state is: since when it holds, and the beginning and end of its lists.
#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    pub(super) since: usize,
    pub(super) base: [usize; 2],
    pub(super) blame: [usize; 2],
    pub(super) path: [usize; 2],
}

impl Default for Sizes {
    /// Returns those of the [recorder](Self::RECORDER).
    fn default() -> Self {
        Self::RECORDER
    }
}

impl Sizes {
    /// The sizes for the recorder: a page has 420 KiB, of which a rank touches what it uses.
    pub const RECORDER: Self =
        Self { activities: 32, causes: 128, path: 128, partners: 64, finest: 1_024 };

    /// Returns the words of a rank's page.
    #[must_use]
    pub const fn words(&self) -> usize {
        self.partner(self.sets() * WAYS)
    }

    pub(super) const fn sets(&self) -> usize {
        let sets = self.partners.div_ceil(WAYS);
        if sets == 0 { 1 } else { sets }
    }

    pub(super) const fn clock(&self) -> Range<usize> {
        CLOCK..CLOCK + list::words(self.activities)
    }

    pub(super) const fn log(&self) -> Range<usize> {
        let begin = self.clock().end;
        begin..begin + log::WORDS
    }

    /// Returns where the state after this many waits is.
    #[expect(clippy::cast_possible_truncation, reason = "a remainder")]
    pub(super) const fn state(&self, waits: u64) -> State {
        let lists =
            list::words(self.activities) + list::words(self.causes) + list::words(self.path);
        let since = self.log().end + (waits % STATES as u64) as usize * (1 + lists);
        let blame = since + 1 + list::words(self.activities);
        let path = blame + list::words(self.causes);
        State {
            since,
            base: [since + 1, blame],
            blame: [blame, path],
            path: [path, since + 1 + lists],
        }
    }

    /// Returns where an anchor begins.
    pub(super) const fn anchor(&self, number: usize) -> usize {
        self.state(STATES as u64 - 1).path[1] + number * (ANCHOR_HEAD + self.moment())
    }

    /// Returns where a partner begins.
    pub(super) const fn partner(&self, number: usize) -> usize {
        self.anchor(ANCHORS) + number * (PARTNER_HEAD + 2 * self.moment())
    }

    /// Returns the words of a clock and a blame.
    pub(super) const fn moment(&self) -> usize {
        list::words(self.activities) + list::words(self.causes)
    }

    /// Returns where the clock and the blame of a moment are.
    pub(super) const fn of_moment(&self, begin: usize) -> (Range<usize>, Range<usize>) {
        let middle = begin + list::words(self.activities);
        (begin..middle, middle..begin + self.moment())
    }
}

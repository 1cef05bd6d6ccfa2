//! The two queues of a rank: receives that are posted, and messages that have come unexpected.
//!
//! A message takes the first posted receive that it matches, and a receive the first message that
//! has come: section 3.5 of the standard. That messages of one sender do not overtake each other
//! is the network's part.

use std::collections::VecDeque;

use crate::trace::Message;

/// What a receive, or a probe, wants.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    pub(crate) source: Option<usize>,
    pub(crate) tag: usize,
    /// The number of the message of its source, where a former run has decided it.
    pub(crate) number: Option<usize>,
}

impl Wanted {
    pub(crate) fn matches(self, message: &Message) -> bool {
        self.tag == message.tag
            && self.source.is_none_or(|source| source == message.from)
            && self.number.is_none_or(|number| number == message.number)
    }
}

/// The queues of a rank. Messages and requests are numbers.
#[derive(Debug, Default)]
pub(crate) struct Queues {
    posted: VecDeque<(usize, Wanted)>,
    unexpected: VecDeque<usize>,
}

impl Queues {
    /// Returns the receive that takes a message which arrives, or keeps the message.
    pub(crate) fn arrive(&mut self, number: usize, messages: &[Message]) -> Option<usize> {
        let place = self.posted.iter().position(|(_, wanted)| wanted.matches(&messages[number]));
        match place {
            Some(place) => self.posted.remove(place).map(|(request, _)| request),
            None => {
                self.unexpected.push_back(number);
                None
            }
        }
    }

    /// Returns the message that a receive takes which is posted, or keeps the receive.
    pub(crate) fn post(
        &mut self,
        request: usize,
        wanted: Wanted,
        messages: &[Message],
    ) -> Option<usize> {
        let place = self.unexpected.iter().position(|&number| wanted.matches(&messages[number]));
        match place {
            Some(place) => self.unexpected.remove(place),
            None => {
                self.posted.push_back((request, wanted));
                None
            }
        }
    }

    /// Returns the message that a probe finds.
    pub(crate) fn probe(&self, wanted: Wanted, messages: &[Message]) -> Option<usize> {
        self.unexpected.iter().copied().find(|&number| wanted.matches(&messages[number]))
    }
}

//! Messages under way, and MPI's matching: the first receive posted that accepts a message gets it.

use crate::network::Network;
use crate::rules::{Beside, Posts};

/// A message that has been sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message {
    pub(crate) from: usize,
    pub(crate) tag: i32,
    pub(crate) bytes: u64,
    pub(crate) is_synchronous: bool,
    pub(crate) stops: bool,
    pub(crate) sent_ns: u64,
    pub(crate) companion: Beside,
}

/// A receive that has been posted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Posted {
    pub(crate) from: Option<usize>,
    pub(crate) tag: i32,
    pub(crate) posted_ns: u64,
    /// The answer to a synchronous sender.
    pub(crate) answer: Beside,
    pub(crate) post: Posts,
    pub(crate) got: Option<(Message, u64)>,
}

/// The requests of a rank, and the messages that no receive has accepted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mailbox {
    pub(crate) requests: Vec<Posted>,
    unexpected: Vec<Message>,
}

impl Mailbox {
    /// Delivers a message. Returns the request that has got it.
    pub(crate) fn deliver(&mut self, message: &Message, network: Network) -> Option<usize> {
        let mut requests = self.requests.iter();
        let request = requests.position(|posted| posted.got.is_none() && accepts(posted, message));
        match request {
            Some(request) => {
                let posted = &mut self.requests[request];
                posted.got = Some((*message, done_ns(posted, message, network)));
            }
            None => self.unexpected.push(*message),
        }
        request
    }

    /// Posts a receive, as the next request.
    pub(crate) fn post(&mut self, mut posted: Posted, network: Network) {
        let mut unexpected = self.unexpected.iter();
        if let Some(at) = unexpected.position(|message| accepts(&posted, message)) {
            let message = self.unexpected.remove(at);
            posted.got = Some((message, done_ns(&posted, &message, network)));
        }
        self.requests.push(posted);
    }
}

fn accepts(posted: &Posted, message: &Message) -> bool {
    posted.tag == message.tag && posted.from.is_none_or(|from| from == message.from)
}

/// Returns when a message is complete: an eager one travels at once, a synchronous one when both
/// sides are there.
fn done_ns(posted: &Posted, message: &Message, network: Network) -> u64 {
    let transfer_ns = network.ns_per_kib * message.bytes / 1_024;
    let heard_ns = message.sent_ns + network.latency_ns;
    if message.is_synchronous {
        // The receiver asks for the data.
        posted.posted_ns.max(heard_ns) + network.latency_ns + transfer_ns
    } else {
        posted.posted_ns.max(heard_ns + transfer_ns)
    }
}

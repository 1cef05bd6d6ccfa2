//! The numbers compared with a model of MPI's matching.

use proptest::prelude::*;

use super::*;

/// A receive of the model.
#[derive(Clone, Copy, Debug)]
struct Receive {
    wanted: Wanted,
    posted: Posted,
    /// The stream of its message, and the true number.
    got: Option<(Stream, u64)>,
    asked_to_cancel: bool,
    is_cancelled: bool,
    is_done: bool,
}

/// MPI as its standard says: a message goes to the first posted receive that accepts it, a receive
/// gets the first message that it accepts.
#[derive(Default)]
struct Model {
    sent: Streams<64>,
    unexpected: Vec<(Stream, u64)>,
    receives: Vec<Receive>,
    subject: Receives<64, 8>,
    /// Numbers that the subject has given to completed receives.
    numbered: usize,
    unclear: usize,
}

impl Model {
    fn send(&mut self, stream: Stream) {
        let message = (stream, self.sent.next(stream).unwrap());
        let mut open = self.receives.iter_mut().filter(|r| r.got.is_none() && !r.is_cancelled);
        match open.find(|receive| receive.wanted.accepts(stream)) {
            Some(receive) => receive.got = Some(message),
            None => self.unexpected.push(message),
        }
    }

    fn post(&mut self, wanted: Wanted) {
        let at = self.unexpected.iter().position(|(stream, _)| wanted.accepts(*stream));
        let got = at.map(|at| self.unexpected.remove(at));
        let posted = self.subject.post(wanted, self.receives.len() as u64);
        let (asked_to_cancel, is_cancelled, is_done) = (false, false, false);
        let receive = Receive { wanted, posted, got, asked_to_cancel, is_cancelled, is_done };
        self.receives.push(receive);
    }

    fn reveal(&mut self, at: usize) {
        let receive = self.receives[at];
        if let (Posted::Ticket(ticket), Some((stream, _))) = (receive.posted, receive.got) {
            self.subject.matched(ticket, stream.peer, stream.tag);
        }
    }

    /// Completes a receive that has its message. With `looks` it looks up the state of those
    /// before it; without it gives up where it has to wait.
    fn complete(&mut self, at: usize, looks: bool) -> Result<(), TestCaseError> {
        let receive = &mut self.receives[at];
        let Some((stream, truth)) = receive.got else { return Ok(()) };
        if std::mem::replace(&mut receive.is_done, true) {
            return Ok(());
        }
        let receive = *receive;
        if let (true, Posted::Number(number)) = (receive.asked_to_cancel, receive.posted) {
            self.subject.cancelled(stream, number, false);
        }
        self.reveal(at);
        let found = match receive.posted {
            Posted::Unclear => Turn::Unclear,
            Posted::Number(number) => self.subject.confirm(stream, number),
            Posted::Ticket(ticket) => loop {
                let turn = self.subject.turn(ticket);
                let Turn::Behind(key) = turn else { break turn };
                let before = usize::try_from(key).unwrap();
                prop_assert!(before < at, "behind an earlier one");
                // MPI has matched the earlier one, or it may still be cancelled.
                let is_known = self.receives[before].got.is_some();
                prop_assert!(is_known || self.receives[before].asked_to_cancel);
                if !looks || !is_known {
                    self.subject.release(ticket);
                    break Turn::Unclear;
                }
                self.reveal(before);
            },
        };
        match found {
            Turn::Number(number) => {
                prop_assert_eq!(number, truth, "{:?} of {:?}", at, self.receives);
                self.numbered += 1;
            }
            Turn::Unclear => self.unclear += 1,
            Turn::Behind(_) => unreachable!(),
        }
        Ok(())
    }

    fn ask_to_cancel(&mut self, at: usize) {
        let receive = &mut self.receives[at];
        if receive.is_done || receive.asked_to_cancel {
            return;
        }
        receive.asked_to_cancel = true;
        // MPI decides at once, and tells when the receive completes.
        receive.is_cancelled = receive.got.is_none();
        match receive.posted {
            Posted::Number(number) => {
                self.subject.cancel(receive.wanted.stream().unwrap(), number);
            }
            Posted::Ticket(ticket) => self.subject.cancel_ticket(ticket),
            Posted::Unclear => {}
        }
    }

    fn complete_cancelled(&mut self, at: usize) {
        let receive = &mut self.receives[at];
        if !receive.is_cancelled || std::mem::replace(&mut receive.is_done, true) {
            return;
        }
        match receive.posted {
            Posted::Number(number) => {
                self.subject.cancelled(receive.wanted.stream().unwrap(), number, true);
            }
            Posted::Ticket(ticket) => self.subject.withdraw(ticket),
            Posted::Unclear => {}
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Send(Stream),
    Post(Wanted),
    Complete(usize, bool),
    Cancel(usize),
}

fn step(cancels: bool) -> impl Strategy<Value = Step> {
    let stream = (0_u32..2, 0_i32..2);
    let stream = stream.prop_map(|(peer, tag)| Stream { communicator: 0, peer, tag });
    let source = prop_oneof![Just(None), (0_u32..2).prop_map(Some), (0_u32..2).prop_map(Some)];
    let tag = prop_oneof![Just(None), (0_i32..2).prop_map(Some), (0_i32..2).prop_map(Some)];
    let wanted = (source, tag).prop_map(|(source, tag)| Wanted { communicator: 0, source, tag });
    let complete = (0_usize..12, prop::bool::weighted(0.9));
    prop_oneof![
        4 => stream.prop_map(Step::Send),
        4 => wanted.prop_map(Step::Post),
        6 => complete.prop_map(|(back, looks)| Step::Complete(back, looks)),
        u32::from(cancels) => (0_usize..12).prop_map(Step::Cancel),
    ]
}

fn run(steps: Vec<Step>) -> Result<Model, TestCaseError> {
    let mut model = Model::default();
    for step in steps {
        let back = |back: usize| model.receives.len().checked_sub(back + 1);
        match step {
            Step::Send(stream) => model.send(stream),
            Step::Post(wanted) => model.post(wanted),
            Step::Complete(at, looks) => {
                if let Some(at) = back(at) {
                    model.complete(at, looks)?;
                    model.complete_cancelled(at);
                }
            }
            Step::Cancel(at) => {
                if let Some(at) = back(at) {
                    model.ask_to_cancel(at);
                }
            }
        }
    }
    Ok(model)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn no_number_is_wrong(steps in proptest::collection::vec(step(true), 0..120)) {
        run(steps)?;
    }

    /// Without cancelling, and with room, every number is found by looking at what is complete.
    #[test]
    fn every_number_is_found(steps in proptest::collection::vec(step(false), 0..120)) {
        let mut model = Model::default();
        let all_look = steps.into_iter().filter(|step| !matches!(step, Step::Complete(_, false)));
        for step in all_look {
            match step {
                Step::Send(stream) => model.send(stream),
                Step::Post(wanted) => {
                    let open = model.receives.iter().filter(|receive| !receive.is_done).count();
                    if open < 8 {
                        model.post(wanted);
                    }
                }
                Step::Complete(back, _) => {
                    if let Some(at) = model.receives.len().checked_sub(back + 1) {
                        model.complete(at, true)?;
                    }
                }
                Step::Cancel(_) => unreachable!(),
            }
        }
        prop_assert_eq!((model.unclear, model.subject.unclear()), (0, 0));
        let done = model.receives.iter().filter(|receive| receive.is_done).count();
        prop_assert_eq!(model.numbered, done);
    }
}

const ANY: Wanted = Wanted { communicator: 0, source: None, tag: None };
const ONE: Stream = Stream { communicator: 0, peer: 1, tag: 1 };

#[test]
fn a_receive_that_is_cancelled_takes_no_message() {
    let mut receives = Receives::<64, 4>::new();
    assert_eq!(receives.post(ONE.into(), 0), Posted::Number(0));
    receives.cancel(ONE, 0);
    receives.cancelled(ONE, 0, true);
    assert_eq!(receives.post(ONE.into(), 1), Posted::Number(0));
    // Two are open when the first is cancelled: the number of the second was wrong.
    assert_eq!(receives.post(ONE.into(), 2), Posted::Number(1));
    receives.cancel(ONE, 0);
    assert_eq!(receives.confirm(ONE, 1), Turn::Unclear);
    receives.cancelled(ONE, 0, true);
    assert_eq!(receives.post(ONE.into(), 3), Posted::Unclear);
    let other = Stream { tag: 2, ..ONE };
    assert_eq!(receives.post(other.into(), 4), Posted::Number(0));
}

#[test]
fn a_receive_posted_in_doubt_makes_the_doubt_final() {
    let mut receives = Receives::<64, 4>::new();
    assert_eq!(receives.post(ONE.into(), 0), Posted::Number(0));
    receives.cancel(ONE, 0);
    assert_eq!(receives.post(ONE.into(), 1), Posted::Unclear);
    receives.cancelled(ONE, 0, false);
    // The second may be cancelled, and nobody would hear of it.
    assert_eq!(receives.post(ONE.into(), 2), Posted::Unclear);
}

#[test]
fn a_wildcard_of_which_nobody_hears_again_makes_its_streams_unclear() {
    let mut receives = Receives::<64, 2>::new();
    let Posted::Ticket(ticket) = receives.post(ANY, 0) else { panic!() };
    receives.release(ticket);
    assert_eq!(receives.post(ONE.into(), 1), Posted::Unclear);
    let elsewhere = Stream { communicator: 1, ..ONE };
    assert_eq!(receives.post(elsewhere.into(), 2), Posted::Number(0));
    receives.remove(0);
    assert_eq!(receives.post(ONE.into(), 3), Posted::Number(0));
}

#[test]
fn more_open_wildcards_than_there_is_room_for_are_unclear() {
    let mut receives = Receives::<64, 2>::new();
    let posted = [0, 1, 2].map(|key| receives.post(ANY, key));
    assert!(matches!(posted, [Posted::Ticket(_), Posted::Ticket(_), Posted::Unclear]));
    let Posted::Ticket(first) = posted[0] else { panic!() };
    receives.matched(first, 1, 1);
    assert_eq!(receives.turn(first), Turn::Unclear, "numbered after the doubt");
    assert_eq!(receives.turn(first), Turn::Unclear, "the ticket is spent");
    assert_eq!(receives.unclear(), 3);
}

#[test]
fn the_oldest_companion_gives_way() {
    let companion = |sequence| crate::companion::Companion { sequence, ..Default::default() };
    let mut arrivals = Arrivals::<64, 2>::new();
    (0..3).for_each(|sequence| arrivals.arrived(ONE, companion(sequence)));
    assert_eq!(arrivals.claim(ONE, 0), Claim::Dropped);
    assert_eq!(arrivals.claim(ONE, 2), Claim::Found(companion(2)));
    assert_eq!(arrivals.claim(ONE, 1), Claim::Found(companion(1)));
    assert_eq!((arrivals.held(), arrivals.displaced()), (0, 1));
    arrivals.arrived(ONE, companion(3));
    assert_eq!((arrivals.remove(0), arrivals.claim(ONE, 3)), (1, Claim::NotYet));
}

proptest! {
    /// Companions come in order, some are missing, and receives ask in any order.
    #[test]
    fn a_receive_gets_its_companion_or_learns_that_there_is_none(
        sent in proptest::collection::vec(any::<bool>(), 1..20), order: u64,
    ) {
        let mut arrivals = Arrivals::<64, 32>::new();
        let is_last = |at: usize| sent[at..].iter().all(|sent| !sent);
        for (sequence, _) in (0_u64..).zip(&sent).filter(|(_, sent)| **sent) {
            arrivals.arrived(ONE, crate::companion::Companion { sequence, ..Default::default() });
        }
        let mut receives: Vec<usize> = (0..sent.len()).collect();
        receives.sort_by_key(|at| (*at as u64).wrapping_mul(order | 1));
        for at in receives {
            match arrivals.claim(ONE, at as u64) {
                Claim::Found(found) => prop_assert!(sent[at] && found.sequence == at as u64),
                Claim::Dropped => prop_assert!(!sent[at] && !is_last(at)),
                Claim::NotYet => prop_assert!(is_last(at)),
            }
        }
        prop_assert_eq!(arrivals.held(), 0);
    }
}

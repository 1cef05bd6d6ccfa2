//! Lanes compared with a list, at their limits, and between two threads.

use std::collections::VecDeque;
use std::mem::ManuallyDrop;

use proptest::prelude::*;

use super::*;

const ENTRIES: usize = 16;

fn lane(entries: usize) -> (Outgoing, Incoming) {
    let words: Box<[AtomicU64]> = (0..Lane::words(entries)).map(|_| AtomicU64::new(0)).collect();
    let lane = Lane::new(Box::leak(words));
    (Outgoing::new(lane), Incoming::new(lane))
}

fn companion(which: &Which) -> Companion {
    Companion { twin: which.epoch, sequence: which.sequence, bytes: 8, ..Companion::default() }
}

fn which(sequence: u64) -> Which {
    Which { epoch: 1, tag: -3, sequence }
}

fn put(outgoing: &mut Outgoing, which: &Which) -> bool {
    outgoing.put(&companion(which), which.tag).is_some()
}

fn take(incoming: &mut Incoming, which: &Which) -> Option<Companion> {
    incoming.take(which, |_| None)
}

#[test]
fn a_full_lane_takes_no_more_until_its_first_entry_is_taken() {
    let (mut outgoing, mut incoming) = lane(ENTRIES);
    (0..16).for_each(|sequence| assert!(put(&mut outgoing, &which(sequence))));
    assert!(!put(&mut outgoing, &which(16)));
    for sequence in 1..8 {
        assert_eq!(take(&mut incoming, &which(sequence)), Some(companion(&which(sequence))));
        assert!(!put(&mut outgoing, &which(16)), "the first is still there");
    }
    assert_eq!(take(&mut incoming, &which(0)), Some(companion(&which(0))));
    (16..24).for_each(|sequence| assert!(put(&mut outgoing, &which(sequence))));
    assert!(!put(&mut outgoing, &which(24)));
}

#[test]
fn a_message_that_is_never_received_does_not_hold_the_lane_up() {
    let (mut outgoing, mut incoming) = lane(ENTRIES);
    for sequence in 0..1_000 {
        assert!(put(&mut outgoing, &which(sequence)), "{sequence}");
        if sequence > 0 {
            assert_eq!(take(&mut incoming, &which(sequence)), Some(companion(&which(sequence))));
        }
    }
}

#[test]
fn messages_that_wait_for_long_give_way_to_those_that_are_received() {
    let (mut outgoing, mut incoming) = lane(ENTRIES);
    (0..16).for_each(|sequence| assert!(put(&mut outgoing, &which(sequence))));
    let other = |sequence| Which { tag: 4, ..which(sequence) };
    assert!(!put(&mut outgoing, &other(0)));
    assert_eq!(take(&mut incoming, &other(0)), None);
    for sequence in 1..8 {
        assert!(put(&mut outgoing, &other(sequence)));
        assert!(take(&mut incoming, &other(sequence)).is_some());
    }
    assert_eq!(take(&mut incoming, &which(7)), None);
    assert!(take(&mut incoming, &which(15)).is_some());
}

#[test]
fn a_companion_that_was_taken_back_is_found_by_nobody_and_takes_no_room() {
    let (mut outgoing, mut incoming) = lane(ENTRIES);
    for round in 0..100 {
        assert!(put(&mut outgoing, &which(round)));
        outgoing.take_back(&which(round));
        outgoing.take_back(&Which { tag: 9, ..which(round) });
        assert_eq!(incoming.peek(&which(round)), None);
        assert_eq!(incoming.left(), 0);
        assert!(incoming.first(|_, _| true).is_none());
        let again = Companion { bytes: 16, ..companion(&which(round)) };
        assert!(outgoing.put(&again, -3).is_some(), "{round}");
        assert_eq!(incoming.left(), 1);
        assert_eq!(take(&mut incoming, &which(round)), Some(again));
    }
}

#[test]
fn companions_of_a_freed_communicator_make_room() {
    let (mut outgoing, mut incoming) = lane(ENTRIES);
    let of = |epoch, sequence| Which { epoch, ..which(sequence) };
    (0..16).for_each(|at| assert!(put(&mut outgoing, &of(1 + at % 2, u64::from(at)))));
    incoming.forget(1);
    assert!(put(&mut outgoing, &of(3, 0)), "the first was of it");
    assert!(!put(&mut outgoing, &of(3, 1)));
    assert!(take(&mut incoming, &of(2, 3)).is_some());
    incoming.forget(2);
    assert!(take(&mut incoming, &of(3, 0)).is_some());
    (0..16).for_each(|at| assert!(put(&mut outgoing, &of(4, at))));
}

#[test]
fn a_sender_hears_when_its_message_is_taken() {
    let (mut outgoing, mut incoming) = lane(ENTRIES);
    let places: Vec<u64> = (0..3)
        .map(|sequence| outgoing.put(&companion(&which(sequence)), -3).expect("room"))
        .collect();
    let uncertainty = Uncertainty::of(9);
    let nearest = Latency::of(700);
    let answer = Answer {
        posted_ns: 5,
        intrusion_ns: 6,
        ideal_ns: 7,
        callpath: 8,
        uncertainty,
        nearest,
        is_absent: true,
    };
    assert_eq!(outgoing.heard(places[1]), Heard::NotYet);
    let taken = incoming.take(&which(1), |_| Some(answer));
    assert_eq!(taken, Some(companion(&which(1))));
    assert_eq!(outgoing.heard(places[1]), Heard::Answer(answer), "before those before it");
    assert_eq!(incoming.take(&which(1), |_| None), None, "it is taken");
    take(&mut incoming, &which(0));
    assert_eq!(outgoing.heard(places[0]), Heard::Nothing);
    assert_eq!(incoming.peek(&which(2)), Some(companion(&which(2))));
    assert_eq!(outgoing.heard(places[2]), Heard::NotYet, "it stays");
    take(&mut incoming, &which(2));
    for sequence in 3..19 {
        assert!(put(&mut outgoing, &which(sequence)));
        assert_eq!(take(&mut incoming, &which(sequence)), Some(companion(&which(sequence))));
    }
    assert_eq!(outgoing.heard(places[1]), Heard::Nothing, "its entry has been used again");
}

#[test]
fn a_receiver_waits_for_the_clock_of_a_sender_that_writes_it_later() {
    const MESSAGES: u64 = 2_000;
    let taking = AtomicU64::new(0);
    let (mut outgoing, mut incoming) = lane(64);
    let with_clock = |sequence| Companion { intrusion_ns: sequence, ..companion(&which(sequence)) };
    let mut wrong = 0;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for sequence in 0..MESSAGES {
                let open = loop {
                    match outgoing.put_open(&companion(&which(sequence)), -3) {
                        Some(open) => break open,
                        None => std::thread::yield_now(),
                    }
                };
                while taking.load(Relaxed) <= sequence {
                    std::thread::yield_now();
                }
                open.close(&with_clock(sequence));
            }
        });
        for sequence in 0..MESSAGES {
            while incoming.left() == 0 {
                std::thread::yield_now();
            }
            taking.store(sequence + 1, Relaxed);
            let taken = take(&mut incoming, &which(sequence));
            wrong += u64::from(taken != Some(with_clock(sequence)));
        }
    });
    assert_eq!(wrong, 0);
}

#[test]
fn a_sender_that_never_writes_its_clock_is_unknown() {
    let (mut outgoing, mut incoming) = lane(ENTRIES);
    let _never_dropped = ManuallyDrop::new(outgoing.put_open(&companion(&which(0)), -3));
    put(&mut outgoing, &which(1));
    assert_eq!(incoming.left(), 2);
    let taken = take(&mut incoming, &which(0)).map(|taken| taken.flags);
    assert_eq!(taken, Some(Companion::SHARED));
    assert_eq!(take(&mut incoming, &which(1)), Some(companion(&which(1))));
}

#[test]
fn an_open_companion_that_is_dropped_has_the_clock_that_it_was_put_with() {
    let (mut outgoing, mut incoming) = lane(ENTRIES);
    drop(outgoing.put_open(&companion(&which(0)), -3));
    assert_eq!(take(&mut incoming, &which(0)), Some(companion(&which(0))));
    (1..17).for_each(|sequence| assert!(put(&mut outgoing, &which(sequence))));
    assert!(outgoing.put_open(&companion(&which(17)), -3).is_none(), "it is full");
}

#[test]
fn another_thread_receives_each_companion_whole() {
    const MESSAGES: u64 = 200_000;
    let (mut outgoing, mut incoming) = lane(64);
    let of = |sequence: u64| Companion {
        entry_ns: sequence.wrapping_mul(3),
        bytes: sequence.wrapping_mul(5),
        ..companion(&which(sequence))
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for sequence in 0..MESSAGES {
                while outgoing.put(&of(sequence), -3).is_none() {
                    std::thread::yield_now();
                }
            }
        });
        for pair in 0..MESSAGES / 2 {
            // The second of two before the first.
            for sequence in [2 * pair + 1, 2 * pair] {
                let taken = loop {
                    match take(&mut incoming, &which(sequence)) {
                        Some(taken) => break taken,
                        None => std::thread::yield_now(),
                    }
                };
                assert_eq!(taken, of(sequence));
            }
        }
    });
}

proptest! {
    #[test]
    fn it_gives_what_a_list_gives(
        steps in proptest::collection::vec((any::<bool>(), 0_u32..3, -1_i32..2, 0_usize..20), 0..400)
    ) {
        // Enough that none gives way.
        let (mut outgoing, mut incoming) = lane(64);
        let mut list: VecDeque<Option<Which>> = VecDeque::new();
        let mut sequence = 0;
        for (is_put, epoch, tag, at) in steps {
            if is_put {
                let which = Which { epoch, tag, sequence };
                let fits = list.len() < 64;
                prop_assert_eq!(put(&mut outgoing, &which), fits);
                if fits {
                    list.push_back(Some(which));
                    sequence += 1;
                }
            } else if at == 19 {
                incoming.forget(epoch);
                for place in &mut list {
                    *place = place.filter(|which| which.epoch != epoch);
                }
            } else if let Some(place) = list.get_mut(at)
                && let Some(which) = place.take()
            {
                prop_assert_eq!(take(&mut incoming, &which), Some(companion(&which)));
            }
            while list.front() == Some(&None) {
                list.pop_front();
            }
        }
    }
}

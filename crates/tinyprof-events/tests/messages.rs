//! Random messages between visits of calls, recorded in small buffers, against the list of all.

use std::collections::HashMap;
use std::sync::atomic::AtomicU64;

use proptest::prelude::*;
use tinyprof_events::buffer::Times;
use tinyprof_events::layout::BYTES_MIN;
use tinyprof_events::{
    Buffer, Cell, EventClass, EventPolicy, MessageEnd, RecordedMessage, Recording, Visit, read,
};

/// How messages follow each other.
#[derive(Clone, Debug)]
struct Traffic {
    partners: Vec<i32>,
    tags: Vec<i32>,
    bytes_max: u64,
    ticks_max: u64,
    seed: u64,
}

fn traffic() -> impl Strategy<Value = Traffic> {
    let partners = prop::collection::vec(any::<i32>(), 1..9);
    let tags = prop::collection::vec(any::<i32>(), 1..5);
    (partners, tags, 1_u64..1 << 40, 1_u64..1 << 40, any::<u64>()).prop_map(
        |(partners, tags, bytes_max, ticks_max, seed)| Traffic {
            partners,
            tags,
            bytes_max,
            ticks_max,
            seed,
        },
    )
}

/// Records this many calls, each with a message, in a buffer of this size. Returns the messages,
/// and what was kept.
fn recorded(
    traffic: &Traffic,
    calls: usize,
    policy: EventPolicy,
    buffer_bytes: usize,
) -> (Vec<RecordedMessage>, Recording) {
    let words: Vec<AtomicU64> = (0..buffer_bytes / 8).map(|_| AtomicU64::new(0)).collect();
    let buffer = Buffer::prepare(&words, policy, Times::default()).expect("it fits");
    let (mut random, mut now, mut made) = (traffic.seed, 0, Vec::new());
    let mut numbers: HashMap<(i32, i32), u64> = HashMap::new();
    let mut below = |most: u64| {
        random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (random >> 20) % most.max(1)
    };
    for _ in 0..calls {
        let mut pick = |from: &[i32]| {
            let at = below(from.len() as u64);
            from[usize::try_from(at).expect("a position")]
        };
        let (partner, tag) = (pick(&traffic.partners), pick(&traffic.tags));
        let number = numbers.entry((partner, tag)).or_default();
        let begin = now + below(traffic.ticks_max) / 2;
        now = begin + below(traffic.ticks_max) / 2;
        let is_receive = below(2) == 1;
        let end = MessageEnd {
            is_receive,
            partner,
            communicator: u32::try_from(below(3)).expect("it is small"),
            tag,
            number: *number,
            bytes: below(traffic.bytes_max),
        };
        *number += 1;
        let (callpath, at) = (7 + u32::from(is_receive), if is_receive { now } else { begin });
        // A send is recorded while its call goes on, a receive after it.
        let visit = Visit { callpath, class: EventClass::Call, depth: 2, begin, end: now };
        let message = || buffer.record_message(callpath, at, &end);
        if is_receive {
            buffer.record(visit);
            message();
        } else {
            message();
            buffer.record(visit);
        }
        made.push(RecordedMessage { callpath, at, end });
    }
    let recording = read(&words).expect("it is a buffer");
    (made, recording)
}

fn lost(recording: &Recording) -> u64 {
    let cells = recording.cells.iter().filter(|cell| cell.cell == Cell::MESSAGES);
    cells.map(|cell| cell.lost).sum()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn no_message_is_invented_or_lost_in_silence(
        traffic in traffic(), calls in 0_usize..60_000, policy in 0_u64..3
    ) {
        let policy = EventPolicy::from_number(policy).unwrap();
        let (made, recording) = recorded(&traffic, calls, policy, BYTES_MIN);
        prop_assert_eq!(recording.bins_unreadable, 0);
        prop_assert_eq!(recording.messages.len() as u64 + lost(&recording), made.len() as u64);
        // What is there is a part of what was made, in its order.
        let mut rest = made.iter();
        for kept in &recording.messages {
            prop_assert!(rest.any(|one| one == kept), "{:?} was not made, or not then", kept);
        }
        let totals = recording.totals();
        prop_assert_eq!(totals.kept + totals.lost, made.len() as u64, "visits are counted apart");
    }

    #[test]
    fn a_ring_has_the_newest_messages(traffic in traffic()) {
        let (made, recording) = recorded(&traffic, 60_000, EventPolicy::Ring, BYTES_MIN);
        let kept = recording.messages.len();
        prop_assert!(lost(&recording) > 0 && kept > 1_000, "{} kept", kept);
        prop_assert_eq!(&recording.messages[..], &made[made.len() - kept..]);
    }
}

#[test]
fn a_message_takes_few_bytes() {
    let traffic = Traffic {
        partners: vec![-20, -1, 1, 20],
        tags: vec![3, 4],
        bytes_max: 1 << 16,
        // Calls of 10 us, in units of about 3 ns.
        ticks_max: 3_000,
        seed: 1,
    };
    let (made, recording) = recorded(&traffic, 500_000, EventPolicy::Window, 4 << 20);
    let (kept, visits) = (recording.messages.len(), recording.visits.len());
    assert!(kept < made.len(), "the buffer is full");
    // With a visit each, and with what bins and the buffer take for themselves.
    let both = kept.min(visits);
    assert!(4 << 20 < (12 + 6) * both, "{both} messages and visits in 4 MiB");
}

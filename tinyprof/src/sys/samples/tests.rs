//! Records of samples, made up and of the kernel.

use super::kernel::{SOFTWARE, TASK_CLOCK};
use super::*;
use crate::sys::thread_number;

impl SampleRing {
    /// Returns a ring in which no kernel writes, with these records from a position on.
    pub(crate) fn filled(data_bytes: usize, from: u64, records: &[&[u64]]) -> Self {
        let ring = Self::map(-1, 4096, data_bytes).expect("there is memory");
        let mut head = from;
        for word in records.iter().copied().flatten() {
            let offset = usize::try_from(head).expect("64 bits") & (data_bytes - 1);
            ring.word(4096 + offset).store(*word, Relaxed);
            head += 8;
        }
        ring.word(TAIL).store(from, Relaxed);
        ring.word(HEAD).store(head, Relaxed);
        ring
    }

    /// Returns the record of a sample.
    pub(crate) fn sample_at(instruction: usize) -> [u64; 2] {
        [SAMPLE_BYTES << 48 | SAMPLE, instruction as u64]
    }

    /// Returns the record of samples without room.
    pub(crate) fn lost(number: u64) -> [u64; 3] {
        [24 << 48 | LOST, 1, number]
    }
}

#[test]
fn a_thread_that_works_is_sampled_where_it_works() {
    let errno = last_error();
    let ring = match SampleRing::of_this_thread(100_000) {
        Ok(ring) => ring,
        Err(why) => return eprintln!("not tested: {why}"),
    };
    assert!(SampleRing::of_this_thread(1 << 63).is_err(), "no such period");
    assert_eq!(last_error(), errno, "it is the program's");
    let (base, sizes) = ring.into_words();
    // SAFETY: they are those of the ring.
    let ring = unsafe { SampleRing::from_words(base, sizes) }.unwrap();
    let mut count = 0;
    while count < 10 {
        for number in 0..100_000_u64 {
            std::hint::black_box(number);
        }
        ring.take(|sample| {
            assert!(!matches!(sample, Sample::At(0, _)));
            count += 1;
        });
    }
    assert!(ring.waiting() < 10);
}

fn taken(ring: &SampleRing) -> Vec<Sample> {
    let mut found = Vec::new();
    ring.take(|sample| found.push(sample));
    found
}

#[test]
fn records_may_go_on_at_the_beginning_and_those_without_room_are_counted() {
    let (at, next) = (SampleRing::sample_at(11), SampleRing::sample_at(12));
    let (lost, unknown) = (SampleRing::lost(5), [16 << 48 | 99, 7]);
    for from in [0, 40, 48, 56, 1 << 40 | 56] {
        let ring = SampleRing::filled(64, from, &[&at, &lost, &unknown]);
        assert!(ring.has_more());
        assert_eq!(taken(&ring), [Sample::At(11, None), Sample::Lost(5)], "from {from}");
        assert!(!ring.has_more() && taken(&ring).is_empty());
        let ring = SampleRing::filled(64, from, &[&at, &next, &lost]);
        assert_eq!(ring.waiting(), 2);
        assert_eq!(taken(&ring), [Sample::At(11, None), Sample::At(12, None), Sample::Lost(5)]);
    }
}

/// Begins with counters that each system has: processor time, and page faults.
fn counting(thread: u32, period_ns: u64) -> Option<SampleRing> {
    let ring =
        SampleRing::with_counters(thread, period_ns, [(SOFTWARE, TASK_CLOCK), (SOFTWARE, 2)]);
    ring.inspect_err(|why| eprintln!("not tested: {why}")).ok()
}

#[test]
fn what_is_counted_comes_with_the_sample() {
    let Some(ring) = counting(0, 200_000) else { return };
    assert!(ring.has_counters);
    let (base, sizes) = ring.into_words();
    // SAFETY: they are those of the ring.
    let ring = unsafe { SampleRing::from_words(base, sizes) }.unwrap();
    let (mut samples, mut faults, mut clock_ns, mut pages) = (0_u64, 0, 0, Vec::new());
    while samples < 40 {
        pages.push(std::hint::black_box(vec![1_u8; 1 << 20]));
        ring.take(|sample| {
            let Sample::At(at, Some(Counted { cycles, instructions })) = sample else { return };
            assert_ne!(at, 0);
            samples += 1;
            (clock_ns, faults) = (clock_ns + cycles, faults + instructions);
        });
    }
    assert!(faults >= 1, "the memory is new");
    // The clock stands for cycles. Time in the kernel has none of the samples.
    assert!(clock_ns >= 39 * 200_000, "{clock_ns}");
}

#[test]
fn time_without_counters_is_samples_that_were_not_taken() {
    let Some(real) = counting(0, 1_000_000) else { return };
    let record = |at, wanted: u64, counted: u64, cycles| {
        [COUNTED_BYTES << 48 | SAMPLE, at, 3, wanted, counted, 7, cycles, 2 * cycles]
    };
    let ring = SampleRing {
        data_bytes: 4096,
        has_counters: true,
        ..*std::mem::ManuallyDrop::new(SampleRing::filled(
            4 * 4096,
            0,
            &[
                &record(1, 1_000, 1_000, 5),
                &record(2, 4_500, 2_000, 9),
                &record(3, 6_000, 3_000, 10),
            ],
        ))
    };
    drop(real);
    ring.own(PERIOD_NS).store(1_000, Relaxed);
    let counted = |cycles| Some(Counted { cycles, instructions: 2 * cycles });
    let expected = [
        Sample::At(1, counted(5)),
        Sample::Lost(2),
        Sample::At(2, counted(4)),
        // 500 ns of before, and 500 more.
        Sample::Lost(1),
        Sample::At(3, counted(1)),
    ];
    assert_eq!(taken(&ring), expected);
}

#[test]
fn a_thread_tells_of_those_that_it_makes_and_of_its_end() {
    let Ok(ring) = SampleRing::of_this_thread(1_000_000_000) else { return };
    let (other, of_other) = std::thread::scope(|scope| {
        let (say, hear) = std::sync::mpsc::channel();
        let (go_on, wait) = std::sync::mpsc::channel::<()>();
        scope.spawn(move || {
            say.send(thread_number()).unwrap();
            wait.recv().unwrap_or_default();
        });
        let other = hear.recv().unwrap();
        let of_other = SampleRing::of_thread(other, 1_000_000_000).unwrap();
        assert_eq!(taken(&of_other), []);
        drop(go_on);
        (other, of_other)
    });
    assert!(taken(&ring).contains(&Sample::Made(other)));
    // The kernel may still be at it when the thread counts as joined.
    while !of_other.has_more() {
        std::thread::yield_now();
    }
    assert_eq!(taken(&of_other), [Sample::Ended]);
}

#[test]
fn a_record_without_length_ends_what_is_taken() {
    let ring = SampleRing::filled(64, 0, &[&[SAMPLE, 1], &SampleRing::sample_at(2)]);
    assert_eq!(taken(&ring), []);
    assert!(!ring.has_more());
}

//! Records of samples, made up and of the kernel.

use tinyprof_segment::clock::monotonic_ns;

use super::kernel::{SOFTWARE, TASK_CLOCK, clock_event, last_error};
use super::*;
use crate::sys::thread_number;

const PLAIN: Kind = Kind { has_counters: false, has_kernel: true };

impl SampleRing {
    /// Returns a ring in which no kernel writes, with these records from a position on.
    pub(crate) fn filled(data_bytes: usize, from: u64, records: &[&[u64]]) -> Self {
        Self::filled_of(PLAIN, data_bytes, from, records)
    }

    fn filled_of(kind: Kind, data_bytes: usize, from: u64, records: &[&[u64]]) -> Self {
        let ring = Self::blank(4096, data_bytes, kind).expect("there is memory");
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

    /// Returns the record of a sample: the registers are those of 64 bits.
    pub(crate) fn sample_at(instruction: usize) -> [u64; 3] {
        [24 << 48 | 2 << 32 | SAMPLE, 2, instruction as u64]
    }

    /// Returns the record of a sample in the kernel.
    pub(crate) fn sample_in_kernel(instruction: usize) -> [u64; 3] {
        [24 << 48 | KERNEL | SAMPLE, 2, instruction as u64]
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
    for from in [0, 88, 96, 104, 112, 120, 1 << 40 | 120] {
        let ring = SampleRing::filled(128, from, &[&at, &lost, &unknown]);
        assert!(ring.has_more());
        assert_eq!(taken(&ring), [Sample::At(11, None), Sample::Lost(5)], "from {from}");
        assert!(!ring.has_more() && taken(&ring).is_empty());
        let ring = SampleRing::filled(128, from, &[&at, &next, &lost]);
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
    assert!(ring.kind.has_counters);
    let (base, sizes) = ring.into_words();
    // SAFETY: they are those of the ring.
    let ring = unsafe { SampleRing::from_words(base, sizes) }.unwrap();
    // Allocators map more than 32 MiB anew each time, and may have smaller pieces left from others.
    const NEW_BYTES: usize = 33 << 20;
    let (mut samples, mut faults, mut clock_ns) = (0_u64, 0, 0);
    while samples < 40 {
        drop(std::hint::black_box(vec![1_u8; NEW_BYTES]));
        ring.take(|sample| {
            let (Sample::At(at, counted) | Sample::InKernel(at, counted)) = sample else { return };
            let Counted { cycles, instructions } = counted.expect("it is counted");
            assert_ne!(at, 0);
            samples += 1;
            (clock_ns, faults) = (clock_ns + cycles, faults + instructions);
        });
    }
    assert!(faults >= 1, "the memory is new");
    // The clock stands for cycles.
    assert!(clock_ns >= 39 * 200_000, "{clock_ns}");
}

const fn counted(cycles: u64) -> Option<Counted> {
    Some(Counted { cycles, instructions: 2 * cycles })
}

#[test]
fn time_without_counters_is_samples_that_were_not_taken() {
    let record = |at, wanted: u64, counted: u64, cycles| {
        [72 << 48 | SAMPLE, 3, wanted, counted, 7, cycles, 2 * cycles, 2, at]
    };
    let records =
        [record(1, 1_000, 1_000, 5), record(2, 4_500, 2_000, 9), record(3, 6_000, 3_000, 10)];
    let records = records.each_ref().map(|record| &record[..]);
    let kind = Kind { has_counters: true, has_kernel: true };
    let ring = SampleRing::filled_of(kind, 4096, 0, &records);
    ring.own(PERIOD_NS).store(1_000, Relaxed);
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
fn samples_in_the_kernel_are_at_the_programs_instruction() {
    // The registers of a thread without memory are missing: none of its instructions is known.
    let gone = [16 << 48 | KERNEL | SAMPLE, 0];
    let records = [&SampleRing::sample_in_kernel(7)[..], &gone, &SampleRing::sample_at(8)];
    let found = taken(&SampleRing::filled(4096, 0, &records));
    let expected = [Sample::InKernel(7, None), Sample::InKernel(0, None), Sample::At(8, None)];
    assert_eq!(found, expected);
}

#[test]
fn where_the_kernel_is_not_seen_the_clock_tells_the_samples_in_it() {
    let kind = Kind { has_counters: false, has_kernel: false };
    let at = |instruction, clock_ns: u64| [24 << 48 | SAMPLE, instruction, clock_ns];
    let lost = SampleRing::lost(3);
    let records: [&[u64]; 5] = [&at(1, 1_010), &at(2, 4_020), &lost, &at(3, 8_999), &at(4, 10_001)];
    let ring = SampleRing::filled_of(kind, 4096, 0, &records);
    ring.own(PERIOD_NS).store(1_000, Relaxed);
    let at = |instruction| Sample::At(instruction, None);
    let expected =
        [at(1), Sample::Unseen(2), at(2), Sample::Lost(3), at(3), Sample::Unseen(1), at(4)];
    assert_eq!(taken(&ring), expected);
    let kind = Kind { has_counters: true, has_kernel: false };
    let records: [&[u64]; 2] = [
        &[64 << 48 | SAMPLE, 1, 3, 9, 9, 1_000, 5, 10],
        &[64 << 48 | SAMPLE, 2, 3, 9, 9, 3_000, 6, 12],
    ];
    let ring = SampleRing::filled_of(kind, 4096, 0, &records);
    ring.own(PERIOD_NS).store(1_000, Relaxed);
    let expected = [Sample::At(1, counted(5)), Sample::Unseen(1), Sample::At(2, counted(1))];
    assert_eq!(taken(&ring), expected);
}

/// Reads from a device for which the kernel works long, until the thread has had this processor
/// time.
fn work_in_kernel(until_ns: u64) {
    use std::io::Read;
    let mut zeros = std::fs::File::open("/dev/zero").expect("each system has it");
    let mut to = vec![0_u8; 1 << 20];
    while thread_cpu_ns() < until_ns {
        zeros.read_exact(&mut to).expect("it has no end");
    }
}

fn thread_cpu_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes to `now`.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut now) };
    u64::try_from(now.tv_sec * 1_000_000_000 + now.tv_nsec).expect("it is not negative")
}

#[test]
fn time_in_the_kernel_is_told_whether_it_may_be_seen_or_not() {
    let (period_ns, worked_ns) = (1_000_000, 200_000_000);
    let no_counters = [(u32::MAX, 0); COUNTERS.len()];
    for sees_kernel in [true, false] {
        let ring = if sees_kernel {
            SampleRing::with_counters(0, period_ns, no_counters)
        } else {
            SampleRing::with_clock(0, clock_event(period_ns), no_counters)
        };
        let Ok(ring) = ring.inspect_err(|why| eprintln!("not tested: {why}")) else { return };
        if ring.kind.has_kernel != sees_kernel {
            eprintln!("not tested: the kernel is not to be seen");
            continue;
        }
        let (begun, begun_at) = (thread_cpu_ns(), monotonic_ns());
        work_in_kernel(begun + worked_ns);
        let (mut outside, mut inside) = (0, 0);
        // Until the next sample tells of those that were not taken.
        let before = thread_cpu_ns();
        while thread_cpu_ns() < before + 3 * period_ns {
            for number in 0..100_000_u64 {
                std::hint::black_box(number);
            }
        }
        let (worked_ns, took_ns) = (thread_cpu_ns() - begun, monotonic_ns() - begun_at);
        ring.take(|sample| match sample {
            Sample::At(..) => outside += 1,
            Sample::InKernel(at, _) => inside += u64::from(at != 0),
            Sample::Unseen(number) => inside += number,
            _ => {}
        });
        assert!(inside > 3 * outside, "{sees_kernel}: {inside} {outside}");
        // A host that takes the processor away from its guest adds to samples, not to this time.
        let all = inside + outside;
        let (least, most) = (worked_ns / period_ns - 12, took_ns / period_ns + 12);
        assert!(least < all && all < most, "{sees_kernel}: {inside} {outside}");
    }
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

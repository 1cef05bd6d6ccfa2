//! Mutations that know the format, one after the other, for the reader as users have it: with
//! checksums, on files.
//!
//! `mutate profile|segment COUNT [SEED]`. In addition to the checks of the fuzz targets, `check`
//! must agree with the reader, and no reader may take more memory than its limits allow. A failure
//! names the seed that repeats it: COUNT is 1 then.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use tinyprof_format::file::{FileCheck, Permissions, save_profile};
use tinyprof_fuzz::again::write_and_read;
use tinyprof_fuzz::segment::{check_seeds, read_segment};
use tinyprof_fuzz::structure::{Tape, mutated_profile, mutated_segment};
use tinyprof_fuzz::{LIMITS, Memory, read_in_every_way};

#[path = "../../tinyprof-format/tests/hostile/allocator.rs"]
mod allocator;

use allocator::peak_bytes;

/// The longest time that an input takes.
const LIMIT: Duration = Duration::from_secs(10);

/// The number of threads.
const THREADS: u64 = 2;

/// The progress of a thread, from which a hang is detected.
#[derive(Default)]
struct Progress {
    seed: AtomicU64,
    done: AtomicU64,
    /// The number of inputs that were read as a whole.
    read: AtomicU64,
    failed: AtomicU64,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments.get(at).and_then(|text| text.parse::<u64>().ok());
    let (Some(target), Some(count)) = (arguments.first(), number(1)) else {
        eprintln!("usage: mutate profile|segment COUNT [SEED]");
        return ExitCode::from(2);
    };
    let first = number(2).unwrap_or(1);
    let run: fn(&[u8], &Path) -> bool = match target.as_str() {
        "profile" => profile,
        "segment" => segment,
        other => {
            eprintln!("there is no target {other}");
            return ExitCode::from(2);
        }
    };
    check_seeds();
    let progress: Vec<Progress> = (0..THREADS).map(|_| Progress::default()).collect();
    let memory = Path::new("/dev/shm");
    let scratch = tempfile::tempdir_in(if memory.is_dir() { memory } else { Path::new("/tmp") })
        .expect("a directory");
    std::thread::scope(|scope| {
        for (thread, progress) in (0..THREADS).zip(&progress) {
            let place = scratch.path().join(thread.to_string());
            scope.spawn(move || {
                for seed in (first..first + count).filter(|seed| seed % THREADS == thread) {
                    progress.seed.store(seed, Relaxed);
                    let tape = tape(seed);
                    match catch_unwind(AssertUnwindSafe(|| run(&tape, &place))) {
                        Ok(read) => drop(progress.read.fetch_add(read.into(), Relaxed)),
                        Err(_) => {
                            println!("repeat it: mutate {target} 1 {seed}");
                            progress.failed.fetch_add(1, Relaxed);
                        }
                    }
                    progress.done.fetch_add(1, Relaxed);
                }
                progress.seed.store(0, Relaxed);
            });
        }
        watch(&progress, target);
    });
    let sum = |of: fn(&Progress) -> &AtomicU64| {
        progress.iter().map(|one| of(one).load(Relaxed)).sum::<u64>()
    };
    let (done, read, failed) = (sum(|p| &p.done), sum(|p| &p.read), sum(|p| &p.failed));
    println!("{target}: mutations tried: {done}; read as a whole: {read}; failed: {failed}");
    println!(
        "{{\"part\":\"mutations\",\"configuration\":\"{target}\",\"faults\":{done},\"read\":{read},\"failed\":{failed}}}"
    );
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Ends the program if an input takes too long.
fn watch(progress: &[Progress], target: &str) {
    let mut since: Vec<(u64, Instant)> = progress.iter().map(|_| (0, Instant::now())).collect();
    loop {
        std::thread::sleep(Duration::from_millis(100));
        let seeds: Vec<u64> = progress.iter().map(|one| one.seed.load(Relaxed)).collect();
        for (&seed, (before, when)) in seeds.iter().zip(&mut since) {
            if seed != *before {
                (*before, *when) = (seed, Instant::now());
            }
            if seed != 0 && when.elapsed() > LIMIT {
                println!(
                    "an input takes longer than {LIMIT:?}; repeat it: mutate {target} 1 {seed}"
                );
                std::process::exit(1);
            }
        }
        // No thread has begun, or all are done: seeds are not 0.
        let all: u64 = progress.iter().map(|one| one.done.load(Relaxed)).sum();
        if seeds.iter().all(|&seed| seed == 0) && all > 0 {
            return;
        }
    }
}

/// Returns the bytes that a seed generates: SplitMix64.
fn tape(seed: u64) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    };
    (0..24).flat_map(|_| next().to_le_bytes()).collect()
}

fn profile(tape: &[u8], place: &Path) -> bool {
    let files = mutated_profile(&mut Tape::new(tape));
    let (_, peak) = peak_bytes(|| LIMITS.read_of(&files).map(drop));
    assert!(peak as u64 <= LIMITS.memory_bytes(), "reading took {peak} bytes at a time");
    let read = read_in_every_way(&files);
    let directory = place.join("mutated.tprof");
    on_disk(&directory, &files);
    let checked = LIMITS.check(&directory);
    let agrees = match (&checked, &read) {
        // A section that no reader knows may be damaged, because it is not read.
        (Ok(check), Some(_)) => {
            check.contradiction.is_none() && check.files.iter().all(only_unknown)
        }
        (Ok(check), None) => !check.is_whole(),
        (Err(_), read) => read.is_none(),
    };
    assert!(
        agrees,
        "`check` and the reader disagree: read as a whole: {}, {checked:?}",
        read.is_some()
    );
    if let Some(profile) = &read {
        write_and_read(profile);
        let saved = save_profile(Permissions::Private, &place.join("saved"), profile)
            .expect("there is room");
        let check = LIMITS.with_memory_bytes(256 << 20).check(&saved).expect("it has a manifest");
        assert!(check.is_whole(), "what was read is saved, and damaged: {check:?}");
    }
    fs::remove_dir_all(place).expect("it is ours");
    read.is_some()
}

fn only_unknown(file: &FileCheck) -> bool {
    file.damage.iter().all(|damage| damage.offset.is_some() && damage.section.is_none())
}

fn on_disk(directory: &Path, files: &Memory) {
    fs::create_dir_all(directory).expect("there is room");
    for (name, bytes) in files {
        fs::write(directory.join(name), bytes).expect("there is room");
    }
}

fn segment(tape: &[u8], _: &Path) -> bool {
    read_segment(&mutated_segment(&mut Tape::new(tape)))
}

//! Makes visits, for tools that count instructions: `visits CASE COUNT [off]`. With `off`,
//! measuring is switched off before, by a command to its own memory. Case `times` prints what a
//! region takes: without the profiler, while it measures, and while measuring is off.

mod off;

use std::hint::black_box;

use off::Thread;
use tinyprof::{profile, profile_loop, profile_scope};
use tinyprof_segment::control::Verb;

#[inline(never)]
fn region() {
    profile_scope!("region");
    black_box(());
}

#[inline(never)]
fn keyed(key: &str) {
    profile_scope!("region", split = key);
    black_box(());
}

#[profile(name = "root")]
fn inside<T>(work: impl FnOnce() -> T) -> T {
    work()
}

const NOT_OBEYED: &str = "nobody obeys in TINYPROF_SEGMENT_DIR: is TINYPROF_STEER=on?";

/// Returns this thread, which has made a visit.
fn own() -> Result<Thread, &'static str> {
    region();
    let directory = std::env::var_os("TINYPROF_SEGMENT_DIR").unwrap_or_default();
    Thread::find(directory.as_ref()).map_err(|_| NOT_OBEYED)
}

/// Obeys a command to itself, where a visit ends.
fn obey(own: &Thread, verb: Verb) -> Result<(), &'static str> {
    let number = own.give(verb).map_err(|_| NOT_OBEYED)?;
    region();
    own.has_done(number).ok().filter(|&is_done| is_done).map(drop).ok_or(NOT_OBEYED)
}

#[inline(never)]
fn nothing() {
    black_box(());
}

/// Prints the medians of rounds in which each comes in turn.
#[expect(clippy::print_stdout, reason = "the times are what the case is for")]
fn print_times(visits: u64) -> Result<(), &'static str> {
    let own = own()?;
    let mut all = [const { Vec::new() }; 3];
    for _ in 0..41 {
        all[0].push(ps_of(visits, nothing));
        all[1].push(ps_of(visits, region));
        obey(&own, Verb::Off)?;
        all[2].push(ps_of(visits, region));
        obey(&own, Verb::On)?;
    }
    let [nothing, on, off] = all.map(|mut ns| {
        ns.sort_unstable();
        ns[ns.len() / 2]
    });
    println!("region: {nothing} without, {on} on, {off} off; ps");
    Ok(())
}

/// Returns the time of one of these visits, in ps.
fn ps_of(visits: u64, visit: fn()) -> u64 {
    let begun_ns = tinyprof::collect::monotonic_ns();
    (0..visits).for_each(|_| visit());
    (tinyprof::collect::monotonic_ns() - begun_ns) * 1000 / visits
}

/// Leaves regions out of the recording.
fn filter(patterns: &str) -> Result<(), &'static str> {
    tinyprof::Builder::new().filter(patterns).start().map_err(|_| "that is a filter")
}

fn main() -> Result<(), &'static str> {
    // Only the visits count, so no profile is written.
    let taken_over = tinyprof::collect::take_over(tinyprof::collect::Ending::default);
    if !taken_over {
        return Err("somebody else writes the profile");
    }
    let mut arguments = std::env::args().skip(1);
    let case = arguments.next().ok_or("which case?")?;
    let visits: u64 =
        arguments.next().and_then(|count| count.parse().ok()).ok_or("how many visits?")?;
    if arguments.next().is_some() {
        obey(&own()?, Verb::Off)?;
    }
    match case.as_str() {
        "region" => inside(|| (0..visits).for_each(|_| region())),
        "split" => inside(|| (0..visits).for_each(|_| keyed(black_box("alloc::vec::Vec<f64>")))),
        "filtered" => {
            filter("-region")?;
            inside(|| (0..visits).for_each(|_| region()));
        }
        "loop_filtered" => {
            filter("-loop")?;
            inside(|| {
                profile_loop!(
                    "loop",
                    mode = each,
                    for visit in 0..visits {
                        black_box(visit);
                    }
                );
            });
        }
        "times" => inside(|| print_times(visits))?,
        "root" => (0..visits).for_each(|_| region()),
        "loop_total" => inside(|| {
            profile_loop!(
                "loop",
                mode = total,
                for visit in 0..visits {
                    black_box(visit);
                }
            );
        }),
        "loop_each" => inside(|| {
            profile_loop!(
                "loop",
                mode = each,
                for visit in 0..visits {
                    black_box(visit);
                }
            );
        }),
        _ => return Err("no such case"),
    }
    Ok(())
}

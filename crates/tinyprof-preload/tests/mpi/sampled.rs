//! Samples of a program whose functions work for known processor times: each has as many as its
//! time says, whatever else the program does.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;
use tinyprof_format::file::read_profile;
use tinyprof_format::model::{
    CallpathIndex, KERNEL_SAMPLES, MetricValues, Profile, SAMPLED_SECONDS, SAMPLES_AT_END,
    SAMPLES_IN_KERNEL, SAMPLES_UNKNOWN, THREADS_NOT_SAMPLED, WORKER_SECONDS,
};

use crate::support::{compile, compile_with, library, mpiexec};

/// The samples in a second of processor time.
const PER_SECOND: u32 = 1000;
const PERIOD_NS: f64 = 1e6;

/// The program's word for the processor time of the thread that has worked longest.
const LONGEST: &str = "longest";

/// Runs the program on a number of ranks.
fn run(scratch: &Path, ranks: usize, what: &str, more: &[(&str, &str)]) -> Output {
    run_by(scratch, ranks, &[], what, more)
}

/// Runs the program, started by another one that is there already.
fn run_by(
    scratch: &Path,
    ranks: usize,
    starter: &[&str],
    what: &str,
    more: &[(&str, &str)],
) -> Output {
    let program = compile("sampled.c", scratch);
    let mut command: Command = mpiexec(ranks);
    command.env("TINYPROF_OUT", scratch.join("p")).env("TINYPROF_REPORT", "off");
    command.env("TINYPROF_SEGMENT_DIR", scratch.join("segments"));
    command.env("LD_PRELOAD", library()).env("TINYPROF_SAMPLE", PER_SECOND.to_string());
    command.envs(more.iter().copied());
    command.args(starter).arg(program).arg(what).output().expect("mpiexec starts")
}

/// Returns the processor time of each function over all ranks, as the program has printed it, in
/// ns.
fn worked_ns(output: &Output) -> BTreeMap<String, f64> {
    let mut worked = BTreeMap::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let (function, ns) = line.split_once(' ').expect("a function and its time");
        let ns: f64 = ns.parse().expect("a number");
        *worked.entry(function.to_owned()).or_default() += ns;
    }
    worked
}

/// Returns the samples of each function, over all lines and ranks.
fn samples(profile: &Profile) -> BTreeMap<String, f64> {
    let mut samples = BTreeMap::new();
    for (index, row) in profile.callpaths.iter() {
        if let Some(function) = row.region.sampled_function() {
            let visits: u64 = profile.values[index.row()].iter().map(|of| of.visits()).sum();
            let visits = u32::try_from(visits).expect("it was short");
            *samples.entry(function.to_owned()).or_default() += f64::from(visits);
        }
    }
    samples
}

/// Checks that each function has the samples of its processor time, within three standard errors.
fn check(output: &Output, profile: &Profile) {
    let (mut worked_ns, samples) = (worked_ns(output), samples(profile));
    worked_ns.remove(LONGEST);
    let all_ns: f64 = worked_ns.values().sum();
    let all: f64 = worked_ns.keys().filter_map(|function| samples.get(function)).sum();
    assert_eq!(worked_ns.len(), 2, "{output:?}");
    for (function, ns) in worked_ns {
        let found = samples.get(&function).copied().unwrap_or(0.0);
        let expected = ns / PERIOD_NS;
        assert!(
            (found - expected).abs() <= 3.0 * expected.sqrt(),
            "{function}: {found} {expected}"
        );
        let (share, part) = (found / all, ns / all_ns);
        let error = (part * (1.0 - part) / all).sqrt();
        assert!((share - part).abs() <= 3.0 * error, "{function}: {share} of {part}");
    }
    assert!(!samples.contains_key("of_child"), "of another process: {samples:?}");
}

fn checked(ranks: usize, what: &str, level: &str) -> (Profile, TempDir) {
    let scratch = tempfile::tempdir().expect("a directory can be made");
    let output = run(scratch.path(), ranks, what, &[("TINYPROF_MPI", level)]);
    assert!(output.status.success(), "{what}: {output:?}");
    assert!(output.stderr.is_empty(), "{what}: {output:?}");
    let profile =
        read_profile(&scratch.path().join("p.tprof")).expect("the ranks have written one");
    check(&output, &profile);
    (profile, scratch)
}

/// Checks that the system allows samples.
///
/// # Errors
/// What is said where it does not: one line.
pub(crate) fn allowed() -> Result<(), String> {
    let scratch = tempfile::tempdir().expect("a directory can be made");
    let said = run(scratch.path(), 1, "", &[]).stderr;
    let said = String::from_utf8_lossy(&said).into_owned();
    if said.is_empty() {
        return Ok(());
    }
    assert!(said.starts_with("tinyprof: TINYPROF_SAMPLE is ignored: "), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    Err(said)
}

#[test]
fn functions_and_lines_have_the_samples_of_their_processor_time() {
    if let Err(reason) = allowed() {
        return println!("left out: {reason}");
    }
    for level in ["calls", "messages"] {
        check_places(&checked(2, "", level).0);
    }
}

fn check_places(profile: &Profile) {
    let mut outside = 0;
    for (index, row) in profile.callpaths.iter() {
        if row.region.is_sampled() && row.parent.is_none() {
            outside += profile.values[index.row()].iter().map(|of| of.visits()).sum::<u64>();
        }
        if row.region.sampled_function() == Some("longer") {
            assert!(row.region.file.ends_with("sampled.c"), "{:?}", row.region);
            assert!(row.region.name.ends_with(&format!("(sampled.c:{})", row.region.line)));
            assert_eq!(profile.callpaths.path(row.parent.expect("the program")), "sampled");
            assert!(profile.values[index.row()].iter().all(|of| of.visits() <= 400));
        }
    }
    let children = profile.callpaths.children();
    for siblings in (0..profile.callpaths.len()).map(|row| &children[row]) {
        let names = siblings.iter().map(|of| profile.callpaths.get(*of).region.name.as_str());
        let distinct: BTreeSet<&str> = names.collect();
        assert_eq!(distinct.len(), siblings.len(), "a line is one row: {distinct:?}");
    }
    // What the profiler does when MPI has begun is no time of the program.
    assert!(outside <= 4, "{outside}");
}

#[test]
fn threads_that_never_call_are_sampled_for_the_region_that_made_them() {
    if let Err(reason) = allowed() {
        return println!("left out: {reason}");
    }
    let (profile, _scratch) = checked(1, "threads", "calls");
    check_below_program(&profile);
    // Each thread of the pool, the places of those that end, and the one that has made them.
    let (threads, of_workers) = threads_of_program(&profile);
    assert!((32..=65).contains(&threads) && of_workers > 0.9, "{threads} {of_workers}");
}

#[test]
fn none_is_lost_or_doubled_with_threads_forks_and_execs_at_once() {
    if let Err(reason) = allowed() {
        return println!("left out: {reason}");
    }
    println!("{}", check_all(0));
}

#[test]
fn threads_shorter_than_the_time_between_samples_are_counted_together() {
    if let Err(reason) = allowed() {
        return println!("left out: {reason}");
    }
    println!("{}", check_brief(0));
}

/// Both for as long as `TINYPROF_LONG_S` says, 600 s otherwise, each.
#[test]
#[ignore = "takes 20 minutes"]
fn none_is_lost_or_doubled_over_a_long_time() {
    let seconds = std::env::var("TINYPROF_LONG_S").ok().and_then(|text| text.parse().ok());
    let seconds = seconds.unwrap_or(600);
    println!("{}", check_brief(seconds));
    println!("{}", check_all(seconds));
}

/// Runs the program for a time, and returns what it has written, and its profile.
fn run_for(what: &str, seconds: u32) -> (Output, Profile) {
    let scratch = tempfile::tempdir().expect("a directory can be made");
    let program = compile("sampled.c", scratch.path());
    let mut command: Command = mpiexec(1);
    command.env("TINYPROF_OUT", scratch.path().join("p")).env("TINYPROF_REPORT", "off");
    command.env("TINYPROF_SEGMENT_DIR", scratch.path().join("segments"));
    command.env("LD_PRELOAD", library()).env("TINYPROF_SAMPLE", PER_SECOND.to_string());
    command.env("MPIEXEC_TIMEOUT", (120 + 3 * seconds).to_string());
    let output = command.arg(program).args([what, &seconds.to_string()]).output();
    let output = output.expect("mpiexec starts");
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let profile = read_profile(&scratch.path().join("p.tprof")).expect("it was written");
    (output, profile)
}

/// Threads of which few have a sample have as many together as their processor time says. What a
/// thread works before its samples begin, and after its function ends, is some microseconds.
fn check_brief(seconds: u32) -> String {
    let (output, profile) = run_for("brief", seconds);
    let mut worked = worked_ns(&output);
    let made = worked.remove("made").expect("it says so");
    let expected = worked["brief"] / PERIOD_NS;
    let workers = profile.callpaths.iter().filter(|(_, row)| row.region.is_sampled());
    let workers = workers
        .filter_map(|(at, _)| profile.values[at.row()][0].metrics.get(WORKER_SECONDS))
        .map(|metric| metric.sum() * 1e9 / PERIOD_NS);
    let found: f64 = workers.sum();
    let at_end = samples(&profile).get(SAMPLES_AT_END).copied().unwrap_or(0.0);
    let said = format!("{made} threads: {found} samples, {at_end} at the end; worked {expected}");
    assert!(found >= expected - 1.0 && found < expected * 1.05 + 0.02 * made, "{found} {expected}");
    assert!(at_end > 0.5 * found, "{at_end} of {found}");
    said
}

fn check_all(seconds: u32) -> String {
    let (output, profile) = run_for("all", seconds);
    check(&output, &profile);
    let program = profile.callpaths.iter().find(|(_, row)| row.region.name == "sampled");
    let (program, _) = program.expect("it has a region");
    let threads = &profile.values[program.row()][0].metrics[SAMPLED_SECONDS];
    let longest_s = threads.executions[0].max;
    let (found, expected) = (longest_s * 1e9 / PERIOD_NS, worked_ns(&output)[LONGEST] / PERIOD_NS);
    assert!((found - expected).abs() <= 3.0 * expected.sqrt(), "{found} {expected}");
    format!("{:?}: {:?}", worked_ns(&output), samples(&profile))
}

/// Returns the samples in the kernel by function, of one rank.
fn in_kernel(profile: &Profile) -> BTreeMap<String, f64> {
    let mut found = BTreeMap::new();
    for (index, row) in profile.callpaths.iter() {
        let of_place = profile.values[index.row()][0].metrics.get(KERNEL_SAMPLES);
        if let Some((function, of_place)) = row.region.sampled_function().zip(of_place) {
            *found.entry(function.to_owned()).or_default() += of_place.sum();
        }
    }
    found
}

#[test]
fn samples_in_the_kernel_are_at_the_function_or_said_to_be_at_none() {
    if let Err(reason) = allowed() {
        return println!("left out: {reason}");
    }
    for is_hidden in [false, true] {
        let scratch = tempfile::tempdir().expect("a directory can be made");
        let starter = scratch.path().join("filtered");
        compile_with("cc", &[], "filtered.c", &starter);
        let starter = [starter.to_str().expect("it has a plain name"), "KERNEL", "0"];
        let starter = if is_hidden { &starter[..] } else { &[] };
        let output = run_by(scratch.path(), 1, starter, "kernel", &[]);
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        let profile = read_profile(&scratch.path().join("p.tprof")).expect("it was written");
        let (samples, in_kernel) = (samples(&profile), in_kernel(&profile));
        // What the system calls are named differs from library to library.
        let of = |name: &str| samples.get(name).copied().unwrap_or(0.0);
        let (longer, all) = (of("longer"), samples.values().sum::<f64>());
        let expected: f64 = worked_ns(&output).values().sum::<f64>() / PERIOD_NS;
        assert!((all - expected).abs() <= 3.0 * expected.sqrt(), "{all} {expected} {samples:?}");
        let of_kernel: f64 = in_kernel.values().sum();
        let touching = expected - worked_ns(&output)["longer"] / PERIOD_NS;
        assert!(of_kernel > 0.5 * touching && of_kernel < touching * 1.3, "{in_kernel:?}");
        // Where the system lets all look, it lets those without rights, too.
        let is_seen = of(SAMPLES_IN_KERNEL) == 0.0;
        assert!(is_seen || in_kernel[SAMPLES_IN_KERNEL] == of(SAMPLES_IN_KERNEL), "{samples:?}");
        if is_seen {
            assert!(in_kernel["touching"] > 0.3 * touching, "{in_kernel:?}");
            assert!(in_kernel.get("longer").is_none_or(|of| *of < 0.1 * longer), "{in_kernel:?}");
        } else {
            assert_eq!(in_kernel.len(), 1, "{in_kernel:?}");
        }
        println!("hidden: {is_hidden}, seen: {is_seen}: {of_kernel} of {all}");
    }
}

#[test]
fn threads_that_were_made_before_mpi_are_sampled() {
    if let Err(reason) = allowed() {
        return println!("left out: {reason}");
    }
    let (profile, _scratch) = checked(1, "early", "calls");
    check_below_program(&profile);
    // The one that has made them works for 400 ms, and they for 160 ms each.
    let (threads, of_workers) = threads_of_program(&profile);
    assert!(threads == 5 && (0.5..0.7).contains(&of_workers), "{threads} {of_workers}");
}

/// Returns the number of threads that the metrics of the program's region tell, whose times must be
/// those of the samples in it, and the part of these that is that of workers.
fn threads_of_program(profile: &Profile) -> (u64, f64) {
    let program = profile.callpaths.iter().find(|(_, row)| row.region.name == "sampled");
    let (program, _) = program.expect("it has a region");
    let of_samples = |key: &str, is_row: &dyn Fn(CallpathIndex) -> bool| -> f64 {
        let rows = profile.callpaths.iter().filter(|(index, _)| is_row(*index));
        let metrics = rows.filter_map(|(index, _)| profile.values[index.row()][0].metrics.get(key));
        metrics.map(MetricValues::sum).sum()
    };
    let is_place = |index: CallpathIndex| profile.callpaths.get(index).parent == Some(program);
    let samples = profile.callpaths.iter().filter(|(index, row)| {
        is_place(*index) && row.region.is_sampled() && row.region.name != SAMPLES_UNKNOWN
    });
    let samples: u64 = samples.map(|(at, _)| profile.values[at.row()][0].visits()).sum();
    let sampled_s = f64::from(u32::try_from(samples).expect("it was short")) * PERIOD_NS * 1e-9;
    let threads_s = of_samples(SAMPLED_SECONDS, &|index| index == program);
    assert!((threads_s - sampled_s).abs() < 0.01, "{threads_s} {sampled_s}");
    let workers_s = of_samples(WORKER_SECONDS, &is_place);
    let of_program = &profile.values[program.row()][0].metrics[SAMPLED_SECONDS];
    (of_program.values(), workers_s / threads_s)
}

fn check_below_program(profile: &Profile) {
    for (index, row) in profile.callpaths.iter() {
        let visits: u64 = profile.values[index.row()].iter().map(|of| of.visits()).sum();
        if matches!(row.region.sampled_function(), Some("longer" | "shorter")) {
            let above = row.parent.map(|parent| profile.callpaths.path(parent));
            assert_eq!(above.as_deref(), Some("sampled"), "{visits} of {}", row.region.name);
        }
        assert!(!row.region.counts_threads_not_sampled(), "{visits}");
        assert!(row.region.name != SAMPLES_UNKNOWN || visits < 10, "{visits}");
        // Half a period of each of 96 threads.
        assert!(row.region.name != SAMPLES_AT_END || visits < 100, "{visits}");
    }
}

#[test]
fn a_program_with_events_timers_and_children_of_its_own_is_undisturbed() {
    if let Err(reason) = allowed() {
        return println!("left out: {reason}");
    }
    for what in ["fork", "exec", "events", "ptrace"] {
        drop(checked(1, what, "calls"));
    }
}

/// Runs the program with a filter of the system, and returns its visits by callpath, and what was
/// said.
fn refused(arguments: &[&str], rate: &str) -> (BTreeMap<String, u64>, String) {
    let scratch = tempfile::tempdir().expect("a directory can be made");
    let filter = scratch.path().join("filtered");
    compile_with("cc", &[], "filtered.c", &filter);
    let program = compile("callers.c", scratch.path());
    let mut command = mpiexec(2);
    command.env("TINYPROF_OUT", scratch.path().join("p")).env("TINYPROF_REPORT", "off");
    command.env("LD_PRELOAD", library()).env("TINYPROF_SAMPLE", rate);
    let output = command.arg(filter).args(arguments).arg(program).output().expect("it starts");
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    let profile = read_profile(&scratch.path().join("p.tprof")).expect("it was written");
    let visits = profile.callpaths.iter().map(|(at, _)| {
        let visits = profile.values[at.row()].iter().map(|of| of.visits()).sum();
        (profile.callpaths.path(at), visits)
    });
    (visits.collect(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn where_the_system_refuses_one_line_says_so_and_nothing_else_changes() {
    let (expected, said) = refused(&["EVENT", "1"], "off");
    assert_eq!(said, "");
    // The shared memory of MPICH has the sizes that the filter refuses.
    let is_mpich = std::env::var("TINYPROF_MPIEXEC").is_ok_and(|name| name.contains("mpich"));
    for (arguments, reason) in [
        (["EVENT", "1"], "the system allows no samples"),
        (["EVENT", "38"], "the system has no samples"),
        (["MEMORY", "1"], "samples need more locked memory than"),
        (["MEMORY", "12"], "the system gives no memory for samples"),
    ] {
        if is_mpich && arguments[0] == "MEMORY" {
            continue;
        }
        let (mut found, said) = refused(&arguments, "100");
        let start = format!("tinyprof: TINYPROF_SAMPLE is ignored: {reason}");
        assert!(said.starts_with(&start) && said.lines().count() == 1, "{arguments:?}: {said}");
        assert_eq!(found.remove(THREADS_NOT_SAMPLED), Some(2), "{arguments:?}");
        assert_eq!(found, expected, "{arguments:?}");
    }
}

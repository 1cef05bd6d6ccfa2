//! The processor time of a rank is what `getrusage` says of the same span, and its waiting for a
//! processor is what the scheduler says.

use tinyprof_format::file::read_profile;

use crate::support::{compile, library, mpiexec};

/// The largest difference, as a part of the time.
const PART: f64 = 0.01;

#[test]
fn processor_time_is_that_of_getrusage() {
    let scratch = tempfile::tempdir().expect("a directory can be made");
    let program = compile("processor.c", scratch.path());
    let mut command = mpiexec(2);
    command.env("TINYPROF_OUT", scratch.path().join("p")).env("TINYPROF_REPORT", "off");
    command.env("LD_PRELOAD", library());
    let output = command.arg(program).output().expect("mpiexec starts");
    assert!(output.status.success(), "{output:?}");
    let profile = read_profile(&scratch.path().join("p.tprof")).expect("it was written");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(said.lines().count(), 2, "{output:?}");
    for line in said.lines() {
        let numbers: Vec<u32> = line
            .split_whitespace()
            .map(|number| number.parse::<u64>().expect("a number"))
            // In us, of which `getrusage` counts.
            .map(|number| u32::try_from(number.max(1000) / 1000).expect("it was short"))
            .collect();
        let [_, until_end, with_end] = numbers[..] else { panic!("{line}") };
        let rank: usize = line.split(' ').next().and_then(|rank| rank.parse().ok()).expect("one");
        let found = u32::try_from(profile.ranks[rank].processor.cpu_ns / 1000).expect("as short");
        let difference = (f64::from(found) - f64::from(until_end)).abs();
        assert!(difference <= PART * f64::from(until_end), "{found} us, {line}");
        assert!(found <= with_end + 2, "{found} us, {line}");
    }
}

#[test]
fn a_thread_that_shares_its_processor_is_delayed_as_the_scheduler_says() {
    let scratch = tempfile::tempdir().expect("a directory can be made");
    let program = compile("pinned.c", scratch.path());
    let mut command = mpiexec(1);
    command.env("TINYPROF_OUT", scratch.path().join("p")).env("TINYPROF_REPORT", "off");
    command.env("LD_PRELOAD", library());
    let output = command.arg(program).output().expect("mpiexec starts");
    if output.status.code() == Some(77) {
        return println!("left out: the system tells no run-queue delay");
    }
    assert!(output.status.success(), "{output:?}");
    let profile = read_profile(&scratch.path().join("p.tprof")).expect("it was written");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let numbers = said.split_whitespace().map(|number| number.parse::<u64>().expect("a number"));
    let [inside_ns, around_ns, cpu_ns] = numbers.collect::<Vec<_>>()[..] else { panic!("{said}") };
    let found_ns = profile.ranks[0].processor.delay_ns;
    assert!((inside_ns..=around_ns).contains(&found_ns), "{found_ns}: {said}");
    // The other process has half of the processor, whoever else has some of it.
    assert!(inside_ns > cpu_ns / 3, "{said}");
}

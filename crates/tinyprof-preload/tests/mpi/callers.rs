//! Calls through wrappers are at the place in the user's own code.

use std::collections::{BTreeMap, BTreeSet};
use tinyprof_format::model::{CallpathIndex, Profile};

use crate::support::{compile_with, library, mpicc, profiled_with};

/// Returns the functions of MPI with the functions that call them.
fn places(profile: &Profile) -> BTreeSet<(String, String)> {
    let names = profile.callpaths.iter().map(|(_, callpath)| &callpath.region.name);
    let place = |name: &String| {
        let (function, place) = name.split_once(" at ")?;
        Some((function.to_owned(), place.split(' ').next()?.to_owned()))
    };
    names.filter_map(place).collect()
}

/// Compiles the program, and runs it with `wrappers` as the user's list, at a level.
fn run(optimised: &str, wrappers: &str, level: &str) -> Profile {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let program = directory.path().join("callers");
    compile_with(&mpicc(), &[optimised], "callers.c", &program);
    let variables =
        [("LD_PRELOAD", library().into_os_string()), ("TINYPROF_WRAPPERS", wrappers.into())];
    profiled_with(&variables, &program, &[], 2, directory.path(), level)
}

const EXPECTED: [(&str, &str); 8] = [
    ("MPI_Allreduce", "work"),
    ("MPI_Barrier", "work"),
    ("MPI_Bcast", "everyone"),
    ("MPI_Comm_rank", "main"),
    ("MPI_Finalize", "main"),
    ("MPI_Init", "main"),
    ("MPI_Recv", "work"),
    ("MPI_Send", "work"),
];

fn expected(of_scan: &str) -> BTreeSet<(String, String)> {
    let all = EXPECTED.into_iter().chain([("MPI_Scan", of_scan)]);
    all.map(|(function, place)| (function.to_owned(), place.to_owned())).collect()
}

#[test]
fn a_call_through_wrappers_is_where_the_outermost_is_called() {
    for optimised in ["-O0", "-O2"] {
        let profile = run(optimised, "none", "calls");
        assert_eq!(places(&profile), expected("syncAll"), "{optimised}");
        let sends = profile.callpaths.iter().filter(|(_, of)| of.region.name.contains("MPI_Send"));
        assert_eq!(sends.count(), 2, "{optimised}: two lines of `work`");
        let profile = run(optimised, "sync*", "messages");
        assert_eq!(places(&profile), expected("work"), "{optimised}, with a list");
    }
}

/// Returns the callpaths of calls of MPI: names of functions, from the outermost on, with the
/// visits of each.
fn chains(profile: &Profile) -> BTreeMap<String, u64> {
    let function = |name: &str| name.split(" (").next().unwrap_or_default().to_owned();
    let mut chains = BTreeMap::new();
    for (index, callpath) in profile.callpaths.iter() {
        let mut names = vec![function(&callpath.region.name)];
        let mut above = callpath.parent;
        while let Some(parent) = above.map(|parent| profile.callpaths.get(parent)) {
            names.push(function(&parent.region.name));
            above = parent.parent;
        }
        names.reverse();
        let visits: u64 = profile.values[index.row()].iter().map(|of| of.visits()).sum();
        *chains.entry(names.join(" > ")).or_default() += visits;
    }
    chains
}

#[test]
fn functions_around_calls_become_callpaths_on_request() {
    for (optimised, level) in [("-O1", "calls"), ("-O0", "messages")] {
        let directory = tempfile::tempdir().expect("a directory can be made");
        let program = directory.path().join("callers");
        compile_with(&mpicc(), &[optimised], "callers.c", &program);
        let variables =
            [("LD_PRELOAD", library().into_os_string()), ("TINYPROF_CALLERS", "3".into())];
        let profile = profiled_with(&variables, &program, &[], 2, directory.path(), level);
        let found = chains(&profile);
        for (chain, visits) in [
            // 50 steps of two ranks with a call, two, and a message from one to the other.
            ("callers > main > MPI_Allreduce at work", 100),
            ("callers > main > MPI_Send at work", 100),
            ("callers > main > MPI_Recv at work", 100),
            ("callers > main > work > MPI_Bcast at everyone", 200),
            ("callers > main > work > MPI_Scan at syncAll", 100),
            ("callers > main > work", 300),
            ("callers > MPI_Comm_rank at main", 2),
            ("MPI_Init at main", 2),
        ] {
            assert_eq!(found.get(chain), Some(&visits), "{chain} of {found:?}");
        }
        let (index, main) = profile
            .callpaths
            .iter()
            .find(|(_, row)| row.region.is_caller() && row.depth == 1)
            .expect("there is one");
        assert!(main.region.name.starts_with("main (callers.c:"), "{}", main.region.name);
        let calls = profile.callpaths.iter().filter(|(_, row)| row.parent == Some(index));
        let below: u64 = calls.map(|(at, _)| inclusive_ns(&profile, at)).sum();
        assert_eq!(below, inclusive_ns(&profile, index), "no time of its own");
    }
}

fn inclusive_ns(profile: &Profile, index: CallpathIndex) -> u64 {
    profile.values[index.row()].iter().map(|of| of.inclusive_ns()).sum()
}

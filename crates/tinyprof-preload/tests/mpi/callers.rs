//! Calls through wrappers are at the place in the user's own code.

use std::collections::BTreeSet;
use tinyprof_format::model::Profile;

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

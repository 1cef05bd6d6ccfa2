//! One line in the program is enough: the profile of all ranks is written when MPI ends, whatever
//! the ranks visited and however the program ends.

use std::path::Path;

use tinyprof_format::file::{read_profile, read_text_profile};
use tinyprof_format::model::Precision;
use tinyprof_report::{Report, TextOptions};

use crate::programs::{Ended, launch, paths, profile, program, run, values, visits};
use crate::support::mpiexec;

fn hook(ranks: usize, out: &Path, end: &str, aggregators: &str) -> Ended {
    run(launch(ranks, "hook", out)
        .arg(end)
        .env("TINYPROF_AGGREGATORS", aggregators)
        .env("COLUMNS", "90"))
}

fn sorted_lines(text: &str) -> Vec<&str> {
    let mut lines: Vec<_> = text.lines().collect();
    lines.sort_unstable();
    lines
}

/// Checks every number in the profile of `hook`, and that the program's own output is unchanged.
#[track_caller]
fn check_counts(ranks: usize, aggregators: &str, parts: usize) {
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path().join("p.tprof");
    let ended = hook(ranks, &out, "well", aggregators);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let mut expected: Vec<_> = (0..ranks).map(|rank| format!("result of rank {rank}")).collect();
    expected.sort();
    assert_eq!(sorted_lines(&ended.stdout), expected);
    assert_eq!(
        ended.stderr.matches("callpath").count(),
        2,
        "one table, one head line: {}",
        ended.stderr
    );
    let profile = profile(&out);
    let report = Report::of_profile(&profile).named("p.tprof");
    let report = report.to_text(&TextOptions::default().with_width(90));
    let table = format!("{report}profile: {}\n", out.display());
    assert!(
        ended.stderr.contains(&table),
        "the table is not that of the profile: {}{table}",
        ended.stderr
    );
    assert!(table.contains("overhead: "), "{table}");
    assert_eq!((profile.ranks.len(), profile.manifest.parts.len()), (ranks, parts));
    let odd: &[&str] = if ranks > 3 { &["run<odd"] } else { &[] };
    assert_eq!(paths(&profile), [&["run"], odd, &["run<step", "worker"]].concat());
    for rank in 0..ranks {
        if rank == 1 {
            assert!(
                profile.callpaths.iter().all(|(index, _)| profile.values(index, rank).is_absent())
            );
            assert_eq!(profile.ranks[rank].threads, 0);
            continue;
        }
        let steps = rank as u64 + 2;
        assert_eq!(visits(&profile, "run", rank), [1, 1, 1]);
        assert_eq!(visits(&profile, "run<step", rank), [steps; 3]);
        assert_eq!(values(&profile, "run<step", rank).series.len() as u64, 3 * steps);
        assert_eq!(values(&profile, "worker", rank).visits(), 10, "two threads, merged");
        // The second thread may take the place of the first, which has ended.
        assert!((2..=3).contains(&profile.ranks[rank].threads), "{}", profile.ranks[rank].threads);
        if rank % 2 == 1 {
            assert_eq!(visits(&profile, "run<odd", rank), [1, 1, 1]);
        } else if ranks > 3 {
            assert!(values(&profile, "run<odd", rank).is_absent());
        }
    }
    assert_eq!(profile.manifest.losses, Default::default());
    assert_eq!(profile.manifest.metadata.jobsize as usize, ranks);
    assert!(profile.manifest.metadata.mpi_version.is_some());
}

#[test]
fn one_rank() {
    check_counts(1, "auto", 1);
}

#[test]
fn two_ranks_one_of_which_visits_nothing() {
    check_counts(2, "auto", 1);
    check_counts(2, "2", 2);
}

#[test]
fn three_ranks() {
    check_counts(3, "1", 1);
    check_counts(3, "2", 2);
    check_counts(3, "3", 3);
}

#[test]
fn four_ranks() {
    check_counts(4, "auto", 1);
    check_counts(4, "2", 2);
    check_counts(4, "4", 4);
}

#[test]
fn sixteen_ranks() {
    check_counts(16, "auto", 1);
    check_counts(16, "2", 2);
    check_counts(16, "16", 16);
}

#[test]
fn an_aggregator_for_each_node() {
    // All ranks of a test are on one node.
    check_counts(4, "node", 1);
}

#[test]
fn series_are_the_same_however_they_are_gathered() {
    let scratch = tempfile::tempdir().unwrap();
    for (series, ranks) in [("padded", 3), ("counts", 3), ("auto", 1)] {
        let out = scratch.path().join(series);
        let ended = run(launch(ranks, "hook", &out).arg("code").env("TINYPROF_SERIES", series));
        assert_eq!(ended.code, Some(7), "{}", ended.stderr);
        let profile = profile(&out.with_extension("tprof"));
        for rank in (0..ranks).filter(|rank| *rank != 1) {
            let steps = rank + 2;
            assert_eq!(values(&profile, "run<step", rank).series.len(), 3 * steps, "{series}");
        }
    }
}

#[test]
fn aggregators_write_text_where_that_is_asked_for() {
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path().join("p");
    let ended = run(launch(4, "hook", &out)
        .arg("well")
        .env("TINYPROF_FORMAT", "csv")
        .env("TINYPROF_AGGREGATORS", "2"));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let directory = out.with_extension("csv");
    assert!(
        ended.stderr.ends_with(&format!("profile: {}\n", directory.display())),
        "{}",
        ended.stderr
    );
    let imported = read_text_profile(&directory).unwrap();
    assert!(imported.salvage.problems.is_empty(), "{:?}", imported.salvage);
    assert_eq!(imported.profile.manifest.metadata.jobsize, 4);
    assert!(imported.profile.manifest.metadata.mpi_version.is_some());
    for rank in [0, 2, 3] {
        let steps = values(&imported.profile, "run<step", rank).series.len();
        assert_eq!(steps, 3 * (rank + 2), "every visit of mode `each` is in the text");
    }
    let refused = read_profile(&directory).unwrap_err().to_string();
    assert!(refused.contains("tinyprof import"), "{refused}");
}

#[test]
fn ranks_that_differ_in_precision_keep_all_times_exact_and_say_so_once() {
    // Only rank 1 is to round. Both MPIs tell a process its rank before it starts.
    const WRAPPER: &str = "case ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} in 1) export TINYPROF_PRECISION=8bit;; esac; \
                           exec \"$0\" well";
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path().join("p");
    let ended =
        run(mpiexec(3).args(["sh", "-c", WRAPPER]).arg(program("hook")).env("TINYPROF_OUT", &out));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let warning = "1 of 3 ranks were told to round their times (TINYPROF_PRECISION=8bit), the others to keep them";
    assert_eq!(ended.stderr.matches(warning).count(), 1, "{}", ended.stderr);
    assert_eq!(profile(&out.with_extension("tprof")).manifest.precision, Precision::Exact);
}

#[test]
fn a_program_that_fails_keeps_its_exit_code_and_its_profile() {
    let scratch = tempfile::tempdir().unwrap();
    for end in ["code", "panic", "panic-on-one"] {
        let out = scratch.path().join(end);
        let ended = hook(2, &out, end, "auto");
        let expected = if end == "code" { 7 } else { 101 };
        assert_eq!(ended.code, Some(expected), "{end}: {}", ended.stderr);
        let profile = profile(&out.with_extension("tprof"));
        assert_eq!(visits(&profile, "run<step", 0), [2; 3], "{end}");
    }
}

#[test]
fn a_setting_that_cannot_be_read_is_said_once_and_the_default_holds() {
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path().join("p");
    let ended = hook(3, &out, "code", "many");
    assert_eq!(ended.code, Some(7), "{}", ended.stderr);
    assert_eq!(
        ended.stderr.matches("TINYPROF_AGGREGATORS=many is ignored").count(),
        1,
        "{}",
        ended.stderr
    );
    assert_eq!(profile(&out.with_extension("tprof")).manifest.parts.len(), 1);
}

#[test]
fn switched_off_it_writes_and_says_nothing() {
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path().join("p");
    let ended = run(launch(2, "hook", &out).arg("well").env("TINYPROF", "off"));
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0);
}

#[test]
fn without_a_report_the_profile_is_there_and_nothing_is_said() {
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path().join("p");
    let ended = run(launch(2, "hook", &out).arg("well").env("TINYPROF_REPORT", "off"));
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert_eq!(profile(&out.with_extension("tprof")).ranks.len(), 2);
}

#[test]
fn a_program_that_never_finalises_leaves_a_profile_of_the_rank() {
    let scratch = tempfile::tempdir().unwrap();
    let ended = hook(1, &scratch.path().join("p"), "exit", "auto");
    assert_eq!(ended.stderr.matches("without MPI_Finalize").count(), 1, "{}", ended.stderr);
    let profile = profile(&scratch.path().join("p-rank-0.tprof"));
    assert_eq!(visits(&profile, "run<step", 0), [2; 3]);
}

//! Callpaths, executions and series of one thread.

use tinyprof_format::model::Losses;

use crate::program::{check_visits, profile_of, values};

#[test]
fn every_visit_is_where_it_was_called_from() {
    let (output, profile) = profile_of("test_calls", "");
    assert!(
        output.status.success() && output.stdout.is_empty() && output.stderr.is_empty(),
        "{output:?}"
    );
    assert_eq!(profile.manifest.losses, Losses::default());
    let steps: u64 = (1..=20).sum();
    check_visits(
        &profile,
        &[
            ("run", 20),
            ("run<recursive", 20 * 4),
            ("run<recursive<leaf", 20 * 3),
            // Called with 1, 2, 3, 0, 1, ...: one callpath for each depth.
            ("run<even", 20),
            ("run<even<odd", 15),
            ("run<even<odd<even", 10),
            ("run<even<odd<even<odd", 5),
            ("run<fails", 20 * 2),
            ("run<fails<parsed", 20),
            ("run<generic", 20 * 2),
            ("run<Solver::solve", 20),
            ("run<Solver::solve<step", steps),
            ("run<Solver::solve<check", 20 * 3),
            ("run<Solver::solve<check<leaf", 20 * 3),
            ("run<Solver::solve<find", 20),
            ("run<Solver::solve<find<leaf", 20),
            ("run<panics", 20),
            ("run<panics<inside", 20),
            ("run<after_the_panic", 20),
        ],
    );
}

#[test]
fn executions_are_told_apart_by_visits_of_the_root() {
    let (_, profile) = profile_of("test_calls", "");
    assert_eq!(profile.manifest.executions, 20);
    let values = values(&profile);
    let check = |path: &str, expected: &dyn Fn(u64) -> u64| {
        let found: Vec<_> = values[path]
            .executions
            .iter()
            .map(|e| (u64::from(e.execution), e.executions, e.visits))
            .collect();
        let all = (0..20).map(|execution| (execution, 1, expected(execution)));
        let expected: Vec<_> = all.filter(|(_, _, visits)| *visits > 0).collect();
        assert_eq!(found, expected, "{path}");
    };
    check("run", &|_| 1);
    check("run<recursive", &|_| 4);
    check("run<recursive<leaf", &|_| 3);
    check("run<even<odd", &|execution| u64::from((execution + 1) % 4 >= 1));
    check("run<even<odd<even<odd", &|execution| u64::from((execution + 1) % 4 >= 3));
    check("run<Solver::solve<step", &|execution| execution + 1);
    check("run<Solver::solve<check", &|_| 3);
    check("run<panics<inside", &|_| 1);
}

#[test]
fn mode_each_keeps_every_iteration_in_order_and_mode_total_none() {
    let (_, profile) = profile_of("test_calls", "");
    let values = values(&profile);
    let step = values["run<Solver::solve<step"];
    let iterations: Vec<_> = step.series.iter().map(|b| (b.execution, b.visits)).collect();
    let expected: Vec<_> =
        (0..20).flat_map(|execution| (0..=execution).map(move |_| (execution, 1))).collect();
    assert_eq!(iterations, expected);
    for execution in &step.executions {
        let mine: Vec<_> =
            step.series.iter().filter(|b| b.execution == execution.execution).collect();
        // Ticks are converted to nanoseconds one by one, so each may be rounded by half a
        // nanosecond.
        let difference = mine.iter().map(|b| b.sum_ns).sum::<u64>().abs_diff(execution.sum_ns);
        assert!(difference <= execution.visits, "{execution:?}");
    }
    // The work of an iteration grows by 50,000 rounds per iteration. Of two iterations far apart,
    // the later one takes longer, whatever else the machine does.
    let fastest = |from: usize| {
        let same = step.series.iter().zip(&expected).zip(positions(&expected));
        same.filter(|(_, position)| *position == from).map(|((b, _), _)| b.sum_ns).min().unwrap()
    };
    assert!(
        fastest(0) < fastest(4) && fastest(4) < fastest(12),
        "the order of the series is that of the loop"
    );
    for path in ["run<Solver::solve<check", "run", "run<recursive"] {
        assert!(values[path].series.is_empty(), "{path}");
    }
    assert_eq!(values["run<Solver::solve<find"].series.len(), 20);
}

/// Returns the position of each element within its execution.
fn positions(series: &[(u32, u32)]) -> impl Iterator<Item = usize> {
    series.iter().enumerate().map(|(at, (execution, _))| {
        series[..at].iter().filter(|(earlier, _)| earlier == execution).count()
    })
}

#[test]
fn times_add_up() {
    let (_, profile) = profile_of("test_calls", "");
    let values = values(&profile);
    for (path, mine) in &values {
        for e in &mine.executions {
            assert!(e.min_ns <= e.max_ns && e.max_ns <= e.sum_ns, "{path} {e:?}");
        }
        let parent = path.rsplit_once('<').map(|(parent, _)| values[parent].inclusive_ns());
        // Rounding may add up to one nanosecond per row.
        let rows = mine.executions.len() as u64;
        assert!(parent.is_none_or(|parent| mine.inclusive_ns() <= parent + 2 * rows), "{path}");
    }
}

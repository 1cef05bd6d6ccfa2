//! The paper's Figure 2 on two ranks gives exactly the numbers of its Figure 3.

use crate::programs::{launch, paths, profile, run, values, visits};
use tinyprof_format::model::Mode;

#[test]
fn the_profile_has_the_callpaths_executions_and_ranks_of_figure_3() {
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path().join("out");
    let ended = run(launch(2, "figure2", &out).arg(scratch.path().join("field")));
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), ""), "{}", ended.stderr);
    let profile = profile(&out.with_extension("tprof"));
    let expected = [
        "main",
        "main<compute",
        "main<exchange",
        "main<exchange<comm",
        "main<exchange<write",
        "main<update",
    ];
    assert_eq!(paths(&profile), expected);
    assert_eq!((profile.ranks.len(), profile.manifest.executions), (2, 2));
    for rank in 0..2 {
        assert_eq!(visits(&profile, "main", rank), [1, 1]);
        assert_eq!(visits(&profile, "main<compute", rank), [3, 3]);
        assert_eq!(visits(&profile, "main<exchange", rank), [1, 1]);
        assert_eq!(visits(&profile, "main<exchange<comm", rank), [3, 3]);
        assert_eq!(visits(&profile, "main<exchange<write", rank), [3, 3]);
        // compute is a loop of mode 1, with every iteration; comm and write are of mode 2, with
        // their sum.
        let compute = values(&profile, "main<compute", rank);
        let iterations: Vec<_> = compute.series.iter().map(|b| (b.execution, b.visits)).collect();
        assert_eq!(iterations, [(0, 1), (0, 1), (0, 1), (1, 1), (1, 1), (1, 1)]);
        for execution in 0..2 {
            let of_this = compute.series.iter().filter(|b| b.execution == execution);
            let sum: u64 = of_this.map(|b| b.sum_ns).sum();
            // Each iteration is rounded to a nanosecond separately.
            assert!(sum.abs_diff(compute.executions[execution as usize].sum_ns) <= 3);
        }
        assert!(values(&profile, "main<exchange<comm", rank).series.is_empty());
        let inside = values(&profile, "main<compute", rank).inclusive_ns()
            + values(&profile, "main<exchange", rank).inclusive_ns();
        assert!(inside <= values(&profile, "main", rank).inclusive_ns());
    }
    assert!(values(&profile, "main<update", 0).is_absent());
    assert_eq!(visits(&profile, "main<update", 1), [1, 1]);
    let mode = |path| profile.callpaths.get(profile.find(path).unwrap()).region.mode;
    assert_eq!((mode("main<compute"), mode("main<exchange<comm")), (Mode::Each, Mode::Total));
}

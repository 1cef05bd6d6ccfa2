//! Tests of the program under mpiexec: its results on any number of ranks and with all remedies,
//! its classes, and the causes of the master's and of the workers' waiting.

#[path = "../../support/mod.rs"]
mod support;

use std::collections::BTreeMap;

use support::{Run, finds};
use tinyprof_diff::{Options, Runs, Side};
use tinyprof_format::model::{Activity, Cause, Profile};
use tinyprof_structure::Structure;

const PROGRAM: &str = env!("CARGO_BIN_EXE_fire");
const REMEDIES: &[&str] = &["--remedy", "overlap", "--remedy", "datatypes", "--remedy", "memory"];

#[test]
fn the_fire_is_an_ellipse_on_one_to_sixteen_ranks() {
    let size = ["--points", "300", "--steps", "20", "--weather", "10", "--fuel", "1"];
    for (ranks, remedies) in [(1, &[][..]), (2, REMEDIES), (4, &[]), (16, REMEDIES)] {
        let result = Run::of(PROGRAM, ranks, &[&size[..], remedies].concat()).result();
        assert!(result.starts_with("300 points, 20 steps"), "{result}");
    }
}

#[test]
fn the_master_who_computes_the_weather_is_found() {
    finds(PROGRAM, 4, &["--points", "4000", "--weather", "300"], "Rank 0 ", "compute");
}

/// The paper's list of causes, compared with what the ranks recorded.
#[test]
fn the_causes_of_both_sides_are_those_of_the_paper() {
    let size = ["--points", "20000", "--steps", "20", "--weather", "250"];
    let profile = Run::of(PROGRAM, 3, &size).profile();
    let of_master = gaps(&profile, 0..1, &["lead<MPI_Recv"]);
    let local_model = of_master["work<MPI_Recv .. work<MPI_Comm_size"];
    // The rest is mostly the packing of answers, which debug builds are slow at.
    assert!(2 * local_model > of_master.values().sum(), "{of_master:#?}");
    let of_workers = gaps(&profile, 1..3, &["work<MPI_Recv", "work<MPI_Bcast"]);
    let [global_model, packing, memory] = [
        "lead<MPI_Recv .. lead<MPI_Comm_size",
        "lead<MPI_Comm_size .. lead<MPI_Send",
        "lead<MPI_Bcast .. lead<MPI_Comm_size",
    ]
    .map(|gap| of_workers.get(gap).copied().unwrap_or_default());
    assert!([global_model, packing, memory].iter().all(|ns| *ns > 0), "{of_workers:#?}");
    let all = of_workers.values().sum::<u64>();
    assert!(2 * (global_model + packing + memory) > all, "{of_workers:#?}");
}

/// Returns how long ranks have waited in these calls, in ns, by the calls between which others
/// were late. What was lost for want of a processor is left out.
fn gaps(profile: &Profile, ranks: std::ops::Range<usize>, waits: &[&str]) -> BTreeMap<String, u64> {
    let rows = profile.callpaths.index_by_id();
    let path = |id| rows.get(&id).map(|row| profile.callpaths.path(*row)).unwrap_or_default();
    let mut found = BTreeMap::new();
    for causes in profile.ranks[ranks].iter().filter_map(|rank| rank.causes.as_ref()) {
        for cost in causes.costs.iter().filter(|cost| waits.contains(&path(cost.callpath).as_str()))
        {
            if matches!(cost.cause, Cause::Activity { number: Activity::NO_PROCESSOR, .. }) {
                continue;
            }
            if let Some(Activity::Gap { from, to }) = causes.activity(cost.cause) {
                *found.entry(format!("{} .. {}", path(from), path(to))).or_default() +=
                    cost.total_ns();
            }
        }
    }
    found
}

#[test]
fn the_master_and_its_workers_are_two_classes() {
    let size = ["--points", "300", "--steps", "20", "--weather", "10", "--fuel", "1"];
    let run = Run::of(PROGRAM, 4, &size);
    let structure = Structure::of_profile(&run.profile(), false);
    let classes = structure
        .phases()
        .iter()
        .map(|phase| phase.classes.iter().map(|class| class.ranks.to_string()).collect::<Vec<_>>());
    let classes: Vec<_> = classes.filter(|classes| classes.len() > 1).collect();
    assert!(!classes.is_empty() && classes.iter().all(|of| *of == ["0", "1-3"]), "{classes:?}");
}

#[test]
fn a_comparison_says_that_packing_is_what_the_remedy_has_removed() {
    let size = ["--points", "300", "--steps", "20", "--weather", "10", "--fuel", "1"];
    let mut runs = Runs::new(Options::default());
    for (side, remedy) in [(Side::Base, &[][..]), (Side::New, &["--remedy", "datatypes"])] {
        let profile = Run::of(PROGRAM, 3, &[&size[..], remedy].concat()).profile();
        runs.add(side, "fire", &profile, &[0, 1, 2]).expect("it has times");
    }
    let text = runs.compare().to_text(true, 200);
    for packing in ["lead<pack", "lead<unpack", "work<pack", "work<unpack"] {
        let line = text.lines().find(|line| line.ends_with(packing));
        assert!(line.is_some_and(|line| line.starts_with("gone")), "{packing}: {text}");
    }
}

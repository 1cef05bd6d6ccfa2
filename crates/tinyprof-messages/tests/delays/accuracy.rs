//! How near the online analysis is to that post mortem.

use tinyprof_messages::delay::Sizes;

use crate::network::Network;
use crate::online::{self, Rules, Waits};
use crate::post_mortem;
use crate::score::{self, Score};
use crate::{history, programs};

/// The sizes of the issue.
const RANKS: (u64, u64) = (2, 16);

/// Returns how many programs to run.
fn count(usual: u64) -> u64 {
    let given = std::env::var("TINYPROF_ORACLE_PROGRAMS").ok().and_then(|text| text.parse().ok());
    given.unwrap_or(usual)
}

fn score(name: &str, ranks: (u64, u64), programs: u64, rules: &Rules) -> Score {
    let mut score = Score::default();
    for seed in 0..programs {
        let history = history::of(&programs::program(seed, ranks), Network::new(2_000));
        let truth = post_mortem::analyse(&history);
        let found = online::watch(&history, rules);
        assert_eq!(found.losses.unread, 0);
        score.add(&score::compare(&found, &truth));
    }
    println!("{name:24} {score}");
    score
}

/// Forwards and backwards are the same, if nothing is left out.
#[test]
fn online_is_post_mortem_if_nothing_is_left_out() {
    let score = score("nothing left out", RANKS, count(15), &Rules::EXACT);
    assert!(score.worst_moved < 0.001, "costs: {}", score.worst_moved);
    assert!(score.worst_path < 1e-9, "path: {}", score.worst_path);
    assert!(score.propagated() > 30.0, "the programs have chains: {}", score.propagated());
}

/// As the test before, where each rank is on a host of its own.
#[test]
fn what_ranks_tell_each_other_is_what_is_on_their_pages() {
    let rules = Rules { are_told: true, ..Rules::EXACT };
    let score = score("told", (2, 12), count(10), &rules);
    assert!(score.worst_moved < 0.001, "costs: {}", score.worst_moved);
    assert!(score.worst_path < 1e-9, "path: {}", score.worst_path);
}

#[test]
fn the_recorder_finds_the_causes() {
    let score = score("recorder", RANKS, count(25), &Rules::recorder());
    assert!(score.total() < 2.0, "total: {}", score.total());
    assert!(score.direct() < 5.0, "direct: {}", score.direct());
    assert!(score.path() < 1.0, "path: {}", score.path());
    // Few programs are no sample of which 95 % could be asked.
    let least = if score.programs < 200 { 88.0 } else { 95.0 };
    assert!(score.top_five() >= least, "five largest: {}", score.top_five());
    assert!(score.path_top_five() >= least, "on the path: {}", score.path_top_five());
}

/// The sources of error, each alone, and larger worlds.
#[test]
#[ignore = "a table for benches/results, five minutes in a debug build"]
fn each_source_of_error() {
    let programs = count(50);
    let (exact, recorder, sizes) = (Rules::EXACT, Rules::recorder(), Sizes::default());
    let of = |name: &str, rules: &Rules| score(name, RANKS, programs, rules);
    of("lists", &Rules { sizes, ..exact });
    of("table of costs", &Rules { costs: recorder.costs, ..exact });
    of("read late", &Rules { reads_late: true, ..exact });
    of("waits from 2 us", &Rules { waits: Waits::From(2_000), ..exact });
    of("rare waits from 0.2 us", &Rules { waits: Waits::WorthIt, ..exact });
    let of_sizes = |sizes| Rules { sizes, ..recorder };
    of("16 activities", &of_sizes(Sizes { activities: 16, ..sizes }));
    of("64 causes", &of_sizes(Sizes { causes: 64, ..sizes }));
    of("path of 64", &of_sizes(Sizes { path: 64, ..sizes }));
    of("finest 1/256", &of_sizes(Sizes { finest: 256, ..sizes }));
    of("256 costs", &Rules { costs: 256, ..recorder });
    for ranks in [32, 64] {
        let of = |name: &str, rules: &Rules| score(name, (ranks, ranks), programs / 4, rules);
        of(&format!("{ranks} ranks"), &recorder);
        let sizes = Sizes { causes: 512, path: 512, ..sizes };
        of("  512 causes and path", &Rules { sizes, ..recorder });
        of("  and 2,048 costs", &Rules { sizes, costs: 2_048, ..recorder });
    }
}

//! How near the online analysis is to that post mortem.

use tinyprof_messages::delay::Sizes;

use crate::network::Network;
use crate::online::{self, Rules, Waits};
use crate::post_mortem;
use crate::score::{self, Score};
use crate::{history, programs};

/// Returns how many programs to run.
fn count(usual: u64) -> u64 {
    let given = std::env::var("TINYPROF_ORACLE_PROGRAMS").ok().and_then(|text| text.parse().ok());
    given.unwrap_or(usual)
}

fn score(ranks: (u64, u64), programs: u64, rules: &Rules) -> Score {
    let mut score = Score::default();
    for seed in 0..programs {
        let history = history::of(&programs::program(seed, ranks), Network::new(2_000));
        let truth = post_mortem::analyse(&history);
        let found = online::watch(&history, rules);
        score.add(&score::compare(&found.analysis, &truth));
    }
    score
}

fn print(name: &str, score: &Score) {
    println!(
        "{name:30} {:6.2} {:6.2} {:6.2} {:6.2} {:6.1} {:6.1} {:6.2} {:6.2} {:6.1} {:6.1}",
        score.total(),
        100.0 * score.worst_total,
        score.moved(),
        score.direct(),
        score.top_one(),
        score.top_five(),
        score.path(),
        100.0 * score.worst_path,
        score.path_top_five(),
        score.propagated(),
    );
}

#[test]
fn each_source_of_error() {
    let programs = count(20);
    let exact = Rules::EXACT;
    let cut = Sizes::default();
    print("exact", &score((2, 16), programs, &exact));
    print("lists", &score((2, 16), programs, &Rules { sizes: cut, ..exact }));
    print("costs", &score((2, 16), programs, &Rules { costs: 512, ..exact }));
    print("read late", &score((2, 16), programs, &Rules { reads_late: true, ..exact }));
    print("floor", &score((2, 16), programs, &Rules { waits: Waits::From(2_000), ..exact }));
    print("worth", &score((2, 16), programs, &Rules { waits: Waits::WorthIt, ..exact }));
    print("recorder", &score((2, 16), programs, &Rules::recorder()));
}

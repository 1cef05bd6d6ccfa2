//! The profile read back is the union of the ranks' data, for ranks that visit regions at random.

use std::collections::BTreeMap;
use std::path::Path;

use tinyprof_format::model::Profile;

use crate::programs::{launch, profile, run};

/// Rank and callpath, with the visits and the sum of the metric.
type Visits = BTreeMap<(usize, String), (u64, u64)>;

fn held(directory: &Path, ranks: usize) -> Visits {
    let mut all = Visits::new();
    for rank in 0..ranks {
        let written = std::fs::read_to_string(directory.join(format!("held-{rank}"))).unwrap();
        for line in written.lines() {
            let [path, visits, sum] = line.split('\t').collect::<Vec<_>>()[..] else {
                panic!("{line}")
            };
            let number = |text: &str| text.parse().unwrap();
            all.insert((rank, path.to_owned()), (number(visits), number(sum)));
        }
    }
    all
}

fn read_back(profile: &Profile) -> Visits {
    let mut all = Visits::new();
    for (index, _) in profile.callpaths.iter() {
        for rank in 0..profile.ranks.len() {
            let values = profile.values(index, rank);
            if !values.is_absent() {
                let sum = values.metrics["bytes"].sum();
                assert_eq!(sum.fract().to_bits(), 0, "a sum of whole numbers");
                let sum = format!("{sum:.0}").parse().unwrap();
                all.insert((rank, profile.callpaths.path(index)), (values.visits(), sum));
            }
        }
    }
    all
}

#[test]
fn the_profile_is_the_union_of_what_the_ranks_held() {
    let scratch = tempfile::tempdir().unwrap();
    for (ranks, seed, aggregators) in
        [(1, 11, "1"), (2, 12, "2"), (3, 13, "1"), (5, 14, "2"), (8, 15, "node"), (16, 16, "3")]
    {
        let directory = scratch.path().join(ranks.to_string());
        std::fs::create_dir(&directory).unwrap();
        let out = directory.join("p");
        let mut command = launch(ranks, "arbitrary", &out);
        command.arg(seed.to_string()).arg(&directory).env("TINYPROF_AGGREGATORS", aggregators);
        let ended = run(command.env("TINYPROF_REPORT", "off"));
        assert_eq!((ended.code, ended.stdout.as_str(), ended.stderr.as_str()), (Some(0), "", ""));
        let held = held(&directory, ranks);
        assert!(held.len() > ranks, "the seed makes something of it: {}", held.len());
        assert_eq!(read_back(&profile(&out.with_extension("tprof"))), held, "{ranks} ranks");
    }
}

//! The efficiency of a run, and its product formula of load balance and communication.

use proptest::prelude::*;
use tinyprof_format::model::{ClockFacts, EventMap, ProcessorFacts, Profile};
use tinyprof_report::{Activity, Efficiency, RankUsage, Report, TextOptions};

use crate::fixture::{Node, event_map, profile, tag};

fn near(left: f64, right: f64) -> bool {
    (left - right).abs() <= 1e-12 * right.abs().max(1.0)
}

/// Returns the parallel and the communication efficiency of a run that communicates.
fn both(found: &Efficiency) -> (f64, f64) {
    found.parallel.zip(found.communication).expect("a region says that it communicates")
}

/// Generates ranks whose useful time is part of their total time.
fn ranks() -> impl Strategy<Value = Vec<RankUsage>> {
    let rank = (0_u64..1 << 50, 0_u64..=1_000, 0_u64..=1_000).prop_map(|(total_ns, useful, io)| {
        let useful_ns = total_ns / 1_000 * useful;
        RankUsage { total_ns, useful_ns, io_ns: (total_ns - useful_ns) / 1_000 * io }
    });
    prop::collection::vec(rank, 1..40)
}

proptest! {
    #[test]
    fn parallel_efficiency_is_load_balance_times_communication_efficiency(ranks in ranks()) {
        let found = Efficiency::of_ranks(&ranks);
        prop_assert_eq!(found.is_some(), ranks.iter().any(|rank| rank.useful_ns > 0));
        if let Some(found) = found {
            let (parallel, communication) = both(&found);
            prop_assert!(near(parallel, found.load_balance * communication), "{:?}", found);
            for part in [parallel, found.load_balance, communication, found.io_share] {
                prop_assert!((0.0..=1.0 + 1e-12).contains(&part), "{:?}", found);
            }
        }
    }

    #[test]
    fn equal_ranks_are_balanced_and_ranks_without_time_do_not_count(useful_ns in 1_u64..1_000, idle in 0_usize..5) {
        let rank = RankUsage { total_ns: 1_000, useful_ns, io_ns: 0 };
        let mut ranks = vec![rank; 3];
        ranks.extend(vec![RankUsage::default(); idle]);
        let found = Efficiency::of_ranks(&ranks).expect("three ranks were useful");
        let (parallel, communication) = both(&found);
        prop_assert!(near(found.load_balance, 1.0) && near(communication, parallel));
    }
}

proptest! {
    #[test]
    fn communication_efficiency_is_serialisation_times_transfer(ideal_ns in 1_u64..2_000) {
        let mut profile = tagged(&[(2, "IO"), (3, "COMM")]);
        profile.ranks[0].clock = ClockFacts { companions: 1, ideal_ns, ..ClockFacts::default() };
        let found = Efficiency::of_profile(&profile).expect("it has tags");
        let (parallel, communication) = both(&found);
        let (serialisation, transfer) =
            found.serialisation.zip(found.transfer).expect("messages were followed");
        prop_assert!(near(serialisation * transfer, communication), "{:?}", found);
        prop_assert!(near(found.load_balance * serialisation * transfer, parallel), "{:?}", found);
        // The greatest useful time is 700 of 1000.
        let expected = (700.0 / f64::from(u32::try_from(ideal_ns).unwrap())).clamp(0.7, 1.0);
        prop_assert!(near(serialisation, expected), "{:?}", found);
    }
}

#[test]
fn time_without_a_processor_is_not_useful() {
    let with = |delay_ns: [u64; 2]| {
        let mut profile = tagged(&[(2, "IO"), (3, "COMM")]);
        for (rank, delay_ns) in profile.ranks.iter_mut().zip(delay_ns) {
            let (wall_ns, cpu_ns, threads_ns) = (1_000, 1_000 - delay_ns, 1_000);
            let times =
                ProcessorFacts { wall_ns, cpu_ns, threads_ns, delay_ns, ..Default::default() };
            rank.processor = times;
        }
        profile
    };
    // The useful times are 500 and 700 of 1000, so 250 ns at least of the delays were useful time.
    let profile = with([750, 100]);
    let found = Efficiency::of_profile(&profile).expect("it has tags");
    let (parallel, communication) = both(&found);
    assert!(near(found.processors.expect("it is known"), 950.0 / 1_200.0), "{found:?}");
    assert!(near(parallel, 950.0 / 2_000.0), "{found:?}");
    let text = Report::of_profile(&profile).to_text(&TextOptions::default());
    for line in [
        "efficiency: parallel at most 47.5% = load balance 85.7% x communication 70.0% x processors 79.2%",
        "processors: busy for 575 ns of 1.00 us per rank; ready to run, but without a processor, for 42.5%",
    ] {
        let text = text.replace("\n ", " ").replace("  ", " ");
        assert!(text.contains(line), "{text}");
    }
    assert!(near(parallel, found.load_balance * communication * found.processors.unwrap()));
    let mut unknown = with([750, 100]);
    unknown.ranks[1].processor.threads_ns = 0;
    let found = Efficiency::of_profile(&unknown).expect("it has tags");
    assert_eq!((found.processors, found.parallel), (None, Some(0.6)), "not known of every rank");
    let none = Efficiency::of_profile(&with([300, 300])).expect("it has tags");
    assert_eq!(
        (none.processors, none.parallel),
        (Some(1.0), Some(0.6)),
        "all of it may be waiting"
    );
}

#[test]
fn without_companions_no_ideal_time_is_known() {
    let mut profile = tagged(&[(2, "IO"), (3, "COMM")]);
    profile.ranks[0].clock.ideal_ns = 800;
    let found = Efficiency::of_profile(&profile).expect("it has tags");
    assert_eq!((found.serialisation, found.transfer), (None, None));
    profile.ranks[1].clock.companions = 1;
    let report = Report::of_profile(&profile);
    let text = report.to_text(&TextOptions::default());
    let line =
        "efficiency: parallel 60.0% = load balance 85.7% x serialisation 87.5% x transfer 80.0%";
    assert!(text.contains(line), "{text}");
    let found = report.efficiency().expect("it has tags");
    assert_eq!((found.serialisation, found.transfer), (Some(0.875), Some(0.8)));
    let part = report.without_overhead();
    assert_eq!(part.efficiency().map(|found| found.transfer), Some(None), "of some ranks or calls");
}

/// Returns the profile of main 1000 < { solve, write }, solve < { exchange, read }, exchange <
/// pack; on rank 1 the exchange is shorter.
fn tagged(tags: &[(usize, &str)]) -> Profile {
    fn node(name: &str, parent: Option<usize>, ns: fn(u32) -> Option<u64>) -> Node<'_> {
        Node { name, parent, ns }
    }
    let tree = [
        node("main", None, |_| Some(1_000)),
        node("solve", Some(0), |_| Some(800)),
        node("write", Some(0), |_| Some(100)),
        node("exchange", Some(1), |rank| Some(if rank == 0 { 400 } else { 200 })),
        node("pack", Some(3), |_| Some(100)),
    ];
    let maps: Vec<EventMap> = (0..2).map(|rank| event_map(&tree, rank)).collect();
    let mut profile = profile(&maps);
    tag(&mut profile, |region| {
        let found = tags.iter().find(|(at, _)| tree[*at].name == region.name);
        found.map(|(_, tag)| *tag)
    });
    profile
}

#[test]
fn a_tag_holds_for_what_is_below_until_there_is_another() {
    // With pack, exchange takes 400 on rank 0 and 200 on rank 1; write takes 100 on both.
    let found = Efficiency::of_profile(&tagged(&[(2, "IO"), (3, "COMM")])).expect("it has tags");
    let (parallel, communication) = both(&found);
    assert!(near(parallel, 0.6) && near(found.load_balance, 0.6 / 0.7));
    assert!(near(communication, 0.7) && near(found.io_share, 0.1));

    // Here, packing is computation again.
    let found = Efficiency::of_profile(&tagged(&[(3, "COMM"), (4, "COMP")])).expect("it has tags");
    let (parallel, communication) = both(&found);
    assert!(near(communication, 0.9) && near(parallel, 0.8));
}

#[test]
fn where_nobody_says_that_they_communicate_nobody_knows_how_well() {
    let profile = tagged(&[(2, "IO")]);
    let found = Efficiency::of_profile(&profile).expect("it has tags");
    assert_eq!((found.parallel, found.communication), (None, None));
    assert!(near(found.io_share, 0.1) && near(found.load_balance, 1.0));
    let text = Report::of_profile(&profile).to_text(&TextOptions::default());
    assert!(
        text.contains("efficiency: load balance 100%; IO 10.0%; communication is not known: "),
        "{text}"
    );
}

#[test]
fn without_tags_nothing_is_said() {
    assert_eq!(Efficiency::of_profile(&tagged(&[])), None);
    assert_eq!(Efficiency::of_profile(&tagged(&[(2, "comm"), (3, "")])), None);
    assert_eq!(Efficiency::of_ranks(&[]), None);
    let profile = tagged(&[(1, "COMM")]);
    let known = Activity::of_callpaths(&profile.callpaths).into_iter().flatten().count();
    assert_eq!(known, 3, "solve, exchange and pack");
}

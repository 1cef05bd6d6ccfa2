//! Who waits for whom, of programs whose waiting is known.

use serde_json::Value;
use tinyprof_format::model::{EdgeKey, EdgeKind};
use tinyprof_messages::waiting::Pattern;
use tinyprof_report::{
    Adjusted, CompensatedRank, Report, TextOptions, Totals, Unfollowed, WaitSums, Waits,
};
use tinyprof_views::{View as _, WaitsView, compensated_text, report_json};

use crate::fixture::profile;
use crate::world::{CALL_NS, World};

const SEND: &str = "MPI_Send at work (w.c:10)";
const RECV: &str = "MPI_Recv at work (w.c:20)";
const BARRIER: &str = "MPI_Barrier at main (w.c:30)";

/// Ranks 1 to 3 wait for rank 0, 1, 2 and 3 ms, and all for rank 3 at a barrier.
fn late() -> World {
    let mut world = World::new(4, "late");
    for to in 1..4 {
        world.compute(0, 1_000_000);
        world.send(0, to, SEND, 100);
        world.receive(to, 0, RECV);
    }
    world.compute(3, 5_000_000);
    world.meet(BARRIER, EdgeKind::Barrier);
    for rank in world.ranks() {
        let clock = world.clock(rank);
        clock.companions = 10;
        clock.own_intrusion_ns = 4_000;
        clock.intrusion_ns = 6_000 + 1_000 * rank as u64;
        clock.uncertainty_ns = 500;
        clock.inversions = 1;
    }
    world
}

fn waits(world: World, by_rank: bool) -> (Report, Waits) {
    let profile = profile(&world.end());
    let mut sums = WaitSums::new(&profile.callpaths, profile.ranks.len());
    if by_rank {
        sums = sums.by_rank();
    }
    profile.callpaths.iter().for_each(|(index, _)| sums.add(index, &profile.values[index.row()]));
    (Report::of_profile(&profile).named("late"), sums.waits())
}

fn json(world: World, by_rank: bool) -> Vec<Value> {
    let (report, waits) = waits(world, by_rank);
    WaitsView::new(&report, &waits, 0).json().to_value()["waits"]
        .as_array()
        .expect("a list")
        .clone()
}

/// The lines of the table in this width, from its headings on.
fn table(world: World, by_rank: bool, width: u16) -> Vec<String> {
    let (report, waits) = waits(world, by_rank);
    let text = WaitsView::new(&report, &waits, 10).text(width);
    let lines = text.lines().skip_while(|line| !line.starts_with("waiting  share"));
    lines.take_while(|line| !line.contains("not followed")).map(str::to_owned).collect()
}

#[test]
fn in_a_narrow_table_whom_a_callpath_waits_for_is_below_it() {
    let lines = table(late(), false, 80);
    assert!(lines.iter().all(|line| line.len() <= 80), "{lines:#?}");
    let row = lines.iter().position(|line| line.contains("MPI_Recv")).expect("a line");
    let (at, below) = (&lines[row], &lines[row + 1]);
    let indent = below.len() - below.trim_start().len();
    assert!(
        at[..indent].ends_with("  ") && at[indent..].contains("MPI_Recv at work"),
        "{lines:#?}"
    );
    assert!(below.trim_start().starts_with("for "), "{lines:#?}");
    assert!(below.contains("MPI_Send at work"), "{lines:#?}");
    // Ranks are told in any width.
    assert!(lines[0].contains("ranks  wait for"), "{lines:#?}");
    assert!(table(late(), true, 60)[0].contains("ranks  wait for"));
    // With room, both are in a line.
    assert!(table(late(), false, 160).iter().any(|line| line.contains("(w.c:20) for ")));
}

/// Rank 2 waits 9 ms for rank 0, and rank 3 1 ms for rank 1.
fn most_for_one() -> World {
    let mut world = World::new(4, "late");
    for (from, compute_ns) in [(0, 9_000_000), (1, 1_000_000)] {
        world.compute(from, compute_ns);
        world.send(from, from + 2, SEND, 100);
        world.receive(from + 2, from, RECV);
    }
    world
}

#[test]
fn the_rank_that_most_wait_for_comes_first_with_its_part() {
    let found = json(most_for_one(), false);
    assert_eq!((&found[0]["for_ranks"], &found[0]["most_for_rank"]), (&"0-1".into(), &0.into()));
    assert!(found[0]["most_ns"].as_u64() > Some(8_000_000), "{found:#?}");
    let lines = table(most_for_one(), false, 160);
    assert!(lines[1].contains("  0 (90.0%), 1  "), "{lines:#?}");
}

#[test]
fn ranks_that_wait_in_the_same_callpath_are_one_entry() {
    let found = json(late(), false);
    assert_eq!(found.len(), 2);
    let (barrier, receive) = (&found[0], &found[1]);
    assert_eq!((&barrier["kind"], &barrier["for_ranks"]), (&"barrier".into(), &"3".into()));
    assert_eq!(barrier["ranks"], "0-2");
    assert_eq!((&receive["kind"], &receive["ranks"]), (&"late_sender".into(), &"1-3".into()));
    assert_eq!(receive["callpath"], format!("late<{RECV}"));
    assert_eq!(receive["for_callpath"], format!("late<{SEND}"));
    // 1, 2 and 3 ms, and two calls of the sender.
    let waiting_ns = 6_000_000 + (1 + 2) * CALL_NS;
    assert_eq!((&receive["waiting_ns"], &receive["count"]), (&waiting_ns.into(), &3.into()));
    assert_eq!(receive["transfer_ns"], 3 * CALL_NS);
    let compensated_ns = receive["compensated_ns"].as_u64().expect("a number");
    assert_eq!(compensated_ns, waiting_ns - waiting_ns / 10);
}

#[test]
fn each_pair_of_ranks_has_its_own_entry_if_asked_for() {
    let found = json(late(), true);
    let late = found.iter().filter(|entry| entry["kind"] == "late_sender");
    let of_ranks: Vec<(&str, &str, u64)> = late
        .map(|entry| {
            let text = |member: &str| entry[member].as_str().expect("text");
            (text("ranks"), text("for_ranks"), entry["waiting_ns"].as_u64().expect("a number"))
        })
        .collect();
    let waiting_ns = |rank: u64| rank * 1_000_000 + (rank - 1) * CALL_NS;
    assert_eq!(
        of_ranks,
        [("3", "0", waiting_ns(3)), ("2", "0", waiting_ns(2)), ("1", "0", waiting_ns(1))]
    );
}

#[test]
fn order_is_a_part_and_late_receivers_are_waited_for_by_senders() {
    let mut world = World::new(2, "main");
    world.compute(0, 8_000);
    world.send(0, 1, SEND, 100);
    let receive = world.receive(1, 0, RECV);
    world.edit(1, receive, |key: &EdgeKey, edge| {
        if key.kind == EdgeKind::Message {
            (edge.wrong_order_ns, edge.late_receiver_ns) = (2_000, 3_000);
        }
    });
    let (report, waits) = waits(world, false);
    let kinds: Vec<(Pattern, u128, String, String)> = waits
        .entries
        .iter()
        .map(|e| (e.pattern, e.waiting_ns, e.ranks.to_string(), e.for_ranks.to_string()))
        .collect();
    let of =
        |pattern, ns, rank: &str, other: &str| (pattern, ns, rank.to_owned(), other.to_owned());
    assert_eq!(
        kinds,
        [of(Pattern::LateSender, 8_000, "1", "0"), of(Pattern::LateReceiver, 3_000, "0", "1"),]
    );
    assert_eq!(waits.waiting_ns(), 11_000, "order is no waiting of its own");
    let of_order: Vec<u128> = waits.entries.iter().map(|entry| entry.wrong_order_ns).collect();
    assert_eq!(of_order, [2_000, 0]);
    let text = WaitsView::new(&report, &waits, 10).text(200);
    assert!(text.contains("  late sender, 25.0% order  "), "{text}");
    assert_eq!(
        WaitsView::new(&report, &waits, 0).json().to_value()["waits"][0]["wrong_order_ns"],
        2_000
    );
}

#[test]
fn a_selection_is_of_those_who_wait() {
    let profile = profile(&late().end());
    let mut sums = WaitSums::new(&profile.callpaths, 4).only_ranks([2]);
    profile.callpaths.iter().for_each(|(index, _)| sums.add(index, &profile.values[index.row()]));
    let ranks: Vec<String> = sums.waits().entries.iter().map(|e| e.ranks.to_string()).collect();
    assert_eq!(ranks, ["2", "2"]);
}

#[test]
fn who_never_waited_is_not_among_those_who_did() {
    let mut world = World::new(3, "main");
    world.compute(0, 10_000);
    for (rank, ns) in [(1, 0), (2, 50_000)] {
        world.send(0, rank, SEND, 100);
        world.compute(rank, ns);
        world.receive(rank, 0, RECV);
    }
    let found = json(world, false);
    assert_eq!(found[0]["ranks"], "1");
}

#[test]
fn the_table_fits_its_width() {
    for width in [20, 40, 80, 120, 200] {
        let (report, waits) = waits(late(), false);
        let text = WaitsView::new(&report, &waits, 10).text(width);
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(width.max(35).into()), "{width}: {text}");
    }
    let (report, waits) = waits(late(), false);
    insta::assert_snapshot!("waits_text", WaitsView::new(&report, &waits, 10).text(120));
    let mut csv = Vec::new();
    WaitsView::new(&report, &waits, 0).write_csv(&mut csv).expect("it is written");
    let csv = String::from_utf8(csv).expect("text");
    assert_eq!(csv.lines().count(), 3, "{csv}");
}

#[test]
fn ranks_are_compensated_by_their_own_delays_and_by_all() {
    let profile = profile(&late().end());
    let ranks = CompensatedRank::of_totals(&Totals::of_profile(&profile));
    let rank = &ranks[2];
    assert_eq!(rank.measured_ns - rank.local_ns, 4_000);
    assert_eq!((rank.measured_ns - rank.parallel_ns, rank.uncertainty_ns), (8_000, 500));
    let text = compensated_text(&Report::of_profile(&profile), 2, 80);
    assert!(text.contains("rank  measured  locally  in parallel     +-"), "{text}");
    assert!(text.contains("... 2 more ranks"), "{text}");
}

#[test]
fn callpaths_are_compensated_for_their_waiting_and_that_below_them() {
    let profile = profile(&late().end());
    let rows = Adjusted::of_rank(&Totals::of_profile(&profile), 3);
    let of = |path: &str| rows[profile.find(path).expect("it is there").row()];
    let receive = of(&format!("late<{RECV}"));
    // A tenth of the waiting of 3 ms, and two calls of the sender.
    let excess_ns = (3_000_000.0 + 2.0 * 2_000.0) / 10.0;
    assert!((receive.propagated_ns - excess_ns).abs() < 1.0, "{receive:?}");
    assert!((receive.local_ns - 18.4).abs() < 1e-9, "one visit: {receive:?}");
    assert!((receive.measured_ns - receive.ns() - excess_ns - 18.4).abs() < 1.0);
    let all = of("late");
    assert!((all.local_ns - 3.0 * 18.4).abs() < 1e-9, "{all:?}");
    assert!((all.propagated_ns - excess_ns).abs() < 1.0 && all.uncertainty_ns > 499.0, "{all:?}");
    assert!(of(&format!("late<{BARRIER}")).uncertainty_ns < 1.0);
    let json = report_json(&Report::of_profile(&profile)).to_value();
    assert_eq!(json["clock"]["inversions"], 4);
    let delays_ns = json["overhead"]["through_others_ns"].as_f64();
    assert!(delays_ns.is_none() || delays_ns == Some(3_500.0), "{delays_ns:?}");
    let with = &json["callpaths"][0]["adjusted"];
    assert!(with["propagated_ns"].as_f64().expect("a time") > excess_ns, "{with}");
    let part = report_json(&Report::of_profile(&profile).without_overhead()).to_value();
    assert!(part["clock"].is_null() && part["callpaths"][0]["adjusted"].is_null());
}

#[test]
fn a_profile_without_edges_says_so() {
    let (report, waits) = waits(World::new(2, "main"), false);
    assert!(!waits.are_recorded);
    assert!(
        WaitsView::new(&report, &waits, 10)
            .text(80)
            .contains("no waiting is known: no messages were followed")
    );
    assert!(WaitsView::new(&report, &waits, 0).json().member("clock").is_null());
}

/// Returns the last lines of the table of waits, and the report.
fn told(world: World) -> (String, String) {
    let (report, waits) = waits(world, false);
    let text = WaitsView::new(&report, &waits, 10).text(200);
    (text, report.to_text(&TextOptions::default().with_width(200)))
}

#[test]
fn what_is_not_followed_is_told_and_nobody_is_said_not_to_have_waited() {
    // All messages were followed, and all have waited.
    let (text, _) = told(late());
    assert!(!text.contains("not followed"), "{text}");

    // A loop of tests, and creating a communicator: 6 of 8 ms.
    let mut world = World::new(2, "blind");
    for rank in world.ranks() {
        world.call(rank, "MPI_Comm_rank at main (b.c:1)", 2_000_000);
        world.call(rank, "MPI_Test at main (b.c:2)", 5_000_000);
        world.call(rank, "MPI_Comm_dup at main (b.c:3)", 1_000_000);
    }
    let (text, report) = told(world);
    let line = "75.0% of the time in MPI is in calls that are not followed, 6.00 ms per rank: \
                MPI_Test 62.5%, MPI_Comm_dup 12.5%\n";
    assert!(text.contains("no waiting is known\n") && text.contains(line), "{text}");
    assert!(report.contains(line) && !text.contains("nobody"), "{report}");
}

#[test]
fn waiting_of_ranks_that_may_have_been_joined_says_so() {
    for (ranks, is_told) in [(63, false), (64, true)] {
        let mut world = World::new(ranks, "wide");
        world.send(0, 1, SEND, 8);
        world.receive(1, 0, RECV);
        let (text, report) = told(world);
        let note = "note: waiting of a single rank may be the mean of ranks that are alike";
        assert_eq!((text.contains(note), report.contains(note)), (is_told, is_told), "{report}");
    }
}

#[test]
fn receives_are_followed_as_far_as_their_messages_are() {
    let mut world = World::new(2, "half");
    world.send(0, 1, SEND, 8);
    let receive = world.receive(1, 0, RECV);
    for _ in 0..3 {
        world.send(0, 1, SEND, 8);
        world.receive(1, 0, RECV);
    }
    world.edit(1, receive, |_, edge| edge.count = 1);
    let unfollowed = Unfollowed::of_totals(&Totals::of_profile(&profile(&world.end())));
    let of_receiver = unfollowed.ranks[1];
    assert_eq!(of_receiver.unfollowed_ns, of_receiver.mpi_ns / 4 * 3, "3 of 4 were not");
    assert_eq!((unfollowed.ranks[0].unfollowed_ns, unfollowed.ranks[0].mpi_ns), (0, 4 * CALL_NS));
}

#[test]
fn what_the_recorder_did_not_follow_counts_for_what_is_known_here() {
    let mut world = late();
    // One more than there was, as it was kept.
    world.clock(1).unfollowed_ns = 1_501;
    let unfollowed = Unfollowed::of_totals(&Totals::of_profile(&profile(&world.end())));
    let of_ranks: Vec<u64> = unfollowed.ranks.iter().map(|rank| rank.unfollowed_ns).collect();
    assert_eq!(of_ranks, [0, 1_500, 0, 0]);
}

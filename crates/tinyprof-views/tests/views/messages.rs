//! MPI calls: statistics, the line of the report, and the tables.

use insta::assert_snapshot;
use tinyprof_format::model::{
    CallpathId, CallpathValues, EventMap, ExecutionSummary, MessageKey, MessageKind, Profile,
    RankFacts, Region, SiteId, Traffic,
};
use tinyprof_report::{Report, Statistics, TextOptions};
use tinyprof_views::{MpiCalls, MpiView, View as _, json_text, report_json};

use crate::fixture::{fft, profile, profile_of};

/// The region of an MPI call.
fn call(site: u64, name: &str) -> Region {
    Region { module: "mpi".into(), ..Region::named(SiteId::from_bits(site), name) }
}

fn visits(calls: u64, ns: u64) -> CallpathValues {
    let one = ExecutionSummary::of_one_visit(0, ns);
    let executions =
        vec![ExecutionSummary { visits: calls, min_ns: ns / calls, max_ns: ns / calls, ..one }];
    CallpathValues { executions, ..CallpathValues::default() }
}

fn with(values: CallpathValues, messages: &[(MessageKind, i32, u64, u64)]) -> CallpathValues {
    let messages = messages.iter().map(|&(kind, partner, count, size)| {
        (MessageKey::new(kind, partner, size), Traffic { count, bytes: count * size })
    });
    CallpathValues { messages: messages.collect(), ..values }
}

/// A ring of four ranks: each sends 100 messages to the next from one line, and 10 from another,
/// and rank 2 waits the longest. Rank 0 writes a file.
fn ring() -> Profile {
    use MessageKind::{CollectiveIn, CollectiveOut, FileOut, MessageIn, MessageOut};
    let map = |rank: u32| {
        let (next, before) = (if rank == 3 { -3 } else { 1 }, if rank == 0 { 3 } else { -1 });
        let main = CallpathId::root(SiteId::from_bits(1));
        let at = |site: u64| main.child(SiteId::from_bits(site));
        let late = u64::from(rank == 2) * 20_000_000;
        let mut records = vec![
            (main, None, Region::named(SiteId::from_bits(1), "lu"), visits(1, 100_000_000)),
            (
                at(2),
                Some(main),
                call(2, "MPI_Isend at exchange (lu.f:120)"),
                with(visits(100, 1_000_000), &[(MessageOut, next, 100, 80_000)]),
            ),
            (
                at(3),
                Some(main),
                call(3, "MPI_Isend at exchange (lu.f:131)"),
                with(visits(10, 500_000), &[(MessageOut, next, 10, 64)]),
            ),
            (
                at(4),
                Some(main),
                call(4, "MPI_Waitall at exchange (lu.f:140)"),
                with(
                    visits(100, 20_000_000 + late),
                    &[(MessageIn, before, 100, 80_000), (MessageIn, before, 10, 64)],
                ),
            ),
            (
                at(5),
                Some(main),
                call(5, "MPI_Allreduce at norm (norm.f:17)"),
                with(visits(5, 8_000_000), &[(CollectiveOut, 4, 5, 8), (CollectiveIn, 4, 5, 8)]),
            ),
            // A region of the program, not of MPI.
            (at(6), Some(main), Region::named(SiteId::from_bits(6), "MPI_like"), visits(1, 1_000)),
        ];
        if rank == 0 {
            records.push((
                at(7),
                Some(main),
                call(7, "MPI_File_write at a.out+0x1234"),
                with(visits(1, 3_000_000), &[(FileOut, 0, 1, 5_000_000)]),
            ));
        }
        let facts = RankFacts { host: "node000".into(), ..RankFacts::default() };
        EventMap::from_records(records, facts)
    };
    let mut ring = profile(&(0..4).map(map).collect::<Vec<_>>());
    ring.manifest.executions = 1;
    ring
}

#[test]
fn functions_and_call_sites_are_summed_over_ranks() {
    let calls = MpiCalls::of_profile(&ring());
    let found: Vec<_> = calls
        .functions
        .iter()
        .map(|function| {
            let (over_ranks, transfers) = (function.calls.over_ranks, function.calls.transfers);
            let bytes = (transfers.out().bytes, transfers.into_rank().bytes);
            (function.name.as_str(), over_ranks.visits, function.calls.time_ns(), bytes)
        })
        .collect();
    let messages = 4 * (100 * 80_000 + 10 * 64);
    assert_eq!(
        found,
        [
            ("MPI_Waitall", 400, 100_000_000, (0, messages)),
            ("MPI_Allreduce", 20, 32_000_000, (160, 160)),
            ("MPI_Isend", 440, 6_000_000, (messages, 0)),
            ("MPI_File_write", 1, 3_000_000, (5_000_000, 0)),
        ]
    );
    let waitall = calls.functions[0].calls.over_ranks;
    assert_eq!((waitall.exclusive.min_ns, waitall.exclusive.max_ns), (20_000_000, 40_000_000));
    assert_eq!((waitall.exclusive.max_rank, waitall.ranks), (2, 4));
    assert_eq!(calls.functions[3].calls.over_ranks.ranks, 1);
    assert_eq!(calls.call_sites.len(), 5);
}

#[test]
fn peers_are_ranks_of_the_world() {
    let calls = MpiCalls::of_profile(&ring());
    let mut pairs: Vec<_> = calls.peers.iter().map(|pair| (pair.from, pair.to)).collect();
    pairs.sort_unstable();
    let ring = [(0, 1), (1, 2), (2, 3), (3, 0)];
    assert_eq!(pairs, ring.map(|(from, to)| (Some(from), Some(to))));
    for pair in &calls.peers {
        assert_eq!(pair.out, Traffic { count: 110, bytes: 8_000_640 });
        assert_eq!(pair.into_rank, pair.out);
    }
}

#[test]
fn a_partner_outside_of_the_world_is_not_known() {
    use MessageKind::{MessageIn, MessageOut};
    let root = CallpathId::root(SiteId::from_bits(1));
    let of = |partner| {
        let values =
            with(visits(1, 10), &[(MessageOut, partner, 1, 1), (MessageIn, partner, 1, 1)]);
        let map = EventMap::from_records(
            [(root, None, call(1, "MPI_Sendrecv"), values)],
            RankFacts::default(),
        );
        let calls = MpiCalls::of_profile(&profile(&[map]));
        calls.peers.iter().map(|pair| (pair.from, pair.to)).collect::<Vec<_>>()
    };
    for partner in [1, -1, i32::MIN, i32::MAX - 1, MessageKey::ANY_PARTNER] {
        assert_eq!(of(partner), [(None, Some(0)), (Some(0), None)], "{partner}");
    }
    assert_eq!(of(0), [(Some(0), Some(0))]);
}

#[test]
fn a_call_that_has_not_ended_has_messages_only() {
    let root = CallpathId::root(SiteId::from_bits(1));
    let values = with(CallpathValues::default(), &[(MessageKind::MessageOut, 0, 3, 100)]);
    let map =
        EventMap::from_records([(root, None, call(1, "MPI_Send"), values)], RankFacts::default());
    let profile = profile(&[map]);
    let calls = MpiCalls::of_profile(&profile);
    let send = &calls.functions[0].calls;
    assert_eq!((send.over_ranks.ranks, send.transfers.out().bytes), (0, 300));
    let text = MpiView::new(&Report::of_profile(&profile), &calls, 10).text(100);
    assert!(text.contains("MPI_Send"), "{text}");
}

#[test]
fn the_report_has_a_line_and_a_column() {
    let report = Report::of_profile(&ring());
    assert_snapshot!(report.to_text(&TextOptions::default().with_width(150)));
    assert_snapshot!(report.to_text(&TextOptions::default().with_width(80)));
    let narrow = report.to_text(&TextOptions::default().with_width(50));
    assert!(!narrow.contains(" bytes"), "{narrow}");
}

#[test]
fn merged_statistics_have_times_only() {
    let profile = ring();
    let report =
        Report::new(&profile.manifest, &profile.callpaths, Statistics::of_profile(&profile));
    let text = report.to_text(&TextOptions::default());
    assert!(!text.contains(" bytes"), "{text}");
    let line = text.lines().find(|line| line.starts_with("mpi: "));
    assert_eq!(
        line,
        Some("mpi: 35.2% of the time; MPI_Waitall 25.0%, MPI_Allreduce 8.0%, MPI_Isend 1.5%")
    );
}

#[test]
fn the_time_to_set_mpi_up_is_no_part_of_the_share() {
    let root = |site| CallpathId::root(SiteId::from_bits(site));
    let mut init = call(2, "MPI_Init at main (lu.c:5)");
    init.constants.insert("tag".into(), "INIT".into());
    let send = root(1).child(SiteId::from_bits(3));
    let records = vec![
        (root(1), None, Region::named(SiteId::from_bits(1), "lu"), visits(1, 100_000_000)),
        (root(2), None, init, visits(1, 900_000_000)),
        (send, Some(root(1)), call(3, "MPI_Send at main (lu.c:9)"), visits(10, 25_000_000)),
    ];
    let mut profile = profile(&[EventMap::from_records(records, RankFacts::default())]);
    profile.manifest.executions = 1;
    let report = Report::of_profile(&profile);
    let text = report.to_text(&TextOptions::default());
    let line = text.lines().find(|line| line.starts_with("mpi: "));
    assert_eq!(line, Some("mpi: 25.0% of the time; MPI_Send 25.0%"));
    let json = report_json(&report).to_value();
    assert_eq!(json["mpi"]["share"], 0.25);
    assert_eq!(json["mpi"]["time_ns"], 25_000_000);
    assert_eq!(json["mpi"]["functions"][0]["share"], 0.25);
    // All calls are in the tables, whose shares are those of the whole time.
    let functions = MpiCalls::of_profile(&profile).functions;
    let names: Vec<&str> = functions.iter().map(|function| function.name.as_str()).collect();
    assert_eq!(names, ["MPI_Init", "MPI_Send"]);
}

#[test]
fn a_program_without_mpi_has_neither() {
    let profile = profile_of(&fft(), 2);
    let report = Report::of_profile(&profile);
    let text = report.to_text(&TextOptions::default());
    assert!(!text.contains("mpi:") && !text.contains(" bytes"), "{text}");
    assert_eq!(report_json(&report).to_value()["mpi"], serde_json::Value::Null);
    let calls = MpiCalls::of_profile(&profile);
    assert!(calls.is_empty());
    assert!(
        MpiView::new(&report, &calls, 10).text(100).ends_with("\nno MPI calls were recorded\n")
    );
    assert_eq!(
        MpiView::new(&report, &calls, 0).json().to_value()["functions"],
        serde_json::json!([])
    );
}

#[test]
fn the_tables_show_functions_then_call_sites_then_peers() {
    let profile = ring();
    let (report, calls) = (Report::of_profile(&profile), MpiCalls::of_profile(&profile));
    for width in [140, 80, 50] {
        let text = MpiView::new(&report, &calls, 3).text(width);
        assert!(text.lines().all(|line| line.len() <= usize::from(width)), "{text}");
    }
    assert_snapshot!(MpiView::new(&report, &calls, 3).text(140));
    assert_snapshot!(MpiView::new(&report, &calls, 10).text(80));
    let mut csv = Vec::new();
    MpiView::new(&report, &calls, 0).write_csv(&mut csv).expect("memory");
    assert_snapshot!(String::from_utf8(csv).expect("UTF-8"));
    assert_snapshot!(json_text(&MpiView::new(&report, &calls, 0).json().to_value()));
}

#[test]
fn a_selected_part_of_the_tree_keeps_its_functions() {
    let root = CallpathId::root(SiteId::from_bits(1));
    let named = |name| {
        let map = EventMap::from_records(
            [(root, None, call(1, name), visits(1, 10))],
            RankFacts::default(),
        );
        let calls = MpiCalls::of_profile(&profile(&[map]));
        calls.functions.iter().map(|function| function.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(named("lu<MPI_Send at f<int> (a.cpp:3)"), ["MPI_Send"]);
    assert_eq!(named("MPI_Send"), ["MPI_Send"]);
    assert!(named("send").is_empty());
}

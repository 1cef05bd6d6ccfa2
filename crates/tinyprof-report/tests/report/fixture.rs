//! Profiles made by hand: a tree of regions, and the time of each on each rank.

use tinyprof_format::model::{
    CallpathFile, CallpathId, CallpathTable, CallpathValues, EventMap, ExecutionSummary,
    FORMAT_NAME, FormatVersion, InterimTimes, Losses, Manifest, MetricSummary, MetricValues, Mode,
    PartFile, PeakMemory, PhaseTimes, Precision, Profile, RankFacts, Region, RegionKind,
    RunMetadata, SiteId,
};

/// One region of a tree: its name, the position of its parent in the list, and its time on a rank
/// (none if the rank does not visit it), spread over 20 executions.
pub(crate) struct Node<'a> {
    pub(crate) name: &'a str,
    pub(crate) parent: Option<usize>,
    pub(crate) ns: fn(u32) -> Option<u64>,
}

pub(crate) const EXECUTIONS: u32 = 20;

/// The number of neighbouring ranks on one host.
const RANKS_A_HOST: u32 = 64;

pub(crate) fn region(site: u64, name: &str) -> Region {
    Region {
        site: SiteId::from_bits(site),
        name: name.into(),
        module: "fft::transform".into(),
        file: "src/transform.rs".into(),
        line: 10 + u32::try_from(site).expect("few sites"),
        column: 5,
        kind: RegionKind::Function,
        mode: Mode::Total,
        rank_local: false,
        constants: [].into(),
    }
}

/// Returns values whose inclusive time is `ns`.
pub(crate) fn values(ns: u64) -> CallpathValues {
    let each = ns / u64::from(EXECUTIONS);
    let of = |execution| if execution == 0 { ns - each * u64::from(EXECUTIONS - 1) } else { each };
    let executions = (0..EXECUTIONS).map(|e| ExecutionSummary::of_one_visit(e, of(e))).collect();
    CallpathValues { executions, ..CallpathValues::default() }
}

/// Returns the measurements of the tree on `rank`.
pub(crate) fn event_map(tree: &[Node<'_>], rank: u32) -> EventMap {
    let mut ids: Vec<CallpathId> = Vec::new();
    let mut records = Vec::new();
    for (site, node) in (1..).zip(tree) {
        let parent = node.parent.map(|parent| ids[parent]);
        let id = parent.map_or(CallpathId::root(SiteId::from_bits(site)), |p| {
            p.child(SiteId::from_bits(site))
        });
        ids.push(id);
        if let Some(ns) = (node.ns)(rank) {
            records.push((id, parent, region(site, node.name), values(ns)));
        }
    }
    let host = format!("node{:03}", rank / RANKS_A_HOST);
    EventMap::from_records(records, RankFacts { host, ..RankFacts::default() })
}

/// Returns the profile of a run in which each rank measured its event map.
pub(crate) fn profile(maps: &[EventMap]) -> Profile {
    let callpaths =
        maps.iter().fold(CallpathTable::default(), |all, map| all.union(&map.callpaths));
    let of_rank: Vec<_> = maps.iter().map(|map| (map, map.callpaths.index_by_id())).collect();
    let of_callpath = |id: CallpathId| {
        let of = |(map, index): &(&EventMap, std::collections::HashMap<CallpathId, _>)| {
            index.get(&id).map_or_else(
                CallpathValues::default,
                |at: &tinyprof_format::model::CallpathIndex| map.values[at.row()].clone(),
            )
        };
        of_rank.iter().map(of).collect()
    };
    Profile {
        values: callpaths.rows().iter().map(|callpath| of_callpath(callpath.id)).collect(),
        manifest: manifest(u32::try_from(maps.len()).expect("few ranks"), callpaths.len()),
        callpaths,
        ranks: maps.iter().map(|map| map.facts.clone()).collect(),
    }
}

/// Returns the profile of `ranks` ranks that ran the same tree.
pub(crate) fn profile_of(tree: &[Node<'_>], ranks: u32) -> Profile {
    profile(&(0..ranks).map(|rank| event_map(tree, rank)).collect::<Vec<_>>())
}

pub(crate) fn manifest(ranks: u32, callpaths: usize) -> Manifest {
    let hosts = ranks.div_ceil(RANKS_A_HOST);
    Manifest {
        format: FORMAT_NAME.into(),
        version: FormatVersion::CURRENT,
        ranks,
        executions: EXECUTIONS,
        callpaths: CallpathFile {
            file: "callpaths".into(),
            bytes: 1_234,
            crc32: 0,
            callpaths: u32::try_from(callpaths).expect("few callpaths"),
        },
        parts: vec![PartFile {
            file: "part-00000".into(),
            first_rank: 0,
            ranks,
            bytes: 45_678,
            crc32: 0,
        }],
        metadata: RunMetadata {
            user: "ada".into(),
            launchdate: 1_795_270_350,
            executable: "/home/ada/target/release/fft".into(),
            cmdline: ["./fft", "--size", "1048576", "--label", "first light"]
                .map(String::from)
                .into(),
            cluster: "analytical".into(),
            jobid: Some("4711".into()),
            jobsize: ranks,
            numhosts: hosts,
            hostlist: (0..hosts).map(|host| format!("node{host:03}")).collect(),
            mpi_version: Some("MPICH 4.2.1".into()),
            tinyprof_version: "0.1.0".into(),
            clock: "tsc".into(),
            cpus: 64,
            visit_cost_ps: 18_400,
            visit_cost_error_ps: 0,
            root_visit_cost_ps: 0,
            root_visit_cost_error_ps: 0,
            counted_visit_cost_ps: 0,
            starting_ns: 0,
            filter: None,
            regions_filtered: None,
            segments_refused: None,
        },
        complete: true,
        incomplete_because: None,
        precision: Precision::Exact,
        salvage: None,
        peak_memory: PeakMemory {
            max_bytes: 1_234_567_890,
            sum_bytes: 1_200_000_000 * u64::from(ranks),
        },
        losses: Losses::default(),
        flush: PhaseTimes {
            snapshot_ns: 12_345,
            synchronise_ns: 456_789,
            aggregate_ns: 1_234_567,
            write_ns: 7_654_321,
        },
        interim_profiles: InterimTimes::default(),
        profile_id: None,
    }
}

/// Gives a tag to each region for which `tag_of` returns one.
pub(crate) fn tag<'a>(profile: &mut Profile, tag_of: impl Fn(&Region) -> Option<&'a str>) {
    let triples = profile.callpaths.iter().map(|(_, callpath)| {
        let mut region = Region::clone(&callpath.region);
        if let Some(tag) = tag_of(&region) {
            region.constants.insert("tag".into(), tag.into());
        }
        (callpath.id, callpath.parent.map(|parent| profile.callpaths.get(parent).id), region)
    });
    profile.callpaths = CallpathTable::from_parents(triples.collect::<Vec<_>>());
}

/// Adds the metrics of the FFT: memory on every rank, a residual on rank 0 alone, and `more`
/// further keys.
pub(crate) fn with_metrics(mut maps: Vec<EventMap>, more: u32) -> Vec<EventMap> {
    for (rank, map) in (0..).zip(&mut maps) {
        let mut add = |path: &str, key: &str, values: &[f64]| {
            let here = map.callpaths.iter().find(|(index, _)| map.callpaths.path(*index) == path);
            let id = here.expect("a callpath of the tree").1.id;
            let executions =
                (0..).zip(values).map(|(e, &value)| MetricSummary::of_one_value(e, value));
            assert!(map.add_metric(
                id,
                key,
                MetricValues { executions: executions.collect(), series: vec![] }
            ));
        };
        let rank_bytes = f64::from(rank) * 1_048_576.0;
        add("main<transform<transpose<alltoall", "bytes", &[1.5e9 + rank_bytes, 1.5e9]);
        add("main", "mem", &[12.0, 14.0 + f64::from(rank)]);
        if rank == 0 {
            add("main<transform", "residual", &[0.012_345_6, -1e-9, f64::INFINITY]);
            (0..more).for_each(|n| {
                add("main<check", &format!("key {n}\u{202e}\n流れ"), &[f64::from(n)]);
            });
        }
    }
    maps
}

/// Returns the parallel FFT of the paper's case study: rank 1 is late in the transposes, odd ranks
/// do more.
pub(crate) fn fft() -> Vec<Node<'static>> {
    fn node(name: &str, parent: Option<usize>, ns: fn(u32) -> Option<u64>) -> Node<'_> {
        Node { name, parent, ns }
    }
    vec![
        node("main", None, |_| Some(1_234_567_890)),
        node("plan", Some(0), |rank| Some(8_100_000 + u64::from(rank) * 1_000)),
        node("initialise", Some(0), |_| Some(45_678_901)),
        node("transform", Some(0), |rank| Some(1_100_000_000 - u64::from(rank % 7) * 1_000_000)),
        node("local_ffts", Some(3), |rank| Some(420_000_000 + u64::from(rank % 5) * 3_000_000)),
        node("twiddle", Some(3), |_| Some(61_000_000)),
        node("transpose", Some(3), |rank| Some(if rank == 1 { 560_000_000 } else { 410_000_000 })),
        node("pack", Some(6), |_| Some(101_000_000)),
        node("alltoall", Some(6), |rank| Some(if rank == 1 { 350_000_000 } else { 200_000_000 })),
        node("unpack", Some(6), |_| Some(99_000_000)),
        node("odd_ranks_only", Some(3), |rank| (rank % 2 == 1).then_some(33_000_000)),
        node("check", Some(0), |_| Some(2_000)),
        node("log", Some(0), |_| Some(950)),
        node("format_line", Some(12), |_| Some(87)),
    ]
}

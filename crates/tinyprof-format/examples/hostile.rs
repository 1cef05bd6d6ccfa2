//! Writes a profile whose every text is an attempt to run something in a browser, for tests of what
//! shows profiles.
//!
//! ```sh
//! cargo run -p tinyprof-format --example hostile -- NAME
//! ```

use std::path::Path;

use tinyprof_format::file::ProfileWriter;
use tinyprof_format::model::{
    CallpathId, CallpathValues, EventMap, ExecutionSummary, MetricSummary, MetricValues, Mode,
    RankFacts, Region, RegionKind, RunMetadata, SeriesBucket, SiteId,
};

/// What a page must show as text. Each that ran would set `window.pwned`, open a dialogue, or load
/// something.
const PAYLOADS: [&str; 22] = [
    "<script>window.pwned = 1</script>",
    "</script><script>window.pwned = 1</script>",
    "<img src=x onerror=\"window.pwned = 1\">",
    "<svg onload=window.pwned=1>",
    "\"><svg/onload=window.pwned=1>",
    "'-window.pwned=1-'",
    "\";window.pwned=1;//",
    "`${window.pwned=1}`",
    "javascript:window.pwned=1",
    "<a href=\"javascript:window.pwned=1\">main</a>",
    "<iframe srcdoc=\"<script>parent.pwned=1</script>\">",
    "<!--<script>window.pwned=1//-->",
    "]]><script>window.pwned=1</script>",
    "<style>*{background:url(http://localhost:9/x)}</style>",
    "<link rel=stylesheet href=http://localhost:9/x>",
    "<meta http-equiv=refresh content=\"0;url=http://localhost:9/\">",
    "<base href=http://localhost:9/><form action=x><input name=__proto__>",
    "__proto__",
    "constructor",
    "{{constructor.constructor('window.pwned=1')()}}",
    "\u{202e}<tpircs>1 = denwp\u{2066}\u{200b}\u{0}\u{1b}]8;;http://localhost:9\u{7}",
    "&lt;script&gt;window.pwned=1&lt;/script&gt;&#x3c;script&#x3e;",
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let name = std::env::args().nth(1).ok_or("usage: hostile NAME")?;
    let metadata = RunMetadata {
        user: PAYLOADS[0].into(),
        launchdate: u64::MAX,
        executable: PAYLOADS[2].into(),
        cmdline: PAYLOADS.iter().map(|payload| (*payload).to_owned()).collect(),
        cluster: PAYLOADS[1].into(),
        jobid: Some(PAYLOADS[3].into()),
        mpi_version: Some(PAYLOADS[4].into()),
        tinyprof_version: PAYLOADS[1].into(),
        clock: PAYLOADS[10].into(),
        ..RunMetadata::default()
    };
    let ranks: Vec<EventMap> =
        PAYLOADS.iter().zip(1..).map(|(host, rank)| rank_on(host, rank)).collect();
    ProfileWriter::new()
        .with_ranks_per_part(4)
        .with_metadata(metadata)
        .write(Path::new(&name), &ranks)?;
    Ok(())
}

/// A chain of all payloads, and all of them beside each other below its first.
fn rank_on(host: &str, rank: u64) -> EventMap {
    let root = CallpathId::root(SiteId::from_bits(1));
    let mut records = vec![(root, None, region(1, PAYLOADS[0]), values(100_000_000 * rank))];
    let mut above = root;
    for (payload, site) in PAYLOADS.iter().zip(2..) {
        let inner = above.child(SiteId::from_bits(site));
        records.push((inner, Some(above), region(site, payload), values(10_000_000 * rank / site)));
        above = inner;
        let beside = root.child(SiteId::from_bits(100 + site));
        records.push((beside, Some(root), region(100 + site, payload), values(1_000_000 * rank)));
    }
    let mut map =
        EventMap::from_records(records, RankFacts { host: host.into(), ..RankFacts::default() });
    for payload in PAYLOADS {
        let executions = vec![MetricSummary::of_one_value(0, 1.0)];
        let is_known =
            map.add_metric(root, payload, MetricValues { executions, series: Vec::new() });
        assert!(is_known, "the root is a callpath");
    }
    map
}

fn region(site: u64, payload: &str) -> Region {
    Region {
        site: SiteId::from_bits(site),
        name: payload.into(),
        module: payload.into(),
        file: payload.into(),
        line: 1,
        column: 1,
        kind: RegionKind::Function,
        mode: Mode::Each,
        rank_local: false,
        constants: [
            ("tag".to_owned(), payload.to_owned()),
            (payload.to_owned(), payload.to_owned()),
        ]
        .into(),
    }
}

fn values(ns: u64) -> CallpathValues {
    CallpathValues {
        executions: vec![ExecutionSummary::of_one_visit(0, ns)],
        series: vec![SeriesBucket::of_one_visit(0, ns)],
        ..CallpathValues::default()
    }
}

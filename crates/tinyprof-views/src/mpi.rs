//! The MPI calls of a profile, as tables.

pub(crate) mod calls;

use std::io::{self, Write};

use serde_json::{Map, Value, json};
use tinyprof_format::model::{MessageKind, Traffic};
use tinyprof_report::cells::{
    count_cell, cut, data_cell, percent_cell, ratio, rounded, share_cell, shown, sum_cell,
    time_cell, whole, wrapped,
};
use tinyprof_report::{Datum, Report, head, mean_bytes, mpi_line, startup_line};

use crate::csv::put;
use crate::json_list::{LongJson, integer};
use crate::paths::{path, shown_path};
use crate::spread::spread_json;
use crate::table::{Column, Line, cells_for, row_json, write_more, write_table};
use crate::view::View;
use calls::{CallStatistics, MpiCallSite, MpiCalls, MpiFunction, Peers};

type OfCalls = Column<CallStatistics>;

const CALLS: [OfCalls; 15] =
    [
        OfCalls::new("ranks", |_, calls| Datum::integer(calls.over_ranks.ranks)),
        OfCalls::new("calls", |_, calls| Datum::integer(calls.over_ranks.visits)).shown(
            1,
            "calls",
            0,
            |_, calls| count_cell(calls.over_ranks.visits),
        ),
        OfCalls::new("time_ns", |_, calls| Datum::Integer(calls.time_ns())).shown(
            2,
            "time",
            0,
            |_, calls| sum_cell(&calls.over_ranks.exclusive, None),
        ),
        OfCalls::new("share", |report, calls| Datum::Float(report.base.share(calls.worked_ns())))
            .shown(3, "share", 0, |report, calls| {
                share_cell(&report.base, calls.time_ns(), calls.startup_ns)
            }),
        OfCalls::new("messages_out", |_, calls| Datum::integer(calls.transfers.out().count))
            .csv_only(),
        OfCalls::new("bytes_out", |_, calls| Datum::integer(calls.transfers.out().bytes)).shown(
            4,
            "out",
            0,
            |_, calls| bytes_cell(calls.transfers.out()),
        ),
        OfCalls::new("messages_in", |_, calls| Datum::integer(calls.transfers.into_rank().count))
            .csv_only(),
        OfCalls::new("bytes_in", |_, calls| Datum::integer(calls.transfers.into_rank().bytes))
            .shown(5, "in", 0, |_, calls| bytes_cell(calls.transfers.into_rank())),
        OfCalls::new("mean_bytes", |_, calls| Datum::float(mean_bytes(calls.transfers.total())))
            .shown(6, "mean size", 1, |_, calls| size_cell(calls.transfers.total())),
        OfCalls::new("min_ns", |_, calls| of_ranks(calls, calls.over_ranks.exclusive.min_ns))
            .csv_only()
            .shown_for_several(7, "min", 6, |_, calls| {
                cell_of_ranks(calls, || time_cell(calls.over_ranks.exclusive.min_ns.into()))
            }),
        OfCalls::new("mean_ns", |_, CallStatistics { over_ranks, .. }| {
            Datum::float(over_ranks.mean_ns(&over_ranks.exclusive))
        })
        .csv_only()
        .shown_for_several(8, "mean", 4, |_, calls| {
            let ranks = calls.over_ranks.ranks.into();
            cell_of_ranks(calls, || time_cell(rounded(calls.time_ns(), ranks)))
        }),
        OfCalls::new("max_ns", |_, calls| of_ranks(calls, calls.over_ranks.exclusive.max_ns))
            .csv_only()
            .shown_for_several(9, "max", 3, |_, calls| {
                cell_of_ranks(calls, || time_cell(calls.over_ranks.exclusive.max_ns.into()))
            }),
        OfCalls::new("max_rank", |_, calls| of_ranks(calls, calls.over_ranks.exclusive.max_rank))
            .csv_only()
            .shown_for_several(10, "at", 5, |_, calls| {
                cell_of_ranks(calls, || calls.over_ranks.exclusive.max_rank.to_string())
            }),
        OfCalls::new("imbalance", |_, CallStatistics { over_ranks, .. }| {
            Datum::float(over_ranks.imbalance(&over_ranks.exclusive))
        })
        .csv_only()
        .shown_for_several(11, "imbal", 2, |_, CallStatistics { over_ranks, .. }| {
            let imbalance = over_ranks.imbalance(&over_ranks.exclusive);
            imbalance.map_or_else(|| "-".to_owned(), percent_cell)
        }),
        OfCalls::new("lost_ns", |_, CallStatistics { over_ranks, .. }| {
            Datum::Integer(over_ranks.lost_ns(&over_ranks.exclusive))
        })
        .csv_only(),
    ];

/// A pair of ranks, and the bytes of all pairs together.
struct PairOf {
    pair: Peers,
    all_bytes: u128,
}

type OfPair = Column<PairOf>;

const PEERS: [OfPair; 8] =
    [
        OfPair::new("from", |_, PairOf { pair, .. }| rank_datum(pair.from)).shown(
            1,
            "from",
            0,
            |_, PairOf { pair, .. }| rank_cell(pair.from),
        ),
        OfPair::new("to", |_, PairOf { pair, .. }| rank_datum(pair.to)).shown(
            2,
            "to",
            0,
            |_, PairOf { pair, .. }| rank_cell(pair.to),
        ),
        OfPair::new("share", |_, of| Datum::Float(of.share())).csv_only().shown(
            5,
            "share",
            0,
            |_, of| percent_cell(of.share()),
        ),
        OfPair::new("messages_out", |_, PairOf { pair, .. }| Datum::integer(pair.out.count)).shown(
            3,
            "messages",
            0,
            |_, PairOf { pair, .. }| count_cell(pair.messages()),
        ),
        OfPair::new("bytes_out", |_, PairOf { pair, .. }| Datum::integer(pair.out.bytes)).shown(
            4,
            "sent",
            0,
            |_, PairOf { pair, .. }| bytes_cell(pair.out),
        ),
        OfPair::new("messages_in", |_, PairOf { pair, .. }| Datum::integer(pair.into_rank.count)),
        OfPair::new("bytes_in", |_, PairOf { pair, .. }| Datum::integer(pair.into_rank.bytes))
            .shown(7, "received", 2, |_, PairOf { pair, .. }| bytes_cell(pair.into_rank)),
        OfPair::new("mean_bytes", |_, PairOf { pair, .. }| {
            Datum::float(mean_bytes(pair.traffic()))
        })
        .csv_only()
        .shown(6, "mean size", 1, |_, PairOf { pair, .. }| size_cell(pair.traffic())),
    ];

/// The headings of the CSV. Cells without a meaning for a row are empty.
const CSV: [&str; 20] = [
    "table",
    "name",
    "path",
    "from",
    "to",
    "ranks",
    "calls",
    "time_ns",
    "share",
    "messages_out",
    "bytes_out",
    "messages_in",
    "bytes_in",
    "mean_bytes",
    "min_ns",
    "mean_ns",
    "max_ns",
    "max_rank",
    "imbalance",
    "lost_ns",
];

/// The number of headings that a table of calls, or of pairs, has no columns for.
const FIRST: usize = 3;

/// The MPI calls of a profile: functions, call sites, and pairs of ranks, the costliest first.
///
/// Calls, times and bytes are those of all ranks together, and the share is a part of the time
/// without start-up ([`TimeBase`](tinyprof_report::TimeBase)). Minimum, mean, maximum and imbalance
/// compare the times of the ranks that made such calls. The mean size is that of a message or
/// operation. For pairs of ranks, the share is that of the bytes of all messages.
///
/// The CSV has all functions, then all call sites, then all pairs of ranks, as its first column
/// says. The JSON has
///
/// * `functions`: `name`, `calls`, and `time_ns`, summed over ranks; `bytes_out` and `bytes_in`,
///   with files.
/// * `call_sites`: the same, with the `path` of the callpath and its `id`.
/// * `peers`: the messages `from` a rank `to` another, null where it is not known; `out` as the
///   sender counts them, `in` as the receiver does.
#[derive(Clone, Copy, Debug)]
pub struct MpiView<'a> {
    report: &'a Report,
    calls: &'a MpiCalls,
    count: usize,
}

impl<'a> MpiView<'a> {
    /// Returns the tables of these calls of the report's profile, whose text has `count` lines of
    /// each.
    #[must_use]
    pub const fn new(report: &'a Report, calls: &'a MpiCalls, count: usize) -> Self {
        Self { report, calls, count }
    }

    fn pairs(&self) -> impl Iterator<Item = PairOf> + 'a {
        let peers = &self.calls.peers;
        let all_bytes = peers.iter().map(|pair| u128::from(pair.bytes())).sum();
        peers.iter().map(move |pair| PairOf { pair: *pair, all_bytes })
    }

    fn function_json(&self, MpiFunction { name, calls }: &MpiFunction) -> Value {
        let mut json = self.calls_json(calls);
        json["name"] = name.as_str().into();
        json
    }

    fn site_json(&self, site: &MpiCallSite) -> Value {
        let callpath = self.report.callpaths.get(site.callpath);
        let mut json = self.calls_json(&site.calls);
        json["name"] = site.function.as_str().into();
        json["path"] = path(self.report, site.callpath).into();
        json["id"] = format!("{:016x}", callpath.id.to_bits()).into();
        json
    }

    fn calls_json(&self, calls: &CallStatistics) -> Value {
        let kinds = MessageKind::ALL.into_iter().map(|kind| (kind, calls.transfers.of_kind(kind)));
        let kinds = kinds.filter(|(_, traffic)| traffic.count > 0).map(|(kind, traffic)| {
            (kind.name().to_owned(), json!({ "count": traffic.count, "bytes": traffic.bytes }))
        });
        let mut json = row_json(&CALLS, self.report, calls);
        json["transfers"] = kinds.collect::<Map<String, Value>>().into();
        json["over_ranks_ns"] =
            spread_json(self.report, &calls.over_ranks, &calls.over_ranks.exclusive);
        json
    }

    /// Writes a line of CSV about calls.
    fn put_calls(
        &self,
        [table, name, path]: [&str; FIRST],
        calls: &CallStatistics,
        to: &mut dyn Write,
    ) -> io::Result<()> {
        let cells = cells_for(&CSV[FIRST..], &CALLS, self.report, calls);
        put(to, [table, name, path].map(str::to_owned).into_iter().chain(cells))
    }
}

impl View for MpiView<'_> {
    fn text(&self, width_columns: u16) -> String {
        let Self { report, calls, count } = *self;
        let width = usize::from(width_columns);
        let mut text = head(report, width);
        let Some(line) = mpi_line(report) else {
            return text + "no MPI calls were recorded\n";
        };
        for line in [line].into_iter().chain(startup_line(report)) {
            text.push_str(&wrapped(&line, " ", width));
        }
        let functions = calls.functions.iter().take(count);
        let functions: Vec<Line<'_, _>> =
            functions.map(|of| Line::new(&of.calls, |room| cut(&shown(&of.name), room))).collect();
        write_table(&mut text, report, &CALLS, &functions, "function", width);
        write_more(&mut text, calls.functions.len(), count, "function");
        let call_sites = calls.call_sites.iter().take(count);
        let call_sites: Vec<Line<'_, _>> = call_sites
            .map(|site| {
                Line::new(&site.calls, |room| cut(&shown_path(report, site.callpath, room), room))
            })
            .collect();
        write_table(&mut text, report, &CALLS, &call_sites, "call site", width);
        write_more(&mut text, calls.call_sites.len(), count, "call site");
        if calls.peers.is_empty() {
            return text;
        }
        let pairs: Vec<PairOf> = self.pairs().take(count).collect();
        let pairs: Vec<Line<'_, _>> = pairs.iter().map(Line::unnamed).collect();
        write_table(&mut text, report, &PEERS, &pairs, "", width);
        write_more(&mut text, calls.peers.len(), count, "pair");
        text
    }

    fn json(&self) -> LongJson<'_> {
        let Self { report, calls, .. } = *self;
        let functions = calls.functions.iter().map(|function| self.function_json(function));
        let call_sites = calls.call_sites.iter().map(|site| self.site_json(site));
        let members = json!({
            "name": report.name,
            "ranks": report.ranks,
            "total_inclusive_ns": integer(report.base.ns()),
            "startup_ns": integer(report.base.startup_ns()),
            "mpi": mpi_json(report),
            "functions": functions.collect::<Vec<_>>(),
            "call_sites": call_sites.collect::<Vec<_>>(),
        });
        LongJson::new(members, "peers", || self.pairs().map(|pair| row_json(&PEERS, report, &pair)))
    }

    fn write_csv(&self, to: &mut dyn Write) -> io::Result<()> {
        put(to, CSV)?;
        for MpiFunction { name, calls } in &self.calls.functions {
            self.put_calls(["function", name, ""], calls, to)?;
        }
        for site in &self.calls.call_sites {
            let path = path(self.report, site.callpath).unwrap_or_default();
            self.put_calls(["call_site", &site.function, &path], &site.calls, to)?;
        }
        for pair in self.pairs() {
            let cells = cells_for(&CSV[FIRST..], &PEERS, self.report, &pair);
            put(to, ["peers", "", ""].map(str::to_owned).into_iter().chain(cells))?;
        }
        Ok(())
    }
}

/// Returns the MPI calls of a run as JSON; null without any.
#[must_use]
pub fn mpi_json(report: &Report) -> Value {
    let Some(usage) = report.mpi_usage() else { return Value::Null };
    let (out, into_rank) = (usage.transfers.out(), usage.transfers.into_rank());
    let messages = usage.transfers.of_kind(MessageKind::MessageOut);
    json!({
        "calls": usage.calls,
        "time_ns": integer(usage.time_ns),
        "share": report.base.share(usage.time_ns),
        "unfollowed_ns": report.unfollowed.as_ref().map(|all| integer(all.ns())),
        "messages": messages.count,
        "bytes_out": out.bytes,
        "bytes_in": into_rank.bytes,
        "functions": usage.functions.iter().map(|(name, ns)| json!({
            "name": name,
            "time_ns": integer(*ns),
            "share": report.base.share(*ns),
        })).collect::<Vec<_>>(),
    })
}

impl PairOf {
    fn share(&self) -> f64 {
        ratio(self.pair.bytes().into(), self.all_bytes)
    }
}

fn of_ranks(calls: &CallStatistics, n: impl Into<u128>) -> Datum {
    if calls.over_ranks.ranks == 0 { Datum::None } else { Datum::integer(n) }
}

fn cell_of_ranks(calls: &CallStatistics, cell: impl FnOnce() -> String) -> String {
    if calls.over_ranks.ranks == 0 { "-".to_owned() } else { cell() }
}

fn rank_datum(rank: Option<u32>) -> Datum {
    rank.map_or(Datum::None, Datum::integer)
}

fn rank_cell(rank: Option<u32>) -> String {
    rank.map_or_else(|| "-".to_owned(), |rank| rank.to_string())
}

fn bytes_cell(traffic: Traffic) -> String {
    if traffic.count == 0 { "-".to_owned() } else { data_cell(traffic.bytes) }
}

fn size_cell(traffic: Traffic) -> String {
    let mean = mean_bytes(traffic).map(|mean| u64::try_from(whole(mean)).unwrap_or(u64::MAX));
    mean.map_or_else(|| "-".to_owned(), data_cell)
}

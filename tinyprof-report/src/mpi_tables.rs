//! The MPI calls of a profile as tables, for people, as CSV and as JSON.

use std::io::{self, Write};

use serde_json::{Value, json};
use tinyprof_format::model::{MessageKind, Traffic};

use super::json::integer;
use super::lines::{Column, Line, write_more, write_table};
use super::names::{cut, shown, wrapped};
use super::tables::{number, put};
use super::transfers::mean_bytes;
use super::units::{count_cell, data_cell, percent_cell, ratio, rounded, time_cell, whole};
use super::{CallStatistics, LongJson, MpiCallSite, MpiCalls, MpiFunction, Peers, Report};

/// The columns of calls, with the order in which a narrow table leaves them out: the greatest
/// number first, 0 never.
const CALLS: [Column; 11] = [
    Column::number("calls", 0),
    Column::number("time", 0),
    Column::number("share", 0),
    Column::number("out", 0),
    Column::number("in", 0),
    Column::number("mean size", 1),
    Column::number("min", 6),
    Column::number("mean", 4),
    Column::number("max", 3),
    Column::number("at", 5),
    Column::number("imbal", 2),
];

/// The position of the first column that compares ranks.
const SPREAD: usize = 6;

/// The columns of pairs of ranks.
const PEERS: [Column; 7] = [
    Column::number("from", 0),
    Column::number("to", 0),
    Column::number("messages", 0),
    Column::number("sent", 0),
    Column::number("share", 0),
    Column::number("mean size", 1),
    Column::number("received", 2),
];

/// The columns of the CSV. Cells without a meaning for a row are empty.
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

impl Report {
    /// Returns the MPI calls of this report's profile as text of `width_columns` columns: the
    /// `count` costliest functions, call sites, and pairs of ranks.
    ///
    /// Calls, times and bytes are those of all ranks together, and the share is a part of the time
    /// without start-up ([`TimeBase`](crate::TimeBase)). Minimum, mean, maximum and imbalance
    /// compare the times of the ranks that made such calls. The mean size is that of a message or
    /// operation. For pairs of ranks, the share is that of the bytes of all messages. Columns are
    /// aligned, control characters in names are escaped, and every line ends in a newline.
    #[must_use]
    pub fn to_mpi_text(&self, calls: &MpiCalls, count: usize, width_columns: u16) -> String {
        let width = usize::from(width_columns);
        let mut text = wrapped(&self.head(width), ", ", width);
        let Some(line) = self.mpi_line() else {
            return text + "no MPI calls were recorded\n";
        };
        for line in [line].into_iter().chain(self.startup_line()) {
            text.push_str(&wrapped(&line, " ", width));
        }
        let shown_columns = if self.ranks > 1 { &CALLS[..] } else { &CALLS[..SPREAD] };
        let functions = calls.functions.iter().take(count);
        let functions: Vec<Line<'_>> = functions
            .map(|function| Line {
                cells: self.call_cells(&function.calls),
                name: Box::new(|room| cut(&shown(&function.name), room)),
            })
            .collect();
        write_table(&mut text, shown_columns, "function", &functions, width);
        write_more(&mut text, calls.functions.len(), count, "function");
        let call_sites = calls.call_sites.iter().take(count);
        let call_sites: Vec<Line<'_>> = call_sites
            .map(|site| Line {
                cells: self.call_cells(&site.calls),
                name: Box::new(|room| cut(&self.shown_path(site.callpath, room), room)),
            })
            .collect();
        write_table(&mut text, shown_columns, "call site", &call_sites, width);
        write_more(&mut text, calls.call_sites.len(), count, "call site");
        if calls.peers.is_empty() {
            return text;
        }
        let bytes = bytes_of(&calls.peers);
        let peers = calls.peers.iter().take(count);
        let peers: Vec<Line<'_>> = peers
            .map(|pair| Line { cells: peer_cells(pair, bytes), name: Box::new(|_| String::new()) })
            .collect();
        write_table(&mut text, &PEERS, "", &peers, width);
        write_more(&mut text, calls.peers.len(), count, "pair");
        text
    }

    /// Writes the MPI calls of this report's profile as CSV, line by line: all functions, then all
    /// call sites, then all pairs of ranks, as the first column says.
    ///
    /// # Errors
    /// If `to` cannot be written.
    pub fn write_mpi_csv(&self, calls: &MpiCalls, to: &mut dyn Write) -> io::Result<()> {
        put(to, CSV)?;
        for MpiFunction { name, calls } in &calls.functions {
            put(to, self.call_line(["function", name, ""], calls))?;
        }
        for site in &calls.call_sites {
            let path = self.path(site.callpath).unwrap_or_default();
            put(to, self.call_line(["call_site", &site.function, &path], &site.calls))?;
        }
        let bytes = bytes_of(&calls.peers);
        for pair in &calls.peers {
            let rank = |rank: Option<u32>| rank.map_or_else(String::new, |rank| rank.to_string());
            let traffic = [
                ratio(pair.bytes().into(), bytes).to_string(),
                pair.out.count.to_string(),
                pair.out.bytes.to_string(),
                pair.into_rank.count.to_string(),
                pair.into_rank.bytes.to_string(),
                number(mean_bytes(pair.traffic())),
            ];
            let first = ["peers".to_owned(), String::new(), String::new()].into_iter();
            let ranks = [rank(pair.from), rank(pair.to)].into_iter();
            let none = || std::iter::repeat_with(String::new);
            put(to, first.chain(ranks).chain(none().take(3)).chain(traffic).chain(none().take(6)))?;
        }
        Ok(())
    }

    /// Returns the MPI calls of this report's profile as JSON that is generated while it is
    /// written.
    ///
    /// * `functions`: `name`, `calls`, and `time_ns`, summed over ranks; `bytes_out` and
    ///   `bytes_in`, with files.
    /// * `call_sites`: the same, with the `path` of the callpath and its `id`.
    /// * `peers`: the messages `from` a rank `to` another, null where it is not known; `out` as the
    ///   sender counts them, `in` as the receiver does.
    #[must_use]
    pub fn mpi_calls_json<'a>(&'a self, calls: &'a MpiCalls) -> LongJson<'a> {
        let function = |MpiFunction { name, calls }: &MpiFunction| {
            let mut json = self.call_json(calls);
            json["name"] = name.as_str().into();
            json
        };
        let members = json!({
            "name": self.name,
            "ranks": self.ranks,
            "total_inclusive_ns": integer(self.base.ns()),
            "startup_ns": integer(self.base.startup_ns()),
            "mpi": self.mpi_json(),
            "functions": calls.functions.iter().map(function).collect::<Vec<_>>(),
            "call_sites": calls.call_sites.iter().map(|site| self.site_json(site)).collect::<Vec<_>>(),
        });
        LongJson::new(members, "peers", || {
            calls.peers.iter().map(|pair| {
                json!({
                    "from": pair.from,
                    "to": pair.to,
                    "messages_out": pair.out.count,
                    "bytes_out": pair.out.bytes,
                    "messages_in": pair.into_rank.count,
                    "bytes_in": pair.into_rank.bytes,
                })
            })
        })
    }

    fn site_json(&self, site: &MpiCallSite) -> Value {
        let callpath = self.callpaths.get(site.callpath);
        let mut json = self.call_json(&site.calls);
        json["name"] = site.function.as_str().into();
        json["path"] = self.path(site.callpath).into();
        json["id"] = format!("{:016x}", callpath.id.to_bits()).into();
        json
    }

    fn call_json(&self, calls: &CallStatistics) -> Value {
        let (out, into_rank) = (calls.transfers.out(), calls.transfers.into_rank());
        let kinds = MessageKind::ALL.into_iter().map(|kind| (kind, calls.transfers.of_kind(kind)));
        let kinds = kinds.filter(|(_, traffic)| traffic.count > 0).map(|(kind, traffic)| {
            (kind.name().to_owned(), json!({ "count": traffic.count, "bytes": traffic.bytes }))
        });
        json!({
            "ranks": calls.over_ranks.ranks,
            "calls": calls.over_ranks.visits,
            "time_ns": integer(calls.time_ns()),
            "share": self.base.share(calls.worked_ns()),
            "bytes_out": out.bytes,
            "bytes_in": into_rank.bytes,
            "mean_bytes": mean_bytes(calls.transfers.total()),
            "transfers": kinds.collect::<serde_json::Map<String, Value>>(),
            "over_ranks_ns": self.spread_json(&calls.over_ranks, &calls.over_ranks.exclusive),
        })
    }

    fn call_cells(&self, calls: &CallStatistics) -> Vec<String> {
        let row = &calls.over_ranks;
        let time = &row.exclusive;
        let all = calls.transfers.total();
        let of_ranks = |cell: &dyn Fn() -> String| match row.ranks {
            0 => "-".to_owned(),
            _ => cell(),
        };
        vec![
            count_cell(row.visits),
            time.cell(None),
            self.base.cell(time.sum_ns, calls.startup_ns),
            bytes_cell(calls.transfers.out()),
            bytes_cell(calls.transfers.into_rank()),
            size_cell(all),
            of_ranks(&|| time_cell(time.min_ns.into())),
            of_ranks(&|| time_cell(rounded(time.sum_ns, row.ranks.into()))),
            of_ranks(&|| time_cell(time.max_ns.into())),
            of_ranks(&|| time.max_rank.to_string()),
            row.imbalance(time).map_or_else(|| "-".to_owned(), percent_cell),
        ]
    }

    fn call_line(&self, [table, name, path]: [&str; 3], calls: &CallStatistics) -> [String; 20] {
        let (row, time) = (&calls.over_ranks, &calls.over_ranks.exclusive);
        let (out, into_rank) = (calls.transfers.out(), calls.transfers.into_rank());
        let of_ranks = |n: u64| if row.ranks == 0 { String::new() } else { n.to_string() };
        [
            table.to_owned(),
            name.to_owned(),
            path.to_owned(),
            String::new(),
            String::new(),
            row.ranks.to_string(),
            row.visits.to_string(),
            time.sum_ns.to_string(),
            self.base.share(calls.worked_ns()).to_string(),
            out.count.to_string(),
            out.bytes.to_string(),
            into_rank.count.to_string(),
            into_rank.bytes.to_string(),
            number(mean_bytes(calls.transfers.total())),
            of_ranks(time.min_ns),
            number(row.mean_ns(time)),
            of_ranks(time.max_ns),
            of_ranks(time.max_rank.into()),
            number(row.imbalance(time)),
            row.lost_ns(time).to_string(),
        ]
    }
}

fn peer_cells(pair: &Peers, bytes: u128) -> Vec<String> {
    let rank = |rank: Option<u32>| rank.map_or_else(|| "-".to_owned(), |rank| rank.to_string());
    vec![
        rank(pair.from),
        rank(pair.to),
        count_cell(pair.messages()),
        bytes_cell(pair.out),
        percent_cell(ratio(pair.bytes().into(), bytes)),
        size_cell(pair.traffic()),
        bytes_cell(pair.into_rank),
    ]
}

fn bytes_of(peers: &[Peers]) -> u128 {
    peers.iter().map(|pair| u128::from(pair.bytes())).sum()
}

fn bytes_cell(traffic: Traffic) -> String {
    if traffic.count == 0 { "-".to_owned() } else { data_cell(traffic.bytes) }
}

fn size_cell(traffic: Traffic) -> String {
    let mean = mean_bytes(traffic).map(|mean| u64::try_from(whole(mean)).unwrap_or(u64::MAX));
    mean.map_or_else(|| "-".to_owned(), data_cell)
}

//! OpenMetrics text: the report's numbers for each callpath, for monitoring. A rank is never a
//! label, since a monitor keeps a time series for each combination of labels forever.

use std::error::Error;
use std::io::{self, Write};

use tinyprof_format::model::{CallpathTable, MessageKind, MetricSummary, Traffic};
use tinyprof_report::{RankStatistics, Spread};

use super::exporter::{Exporter, Notes, Request, Source};
use super::paths;
use super::samples::{family, quoted, seconds, value};
use super::summary::Summary;

pub(super) struct OpenMetrics;

type SpreadOf = fn(&RankStatistics) -> &Spread;

/// The two times of a callpath.
const TIMES: [(&str, &str, SpreadOf); 2] = [
    ("inclusive", "Time from entry to exit", |row| &row.inclusive),
    ("exclusive", "Time without what the callpath calls", |row| &row.exclusive),
];

type NumberOf = fn(&MetricSummary) -> f64;

/// The numbers of a varying metric.
const METRICS: [(&str, NumberOf); 3] =
    [("sum", |metric| metric.sum), ("min", |metric| metric.min), ("max", |metric| metric.max)];

impl Exporter for OpenMetrics {
    fn export(
        &self,
        request: &Request<'_>,
        out: &mut (dyn Write + Send),
    ) -> Result<Notes, Box<dyn Error>> {
        let source = request.source()?;
        let labels = labels(source.callpaths())?;
        let summary = Summary::of(&source)?;
        let rows: Vec<(&String, RankStatistics)> =
            labels.iter().zip(summary.statistics.rows()).filter(|(_, row)| row.ranks > 0).collect();
        run(out, &source, &summary)?;
        family(out, "tinyprof_callpath_ranks", "gauge", "Ranks that visited the callpath")?;
        for (label, row) in &rows {
            writeln!(out, "tinyprof_callpath_ranks{{{label}}} {}", row.ranks)?;
        }
        family(out, "tinyprof_callpath_visits", "gauge", "Visits on all ranks together")?;
        for (label, row) in &rows {
            writeln!(out, "tinyprof_callpath_visits{{{label}}} {}", row.visits)?;
        }
        for (time, help, spread) in TIMES {
            times(out, time, help, &rows, spread)?;
        }
        metrics(out, &summary, &labels)?;
        messages(out, &summary, &labels)?;
        out.write_all(b"# EOF\n")?;
        Ok(Notes::new())
    }
}

/// Writes the facts of the run.
fn run(out: &mut (dyn Write + Send), source: &Source<'_>, summary: &Summary) -> io::Result<()> {
    let manifest = source.manifest();
    let metadata = &manifest.metadata;
    family(out, "tinyprof_run", "info", "The run that the profile is of")?;
    writeln!(
        out,
        "tinyprof_run_info{{profile={},executable={},cluster={},user={},complete=\"{}\",precision=\"{}\"}} 1",
        quoted(&source.name),
        quoted(&metadata.executable),
        quoted(&metadata.cluster),
        quoted(&metadata.user),
        manifest.complete,
        source.precision(),
    )?;
    for (name, help, number) in [
        ("tinyprof_ranks", "Ranks of the profile", u64::from(manifest.ranks)),
        ("tinyprof_hosts", "Hosts of the profile", metadata.numhosts.into()),
        (
            "tinyprof_executions",
            "Visits of root regions that are kept apart",
            manifest.executions.into(),
        ),
        (
            "tinyprof_launch_timestamp_seconds",
            "When the run began, since 1970",
            metadata.launchdate,
        ),
    ] {
        family(out, name, "gauge", help)?;
        writeln!(out, "{name} {number}")?;
    }
    for (name, number) in summary.efficiency() {
        let name = format!("tinyprof_efficiency_{name}_ratio");
        family(out, &name, "gauge", "Use of the ranks, by the POP project's definition")?;
        writeln!(out, "{name} {}", value(number))?;
    }
    let times = summary.statistics.times();
    for (name, help, sum_ns, is_known) in [
        ("wall", "Time since measurement began", times.wall_ns, times.wall_ns > 0),
        ("busy", "Processor time", times.cpu_ns, times.wall_ns > 0),
        ("threads", "Time of the recorded threads", times.threads_ns, times.threads_ns > 0),
        (
            "delay",
            "Time in which recorded threads were ready to run, but had no processor",
            times.delay_ns,
            times.threads_ns > 0,
        ),
    ] {
        if is_known {
            let name = format!("tinyprof_processor_{name}_seconds");
            family(out, &name, "gauge", &format!("{help}, all ranks together"))?;
            writeln!(out, "{name} {}", seconds(sum_ns))?;
        }
    }
    family(out, "tinyprof_losses", "gauge", "What was dropped, folded or left open, by kind")?;
    for (kind, count) in manifest.losses.named() {
        writeln!(out, "tinyprof_losses{{kind=\"{kind}\"}} {count}")?;
    }
    Ok(())
}

/// Writes sum, minimum, mean and maximum over the ranks that visited.
fn times(
    out: &mut (dyn Write + Send),
    time: &str,
    help: &str,
    rows: &[(&String, RankStatistics)],
    spread: SpreadOf,
) -> io::Result<()> {
    for (statistic, over) in [
        ("sum", "all ranks together"),
        ("min", "the fastest rank"),
        ("mean", "mean per rank that visited it"),
        ("max", "the slowest rank"),
    ] {
        let name = format!("tinyprof_{time}_{statistic}_seconds");
        family(out, &name, "gauge", &format!("{help}, {over}"))?;
        for (label, row) in rows {
            let spread = spread(row);
            let seconds = match statistic {
                "sum" => seconds(spread.sum_ns),
                "min" => seconds(spread.min_ns.into()),
                "max" => seconds(spread.max_ns.into()),
                _ => row.mean_ns(spread).map_or_else(String::new, |ns| (ns / 1e9).to_string()),
            };
            writeln!(out, "{name}{{{label}}} {seconds}")?;
        }
    }
    Ok(())
}

fn metrics(out: &mut (dyn Write + Send), summary: &Summary, labels: &[String]) -> io::Result<()> {
    for (statistic, number) in METRICS {
        let name = format!("tinyprof_metric_{statistic}");
        family(
            out,
            &name,
            "gauge",
            &format!("The {statistic} of a varying metric over all ranks, in its own unit"),
        )?;
        for (&row, metrics) in &summary.metrics {
            for (key, metric) in metrics {
                writeln!(
                    out,
                    "{name}{{{},metric={}}} {}",
                    labels[row],
                    quoted(key),
                    value(number(metric))
                )?;
            }
        }
    }
    Ok(())
}

/// The kinds of messages, out and in, by the value of their label.
const KINDS: [(&str, [MessageKind; 2]); 4] = [
    ("message", [MessageKind::MessageOut, MessageKind::MessageIn]),
    ("collective", [MessageKind::CollectiveOut, MessageKind::CollectiveIn]),
    ("one_sided", [MessageKind::OneSidedOut, MessageKind::OneSidedIn]),
    ("file", [MessageKind::FileOut, MessageKind::FileIn]),
];

/// Writes the messages and bytes of each callpath, summed over ranks. Sums without any message are
/// left out.
fn messages(out: &mut (dyn Write + Send), summary: &Summary, labels: &[String]) -> io::Result<()> {
    if !summary.has_messages() {
        return Ok(());
    }
    let mut rows: Vec<(String, Traffic)> = Vec::new();
    for (&row, transfers) in &summary.transfers {
        let label = &labels[row];
        for (kind, kinds) in KINDS {
            for (direction, of_direction) in ["out", "in"].into_iter().zip(kinds) {
                let traffic = transfers.of_kind(of_direction);
                if traffic.count > 0 {
                    let labels = format!("{label},kind=\"{kind}\",direction=\"{direction}\"");
                    rows.push((labels, traffic));
                }
            }
        }
    }
    let name = "tinyprof_mpi_messages";
    family(out, name, "counter", "Messages, and other transfers, of all ranks together")?;
    for (labels, traffic) in &rows {
        writeln!(out, "{name}_total{{{labels}}} {}", traffic.count)?;
    }
    let name = "tinyprof_mpi_bytes";
    family(
        out,
        name,
        "counter",
        "Bytes of messages, and of other transfers, of all ranks together",
    )?;
    for (labels, traffic) in &rows {
        writeln!(out, "{name}_total{{{labels}}} {}", traffic.bytes)?;
    }
    Ok(())
}

/// Returns labels that identify each callpath. The path alone does not, since siblings may have the
/// same name.
fn labels(callpaths: &CallpathTable) -> Result<Vec<String>, String> {
    let paths = paths::plain(callpaths)?;
    let rows = callpaths.rows().iter().zip(paths);
    Ok(rows
        .map(|(row, path)| format!("callpath={},id=\"{:016x}\"", quoted(&path), row.id.to_bits()))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages_example as example;

    #[test]
    fn messages_are_counters_by_kind_and_direction() {
        let request = Request::of_profile("run", example::profile(4));
        let mut text = Vec::new();
        OpenMetrics.export(&request, &mut text).expect("it is written");
        let text = String::from_utf8(text).expect("text");
        let of = |family: &str, labels: &str| {
            let line = |line: &&str| {
                line.starts_with(&format!("{family}{{callpath="))
                    && line.contains(&format!(",{labels}}}"))
            };
            text.lines()
                .filter(line)
                .map(|line| line.rsplit_once(' ').map(|(_, n)| n))
                .collect::<Vec<_>>()
        };
        let check = |labels, messages, bytes| {
            assert_eq!(of("tinyprof_mpi_messages_total", labels), messages, "{labels}");
            assert_eq!(of("tinyprof_mpi_bytes_total", labels), bytes, "{labels}");
        };
        check("kind=\"message\",direction=\"in\"", vec![Some("54")], vec![Some("366000")]);
        check("kind=\"collective\",direction=\"in\"", vec![Some("12")], vec![Some("96")]);
        check("kind=\"file\",direction=\"out\"", vec![Some("4")], vec![Some("4194304")]);
        check("kind=\"file\",direction=\"in\"", vec![], vec![]);
        assert!(
            text.contains("# TYPE tinyprof_mpi_bytes counter\n# UNIT tinyprof_mpi_bytes bytes\n")
        );
    }

    #[test]
    fn the_efficiency_is_that_of_the_report() {
        let profile = example::profile(4);
        let expected = tinyprof_report::Efficiency::of_profile(&profile).expect("there are tags");
        let mut text = Vec::new();
        let request = Request::of_profile("run", profile);
        OpenMetrics.export(&request, &mut text).expect("it is written");
        let text = String::from_utf8(text).expect("text");
        for (name, number) in [
            ("parallel", expected.parallel.expect("there is communication")),
            ("load_balance", expected.load_balance),
            ("communication", expected.communication.expect("there is communication")),
            ("io_share", expected.io_share),
        ] {
            let line = format!("\ntinyprof_efficiency_{name}_ratio {number}\n");
            assert!(text.contains(&line), "{line}: {text}");
        }
    }
}

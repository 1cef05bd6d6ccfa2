//! The efficiency of one run, or of several beside each other, as the POP project defines it.

use std::io::{self, Write};

use serde_json::{Value, json};
use tinyprof_report::cells::{columns, cut, percent_cell, shown};
use tinyprof_report::{Counters, Efficiency, Report, Scalability};

use crate::csv::put;
use crate::json_list::LongJson;
use crate::view::View;

/// The maximum width of a run's name, in columns.
const NAME_COLUMNS: usize = 24;

/// The efficiency of several runs. Scalability is relative to the first.
#[derive(Clone, Copy, Debug)]
pub struct EfficiencyView<'a> {
    runs: &'a [Report],
}

/// A number of a run.
struct Row {
    key: &'static str,
    name: &'static str,
    /// The factors of a number are below it.
    depth: usize,
    is_percent: bool,
    of: fn(&Facts) -> Option<f64>,
}

/// The facts of a run, as far as they are known.
struct Facts {
    efficiency: Option<Efficiency>,
    scalability: Option<Scalability>,
    counters: Option<Counters>,
    ranks: u32,
    threads: Option<f64>,
    busy_threads: Option<f64>,
}

const fn row(
    (key, name, depth): (&'static str, &'static str, usize),
    is_percent: bool,
    of: fn(&Facts) -> Option<f64>,
) -> Row {
    Row { key, name, depth, is_percent, of }
}

const ROWS: [Row; 17] = [
    row(("ranks", "ranks", 0), false, |of| Some(f64::from(of.ranks))),
    row(("threads", "threads of a rank", 0), false, |of| of.threads),
    row(("busy_threads", "busy at a time", 1), false, |of| of.busy_threads),
    row(("global", "global efficiency", 0), true, |of| {
        Some(of.efficiency?.parallel? * of.scalability?.computation)
    }),
    row(("parallel", "parallel efficiency", 1), true, |of| of.efficiency?.parallel),
    row(("load_balance", "load balance", 2), true, |of| Some(of.efficiency?.load_balance)),
    row(("communication", "communication", 2), true, |of| of.efficiency?.communication),
    row(("serialisation", "serialisation", 3), true, |of| of.efficiency?.serialisation),
    row(("transfer", "transfer", 3), true, |of| of.efficiency?.transfer),
    row(("processors", "processors", 2), true, |of| of.efficiency?.processors),
    row(("computation", "computation scalability", 1), true, |of| {
        Some(of.scalability?.computation)
    }),
    row(("instruction_scalability", "instructions", 2), true, |of| {
        Some(of.scalability?.factors?.instructions)
    }),
    row(("instructions_per_cycle_scalability", "instructions per cycle", 2), true, |of| {
        Some(of.scalability?.factors?.instructions_per_cycle)
    }),
    row(("frequency_scalability", "frequency", 2), true, |of| {
        Some(of.scalability?.factors?.frequency)
    }),
    row(("instructions_per_cycle", "instructions per cycle", 0), false, |of| {
        Some(of.counters?.instructions_per_cycle())
    }),
    row(("gigahertz", "GHz", 0), false, |of| Some(of.counters?.gigahertz())),
    row(("io_share", "input and output", 0), true, |of| {
        of.efficiency.map(|found| found.io_share).filter(|&share| share > 0.0)
    }),
];

impl Facts {
    fn of(base: &Report, run: &Report) -> Self {
        let times = run.statistics.times();
        let busy = || tinyprof_report::cells::ratio(times.cpu_ns, times.wall_ns);
        Self {
            efficiency: run.efficiency,
            scalability: run.scalability(base),
            counters: run.counters(),
            ranks: run.ranks,
            threads: times.threads_at_work_of_a_rank(),
            busy_threads: (times.wall_ns > 0).then(busy),
        }
    }
}

impl<'a> EfficiencyView<'a> {
    /// Returns the table of some runs.
    #[must_use]
    pub const fn new(runs: &'a [Report]) -> Self {
        Self { runs }
    }

    fn facts(&self) -> Vec<Facts> {
        let base = self.runs.first().into_iter();
        base.flat_map(|base| self.runs.iter().map(|run| Facts::of(base, run))).collect()
    }
}

impl Row {
    fn cell(&self, facts: &Facts) -> String {
        match (self.of)(facts) {
            None => "-".to_owned(),
            Some(part) if self.is_percent => percent_cell(part),
            Some(number) if number.fract() == 0.0 => format!("{number:.0}"),
            Some(number) => format!("{number:.2}"),
        }
    }
}

impl View for EfficiencyView<'_> {
    fn text(&self, _: u16) -> String {
        let facts = self.facts();
        let names = self.runs.iter().map(|run| cut(&shown(&run.name), NAME_COLUMNS));
        let mut lines: Vec<Vec<String>> =
            vec![std::iter::once(String::new()).chain(names).collect()];
        for row in &ROWS {
            if facts.iter().all(|of| (row.of)(of).is_none()) {
                continue;
            }
            let name = "  ".repeat(row.depth) + row.name;
            lines.push(std::iter::once(name).chain(facts.iter().map(|of| row.cell(of))).collect());
        }
        let width = |at: usize| lines.iter().map(|line| columns(&line[at])).max().unwrap_or(0);
        let widths: Vec<usize> = (0..=self.runs.len()).map(width).collect();
        let padding = |cell: &str, at: usize| " ".repeat(widths[at] - columns(cell));
        let mut text = String::new();
        for line in &lines {
            text.push_str(&format!("{}{}", line[0], padding(&line[0], 0)));
            for (at, cell) in line.iter().enumerate().skip(1) {
                text.push_str(&format!("  {}{cell}", padding(cell, at)));
            }
            text.push('\n');
        }
        text
    }

    fn json(&self) -> LongJson<'_> {
        let members = json!({ "base": self.runs.first().map(|run| &run.name) });
        LongJson::new(members, "runs", move || {
            let of_run = |(run, facts): (&Report, Facts)| {
                let mut entry = json!({ "name": run.name });
                for row in &ROWS {
                    entry[row.key] = (row.of)(&facts).map_or(Value::Null, Value::from);
                }
                entry
            };
            self.runs.iter().zip(self.facts()).map(of_run).collect::<Vec<_>>().into_iter()
        })
    }

    fn write_csv(&self, to: &mut dyn Write) -> io::Result<()> {
        let keys = ROWS.iter().map(|row| row.key.to_owned());
        put(to, std::iter::once("name".to_owned()).chain(keys))?;
        for (run, facts) in self.runs.iter().zip(self.facts()) {
            let number = |row: &Row| (row.of)(&facts).map_or_else(String::new, |of| of.to_string());
            put(to, std::iter::once(run.name.clone()).chain(ROWS.iter().map(number)))?;
        }
        Ok(())
    }
}

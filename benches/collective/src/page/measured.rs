//! Tables and plots of the measurements on this machine.

use std::path::Path;

use tinyprof_bench_collective::rows::{CostRow, FlushRow, median};

use super::Rows;
use tinyprof_bench_collective::document::plot::{Line, Words, draw};
use tinyprof_bench_collective::document::table::{Table, float, mb, ms, per};

/// The repetitions of one number of ranks and aggregators.
pub(super) struct Case<'a> {
    pub(super) ranks: u32,
    pub(super) aggregators: u32,
    rows: Vec<&'a FlushRow>,
}

impl Case<'_> {
    pub(super) fn median(&self, of: fn(&FlushRow) -> u64) -> u64 {
        median(self.rows.iter().map(|row| of(row)))
    }
}

/// Groups the rows by case, in the order of measurement.
pub(super) fn cases(rows: &[FlushRow]) -> Vec<Case<'_>> {
    let mut cases: Vec<Case<'_>> = Vec::new();
    for row in rows {
        match cases.iter_mut().find(|c| (c.ranks, c.aggregators) == (row.ranks, row.aggregators)) {
            Some(case) => case.rows.push(row),
            None => {
                cases.push(Case {
                    ranks: row.ranks,
                    aggregators: row.aggregators,
                    rows: vec![row],
                });
            }
        }
    }
    cases
}

pub(super) fn aggregators(rows: &[FlushRow]) -> String {
    let mut table = Table::new(&[
        "P",
        "A",
        "repetitions",
        "encode, ms",
        "1 synchronise, ms",
        "2 aggregate, ms",
        "3 write, ms",
        "flush, ms",
    ]);
    for case in cases(rows) {
        table.row(&[
            case.ranks.to_string(),
            case.aggregators.to_string(),
            case.rows.len().to_string(),
            ms(case.median(|row| row.encode_ns)),
            ms(case.median(|row| row.synchronise_ns)),
            ms(case.median(|row| row.aggregate_ns)),
            ms(case.median(|row| row.write_ns)),
            format!("**{}**", ms(case.median(|row| row.total_ns))),
        ]);
    }
    table.finish()
}

pub(super) fn strategies(rows: &[FlushRow]) -> String {
    let mut table = Table::new(&[
        "P",
        "A",
        "flush, ms",
        "profile, MB",
        "bytes a value",
        "processor time of a rank, ms",
        "of an aggregator, ms",
        "memory of a rank, MB",
        "of an aggregator, MB",
    ]);
    for case in cases(rows) {
        let what = match case.aggregators {
            1 if case.ranks == 1 => "1".to_owned(),
            1 => "1 (single file)".to_owned(),
            all if all == case.ranks => format!("{all} (file per process)"),
            some => format!("{some} (default)"),
        };
        let values = case.median(|row| row.values) * u64::from(case.ranks);
        let bytes = case.median(|row| row.bytes);
        let nobody = |number: u64, text: fn(u64) -> String| {
            if number == 0 { "-".to_owned() } else { text(number) }
        };
        table.row(&[
            case.ranks.to_string(),
            what,
            format!("**{}**", ms(case.median(|row| row.total_ns))),
            mb(bytes),
            per(bytes, values),
            nobody(case.median(|row| row.rank_cpu_ns), ms),
            ms(case.median(|row| row.aggregator_cpu_ns)),
            nobody(case.median(|row| row.rank_memory_bytes), mb),
            mb(case.median(|row| row.aggregator_memory_bytes)),
        ]);
    }
    table.finish()
}

pub(super) fn cost(rows: &[CostRow]) -> String {
    let mut table = Table::new(&[
        "values a rank",
        "ranks",
        "encode, ns a value",
        "messages, ns a value",
        "read, ns a value",
        "part, ns a value",
        "aggregator, s a rank-million",
        "bytes a value",
    ]);
    for row in rows {
        let all = row.values * u64::from(row.ranks);
        table.row(&[
            row.values.to_string(),
            row.ranks.to_string(),
            per(row.encode_ns, row.values),
            per(row.messages_ns, row.values),
            per(row.read_ns, all),
            per(row.part_ns, all),
            format!("{:.4}", float(row.read_ns + row.part_ns) / float(all) / 1e3),
            per(row.bytes, all),
        ]);
    }
    table.finish()
}

pub(super) fn plot(rows: &Rows, directory: &Path) -> Result<(), String> {
    let cases = cases(&rows.figure6);
    let mut ranks: Vec<u32> = cases.iter().map(|case| case.ranks).collect();
    ranks.dedup();
    let lines: Vec<Line> = ranks
        .iter()
        .map(|&ranks| Line {
            name: format!("{ranks} ranks"),
            points: cases
                .iter()
                .filter(|case| case.ranks == ranks)
                .map(|case| {
                    (f64::from(case.aggregators), float(case.median(|row| row.total_ns)) / 1e6)
                })
                .collect(),
        })
        .collect();
    let words = Words {
        title: "Flush, measured, more ranks than cores",
        x: "aggregators",
        y: "ms",
        names_in_the_middle: false,
    };
    draw(&directory.join("figure6.svg"), &words, &lines)?;
    let of = |name: &str, ns: fn(&CostRow) -> f64| Line {
        name: name.to_owned(),
        points: rows.cost.iter().map(|row| (float(row.values), ns(row) / 1e6)).collect(),
    };
    let lines = [
        of("a rank: encode and messages", |row| float(row.encode_ns + row.messages_ns)),
        of("an aggregator of 16 ranks", |row| float(row.read_ns + row.part_ns)),
    ];
    let words = Words {
        title: "Processor time of a flush, measured",
        x: "values a rank",
        y: "ms",
        names_in_the_middle: true,
    };
    draw(&directory.join("cost.svg"), &words, &lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_over_the_repetitions_of_a_case() {
        let row = |aggregators, total_ns| FlushRow {
            ranks: 4,
            aggregators,
            values: 10,
            series: "auto".to_owned(),
            uneven: 1,
            repetition: 0,
            encode_ns: 0,
            synchronise_ns: 0,
            aggregate_ns: 0,
            write_ns: 0,
            total_ns,
            bytes: 80,
            rank_cpu_ns: 0,
            aggregator_cpu_ns: 0,
            rank_memory_bytes: 0,
            aggregator_memory_bytes: 0,
        };
        let rows = [row(4, 3_000_000), row(1, 9_000_000), row(4, 5_000_000), row(4, 4_000_000)];
        let table = strategies(&rows);
        assert!(
            table.contains("| 4 | 4 (file per process) | **4.00** | 0.00 | 2.00 | - |"),
            "{table}"
        );
        assert!(table.contains("| 4 | 1 (single file) | **9.00** |"), "{table}");
    }
}

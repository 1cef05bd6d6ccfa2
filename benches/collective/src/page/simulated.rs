//! Tables and plots of the simulations.

use std::path::Path;

use tinyprof_bench_collective::rows::{ModelRow, PhaseRow};

use super::Rows;
use tinyprof_bench_collective::document::plot::{Line, Words, draw};
use tinyprof_bench_collective::document::table::{Table, float, kb, mb, ms};

/// Returns the total time of some phases, in nanoseconds.
pub(super) fn phase_ns(row: &ModelRow, names: &[&str]) -> u64 {
    row.phases
        .iter()
        .filter(|phase| names.contains(&phase.phase.as_str()))
        .map(|phase| phase.ns)
        .sum()
}

/// Returns the maximum of a quantity over some phases.
fn most(row: &ModelRow, names: &[&str], of: fn(&PhaseRow) -> u64) -> u64 {
    row.phases
        .iter()
        .filter(|phase| names.contains(&phase.phase.as_str()))
        .map(of)
        .max()
        .unwrap_or_default()
}

const COMPUTED: [&str; 1] = ["encode"];
pub(super) const SYNCHRONISE: [&str; 1] = ["synchronise"];
const AGGREGATE: [&str; 2] = ["announce", "aggregate"];
const WRITE: [&str; 4] = ["write", "unite", "finish", "tell"];

pub(super) fn phases(rows: &[ModelRow]) -> String {
    let mut table = Table::new(&[
        "case",
        "P",
        "A",
        "encode, ms",
        "1 synchronise, ms",
        "2 aggregate, ms",
        "3 write, ms",
        "flush, ms",
        "messages in 1",
        "in 2",
        "in 3",
        "kB in 1",
        "in 2",
        "in 3",
        "busiest rank, kB",
        "simulation, s",
        "its memory, MB",
    ]);
    for row in rows {
        table.row(&[
            row.case.clone(),
            row.ranks.to_string(),
            row.aggregators.to_string(),
            ms(phase_ns(row, &COMPUTED)),
            ms(phase_ns(row, &SYNCHRONISE)),
            ms(phase_ns(row, &AGGREGATE)),
            ms(phase_ns(row, &WRITE)),
            format!("**{}**", ms(row.total_ns)),
            most(row, &SYNCHRONISE, |phase| phase.messages).to_string(),
            most(row, &AGGREGATE, |phase| phase.messages).to_string(),
            most(row, &WRITE, |phase| phase.messages).to_string(),
            kb(most(row, &SYNCHRONISE, |phase| phase.bytes)),
            kb(most(row, &AGGREGATE, |phase| phase.bytes)),
            kb(most(row, &WRITE, |phase| phase.bytes)),
            kb(row.busiest_bytes),
            format!("{:.1}", float(row.wall_ns) / 1e9),
            mb(row.peak_memory_bytes),
        ]);
    }
    table.finish()
}

pub(super) fn aggregators(rows: &[ModelRow]) -> String {
    let mut table =
        Table::new(&["P", "A", "2 aggregate, ms", "3 write, ms", "flush, ms", "busiest rank, kB"]);
    for row in rows {
        table.row(&[
            row.ranks.to_string(),
            row.aggregators.to_string(),
            ms(phase_ns(row, &AGGREGATE)),
            ms(phase_ns(row, &WRITE)),
            format!("**{}**", ms(row.total_ns)),
            kb(row.busiest_bytes),
        ]);
    }
    table.finish()
}

pub(super) fn plot(rows: &Rows, directory: &Path) -> Result<(), String> {
    let mut ranks: Vec<u32> = rows.simgrid_aggregators.iter().map(|row| row.ranks).collect();
    ranks.dedup();
    let line = |ranks: u32| Line {
        name: format!("{ranks} ranks"),
        points: rows
            .simgrid_aggregators
            .iter()
            .filter(|row| row.ranks == ranks)
            .map(|row| (f64::from(row.aggregators), float(row.total_ns) / 1e6))
            .collect(),
    };
    let words = Words {
        title: "Flush, simulated (SimGrid, a machine like Theta)",
        x: "aggregators",
        y: "ms",
        names_in_the_middle: false,
    };
    draw(
        &directory.join("figure6-simulated.svg"),
        &words,
        &ranks.into_iter().map(line).collect::<Vec<_>>(),
    )?;
    let of = |name: &str, names: &'static [&'static str]| Line {
        name: name.to_owned(),
        points: rows
            .simgrid
            .iter()
            .map(|row| (f64::from(row.ranks), float(phase_ns(row, names)) / 1e6))
            .collect(),
    };
    let lines = [
        of("1 synchronise", &SYNCHRONISE),
        of("2 aggregate", &AGGREGATE),
        of("3 write", &WRITE),
        Line {
            name: "the paper, 32k ranks on Theta, all together".to_owned(),
            points: vec![(32768.0, 397.0)],
        },
    ];
    let words = Words {
        title: "Phases, simulated (SimGrid, a machine like Theta)",
        x: "ranks",
        y: "ms",
        names_in_the_middle: true,
    };
    draw(&directory.join("figure7-simulated.svg"), &words, &lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_are_summed_and_their_busiest_ranks_are_not() {
        let phase = |name: &str, ns, messages| PhaseRow {
            phase: name.into(),
            ns,
            messages,
            bytes: 1000 * messages,
        };
        let row = ModelRow {
            case: "SimGrid".into(),
            ranks: 32,
            aggregators: 2,
            summaries: 780,
            phases: vec![
                phase("synchronise", 50_000, 5),
                phase("write", 2_000_000, 7),
                phase("tell", 1_000_000, 3),
            ],
            total_ns: 3_050_000,
            part_bytes_max: 0,
            part_bytes: 0,
            busiest_bytes: 9000,
            bytes_on_the_way_max: 0,
            wall_ns: 0,
            peak_memory_bytes: 0,
        };
        let table = phases(&[row]);
        let expected = "| SimGrid | 32 | 2 | 0.00 | 0.050 | 0.00 | 3.00 | **3.05** | 5 | 0 | 7 | 5.00 | 0.00 | 7.00 | 9.00 |";
        assert!(table.contains(expected), "{table}");
    }
}

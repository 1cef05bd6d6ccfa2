//! The computation of the parts of a flush, in one process: no rank waits, so processor time is the
//! whole cost.

use std::hint::black_box;

use tinyprof_bench_collective::map::{Shape, event_map};
use tinyprof_bench_collective::rows::{CostRow, median};
use tinyprof_format::error::DecodeError;
use tinyprof_format::file::{EncodedRank, encode_part};

use crate::{print_row, sys};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Visits of a callpath in an execution, one number after the other
    #[arg(long, value_delimiter = ',', default_value = "1,3,10,30,100,300,1000")]
    iterations: Vec<u32>,
    /// How often each
    #[arg(long, default_value_t = 5)]
    repetitions: usize,
    /// Ranks of the part
    #[arg(long, default_value_t = 16)]
    ranks: u32,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    for &iterations in &arguments.iterations {
        let shape = Shape { callpaths: 50, executions: 20, iterations, each: true };
        // One at a time: at the largest size, sixteen event maps would be half a gigabyte.
        let maps = (0..arguments.ranks).map(|rank| event_map(shape, rank));
        let (mut encode, mut messages) = (Vec::new(), Vec::new());
        let mut sent = Vec::new();
        for map in maps {
            for _ in 0..arguments.repetitions {
                encode.push(timed(|| drop(black_box(EncodedRank::of_event_map(&map)))));
            }
            let own = EncodedRank::of_event_map(&map);
            for _ in 0..arguments.repetitions {
                // The work of a rank in phases 1 and 2: the length of the summary message, then
                // both messages.
                messages.push(timed(|| {
                    black_box(own.summary_length());
                    black_box(both(&own));
                }));
            }
            sent.push(both(&own));
        }
        let read_all = || -> Result<Vec<EncodedRank>, DecodeError> {
            sent.iter()
                .map(|(summary, series)| EncodedRank::from_messages(summary, series))
                .collect()
        };
        let ranks = read_all().map_err(|error| error.to_string())?;
        let dictionary = event_map(shape, 0).callpaths;
        let part = |ranks: &[EncodedRank]| encode_part(0, &dictionary, ranks);
        let read = (0..arguments.repetitions).map(|_| timed(|| drop(black_box(read_all()))));
        let written = (0..arguments.repetitions).map(|_| timed(|| drop(black_box(part(&ranks)))));
        print_row(&CostRow {
            values: shape.values(),
            summaries: u64::from(shape.callpaths) * u64::from(shape.executions),
            ranks: arguments.ranks,
            encode_ns: median(encode),
            messages_ns: median(messages),
            read_ns: median(read.collect::<Vec<_>>()),
            part_ns: median(written.collect::<Vec<_>>()),
            bytes: part(&ranks).len() as u64,
        })?;
    }
    Ok(())
}

/// Returns the two messages of a rank.
fn both(own: &EncodedRank) -> (Vec<u8>, Vec<u8>) {
    let (mut summary, mut series) = (Vec::new(), Vec::new());
    own.append_summary(&mut summary);
    own.append_series(&mut series);
    (summary, series)
}

fn timed(work: impl FnOnce()) -> u64 {
    let start_ns = sys::thread_cpu_ns();
    work();
    sys::thread_cpu_ns() - start_ns
}

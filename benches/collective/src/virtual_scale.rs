//! The phases on virtual ranks, up to numbers that no machine at hand can start.

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::rc::Rc;

use tinyprof::collect::monotonic_ns;
use tinyprof_bench_collective::map::{Shape, event_map};
use tinyprof_bench_collective::model::THETA_LIKE;
use tinyprof_bench_collective::rows::ModelRow;
use tinyprof_bench_collective::tracker::Tracker;
use tinyprof_flush::Observer;
use tinyprof_flush::scaling_study::{self, Order, RankAccount, SeriesGather};
use tinyprof_format::model::EventMap;

use crate::like::{event_maps, summaries};
use crate::memory::{peak_bytes, reset_peak};
use crate::print_row;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Numbers of ranks
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "1024,2048,4096,8192,16384,32768,65536,131072"
    )]
    ranks: Vec<u32>,
    /// How many aggregators; 0 for one to 16 ranks
    #[arg(long, value_delimiter = ',', default_value = "0")]
    aggregators: Vec<u32>,
    /// Callpaths of a rank
    #[arg(long, default_value_t = 39)]
    callpaths: u32,
    /// Executions: one summary of each callpath in each
    #[arg(long, default_value_t = 20)]
    executions: u32,
    /// What is unusual
    #[arg(long, default_value = "agree")]
    case: Case,
    /// A profile whose ranks the virtual ones are like, in turn, instead of made-up ones
    #[arg(long, value_name = "DIR", conflicts_with_all = ["callpaths", "executions", "case"])]
    like: Option<PathBuf>,
    /// The name of these rows
    #[arg(long, value_name = "TEXT", requires = "like", default_value = "like a profile")]
    named: String,
    /// Where the profiles go, to be removed again; memory is the better place
    #[arg(long)]
    scratch: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Case {
    /// All ranks visited the same callpaths
    Agree,
    /// The last rank visited one callpath more
    Differ,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let scratch = match &arguments.scratch {
        Some(path) => tempfile::tempdir_in(path),
        None => tempfile::tempdir(),
    };
    let scratch = scratch.map_err(|error| format!("cannot make a directory: {error}"))?;
    let maps = Maps::of(arguments)?;
    for &ranks in &arguments.ranks {
        for &wanted in &arguments.aggregators {
            let aggregators = if wanted == 0 { ranks.div_ceil(16) } else { wanted.min(ranks) };
            let order = Order {
                target: scratch.path().join("virtual"),
                aggregators,
                series: SeriesGather::Auto,
            };
            print_row(&flush(ranks, &maps, &order)?)?;
        }
    }
    Ok(())
}

/// The data of the ranks.
struct Maps {
    named: String,
    /// In turn.
    usual: Vec<EventMap>,
    /// Of the last rank, if it is another.
    last: Option<EventMap>,
    /// Summaries of the busiest of them.
    summaries: u64,
}

impl Maps {
    fn of(arguments: &Arguments) -> Result<Self, String> {
        if let Some(profile) = &arguments.like {
            let usual = event_maps(profile)?;
            let summaries = usual.iter().map(summaries).max().unwrap_or_default();
            return Ok(Self { named: arguments.named.clone(), usual, last: None, summaries });
        }
        let &Arguments { callpaths, executions, case, .. } = arguments;
        let shape = Shape { callpaths, executions, iterations: 1, each: false };
        let (named, last) = match case {
            Case::Agree => ("ranks agree", None),
            Case::Differ => {
                let more = Shape { callpaths: callpaths + 1, ..shape };
                ("one rank differs", Some(event_map(more, 0)))
            }
        };
        let usual = vec![event_map(shape, 0)];
        Ok(Self { named: named.to_owned(), usual, last, summaries: shape.values() })
    }

    fn of_rank(&self, rank: u32, ranks: u32) -> &EventMap {
        let last = self.last.as_ref().filter(|_| rank + 1 == ranks);
        last.unwrap_or_else(|| &self.usual[rank as usize % self.usual.len()])
    }
}

fn flush(ranks: u32, maps: &Maps, order: &Order) -> Result<ModelRow, String> {
    let summaries = maps.summaries;
    let tracker = Rc::new(RefCell::new(Tracker::default()));
    reset_peak();
    let start_ns = monotonic_ns();
    let run = scaling_study::flush_on_virtual_ranks(
        ranks,
        |rank| maps.of_rank(rank, ranks),
        order,
        THETA_LIKE.network,
        |account| {
            let (tracker, before) = (Rc::clone(&tracker), Cell::new(RankAccount::default()));
            let own = Rc::clone(&account);
            let observer = Observer::new(move |milestone| {
                let mut now = own.get();
                now.clock_ns += THETA_LIKE.unexecuted_ns(milestone, summaries);
                own.set(now);
                tracker.borrow_mut().passed(milestone, before.replace(now), now);
            });
            (observer, account)
        },
    );
    let wall_ns = monotonic_ns() - start_ns;
    std::fs::remove_dir_all(run.written?)
        .map_err(|error| format!("cannot remove a profile: {error}"))?;
    let tracker = tracker.borrow();
    let busiest = run
        .ranks
        .iter()
        .map(|account| account.get().bytes_sent + account.get().bytes_received)
        .max();
    Ok(ModelRow {
        case: maps.named.clone(),
        ranks,
        aggregators: order.aggregators,
        summaries: maps.summaries,
        phases: tracker.rows(),
        total_ns: tracker.end_ns(),
        part_bytes_max: tracker.part_bytes_max,
        part_bytes: tracker.part_bytes,
        busiest_bytes: busiest.unwrap_or_default() + tracker.part_bytes_max,
        bytes_on_the_way_max: run.bytes_on_the_way_max,
        wall_ns,
        peak_memory_bytes: peak_bytes(),
    })
}

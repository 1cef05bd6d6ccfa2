//! The program that mpiexec starts: flushes the same event map again and again.

use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;

use mpi::collective::SystemOperation;
use mpi::traits::*;
use tinyprof::collect::monotonic_ns;
use tinyprof_bench_collective::files::directory_bytes;
use tinyprof_bench_collective::map::{Shape, event_map};
use tinyprof_bench_collective::rows::FlushRow;
use tinyprof_flush::scaling_study::{Order, SeriesGather};
use tinyprof_flush::{Milestone, Observer};

use crate::memory::Watermark;
use crate::{print_row, sys};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// How many aggregators, one number after the other in each repetition; 0 for one to 16 ranks
    #[arg(long, value_delimiter = ',')]
    pub(crate) aggregators: Vec<u32>,
    /// How often each
    #[arg(long)]
    pub(crate) repetitions: u32,
    /// Callpaths of a rank
    #[arg(long)]
    pub(crate) callpaths: u32,
    /// Executions
    #[arg(long)]
    pub(crate) executions: u32,
    /// Visits of a callpath in an execution
    #[arg(long)]
    pub(crate) iterations: u32,
    /// How series are gathered, one way after the other in each repetition
    #[arg(long, value_delimiter = ',')]
    pub(crate) series: Vec<Series>,
    /// How many times as many visits the last rank makes
    #[arg(long)]
    pub(crate) uneven: u32,
    /// Where the profiles go, to be removed again
    #[arg(long)]
    pub(crate) scratch: PathBuf,
}

/// The method of gathering series.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum Series {
    Auto,
    Padded,
    Counts,
}

impl Series {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Padded => "padded",
            Self::Counts => "counts",
        }
    }

    fn gather(self) -> SeriesGather {
        match self {
            Self::Auto => SeriesGather::Auto,
            Self::Padded => SeriesGather::Padded,
            Self::Counts => SeriesGather::Counts,
        }
    }
}

/// The moments of one flush on one rank.
#[derive(Clone, Copy, Debug, Default)]
struct Moments {
    start_ns: u64,
    encoded_ns: u64,
    announced_ns: u64,
    collected_ns: u64,
    told_ns: u64,
    writes: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let universe = mpi::initialize().ok_or("MPI is initialised already")?;
    let world = universe.world();
    let (rank, ranks) = (world.rank().unsigned_abs(), world.size().unsigned_abs());
    let shape = Shape {
        callpaths: arguments.callpaths,
        executions: arguments.executions,
        iterations: arguments.iterations,
        each: true,
    };
    let times = if rank + 1 == ranks { arguments.uneven } else { 1 };
    let map = event_map(Shape { iterations: shape.iterations * times, ..shape }, rank);
    let cases: Vec<(u32, Series)> = arguments
        .aggregators
        .iter()
        .flat_map(|&aggregators| arguments.series.iter().map(move |&series| (aggregators, series)))
        .collect();
    // The first flush pays for connections between ranks and for memory from the system, so it is
    // discarded.
    for repetition in 0..=arguments.repetitions {
        for &(wanted, series) in &cases {
            let aggregators = if wanted == 0 { ranks.div_ceil(16) } else { wanted };
            let order = Order {
                target: arguments.scratch.join("flush"),
                aggregators,
                series: series.gather(),
            };
            let moments = Rc::new(RefCell::new(Moments::default()));
            let observer = watch(&moments);
            let memory = Watermark::set();
            world.barrier();
            let cpu_ns = sys::thread_cpu_ns();
            moments.borrow_mut().start_ns = monotonic_ns();
            let written = tinyprof_mpi::scaling_study::flush_on_mpi(&world, &map, &order, observer);
            let cpu_ns = sys::thread_cpu_ns() - cpu_ns;
            let risen_bytes = memory.risen_bytes();
            let path = written?;
            let moments = *moments.borrow();
            let most = reduce(&world, moments, cpu_ns, risen_bytes);
            if rank != 0 {
                continue;
            }
            let bytes = directory_bytes(&path)?;
            std::fs::remove_dir_all(&path)
                .map_err(|error| format!("cannot remove {}: {error}", path.display()))?;
            if repetition == 0 {
                continue;
            }
            print_row(&FlushRow {
                ranks,
                aggregators,
                values: shape.values(),
                series: series.name().to_owned(),
                uneven: arguments.uneven,
                repetition: repetition - 1,
                encode_ns: most[0],
                synchronise_ns: most[1],
                aggregate_ns: most[2],
                write_ns: most[3],
                total_ns: most[4],
                bytes,
                rank_cpu_ns: most[5],
                aggregator_cpu_ns: most[6],
                rank_memory_bytes: most[7],
                aggregator_memory_bytes: most[8],
            })?;
        }
    }
    Ok(())
}

fn watch(moments: &Rc<RefCell<Moments>>) -> Observer {
    let moments = Rc::clone(moments);
    Observer::new(move |milestone| {
        let now = monotonic_ns();
        let mut moments = moments.borrow_mut();
        match milestone {
            Milestone::Encoded => moments.encoded_ns = now,
            Milestone::Announced => moments.announced_ns = now,
            Milestone::Collected => moments.collected_ns = now,
            Milestone::Written { .. } => moments.writes = true,
            Milestone::Told => moments.told_ns = now,
            _ => {}
        }
    })
}

/// Returns the maxima over ranks: four phases and their total, processor time and memory of ranks
/// and of aggregators.
fn reduce(
    world: &impl CommunicatorCollectives,
    at: Moments,
    cpu_ns: u64,
    risen_bytes: u64,
) -> [u64; 9] {
    let of = |is: bool, number: u64| if is { number } else { 0 };
    let own = [
        at.encoded_ns - at.start_ns,
        at.announced_ns - at.encoded_ns,
        at.collected_ns - at.announced_ns,
        at.told_ns - at.collected_ns,
        at.told_ns - at.start_ns,
        of(!at.writes, cpu_ns),
        of(at.writes, cpu_ns),
        of(!at.writes, risen_bytes),
        of(at.writes, risen_bytes),
    ];
    let mut most = [0; 9];
    world.all_reduce_into(&own, &mut most, SystemOperation::max());
    most
}

//! The three phases on a simulated network: the library that smpirun loads.
//!
//! SimGrid runs every rank as a context of one thread and simulates the time of messages. The
//! phases are those of tinyprof-flush, over a wire of two calls. Files and computation are not
//! simulated; their time comes from the model of the collective bench. Rank 0 prints one row at the
//! end.
//!
//! Arguments: the number of aggregators (0: one to 16 ranks), callpaths, executions, and the
//! directory for the profile, which is removed again.

mod sys;

use std::cell::Cell;
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use tinyprof_bench_collective::map::{Shape, event_map};
use tinyprof_bench_collective::model::THETA_LIKE;
use tinyprof_bench_collective::rows::ModelRow;
use tinyprof_bench_collective::tracker::Tracker;
use tinyprof_flush::Observer;
use tinyprof_flush::scaling_study::{self, Order, RankAccount, SeriesGather, Wire};

/// The shared state of all ranks of the simulation. A rank that holds it must not wait for another.
#[derive(Default)]
struct Shared {
    /// The bytes of messages in flight, by sender and receiver.
    mail: HashMap<(u32, u32), VecDeque<Vec<u8>>>,
    tracker: Tracker,
    busiest_bytes: u64,
    bytes_on_the_way: u64,
    bytes_on_the_way_max: u64,
    done: u32,
}

static SHARED: LazyLock<Mutex<Shared>> = LazyLock::new(Mutex::default);

fn shared() -> MutexGuard<'static, Shared> {
    SHARED.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Smpi {
    spent: Rc<Cell<RankAccount>>,
}

impl Smpi {
    fn spend(&self, on: impl FnOnce(&mut RankAccount)) {
        let mut spent = self.spent.get();
        on(&mut spent);
        self.spent.set(spent);
    }
}

impl Wire for Smpi {
    fn rank(&self) -> u32 {
        sys::rank()
    }

    fn size(&self) -> u32 {
        sys::size()
    }

    fn send(&self, to: u32, bytes: &[u8]) {
        let length = bytes.len() as u64;
        {
            let mut shared = shared();
            let address = (sys::rank(), to);
            shared.mail.entry(address).or_default().push_back(bytes.to_vec());
            shared.bytes_on_the_way += length;
            shared.bytes_on_the_way_max = shared.bytes_on_the_way_max.max(shared.bytes_on_the_way);
        }
        self.spend(|spent| {
            spent.messages_sent += 1;
            spent.bytes_sent += length;
        });
        sys::send(to, bytes.len());
    }

    fn receive(&self, from: u32) -> Option<Vec<u8>> {
        sys::receive(from);
        let mut shared = shared();
        let address = (from, sys::rank());
        let letters = shared.mail.get_mut(&address)?;
        let bytes = letters.pop_front()?;
        if letters.is_empty() {
            shared.mail.remove(&address);
        }
        shared.bytes_on_the_way -= bytes.len() as u64;
        self.spend(|spent| {
            spent.messages_received += 1;
            spent.bytes_received += bytes.len() as u64;
        });
        Some(bytes)
    }
}

fn run(arguments: &[String]) -> Result<(), String> {
    let number = |at: usize| arguments.get(at).and_then(|text| text.parse::<u32>().ok());
    let (Some(wanted), Some(callpaths), Some(executions), Some(scratch)) =
        (number(1), number(2), number(3), arguments.get(4))
    else {
        return Err("expected: AGGREGATORS CALLPATHS EXECUTIONS DIRECTORY".to_owned());
    };
    let shape = Shape { callpaths, executions, iterations: 1, each: false };
    let ranks = sys::size();
    let aggregators = if wanted == 0 { ranks.div_ceil(16) } else { wanted.min(ranks) };
    let target = format!("{scratch}/simgrid-{ranks}-{aggregators}").into();
    let order = Order { target, aggregators, series: SeriesGather::Auto };
    let map = event_map(shape, sys::rank());
    let wire = Smpi { spent: Rc::default() };
    let spent = Rc::clone(&wire.spent);
    let (own, before) = (Rc::clone(&spent), Cell::new(RankAccount::default()));
    let start_ns = sys::now_ns();
    let observer = Observer::new(move |milestone| {
        let unexecuted_ns = THETA_LIKE.unexecuted_ns(milestone, shape.values());
        if unexecuted_ns > 0 {
            sys::sleep_ns(unexecuted_ns);
        }
        let now = RankAccount { clock_ns: sys::now_ns() - start_ns, ..own.get() };
        own.set(now);
        shared().tracker.passed(milestone, before.replace(now), now);
    });
    let written = scaling_study::flush_on_wire(wire, &map, &order, observer);
    drop(map);
    let mut shared = shared();
    shared.busiest_bytes =
        shared.busiest_bytes.max(spent.get().bytes_sent + spent.get().bytes_received);
    shared.done += 1;
    if shared.done == ranks {
        print(&shared, &order, ranks, shape.values());
        std::fs::remove_dir_all(written?)
            .map_err(|error| format!("cannot remove a profile: {error}"))?;
    }
    Ok(())
}

/// Prints the totals of all ranks. Called by the last rank to finish.
fn print(shared: &Shared, order: &Order, ranks: u32, summaries: u64) {
    let tracker = &shared.tracker;
    let row = ModelRow {
        case: "SimGrid".to_owned(),
        ranks,
        aggregators: order.aggregators,
        summaries,
        phases: tracker.rows(),
        total_ns: tracker.end_ns(),
        part_bytes_max: tracker.part_bytes_max,
        part_bytes: tracker.part_bytes,
        busiest_bytes: shared.busiest_bytes + tracker.part_bytes_max,
        bytes_on_the_way_max: shared.bytes_on_the_way_max,
        wall_ns: 0,
        peak_memory_bytes: peak_bytes(),
    };
    match serde_json::to_string(&row) {
        Ok(line) => println!("{line}"),
        Err(error) => eprintln!("simgrid: {error}"),
    }
}

/// Returns the peak resident set of the simulation, in bytes.
fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or_default()
        * 1024
}

//! The callpaths of the program.

use std::collections::BTreeMap;

use tinyprof_format::model::{
    CallpathId, Mode, Region, RegionKind, SAMPLES_MODULE, SAMPLES_PERIOD, SiteId,
};

/// The processor time between two samples, in ns.
pub(crate) const PERIOD_NS: u64 = 1_000_000;

const NAMES: [&str; 10] = [
    "flux",
    "assemble",
    "precondition",
    "update",
    "limiter",
    "gradient",
    "viscosity",
    "source",
    "boundary",
    "residual",
];

/// A callpath, by its position among all.
pub(crate) type Place = usize;

pub(crate) struct Places {
    pub(crate) records: Vec<(CallpathId, Option<CallpathId>, Region)>,
    pub(crate) main: Place,
    pub(crate) init: Place,
    pub(crate) read: Place,
    pub(crate) broadcast: Place,
    pub(crate) steps: Place,
    pub(crate) exchange: Place,
    /// Two sends and two receives. None of a single rank.
    pub(crate) sends: Vec<Place>,
    pub(crate) receives: Vec<Place>,
    pub(crate) norm: Place,
    pub(crate) reduce: Place,
    pub(crate) write: Place,
    pub(crate) file: Place,
    pub(crate) finalize: Place,
    /// Kernels, each with its samples.
    pub(crate) work: Vec<(Place, Place)>,
}

impl Places {
    pub(crate) fn new(callpaths: usize, ranks: usize) -> Self {
        let mut records = Vec::new();
        let mut add = |parent: Option<Place>, region: Region| {
            let above = parent.map(|at| {
                let (id, ..): &(CallpathId, Option<CallpathId>, Region) = &records[at];
                *id
            });
            let id = above.map_or_else(|| CallpathId::root(region.site), |a| a.child(region.site));
            records.push((id, above, region));
            records.len() - 1
        };
        let main = add(None, region("main", "COMP", RegionKind::Function));
        let init = add(Some(main), call("MPI_Init", "INIT"));
        let read = add(Some(main), region("read_input", "IO", RegionKind::Function));
        let broadcast = add(Some(read), call("MPI_Bcast at read_input (input.c:12)", "COMM"));
        let steps = add(Some(main), region("steps", "COMP", RegionKind::Loop));
        let exchange = add(Some(steps), region("exchange", "COMM", RegionKind::Function));
        let pair = if ranks > 1 { 2 } else { 0 };
        let mut at_line = |name: &str, line: usize| {
            let name = format!("{name} at exchange (halo.c:{line})");
            add(Some(exchange), call(&name, "COMM"))
        };
        let sends = (0..pair).map(|side| at_line("MPI_Send", 41 + side)).collect();
        let receives = (0..pair).map(|side| at_line("MPI_Recv", 44 + side)).collect();
        let norm = add(Some(steps), region("norm", "COMM", RegionKind::Function));
        let reduce = add(Some(norm), call("MPI_Allreduce at norm (norm.c:7)", "COMM"));
        let write = add(Some(main), region("write_output", "IO", RegionKind::Function));
        let file = add(Some(write), call("MPI_File_write at write_output (output.c:5)", "IO"));
        let finalize = add(Some(main), call("MPI_Finalize", "INIT"));
        let kernels = callpaths.saturating_sub(15) / 2;
        let work = (0..kernels).map(|kernel| {
            let name = format!("{}_{kernel}", NAMES[kernel % NAMES.len()]);
            let place = add(Some(steps), region(&name, "COMP", RegionKind::Function));
            (place, add(Some(place), sample(&name, 20 + kernel)))
        });
        let work = work.collect();
        Self {
            main,
            init,
            read,
            broadcast,
            steps,
            exchange,
            sends,
            receives,
            norm,
            reduce,
            write,
            file,
            finalize,
            work,
            records,
        }
    }

    pub(crate) const fn kernels(&self) -> usize {
        self.work.len()
    }

    pub(crate) fn id(&self, place: Place) -> CallpathId {
        self.records[place].0
    }
}

fn site(name: &str) -> SiteId {
    let id = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |id, byte| {
        (id ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    SiteId::from_bits(id)
}

fn region(name: &str, tag: &str, kind: RegionKind) -> Region {
    Region {
        module: "solver".into(),
        file: "src/solver.c".into(),
        line: 10,
        kind,
        mode: Mode::Each,
        constants: [("tag".to_owned(), tag.to_owned())].into(),
        ..Region::named(site(name), name)
    }
}

fn call(name: &str, tag: &str) -> Region {
    let constants = BTreeMap::from([("tag".to_owned(), tag.to_owned())]);
    Region { module: "mpi".into(), constants, ..Region::named(site(name), name) }
}

fn sample(function: &str, line: usize) -> Region {
    let name = format!("{function} (solver.c:{line})");
    Region {
        module: SAMPLES_MODULE.into(),
        file: "solver.c".into(),
        line: u32::try_from(line).unwrap_or(0),
        constants: [(SAMPLES_PERIOD.to_owned(), PERIOD_NS.to_string())].into(),
        ..Region::named(site(&name), &name)
    }
}

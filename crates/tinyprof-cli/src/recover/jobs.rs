//! Grouping of segments into processes, and of processes into the ranks of a job.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use tinyprof_format::model::{EventMap, ProfileId};
use tinyprof_format::segment::{ProcessDescription, Segment};

/// The most ranks of a job that are put into one profile: no job of one host has as many.
const RANKS_MAX: u32 = 1 << 16;

/// A segment with at least its header and description intact.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece<'a> {
    pub(crate) path: &'a Path,
    pub(crate) segment: Segment<'a>,
    /// `true` if its process continues as another program.
    pub(crate) is_replaced: bool,
}

/// All segments that one program recorded in one process. Two programs that follow each other by
/// `exec`, or two copies of the recorder in one process, began at different moments.
struct Process<'a> {
    id: u32,
    rank: Option<(u32, u32)>,
    description: ProcessDescription,
    threads: Vec<Piece<'a>>,
}

/// The processes that become one profile.
pub(crate) struct Job<'a> {
    processes: Vec<Process<'a>>,
}

/// Returns the jobs of these segments, in the order of their first processes.
pub(crate) fn jobs<'a>(pieces: &[Piece<'a>]) -> Vec<Job<'a>> {
    let mut processes: BTreeMap<(u64, u32, u64, u64), Vec<Piece<'a>>> = BTreeMap::new();
    for piece in pieces {
        let header = piece.segment.header();
        let recording = (header.start_time, header.process_id, header.start_ns, header.start_ticks);
        processes.entry(recording).or_default().push(*piece);
    }
    let mut jobs: Vec<Job<'a>> = Vec::new();
    for mut threads in processes.into_values() {
        threads.sort_by_key(|piece| piece.segment.header().thread);
        let Some(Piece { segment: first, .. }) = threads.first() else { continue };
        let rank = first.header().rank.filter(|&(_, size)| size <= RANKS_MAX);
        let process = Process {
            id: first.header().process_id,
            rank,
            description: first.description(),
            threads,
        };
        match jobs.iter_mut().find(|job| process.belongs_to(job)) {
            Some(job) => job.processes.push(process),
            None => jobs.push(Job { processes: vec![process] }),
        }
    }
    jobs
}

impl Process<'_> {
    /// Returns `true` if this process is another rank of the same job.
    fn belongs_to(&self, job: &Job<'_>) -> bool {
        let Some((rank, size)) = self.rank else { return false };
        let known = !self.description.job.is_empty();
        known
            && job.processes.iter().all(|other| {
                let alike = other.description.job == self.description.job;
                alike && other.rank.is_some_and(|(other, of)| of == size && other != rank)
            })
    }
}

impl<'a> Job<'a> {
    pub(crate) fn pieces(&self) -> impl Iterator<Item = &Piece<'a>> {
        self.processes.iter().flat_map(|process| &process.threads)
    }

    /// Returns the job's description from its lowest rank.
    pub(crate) fn description(&self) -> ProcessDescription {
        let lowest = self.processes.iter().min_by_key(|process| process.rank);
        lowest.map(|process| process.description.clone()).unwrap_or_default()
    }

    /// Returns `true` if `name` refers to this job.
    ///
    /// It may be the id of one of its processes, also as `#ID`, or, of any of them, the name of its
    /// profile with or without directory and ending, the name of its program, or the number from
    /// the batch system.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        let bare = name.strip_suffix(".tprof").unwrap_or(name);
        let number = name.strip_prefix('#').unwrap_or(name);
        self.processes.iter().any(|process| {
            let ProcessDescription { profile, metadata, .. } = &process.description;
            let file_of = |path: &str| {
                Path::new(path).file_name().map(|file| file.to_string_lossy().into_owned())
            };
            let profile = profile.strip_suffix(".tprof").unwrap_or(profile);
            process.id.to_string() == number
                || profile == bare
                || file_of(profile).as_deref() == Some(bare)
                || file_of(&metadata.executable).as_deref() == Some(name)
                || metadata.jobid.as_deref() == Some(name)
        })
    }

    /// Returns the ids of the profiles that its processes had begun to write of all their data.
    pub(crate) fn profile_ids(&self) -> BTreeSet<ProfileId> {
        let ids: BTreeSet<_> =
            self.pieces().map(|piece| piece.segment.header().profile_id).collect();
        // An id that is only in some of the segments does not cover all data.
        if ids.len() == 1 { ids.into_iter().flatten().collect() } else { BTreeSet::new() }
    }

    /// Returns the id of the process with the lowest rank.
    pub(crate) fn process_id(&self) -> u32 {
        let lowest = self.processes.iter().min_by_key(|process| process.rank);
        lowest.map_or(0, |process| process.id)
    }

    /// Returns the number of ranks that left segments.
    pub(crate) fn ranks(&self) -> usize {
        self.processes.len()
    }

    /// Returns the number of ranks if there are several.
    pub(crate) fn size(&self) -> Option<u32> {
        let rank = self.processes.first().and_then(|process| process.rank);
        rank.map(|(_, size)| size).filter(|&size| size > 1)
    }

    /// Returns the event maps of all ranks; `map_of` creates one from the segments of a process.
    ///
    /// # Errors
    /// The errors of `map_of`.
    pub(crate) fn event_maps<Error>(
        &self,
        map_of: impl Fn(&[Piece<'a>]) -> Result<EventMap, Error>,
    ) -> Result<Vec<EventMap>, Error> {
        let mut ranks = Vec::new();
        ranks.resize_with(self.size().unwrap_or(1) as usize, EventMap::default);
        for process in &self.processes {
            let at = process.rank.map_or(0, |(rank, _)| rank as usize);
            if let Some(place) = ranks.get_mut(at) {
                *place = map_of(&process.threads)?;
            }
        }
        Ok(ranks)
    }

    /// Returns the processes of the job, for people.
    pub(crate) fn who(&self) -> String {
        let ids: Vec<String> =
            self.processes.iter().map(|process| process.id.to_string()).collect();
        match self.size() {
            Some(size) => format!("{} of {size} ranks, processes {}", ids.len(), ids.join(", ")),
            None => format!("process {}", ids.join(", ")),
        }
    }

    /// Returns the reason why its profile is incomplete.
    pub(crate) fn because(&self) -> String {
        let why = if self.pieces().any(|piece| piece.is_replaced) {
            "the program was replaced by another (exec) before it wrote its profile"
        } else {
            "the program was killed"
        };
        match self.size() {
            Some(size) => format!(
                "{why}; {} of its {size} ranks were recovered from shared memory",
                self.processes.len()
            ),
            None => format!("{why}; its measurements were recovered from shared memory"),
        }
    }
}

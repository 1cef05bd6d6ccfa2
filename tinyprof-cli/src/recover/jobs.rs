//! Which segments are of one process, and which processes are the ranks of one job.

use std::collections::BTreeMap;
use std::path::Path;

use tinyprof_format::model::{EventMap, Losses};
use tinyprof_format::segment::{ProcessDescription, Segment, TicksNow};

/// A job's ranks beyond this are not put into one profile: no job of one host has as many.
const RANKS_MAX: u32 = 1 << 16;

/// How the segments of one process become its event map.
pub(crate) type MapOf = fn(&[Segment<'_>], TicksNow) -> EventMap;

/// What becomes one profile.
pub(crate) struct Job<'a> {
    /// Which processes it is of, for people.
    pub(crate) who: String,
    pub(crate) description: ProcessDescription,
    pub(crate) ranks: Vec<EventMap>,
    pub(crate) because: String,
    pub(crate) files: Vec<&'a Path>,
}

impl Job<'_> {
    pub(crate) fn losses(&self) -> Losses {
        let mut losses = Losses::default();
        self.ranks.iter().for_each(|rank| losses.absorb(&rank.facts.losses));
        losses
    }
}

/// All segments of one process.
struct Process<'s, 'a> {
    id: u32,
    rank: Option<(u32, u32)>,
    description: ProcessDescription,
    threads: Vec<&'s (&'a Path, Segment<'a>)>,
}

/// The jobs that these segments are of, in the order of their first processes.
pub(crate) fn jobs<'a>(segments: &[(&'a Path, Segment<'a>)], now: TicksNow, map_of: MapOf) -> Vec<Job<'a>> {
    let mut processes: BTreeMap<(u64, u32), Vec<&(&'a Path, Segment<'a>)>> = BTreeMap::new();
    for segment in segments {
        let header = segment.1.header();
        processes.entry((header.start_time, header.process_id)).or_default().push(segment);
    }
    let mut jobs: Vec<Vec<Process<'_, 'a>>> = Vec::new();
    for mut threads in processes.into_values() {
        threads.sort_by_key(|(_, segment)| segment.header().thread);
        let Some((_, first)) = threads.first() else { continue };
        let rank = first.header().rank.filter(|&(_, size)| size <= RANKS_MAX);
        let process =
            Process { id: first.header().process_id, rank, description: first.description(), threads };
        match jobs.iter_mut().find(|job| belongs_to(&process, job)) {
            Some(job) => job.push(process),
            None => jobs.push(vec![process]),
        }
    }
    jobs.iter().map(|processes| job(processes, now, map_of)).collect()
}

/// Whether a process is another rank of the job that these processes are ranks of.
fn belongs_to(process: &Process<'_, '_>, job: &[Process<'_, '_>]) -> bool {
    let Some((rank, size)) = process.rank else { return false };
    let known = !process.description.job.is_empty();
    known
        && job.iter().all(|other| {
            let alike = other.description.job == process.description.job;
            alike && other.rank.is_some_and(|(other, of)| of == size && other != rank)
        })
}

fn job<'a>(processes: &[Process<'_, 'a>], now: TicksNow, map_of: MapOf) -> Job<'a> {
    let mut ranks = Vec::new();
    let several = processes.first().and_then(|process| process.rank).filter(|&(_, size)| size > 1);
    if let Some((_, size)) = several {
        ranks.resize_with(size as usize, EventMap::default);
    } else {
        ranks.push(EventMap::default());
    }
    let mut first: Option<&Process<'_, '_>> = None;
    for process in processes {
        let at = process.rank.map_or(0, |(rank, _)| rank as usize);
        let threads: Vec<Segment<'_>> = process.threads.iter().map(|(_, segment)| *segment).collect();
        if let Some(place) = ranks.get_mut(at) {
            *place = map_of(&threads, now);
        }
        // What the lowest rank says of the job counts.
        if first.is_none_or(|first| process.rank < first.rank) {
            first = Some(process);
        }
    }
    let ids: Vec<String> = processes.iter().map(|process| process.id.to_string()).collect();
    let (who, because) = match (several, ids.len()) {
        (Some((_, size)), found) => (
            format!("{found} of {size} ranks, processes {}", ids.join(", ")),
            format!("the program was killed; {found} of its {size} ranks were recovered from shared memory"),
        ),
        (None, _) => (
            format!("process {}", ids.join(", ")),
            "the program was killed; its measurements were recovered from shared memory".to_owned(),
        ),
    };
    let description = first.map(|process| process.description.clone()).unwrap_or_default();
    let files = processes.iter().flat_map(|process| process.threads.iter().map(|(path, _)| *path)).collect();
    Job { who, description, ranks, because, files }
}

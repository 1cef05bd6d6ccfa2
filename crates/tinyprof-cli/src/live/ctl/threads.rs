//! The threads of a job on this host, to which commands are given by way of the headers of their
//! segments.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::sleep;
use std::time::Duration;

use tinyprof_segment::control::{self, Accepts, Answer, Verb};
use tinyprof_segment::layout::{MAGIC, VERSION, header, keeping};
use tinyprof_segment::words::low;

use super::super::save::only_job;
use super::super::segments::{copied, pieces};
use crate::arguments::SegmentChoice;
use crate::recover::find::find;
use crate::recover::jobs::jobs;
use crate::recover::segment_directory;
use crate::sys::{self, SharedWords};

/// The time between two looks for answers.
const LOOK: Duration = Duration::from_millis(10);

/// The most ranks that are named.
const NAMED_MAX: usize = 8;

/// The threads of a job.
#[derive(Debug)]
pub(super) struct Threads {
    who: String,
    profile: String,
    started_ns: u64,
    threads: Vec<Thread>,
}

#[derive(Debug)]
struct Thread {
    path: PathBuf,
    process: u32,
    /// The start of the recording, which tells processes of one id apart.
    started_ns: u64,
    rank: Option<u32>,
    accepts: Accepts,
    /// The command that was given, and the answer.
    given: Option<(u32, Option<Answer>)>,
}

/// The threads of a process.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rank {
    pub(super) rank: Option<u32>,
    pub(super) process: u32,
    pub(super) threads: u64,
    pub(super) keeps_events: bool,
    /// True if it has ever kept any.
    has_events: bool,
    /// When its first thread was held, of those that are held now.
    held_since_ns: Option<u64>,
    answer: Option<Answer>,
}

impl Rank {
    pub(super) fn name(&self) -> String {
        match self.rank {
            Some(rank) => format!("rank {rank} (process {})", self.process),
            None => format!("process {}", self.process),
        }
    }

    /// Returns for how long it has been held; `None` if it is not.
    pub(super) fn held_ns(&self, now_ns: u64) -> Option<u64> {
        self.held_since_ns.map(|since_ns| now_ns.saturating_sub(since_ns))
    }

    fn number(&self) -> u32 {
        self.rank.unwrap_or(self.process)
    }
}

impl Threads {
    /// Finds the threads of the job that the user has chosen.
    ///
    /// # Errors
    /// If there is no such job, or several.
    pub(super) fn find(choice: &SegmentChoice) -> Result<Self, Box<dyn Error>> {
        let directory = segment_directory(choice.directory.as_deref());
        let running = find(&directory)?.running.into_iter();
        let files: Vec<(PathBuf, Vec<u8>)> =
            running.filter_map(|path| Some((path.clone(), copied(&path)?))).collect();
        let pieces = pieces(&files);
        let job = only_job(jobs(&pieces), choice.job.as_deref(), &directory)?;
        let threads: Vec<Thread> = job
            .pieces()
            .map(|piece| {
                let of = piece.segment.header();
                Thread {
                    path: piece.path.to_owned(),
                    process: of.process_id,
                    started_ns: of.start_ns,
                    rank: of.rank.filter(|&(_, size)| size > 1).map(|(rank, _)| rank),
                    accepts: accepts_of(piece.path),
                    given: None,
                }
            })
            .collect();
        let started_ns = threads.iter().map(|thread| thread.started_ns).min().unwrap_or(0);
        let profile = job.description().profile;
        Ok(Self { who: job.who(), profile, started_ns, threads })
    }

    /// Returns the processes of the job, for people.
    pub(super) fn who(&self) -> &str {
        &self.who
    }

    /// Returns the name of the program's own profile.
    pub(super) fn profile(&self) -> &str {
        &self.profile
    }

    /// Returns the start of the first rank, in ns of `CLOCK_MONOTONIC`.
    pub(super) const fn started_ns(&self) -> u64 {
        self.started_ns
    }

    /// Returns the least that its threads accept.
    pub(super) fn accepts(&self) -> Accepts {
        self.threads.iter().map(|thread| thread.accepts).min().unwrap_or_default()
    }

    /// Gives a command to all threads, those of ranks that accept it.
    ///
    /// # Errors
    /// If no rank accepts it.
    pub(super) fn give(
        &mut self,
        verb: Verb,
        needs: Accepts,
        until_ns: u64,
    ) -> Result<(), Box<dyn Error>> {
        for thread in self.threads.iter_mut().filter(|thread| thread.accepts >= needs) {
            thread.given = of_header(&thread.path, |words| {
                let before = low(words[header::COMMAND].load(Relaxed));
                let number = before.checked_add(1).unwrap_or(1);
                words[header::LEASE_NS].store(sys::now().monotonic_ns, Relaxed);
                control::command(words, number, verb, until_ns);
                (number, None)
            });
        }
        if self.threads.iter().all(|thread| thread.given.is_none()) {
            let value = if needs == Accepts::Holding { "hold" } else { "on" };
            return Err(format!(
                "{} does not obey this: start it with TINYPROF_STEER={value}, as in tinyprof run -o \
                 steer={value} -- ./a.out",
                self.who
            )
            .into());
        }
        Ok(())
    }

    /// Waits until each rank has a thread that has answered, but not longer than until some time.
    pub(super) fn wait(&mut self, until_ns: u64) {
        loop {
            self.ask();
            let has_late = self.late().next().is_some();
            if !has_late || sys::now().monotonic_ns >= until_ns {
                return;
            }
            sleep(LOOK);
        }
    }

    /// Takes the answers that have come, and calls those again that have not answered.
    pub(super) fn ask(&mut self) {
        for thread in &mut self.threads {
            if let Some((number, answer @ None)) = &mut thread.given {
                *answer = of_header(&thread.path, |words| {
                    let answered = control::answered(words, *number);
                    if answered.is_none() {
                        control::call(words);
                    }
                    answered
                })
                .flatten();
            }
        }
    }

    /// Tells the threads that somebody is there who wants them held.
    pub(super) fn renew_lease(&self) {
        for thread in &self.threads {
            of_header(&thread.path, |words| {
                words[header::LEASE_NS].store(sys::now().monotonic_ns, Relaxed);
            });
        }
    }

    /// Returns the ranks, each with what its threads do now.
    pub(super) fn ranks(&self) -> Vec<Rank> {
        let mut ranks: BTreeMap<(Option<u32>, u32), Rank> = BTreeMap::new();
        for thread in &self.threads {
            let (keeps_events, has_events, held_since_ns) = of_header(&thread.path, |words| {
                let word = |at: usize| words[at].load(Relaxed);
                let held = word(header::HELD_SINCE_NS);
                let has_events = word(header::EVENTS) != 0;
                let keeps_events = keeping::is_keeping(word(header::KEEPING));
                (keeps_events, has_events, (held != 0).then_some(held))
            })
            .unwrap_or_default();
            let answer = thread.given.and_then(|(_, answer)| answer);
            let rank = ranks.entry((thread.rank, thread.process)).or_insert(Rank {
                rank: thread.rank,
                process: thread.process,
                threads: 0,
                keeps_events: false,
                has_events: false,
                held_since_ns: None,
                answer: None,
            });
            rank.threads += 1;
            rank.keeps_events |= keeps_events;
            rank.has_events |= has_events;
            rank.held_since_ns = rank.held_since_ns.into_iter().chain(held_since_ns).min();
            rank.answer = rank.answer.or(answer);
        }
        ranks.into_values().collect()
    }

    /// Returns the ranks that have answered so.
    pub(super) fn answered(&self, with: Answer) -> Vec<Rank> {
        self.ranks().into_iter().filter(|rank| rank.answer == Some(with)).collect()
    }

    /// Returns the ranks of which no thread has answered.
    pub(super) fn late(&self) -> impl Iterator<Item = Rank> {
        self.ranks().into_iter().filter(|rank| rank.answer.is_none())
    }

    /// Returns which ranks have obeyed and kept nothing; `None` if all have.
    pub(super) fn empty_line(&self) -> Option<String> {
        let done = self.answered(Answer::Done).into_iter();
        let empty: Vec<Rank> = done.filter(|rank| !rank.has_events).collect();
        (!empty.is_empty()).then(|| {
            let names = names(&empty, self.are_ranks());
            format!("nothing was kept of {names}: no visit has ended in that time, or there was no memory")
        })
    }

    fn are_ranks(&self) -> bool {
        self.threads.iter().any(|thread| thread.rank.is_some())
    }

    /// Returns which ranks have not come; `None` if all have.
    pub(super) fn late_line(&self) -> Option<String> {
        let late: Vec<Rank> = self.late().collect();
        let have = if late.len() == 1 { "has" } else { "have" };
        (!late.is_empty()).then(|| {
            let names = names(&late, self.are_ranks());
            format!("{names} {have} not come to the end of a region or call of MPI yet")
        })
    }
}

/// Returns the names of ranks, or of processes, for people.
fn names(ranks: &[Rank], are_ranks: bool) -> String {
    let numbers: Vec<String> =
        ranks.iter().take(NAMED_MAX).map(|rank| rank.number().to_string()).collect();
    let more = match ranks.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let noun = if are_ranks { "rank" } else { "process" };
    let plural = match (ranks.len(), are_ranks) {
        (1, _) => "",
        (_, true) => "s",
        (_, false) => "es",
    };
    format!("{noun}{plural} {}{more}", numbers.join(", "))
}

fn accepts_of(path: &Path) -> Accepts {
    of_header(path, |words| Accepts::of_word(words[header::ACCEPTS].load(Relaxed)))
        .unwrap_or_default()
}

/// Calls `work` with the words of a segment's header while no other client does so; `None` if there
/// is no such segment any more.
fn of_header<T>(path: &Path, work: impl FnOnce(&[AtomicU64]) -> T) -> Option<T> {
    let mut options = OpenOptions::new();
    let file: File =
        options.read(true).write(true).custom_flags(libc::O_NOFOLLOW).open(path).ok()?;
    sys::lock(&file).ok()?;
    let shared = SharedWords::to_write(&file, header::WORDS).ok()?;
    let words = shared.words();
    let is_segment = words.len() == header::WORDS
        && words[header::MAGIC].load(Relaxed) == MAGIC
        && words[header::VERSION].load(Relaxed) == VERSION;
    let done = is_segment.then(|| work(words))?;
    (!shared.has_shrunk()).then_some(done)
}

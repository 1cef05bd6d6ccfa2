//! The threads of a job on this host, to which commands are given by way of the headers of their
//! segments.

use std::collections::{BTreeMap, HashSet};
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

use super::super::giver::Giver;
use super::super::segments::{only_job, pieces};
use super::ranks::{Rank, Ranks};
use crate::arguments::SegmentChoice;
use crate::recover::find::{find, head};
use crate::recover::jobs::{Piece, jobs};
use crate::recover::segment_directory;
use crate::sys::{self, SharedWords};

/// The time between two looks for answers, at first and at last: most ranks answer at once.
const LOOK: Duration = Duration::from_micros(500);
const LOOK_MAX: Duration = Duration::from_millis(10);

/// The threads of a job.
#[derive(Debug)]
pub(super) struct Threads {
    who: String,
    directory: PathBuf,
    /// The files there that were read, those of other jobs too.
    seen: HashSet<PathBuf>,
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

impl Thread {
    fn of(piece: &Piece<'_>) -> Self {
        let of = piece.segment.header();
        Self {
            path: piece.path.to_owned(),
            process: of.process_id,
            started_ns: of.start_ns,
            rank: of.rank.filter(|&(_, size)| size > 1).map(|(rank, _)| rank),
            accepts: accepts_of(piece.path),
            given: None,
        }
    }

    /// Returns whether it is of the same process as another one.
    fn is_beside(&self, other: &Self) -> bool {
        (self.process, self.started_ns) == (other.process, other.started_ns)
    }

    /// Gives it a command.
    fn give(&mut self, verb: Verb, until_ns: u64, giver: &Giver) {
        self.given = of_header(&self.path, |words| {
            words[header::LEASE_NS].store(sys::now().monotonic_ns, Relaxed);
            (control::command(words, verb, until_ns, &giver.given()), None)
        });
    }
}

impl Threads {
    /// Finds the threads of the job that the user has chosen.
    ///
    /// # Errors
    /// If there is no such job, or several.
    pub(super) fn find(choice: &SegmentChoice) -> Result<Self, Box<dyn Error>> {
        let directory = segment_directory(choice.directory.as_deref());
        // What was measured is not looked at, however much it is.
        let files = heads(find(&directory)?.running.into_iter());
        let seen = files.iter().map(|(path, _)| path.clone()).collect();
        let pieces = pieces(&files);
        let job = only_job(jobs(&pieces), choice.job.as_deref(), &directory)?;
        let threads: Vec<Thread> = job.pieces().map(Thread::of).collect();
        let started_ns = threads.iter().map(|thread| thread.started_ns).min().unwrap_or(0);
        Ok(Self { who: job.who(), directory, seen, started_ns, threads })
    }

    /// Returns the processes of the job, for people.
    pub(super) fn who(&self) -> &str {
        &self.who
    }

    /// Returns the start of the first rank, in ns of `CLOCK_MONOTONIC`.
    pub(super) const fn started_ns(&self) -> u64 {
        self.started_ns
    }

    /// Returns the files of the threads to which the last command was given.
    pub(super) fn paths(&self) -> impl Iterator<Item = &Path> {
        let given = self.threads.iter().filter(|thread| thread.given.is_some());
        given.map(|thread| thread.path.as_path())
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
        giver: &Giver,
    ) -> Result<(), Box<dyn Error>> {
        for thread in self.threads.iter_mut().filter(|thread| thread.accepts >= needs) {
            thread.give(verb, until_ns, giver);
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

    /// Gives a command to the threads of the same ranks that have begun since they were found.
    /// Returns how many there are. Reads files that are new alone, those that are not complete yet
    /// the next time.
    pub(super) fn give_to_new(
        &mut self,
        verb: Verb,
        needs: Accepts,
        until_ns: u64,
        giver: &Giver,
    ) -> usize {
        let entries = std::fs::read_dir(&self.directory).into_iter().flatten();
        let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let files = heads(paths.filter(|path| !self.seen.contains(path)));
        let before = self.threads.len();
        for piece in pieces(&files) {
            self.seen.insert(piece.path.to_owned());
            let mut thread = Thread::of(&piece);
            let is_ours = self.threads.iter().any(|other| thread.is_beside(other));
            if is_ours && thread.accepts >= needs {
                thread.give(verb, until_ns, giver);
                self.threads.push(thread);
            }
        }
        self.threads.len() - before
    }

    /// Waits until each rank has a thread that has answered, but not longer than until some time.
    pub(super) fn wait(&mut self, until_ns: u64) {
        let mut look = LOOK;
        loop {
            self.ask();
            if !self.has_late() || sys::now().monotonic_ns >= until_ns {
                return;
            }
            sleep(look);
            look = LOOK_MAX.min(look * 2);
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

    /// Returns whether there is a rank of which no thread has answered.
    pub(super) fn has_late(&self) -> bool {
        let answered = |thread: &&Thread| thread.given.is_some_and(|(_, answer)| answer.is_some());
        let come: HashSet<u32> =
            self.threads.iter().filter(answered).map(|thread| thread.process).collect();
        self.threads.iter().any(|thread| !come.contains(&thread.process))
    }

    /// Returns the ranks, each with what its threads do now.
    pub(super) fn ranks(&self) -> Ranks {
        let mut ranks: BTreeMap<(Option<u32>, u32), Rank> = BTreeMap::new();
        for thread in &self.threads {
            let now = of_header(&thread.path, |words| {
                let word = |at: usize| words[at].load(Relaxed);
                let held_since_ns = word(header::HELD_SINCE_NS);
                Rank {
                    keeps_events: keeping::is_keeping(word(header::KEEPING)),
                    has_events: word(header::EVENTS) != 0,
                    is_off: word(header::OFF_SINCE) != 0,
                    held_since_ns: (held_since_ns != 0).then_some(held_since_ns),
                    ..Rank::default()
                }
            });
            let of_thread = Rank {
                rank: thread.rank,
                process: thread.process,
                threads: 1,
                answer: thread.given.and_then(|(_, answer)| answer),
                ..now.unwrap_or_default()
            };
            let key = (thread.rank, thread.process);
            ranks.entry(key).and_modify(|rank| rank.absorb(of_thread)).or_insert(of_thread);
        }
        Ranks(ranks.into_values().collect())
    }
}

fn accepts_of(path: &Path) -> Accepts {
    of_header(path, |words| Accepts::of_word(words[header::ACCEPTS].load(Relaxed)))
        .unwrap_or_default()
}

/// Returns the segments in these files that have one, by their heads.
fn heads(paths: impl Iterator<Item = PathBuf>) -> Vec<(PathBuf, Vec<u8>)> {
    paths.filter_map(|path| head(&path).ok().map(|bytes| (path, bytes))).collect()
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

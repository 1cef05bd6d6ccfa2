//! Commands that ranks were given while they ran: as each rank knows them, and as one job obeyed
//! them.

use std::collections::BTreeMap;

use tinyprof_segment::control::{Answer, Command, Given, Verb};
use tinyprof_segment::obeyed::Obeyed;

/// The most ranks that a command names as late.
pub const LATE_RANKS_NAMED: usize = 8;

/// A rank that obeys later than this after the command is late, in ns.
pub const LATE_NS: u64 = 1_000_000_000;

/// The time off that is not more than what reading the clock several times may make.
const OFF_READ_NS: u64 = 1_000_000;

/// The commands that a rank was given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RankCommands {
    /// The commands, by date.
    pub commands: Vec<RankCommand>,
    /// The commands that had no room in the memory of the rank, added up over its threads.
    pub without_room: u64,
    /// The time for which measuring was switched off, in ns: that of the thread for which it was
    /// longest.
    pub off_ns: u64,
}

/// A command as one rank has obeyed it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RankCommand {
    /// The number of its verb, see [`verb_name`](Self::verb_name).
    pub verb: u32,
    /// The number of the answer; 0 if the rank had not come to it.
    pub answer: u32,
    /// The name of whoever has given it, such as `ada@login (process 7)`.
    pub by: String,
    /// Its date, in ns since 1970-01-01 UTC: equal on all ranks.
    pub date_ns: u64,
    /// When it was given, in ns since the rank began to measure.
    pub at_ns: u64,
    /// By how much later the first thread of the rank has obeyed; `None` if it had not come to it.
    pub late_ns: Option<u64>,
    /// For how long what it has begun has lasted; `None` if it was not over, or has begun nothing.
    pub lasted_ns: Option<u64>,
    /// The threads that have come to it.
    pub threads: u64,
    /// The argument, such as the patterns of a filter; empty if it has none.
    pub argument: String,
}

impl RankCommand {
    /// Returns the name of the verb in `tinyprof ctl`.
    #[must_use]
    pub fn verb_name(&self) -> String {
        verb_name(self.verb)
    }

    /// Returns whether the rank has done so.
    #[must_use]
    pub const fn is_done(&self) -> bool {
        self.answer == Answer::Done.number()
    }

    fn of(obeyed: &Obeyed, started_ns: u64) -> Self {
        let over = obeyed.over_ns.checked_sub(obeyed.obeyed_ns).filter(|_| obeyed.over_ns > 0);
        Self {
            verb: obeyed.verb,
            answer: obeyed.answer,
            by: obeyed.given.name(),
            date_ns: obeyed.given.date_ns,
            at_ns: obeyed.given.at_ns.saturating_sub(started_ns),
            late_ns: Some(obeyed.obeyed_ns.saturating_sub(obeyed.given.at_ns)),
            lasted_ns: over,
            threads: 1,
            argument: argument_of(obeyed.verb, &obeyed.given),
        }
    }

    fn pending(command: &Command, started_ns: u64) -> Self {
        Self {
            verb: command.verb_number,
            by: command.given.name(),
            date_ns: command.given.date_ns,
            at_ns: command.given.at_ns.saturating_sub(started_ns),
            argument: argument_of(command.verb_number, &command.given),
            ..Self::default()
        }
    }

    /// Adds another thread of the rank.
    fn absorb(&mut self, other: &Self) {
        // Done by one is done by the rank; else any answer is better than none.
        if self.answer == 0 || other.is_done() {
            self.answer = other.answer.max(if other.is_done() { 0 } else { self.answer });
        }
        self.at_ns = self.at_ns.min(other.at_ns);
        self.late_ns = self.late_ns.into_iter().chain(other.late_ns).min();
        self.lasted_ns = match (self.threads, other.threads) {
            (0, _) => other.lasted_ns,
            (_, 0) => self.lasted_ns,
            _ => self.lasted_ns.zip(other.lasted_ns).map(|(own, other)| own.max(other)),
        };
        self.threads += other.threads;
    }
}

fn argument_of(verb: u32, given: &Given) -> String {
    if Verb::has_argument(verb) { given.argument() } else { String::new() }
}

fn verb_name(number: u32) -> String {
    Verb::of_number(number).map_or_else(|| format!("command {number}"), |verb| verb.name().into())
}

impl RankCommands {
    /// Returns whether the rank was given none, and never was off.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.commands.is_empty() && self.without_room == 0 && self.off_ns == 0
    }

    /// Returns whether measuring was off when the rank was killed: its time off does not have the
    /// last time, as nobody knows how long that was.
    fn was_off_at_unknown_end(&self) -> bool {
        let off =
            self.commands.iter().filter(|one| one.verb == Verb::Off.number() && one.is_done());
        let (open, over): (Vec<_>, Vec<_>) = off.partition(|one| one.lasted_ns.is_none());
        let known_ns: u64 = over.iter().filter_map(|one| one.lasted_ns).sum();
        // The log and the sum read the clock one after the other.
        !open.is_empty() && self.off_ns <= known_ns.saturating_add(OFF_READ_NS)
    }

    /// Adds what a thread of the rank has obeyed, which has begun to measure at `started_ns` of
    /// `CLOCK_MONOTONIC`, and the command that it has not come to.
    pub fn add_thread(&mut self, started_ns: u64, obeyed: &[Obeyed], pending: Option<&Command>) {
        let obeyed = obeyed.iter().map(|one| RankCommand::of(one, started_ns));
        let pending = pending.map(|one| RankCommand::pending(one, started_ns));
        for command in obeyed.chain(pending) {
            let is_same = |one: &RankCommand| {
                (one.date_ns, one.verb) == (command.date_ns, command.verb) && one.by == command.by
            };
            match self.commands.iter_mut().find(|one| is_same(one)) {
                Some(one) => one.absorb(&command),
                None => self.commands.push(command),
            }
        }
        self.commands.sort_by_key(|command| command.date_ns);
    }
}

/// A command, and how the ranks of a job have obeyed it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobCommand {
    /// The name of its verb.
    pub verb: String,
    /// The argument, such as the patterns of a filter; empty if it has none.
    pub argument: String,
    /// The name of whoever has given it.
    pub by: String,
    /// Its date, in ns since 1970-01-01 UTC.
    pub date_ns: u64,
    /// When it was given, in ns since the first rank began to measure.
    pub at_ns: u64,
    /// The ranks that were given it.
    pub given: u64,
    /// The ranks that did so.
    pub done: u64,
    /// The ranks that had not come to it.
    pub missing: u64,
    /// By how much the last rank was late, of those that did so; 0 if none did.
    pub latest_ns: u64,
    /// The longest time for which what it has begun has lasted on a rank; `None` if it has begun
    /// nothing, or was over nowhere.
    pub lasted_ns: Option<u64>,
    /// The first [`LATE_RANKS_NAMED`] of the ranks that were late by more than [`LATE_NS`], or had
    /// not come.
    pub late_ranks: Vec<u32>,
    /// The number of these ranks.
    pub late: u64,
}

/// The commands of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobCommands {
    /// The commands, by date.
    pub commands: Vec<JobCommand>,
    /// The commands that had no room, added up over ranks.
    pub without_room: u64,
    /// The ranks whose measuring was switched off for some time.
    pub ranks_off: u64,
    /// The ranks on which it was off when they were killed, for a time that is not known.
    pub ranks_off_at_end: u64,
    /// The time for which it was off, added up over ranks, in ns.
    pub off_ns: u64,
}

impl JobCommands {
    /// Returns the commands of ranks, which are passed in ascending order.
    #[must_use]
    pub fn of(ranks: &[(u32, &RankCommands)]) -> Self {
        let mut all = Self::default();
        let mut places: BTreeMap<(u64, u32, String), JobCommand> = BTreeMap::new();
        for &(rank, of_rank) in ranks {
            all.without_room = all.without_room.saturating_add(of_rank.without_room);
            all.off_ns = all.off_ns.saturating_add(of_rank.off_ns);
            all.ranks_off += u64::from(of_rank.off_ns > 0);
            all.ranks_off_at_end += u64::from(of_rank.was_off_at_unknown_end());
            for command in &of_rank.commands {
                let key = (command.date_ns, command.verb, command.by.clone());
                places.entry(key).or_insert_with(|| JobCommand::of(command)).add(rank, command);
            }
        }
        all.commands = places.into_values().collect();
        all
    }

    /// Returns whether there were none, and no rank was ever off.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.commands.is_empty() && self.without_room == 0 && self.off_ns == 0
    }
}

impl JobCommand {
    fn of(command: &RankCommand) -> Self {
        let (verb, by, date_ns) = (command.verb_name(), command.by.clone(), command.date_ns);
        let argument = command.argument.clone();
        Self { verb, argument, by, date_ns, at_ns: command.at_ns, ..Self::default() }
    }

    fn add(&mut self, rank: u32, command: &RankCommand) {
        self.given += 1;
        self.done += u64::from(command.is_done());
        self.missing += u64::from(command.late_ns.is_none());
        self.at_ns = self.at_ns.min(command.at_ns);
        self.lasted_ns = self.lasted_ns.max(command.lasted_ns);
        if let Some(late_ns) = command.late_ns.filter(|_| command.is_done()) {
            self.latest_ns = self.latest_ns.max(late_ns);
        }
        if command.late_ns.is_none_or(|late_ns| late_ns > LATE_NS) {
            self.late += 1;
            if self.late_ranks.len() < LATE_RANKS_NAMED {
                self.late_ranks.push(rank);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn obeyed(date_ns: u64, obeyed_ns: u64, over_ns: u64) -> Obeyed {
        let given = Given::by("ada@login", date_ns, 1_000);
        let (verb, answer) = (Verb::Hold.number(), Answer::Done.number());
        Obeyed { verb, answer, given, obeyed_ns, over_ns, flush_point: 0 }
    }

    #[test]
    fn threads_that_obey_one_command_are_one_rank() {
        let mut rank = RankCommands::default();
        rank.add_thread(400, &[obeyed(7, 1_500, 2_500)], None);
        rank.add_thread(400, &[obeyed(7, 1_200, 2_700), obeyed(6, 1_100, 0)], None);
        let given = Given::by("ada@login", 7, 1_000);
        let verb_number = Verb::Hold.number();
        let pending = Command { number: 1, verb_number, until_ns: 0, given };
        rank.add_thread(400, &[], Some(&pending));
        assert_eq!(rank.commands.iter().map(|one| one.date_ns).collect::<Vec<_>>(), [6, 7]);
        let held = &rank.commands[1];
        assert_eq!((held.at_ns, held.late_ns, held.lasted_ns), (600, Some(200), Some(1_500)));
        assert_eq!((held.threads, held.is_done(), held.verb_name().as_str()), (2, true, "hold"));
        assert_eq!(rank.commands[0].lasted_ns, None, "it was not over");
    }

    #[test]
    fn a_rank_that_was_killed_while_it_was_off_was_so_for_an_unknown_time() {
        let off = |over_ns| Obeyed { verb: Verb::Off.number(), ..obeyed(7, 1_500, over_ns) };
        let at_end = |off_ns, over_ns: &[u64]| {
            let mut rank = RankCommands { off_ns, ..RankCommands::default() };
            for (date_ns, &over_ns) in (1..).zip(over_ns) {
                let given = Given::by("ada@login", date_ns, 1_000);
                rank.add_thread(0, &[Obeyed { given, ..off(over_ns) }], None);
            }
            JobCommands::of(&[(0, &rank)]).ranks_off_at_end
        };
        assert_eq!(at_end(0, &[0]), 1);
        assert_eq!(at_end(5_000_010, &[5_001_500, 0]), 1);
        assert_eq!(at_end(9_000_000, &[5_001_500, 0]), 0, "the end is known");
        assert_eq!(at_end(5_000_010, &[5_001_500]), 0, "it was on again");
        assert_eq!(at_end(0, &[]), 0);
    }

    #[test]
    fn ranks_that_were_late_or_never_came_are_named() {
        let rank = |obeyed: &[Obeyed], pending: Option<&Command>| {
            let mut rank = RankCommands { off_ns: 5, ..RankCommands::default() };
            rank.add_thread(0, obeyed, pending);
            rank
        };
        let given = Given::by("ada@login", 7, 1_000);
        let pending = Command { number: 1, verb_number: 2, until_ns: 0, given };
        let ranks = [
            rank(&[obeyed(7, 1_500, 3_000)], None),
            rank(&[obeyed(7, 2 * LATE_NS, 2 * LATE_NS + 9)], None),
            rank(&[], Some(&pending)),
        ];
        let job = JobCommands::of(&(0..).zip(&ranks).collect::<Vec<_>>());
        assert_eq!((job.ranks_off, job.off_ns), (3, 15));
        let [held] = &job.commands[..] else { panic!("{job:?}") };
        assert_eq!((held.given, held.done, held.missing, held.late), (3, 2, 1, 2));
        assert_eq!((&held.late_ranks[..], held.lasted_ns), (&[1, 2][..], Some(1_500)));
        assert_eq!(held.latest_ns, 2 * LATE_NS - 1_000);
    }
}

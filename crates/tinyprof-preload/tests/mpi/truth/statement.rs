//! What a profile says of a program's waiting, beside what the program has seen itself.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tinyprof_format::model::{CallpathIndex, Profile};
use tinyprof_report::{WaitSums, Waiting};

use super::patterns::Verdict;

/// The kinds that a row has to itself. All other waiting of a function is compared as a whole, as
/// the kinds of later patterns are not fixed.
const KINDS: [&str; 8] = [
    "late_sender",
    WRONG_ORDER,
    "late_receiver",
    "barrier",
    "all_to_all",
    "late_root",
    "early_root",
    "early_scan",
];
/// The part of the waiting for late senders that is due to order.
const WRONG_ORDER: &str = "late_sender_wrong_order";
/// What functions begin with of which a program says nothing, if it does not stamp them: launchers
/// start ranks at different times, and what ranks make or free together takes its time.
const NOT_STAMPED: [&str; 7] = [
    "MPI_Init",
    "MPI_Finalize",
    "MPI_Cart_create",
    "MPI_Comm_",
    "MPI_Intercomm_",
    "MPI_File_",
    "MPI_Win_",
];

/// The waiting of one kind of a rank in some functions: the truth, and what is said.
#[derive(Clone, Debug)]
pub(super) struct Row {
    rank: u32,
    kind: String,
    functions: Vec<String>,
    truth_ns: u64,
    /// The longest single waiting.
    most_ns: u64,
    /// By how much a profiler may differ, as ranks lost their processor between two stamps.
    unsure_ns: u64,
    said_ns: u64,
    /// The rank and the function that it waits for, if the program tells it.
    partner: Option<(u32, String)>,
    /// The part of what is said that names another partner.
    misnamed_ns: u64,
}

impl Row {
    fn of_line(line: &str) -> Self {
        let line: Value = serde_json::from_str(line).expect("the program writes JSON");
        let text = |name: &str| line[name].as_str().expect("text").to_owned();
        let number = |name: &str| line[name].as_u64().expect("a number");
        let partner = line["for_rank"].as_u64().map(|rank| u32::try_from(rank).expect("few ranks"));
        Self {
            rank: u32::try_from(number("rank")).expect("few ranks"),
            kind: text("kind"),
            functions: text("at").split('|').map(str::to_owned).collect(),
            truth_ns: number("waiting_ns"),
            most_ns: number("most_ns"),
            unsure_ns: number("unsure_ns"),
            said_ns: 0,
            partner: partner.map(|rank| (rank, text("for_at"))),
            misnamed_ns: 0,
        }
    }

    /// Returns whether something that is said belongs to this row.
    fn has(&self, rank: u32, kind: &str, function: &str) -> bool {
        let is_kind = self.kind == kind || !KINDS.contains(&self.kind.as_str());
        self.rank == rank && is_kind && self.functions.iter().any(|name| name == function)
    }

    /// Returns the most that may be said beside the truth: 1 ms and 2 %, and what the stamps do
    /// not know.
    fn bound_ns(&self) -> u64 {
        1_000_000 + self.truth_ns / 50 + self.unsure_ns
    }

    /// Returns what is to be said of a wrong partner, if there is one.
    fn misnamed(&self) -> String {
        match &self.partner {
            Some((rank, function)) if self.misnamed_ns > self.bound_ns() => {
                format!(", and not for {function} of rank {rank}")
            }
            _ => String::new(),
        }
    }

    fn verdict(&self, doubt: &Doubt) -> Verdict {
        if self.misnamed_ns > self.bound_ns() {
            return Verdict::Wrong;
        }
        if self.said_ns.abs_diff(self.truth_ns) <= self.bound_ns() {
            return Verdict::Right;
        }
        let of_rank = doubt.unfollowed_ns[self.rank as usize];
        let known_missing_ns = of_rank.saturating_add(doubt.lost.saturating_mul(self.most_ns));
        let is_contained = self.said_ns.saturating_add(known_missing_ns) + self.bound_ns();
        if self.said_ns < self.truth_ns && is_contained >= self.truth_ns {
            Verdict::NotFollowed
        } else {
            Verdict::Wrong
        }
    }
}

/// What a profile says that it does not know.
#[derive(Clone, Debug)]
struct Doubt {
    /// The time of each rank in calls that are not followed.
    unfollowed_ns: Vec<u64>,
    /// Messages whose companion is missing or unclear.
    lost: u64,
}

impl Doubt {
    fn of(profile: &Profile) -> Self {
        let clocks = profile.ranks.iter().map(|rank| rank.clock);
        let unfollowed_ns = clocks.clone().map(|clock| clock.unfollowed_ns).collect();
        let lost = clocks.map(|clock| clock.companions_missing + clock.companions_unclear).sum();
        Self { unfollowed_ns, lost }
    }
}

/// The rows of one run, and how much of them is known to be missing.
#[derive(Clone, Debug)]
pub(super) struct Statement {
    rows: Vec<Row>,
    doubt: Doubt,
}

impl Statement {
    /// Reads the truth that the ranks have written to a directory, and compares a profile to it.
    pub(super) fn of(profile: &Profile, directory: &Path) -> Self {
        let mut rows = Vec::new();
        for rank in 0..profile.ranks.len() {
            let text = fs::read_to_string(directory.join(format!("truth-{rank}")));
            let text = text.expect("each rank writes its truth");
            rows.extend(text.lines().map(Row::of_line));
        }
        let mut sums = WaitSums::new(&profile.callpaths, profile.ranks.len()).by_rank();
        for (index, _) in profile.callpaths.iter() {
            sums.add(index, &profile.values[index.row()]);
        }
        for entry in &sums.waits().entries {
            for rank in (0..).take(profile.ranks.len()).filter(|rank| entry.ranks.contains(*rank)) {
                add(profile, &mut rows, rank, entry, entry.pattern.name(), entry.waiting_ns);
                if entry.wrong_order_ns > 0 {
                    add(profile, &mut rows, rank, entry, WRONG_ORDER, entry.wrong_order_ns);
                }
            }
        }
        Self { rows, doubt: Doubt::of(profile) }
    }

    /// Returns the worst verdict of all rows.
    pub(super) fn verdict(&self) -> Verdict {
        let verdicts = self.rows.iter().map(|row| row.verdict(&self.doubt));
        verdicts.max().unwrap_or(Verdict::Right)
    }

    /// Returns a line for each row that says or should say something.
    pub(super) fn lines(&self) -> Vec<String> {
        let rows = self.rows.iter().filter(|row| {
            row.truth_ns > row.bound_ns() || row.verdict(&self.doubt) != Verdict::Right
        });
        let ms = |ns: u64| format!("{}.{:03}", ns / 1_000_000, ns / 1_000 % 1_000);
        rows.map(|row| {
            let unfollowed_ns = self.doubt.unfollowed_ns[row.rank as usize];
            format!(
                "rank {} {} in {}: truth {} ms +- {} ms, said {} ms, {} ms not followed, {} lost: {:?}",
                row.rank,
                row.kind,
                row.functions.join("|"),
                ms(row.truth_ns),
                ms(row.bound_ns()),
                ms(row.said_ns),
                ms(unfollowed_ns),
                self.doubt.lost,
                row.verdict(&self.doubt),
            ) + &row.misnamed()
        })
        .collect()
    }
}

/// Adds what is said to the row that it belongs to, or to a new one whose truth is that nobody
/// waits.
fn add(
    profile: &Profile,
    rows: &mut Vec<Row>,
    rank: u32,
    entry: &Waiting,
    kind: &str,
    said_ns: u128,
) {
    let function = function(profile, entry.callpath).unwrap_or_default();
    let said_ns = u64::try_from(said_ns).expect("a short run");
    if let Some(row) = rows.iter_mut().find(|row| row.has(rank, kind, &function)) {
        row.said_ns += said_ns;
        if let (Some((for_rank, for_at)), Some(said_for)) =
            (&row.partner, self::function(profile, entry.for_callpath))
            && (!entry.for_ranks.contains(*for_rank) || *for_at != said_for)
        {
            row.misnamed_ns += said_ns;
        }
    } else if !NOT_STAMPED.iter().any(|name| function.starts_with(name)) {
        let functions = vec![function];
        let kind = kind.to_owned();
        rows.push(Row {
            rank,
            kind,
            functions,
            truth_ns: 0,
            most_ns: 0,
            unsure_ns: 0,
            said_ns,
            partner: None,
            misnamed_ns: 0,
        });
    }
}

/// Returns the function of MPI that a callpath ends in: `MPI_Recv` of `MPI_Recv at work (a.c:7)`.
fn function(profile: &Profile, callpath: Option<CallpathIndex>) -> Option<String> {
    let name = &profile.callpaths.get(callpath?).region.name;
    name.split(" at ").next().map(str::to_owned)
}

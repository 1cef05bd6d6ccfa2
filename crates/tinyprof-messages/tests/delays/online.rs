//! Drives the ledgers of all ranks by a history, in the order of time.

use std::collections::BTreeMap;

use tinyprof_messages::delay::{
    Activity, Costs, DelayCosts, Instance, Ledger, Losses, PathPart, Pulled, Sizes, Wait,
};
use tinyprof_segment::primitive::AtomicU64;

use crate::history::History;
use crate::post_mortem::{Analysis, Causes};

/// What an online analysis may do differently from one post mortem.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    pub(crate) sizes: Sizes,
    pub(crate) costs: usize,
    /// The state of a rank is read when the one that has waited for it goes on, instead of being
    /// kept from the moment at which it came.
    pub(crate) reads_late: bool,
    pub(crate) waits: Waits,
    /// Ranks run on different hosts: those that come tell what they did.
    pub(crate) are_told: bool,
}

/// The waits that are looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Waits {
    All,
    From(u64),
    WorthIt,
}

impl Rules {
    /// Lists that hold everything, read at the right time, for all waits.
    pub(crate) const EXACT: Self = Self {
        sizes: Sizes {
            activities: 64,
            causes: 2_048,
            path: 2_048,
            partners: 128,
            finest: u64::MAX,
        },
        costs: 16_384,
        reads_late: false,
        waits: Waits::All,
        are_told: false,
    };

    /// The rules as the recorder has them.
    pub(crate) fn recorder() -> Self {
        let (sizes, waits) = (Sizes::default(), Waits::WorthIt);
        Self { sizes, costs: Costs::ENTRIES, reads_late: true, waits, are_told: false }
    }
}

/// What the ledgers say.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    pub(crate) analysis: Analysis,
    pub(crate) other_ns: u64,
    pub(crate) unexplained_ns: u64,
    pub(crate) path_other_ns: u64,
    /// Waiting that was too short to be looked at.
    pub(crate) short_ns: u64,
    pub(crate) losses: Losses,
}

/// Something that happens to a rank.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// A piece ends.
    Ends(usize),
    /// The state that a wait is about is kept.
    Kept(usize),
}

/// Lets the ledgers watch a run.
pub(crate) fn watch(history: &History, rules: &Rules) -> Verdict {
    let memory = |words: usize| -> Vec<Vec<AtomicU64>> {
        (0..history.ranks).map(|_| (0..words).map(|_| AtomicU64::new(0)).collect()).collect()
    };
    let (pages, tables) = (memory(rules.sizes.words()), memory(Costs::words(rules.costs)));
    let mut ledgers: Vec<Ledger<'_>> =
        (0_u32..).zip(&pages).map(|(rank, page)| Ledger::new(page, rules.sizes, rank)).collect();
    let mut costs: Vec<Costs<'_>> = tables.iter().map(|table| Costs::new(table)).collect();
    let mut verdict = Verdict::default();
    let mut kept: BTreeMap<usize, Pulled> = BTreeMap::new();
    for event in events(history, rules) {
        let (Event::Ends(number) | Event::Kept(number)) = event;
        let piece = &history.pieces[number];
        let (rank, activity) = (piece.rank, Activity::from_number(piece.activity));
        let in_call_ns = piece.end_ns - piece.begin_ns;
        let waited = piece.waited.filter(|waited| match rules.waits {
            Waits::All => true,
            Waits::From(floor_ns) => waited.ns >= floor_ns,
            Waits::WorthIt => ledgers[rank].is_worth(waited.ns, piece.end_ns),
        });
        let Some(waited) = waited else {
            if let Some(waited) = piece.waited
                && matches!(rules.waits, Waits::WorthIt)
            {
                let partner = waited.partner as u32;
                verdict.short_ns += ledgers[rank].defer(piece.activity, partner, waited.ns);
            }
            ledgers[rank].add(activity, in_call_ns, piece.end_ns);
            meet(&mut ledgers[rank], piece.meeting, piece.end_ns);
            continue;
        };
        let pull = || {
            let mut pulled = Pulled::new(rules.sizes);
            let wanted = ledgers[rank].wanted(waited.partner as u32, waited.came_ns);
            let partner = &ledgers[waited.partner];
            if !rules.are_told {
                assert!(partner.page().pull(&wanted, &mut pulled));
                return pulled;
            }
            let wanted = partner.told(rank as u32, waited.came_ns, [WORLD, 0]);
            assert!(partner.page().pull(&wanted, &mut pulled));
            let mut words = vec![0; Pulled::mail_words(&rules.sizes)];
            let used = pulled.to_mail(&mut words);
            let mut told = Pulled::new(rules.sizes);
            assert!(told.read_mail(&words[..used], 0));
            told
        };
        if let Event::Kept(_) = event {
            kept.insert(number, pull());
            continue;
        }
        let pulled = kept.remove(&number).unwrap_or_else(pull);
        let wait = Wait {
            callpath: piece.activity,
            activity,
            partner: waited.partner as u32,
            entered_ns: piece.begin_ns,
            left_ns: piece.end_ns,
            waited_ns: waited.ns,
            partner_ns: waited.came_ns,
            lost_ns: 0,
            is_mutual: piece.meeting.is_some(),
            is_over: false,
        };
        ledgers[rank].wait(&wait, Some(&pulled), &mut costs[rank]);
        ledgers[rank].spend(LOOK_NS);
        meet(&mut ledgers[rank], piece.meeting, piece.end_ns);
    }
    for (table, ledger) in tables.iter().zip(&ledgers) {
        add_costs(&mut verdict, &DelayCosts::read(table).expect("nobody writes"));
        verdict.losses.unread += ledger.losses().unread;
        verdict.losses.late += ledger.losses().late;
        verdict.losses.forgotten += ledger.losses().forgotten;
    }
    let last = (0..history.ranks).max_by_key(|rank| history.ended_ns[*rank]);
    for PathPart { cause, ns } in ledgers[last.expect("a program has ranks")].path() {
        match cause.rank() {
            Some(rank) => {
                let cause = (rank as usize, cause.activity().number());
                *verdict.analysis.path.entry(cause).or_default() += ns as f64;
            }
            None => verdict.path_other_ns += ns,
        }
    }
    verdict
}

/// The time of a look at another rank in the recorder, in ns.
const LOOK_NS: u64 = 500;

/// The name of the communicator of all.
const WORLD: u64 = 1;

fn meet(ledger: &mut Ledger<'_>, meeting: Option<usize>, left_ns: u64) {
    if let Some(number) = meeting {
        ledger.align(Instance { communicator: WORLD, number: number as u64 }, left_ns);
    }
}

/// Returns what happens, in the order of time.
fn events(history: &History, rules: &Rules) -> Vec<Event> {
    let mut events = Vec::new();
    for (number, piece) in history.pieces.iter().enumerate() {
        events.push((piece.end_ns, 0, Event::Ends(number)));
        if let Some(waited) = piece.waited
            && !rules.reads_late
        {
            events.push((waited.came_ns, 1, Event::Kept(number)));
        }
    }
    events.sort_by_key(|(at_ns, order, _)| (*at_ns, *order));
    events.into_iter().map(|(.., event)| event).collect()
}

fn add_costs(verdict: &mut Verdict, found: &DelayCosts) {
    let add = |causes: &mut Causes, cause, ns: u64| {
        if ns > 0 {
            *causes.entry(cause).or_default() += ns as f64;
        }
    };
    verdict.other_ns += found.other_direct.ns + found.other_propagated.ns;
    for entry in &found.entries {
        match entry.cause.rank() {
            Some(rank) => {
                let cause = (rank as usize, entry.cause.activity().number());
                add(&mut verdict.analysis.direct, cause, entry.direct.ns);
                add(&mut verdict.analysis.propagated, cause, entry.propagated.ns);
            }
            None => verdict.unexplained_ns += entry.total_ns(),
        }
    }
}

//! Message-passing programs: what each rank does, one operation after the other.

use tinyprof_messages::waiting::Collective;

use crate::random::Random;

/// An operation of a rank.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    /// Computation, in which this many events are measured.
    Work { ns: u64, events: u64 },
    /// A send that returns when it is done: at once, or with `is_synchronous` with the receive.
    Send { to: usize, tag: i32, bytes: u64, is_synchronous: bool },
    /// A blocking receive, from a rank or from any.
    Receive { from: Option<usize>, tag: i32 },
    /// A receive that is posted as the next request of the rank, by number.
    Post { from: Option<usize>, tag: i32 },
    /// Waits for a request.
    Wait { request: usize },
    /// A collective of all ranks.
    Collective { kind: Collective, root: usize },
    /// Sends to the source of the latest receive.
    Reply { tag: i32, stops: bool },
    /// Ends the rank if the latest message told it to.
    EndIfStopped,
    /// Continues with another operation.
    Jump { to: usize },
}

impl Op {
    pub(crate) fn is_collective(&self) -> bool {
        matches!(self, Self::Collective { .. })
    }
}

/// A program: the operations of each rank.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) ranks: Vec<Vec<Op>>,
    /// The cost of a measured event.
    pub(crate) cost_ns: u64,
}

/// What random programs contain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mix {
    /// Percentages of steps; the rest are eager messages.
    pub(crate) synchronous: u64,
    pub(crate) posted: u64,
    pub(crate) wildcards: u64,
    pub(crate) collectives: u64,
}

/// Returns a random program without deadlock: its steps in a row are one way to execute it.
pub(crate) fn random(seed: u64, mix: Mix) -> Program {
    let random = &mut Random::new(seed);
    let count = 2 + random.index(7);
    let mut program = Program { ranks: vec![Vec::new(); count], cost_ns: random.within(50, 500) };
    // Some ranks are measured more closely than others.
    let density: Vec<u64> = (0..count).map(|_| random.within(0, 40)).collect();
    for tag in 0..random.within(20, 120) as i32 {
        for (ops, density) in program.ranks.iter_mut().zip(&density) {
            if random.happens(60) {
                let ns = random.magnitude(1_000, 100_000);
                let events = random.within(0, 2 * density + 1);
                ops.push(Op::Work { ns, events });
            }
        }
        let mut limit = mix.collectives;
        let choice = random.within(0, 100);
        if choice < limit {
            collective(&mut program, random);
            continue;
        }
        limit += mix.wildcards;
        if choice < limit {
            wildcards(&mut program, random, tag);
            continue;
        }
        let (is_posted, is_synchronous) =
            (random.happens(mix.posted), random.happens(mix.synchronous));
        message(&mut program, random, tag, is_posted, is_synchronous);
    }
    program
}

fn collective(program: &mut Program, random: &mut Random) {
    let kind = Collective::ALL[random.index(Collective::ALL.len())];
    let root = random.index(program.ranks.len());
    program.ranks.iter_mut().for_each(|ops| ops.push(Op::Collective { kind, root }));
}

/// Some ranks send, one takes the messages as they come.
fn wildcards(program: &mut Program, random: &mut Random, tag: i32) {
    let count = program.ranks.len();
    let receiver = random.index(count);
    for sender in (0..count).filter(|sender| *sender != receiver) {
        let bytes = random.magnitude(8, 8_192);
        program.ranks[sender].push(Op::Send { to: receiver, tag, bytes, is_synchronous: false });
        let ns = random.magnitude(1_000, 20_000);
        program.ranks[receiver].push(Op::Receive { from: None, tag });
        program.ranks[receiver].push(Op::Work { ns, events: random.within(0, 20) });
    }
}

fn message(
    program: &mut Program,
    random: &mut Random,
    tag: i32,
    is_posted: bool,
    is_synchronous: bool,
) {
    let count = program.ranks.len();
    let from = random.index(count);
    let to = random.other(from, count);
    let bytes = random.magnitude(8, if is_synchronous { 262_144 } else { 8_192 });
    let receiver = &mut program.ranks[to];
    if is_posted {
        // The receive is posted, then something is computed, then it is waited for.
        let request = receiver.iter().filter(|op| matches!(op, Op::Post { .. })).count();
        receiver.push(Op::Post { from: Some(from), tag });
        let ns = random.magnitude(1_000, 50_000);
        receiver.push(Op::Work { ns, events: random.within(0, 30) });
        receiver.push(Op::Wait { request });
    } else {
        receiver.push(Op::Receive { from: Some(from), tag });
    }
    program.ranks[from].push(Op::Send { to, tag, bytes, is_synchronous });
}

/// Returns the integrator of paper 002: workers ask the master for work until there is none.
pub(crate) fn master_and_workers(workers: usize, chunks: usize, seed: u64) -> Program {
    let random = &mut Random::new(seed);
    let mut master = Vec::new();
    for chunk in 0..chunks + workers {
        master.push(Op::Receive { from: None, tag: 0 });
        master.push(Op::Reply { tag: 1, stops: chunk >= chunks });
    }
    let mut ranks = vec![master];
    for _ in 0..workers {
        // 1,500 calls of 480 ns, the paper's timer, slow 1 ms by 1.72.
        let ns = random.within(990_000, 1_010_000);
        ranks.push(vec![
            Op::Send { to: 0, tag: 0, bytes: 8, is_synchronous: false },
            Op::Receive { from: Some(0), tag: 1 },
            Op::EndIfStopped,
            Op::Work { ns, events: 1_500 },
            Op::Jump { to: 0 },
        ]);
    }
    Program { ranks, cost_ns: 480 }
}

/// Returns a race: two ranks send in turns to a third that takes what comes, and the second
/// measures this many more events for each message.
pub(crate) fn race(messages: usize, events: u64) -> Program {
    let sender = |from: u64| {
        let work = Op::Work { ns: 20_000, events: 1 + from * events };
        let send = Op::Send { to: 0, tag: 0, bytes: 8, is_synchronous: false };
        let start = Op::Work { ns: 10_000 * from, events: 0 };
        std::iter::once(start).chain([work, send].repeat(messages)).collect()
    };
    let receive = Op::Receive { from: None, tag: 0 };
    Program { ranks: vec![vec![receive; 2 * messages], sender(0), sender(1)], cost_ns: 400 }
}

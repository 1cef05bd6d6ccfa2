//! Small worlds whose causes can be seen at once.

use super::*;
use crate::delay::costs::{DelayCost, DelayCosts};

const SIZES: Sizes = Sizes { activities: 8, causes: 16, path: 16, partners: 4, finest: 1_000 };
/// The activity of all calls, and the callpath.
const CALL: Activity = Activity::from_number(99);

/// Ranks with clocks that only their own activities and waits move.
struct World<'m> {
    ledgers: Vec<Ledger<'m>>,
    costs: Vec<Costs<'m>>,
    now_ns: Vec<u64>,
    /// When each rank has left the last operation of all, which others may leave later.
    met: u64,
}

fn memory(ranks: usize, words: usize) -> Vec<Vec<AtomicU64>> {
    (0..ranks).map(|_| (0..words).map(|_| AtomicU64::new(0)).collect()).collect()
}

/// The costs, each with the rank that has waited.
type Found = Vec<(DelayCost, u32)>;

/// Runs what happens in a world, and returns the costs of all ranks and the path of the last one.
fn check(ranks: usize, happens: impl FnOnce(&mut World<'_>)) -> (Found, Vec<(Cause, u64)>) {
    let (pages, tables) = (memory(ranks, SIZES.words()), memory(ranks, Costs::words(64)));
    let ledgers = (0..).zip(&pages).map(|(rank, page)| Ledger::new(page, SIZES, rank)).collect();
    let costs = tables.iter().map(|table| Costs::new(table)).collect();
    let mut world = World { ledgers, costs, now_ns: vec![0; ranks], met: 0 };
    happens(&mut world);
    let last = (0..ranks).max_by_key(|rank| world.now_ns[*rank]).unwrap();
    let path = world.ledgers[last].path();
    let path: Vec<_> = path.into_iter().map(|part| (part.cause, part.ns)).collect();
    assert_eq!(path.iter().map(|(_, ns)| ns).sum::<u64>(), world.now_ns[last], "the path is whole");
    let of = |table: &Vec<AtomicU64>| DelayCosts::read(table).unwrap().entries;
    let costs = tables.iter().map(of).zip(0..);
    (
        costs.flat_map(|(costs, rank)| costs.into_iter().map(move |cost| (cost, rank))).collect(),
        path,
    )
}

impl World<'_> {
    fn work(&mut self, rank: usize, activity: u64, ns: u64) {
        self.now_ns[rank] += ns;
        self.ledgers[rank].add(Activity::from_number(activity), ns, self.now_ns[rank]);
    }

    fn wait_until(&mut self, rank: usize, partner: usize, came_ns: u64, is_mutual: bool) {
        let entered_ns = self.now_ns[rank];
        let partner_number = u32::try_from(partner).unwrap();
        let wanted = self.ledgers[rank].wanted(partner_number, came_ns);
        let mut pulled = Pulled::new(SIZES);
        assert!(self.ledgers[partner].page().pull(&wanted, &mut pulled));
        let wait = Wait {
            callpath: CALL.number(),
            activity: CALL,
            partner: partner_number,
            entered_ns,
            left_ns: came_ns + 10,
            waited_ns: came_ns - entered_ns,
            partner_ns: came_ns,
            lost_ns: 0,
            is_mutual,
            is_over: false,
        };
        self.ledgers[rank].wait(&wait, Some(&pulled), &mut self.costs[rank]);
        self.now_ns[rank] = wait.left_ns;
    }

    /// A rank waits for a message that another one sends now, too shortly for a look.
    fn defer(&mut self, rank: usize, from: usize) {
        let (entered_ns, came_ns) = (self.now_ns[rank], self.now_ns[from]);
        assert_eq!(self.ledgers[rank].defer(CALL.number(), 0, came_ns - entered_ns), 0);
        self.work(rank, CALL.number(), came_ns + 10 - entered_ns);
    }

    /// A rank waits for a message that another one sends now.
    fn receive(&mut self, rank: usize, from: usize) {
        self.wait_until(rank, from, self.now_ns[from], false);
    }

    /// All ranks wait for the last one.
    fn barrier(&mut self) {
        let last = (0..self.now_ns.len()).max_by_key(|rank| self.now_ns[*rank]).unwrap();
        let came_ns = self.now_ns[last];
        self.work(last, CALL.number(), 10);
        self.met += 1;
        // The last rank is the first to leave.
        for rank in std::iter::once(last).chain((0..self.now_ns.len()).filter(|rank| *rank != last))
        {
            if rank != last {
                self.wait_until(rank, last, came_ns, true);
            }
            let instance = Instance { communicator: 1, number: self.met };
            self.ledgers[rank].align(instance, self.now_ns[rank]);
        }
    }
}

fn costs_of(found: &[(DelayCost, u32)], rank: u32, cause: (u32, u64)) -> (u64, u64) {
    let cause = Cause::new(cause.0, Activity::from_number(cause.1));
    let cost = found.iter().find(|(cost, waited)| *waited == rank && cost.cause == cause);
    cost.map_or((0, 0), |(cost, _)| (cost.direct.ns, cost.propagated.ns))
}

#[test]
fn a_late_sender_is_late_by_what_it_did_longer() {
    let (found, path) = check(2, |world| {
        world.work(0, 1, 5_000);
        world.work(0, 2, 40_000);
        world.work(1, 1, 5_000);
        world.receive(1, 0);
    });
    assert_eq!(found.len(), 1);
    assert_eq!(costs_of(&found, 1, (0, 2)), (40_000, 0));
    let on_path = |rank, activity| Cause::new(rank, Activity::from_number(activity));
    assert_eq!(path[..2], [(on_path(0, 2), 40_000), (on_path(0, 1), 5_000)]);
    assert_eq!(path[2], (on_path(1, CALL.number()), 10));
}

#[test]
fn a_delay_is_passed_on_along_a_chain() {
    let (found, _) = check(3, |world| {
        world.work(0, 1, 60_000);
        world.work(1, 1, 10_000);
        world.receive(1, 0);
        world.work(1, 2, 20_000);
        world.work(2, 1, 10_000);
        world.receive(2, 1);
    });
    assert_eq!(costs_of(&found, 1, (0, 1)), (50_000, 0));
    assert_eq!(costs_of(&found, 2, (1, 2)), (20_000, 0), "the second rank has worked longer");
    assert_eq!(costs_of(&found, 2, (0, 1)), (0, 50_000), "the first one has delayed the second");
}

#[test]
fn only_what_was_done_since_the_ranks_synchronised_counts() {
    let (found, _) = check(2, |world| {
        world.work(0, 1, 50_000);
        world.receive(1, 0);
        // Rank 0 has waited for nobody, and finds in the other's page when it was waited for.
        world.work(1, 2, 30_000);
        world.receive(0, 1);
        world.work(0, 3, 8_000);
        world.receive(1, 0);
    });
    assert_eq!(costs_of(&found, 0, (1, 2)).0, 30_000);
    assert_eq!(costs_of(&found, 1, (0, 1)), (50_000, 0));
    assert_eq!(costs_of(&found, 1, (0, 3)).0, 8_000);
}

#[test]
fn an_operation_of_all_synchronises_ranks_that_did_not_wait_for_each_other() {
    let (found, _) = check(3, |world| {
        world.work(0, 1, 90_000);
        world.work(1, 2, 70_000);
        world.work(2, 3, 30_000);
        world.barrier();
        world.barrier();
        world.work(1, 4, 5_000);
        world.receive(2, 1);
    });
    assert_eq!(costs_of(&found, 2, (1, 4)).0, 5_000);
    assert_eq!(costs_of(&found, 2, (1, 2)), (0, 0), "the first barrier has settled that");
    assert_eq!(costs_of(&found, 1, (0, 1)).0, 20_000);
}

#[test]
fn what_a_rank_does_after_it_has_come_does_not_count() {
    let (found, _) = check(2, |world| {
        world.work(0, 1, 50_000);
        let came_ns = world.now_ns[0];
        world.work(0, 2, 700_000);
        world.wait_until(1, 0, came_ns, false);
        world.now_ns[1] = 800_000;
        world.ledgers[1].add(CALL, 800_000 - 50_010, 800_000);
    });
    assert_eq!(costs_of(&found, 1, (0, 1)), (50_000, 0));
    assert_eq!(costs_of(&found, 1, (0, 2)), (0, 0));
}

#[test]
fn a_state_that_is_gone_is_counted() {
    let page = memory(2, SIZES.words());
    let table = memory(1, Costs::words(8));
    let mut costs = Costs::new(&table[0]);
    let mut late = Ledger::new(&page[0], SIZES, 0);
    let mut waits = Ledger::new(&page[1], SIZES, 1);
    (0..200).for_each(|number| late.add(CALL, 10, 1_000 + 10 * number));
    let mut pulled = Pulled::new(SIZES);
    assert!(late.page().pull(&waits.wanted(0, 1_100), &mut pulled));
    let wait = Wait {
        callpath: 1,
        activity: CALL,
        partner: 0,
        entered_ns: 0,
        left_ns: 1_200,
        waited_ns: 1_100,
        partner_ns: 1_100,
        lost_ns: 0,
        is_mutual: false,
        is_over: false,
    };
    waits.wait(&wait, Some(&pulled), &mut costs);
    waits.wait(&wait, None, &mut costs);
    assert_eq!(waits.losses(), Losses { unread: 1, late: 1, ..Losses::default() });
    // Partners with the same remainder share two places: the third one takes that of the first.
    for partner in [2, 4, 0] {
        assert!(late.page().pull(&waits.wanted(partner, 5_000), &mut pulled));
        waits.wait(&Wait { partner, ..wait }, Some(&pulled), &mut costs);
    }
    assert_eq!(waits.losses().forgotten, 1);
    let sum: u64 = waits.path().iter().map(|part| part.ns).sum();
    assert!(sum > 0, "there is a path in any case");
}

#[test]
fn short_waits_are_worth_a_look_if_they_are_rare() {
    let page = memory(1, SIZES.words());
    let mut ledger = Ledger::new(&page[0], SIZES, 0);
    assert!(ledger.is_worth(2_000, 1));
    assert!(!ledger.is_worth(1_999, 49_999));
    assert!(ledger.is_worth(200, 50_000));
    assert!(!ledger.is_worth(199, 50_000));
    (0..100).for_each(|_| ledger.spend(20_000));
    assert!(!ledger.is_worth(999_999, 50_000), "the budget is spent");
    assert!(ledger.is_worth(1_000_000, 50_000));
    assert!(ledger.is_worth(2_000, 15_000_000));
}

#[test]
fn a_wait_has_the_causes_of_those_that_were_deferred() {
    let (found, _) = check(2, |world| {
        for _ in 0..3 {
            world.work(0, 2, 900);
            world.defer(1, 0);
        }
        world.work(0, 2, 900);
        world.receive(1, 0);
    });
    // Each time 10 ns after the message came, the receiver waits again.
    assert_eq!(costs_of(&found, 1, (0, 2)), (900 + 3 * 890, 0));
    let page = memory(1, SIZES.words());
    let mut ledger = Ledger::new(&page[0], SIZES, 0);
    assert_eq!(ledger.defer(256, 1, 700) + ledger.defer(256, 1, 20), 0);
    assert_eq!((ledger.give_up(), ledger.give_up()), (720, 0));
}

#[test]
fn what_is_heard_after_a_call_moves_the_path_as_if_it_was_heard_then() {
    let (pages, table) = (memory(3, SIZES.words()), memory(1, Costs::words(8)));
    for is_superseded in [false, true] {
        let [mut late, mut other] = [1, 2].map(|rank| Ledger::new(&pages[rank], SIZES, 1));
        let page = memory(1, SIZES.words());
        let mut waits = Ledger::new(&page[0], SIZES, 0);
        let (mut costs, mut pulled) = (Costs::new(&table[0]), Pulled::new(SIZES));
        late.add(Activity::from_number(1), 100, 100);
        // The call ends at 110, and nobody knows yet why it has taken as long.
        waits.add(Activity::from_number(2), 20, 20);
        waits.add(CALL, 90, 110);
        waits.add(Activity::from_number(3), 30, 140);
        let wait = Wait {
            callpath: 1,
            activity: CALL,
            partner: 1,
            entered_ns: 140,
            left_ns: 110,
            waited_ns: 80,
            partner_ns: 100,
            lost_ns: 0,
            is_mutual: false,
            is_over: true,
        };
        if is_superseded {
            other.add(Activity::from_number(4), 150, 150);
            assert!(other.page().pull(&waits.wanted(2, 150), &mut pulled));
            let now = Wait { partner: 2, left_ns: 155, partner_ns: 150, is_over: false, ..wait };
            waits.wait(&now, Some(&pulled), &mut costs);
        }
        assert!(late.page().pull(&waits.wanted(1, 100), &mut pulled));
        waits.wait(&wait, Some(&pulled), &mut costs);
        let path: Vec<_> = waits.path().iter().map(|part| (part.cause, part.ns)).collect();
        let on_path = |rank, activity: u64| Cause::new(rank, Activity::from_number(activity));
        let expected = match is_superseded {
            false => vec![(on_path(1, 1), 100), (on_path(0, 3), 30), (on_path(0, 99), 10)],
            true => vec![(on_path(2, 4), 150), (on_path(0, 99), 5)],
        };
        assert_eq!(path, expected);
        let found = DelayCosts::read(&table[0]).expect("nobody writes");
        assert!(found.entries.iter().any(|cost| cost.cause == on_path(1, 1)), "{found:?}");
    }
}

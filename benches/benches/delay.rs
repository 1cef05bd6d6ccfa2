//! The cost of delay costs: an activity that is added to a rank's clock, and a wait whose causes
//! are looked for. Both ranks are on one processor, so the caches hold what another processor would
//! have to send.

use std::hint::black_box;
use std::sync::atomic::AtomicU64;

use criterion::{Criterion, criterion_group, criterion_main};
use tinyprof_messages::delay::{Activity, Costs, Ledger, Pulled, Sizes, Wait};

/// Memory as the ranks of a host share it.
fn memory(words: usize) -> Vec<AtomicU64> {
    (0..words).map(|_| AtomicU64::new(0)).collect()
}

/// Ranks that wait for each other in turns, after this many activities.
struct World<'m> {
    ledgers: Vec<Ledger<'m>>,
    costs: Vec<Costs<'m>>,
    pulled: Pulled,
    activities: u64,
    /// The activities of a rank between two waits.
    each: u64,
    now_ns: u64,
    turn: usize,
}

impl World<'_> {
    /// The next two ranks compute, and the second one waits for the first.
    fn turn(&mut self) {
        let ranks = self.ledgers.len();
        let (late, waits) = (self.turn % ranks, (self.turn + 1) % ranks);
        for step in 0..self.each {
            let number = (self.turn as u64 + step) % self.activities + 1;
            let activity = Activity::from_number(number);
            self.now_ns += 1_000;
            self.ledgers[late].add(activity, 1_000, self.now_ns);
            self.ledgers[waits].add(activity, 500, self.now_ns);
        }
        let partner = u32::try_from(late).expect("a few ranks");
        let wait = Wait {
            callpath: 7,
            activity: Activity::from_number(99),
            partner,
            entered_ns: self.now_ns - 10_000,
            left_ns: self.now_ns + 2_000,
            waited_ns: 10_000,
            partner_ns: self.now_ns,
            lost_ns: 0,
            is_mutual: false,
            is_over: false,
        };
        let wanted = self.ledgers[waits].wanted(partner, wait.partner_ns);
        let is_read = self.ledgers[late].page().pull(&wanted, &mut self.pulled);
        assert!(is_read, "nobody writes meanwhile");
        self.ledgers[waits].wait(&wait, Some(&self.pulled), &mut self.costs[waits]);
        self.now_ns += 2_000;
        self.turn += 1;
    }
}

fn delay(criterion: &mut Criterion) {
    let sizes = Sizes::default();
    let page = memory(sizes.words());
    let mut ledger = Ledger::new(&page, sizes, 0);
    let mut number = 0;
    criterion.bench_function("delay/add", |bencher| {
        bencher.iter(|| {
            number = number % 12 + 1;
            ledger.add(black_box(Activity::from_number(number)), 1_000, 5);
        });
    });
    for (name, ranks, activities, each) in [
        ("delay/wait_2_ranks", 2, 4, 2),
        ("delay/wait_4_ranks", 4, 12, 4),
        ("delay/wait_full", 16, 31, 8),
    ] {
        let pages: Vec<_> = (0..ranks).map(|_| memory(sizes.words())).collect();
        let tables: Vec<_> = (0..ranks).map(|_| memory(Costs::words(Costs::ENTRIES))).collect();
        let ledgers = (0..).zip(&pages).map(|(rank, page)| Ledger::new(page, sizes, rank));
        let mut world = World {
            ledgers: ledgers.collect(),
            costs: tables.iter().map(|table| Costs::new(table)).collect(),
            pulled: Pulled::new(sizes),
            activities,
            each,
            now_ns: 20_000,
            turn: 0,
        };
        (0..10_000).for_each(|_| world.turn());
        criterion.bench_function(name, |bencher| bencher.iter(|| world.turn()));
    }
}

criterion_group!(benches, delay);
criterion_main!(benches);

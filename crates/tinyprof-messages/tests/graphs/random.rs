//! The union of random programs does not depend on how it is made.

use proptest::prelude::*;
use tinyprof_messages::graph::{Comparison, Tag, phases};

use crate::union::Union;
use crate::world::{ISEND, SEND, World};

#[derive(Clone, Debug)]
enum Step {
    Message { from: usize, to: usize, is_wildcard: bool },
    Region { rank: usize, region: u64 },
    Leave { rank: usize },
    Loop { region: u64, iterations: usize, is_broadcast: bool },
    Work { rank: usize, ns: u64 },
}

const RANKS: usize = 5;

fn step() -> impl Strategy<Value = Step> {
    let rank = 0..RANKS;
    prop_oneof![
        4 => (rank.clone(), 1..RANKS, any::<bool>()).prop_map(|(from, by, is_wildcard)| {
            Step::Message { from, to: (from + by) % RANKS, is_wildcard }
        }),
        1 => (rank.clone(), 1_u64..4).prop_map(|(rank, region)| Step::Region { rank, region }),
        1 => rank.clone().prop_map(|rank| Step::Leave { rank }),
        1 => (10_u64..12, 1_usize..4, any::<bool>()).prop_map(|(region, iterations, is_broadcast)| {
            Step::Loop { region, iterations, is_broadcast }
        }),
        2 => (rank, 0_u64..100_000).prop_map(|(rank, ns)| Step::Work { rank, ns }),
    ]
}

fn run(steps: &[Step]) -> Vec<Tag> {
    let mut world = World::new(RANKS);
    let mut depth = [0; RANKS];
    for step in steps {
        match *step {
            Step::Message { from, to, is_wildcard } => {
                world.send(from, to, if is_wildcard { SEND } else { ISEND });
                world.receive(to, from, is_wildcard);
            }
            Step::Region { rank, region } => {
                world.enter(rank, region);
                depth[rank] += 1;
            }
            Step::Leave { rank } if depth[rank] > 0 => {
                world.leave(rank);
                depth[rank] -= 1;
            }
            Step::Leave { .. } => {}
            Step::Loop { region, iterations, is_broadcast } => {
                world.ranks().for_each(|rank| world.enter_loop(rank, region));
                for _ in 0..iterations {
                    world.ranks().for_each(|rank| world.iterate(rank));
                    if is_broadcast {
                        world.broadcast(2);
                    }
                }
                world.ranks().for_each(|rank| world.leave_loop(rank));
            }
            Step::Work { rank, ns } => world.compute(rank, ns),
        }
    }
    world.end()
}

fn united(tags: &[Tag], ranks: &[usize]) -> Union {
    let mut union = Union::default();
    ranks.iter().for_each(|rank| union.add(&tags[*rank]));
    union
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn unions_are_equal_whatever_the_grouping_and_order(
        steps in proptest::collection::vec(step(), 0..60),
        order in Just((0..RANKS).collect::<Vec<_>>()).prop_shuffle(),
        cuts in (0..=RANKS, 0..=RANKS),
    ) {
        let tags = run(&steps);
        let all = united(&tags, &[0, 1, 2, 3, 4]);
        let cuts = (cuts.0.min(cuts.1), cuts.0.max(cuts.1));
        let group = |ranks: &[usize]| united(&tags, ranks);
        let [a, b, c] =
            [group(&order[..cuts.0]), group(&order[cuts.0..cuts.1]), group(&order[cuts.1..])];
        let (mut left, mut right) = (a.clone(), b.clone());
        left.absorb(&b);
        left.absorb(&c);
        right.absorb(&c);
        right.absorb(&a);
        prop_assert_eq!(&left, &all);
        prop_assert_eq!(&right, &all);
        for ((node, offset), sides) in all.sides() {
            prop_assert_eq!(sides.sent, sides.received, "{:?} {}", node, offset);
        }
    }

    /// Ranks are alike if nothing differs between them, and each is in one class of each phase.
    #[test]
    fn classes_and_differences_agree(steps in proptest::collection::vec(step(), 0..40)) {
        let tags = run(&steps);
        let comparison = Comparison::new(RANKS as u32);
        for phase in phases(&tags, &comparison) {
            let mut ranks: Vec<u32> =
                phase.classes.iter().flat_map(|class| class.ranks.iter()).collect();
            ranks.sort_unstable();
            prop_assert!(ranks.windows(2).all(|pair| pair[0] < pair[1]), "{:?}", phase);
            for class in &phase.classes {
                let first = &tags[class.representative as usize];
                for rank in class.ranks.iter() {
                    let other = &tags[rank as usize];
                    let differences = comparison.differences(first, other, &phase.section);
                    prop_assert_eq!(differences, []);
                }
            }
        }
    }
}

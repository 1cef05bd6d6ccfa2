//! Tests of virtual ranks: their collectives, the errors that are detected, and the cost of
//! messages.

use super::*;
use crate::communicator::Communicator;

#[test]
fn collectives_agree_on_any_number_of_ranks() {
    for size in [1, 2, 3, 7, 64] {
        let results = run(size, |c| async move {
            let rank = u8::try_from(c.rank()).unwrap();
            let reduced = c.all_reduce(&[u64::from(rank), 5], &[1, u64::MAX]).await.unwrap();
            let first = c.rank() / 3 * 3;
            let group = c.subgroup(first, 3.min(c.size() - first));
            let gathered =
                group.gather(vec![rank], &[1; 3][..group.size() as usize]).await.unwrap().concat();
            let said = c.broadcast(vec![rank]).await.unwrap();
            (reduced, gathered, said)
        });
        for (rank, (reduced, gathered, said)) in (0_u8..).zip(results) {
            let (ranks, last) = (u64::from(size), u64::from(size - 1));
            assert_eq!(reduced, (vec![last, 5], vec![ranks, ranks.wrapping_neg()]));
            assert_eq!(said, [0]);
            let last = (rank + 3).min(u8::try_from(size).unwrap());
            let expected: Vec<u8> = if rank % 3 == 0 { (rank..last).collect() } else { Vec::new() };
            assert_eq!(gathered, expected);
        }
    }
}

#[test]
#[should_panic(expected = "wait for each other")]
fn a_rank_that_never_comes_is_noticed() {
    run(2, |c| async move {
        if c.rank() == 0 {
            drop(c.receive(1, 1).await);
        }
    });
}

#[test]
#[should_panic(expected = "nobody received")]
fn a_message_that_nobody_wants_is_noticed() {
    run(2, |c| async move { c.send(1 - c.rank(), vec![1]).await });
}

#[test]
fn a_deadline_interrupts_those_that_wait_in_vain() {
    let results = run_with_deadline(3, |c| async move {
        match c.rank() {
            0 => c.receive(1, 1).await.is_ok(),
            1 => c.send(0, vec![1]).await.is_ok(),
            _ => c.receive(1, 1).await.is_ok(),
        }
    });
    assert_eq!(results, [true, true, false]);
}

#[test]
fn clocks_follow_the_model() {
    let costs = LogGp { latency_ns: 1000, overhead_ns: 100, gap_ps_a_byte: 2000 };
    let clocks = run_timed(3, costs, |c, account| async move {
        if c.rank() == 0 {
            c.receive(1, 50).await.unwrap();
            c.receive(2, 50).await.unwrap();
        } else {
            c.send(0, vec![0; 50]).await.unwrap();
        }
        account.get()
    });
    // Sent at 100 + 50 * 2, arrived 1000 later. The second had arrived too, and occupies the link
    // of rank 0 next.
    let clock_ns: Vec<_> = clocks.results.iter().map(|spent| spent.clock_ns).collect();
    assert_eq!(clock_ns, [1300 + 100 + 100, 200, 200]);
    let (first, second) = (clocks.results[0], clocks.results[1]);
    assert_eq!((first.messages_received, first.bytes_received, first.messages_sent), (2, 100, 0));
    assert_eq!((second.messages_sent, second.bytes_sent), (1, 50));
}

#[test]
fn the_busiest_rank_of_a_tree_sends_and_receives_log_p_messages() {
    let all = run_timed(4096, LogGp::default(), |c, account| async move {
        c.all_max(&[1]).await.unwrap();
        account.get()
    });
    let most = |of: fn(&RankAccount) -> u64| all.results.iter().map(of).max();
    assert_eq!((most(|s| s.messages_sent), most(|s| s.messages_received)), (Some(12), Some(12)));
}

#[test]
fn what_a_group_sent_is_gone_before_the_next_begins() {
    let finished = run_timed(4096, LogGp::default(), |c, _| async move {
        c.all_max(&[1]).await.unwrap();
        c.subgroup(c.rank() / 16 * 16, 16).gather(vec![0; 1000], &[1000; 16]).await.unwrap();
    });
    assert!(finished.bytes_on_the_way_max < 2 * 16_000, "{}", finished.bytes_on_the_way_max);
}

//! Tests of the list of executions.

use proptest::prelude::*;

use super::super::element::{PastExecution, SeriesElement};
use super::super::node::NODE_CLASS;
use super::*;

fn with_node(test: impl FnOnce(Node<'_>)) {
    let segment = Segment::reserve().unwrap();
    let line = segment.allocate(NODE_CLASS).unwrap();
    // SAFETY: the line was just handed out for a node.
    test(unsafe { Node::at(&segment, line) });
}

fn visit(execution: u32, ticks: u64) -> SeriesElement {
    SeriesElement { execution, visits: 1, sum: ticks, min: ticks, max: ticks }
}

/// Pushes visits of `lengths[e]` iterations in execution `e` and compares every element with
/// the exact list.
fn check_against_exact_list(lengths: &[u32]) {
    with_node(|node| {
        let mut exact = Vec::new();
        for (execution, &length) in (0_u32..).zip(lengths) {
            for i in 0..length {
                let ticks = u64::from(i * 7919 % 1000 + 1);
                exact.push((execution, ticks));
                assert!(push_visit(node, execution, ticks));
            }
        }
        let series = copy::<SeriesElement>(node.segment, node.list(SeriesElement::LIST));
        assert!(series.len() <= 1 << 15);
        let mut rest = exact.as_slice();
        for element in series {
            let (mine, others) = rest.split_at(element.visits as usize);
            assert_eq!(element.execution, mine[0].0);
            assert_eq!(element.sum, mine.iter().map(|v| v.1).sum::<u64>());
            assert_eq!(Some(element.min), mine.iter().map(|v| v.1).min());
            assert_eq!(Some(element.max), mine.iter().map(|v| v.1).max());
            rest = others;
        }
        assert!(rest.is_empty(), "every visit is in some element");
    });
}

#[test]
fn a_short_series_keeps_every_visit() {
    check_against_exact_list(&[0, 1, 2, 3, 100]);
    with_node(|node| {
        (0..1000).for_each(|i| assert!(push(node, visit(0, i))));
        let series = copy::<SeriesElement>(node.segment, node.list(SeriesElement::LIST));
        assert_eq!(series.iter().map(|e| e.sum).collect::<Vec<_>>(), (0..1000).collect::<Vec<_>>());
    });
}

#[test]
fn a_long_series_folds_and_stays_exact() {
    check_against_exact_list(&[100_000]);
    check_against_exact_list(&[1; 100_000]);
    check_against_exact_list(&[3; 50_000]);
}

#[test]
fn executions_fold_when_there_are_too_many() {
    with_node(|node| {
        for execution in 0..10_000_u32 {
            let n = u64::from(execution);
            let past = PastExecution {
                execution,
                executions: 1,
                visits: 2,
                sum: n,
                min: n,
                max: n,
                squares: u128::from(n * n),
                variance: 0.0,
            };
            assert!(push(node, past));
        }
        let past = copy::<PastExecution>(node.segment, node.list(PastExecution::LIST));
        assert!(past.len() <= 4096);
        let mut next = 0;
        for p in past {
            assert_eq!((p.execution, p.min), (next, u64::from(next)));
            next += p.executions;
            assert_eq!((p.max, p.visits), (u64::from(next) - 1, 2 * u64::from(p.executions)));
        }
        assert_eq!(next, 10_000);
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn any_pattern_of_executions_stays_exact(lengths in prop::collection::vec(0_u32..3000, 1..60)) {
        check_against_exact_list(&lengths);
    }
}

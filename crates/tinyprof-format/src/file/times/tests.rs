//! Times of callpaths, encoded and decoded.

use super::*;
use crate::model::SeriesBucket;

fn bytes_of(ranks: &[RankUsage<'_>]) -> Vec<u8> {
    let mut sink = Sink::default();
    encode(&mut sink, ranks);
    sink.into_vec()
}

fn series(execution: u32, times_ns: &[u64]) -> Vec<SeriesBucket> {
    times_ns.iter().map(|&ns| SeriesBucket::of_one_visit(execution, ns)).collect()
}

fn times_of<'a>(executions: &'a [ExecutionSummary], series: &'a [u8]) -> RankUsage<'a> {
    RankUsage { executions, series, called: None }
}

fn kind_after_a_round_trip(ranks: &[(Vec<ExecutionSummary>, Vec<SeriesBucket>)]) -> u8 {
    let encoded: Vec<Vec<u8>> = ranks.iter().map(|(_, buckets)| series::encode(buckets)).collect();
    let times = ranks.iter().zip(&encoded);
    let times: Vec<_> =
        times.map(|((executions, _), series)| times_of(executions, series)).collect();
    let bytes = bytes_of(&times);
    let mut found = vec![CallpathValues::default(); ranks.len()];
    let mut cursor = Cursor::new(&bytes, 0);
    decode(&mut cursor, &mut found).unwrap();
    cursor.finish("the section").unwrap();
    for (values, (executions, series)) in found.iter().zip(ranks) {
        assert_eq!((&values.executions, &values.series), (executions, series));
    }
    bytes[0] & !NEWER
}

#[test]
fn sums_of_a_series_are_not_stored_beside_it() {
    let mut buckets = series(0, &[5, 3, 9]);
    buckets.extend(series(2, &[1]));
    let summaries = precision::of_series(&buckets, 2);
    assert_eq!(
        summaries.iter().map(|e| (e.execution, e.visits, e.sum_ns)).collect::<Vec<_>>(),
        [(0, 3, 17), (2, 1, 1)]
    );
    let absent = (Vec::new(), Vec::new());
    let whole = (summaries.clone(), buckets.clone());
    assert_eq!(kind_after_a_round_trip(&[whole.clone(), absent, whole.clone()]), OF_SERIES);
    // Summaries that the series does not imply are stored.
    let with = |change: fn(&mut ExecutionSummary)| {
        let mut summaries = summaries.clone();
        change(&mut summaries[0]);
        kind_after_a_round_trip(&[whole.clone(), (summaries, buckets.clone())])
    };
    assert_eq!(with(|e| e.visits += 1), TIMED);
    assert_eq!(with(|e| e.sum_squares_ns2 += 1.0), TIMED);
    assert_eq!(with(|e| e.sum_variance_ns2 = 1.0), SAMPLED);
    assert_eq!(kind_after_a_round_trip(&[whole.clone(), (summaries.clone(), Vec::new())]), TIMED);
    let folded = vec![SeriesBucket { visits: 4, sum_ns: 18, min_ns: 1, max_ns: 9, execution: 0 }];
    assert_eq!(kind_after_a_round_trip(&[(summaries, folded)]), TIMED);
}

#[test]
fn single_visits_without_series_are_the_smallest() {
    let once = |ns| (vec![ExecutionSummary::of_one_visit(0, ns)], Vec::new());
    assert_eq!(kind_after_a_round_trip(&[once(7), once(9)]), SINGLE);
}

#[test]
fn a_reader_of_the_older_layout_finds_no_column_where_the_kind_is() {
    let bytes = bytes_of(&[times_of(&[ExecutionSummary::of_one_visit(0, 7)], &[])]);
    let error =
        column::read_u64(&mut Cursor::new(&bytes, 0), 1, "the numbers of summaries").unwrap_err();
    assert!(error.reason.contains("no readable encoding"), "{error:?}");
}

#[test]
fn exclusive_sums_are_of_executions_in_order() {
    // Kind 0: two summaries, of the executions 3 and gap + 1, with the sums 7 and 8.
    let bytes = |first: u8, gap: u8| [NEWER | first, 0, 2, 1, 3, gap, 1, 7, 8, NONE];
    let read = |bytes: &[u8]| decode(&mut Cursor::new(bytes, 0), &mut [CallpathValues::default()]);
    assert_eq!(read(&bytes(EXCLUSIVE, 3)), Ok(Sums::Exclusive { single: true }));
    assert_eq!(read(&bytes(0, 2)), Ok(Sums::Inclusive), "nobody looks these up");
    let error = read(&bytes(EXCLUSIVE, 2)).unwrap_err();
    assert!(error.reason.contains("not in the order of executions"), "{error:?}");
}

#[test]
fn a_stretch_has_an_element_at_least() {
    // Joined: two stretches of one rank, executions 0 and 1. The second has this number of
    // elements.
    let joined = |second: u8| [NEWER | OF_SERIES, 0, 2, 0, 0, 1, 1, second, 0, 1, 0, 9, 0];
    // A series of its own: two elements in two executions. The second has this number of elements.
    let own = |first: u8, second: u8| {
        let series = [2, 2, 1, 0, 1, 1, first, second, 0, 1, 0, 9];
        [&[NEWER, 0, 0, 0, 0, 0, 0, OWN, 0, 12][..], &series].concat()
    };
    let read = |bytes: &[u8]| decode(&mut Cursor::new(bytes, 0), &mut [CallpathValues::default()]);
    assert_eq!((read(&joined(1)), read(&own(1, 1))), (Ok(Sums::Inclusive), Ok(Sums::Inclusive)));
    for empty in [read(&joined(0)), read(&own(2, 0))] {
        assert!(empty.unwrap_err().reason.contains("has no elements"));
    }
}

#[test]
fn unknown_kinds_are_errors() {
    for bytes in
        [&[NEWER | 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0][..], &[NEWER | SINGLE, 0, 0, 0, 0, 0, 0, 9]]
    {
        let error =
            decode(&mut Cursor::new(bytes, 0), &mut [CallpathValues::default()]).unwrap_err();
        assert!(error.reason.starts_with("9 is no kind of"), "{error:?}");
    }
}

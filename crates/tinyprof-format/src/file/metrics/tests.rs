//! Tests of the section of metrics.

use super::*;
use crate::model::MetricBucket;

fn recorded(values: &[f64]) -> MetricValues {
    let executions = (0..).zip(values).map(|(e, &value)| MetricSummary::of_one_value(e, value));
    let series = (0..).zip(values).map(|(e, &value)| MetricBucket::of_one_value(e, value));
    MetricValues { executions: executions.collect(), series: series.collect() }
}

fn decoded(section: &[u8], ranks: usize) -> Result<Vec<CallpathValues>, Malformed> {
    let mut cursor = Cursor::new(section, 0);
    let mut values = vec![CallpathValues::default(); ranks];
    decode_section(&mut cursor, &mut values)?;
    cursor.finish("the section")?;
    Ok(values)
}

#[test]
fn keys_are_the_union_over_ranks_and_nothing_is_made_up() {
    let first = BTreeMap::from([
        ("mem".to_owned(), recorded(&[1.0, -0.0])),
        (String::new(), recorded(&[2.0])),
    ]);
    let third = BTreeMap::from([
        ("größe".to_owned(), recorded(&[f64::NEG_INFINITY])),
        ("unused".to_owned(), recorded(&[])),
    ]);
    let (of_first, of_third) = (encode(&first), encode(&third));
    let section = encode_section(&[&of_first, &[], &of_third]).unwrap();
    let values = decoded(&section, 3).unwrap();
    assert_eq!(values[0].metrics, first);
    assert!(values[1].is_absent());
    assert_eq!(values[2].metrics.keys().collect::<Vec<_>>(), ["größe"]);
    assert_eq!(values[2].metrics["größe"], third["größe"]);
    let zero = values[0].metrics["mem"].executions[1];
    assert!([zero.sum, zero.min, zero.max].iter().all(|number| number.is_sign_negative()));
    assert_eq!(
        encode_section(&[&[], &encode(&BTreeMap::from([("k".to_owned(), recorded(&[]))]))]),
        None
    );
}

#[test]
fn a_minimum_of_another_zero_than_the_sum_is_kept() {
    let values = MetricValues {
        executions: vec![MetricSummary { min: -0.0, ..MetricSummary::of_one_value(0, 0.0) }],
        series: vec![MetricBucket { min: -0.0, ..MetricBucket::of_one_value(0, 0.0) }],
    };
    let encoded = encode(&BTreeMap::from([("k".to_owned(), values)]));
    let back = &decoded(&encode_section(&[&encoded]).unwrap(), 1).unwrap()[0].metrics["k"];
    let negative = [back.executions[0].min, back.series[0].min].map(f64::is_sign_negative);
    let positive = [back.executions[0].sum, back.series[0].sum].map(f64::is_sign_positive);
    assert_eq!([negative, positive], [[true; 2]; 2]);
}

#[test]
fn a_hostile_section_is_an_error() {
    let check = |section: &[u8], expected: &str| {
        let error = decoded(section, 2).expect_err("a hostile section");
        assert!(error.reason.contains(expected), "{error:?}");
    };
    let one = encode(&BTreeMap::from([("k".to_owned(), recorded(&[1.0]))]));
    let good = encode_section(&[&one, &one]).unwrap();
    for cut in 0..good.len() {
        assert!(decoded(&good[..cut], 2).is_err(), "cut at {cut}");
    }
    check(&[&[2], &good[1..], &good[1..]].concat(), "ascending");
    // One key whose two ranks claim 2^40 summaries each, in a constant column.
    check(
        &[&[1, 1, b'k', 0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x20][..], &[0; 30]].concat(),
        "more summaries",
    );
    check(&[&[0xff, 0xff, 0xff, 0xff, 0x0f][..], &good[1..]].concat(), "the number of metrics");
}

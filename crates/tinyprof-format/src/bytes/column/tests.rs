//! Columns are restored exactly, are small, and reject damaged bytes.

use pco::ChunkConfig;
use pco::standalone::simple_compress;
use proptest::prelude::*;

use super::pack::{configuration, is_progression, neighbours_resemble};
use super::*;
use crate::bytes::MemoryLimit;

fn check(values: &[u64]) {
    let mut sink = Sink::default();
    write_u64(&mut sink, values);
    let bytes = sink.into_vec();
    let mut cursor = Cursor::new(&bytes, 0);
    assert_eq!(read_u64(&mut cursor, values.len(), "column").unwrap(), values);
    cursor.finish("column").unwrap();
    let more = read_u64(&mut Cursor::new(&bytes, 0), values.len() + 1, "column");
    assert!(bytes[0] == CONSTANT || more.is_err(), "a column knows how long it is");
}

#[test]
fn a_trend_is_told_from_times_around_a_middle() {
    let strewn = |i: u64| 100_000 + i.wrapping_mul(0x9e37_79b9_7f4a_7c15) % 20_000;
    assert!(!neighbours_resemble((0..500).map(strewn)));
    assert!(neighbours_resemble((0..500).map(|i| i * 1000 + strewn(i) % 100)));
    assert!(neighbours_resemble((0..500).map(|i| (i / 250) * 1_000_000 + strewn(i))), "a step");
    assert!(!neighbours_resemble([].into_iter()));
}

#[test]
fn a_progression_is_told_and_packed_no_worse() {
    let progression = |step: u64| (0..5000).map(move |i: u64| i.wrapping_mul(step).wrapping_add(7));
    assert!(is_progression(progression(3)) && is_progression(progression(u64::MAX)));
    assert!(!is_progression(progression(3).chain([1])) && !is_progression([1].into_iter()));
    let automatic = ChunkConfig::default().with_compression_level(4);
    let values: Vec<u64> = progression(3).collect();
    let ours = simple_compress(&values, &configuration(values.iter().copied())).unwrap();
    assert!(ours.len() <= simple_compress(&values, &automatic).unwrap().len());
}

#[test]
fn a_trend_takes_few_bytes() {
    let mut sink = Sink::default();
    write_u64(&mut sink, &(0..4096).map(|i| 1_000_000_000 + i * 1_000).collect::<Vec<_>>());
    assert!(sink.len() < 100, "{} bytes", sink.len());
}

#[test]
fn small_constant_and_extreme_columns_come_back() {
    check(&[]);
    check(&[7]);
    check(&[5; 1000]);
    check(&[0, u64::MAX, 1, 2]);
    check(&(0..300).map(|i| i * i).collect::<Vec<_>>());
    check(&(0..300).map(|i| i * i * u64::from(u32::MAX)).collect::<Vec<_>>());
    check(&[u64::MAX, 0]);
}

fn length(values: &[u64]) -> usize {
    let mut sink = Sink::default();
    write_u64(&mut sink, values);
    sink.len()
}

#[test]
fn multiples_take_what_their_quotients_take() {
    let quotients: Vec<u64> = (0..400_u64).map(|i| i * 7_919 % 61 + 1).collect();
    let multiples: Vec<u64> = quotients.iter().map(|v| v * 1_000_000).collect();
    // The tag and a divisor of three bytes are the difference.
    assert_eq!(length(&multiples), length(&quotients) + 4);
    check(&multiples);
}

#[test]
fn a_hostile_divisor_is_an_error() {
    let mut sink = Sink::default();
    sink.u8(MULTIPLES);
    sink.varint(u64::MAX);
    sink.u8(VARINTS);
    sink.bytes(&[1, 2]);
    let error = read_u64(&mut Cursor::new(sink.as_slice(), 0), 2, "column").unwrap_err();
    assert!(error.reason.contains("over 64 bits"), "{error:?}");
    let nested = [MULTIPLES, 2, MULTIPLES, 2, CONSTANT, 1];
    assert!(read_u64(&mut Cursor::new(&nested, 0), 2, "column").is_err(), "multiples of multiples");
}

proptest! {
    #[test]
    fn any_column_comes_back(values in prop::collection::vec(any::<u64>(), 0..200)) {
        check(&values);
    }

    #[test]
    fn any_multiples_come_back(values in prop::collection::vec(any::<u32>(), 0..50), unit in any::<u32>()) {
        check(&values.iter().map(|&v| u64::from(v) * u64::from(unit)).collect::<Vec<_>>());
    }

    #[test]
    fn any_floats_come_back_bit_by_bit(values in prop::collection::vec(any::<f64>(), 0..100)) {
        let mut sink = Sink::default();
        write_f64(&mut sink, &values);
        let bytes = sink.into_vec();
        let back = read_f64(&mut Cursor::new(&bytes, 0), values.len(), "column").unwrap();
        let bits = |v: &[f64]| v.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        prop_assert_eq!(bits(&back), bits(&values));
    }

    #[test]
    fn any_bytes_give_values_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..64), count in 0_usize..100) {
        drop(read_u64(&mut Cursor::new(&bytes, 0), count, "column"));
        drop(read_f64(&mut Cursor::new(&bytes, 0), count, "column"));
    }
}

#[test]
fn numbers_of_eight_significant_bits_take_fewer_bytes_and_come_back() {
    let times: Vec<u64> = (0..500).map(|i| 1_000_000 + i * i * 977 % 700_000).collect();
    let rounded: Vec<u64> = times.iter().map(|&v| round(v)).collect();
    assert!(
        2 * length(&rounded) < length(&times),
        "{} and {} bytes",
        length(&rounded),
        length(&times)
    );
    let mut sink = Sink::default();
    write_u64(&mut sink, &rounded);
    assert_eq!(sink.as_slice()[0], ROUNDED);
    check(&rounded);
    check(&rounded[..3]);
}

#[test]
fn multiples_of_few_bits_stay_multiples() {
    let mut sink = Sink::default();
    write_u64(&mut sink, &[1000, 2000, 3000, 1000]);
    assert_eq!(sink.as_slice()[0], MULTIPLES);
}

#[test]
fn a_code_that_is_none_is_an_error() {
    let bytes = [ROUNDED, VARINTS, 0xff, 0x7f];
    let error = read_u64(&mut Cursor::new(&bytes, 0), 1, "column").unwrap_err();
    assert!(error.reason.contains("a code that stands for no number"), "{error:?}");
}

#[test]
fn codes_are_never_of_64_bits() {
    let mut sink = Sink::default();
    let codes: Vec<u64> = (0..500).map(|i| i * 17 % 7_000).collect();
    write_packed(&mut sink, PCO, &simple_compress(&codes, &ChunkConfig::default()).unwrap());
    let wide = sink.into_vec();
    assert_eq!(read_u64(&mut Cursor::new(&wide, 0), 500, "column"), Ok(codes));
    let error =
        read_u64(&mut Cursor::new(&[&[ROUNDED], wide.as_slice()].concat(), 0), 500, "column");
    assert!(error.unwrap_err().reason.contains("that codes do not have"));
}

#[test]
fn few_bytes_cannot_claim_more_memory_than_the_budget() {
    let memory_limit = MemoryLimit::new(1000);
    let claim =
        |count| read_u64(&mut Cursor::within(&memory_limit, &[CONSTANT, 7], 0), count, "column");
    assert_eq!(claim(100).unwrap(), [7; 100]);
    let error = claim(100).unwrap_err();
    assert_eq!(error.limit_bytes, Some(1000), "{error:?}");
    memory_limit.back_to(0);
    assert_eq!(claim(125).unwrap().len(), 125);
}

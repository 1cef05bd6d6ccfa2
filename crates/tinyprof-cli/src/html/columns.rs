//! Columns of numbers in the page: each number is one of a few million steps between minimum and
//! maximum.
//!
//! A step is 1 if that suffices, so that small columns are exact. The codes have 24 bits, in three
//! byte planes. If a column needs fewer, the upper planes are zeros, which compress to almost
//! nothing.
//!
//! ```text
//! column of n values at byte `at`:  n low bytes | n middle bytes | n high bytes
//! value = min + code * step         code 0xffffff: there is no value
//! ```
//!
//! Times of events are exact: whole numbers of 7 bits a byte, the lowest first; the highest bit of
//! a byte says that more follow.

use serde_json::{Value, json};

use crate::export::push_varint;

const ABSENT: u32 = 0xff_ffff;

/// The steps of columns of which there are few.
pub(super) const FINE: u32 = ABSENT - 1;
/// The steps of the columns that fill most of a page: 0.01 % of a column's spread. Further digits
/// would make up most of the page.
pub(super) const USUAL: u32 = 4_095;
/// The steps of columns that are only shown as colours.
pub(super) const COARSE: u32 = 255;

/// The bytes of all columns.
#[derive(Debug, Default)]
pub(super) struct Columns {
    bytes: Vec<u8>,
}

impl Columns {
    /// Adds a column in at most `steps` steps. Returns the data that the page needs to read it. A
    /// NaN is stored as absent.
    pub(super) fn add(&mut self, values: &[f64], steps: u32) -> Value {
        let (min, max) = range(values);
        let step = ((max - min) / f64::from(steps)).ceil().max(1.0);
        self.add_in_steps(values, (min, max), step)
    }

    /// Adds a column of numbers of any size, in `steps` steps.
    pub(super) fn add_any(&mut self, values: &[f64], steps: u32) -> Value {
        let (min, max) = range(values);
        let step = (max - min) / f64::from(steps);
        let step = if step.is_finite() && step > 0.0 { step } else { 1.0 };
        self.add_in_steps(values, (min, max), step)
    }

    fn add_in_steps(&mut self, values: &[f64], (min, max): (f64, f64), step: f64) -> Value {
        let codes: Vec<u32> = values.iter().map(|&value| code(value, min, step)).collect();
        let at = self.bytes.len();
        for shift in [0, 8, 16] {
            self.bytes.extend(codes.iter().map(|code| code.to_le_bytes()[shift / 8]));
        }
        json!({ "at": at, "count": values.len(), "min": min, "max": max, "step": step })
    }

    /// Adds a column of ascending numbers as the distances from one to the next, which are small.
    #[expect(clippy::cast_precision_loss, reason = "at most the number of cells")]
    pub(super) fn add_ascending(&mut self, numbers: impl Iterator<Item = usize>) -> Value {
        let mut before = 0;
        let gap = |number: usize| (number - std::mem::replace(&mut before, number)) as f64;
        self.add(&numbers.map(gap).collect::<Vec<_>>(), FINE)
    }

    /// Adds whole numbers exactly, in as many bytes as each needs.
    pub(super) fn add_exact(&mut self, numbers: impl Iterator<Item = u64>) -> Value {
        let (at, mut count) = (self.bytes.len(), 0_usize);
        for number in numbers {
            count += 1;
            push_varint(&mut self.bytes, number);
        }
        json!({ "at": at, "count": count })
    }

    /// Adds the bytes of other columns. Returns where they begin.
    pub(super) fn add_bytes(&mut self, bytes: &[u8]) -> usize {
        let at = self.bytes.len();
        self.bytes.extend(bytes);
        at
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// Returns minimum and maximum of the numbers that are finite; zeros if none is.
fn range(values: &[f64]) -> (f64, f64) {
    let known = || values.iter().copied().filter(|value| value.is_finite());
    let (min, max) =
        (known().fold(f64::INFINITY, f64::min), known().fold(f64::NEG_INFINITY, f64::max));
    if min <= max { (min, max) } else { (0.0, 0.0) }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "between 0 and the number of steps, which fits 24 bits"
)]
fn code(value: f64, min: f64, step: f64) -> u32 {
    if value.is_finite() { ((value - min) / step).round() as u32 } else { ABSENT }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn back(columns: &Columns, column: &Value) -> Vec<f64> {
        let number = |key: &str| column[key].as_f64().expect("a number");
        let at = |key: &str| {
            usize::try_from(column[key].as_u64().expect("an integer")).expect("it fits")
        };
        let (from, count) = (at("at"), at("count"));
        let byte = |plane: usize, i: usize| u32::from(columns.bytes[from + plane * count + i]);
        let code = |i| byte(0, i) | byte(1, i) << 8 | byte(2, i) << 16;
        let value = |code| {
            if code == ABSENT { f64::NAN } else { number("min") + f64::from(code) * number("step") }
        };
        (0..count).map(code).map(value).collect()
    }

    #[test]
    fn a_column_comes_back_within_half_a_step() {
        let check = |values: &[f64], steps: u32, within: f64| {
            let mut columns = Columns::default();
            columns.add(&[1.0, 2.0], FINE);
            let column = columns.add(values, steps);
            for (found, &expected) in back(&columns, &column).iter().zip(values) {
                let same =
                    found.is_nan() && !expected.is_finite() || (found - expected).abs() <= within;
                assert!(same, "{found} is not {expected}");
            }
        };
        check(&[], USUAL, 0.0);
        check(&[7.0, 7.0], COARSE, 0.0);
        check(&[1e12, 1e12 + 4_095.0, 1e12 + 17.0], USUAL, 0.0);
        check(&[f64::NAN, 3.0, f64::INFINITY], FINE, 0.0);
        check(&[0.0, 16_777_214.0, 12_345_678.0], FINE, 0.0);
        check(&[0.0, 1e9, 0.3e9], USUAL, 1e9 / 4_095.0);
        check(&[0.0, 1e9, 0.3e9], COARSE, 1e9 / 255.0);
    }

    #[test]
    fn numbers_of_any_size_come_back_within_half_a_step() {
        let check = |values: &[f64], steps: u32, within: f64| {
            let mut columns = Columns::default();
            let column = columns.add_any(values, steps);
            for (found, &expected) in back(&columns, &column).iter().zip(values) {
                let same =
                    found.is_nan() && !expected.is_finite() || (found - expected).abs() <= within;
                assert!(same, "{found} is not {expected}");
            }
        };
        check(&[0.25, -0.5, f64::NAN, 0.125], USUAL, 0.75 / 4_095.0);
        check(&[1e-9, 3e-9], FINE, 1e-15);
        check(&[2.5, 2.5], COARSE, 0.0);
        check(&[-1e300, 1e300], COARSE, 1e298);
    }
}

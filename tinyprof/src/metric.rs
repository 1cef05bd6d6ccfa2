//! Varying metrics: numbers that the program records for a visit.

use crate::record::{Line, Site, thread};

/// A number that can be the value of a varying metric: any integer or float. It is stored as an
/// `f64`.
#[diagnostic::on_unimplemented(
    message = "the value of a metric is a number, which `{Self}` is not",
    label = "here an integer or a float was expected",
    note = "a text that is the same for every visit is written as a literal: `key = \"text\"`"
)]
pub trait Number: Copy {
    /// Returns the nearest `f64`.
    fn to_f64(self) -> f64;
}

macro_rules! numbers {
    (exact $($number:ty)*) => {$(
        impl Number for $number {
            #[inline]
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
        }
    )*};
    (nearest $($number:ty)*) => {$(
        impl Number for $number {
            #[inline]
            #[expect(clippy::cast_precision_loss, reason = "statistics: 53 bits are plenty")]
            fn to_f64(self) -> f64 {
                self as f64
            }
        }
    )*};
}

numbers!(exact u8 u16 u32 i8 i16 i32 f32 f64);
numbers!(nearest u64 u128 usize i64 i128 isize);

impl<N: Number> Number for &N {
    #[inline]
    fn to_f64(self) -> f64 {
        (*self).to_f64()
    }
}

/// Adds a value of `metric` to the innermost open region of this thread.
#[inline]
pub fn record(metric: &'static Site, value: impl Number) {
    record_innermost(metric, value.to_f64());
}

#[inline(never)]
fn record_innermost(metric: &'static Site, value: f64) {
    if let Some(arena) = thread::arena() {
        arena.record_innermost(metric, value);
    }
}

/// Adds a value of `metric` to the open region at `line`.
#[inline(never)]
pub(crate) fn record_in(line: Line, metric: &'static Site, value: f64) {
    if let Some(arena) = thread::arena() {
        arena.record(line, metric, value);
    }
}

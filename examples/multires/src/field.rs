//! The field of a simulation: a wave through all of it, and turbulence in one half, which is why
//! some patches are compressed better than others.

use crate::grid::{Place, number, places};

/// Values in the cells of a box, the last coordinate first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cells {
    pub(crate) sides: Place,
    pub(crate) values: Vec<i32>,
}

impl Cells {
    pub(crate) fn zeros(sides: Place) -> Self {
        Self { sides, values: vec![0; sides.iter().product()] }
    }

    /// Returns the field in a cube that begins here, at a step of time.
    pub(crate) fn of_field(begin: Place, side: usize, width: usize, step: u32) -> Self {
        let sides = [side; 3];
        let at = |place: Place| {
            value(std::array::from_fn(|axis| begin[axis] + place[axis]), width, step)
        };
        Self { sides, values: places(sides).map(at).collect() }
    }

    pub(crate) fn at(&self, place: Place) -> i32 {
        self.values[number(place, self.sides)]
    }

    pub(crate) fn set(&mut self, place: Place, value: i32) {
        let number = number(place, self.sides);
        self.values[number] = value;
    }

    /// Returns the cube of this side that begins here.
    pub(crate) fn cut(&self, begin: Place, side: usize) -> Self {
        let at = |place: Place| self.at(std::array::from_fn(|axis| begin[axis] + place[axis]));
        Self { sides: [side; 3], values: places([side; 3]).map(at).collect() }
    }
}

fn value([x, y, z]: Place, width: usize, step: u32) -> i32 {
    let number = |at: usize| f64::from(u32::try_from(at).expect("a short side"));
    let phase = 0.05 * (number(x) + 2.0 * number(y) + 3.0 * number(z)) + 0.1 * f64::from(step);
    #[expect(clippy::cast_possible_truncation, reason = "at most 10,000")]
    let smooth = (10_000.0 * phase.sin()) as i32;
    if 2 * x < width {
        return smooth;
    }
    let key = ((x as u64) << 42) ^ ((y as u64) << 21) ^ z as u64 ^ (u64::from(step) << 60);
    let bits = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52;
    smooth + i32::try_from(bits).expect("12 bits")
}

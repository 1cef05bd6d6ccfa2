//! The section with the clocks of the ranks, which is absent where no rank was at level `messages`.

use crate::bytes::{Cursor, Malformed, Sink, column};
use crate::model::{ClockFacts, RankFacts};

/// The largest number of facts accepted, so that a damaged number does not cause much work.
const FACTS_MAX: usize = 64;

/// Encodes the clocks of the ranks; none if all facts are 0.
pub(super) fn encode(ranks: &[RankFacts]) -> Option<Vec<u8>> {
    if ranks.iter().all(|rank| rank.clock.is_empty()) {
        return None;
    }
    let mut sink = Sink::default();
    sink.varint(ClockFacts::COUNT as u64);
    for fact in 0..ClockFacts::COUNT {
        let column: Vec<u64> = ranks.iter().map(|rank| rank.clock.named()[fact].1).collect();
        column::write_u64(&mut sink, &column);
    }
    Some(sink.into_vec())
}

/// Reads the clocks of the ranks: the whole section. Facts that a later version has are skipped.
pub(super) fn decode(section: &mut Cursor<'_>, ranks: usize) -> Result<Vec<ClockFacts>, Malformed> {
    let facts = section.count(FACTS_MAX, "the number of facts of a clock")?;
    section.claim_temporary(ranks, 2 * size_of::<ClockFacts>(), "the clocks of the ranks")?;
    let mut numbers = vec![[0; ClockFacts::COUNT]; ranks];
    for fact in 0..facts {
        let column =
            section.passing(|section| column::read_u64(section, ranks, "a fact of the clocks"))?;
        for (numbers, number) in numbers.iter_mut().zip(column) {
            if let Some(found) = numbers.get_mut(fact) {
                *found = number;
            }
        }
    }
    section.finish("the section of the clocks")?;
    Ok(numbers.into_iter().map(ClockFacts::from_numbers).collect())
}

//! The clocks of the ranks, which are left out where no rank was at level `messages`.

use crate::bytes::{Cursor, Malformed, Sink, column};
use crate::model::{ClockFacts, RankFacts};

/// The largest number of facts accepted, so that a damaged number does not cause much work.
const FACTS_MAX: usize = 64;

/// Appends the clocks of the ranks, up to the last fact that is not 0 everywhere: nothing if there
/// is none.
pub(super) fn encode(sink: &mut Sink, ranks: &[RankFacts]) {
    let last = |rank: &RankFacts| rank.clock.named().iter().rposition(|&(_, fact)| fact > 0);
    let Some(last) = ranks.iter().filter_map(last).max() else { return };
    sink.varint(last as u64 + 1);
    for fact in 0..=last {
        let column: Vec<u64> = ranks.iter().map(|rank| rank.clock.named()[fact].1).collect();
        column::write_u64(sink, &column);
    }
}

/// Reads the clocks of the ranks. Facts that a later version has are skipped.
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
    Ok(numbers.into_iter().map(ClockFacts::from_numbers).collect())
}

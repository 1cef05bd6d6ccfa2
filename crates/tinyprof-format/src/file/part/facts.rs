//! What the ranks know of their clocks and their processor time, at the end of their section. Both
//! are left out where nothing is known.

use crate::bytes::{Cursor, Malformed, Sink, column};
use crate::model::{ClockFacts, ProcessorFacts, RankFacts};

/// The largest number of facts accepted, so that a damaged number does not cause much work.
const FACTS_MAX: usize = 64;

/// Appends the clocks of the ranks, and then their processor time.
pub(super) fn encode(sink: &mut Sink, ranks: &[RankFacts]) {
    let of = |rank: &RankFacts| rank.clock.named().map(|(_, fact)| fact);
    let clocks: Vec<_> = ranks.iter().map(of).collect();
    let of = |rank: &RankFacts| rank.processor.named().map(|(_, fact)| fact);
    let processors: Vec<_> = ranks.iter().map(of).collect();
    let has_processors = columns(&processors) > 0;
    if columns(&clocks) > 0 || has_processors {
        encode_columns(sink, &clocks);
    }
    if has_processors {
        encode_columns(sink, &processors);
    }
}

/// Returns the number of columns to write: up to the last that is not 0 everywhere.
fn columns<const N: usize>(ranks: &[[u64; N]]) -> usize {
    let last = |rank: &[u64; N]| rank.iter().rposition(|&fact| fact > 0);
    ranks.iter().filter_map(last).max().map_or(0, |last| last + 1)
}

fn encode_columns<const N: usize>(sink: &mut Sink, ranks: &[[u64; N]]) {
    let columns = columns(ranks);
    sink.varint(columns as u64);
    for fact in 0..columns {
        let column: Vec<u64> = ranks.iter().map(|rank| rank[fact]).collect();
        column::write_u64(sink, &column);
    }
}

/// Reads the clocks of the ranks. Facts that a later version has are skipped.
pub(super) fn decode_clocks(
    section: &mut Cursor<'_>,
    ranks: usize,
) -> Result<Vec<ClockFacts>, Malformed> {
    let numbers =
        decode_columns(section, ranks, "the number of facts of a clock", "a fact of the clocks")?;
    Ok(numbers.into_iter().map(ClockFacts::from_numbers).collect())
}

/// Reads the processor time of the ranks. Facts that a later version has are skipped.
pub(super) fn decode_processors(
    section: &mut Cursor<'_>,
    ranks: usize,
) -> Result<Vec<ProcessorFacts>, Malformed> {
    let numbers = decode_columns(
        section,
        ranks,
        "the number of facts of a processor",
        "a fact of the processors",
    )?;
    Ok(numbers.into_iter().map(ProcessorFacts::from_numbers).collect())
}

fn decode_columns<const N: usize>(
    section: &mut Cursor<'_>,
    ranks: usize,
    number: &'static str,
    fact: &'static str,
) -> Result<Vec<[u64; N]>, Malformed> {
    let facts = section.count(FACTS_MAX, number)?;
    section.claim_temporary(ranks, 2 * size_of::<[u64; N]>(), "the facts of the ranks")?;
    let mut numbers = vec![[0; N]; ranks];
    for at in 0..facts {
        let column = section.passing(|section| column::read_u64(section, ranks, fact))?;
        for (numbers, number) in numbers.iter_mut().zip(column) {
            if let Some(found) = numbers.get_mut(at) {
                *found = number;
            }
        }
    }
    Ok(numbers)
}

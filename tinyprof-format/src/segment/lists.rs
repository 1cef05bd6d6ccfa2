//! The lists of a callpath in a segment: past executions, and the visits of a series.

use super::layout::{LINE_WORDS, PAST_WORDS, SERIES_WORDS, header, node};
use super::words::{Words, high, low};
use crate::ticks::{PastExecution, SeriesElement};

/// The past execution that eight words say, if such a one can be.
pub(super) fn past_of(word: impl Fn(usize) -> Option<u64>) -> Option<PastExecution> {
    let first = word(0)?;
    let past = PastExecution {
        execution: low(first),
        executions: high(first),
        visits: word(1)?,
        sum: word(2)?,
        min: word(3)?,
        max: word(4)?,
        squares: u128::from(word(6)?) << 64 | u128::from(word(5)?),
    };
    let possible = past.visits > 0 && past.executions > 0;
    (possible && past.execution.checked_add(past.executions).is_some()).then_some(past)
}

/// Where a list lies, and how long it is.
struct Place {
    block: u32,
    length: usize,
}

/// The list whose two words are `word` and the next of the node at `line`. None if it cannot be, or if lists
/// before it have used up `budget_bytes`: whole lists do not overlap, so that together they are no longer than
/// the segment.
fn place(
    words: Words<'_>,
    line: u32,
    word: usize,
    element_words: usize,
    budget_bytes: &mut usize,
) -> Option<Place> {
    let (first, second) = (words.get(line, word)?, words.get(line, word + 1)?);
    let (block, length) = (low(first), high(first) as usize);
    if length == 0 {
        return Some(Place { block, length });
    }
    let class = high(second).checked_sub(1).filter(|&class| class < 32)?;
    let capacity = (LINE_WORDS / element_words).checked_shl(class)?;
    let bytes = length.checked_mul(element_words * 8)?;
    if block == 0 || length > capacity || words.bytes(block, 0, bytes).is_none() {
        return None;
    }
    *budget_bytes = budget_bytes.checked_sub(bytes)?;
    Some(Place { block, length })
}

/// The past executions of the node at `line`.
pub(super) fn past(words: Words<'_>, line: u32, budget_bytes: &mut usize) -> Option<Vec<PastExecution>> {
    let place = place(words, line, node::PAST, PAST_WORDS, budget_bytes)?;
    // The owner may have died while it changed the last element: then the header has what it was before.
    let changing = words.get(0, header::UNDO_LINE).map(low).filter(|&line| line != 0);
    let element = |at: usize| {
        let line = place.block.checked_add(u32::try_from(at).ok()?)?;
        if changing == Some(line) {
            return past_of(|word| words.get(0, header::UNDO + word));
        }
        past_of(|word| words.get(line, word))
    };
    (0..place.length).map(element).collect()
}

/// The series of the node at `line`.
pub(super) fn series(words: Words<'_>, line: u32, budget_bytes: &mut usize) -> Option<Vec<SeriesElement>> {
    let place = place(words, line, node::SERIES, SERIES_WORDS, budget_bytes)?;
    let element = |at: usize| {
        let word = |word| words.get(place.block, at * SERIES_WORDS + word);
        let first = word(0)?;
        let (execution, visits) = (low(first), high(first));
        let visit = SeriesElement { execution, visits, sum: word(1)?, min: word(2)?, max: word(3)? };
        (visits > 0).then_some(visit)
    };
    (0..place.length).map(element).collect()
}

//! A part: the values of one aggregator's ranks, callpath by callpath, each column rank-major.
//!
//! The header holds first rank, ranks and callpaths. One section for each callpath that any of the ranks
//! visited, its row as the key, and one for the ranks themselves. In a callpath's section stand, as columns:
//!
//! ```text
//! summaries of each rank (0: the rank never went there)
//! execution - position in the rank's list        all zero in a usual run
//! executions covered by each summary             all one in a usual run
//! visits | sum
//! 1 byte: 0 if every summary holds one visit, else minimum | maximum | sum of squares
//! length of each rank's series, then the encoded series themselves
//! ```

use super::encoded_rank::{EncodedRank, all_single};
use super::section::{FrameError, SectionWriter, Sections};
use super::series;
use crate::bytes::{Cursor, Malformed, Sink, column};
use crate::model::{CallpathValues, ExecutionSummary, Losses, RankFacts};

const MAGIC: &[u8; 8] = b"TPRFPART";
const RANKS_KEY: u32 = u32::MAX;

/// The bytes of a part with the values of `ranks`, the first of which is rank `first_rank` of the run, over a
/// dictionary of `callpaths` rows.
///
/// # Panics
/// If there are 2^32 ranks or more.
#[must_use]
pub fn encode_part(first_rank: u32, callpaths: u32, ranks: &[EncodedRank]) -> Vec<u8> {
    let count = u32::try_from(ranks.len()).expect("a group has fewer than 2^32 ranks");
    let mut file = SectionWriter::new(MAGIC, &[first_rank, count, callpaths]);
    file.section(RANKS_KEY, &encode_facts(ranks));
    let mut next = vec![0; ranks.len()];
    for row in 0..callpaths {
        let column: Vec<_> = ranks
            .iter()
            .zip(&mut next)
            .map(|(rank, next)| {
                let here = rank.callpaths.get(*next).filter(|c| c.row == row);
                *next += usize::from(here.is_some());
                here.map_or((&[][..], &[][..]), |c| (c.executions.as_slice(), c.series.as_slice()))
            })
            .collect();
        if column.iter().any(|(executions, _)| !executions.is_empty()) {
            file.section(row, &encode_callpath(&column));
        }
    }
    file.finish()
}

fn encode_facts(ranks: &[EncodedRank]) -> Vec<u8> {
    let mut sink = Sink::default();
    // Hosts change seldom from rank to rank: each is written once, with the number of ranks that follow on it.
    let runs: Vec<_> = ranks.chunk_by(|a, b| a.facts.host == b.facts.host).collect();
    sink.varint(runs.len() as u64);
    for run in runs {
        sink.string(&run[0].facts.host);
        sink.varint(run.len() as u64);
    }
    let mut numbers = |of: &dyn Fn(&RankFacts) -> u64| {
        column::write_u64(&mut sink, &ranks.iter().map(|r| of(&r.facts)).collect::<Vec<_>>());
    };
    numbers(&|facts| u64::from(facts.process_id));
    numbers(&|facts| u64::from(facts.threads));
    for loss in 0..Losses::default().named().len() {
        numbers(&|facts| facts.losses.named()[loss].1);
    }
    sink.into_vec()
}

fn encode_callpath(ranks: &[(&[ExecutionSummary], &[u8])]) -> Vec<u8> {
    let mut sink = Sink::default();
    column::write_u64(&mut sink, &ranks.iter().map(|(e, _)| e.len() as u64).collect::<Vec<_>>());
    let positions = ranks.iter().flat_map(|(e, _)| e.iter().zip(0_u64..));
    let gaps = positions.map(|(e, position)| u64::from(e.execution).wrapping_sub(position));
    column::write_u64(&mut sink, &gaps.collect::<Vec<_>>());
    let summaries: Vec<ExecutionSummary> = ranks.iter().flat_map(|(e, _)| e.iter().copied()).collect();
    let mut times = |of: fn(&ExecutionSummary) -> u64| {
        column::write_u64(&mut sink, &summaries.iter().map(of).collect::<Vec<_>>());
    };
    times(|e| u64::from(e.executions));
    times(|e| e.visits);
    times(|e| e.sum_ns);
    if all_single(&summaries) {
        sink.u8(0);
    } else {
        sink.u8(1);
        column::write_u64(&mut sink, &summaries.iter().map(|e| e.min_ns).collect::<Vec<_>>());
        column::write_u64(&mut sink, &summaries.iter().map(|e| e.max_ns).collect::<Vec<_>>());
        column::write_f64(&mut sink, &summaries.iter().map(|e| e.sum_squares_ns2).collect::<Vec<_>>());
    }
    column::write_u64(&mut sink, &ranks.iter().map(|(_, s)| s.len() as u64).collect::<Vec<_>>());
    ranks.iter().for_each(|(_, series)| sink.bytes(series));
    sink.into_vec()
}

/// What one part holds.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) first_rank: u32,
    pub(super) facts: Vec<RankFacts>,
    /// Row by row of the dictionary, then rank by rank of this part.
    pub(super) values: Vec<Vec<CallpathValues>>,
}

/// Reads a part of a profile whose dictionary has `callpaths` rows, and which must hold `ranks` ranks.
pub(super) fn decode(bytes: &[u8], callpaths: usize, ranks: usize) -> Result<Part, FrameError> {
    let file = Sections::<3>::open(bytes, MAGIC)?;
    let [first_rank, found_ranks, found_callpaths] = file.header;
    let header = Cursor::new(bytes, 0);
    if found_ranks as usize != ranks || found_callpaths as usize != callpaths {
        let reason = format!(
            "the header speaks of {found_ranks} ranks and {found_callpaths} callpaths, \
             the manifest of {ranks} and {callpaths}"
        );
        return Err(header.malformed(reason).into());
    }
    let mut part = Part { first_rank, facts: Vec::new(), values: vec![Vec::new(); callpaths] };
    for (position, key) in file.keys().enumerate() {
        let mut section = file.section(position)?;
        if key == RANKS_KEY {
            part.facts = decode_facts(&mut section, ranks)?;
        } else if let Some(values) = part.values.get_mut(key as usize) {
            *values = decode_callpath(&mut section, ranks)?;
        } else {
            return Err(section.malformed(format!("section {key} belongs to no callpath")).into());
        }
        section.finish("a section")?;
    }
    if part.facts.len() != ranks {
        return Err(header.malformed("the section that describes the ranks is missing").into());
    }
    for values in part.values.iter_mut().filter(|values| values.is_empty()) {
        values.resize(ranks, CallpathValues::default());
    }
    Ok(part)
}

/// The first thing wrong with the frame or the checksums of a part, if anything is.
pub(super) fn locate_damage(bytes: &[u8]) -> Option<FrameError> {
    match Sections::<3>::open(bytes, MAGIC) {
        Ok(file) => file
            .keys()
            .enumerate()
            .find_map(|(position, _)| file.section(position).err())
            .map(FrameError::from),
        Err(error) => Some(error),
    }
}

fn decode_facts(cursor: &mut Cursor<'_>, ranks: usize) -> Result<Vec<RankFacts>, Malformed> {
    let mut facts = Vec::new();
    for _ in 0..cursor.count(ranks, "the number of hosts")? {
        let host = cursor.string("a host")?;
        let length = cursor.count(ranks - facts.len(), "the ranks of a host")?;
        facts.resize(facts.len() + length, RankFacts { host, ..RankFacts::default() });
    }
    if facts.len() != ranks {
        return Err(cursor.malformed(format!("{} ranks have a host, {ranks} were expected", facts.len())));
    }
    let narrow = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
    let processes = column::read_u64(cursor, ranks, "the process ids")?;
    let threads = column::read_u64(cursor, ranks, "the threads")?;
    let mut losses = Vec::new();
    for (name, _) in Losses::default().named() {
        losses.push(column::read_u64(cursor, ranks, name)?);
    }
    for (rank, facts) in facts.iter_mut().enumerate() {
        facts.process_id = narrow(processes[rank]);
        facts.threads = narrow(threads[rank]);
        facts.losses = Losses::from_numbers(std::array::from_fn(|loss| losses[loss][rank]));
    }
    Ok(facts)
}

fn decode_callpath(cursor: &mut Cursor<'_>, ranks: usize) -> Result<Vec<CallpathValues>, Malformed> {
    let start = cursor.clone();
    let lengths = column::read_u64(cursor, ranks, "the numbers of summaries")?;
    let total = lengths.iter().try_fold(0_u64, |sum, &n| sum.checked_add(n));
    let total = total.and_then(|n| usize::try_from(n).ok());
    let total = total.ok_or_else(|| start.malformed("the numbers of summaries overflow"))?;
    let mut column = |what: &str| column::read_u64(cursor, total, what);
    let gaps = column("the executions")?;
    let spans = column("the covered executions")?;
    let visits = column("the visits")?;
    let sums = column("the sums")?;
    let more = match cursor.u8("the kind of summaries")? {
        0 => None,
        1 => Some((
            column::read_u64(cursor, total, "the minima")?,
            column::read_u64(cursor, total, "the maxima")?,
            column::read_f64(cursor, total, "the sums of squares")?,
        )),
        other => return Err(cursor.malformed(format!("{other} is no kind of summaries"))),
    };
    let mut values = Vec::with_capacity(ranks);
    let mut at = 0;
    for &length in &lengths {
        let mut executions = Vec::new();
        for position in 0..length {
            let execution = u32::try_from(gaps[at].wrapping_add(position));
            let (Ok(execution), Ok(span)) = (execution, u32::try_from(spans[at])) else {
                return Err(start.malformed("an execution does not fit 32 bits"));
            };
            executions.push(match &more {
                None => ExecutionSummary::of_one_visit(execution, sums[at]),
                Some((minima, maxima, squares)) => ExecutionSummary {
                    execution,
                    executions: span,
                    visits: visits[at],
                    sum_ns: sums[at],
                    min_ns: minima[at],
                    max_ns: maxima[at],
                    sum_squares_ns2: squares[at],
                    sum_variance_ns2: 0.0,
                },
            });
            at += 1;
        }
        values.push(CallpathValues { executions, ..CallpathValues::default() });
    }
    let lengths = column::read_u64(cursor, ranks, "the lengths of the series")?;
    for (values, length) in values.iter_mut().zip(lengths) {
        let base = cursor.clone();
        let bytes = cursor.take(usize::try_from(length).unwrap_or(usize::MAX), "a series")?;
        values.series = series::decode(base.sub(bytes))?;
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cut_and_every_flipped_byte_is_an_error() {
        let rank = EncodedRank {
            facts: RankFacts { host: "a".into(), ..RankFacts::default() },
            callpaths: vec![super::super::EncodedCallpath {
                row: 1,
                executions: vec![
                    ExecutionSummary::of_one_visit(0, 100),
                    ExecutionSummary::of_one_visit(1, 120),
                ],
                series: Vec::new(),
            }],
        };
        let bytes = encode_part(4, 2, &[rank.clone(), rank]);
        let part = decode(&bytes, 2, 2).unwrap();
        assert_eq!(
            (part.first_rank, part.values[0][1].is_absent(), part.values[1][1].visits()),
            (4, true, 2)
        );
        for cut in 0..bytes.len() {
            assert!(decode(&bytes[..cut], 2, 2).is_err(), "cut at {cut}");
        }
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            assert!(decode(&damaged, 2, 2).is_err(), "flipped byte {at}");
        }
    }
}

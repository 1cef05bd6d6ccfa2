//! The callpaths of a segment: every node, with the description of its site.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::header::Segment;
use super::layout::{LINE_BYTES, header, node, site};
use super::lists;
use super::words::{Words, high, low};
use crate::model::{CallpathId, Losses, Mode, Region, RegionKind, SiteId};
use crate::ticks::{OpenVisit, PastExecution, SeriesElement};

/// One callpath of a thread, in ticks.
#[derive(Clone, Debug)]
pub(super) struct Record {
    pub(super) id: CallpathId,
    pub(super) parent: Option<CallpathId>,
    pub(super) region: Region,
    pub(super) open: Option<OpenVisit>,
    pub(super) executions: Vec<PastExecution>,
    pub(super) series: Vec<SeriesElement>,
}

/// Every callpath of a segment that can be read, newest first; the others are counted in `losses`.
pub(super) fn records(segment: &Segment<'_>, losses: &mut Losses) -> Vec<Record> {
    let words = segment.words;
    let (regions, sites_whole) = sites(words);
    let mut budget_bytes = words.0.len();
    let mut records = Vec::new();
    let mut seen = HashSet::new();
    let mut line = words.get(0, header::LAST_NODE).map_or(0, low);
    while line != 0 {
        // A node seen twice is a circle, and one that does not lie in the file ends the chain.
        let next = words.get(line, node::PARENT).filter(|_| seen.insert(line)).map(high);
        match next.and_then(|_| record(words, line, &regions, &mut budget_bytes, losses)) {
            Some(record) => records.push(record),
            None => losses.records_unreadable += 1,
        }
        line = next.unwrap_or(0);
    }
    losses.records_unreadable += u64::from(!sites_whole);
    records
}

fn record(
    words: Words<'_>,
    line: u32,
    regions: &HashMap<u64, Region>,
    budget_bytes: &mut usize,
    losses: &mut Losses,
) -> Option<Record> {
    let word = |word| words.get(line, word);
    word(node::WORDS - 1)?;
    let id = CallpathId::from_bits(word(node::ID)?);
    let parent = match low(word(node::PARENT)?) {
        0 => None,
        line => Some(CallpathId::from_bits(words.get(line, node::ID)?)),
    };
    let region = regions.get(&word(node::SITE)?)?;
    let expected = parent.map_or_else(|| CallpathId::root(region.site), |p| p.child(region.site));
    if id != expected {
        return None;
    }
    let torn = !word(node::SEQUENCE)?.is_multiple_of(2);
    let mut executions = lists::past(words, line, budget_bytes)?;
    let series = lists::series(words, line, budget_bytes)?;
    let live = word(node::EXECUTION).map(low)?;
    if word(node::VISITS)? > 0 {
        // The owner appends the live numbers to the list before it clears them, and may have died between.
        let appended = torn
            && executions
                .last()
                .is_some_and(|last| live >= last.execution && live - last.execution < last.executions);
        let numbers = |at: usize| match at {
            0 => Some(u64::from(live) | 1 << 32),
            at => word(node::VISITS + at - 1),
        };
        if !appended {
            executions.push(lists::past_of(numbers)?);
        }
    }
    losses.records_torn += u64::from(torn);
    // A record that is torn is that of a visit that was ending: it is not open besides.
    let start = word(node::START).filter(|&start| start != 0 && !torn);
    let open = start.map(|since| OpenVisit { since, execution: open_execution(words, line) });
    Some(Record { id, parent, region: region.clone(), open, executions, series })
}

/// The execution that a visit of the node at `line` belongs to: the one that its root is in.
fn open_execution(words: Words<'_>, line: u32) -> u32 {
    let parent = |&line: &u32| words.get(line, node::PARENT).map(low).filter(|&line| line != 0);
    // The recorder's callpaths are at most 1,024 long, and one of `[other]`.
    let root = std::iter::successors(Some(line), parent).take(1 << 11).last();
    root.and_then(|line| words.get(line, node::EXECUTION)).map_or(0, high)
}

/// The descriptions of sites by address, and whether all could be read.
fn sites(words: Words<'_>) -> (HashMap<u64, Region>, bool) {
    let mut regions = HashMap::new();
    let mut budget_bytes = words.0.len();
    let mut seen = 0;
    let mut line = words.get(0, header::LAST_SITE).map_or(0, low);
    while line != 0 {
        seen += 1;
        let read = (seen <= words.lines()).then(|| described(words, line, &mut budget_bytes)).flatten();
        let Some((address, region)) = read else { return (regions, false) };
        regions.insert(address, region);
        line = words.get(line, site::BEFORE).map_or(0, low);
    }
    (regions, true)
}

fn described(words: Words<'_>, line: u32, budget_bytes: &mut usize) -> Option<(u64, Region)> {
    let word = |word| words.get(line, word);
    let kind = word(site::KIND)?;
    let length = low(kind) as usize;
    // Descriptions do not overlap, so that together they are no longer than the segment.
    *budget_bytes = budget_bytes.checked_sub(length.max(LINE_BYTES))?;
    let place = word(site::PLACE)?;
    let mut region = Region {
        site: SiteId::from_bits(word(site::ID)?),
        name: String::new(),
        module: String::new(),
        file: String::new(),
        line: low(place),
        column: high(place),
        kind: match high(kind) & 0xff {
            0 => RegionKind::Function,
            1 => RegionKind::Scope,
            2 => RegionKind::Loop,
            _ => return None,
        },
        mode: match high(kind) >> 8 {
            0 => Mode::Total,
            1 => Mode::Each,
            _ => return None,
        },
        rank_local: false,
        constants: BTreeMap::new(),
    };
    let mut key = None;
    let mut fields = words.bytes(line, site::FIELDS, length)?;
    while let Some((&tag, rest)) = fields.split_first() {
        let (length, rest) = rest.split_first_chunk::<4>()?;
        let (bytes, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        let text = || String::from_utf8(bytes.to_vec()).ok();
        match tag {
            site::NAME => region.name = text()?,
            site::MODULE => region.module = text()?,
            site::FILE => region.file = text()?,
            site::RANK_LOCAL => region.rank_local = true,
            site::KEY => key = Some(text()?),
            site::VALUE => {
                region.constants.insert(key.take()?, text()?);
            }
            _ => {}
        }
        fields = rest;
    }
    Some((word(site::ADDRESS)?, region))
}

//! The callpaths of a segment, their metrics, messages and edges: every node, with the description
//! of its site, and every record of messages and edges.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use tinyprof_segment::layout::{edge, header, message, node, samples, skipped};
use tinyprof_segment::words::{high, low};

use super::edge::edge_of_record;
use super::header::Segment;
use super::lists;
use super::site::{self, Site};
use super::words::Words;
use crate::model::{CallpathId, Edge, EdgeKey, Losses, MessageKey, MetricValues, Region, Traffic};
use crate::ticks::{OpenVisit, PastExecution, Samples, SeriesElement};

/// One callpath of a thread, in ticks.
#[derive(Clone, Debug)]
pub(super) struct Record {
    pub(super) id: CallpathId,
    pub(super) parent: Option<CallpathId>,
    pub(super) region: Arc<Region>,
    pub(super) open: Option<OpenVisit>,
    pub(super) executions: Vec<PastExecution>,
    pub(super) series: Vec<SeriesElement>,
}

/// One metric of a callpath of a thread.
#[derive(Clone, Debug)]
pub(super) struct Metric {
    pub(super) callpath: CallpathId,
    pub(super) key: String,
    pub(super) values: MetricValues,
}

/// The readable contents of a segment.
#[derive(Clone, Debug, Default)]
pub(super) struct Records {
    pub(super) callpaths: Vec<Record>,
    pub(super) metrics: Vec<Metric>,
    pub(super) messages: Vec<(CallpathId, MessageKey, Traffic)>,
    pub(super) edges: Vec<(CallpathId, EdgeKey, Edge)>,
}

/// Reads every intact callpath, metric and record of messages and edges of a segment, parents
/// first. The others are counted in `losses`.
pub(super) fn records(segment: &Segment<'_>, losses: &mut Losses) -> Records {
    let words = segment.words;
    let (sites, sites_whole) = site::sites(words);
    losses.records_unreadable += u64::from(!sites_whole);
    let mut reader = Reader {
        words,
        sites,
        callpaths: HashMap::new(),
        limit_bytes: words.0.len(),
        texts_budget_bytes: words
            .0
            .len()
            .saturating_mul(TEXTS_A_BYTE)
            .saturating_add(TEXTS_BYTES_MIN),
        records: Records::default(),
    };
    for line in nodes(words, losses) {
        if reader.node(line, losses).is_none() {
            losses.records_unreadable += 1;
        }
    }
    // The callpath of a record was made before the record.
    for line in messages(words, losses) {
        if reader.message(line, losses).is_none() {
            losses.records_unreadable += 1;
        }
    }
    for line in chain(words, header::LAST_EDGE, edge::CALLPATH, losses) {
        if reader.edge(line, losses).is_none() {
            losses.records_unreadable += 1;
        }
    }
    reader.records
}

/// Returns the lines of all nodes, oldest first, so that parents come before their children.
pub(super) fn nodes(words: Words<'_>, losses: &mut Losses) -> Vec<u32> {
    let mut lines = chain(words, header::LAST_NODE, node::PARENT, losses);
    lines.reverse();
    lines
}

/// Returns the lines of all records of messages, newest first.
fn messages(words: Words<'_>, losses: &mut Losses) -> Vec<u32> {
    chain(words, header::LAST_MESSAGE, message::CALLPATH, losses)
}

/// Returns the lines of a chain of records, newest first. Word `newest` of the header is the line
/// of its first record, and the high half of word `before` of each record that of the next.
fn chain(words: Words<'_>, newest: usize, before: usize, losses: &mut Losses) -> Vec<u32> {
    let (mut lines, mut seen) = (Vec::new(), HashSet::new());
    let mut line = words.get(0, newest).map_or(0, low);
    while line != 0 {
        // The chain ends at a record seen twice (a cycle) or outside the file.
        match words.get(line, before).filter(|_| seen.insert(line)) {
            Some(word) => {
                lines.push(line);
                line = high(word);
            }
            None => {
                losses.records_unreadable += 1;
                line = 0;
            }
        }
    }
    lines
}

/// The memory allowed for the texts of all callpaths, per byte of the segment: names of 4,096 bytes
/// in every node of 128.
const TEXTS_A_BYTE: usize = 32;

/// The memory allowed for texts in a segment of any size.
const TEXTS_BYTES_MIN: usize = 4 << 20;

/// A callpath that has been read.
#[derive(Clone, Copy, Debug)]
struct CallpathPosition {
    id: CallpathId,
    /// The node of its root region.
    root: u32,
}

struct Reader<'a> {
    words: Words<'a>,
    sites: HashMap<u64, Site>,
    callpaths: HashMap<u32, CallpathPosition>,
    /// Memory left for lists. They do not overlap, so together they are no longer than the segment.
    limit_bytes: usize,
    /// Memory left for texts. Each callpath has a copy of its region's texts, and many nodes may
    /// share a long name.
    texts_budget_bytes: usize,
    records: Records,
}

impl Reader<'_> {
    fn word(&self, line: u32, word: usize) -> Option<u64> {
        self.words.get(line, word)
    }

    fn node(&mut self, line: u32, losses: &mut Losses) -> Option<()> {
        self.word(line, node::WORDS - 1)?;
        let parent = match low(self.word(line, node::PARENT)?) {
            0 => None,
            line => Some(*self.callpaths.get(&line)?),
        };
        let site = self.sites.get(&self.word(line, node::SITE)?)?;
        self.texts_budget_bytes = self.texts_budget_bytes.checked_sub(site.memory_bytes())?;
        let site = site.clone();
        let torn = !self.word(line, node::SEQUENCE)?.is_multiple_of(2);
        match site {
            Site::Region(region) => {
                let id = parent
                    .map_or_else(|| CallpathId::root(region.site), |p| p.id.child(region.site));
                let place =
                    CallpathPosition { id, root: parent.map_or(line, |parent| parent.root) };
                let record = self.record(line, place, parent, region, torn)?;
                losses.visits_not_timed += self.word(line, node::START).map_or(0, skipped::passed);
                self.callpaths.insert(line, place);
                self.records.callpaths.push(record);
            }
            Site::Metric(key) => {
                let values = self.values(line, torn)?;
                self.records.metrics.push(Metric { callpath: parent?.id, key, values });
            }
        }
        losses.records_torn += u64::from(torn);
        Some(())
    }

    fn message(&mut self, line: u32, losses: &mut Losses) -> Option<()> {
        self.word(line, message::WORDS - 1)?;
        let callpath = *self.callpaths.get(&low(self.word(line, message::CALLPATH)?))?;
        let key = MessageKey::from_bits(self.word(line, message::KEY)?)?;
        // The owner of a torn record may have died before it added the bytes of its last message.
        let traffic = Traffic {
            count: self.word(line, message::COUNT)?,
            bytes: self.word(line, message::BYTES)?,
        };
        let torn = !self.word(line, message::SEQUENCE)?.is_multiple_of(2);
        losses.records_torn += u64::from(torn);
        self.records.messages.push((callpath.id, key, traffic));
        Some(())
    }

    fn edge(&mut self, line: u32, losses: &mut Losses) -> Option<()> {
        self.word(line, edge::WORDS - 1)?;
        // The owner of a torn record may have died before it added all numbers of its last
        // instance.
        let words = std::array::from_fn(|word| self.word(line, word).unwrap_or_default());
        let callpath = *self.callpaths.get(&low(words[edge::CALLPATH]))?;
        let (key, edge) = edge_of_record(&words)?;
        losses.records_torn += u64::from(!words[edge::SEQUENCE].is_multiple_of(2));
        self.records.edges.push((callpath.id, key, edge));
        Some(())
    }

    fn record(
        &mut self,
        line: u32,
        place: CallpathPosition,
        parent: Option<CallpathPosition>,
        region: Arc<Region>,
        torn: bool,
    ) -> Option<Record> {
        let mut executions = lists::past(self.words, line, &mut self.limit_bytes)?;
        let series = lists::series(self.words, line, &mut self.limit_bytes)?;
        let live = low(self.word(line, node::EXECUTION)?);
        let start = self.word(line, node::START)?;
        let visits = self.word(line, node::VISITS)?.saturating_add(skipped::passed(start));
        // The owner appends the live numbers to the list before it clears them. It may have died in
        // between.
        let last = executions.last().map(|last| (last.execution, last.executions));
        if visits > 0 && !(torn && is_covered(live, last)) {
            let word = |at: usize| match at {
                0 => Some(u64::from(live) | 1 << 32),
                1 => Some(visits),
                7 => Some(0),
                at => self.word(line, node::VISITS + at - 1),
            };
            let live = lists::past_of(word)?;
            executions.push(self.samples(line).map_or(live, |samples| live.estimated(&samples)));
        }
        // A torn record belongs to a visit that was ending, which must not count as open too.
        let since = Some(start).filter(|&start| start != 0 && start & skipped::MARK == 0 && !torn);
        let execution = || self.word(place.root, node::SAMPLES).map_or(0, high);
        let open = since.map(|since| OpenVisit { since, execution: execution() });
        Some(Record {
            id: place.id,
            parent: parent.map(|parent| parent.id),
            region,
            open,
            executions,
            series,
        })
    }

    /// Returns the samples behind the live numbers, if some visits were not timed.
    fn samples(&self, line: u32) -> Option<Samples> {
        let record = low(self.word(line, node::SAMPLES)?);
        let word = |word| if record == 0 { None } else { self.word(record, word) };
        let spread = |at| Some(f64::from_bits(word(samples::SPREAD + at)?));
        Some(Samples {
            weight: word(samples::WEIGHT)?,
            sampled: word(samples::SAMPLED)?,
            spread: [spread(0)?, spread(1)?, spread(2)?],
            stood_for: word(samples::STOOD_FOR)?,
            stood_for_before: word(samples::STOOD_FOR_BEFORE)?,
            cost: f64::from_bits(word(samples::COST)?),
            cost_error: f64::from_bits(word(samples::COST_ERROR)?),
        })
    }

    fn values(&mut self, line: u32, torn: bool) -> Option<MetricValues> {
        let mut executions = lists::past_values(self.words, line, &mut self.limit_bytes)?;
        let series = lists::series_of_values(self.words, line, &mut self.limit_bytes)?;
        let live = low(self.word(line, node::EXECUTION)?);
        let last = executions.last().map(|last| (last.execution, last.executions));
        if self.word(line, node::VISITS)? > 0 && !(torn && is_covered(live, last)) {
            executions.push(lists::past_value_of(|at| match at {
                0 => Some(u64::from(live) | 1 << 32),
                at => self.word(line, node::VISITS + at - 1),
            })?);
        }
        Some(MetricValues { executions, series })
    }
}

/// Returns true if the last element of a list, given by its first execution and their number,
/// covers an execution.
fn is_covered(live: u32, last: Option<(u32, u32)>) -> bool {
    last.is_some_and(|(execution, executions)| live >= execution && live - execution < executions)
}

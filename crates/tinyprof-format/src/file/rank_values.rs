//! The contribution of one rank to a part. It is encoded callpath by callpath, before or while the
//! part is written.

use std::borrow::Cow;

use super::encoded_rank::EncodedRank;
use super::events;
use super::keys;
use super::metrics::{self, EncodedMetric};
use super::series;
use crate::bytes::{Cursor, Malformed};
use crate::model::precision::rounded;
use crate::model::{
    CallpathTable, CallpathValues, Edge, EdgeKey, EventMap, ExecutionSummary, MessageKey,
    Precision, RankFacts, Traffic,
};

/// One callpath of a rank.
#[derive(Clone, Debug)]
pub(super) struct EncodedValues<'a> {
    pub(super) executions: Cow<'a, [ExecutionSummary]>,
    /// The encoded series.
    pub(super) series: Cow<'a, [u8]>,
    pub(super) metrics: Cow<'a, [EncodedMetric]>,
    pub(super) messages: Cow<'a, [(MessageKey, Traffic)]>,
    pub(super) edges: Cow<'a, [(EdgeKey, Edge)]>,
}

/// The values of one rank, by callpath.
pub(super) trait RankValues {
    /// Returns the facts that the rank reports about itself.
    fn facts(&self) -> RankFacts;

    /// Returns its encoded events, if it kept any.
    fn events(&self) -> Option<Cow<'_, [u8]>>;

    /// Returns one more than the last execution of any callpath.
    fn executions(&self) -> u32;

    /// Returns the rows of the dictionary that the rank visited, in ascending order, each with the
    /// position of its values.
    fn rows(&self) -> impl Iterator<Item = (u32, usize)>;

    /// Returns the summaries at a position.
    fn summaries(&self, position: usize) -> Cow<'_, [ExecutionSummary]>;

    /// Returns the values at a position.
    fn values(&self, position: usize) -> EncodedValues<'_>;

    /// Returns the summaries and the series at a position, and none of the other values.
    ///
    /// # Errors
    /// If a series that is already encoded cannot be decoded.
    fn times(&self, position: usize) -> Result<CallpathValues, Malformed>;
}

impl RankValues for EncodedRank {
    fn times(&self, position: usize) -> Result<CallpathValues, Malformed> {
        let callpath = &self.callpaths[position];
        let series = series::decode(&mut Cursor::new(&callpath.series, 0))?;
        let executions = callpath.executions.clone();
        Ok(CallpathValues { executions, series, ..CallpathValues::default() })
    }

    fn facts(&self) -> RankFacts {
        self.facts.clone()
    }

    fn events(&self) -> Option<Cow<'_, [u8]>> {
        (!self.events.is_empty()).then_some(Cow::Borrowed(&self.events))
    }

    fn executions(&self) -> u32 {
        Self::executions(self)
    }

    fn rows(&self) -> impl Iterator<Item = (u32, usize)> {
        self.callpaths.iter().enumerate().map(|(position, callpath)| (callpath.row, position))
    }

    fn summaries(&self, position: usize) -> Cow<'_, [ExecutionSummary]> {
        Cow::Borrowed(&self.callpaths[position].executions)
    }

    fn values(&self, position: usize) -> EncodedValues<'_> {
        let callpath = &self.callpaths[position];
        EncodedValues {
            executions: Cow::Borrowed(&callpath.executions),
            series: Cow::Borrowed(&callpath.series),
            metrics: Cow::Borrowed(&callpath.metrics),
            messages: Cow::Borrowed(&callpath.messages),
            edges: Cow::Borrowed(&callpath.edges),
        }
    }
}

/// An event map in the rows of a dictionary. It is encoded while it is written, without a prior
/// copy.
#[derive(Debug)]
pub(super) struct MapValues<'a> {
    map: &'a EventMap,
    precision: Precision,
    /// The row of the map's own table for each row of the dictionary; none if both tables are
    /// equal.
    own_rows: Option<Vec<Option<u32>>>,
}

impl<'a> MapValues<'a> {
    /// Prepares `map` for encoding. All its callpaths must be in `dictionary`.
    pub(super) fn new(map: &'a EventMap, dictionary: &CallpathTable, precision: Precision) -> Self {
        let is_same = map.callpaths.identities() == dictionary.identities();
        let own_rows = (!is_same).then(|| {
            let index = map.callpaths.index_by_identity();
            dictionary
                .identities()
                .iter()
                .map(|identity| index.get(identity).map(|at| at.number()))
                .collect()
        });
        Self { map, precision, own_rows }
    }

    fn measured(&self, position: usize) -> &'a CallpathValues {
        &self.map.values[position]
    }
}

impl RankValues for MapValues<'_> {
    fn times(&self, position: usize) -> Result<CallpathValues, Malformed> {
        let values = rounded(self.measured(position), self.precision);
        let (executions, series) = (values.executions.clone(), values.series.clone());
        Ok(CallpathValues { executions, series, ..CallpathValues::default() })
    }

    fn facts(&self) -> RankFacts {
        RankFacts { losses: self.map.losses(), ..self.map.facts.clone() }
    }

    fn events(&self) -> Option<Cow<'_, [u8]>> {
        self.map.facts.events.as_deref().map(|events| Cow::Owned(events::encode(events)))
    }

    fn executions(&self) -> u32 {
        self.map.executions()
    }

    fn rows(&self) -> impl Iterator<Item = (u32, usize)> {
        let rows = self.own_rows.as_ref().map_or(self.map.values.len(), Vec::len);
        let position = |row: usize| match &self.own_rows {
            Some(own) => own[row].map(|own| own as usize),
            None => Some(row),
        };
        let visited = move |(row, number): (usize, u32)| {
            position(row).filter(|&at| !self.measured(at).is_absent()).map(|at| (number, at))
        };
        (0..rows).zip(0..).filter_map(visited)
    }

    fn summaries(&self, position: usize) -> Cow<'_, [ExecutionSummary]> {
        match rounded(self.measured(position), self.precision) {
            Cow::Borrowed(values) => Cow::Borrowed(&values.executions),
            Cow::Owned(values) => Cow::Owned(values.executions),
        }
    }

    fn values(&self, position: usize) -> EncodedValues<'_> {
        let values = rounded(self.measured(position), self.precision);
        let series = Cow::Owned(series::encode(&values.series));
        let metrics = Cow::Owned(metrics::encode(&values.metrics));
        let messages = Cow::Owned(keys::records(&values.messages));
        let edges = Cow::Owned(keys::records(&values.edges));
        let executions = match values {
            Cow::Borrowed(values) => Cow::Borrowed(values.executions.as_slice()),
            Cow::Owned(values) => Cow::Owned(values.executions),
        };
        EncodedValues { executions, series, metrics, messages, edges }
    }
}

//! The section of a callpath's metrics: for each key, summaries and series of all ranks of a part.

use std::collections::BTreeMap;

use crate::cursor::{Cursor, Damage};
use crate::series::Elements;
use crate::summaries::{Detail, Summaries};

/// The values recorded under one key, part by part.
#[derive(Debug, Default)]
pub(crate) struct Metric {
    pub(crate) summaries: Summaries<f64>,
    /// The rank of each of `summaries.counts`.
    pub(crate) ranks: Vec<u32>,
    pub(crate) series: Elements<f64>,
}

/// Adds the metrics of a section, by key.
pub(crate) fn read(
    cursor: &mut Cursor<'_>,
    first_rank: u32,
    ranks: usize,
    to: &mut BTreeMap<String, Metric>,
) -> Result<(), Damage> {
    let mut before: Option<&str> = None;
    for _ in 0..cursor.count(cursor.remaining(), "the number of metrics")? {
        let start = cursor.clone();
        let key = cursor.string("a metric's key")?;
        if before.is_some_and(|before| before >= key) {
            return Err(start.damage("the keys of metrics are not in ascending order"));
        }
        before = Some(key);
        let Metric { summaries, ranks: places, series } = to.entry(key.to_owned()).or_default();
        places.extend((first_rank..).take(ranks));
        let count = summaries.read_places(cursor, ranks, Detail::All)?;
        summaries.read_visits(cursor, count, Detail::All)?;
        summaries.read_sums(cursor, count)?;
        match cursor.u8("the kind of a metric's summaries")? {
            0 => summaries.spread_of_sums(cursor, count, |value| value)?,
            1 => summaries.read_spread(cursor, count)?,
            other => {
                return Err(cursor.damage(format!("{other} is no kind of a metric's summaries")));
            }
        }
        series.read_own(cursor, first_rank, ranks)?;
    }
    cursor.finish("a section")
}

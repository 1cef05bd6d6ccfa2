//! speedscope's own JSON: a profile for each rank, whose samples are callpaths weighted by
//! exclusive time.

use std::borrow::Cow;
use std::collections::HashMap;
use std::convert::Infallible;
use std::error::Error;
use std::io::Write;

use serde::Serialize;
use serde_json::Number;
use tinyprof_format::model::{CallpathTable, Region};
use tinyprof_report::{RankStatistics, Statistics};

use super::choice::choose;
use super::exporter::{Exporter, Notes, Request};
use super::summary::Summary;
use super::{json, paths};

const SCHEMA: &str = "https://www.speedscope.app/file-format-schema.json";

pub(super) struct Speedscope;

impl Exporter for Speedscope {
    fn caps_ranks(&self) -> bool {
        true
    }

    fn export(
        &self,
        request: &Request<'_>,
        out: &mut (dyn Write + Send),
    ) -> Result<Notes, Box<dyn Error>> {
        let source = request.source()?;
        let (frames, frame_of_row) = frames(source.callpaths());
        let mut stacks = paths::stacks(source.callpaths())?;
        stacks.iter_mut().flatten().for_each(|row| *row = frame_of_row[*row]);
        let Summary { totals, statistics, .. } = Summary::of(&source)?;
        let exclusive_ns = totals.exclusive_ns();
        let ranks = source.ranks.len();
        let Ok(choice) = choose(&source.ranks, request.max_ranks, || Ok::<_, Infallible>(totals));
        let mut profiles =
            if choice.is_capped { of_all_ranks(ranks, &statistics, &stacks) } else { Vec::new() };
        for shown in &choice.shown {
            let weights = exclusive_ns.iter().map(|of_ranks| whole(of_ranks[shown.rank]));
            profiles.push(Sampled::new(shown.name(), &stacks, weights));
        }
        let file = File {
            schema: SCHEMA,
            name: match source.rounded() {
                Some(rounded) => format!("{} ({rounded})", source.name).into(),
                None => source.name.as_str().into(),
            },
            exporter: concat!("tinyprof ", env!("CARGO_PKG_VERSION")),
            active_profile_index: 0,
            shared: Shared { frames },
            profiles,
        };
        json::write(out, &file)?;
        writeln!(out)?;
        Ok(choice.note(ranks).into_iter().collect())
    }
}

/// Returns mean, minimum and maximum over the ranks that visited, by callpath, as in the report.
fn of_all_ranks<'a>(
    ranks: usize,
    statistics: &Statistics,
    stacks: &'a [Vec<usize>],
) -> Vec<Sampled<'a>> {
    let of = |what: &str, weight: fn(&RankStatistics) -> Option<Number>| {
        let weights = statistics.rows().map(|row| weight(&row));
        Sampled::new(format!("{what} of {ranks} ranks"), stacks, weights)
    };
    let mean = |row: &RankStatistics| row.mean_ns(&row.exclusive).and_then(Number::from_f64);
    let least = |row: &RankStatistics| whole(row.exclusive.min_ns);
    vec![of("mean", mean), of("minimum", least), of("maximum", |row| whole(row.exclusive.max_ns))]
}

fn whole(ns: u64) -> Option<Number> {
    Some(ns.into())
}

/// Returns the regions, each once no matter how many callpaths end in it, and the frame of each
/// row.
fn frames(table: &CallpathTable) -> (Vec<Frame<'_>>, Vec<usize>) {
    let mut frames = Vec::new();
    let mut known: HashMap<Frame<'_>, usize> = HashMap::new();
    let of_row = table.rows().iter().map(|callpath| {
        let frame = Frame::of(&callpath.region);
        *known.entry(frame).or_insert_with(|| {
            frames.push(frame);
            frames.len() - 1
        })
    });
    let of_row = of_row.collect();
    (frames, of_row)
}

#[derive(Serialize)]
struct File<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    name: Cow<'a, str>,
    exporter: &'static str,
    #[serde(rename = "activeProfileIndex")]
    active_profile_index: usize,
    shared: Shared<'a>,
    profiles: Vec<Sampled<'a>>,
}

#[derive(Serialize)]
struct Shared<'a> {
    frames: Vec<Frame<'a>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize)]
struct Frame<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    file: &'a str,
    #[serde(skip_serializing_if = "is_unknown")]
    line: u32,
    #[serde(skip_serializing_if = "is_unknown")]
    col: u32,
}

/// Lines and columns are 1-based, so 0 means unknown.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
const fn is_unknown(number: &u32) -> bool {
    *number == 0
}

impl<'a> Frame<'a> {
    fn of(region: &'a Region) -> Self {
        Self { name: &region.name, file: &region.file, line: region.line, col: region.column }
    }
}

#[derive(Serialize)]
struct Sampled<'a> {
    r#type: &'static str,
    name: String,
    unit: &'static str,
    #[serde(rename = "startValue")]
    start_value: u64,
    #[serde(rename = "endValue")]
    end_value: Number,
    samples: Vec<&'a [usize]>,
    weights: Vec<Number>,
}

impl<'a> Sampled<'a> {
    /// Collects the callpaths that have a weight, in nanoseconds.
    fn new(
        name: String,
        stacks: &'a [Vec<usize>],
        weight_of_row: impl Iterator<Item = Option<Number>>,
    ) -> Self {
        let mut samples = Vec::new();
        let mut weights: Vec<Number> = Vec::new();
        for (stack, weight) in stacks.iter().zip(weight_of_row) {
            if let Some(weight) = weight.filter(|weight| weight.as_f64() != Some(0.0)) {
                samples.push(stack.as_slice());
                weights.push(weight);
            }
        }
        let whole =
            weights.iter().map(Number::as_u64).try_fold(0_u64, |sum, ns| sum.checked_add(ns?));
        let end_value = whole.map_or_else(
            || {
                Number::from_f64(weights.iter().filter_map(Number::as_f64).sum())
                    .unwrap_or_else(|| 0.into())
            },
            Number::from,
        );
        Self {
            r#type: "sampled",
            name,
            unit: "nanoseconds",
            start_value: 0,
            end_value,
            samples,
            weights,
        }
    }
}

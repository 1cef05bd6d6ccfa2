//! Extra-P's JSON: the measurements of each callpath and metric in each profile of a scaling study.
//!
//! Profiles at the same point are repetitions of a measurement. Extra-P needs a value at each
//! point, so a callpath that is missing in a profile counts as zero there.

use std::collections::{BTreeMap, HashSet};
use std::error::Error;
use std::io::Write;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use tinyprof_format::model::{Callpath, CallpathIndex, CallpathTable, Manifest};
use tinyprof_report::{RankStatistics, Statistics};

use super::exporter::{Exporter, Input, Notes, Request, float};
use super::summary::Summary;
use super::{json, paths};
use crate::parameter::Parameter;

pub(super) struct ExtraP;

/// The separator between the regions of a path, from which Extra-P builds its tree.
const SEPARATOR: &str = "->";

/// The fewest points from which Extra-P can choose between models.
const FEWEST_POINTS: usize = 5;

type NumberOf = fn(&RankStatistics) -> f64;

/// The quantities to model, as in the report.
const METRICS: [(&str, NumberOf); 5] = [
    ("exclusive_mean_ns", |row| row.mean_ns(&row.exclusive).unwrap_or(0.0)),
    ("exclusive_max_ns", |row| float(row.exclusive.max_ns.into())),
    ("inclusive_mean_ns", |row| row.mean_ns(&row.inclusive).unwrap_or(0.0)),
    ("inclusive_max_ns", |row| float(row.inclusive.max_ns.into())),
    ("visits", |row| float(row.visits.into())),
];

impl Exporter for ExtraP {
    fn takes_several(&self) -> bool {
        true
    }

    fn export(
        &self,
        request: &Request<'_>,
        out: &mut (dyn Write + Send),
    ) -> Result<Notes, Box<dyn Error>> {
        // One after the other: only the statistics of each are kept.
        let runs = request.inputs.iter().map(Run::of).collect::<Result<Vec<Run>, _>>()?;
        let tables = runs.iter().map(|run| &run.callpaths);
        let all = tables.fold(CallpathTable::default(), |all, table| all.union(table));
        let names = names(&all)?;
        let points = points(&runs, &request.parameters);
        let precisions = runs.iter().map(|run| run.manifest.precision.name()).collect();
        let notes = notes(&runs, points.len());
        let rows: Vec<Rows> = runs.into_iter().map(|run| Rows::of(run, &all)).collect();
        let measurements = Measurements { names, rows, points: &points };
        let parameters = request.parameters.iter().map(Parameter::name).collect();
        json::write(out, &File { parameters, precisions, measurements })?;
        writeln!(out)?;
        Ok(notes)
    }
}

#[derive(Serialize)]
struct File<'a> {
    parameters: Vec<&'a str>,
    /// The precision of each profile. Extra-P ignores fields that it does not know.
    precisions: Vec<&'static str>,
    measurements: Measurements<'a>,
}

/// All measurements, by callpath and metric. They are computed while they are written, since there
/// may be a million callpaths.
struct Measurements<'a> {
    /// The paths, by row.
    names: Vec<String>,
    /// The rows of each profile.
    rows: Vec<Rows>,
    points: &'a [Point],
}

#[derive(Serialize)]
struct Measurement<'a> {
    point: &'a [f64],
    values: Vec<f64>,
}

impl Serialize for Measurements<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut in_order: Vec<usize> = (0..self.names.len()).collect();
        in_order.sort_unstable_by_key(|&row| &self.names[row]);
        let mut map = serializer.serialize_map(Some(in_order.len()))?;
        for row in in_order {
            let of: Vec<RankStatistics> =
                self.rows.iter().map(|profile| profile.get(row)).collect();
            let at = |point: &'_ Point, number: NumberOf| -> Vec<f64> {
                point.profiles.iter().map(|&profile| number(&of[profile])).collect()
            };
            let of_metric = |number: NumberOf| -> Vec<Measurement<'_>> {
                let points = self.points.iter();
                points
                    .map(|p| Measurement { point: &p.coordinates, values: at(p, number) })
                    .collect()
            };
            let metrics: BTreeMap<&str, Vec<Measurement<'_>>> =
                METRICS.into_iter().map(|(metric, number)| (metric, of_metric(number))).collect();
            map.serialize_entry(&self.names[row], &metrics)?;
        }
        map.end()
    }
}

/// A value of each parameter, and the profiles measured there.
struct Point {
    coordinates: Vec<f64>,
    profiles: Vec<usize>,
}

/// Returns the points in the order of their first profile.
fn points(runs: &[Run], parameters: &[Parameter]) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::new();
    for (profile, run) in runs.iter().enumerate() {
        let value = |parameter: &Parameter| parameter.value(profile, &run.manifest);
        let coordinates: Vec<f64> = parameters.iter().map(value).collect();
        match points.iter_mut().find(|point| point.coordinates == coordinates) {
            Some(point) => point.profiles.push(profile),
            None => points.push(Point { coordinates, profiles: vec![profile] }),
        }
    }
    points
}

/// The values of one profile that the export needs.
struct Run {
    manifest: Manifest,
    callpaths: CallpathTable,
    statistics: Statistics,
    metric_records: usize,
    messages_note: Option<String>,
}

impl Run {
    fn of(input: &Input<'_>) -> Result<Self, Box<dyn Error>> {
        let source = input.open()?;
        let summary = Summary::of(&source)?;
        Ok(Self {
            manifest: source.manifest().clone(),
            callpaths: source.callpaths().clone(),
            metric_records: summary.metric_records,
            messages_note: summary.messages_note(),
            statistics: summary.statistics,
        })
    }
}

/// The statistics of a profile by the rows of a larger table that includes its callpaths.
struct Rows {
    statistics: Statistics,
    /// The profile's own row for each row; `None` if both tables are equal.
    own: Option<Vec<Option<CallpathIndex>>>,
}

impl Rows {
    fn of(run: Run, all: &CallpathTable) -> Self {
        let table = &run.callpaths;
        let own = (table.identities() != all.identities()).then(|| {
            let own = table.index_by_identity();
            all.identities().iter().map(|identity| own.get(identity).copied()).collect()
        });
        Self { statistics: run.statistics, own }
    }

    /// Returns the profile's statistics of a callpath; zeros if it has none.
    fn get(&self, row: usize) -> RankStatistics {
        match &self.own {
            None => self.statistics.row(row),
            Some(own) => {
                own[row].map_or_else(RankStatistics::default, |at| self.statistics.row(at.row()))
            }
        }
    }
}

/// Returns the paths, all different: siblings of the same name are numbered from the second on.
fn names(all: &CallpathTable) -> Result<Vec<String>, String> {
    let mut taken = HashSet::new();
    let unlike_siblings = |callpath: &Callpath| {
        let plain = callpath.region.name.replace(SEPARATOR, "-\\u{3e}");
        let mut name = plain.clone();
        let mut number = 1_u64;
        while !taken.insert((callpath.parent, name.clone())) {
            number += 1;
            name = format!("{plain} #{number}");
        }
        name
    };
    paths::joined(all, SEPARATOR, all.rows().iter().map(unlike_siblings))
}

fn notes(runs: &[Run], points: usize) -> Notes {
    let metrics: usize = runs.iter().map(|run| run.metric_records).sum();
    let mut notes = Notes::new();
    if metrics > 0 {
        notes.push(format!("not in this format: varying metrics ({metrics})"));
    }
    notes.extend(runs.iter().find_map(|run| run.messages_note.clone()));
    if points < FEWEST_POINTS {
        notes.push(format!(
            "different points of the study: {points}; Extra-P needs at least {FEWEST_POINTS} for a model"
        ));
    }
    notes
}

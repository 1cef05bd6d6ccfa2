//! Extra-P's JSON: for each callpath and metric, what each profile of a scaling study measured.
//!
//! Profiles at the same point are repetitions of a measurement. A callpath that a profile lacks took no time there: Extra-P
//! wants a value at each point.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::error::Error;
use std::io::Write;

use serde::Serialize;
use tinyprof_format::model::{Callpath, CallpathIndex, CallpathTable, Identity};
use tinyprof_format::report::RankStatistics;

use super::exporter::{Exporter, Notes, Request, Source, float};
use super::{json, paths};
use crate::parameter::Parameter;

pub(super) struct ExtraP;

/// Between the regions of a path; Extra-P makes its tree of it.
const SEPARATOR: &str = "->";

/// Below, Extra-P has no choice between models.
const FEWEST_POINTS: usize = 5;

type NumberOf = fn(&RankStatistics) -> f64;

/// What is modelled, as the report has it.
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

    fn export(&self, request: &Request, out: &mut (dyn Write + Send)) -> Result<Notes, Box<dyn Error>> {
        let tables = request.sources.iter().map(|source| &source.profile.callpaths);
        let all = tables.fold(CallpathTable::default(), |all, table| all.union(table));
        let names = names(&all)?;
        let rows: Vec<Vec<RankStatistics>> =
            request.sources.iter().map(|source| rows(source, &all)).collect();
        let points = points(request);
        let of_metric = |row: usize, number: NumberOf| -> Vec<Measurement> {
            let at = |point: &Point| Measurement {
                point: point.coordinates.clone(),
                values: point.profiles.iter().map(|&profile| number(&rows[profile][row])).collect(),
            };
            points.iter().map(at).collect()
        };
        let of_callpath = |(row, name): (usize, String)| {
            (name, METRICS.into_iter().map(|(metric, number)| (metric, of_metric(row, number))).collect())
        };
        let measurements = names.into_iter().enumerate().map(of_callpath).collect();
        let parameters = request.parameters.iter().map(Parameter::name).collect();
        let precisions = request.sources.iter().map(Source::precision).collect();
        json::write(out, &File { parameters, precisions, measurements })?;
        writeln!(out)?;
        Ok(notes(request, points.len()))
    }
}

#[derive(Serialize)]
struct File<'a> {
    parameters: Vec<&'a str>,
    /// Of each profile. Extra-P leaves out what it does not know.
    precisions: Vec<&'static str>,
    measurements: BTreeMap<String, BTreeMap<&'static str, Vec<Measurement>>>,
}

#[derive(Serialize)]
struct Measurement {
    point: Vec<f64>,
    values: Vec<f64>,
}

/// A value of each parameter, and the profiles that were measured there.
struct Point {
    coordinates: Vec<f64>,
    profiles: Vec<usize>,
}

/// The points in the order of their first profile.
fn points(request: &Request) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::new();
    for (profile, source) in request.sources.iter().enumerate() {
        let value = |parameter: &Parameter| parameter.value(profile, &source.profile.manifest);
        let coordinates: Vec<f64> = request.parameters.iter().map(value).collect();
        match points.iter_mut().find(|point| point.coordinates == coordinates) {
            Some(point) => point.profiles.push(profile),
            None => points.push(Point { coordinates, profiles: vec![profile] }),
        }
    }
    points
}

/// What a profile says of each callpath of `all`; zeros where it has none.
fn rows(source: &Source, all: &CallpathTable) -> Vec<RankStatistics> {
    let statistics = source.statistics();
    let own: HashMap<Identity, CallpathIndex> = source.profile.callpaths.index_by_identity();
    let row =
        |identity| own.get(identity).map_or_else(RankStatistics::default, |at| statistics.row(at.row()));
    all.identities().iter().map(row).collect()
}

/// The paths, each unlike the others: of siblings with the same name the later ones bear a number.
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

fn notes(request: &Request, points: usize) -> Notes {
    let metrics = request
        .sources
        .iter()
        .flat_map(|source| source.profile.values.iter().flatten())
        .map(|v| v.metrics.len());
    let metrics = metrics.sum::<usize>();
    let mut notes = Notes::new();
    if metrics > 0 {
        notes.push(format!("not in this format: varying metrics ({metrics})"));
    }
    if points < FEWEST_POINTS {
        notes.push(format!(
            "different points of the study: {points}; Extra-P needs at least {FEWEST_POINTS} for a model"
        ));
    }
    notes
}

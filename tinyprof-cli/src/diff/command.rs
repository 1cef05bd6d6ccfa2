//! The command: reads the runs of both sides, compares them and prints the result.

use std::error::Error;
use std::path::{Path, PathBuf};

use tinyprof_report::{Report, SortKey};

use crate::arguments::{DiffArguments, TableFormat};
use crate::by_callpath::ByCallpath as _;
use crate::name::{distinct_names, name_of};
use crate::outcome::Outcome;
use crate::{near, render, select};

use super::compare::{Diff, Run, rows};
use super::names::Names;
use super::{tables, text, values};

pub(crate) fn run(arguments: &DiffArguments) -> Result<Outcome, Box<dyn Error>> {
    let (base, new) = arguments.sides();
    let mut names = Names::default();
    let mut read = |side: &[PathBuf]| -> Result<Vec<Run>, Box<dyn Error>> {
        side.iter().map(|directory| read_run(directory, arguments, &mut names)).collect()
    };
    let (mut base_runs, mut new_runs) = (read(base)?, read(new)?);
    let directories: Vec<&Path> = base.iter().chain(new).map(PathBuf::as_path).collect();
    let runs = base_runs.iter_mut().chain(&mut new_runs);
    runs.zip(distinct_names(&directories)).for_each(|(run, name)| run.name = name);
    let (base, new) = (base_runs, new_runs);
    let rows = rows(names.rows().len(), &base, &new, arguments.estimator);
    let diff = Diff {
        base,
        new,
        metric: arguments.metric.clone(),
        estimator: arguments.estimator,
        names,
        rows,
        fail_above: arguments.fail_above.map(|limit| limit.0),
        min_share: arguments.min_share.0,
    };
    match arguments.output.format() {
        TableFormat::Json => render::stream(|to| tables::json(&diff).write(to))?,
        TableFormat::Csv => render::stream(|to| tables::write_csv(&diff, to))?,
        TableFormat::Text => {
            render::painted(&text::text(
                &diff,
                arguments.all,
                render::columns(arguments.output.width),
            ))?;
        }
    }
    let fails = diff.rows.iter().any(|row| diff.fails(row));
    Ok(if fails { Outcome::AboveLimit } else { Outcome::Done })
}

/// Reads a run and keeps only the amounts, since many runs may be compared.
fn read_run(
    directory: &Path,
    arguments: &DiffArguments,
    names: &mut Names,
) -> Result<Run, Box<dyn Error>> {
    let profile = select::open(directory, &arguments.selection)
        .map_err(|error| select::named(directory, error))?;
    if let SortKey::Key(_) = &arguments.metric {
        // The error lists the existing keys.
        Report::of_totals(&profile.totals()?).by_metric(arguments.metric.clone()).map_err(
            |error| format!("{}: {}", directory.display(), near::unknown_metric(&error)),
        )?;
    }
    let ranks = ranks(profile.ranks().len(), arguments);
    let rows = values::amounts(&profile, &arguments.metric, &ranks, names)
        .map_err(|error| select::named(directory, error))?;
    Ok(Run {
        name: name_of(directory),
        ranks: ranks.len(),
        executions: profile.manifest().executions,
        incomplete: !profile.manifest().complete,
        rows,
    })
}

/// Returns the selected ranks. The other ranks have no values, and cannot be distinguished by that
/// from ranks that visited nothing.
fn ranks(count: usize, arguments: &DiffArguments) -> Vec<usize> {
    let selected =
        |rank: u32| arguments.selection.ranks.as_ref().is_none_or(|list| list.contains(rank));
    (0_u32..).zip(0..count).filter(|(number, _)| selected(*number)).map(|(_, rank)| rank).collect()
}

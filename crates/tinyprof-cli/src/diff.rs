//! `tinyprof diff`: finds what became slower between two sets of runs, and by more than chance
//! explains. Reads the runs of both sides, compares them and prints the result.

use std::error::Error;
use std::path::{Path, PathBuf};

use tinyprof_diff::{Diff, Line, Mark, Options, Runs, Side};
use tinyprof_report::{ByCallpath as _, UnknownMetric};

use crate::arguments::{DiffArguments, TableFormat};
use crate::name::distinct_names;
use crate::outcome::{Outcome, WrongArgument};
use crate::{near, paint, render, select};

pub(crate) fn run(arguments: &DiffArguments) -> Result<Outcome, Box<dyn Error>> {
    let (base, new) = arguments.sides();
    let directories: Vec<&Path> = base.iter().chain(new).map(PathBuf::as_path).collect();
    let mut runs = Runs::new(Options {
        metric: arguments.metric.clone(),
        estimator: arguments.estimator,
        fail_above: arguments.fail_above.map(|limit| limit.0),
        min_share: arguments.min_share.0,
    });
    for (at, name) in distinct_names(&directories).iter().enumerate() {
        let side = if at < base.len() { Side::Base } else { Side::New };
        add(&mut runs, (side, name, directories[at]), arguments)?;
    }
    let diff = runs.compare();
    match arguments.output.format() {
        TableFormat::Json => render::stream(|to| diff.json().write(to))?,
        TableFormat::Csv => render::stream(|to| diff.write_csv(to))?,
        TableFormat::Text => render::painted(&text(&diff, arguments))?,
    }
    Ok(if diff.is_above_limit() { Outcome::AboveLimit } else { Outcome::Done })
}

fn add(
    runs: &mut Runs,
    (side, name, directory): (Side, &str, &Path),
    arguments: &DiffArguments,
) -> Result<(), Box<dyn Error>> {
    let profile = select::open(directory, &arguments.selection)
        .map_err(|error| select::named(directory, error))?;
    let ranks = arguments.selection.ranks_of(profile.ranks().len());
    runs.add(side, name, &profile, &ranks).map_err(|error| {
        match error.downcast_ref::<UnknownMetric>() {
            Some(unknown) => {
                let error = near::unknown_metric(unknown);
                WrongArgument(format!("{}: {error}", directory.display())).into()
            }
            None => select::named(directory, error),
        }
    })
}

/// Returns the comparison for people, with colours.
fn text(diff: &Diff, arguments: &DiffArguments) -> String {
    let style = |mark| match mark {
        Mark::Head => paint::HEAD,
        Mark::Plain => paint::PLAIN,
        Mark::AboveLimit => paint::WORSE.bold(),
        Mark::Up => paint::WORSE,
        Mark::Down => paint::BETTER,
        Mark::Note => paint::NOTE,
    };
    let paint = |Line { text, mark }: &Line| paint::painted(text, style(*mark)) + "\n";
    diff.lines(arguments.all, render::columns(arguments.output.width)).iter().map(paint).collect()
}

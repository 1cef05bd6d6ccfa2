//! The page: its prose is written by hand; its tables and plots are inserted from the rows.

mod always_on;
mod cells;
mod costs;
mod formats;
mod goals;
mod iterations;
mod scaling;
mod setup;
mod simulated;
mod table_two;

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use tinyprof_bench_collective::document::replace;
use tinyprof_bench_collective::rows::{self, ModelRow};

pub(crate) use cells::{NOT_MEASURED, below, median, spread, three, wrapped};

use crate::always_on::AlwaysOnRow;
use crate::application::RunRow;
use crate::formats::FormatRow;
use crate::kept::{self, Kept};
use crate::parts::Part;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The directory with the rows of the parts
    #[arg(long)]
    results: PathBuf,
    /// The file with the rows of the simulation that docs/scaling.md tells of
    #[arg(long)]
    simulated: PathBuf,
    /// The commit of these rows
    #[arg(long, default_value = "unknown")]
    simulated_commit: String,
    /// The page, which has a place `<!-- begin NAME -->` ... `<!-- end NAME -->` for each table
    #[arg(long)]
    page: PathBuf,
    /// The directory for the plots, beside the page
    #[arg(long)]
    plots: PathBuf,
}

/// The measurements of the parts, as far as they exist.
struct Rows {
    fft_20: Option<Kept<RunRow>>,
    fft_3000: Option<Kept<RunRow>>,
    tc: Option<Kept<RunRow>>,
    weak: Option<Kept<RunRow>>,
    strong: Option<Kept<RunRow>>,
    iterations: Option<Kept<RunRow>>,
    formats: Option<Kept<FormatRow>>,
    always_on: Option<Kept<AlwaysOnRow>>,
    simulated: Vec<ModelRow>,
    simulated_commit: String,
}

impl Rows {
    fn read(arguments: &Arguments) -> Result<Self, String> {
        fn of<T: DeserializeOwned>(results: &Path, part: Part) -> Result<Option<Kept<T>>, String> {
            kept::read(results, part.name())
        }
        let results = &arguments.results;
        Ok(Self {
            fft_20: of(results, Part::Fft20)?,
            fft_3000: of(results, Part::Fft3000)?,
            tc: of(results, Part::Tc)?,
            weak: of(results, Part::Weak)?,
            strong: of(results, Part::Strong)?,
            iterations: of(results, Part::Iterations)?,
            formats: of(results, Part::Formats)?,
            always_on: of(results, Part::AlwaysOn)?,
            simulated: rows::read(&arguments.simulated)?,
            simulated_commit: arguments.simulated_commit.clone(),
        })
    }

    /// Returns the measured parts of Table II.
    fn table_two(&self) -> impl Iterator<Item = &Kept<RunRow>> {
        [&self.fft_20, &self.fft_3000, &self.tc].into_iter().flatten()
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let rows = Rows::read(arguments)?;
    let plots = &arguments.plots;
    std::fs::create_dir_all(plots)
        .map_err(|error| format!("cannot create {}: {error}", plots.display()))?;
    scaling::plot(&rows, plots)?;
    iterations::plot(&rows, plots)?;
    formats::plot(&rows, plots)?;
    always_on::plot(&rows, plots)?;
    let at = &arguments.page;
    let mut page = std::fs::read_to_string(at)
        .map_err(|error| format!("cannot read {}: {error}", at.display()))?;
    for (name, text) in [
        ("setup", setup::text(&arguments.results)?),
        ("goals", goals::table(&rows)),
        ("table II", table_two::costs(&rows)),
        ("parts", costs::table(&rows)),
        ("difference", table_two::differences(&rows)),
        ("weak", scaling::table(rows.weak.as_ref())),
        ("strong", scaling::table(rows.strong.as_ref())),
        ("simulated", simulated::table(&rows)),
        ("iterations", iterations::table(rows.iterations.as_ref())),
        ("formats", formats::real(rows.formats.as_ref())),
        ("wide", formats::wide(rows.formats.as_ref())),
        ("always on", always_on::table(rows.always_on.as_ref())),
    ] {
        page = replace(&page, name, &text)?;
    }
    std::fs::write(at, page).map_err(|error| format!("cannot write {}: {error}", at.display()))
}

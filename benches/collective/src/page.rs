//! The page: its prose is written by hand; its tables and plots are inserted from the rows.

mod gathered;
mod goals;
mod measured;
mod simulated;

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use tinyprof_bench_collective::document::replace;
use tinyprof_bench_collective::rows::{self, BoundaryRow, CostRow, FlushRow, ModelRow};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The directory with the files of rows
    #[arg(long)]
    results: PathBuf,
    /// The page, which has a place `<!-- begin NAME -->` ... `<!-- end NAME -->` for each table
    #[arg(long)]
    page: PathBuf,
    /// The directory for the plots, beside the page
    #[arg(long)]
    plots: PathBuf,
}

/// All available rows.
pub(crate) struct Rows {
    setup: String,
    figure6: Vec<FlushRow>,
    strategies: Vec<FlushRow>,
    series: Vec<FlushRow>,
    boundaries: Vec<BoundaryRow>,
    cost: Vec<CostRow>,
    virtual_ranks: Vec<ModelRow>,
    programs: Vec<ModelRow>,
    simgrid: Vec<ModelRow>,
    simgrid_aggregators: Vec<ModelRow>,
}

impl Rows {
    fn read(directory: &Path) -> Result<Self, String> {
        fn of<T: DeserializeOwned>(directory: &Path, name: &str) -> Result<Vec<T>, String> {
            rows::read(&directory.join(name))
        }
        let setup = directory.join("setup.md");
        Ok(Self {
            setup: std::fs::read_to_string(&setup)
                .map_err(|error| format!("{}: {error}", setup.display()))?,
            figure6: of(directory, "figure6.jsonl")?,
            strategies: of(directory, "strategies.jsonl")?,
            series: of(directory, "series.jsonl")?,
            boundaries: of(directory, "boundaries.jsonl")?,
            cost: of(directory, "cost.jsonl")?,
            virtual_ranks: of(directory, "virtual.jsonl")?,
            programs: of(directory, "programs.jsonl")?,
            simgrid: of(directory, "simgrid.jsonl")?,
            simgrid_aggregators: of(directory, "simgrid-aggregators.jsonl")?,
        })
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let rows = Rows::read(&arguments.results)?;
    let plots = &arguments.plots;
    std::fs::create_dir_all(plots)
        .map_err(|error| format!("cannot create {}: {error}", plots.display()))?;
    measured::plot(&rows, plots)?;
    simulated::plot(&rows, plots)?;
    let mut page = std::fs::read_to_string(&arguments.page)
        .map_err(|error| format!("cannot read {}: {error}", arguments.page.display()))?;
    for (name, text) in [
        ("setup", rows.setup.clone()),
        ("goals", goals::table(&rows)),
        ("figure 6", measured::aggregators(&rows.figure6)),
        ("strategies", measured::strategies(&rows.strategies)),
        ("series", gathered::series(&rows.series)),
        ("boundaries", gathered::boundaries(&rows.boundaries)),
        ("cost", measured::cost(&rows.cost)),
        ("virtual ranks", simulated::phases(&rows.virtual_ranks)),
        ("programs", simulated::phases(&rows.programs)),
        ("simgrid", simulated::phases(&rows.simgrid)),
        ("simgrid figure 6", simulated::aggregators(&rows.simgrid_aggregators)),
    ] {
        page = replace(&page, name, &text)?;
    }
    std::fs::write(&arguments.page, page)
        .map_err(|error| format!("cannot write {}: {error}", arguments.page.display()))
}

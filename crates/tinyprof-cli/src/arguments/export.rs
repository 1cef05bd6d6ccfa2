//! Arguments of `tinyprof export`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{Selection, profile};
use crate::events::EventSelection;
use crate::parameter::Parameter;

/// The formats of other tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// The paper's text format, a line for each callpath: tinyprof import, the paper's own tools
    TinyprofCsv,
    /// Parquet, a row for each execution and each visit of a series: DuckDB, Polars, pandas, Spark,
    /// R
    Parquet,
    /// Json-split as Caliper writes it, a row for each callpath and rank: LLNL's hatchet, Thicket
    Hatchet,
    /// The same, a file of each profile in a directory: LLNL's `CallFlow`
    Callflow,
    /// Flame charts of each rank: speedscope.app
    Speedscope,
    /// Stacks with the time of all ranks: flamegraph.pl, inferno, speedscope.app
    Folded,
    /// A flame graph of all ranks as SVG: any web browser
    Flamegraph,
    /// A time line of series and executions, laid end to end: Perfetto (ui.perfetto.dev), Chrome
    /// (about:tracing)
    Chrome,
    /// Times of several profiles over what differs between them: Extra-P
    Extrap,
    /// The callpath tree with its statistics: networkx, Gephi, yEd, Cytoscape
    Graphml,
    /// CubeX 4, visits, time and metrics of each callpath and rank: CubeGUI, Scalasca's tools,
    /// Extra-P
    Cubex,
    /// Statistics over ranks as OpenMetrics text, no label for a rank: Prometheus, VictoriaMetrics,
    /// Grafana
    Openmetrics,
    /// Events of each rank and thread as they were (`TINYPROF_EVENTS`): Perfetto (ui.perfetto.dev)
    Perfetto,
    /// Events as an archive, which is a directory: Vampir, Scalasca, Score-P's tools, otf2-print
    Otf2,
    /// Events and states as text, in a directory (trace.prv, trace.pcf, trace.row): Paraver
    Paraver,
    /// Visits and time of each callpath, compressed: go tool pprof, Pyroscope, Parca, speedscope
    Pprof,
}

/// Arguments of `tinyprof export`.
#[derive(Args, Debug)]
pub(crate) struct ExportArguments {
    /// The profile: a directory NAME.tprof; several for extrap and callflow
    #[arg(value_name = "DIR", required = true, value_parser = profile::directory)]
    pub(crate) directories: Vec<PathBuf>,
    /// The format to write
    #[arg(long = "to", value_name = "FORMAT")]
    pub(crate) format: ExportFormat,
    /// The file to write, - for standard output; a new directory for otf2, paraver and callflow
    #[arg(short, long = "output", value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) selection: Selection,
    #[command(flatten)]
    pub(crate) events: EventSelection,
    /// For speedscope, chrome, perfetto, otf2 and paraver: show at most N ranks, representatives if
    /// there are more [default: 64]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_ranks: Option<u32>,
    /// For extrap: a parameter that differs between the profiles: ranks, hosts, or a name with a
    /// value for each, such as size=256,512; may be repeated [default: ranks]
    #[arg(long = "parameter", value_name = "NAME[=VALUES]")]
    pub(crate) parameters: Vec<Parameter>,
}

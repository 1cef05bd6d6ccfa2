//! The formats of `tinyprof export`, as users name them.

use clap::ValueEnum;

pub(crate) const EXPORT_HELP: &str = "\
Times are whole nanoseconds wherever the format can hold them. What a format has no place for is named
on standard error. Parquet and CubeX are no text: they need -o FILE. An existing file is never overwritten.

In speedscope and chrome a rank is a tab or a track. Of more ranks than --max-ranks they get the
mean, minimum and maximum, and as many representatives, each named with how many ranks it stands for.

Extra-P models how times grow over several profiles: name them all, and say with --parameter what
differs, as in
  tinyprof export p4.tprof p8.tprof p16.tprof --to extrap --parameter ranks -o scaling.json
  tinyprof export a.tprof b.tprof --to extrap --parameter ranks --parameter size=256,512 -o scaling.json

docs/exports.md says for each format what maps to what, and what is lost.

Exit codes:
  0  done, also where the reader of the output left early
  1  a profile could not be read, or the output not be written
  2  wrong arguments";

/// What a profile can be written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// The paper's text format, a line for each callpath: tinyprof import, the paper's own tools
    TinyprofCsv,
    /// Parquet, a row for each execution and each visit of a series: DuckDB, Polars, pandas, Spark, R
    Parquet,
    /// Json-split as Caliper writes it, a row for each callpath and rank: LLNL's hatchet, Thicket
    Hatchet,
    /// Flame charts of each rank: speedscope.app
    Speedscope,
    /// Stacks with the time of all ranks: flamegraph.pl, inferno, speedscope.app
    Folded,
    /// A flame graph of all ranks as SVG: any web browser
    Flamegraph,
    /// A time line of series and executions, laid end to end: Perfetto (ui.perfetto.dev), Chrome (about:tracing)
    Chrome,
    /// Times of several profiles over what differs between them: Extra-P
    Extrap,
    /// The callpath tree with its statistics: networkx, Gephi, yEd, Cytoscape
    Graphml,
    /// CubeX 4, visits, time and metrics of each callpath and rank: CubeGUI, Scalasca's tools, Extra-P
    Cubex,
    /// Statistics over ranks as OpenMetrics text, no label for a rank: Prometheus, VictoriaMetrics, Grafana
    Openmetrics,
}

//! The table of formats and their exporters.

use super::exporter::Exporter;
#[cfg(feature = "flamegraph")]
use super::flamegraph::FlameGraph;
#[cfg(not(feature = "flamegraph"))]
use super::left_out::FlameGraph;
#[cfg(not(feature = "parquet"))]
use super::left_out::Parquet;
#[cfg(feature = "parquet")]
use super::parquet::Parquet;
use super::{
    callflow, chrome, cubex, extrap, folded, graphml, hatchet, openmetrics, otf2, paraver,
    perfetto, pprof, speedscope, tinyprof_csv,
};
use crate::arguments::ExportFormat;

pub(super) fn exporter(format: ExportFormat) -> &'static dyn Exporter {
    match format {
        ExportFormat::TinyprofCsv => &tinyprof_csv::TinyprofCsv,
        ExportFormat::Parquet => &Parquet,
        ExportFormat::Hatchet => &hatchet::Hatchet,
        ExportFormat::Callflow => &callflow::CallFlow,
        ExportFormat::Speedscope => &speedscope::Speedscope,
        ExportFormat::Folded => &folded::Folded,
        ExportFormat::Flamegraph => &FlameGraph,
        ExportFormat::Chrome => &chrome::Chrome,
        ExportFormat::Extrap => &extrap::ExtraP,
        ExportFormat::Graphml => &graphml::GraphMl,
        ExportFormat::Cubex => &cubex::CubeX,
        ExportFormat::Openmetrics => &openmetrics::OpenMetrics,
        ExportFormat::Perfetto => &perfetto::Perfetto,
        ExportFormat::Otf2 => &otf2::Otf2,
        ExportFormat::Paraver => &paraver::Paraver,
        ExportFormat::Pprof => &pprof::Pprof,
    }
}

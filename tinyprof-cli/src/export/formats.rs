//! The table of formats and their exporters.

use super::exporter::Exporter;
use super::{
    chrome, cubex, extrap, flamegraph, folded, graphml, hatchet, openmetrics, parquet, speedscope,
    tinyprof_csv,
};
use crate::arguments::ExportFormat;

pub(super) fn exporter(format: ExportFormat) -> &'static dyn Exporter {
    match format {
        ExportFormat::TinyprofCsv => &tinyprof_csv::TinyprofCsv,
        ExportFormat::Parquet => &parquet::Parquet,
        ExportFormat::Hatchet => &hatchet::Hatchet,
        ExportFormat::Speedscope => &speedscope::Speedscope,
        ExportFormat::Folded => &folded::Folded,
        ExportFormat::Flamegraph => &flamegraph::FlameGraph,
        ExportFormat::Chrome => &chrome::Chrome,
        ExportFormat::Extrap => &extrap::ExtraP,
        ExportFormat::Graphml => &graphml::GraphMl,
        ExportFormat::Cubex => &cubex::CubeX,
        ExportFormat::Openmetrics => &openmetrics::OpenMetrics,
    }
}

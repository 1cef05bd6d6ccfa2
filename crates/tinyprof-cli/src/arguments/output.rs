//! The options for output formats and colours.

use std::ops::RangeInclusive;

use clap::builder::RangedI64ValueParser;
use clap::{Args, ValueEnum, value_parser};
use tinyprof_views::GroupBy;

/// The widths of tables, in columns.
pub(crate) const WIDTHS: RangeInclusive<u16> = 20..=1000;

/// Returns the parser of a width.
pub(super) fn width() -> RangedI64ValueParser<u16> {
    value_parser!(u16).range(i64::from(*WIDTHS.start())..=i64::from(*WIDTHS.end()))
}

/// The output formats of a command with a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TableFormat {
    /// A table for people, as wide as the terminal
    Text,
    /// Everything, every number unrounded, times in nanoseconds
    Json,
    /// The table unrounded, for spreadsheets and scripts; times in nanoseconds
    Csv,
}

/// The output formats of a command without a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlainFormat {
    /// For people
    #[default]
    Text,
    /// For programs
    Json,
}

/// The rows of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Rows {
    /// A row for each callpath
    Callpath,
    /// A row for each region, summed over its callpaths
    Region,
    /// A row for each region, and for each line that was sampled
    Line,
}

/// The rows of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportRows {
    /// A row for each callpath
    Callpath,
    /// A row for each region, summed over its callpaths
    #[value(alias = "procedure")]
    Region,
    /// A row for each region, and for each function that was sampled (as region)
    Function,
    /// A row for each region, and for each line that was sampled
    Line,
    /// A row for each place that a region or MPI function is called from
    Site,
    /// A row for each loop, and each loop in it
    Loop,
    /// A row for each MPI function
    Call,
    /// A row for each rank as a partner of others: messages, waiting for it, transfer
    Peer,
}

impl ReportRows {
    /// Returns the rows of the usual report; or the groups of another table.
    pub(crate) const fn groups(self) -> Result<Rows, GroupBy> {
        match self {
            Self::Callpath => Ok(Rows::Callpath),
            Self::Region | Self::Function => Ok(Rows::Region),
            Self::Line => Ok(Rows::Line),
            Self::Site => Err(GroupBy::Site),
            Self::Loop => Err(GroupBy::Loop),
            Self::Call => Err(GroupBy::Call),
            Self::Peer => Err(GroupBy::Peer),
        }
    }
}

/// When colours are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless `NO_COLOR` is set
    Auto,
    /// Everywhere
    Always,
    /// Nowhere
    Never,
}

/// The output of a command with a table.
#[derive(Args, Debug)]
pub(crate) struct TableOutput {
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "text",
        hide_possible_values = true,
        help = "Print text, json or csv"
    )]
    format: TableFormat,
    /// Short for --format json: exact numbers, times in nanoseconds
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Fit the table into N columns [default: the terminal's, COLUMNS, or 120]
    #[arg(long, value_name = "N", conflicts_with = "json", value_parser = width())]
    pub(crate) width: Option<u16>,
}

impl TableOutput {
    pub(crate) const fn format(&self) -> TableFormat {
        if self.json { TableFormat::Json } else { self.format }
    }
}

/// The output of a command without a table.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct PlainOutput {
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "text",
        hide_possible_values = true,
        help = "Print text or json"
    )]
    format: PlainFormat,
    /// Short for --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

impl PlainOutput {
    pub(crate) const fn is_json(&self) -> bool {
        self.json || matches!(self.format, PlainFormat::Json)
    }
}

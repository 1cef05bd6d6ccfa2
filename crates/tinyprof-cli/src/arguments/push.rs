//! Arguments of `tinyprof push`.

use std::path::PathBuf;

use clap::{ArgGroup, Args};

use super::ctl::HostChoice;
use super::{TOP_DIR, profile};

/// The least time between two pushes, in seconds: a site keeps what it is sent.
const LEAST_SECONDS: u32 = 10;

const OTLP: &str = "To a collector, by OTLP over HTTP, /v1/metrics below URL [default: \
     OTEL_EXPORTER_OTLP_ENDPOINT, or http://localhost:4318]";
const OPENMETRICS: &str =
    "To a file of OpenMetrics text, which is replaced each time; NAME.prom for node_exporter";

/// Arguments of `tinyprof push`.
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("target").required(true).multiple(true).args(["otlp", "openmetrics", "json"]))]
pub(crate) struct PushArguments {
    #[arg(value_name = "DIR", help = TOP_DIR, value_parser = profile::directory)]
    pub(crate) directory: Option<PathBuf>,
    /// The job, as tinyprof top takes it
    #[arg(long, value_name = "ID")]
    pub(crate) job: Option<String>,
    #[command(flatten)]
    pub(crate) hosts: HostChoice,
    /// Push every SECONDS, at least 10, and once more when the job ends
    #[arg(long, value_name = "SECONDS", default_value_t = LEAST_SECONDS, value_parser = interval)]
    pub(crate) interval: u32,
    /// Push the N costliest callpaths by exclusive time
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u16).range(0..=1000))]
    pub(crate) callpaths: u16,
    #[arg(long, value_name = "URL", num_args = 0..=1, require_equals = true, help = OTLP)]
    pub(crate) otlp: Option<Option<String>>,
    #[arg(long, value_name = "FILE", help = OPENMETRICS)]
    pub(crate) openmetrics: Option<PathBuf>,
    /// To the end of a file, or with - to standard output: a document of tinyprof top --json a line
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

fn interval(text: &str) -> Result<u32, String> {
    let seconds: u32 = text.parse().map_err(|_| "expected a whole number of seconds".to_owned())?;
    if seconds >= LEAST_SECONDS {
        return Ok(seconds);
    }
    Err(format!(
        "expected at least {LEAST_SECONDS} s: a site keeps what it is sent; to see more, use tinyprof top"
    ))
}

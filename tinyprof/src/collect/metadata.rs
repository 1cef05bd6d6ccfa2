//! Facts about the run, under the keys that users of Adiak and Thicket expect.

use std::env;

use tinyprof_format::model::RunMetadata;

use super::session::session;
use super::starting::starting_ns;
use crate::record::calibration::{run_cost, visit_cost};
use crate::record::clock;
use crate::record::thread::arenas;
use crate::record::{filter, segments};
use crate::sys::{cpus, host_name, segment_refusal, user_id};

/// The variables in which batch systems give a job its id.
const JOB_ID_VARIABLES: [&str; 7] = [
    "SLURM_JOB_ID",
    "PBS_JOBID",
    "LSB_JOBID",
    "JOB_ID",
    "COBALT_JOBID",
    "FLUX_JOB_ID",
    "OAR_JOB_ID",
];

/// Returns the facts that one process knows. A collector that knows all ranks adds the hosts and
/// the number of ranks.
#[must_use]
pub fn metadata() -> RunMetadata {
    let session = session();
    let host = host_name();
    let costs = VisitCosts::of_run();
    RunMetadata {
        user: env::var("USER")
            .or_else(|_| env::var("LOGNAME"))
            .unwrap_or_else(|_| user_id().to_string()),
        launchdate: session.launch_date_s,
        executable: env::current_exe()
            .map(|p| p.to_string_lossy().into_owned())
            .unwrap_or_default(),
        cmdline: env::args_os().map(|a| a.to_string_lossy().into_owned()).collect(),
        cluster: env::var("SLURM_CLUSTER_NAME").unwrap_or_else(|_| cluster_of(&host).to_owned()),
        jobid: job_id(),
        jobsize: 1,
        numhosts: 1,
        hostlist: vec![host],
        mpi_version: None,
        tinyprof_version: env!("CARGO_PKG_VERSION").to_owned(),
        clock: session.clock.name().to_owned(),
        cpus: cpus(),
        visit_cost_ps: costs.inner_ps,
        visit_cost_error_ps: costs.inner_error_ps,
        root_visit_cost_ps: costs.root_ps,
        root_visit_cost_error_ps: costs.root_error_ps,
        counted_visit_cost_ps: costs.counted_ps,
        starting_ns: starting_ns(),
        filter: filter::text(),
        regions_filtered: filter::is_known().then(filter::taken_out),
        segments_refused: segments_refused(),
    }
}

/// Returns the reason why threads of this process record in private memory, if any of them do.
fn segments_refused() -> Option<String> {
    let refusal = segment_refusal().filter(|_| arenas().any(|arena| !arena.is_mapped()))?;
    Some(format!("{}: {refusal}", segments::directory()?.display()))
}

/// The costs of a visit on this machine, in picoseconds. They are measured with empty regions, by
/// the clock that visits are measured with.
struct VisitCosts {
    inner_ps: u64,
    inner_error_ps: u64,
    root_ps: u64,
    root_error_ps: u64,
    counted_ps: u64,
}

impl VisitCosts {
    fn of_run() -> Self {
        let session = session();
        let scale = clock::rate_since(session.started, session.clock);
        let cost = run_cost(session.clock);
        // Nanoseconds for a thousand visits are picoseconds for one.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "some 30,000 ticks"
        )]
        let ps = |ticks: f64| scale.ns((ticks * 1e3) as u64);
        Self {
            inner_ps: ps(cost.inner.mean),
            inner_error_ps: ps(cost.inner.error),
            root_ps: ps(cost.root.mean),
            root_error_ps: ps(cost.root.error),
            counted_ps: ps(visit_cost(session.clock).counted),
        }
    }
}

/// Returns the batch system's job id, if there is one that can be part of a file name.
pub(super) fn job_id() -> Option<String> {
    let ids = JOB_ID_VARIABLES.iter().filter_map(|variable| env::var(variable).ok());
    let fit = |id: &String| {
        !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || "._-[]".contains(c))
    };
    ids.into_iter().find(fit)
}

/// Returns `theta` for `theta0042.alcf.anl.gov`: the part that nodes of one machine have in common.
fn cluster_of(host: &str) -> &str {
    let short = host.split('.').next().unwrap_or(host);
    short.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_is_its_hosts_without_numbers() {
        assert_eq!(cluster_of("theta0042.alcf.anl.gov"), "theta");
        assert_eq!(cluster_of("node-17"), "node");
        assert_eq!(cluster_of("laptop"), "laptop");
    }
}

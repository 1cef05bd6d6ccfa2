//! Facts of the run, under the keys that users of Adiak and Thicket expect.

use std::env;
use std::sync::OnceLock;

use tinyprof_format::model::RunMetadata;

use super::session::session;
use crate::record::budget::visit_cost_ticks;
use crate::record::filter;
use crate::sys::{host_name, user_id};

/// The variables in which batch systems tell a job its id.
const JOB_ID_VARIABLES: [&str; 7] =
    ["SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID", "COBALT_JOBID", "FLUX_JOB_ID", "OAR_JOB_ID"];

/// The facts that one process knows. Hosts and the number of ranks are added by whoever knows all ranks.
#[must_use]
pub fn metadata() -> RunMetadata {
    let session = session();
    let host = host_name();
    RunMetadata {
        user: env::var("USER").or_else(|_| env::var("LOGNAME")).unwrap_or_else(|_| user_id().to_string()),
        launchdate: session.launch_date_s,
        executable: env::current_exe().map(|p| p.to_string_lossy().into_owned()).unwrap_or_default(),
        cmdline: env::args_os().map(|a| a.to_string_lossy().into_owned()).collect(),
        cluster: env::var("SLURM_CLUSTER_NAME").unwrap_or_else(|_| cluster_of(&host).to_owned()),
        jobid: job_id(),
        jobsize: 1,
        numhosts: 1,
        hostlist: vec![host],
        mpi_version: None,
        tinyprof_version: env!("CARGO_PKG_VERSION").to_owned(),
        clock: session.clock.name().to_owned(),
        visit_cost_ps: visit_cost_ps(),
        filter: filter::text(),
        regions_filtered: filter::text().map(|_| filter::taken_out()),
    }
}

/// What measuring one visit costs here, in picoseconds: measured once a process, by the clock that visits are measured with.
fn visit_cost_ps() -> u64 {
    static COST_PS: OnceLock<u64> = OnceLock::new();
    *COST_PS.get_or_init(|| {
        let session = session();
        let scale = session.started.rate_until_now(session.clock);
        // A thousand visits in nanoseconds are one in picoseconds.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "some 30,000 ticks")]
        let ticks = (visit_cost_ticks(session.clock) * 1e3) as u64;
        scale.ns(ticks)
    })
}

/// The batch system's job id, if there is one that can be part of a file name.
pub(super) fn job_id() -> Option<String> {
    let ids = JOB_ID_VARIABLES.iter().filter_map(|variable| env::var(variable).ok());
    let fit =
        |id: &String| !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || "._-[]".contains(c));
    ids.into_iter().find(fit)
}

/// `theta` of `theta0042.alcf.anl.gov`: what nodes of one machine have in common.
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

//! The process's place in an MPI job, as its launcher gives it, before MPI itself can be asked.

use std::env;

/// The variables in which launchers give the number of processes, and the number of this one.
const VARIABLES: [(&str, &str); 3] = [
    ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
    ("PMI_SIZE", "PMI_RANK"),
    ("SLURM_NTASKS", "SLURM_PROCID"),
];

/// One of the processes that a launcher has started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ProcessRank {
    pub(super) size: u32,
    pub(super) rank: u32,
}

impl ProcessRank {
    pub(super) fn is_first_of_several(self) -> bool {
        self.size > 1 && self.rank == 0
    }
}

/// Returns the place of this process, or `None` if no launcher has started it.
pub(super) fn place() -> Option<ProcessRank> {
    from_lookup(|variable| env::var(variable).ok())
}

/// The variables in which launchers give the number of their processes on this host.
const VARIABLES_OF_HOST: [&str; 2] = ["OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"];

/// Returns the number of processes that the launcher has started on this host, which has `cpus`. If
/// it does not say, no more than one for each of them, and no more than there are.
pub(super) fn processes_here(cpus: u32) -> u32 {
    processes_here_from(|variable| env::var(variable).ok(), cpus)
}

fn processes_here_from(lookup: impl Fn(&str) -> Option<String>, cpus: u32) -> u32 {
    let said = VARIABLES_OF_HOST.iter().find_map(|variable| lookup(variable)?.parse().ok());
    let most = || from_lookup(&lookup).map_or(1, |place| place.size.min(cpus.max(1)));
    said.unwrap_or_else(most).max(1)
}

/// Returns whether this process reports what concerns all processes alike, so that it is reported
/// once.
pub(super) fn speaks_for_all() -> bool {
    place().is_none_or(|place| place.rank == 0)
}

fn from_lookup(lookup: impl Fn(&str) -> Option<String>) -> Option<ProcessRank> {
    let number = |variable| lookup(variable).and_then(|text| text.parse().ok());
    VARIABLES
        .iter()
        .find_map(|(size, rank)| Some(ProcessRank { size: number(size)?, rank: number(rank)? }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processes_of_this_host_are_those_of_the_launcher() {
        let check = |variables: &[(&str, &str)], expected| {
            let lookup = |name: &str| {
                variables.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned())
            };
            assert_eq!(processes_here_from(lookup, 8), expected, "{variables:?}");
        };
        check(&[], 1);
        check(&[("OMPI_COMM_WORLD_LOCAL_SIZE", "64")], 64);
        check(&[("PMI_SIZE", "128"), ("PMI_RANK", "3"), ("MPI_LOCALNRANKS", "0")], 1);
        check(&[("SLURM_NTASKS", "4"), ("SLURM_PROCID", "0")], 4);
        check(&[("SLURM_NTASKS", "32768"), ("SLURM_PROCID", "0")], 8);
    }

    #[test]
    fn the_place_is_read_from_whichever_launcher_there_is() {
        let read = |variables: &[(&str, &str)]| {
            from_lookup(|name| {
                variables.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned())
            })
        };
        assert_eq!(read(&[]), None);
        assert_eq!(
            read(&[("PMI_SIZE", "4"), ("PMI_RANK", "3")]),
            Some(ProcessRank { size: 4, rank: 3 })
        );
        assert_eq!(read(&[("PMI_SIZE", "4")]), None);
        assert_eq!(read(&[("PMI_SIZE", "many"), ("PMI_RANK", "0")]), None);
        let slurm = [("SLURM_NTASKS", "2"), ("SLURM_PROCID", "0")];
        assert!(read(&slurm).unwrap().is_first_of_several());
        assert!(!ProcessRank { size: 1, rank: 0 }.is_first_of_several());
    }
}

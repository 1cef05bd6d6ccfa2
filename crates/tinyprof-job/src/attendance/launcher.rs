//! The information that a launcher gives a process about its job before MPI is initialised. Two
//! jobs on one host must never be taken for one.

use tinyprof_roll_call::Place;

/// MPI families, whose launchers provide different information. A process may have the variables of
/// both families if one of them started the other's launcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    OpenMpi,
    /// MPICH, and also Intel MPI, MVAPICH and Cray MPICH.
    Mpich,
}

/// The environment of one process.
pub(super) struct Launcher<'a> {
    pub(super) family: Family,
    /// Returns the value of a variable.
    pub(super) lookup: &'a dyn Fn(&str) -> Option<String>,
    /// Returns the process that created the socket behind a file descriptor, as text.
    pub(super) peer: &'a dyn Fn(i32) -> Option<String>,
}

/// The place of a process in its job, or in the part of the job on this host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Job {
    /// A text that is equal on all ranks of the job on this host, and on no other process.
    pub(super) name: String,
    pub(super) rank: u32,
    /// The number of ranks in the world, on all hosts.
    pub(super) size: u32,
}

/// Variables that identify a job under `PMIx`, and under older Open MPI without it. The server
/// addresses contain a randomly chosen port.
const OF_PMIX: [&str; 9] = [
    "PMIX_NAMESPACE",
    "PMIX_SERVER_URI",
    "PMIX_SERVER_URI2",
    "PMIX_SERVER_URI21",
    "PMIX_SERVER_URI4",
    "PMIX_SERVER_URI41",
    "OMPI_MCA_orte_hnp_uri",
    "OMPI_MCA_ess_base_jobid",
    "SLURM_RESTART_COUNT",
];

impl Launcher<'_> {
    /// Returns the job of this process, or `None` if no launcher distinguishes it from other jobs.
    pub(super) fn job(&self) -> Option<Job> {
        let job = match self.family {
            Family::OpenMpi => self.job_of_pmix(),
            Family::Mpich => self.job_of_pmi().or_else(|| self.job_of_pmix()),
        }?;
        // Ranks of several hosts never meet, not even where hosts are only said to be several.
        let host = self.text("SLURM_NODEID");
        Some(Job { name: format!("{} {host:?}", job.name), ..job })
    }

    /// Returns the place of this process in a job on several hosts, whose name is equal on all of
    /// them. `None` for jobs that a program has started: some launchers give them the name of the
    /// first one.
    pub(super) fn place_across_hosts(&self) -> Option<Place> {
        let Job { rank, size, .. } = self.job()?;
        let is_on_several = size > 1 && self.ranks_here() != Some(size);
        let is_spawned = self.text("PMI_SPAWNED").is_some_and(|text| text != "0");
        let job = ["PMIX_NAMESPACE", "PMI_JOBID"].map(|variable| self.text(variable)).into_iter();
        let job = job.flatten().collect::<Vec<_>>().join("-");
        (is_on_several && !is_spawned).then_some(Place { job, rank, size })
    }

    fn text(&self, variable: &str) -> Option<String> {
        (self.lookup)(variable).filter(|text| !text.is_empty())
    }

    fn number(&self, variables: &[&str]) -> Option<u32> {
        variables.iter().find_map(|variable| self.text(variable)?.parse().ok())
    }

    fn job_of_pmix(&self) -> Option<Job> {
        let values: Vec<_> = OF_PMIX.iter().map(|variable| self.text(variable)).collect();
        values.iter().any(Option::is_some).then_some(())?;
        let rank = self.number(&["PMIX_RANK", "OMPI_COMM_WORLD_RANK"])?;
        let size =
            self.number(&["OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"])?;
        Some(Job { name: format!("pmix {values:?} {size}"), rank, size })
    }

    /// Returns the job under PMI, identified by the process that started the ranks of this host.
    /// Each rank has a socket to that process, but inherits no variable that would identify the
    /// job. The system reports who created the socket.
    fn job_of_pmi(&self) -> Option<Job> {
        let socket = self.text("PMI_FD")?.parse().ok()?;
        let (rank, size) = (self.number(&["PMI_RANK"])?, self.number(&["PMI_SIZE"])?);
        let proxy = (self.peer)(socket)?;
        // One process may also start the ranks that the program spawns.
        let others = ["PMI_SPAWNED", "PMI_JOBID"].map(|variable| self.text(variable));
        Some(Job { name: format!("pmi {proxy} {others:?} {size}"), rank, size })
    }

    /// Returns the number of the job's ranks on this host, whichever programs they run, or `None`
    /// if the launcher does not say.
    pub(super) fn ranks_here(&self) -> Option<u32> {
        let of_family = match self.family {
            Family::OpenMpi => "OMPI_COMM_WORLD_LOCAL_SIZE",
            Family::Mpich => "MPI_LOCALNRANKS",
        };
        // Under a launcher other than `srun`, Slurm's variables describe the step in which that
        // launcher runs.
        self.number(&[of_family]).or_else(|| {
            let (tasks, node) =
                (self.text("SLURM_STEP_TASKS_PER_NODE")?, self.number(&["SLURM_NODEID"])?);
            tasks_of_node(&tasks, node)
        })
    }

    /// Returns whether the launcher says, on all ranks, that the job consists of several programs.
    pub(super) fn is_of_several_programs(&self) -> bool {
        // MPICH's ranks only know the number of their own program.
        self.family == Family::OpenMpi
            && self.number(&["OMPI_NUM_APP_CTX"]).is_some_and(|programs| programs > 1)
    }

    /// Returns whether the launcher says that all ranks of a job on several hosts run the program
    /// that was started as `started_as`, with its environment. The answer is equal on all of them.
    pub(super) fn is_of_this_program_alone(&self, started_as: Option<&str>) -> bool {
        // To the launcher, `mpiexec script` is one program, even if the script starts different
        // programs.
        let is_the_program = || {
            let (command, path) = (self.text("OMPI_COMMAND")?, started_as?);
            let command = command.strip_prefix("./").unwrap_or(&command);
            Some(
                path.strip_suffix(command)
                    .is_some_and(|before| before.is_empty() || before.ends_with('/')),
            )
        };
        // Through ssh, other hosts get none of our variables unless they are named, so
        // `TINYPROF=off` would apply on one host alone.
        let has_one_environment = || {
            let is_set = |variable| self.text(variable).is_some();
            is_set("SLURM_JOB_ID") && !is_set("SLURM_EXPORT_ENV") && !is_set("OMPI_MCA_plm")
        };
        self.family == Family::OpenMpi
            && self.number(&["OMPI_NUM_APP_CTX"]) == Some(1)
            && self
                .ranks_here()
                .zip(self.number(&["OMPI_COMM_WORLD_SIZE"]))
                .is_some_and(|(here, all)| here < all)
            && is_the_program().unwrap_or(false)
            && has_one_environment()
    }
}

/// Returns the number of tasks of a node from a list like `4(x2),3`: 4 on each of two nodes, and 3
/// on the next.
fn tasks_of_node(list: &str, node: u32) -> Option<u32> {
    let mut before = 0_u32;
    for entry in list.split(',') {
        let (tasks, nodes) = match entry.split_once("(x") {
            Some((tasks, nodes)) => (tasks, nodes.strip_suffix(')')?.parse().ok()?),
            None => (entry, 1),
        };
        before = before.checked_add(nodes)?;
        if node < before {
            return tasks.parse().ok();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with<T>(
        family: Family,
        variables: &[(&str, &str)],
        ask: impl FnOnce(&Launcher<'_>) -> T,
    ) -> T {
        let lookup = |name: &str| {
            variables.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned())
        };
        let peer = |socket: i32| (socket == 6).then(|| "4711 since 12".to_owned());
        ask(&Launcher { family, lookup: &lookup, peer: &peer })
    }

    #[test]
    fn a_job_is_named_by_the_launcher_of_its_own_mpi() {
        let job = |family, variables: &[(&str, &str)]| with(family, variables, |it| it.job());
        assert_eq!(job(Family::OpenMpi, &[]), None);
        assert_eq!(job(Family::Mpich, &[("PMI_RANK", "0"), ("PMI_SIZE", "2")]), None, "no socket");
        let pmi = [("PMI_FD", "6"), ("PMI_RANK", "1"), ("PMI_SIZE", "2")];
        let pmix = [("PMIX_NAMESPACE", "77"), ("PMIX_RANK", "3"), ("OMPI_COMM_WORLD_SIZE", "4")];
        let both = [&pmi[..], &pmix].concat();
        let of_pmi = job(Family::Mpich, &both).unwrap();
        assert_eq!((of_pmi.rank, of_pmi.size), (1, 2));
        assert!(of_pmi.name.contains("4711 since 12"), "{}", of_pmi.name);
        let of_pmix = job(Family::OpenMpi, &both).unwrap();
        assert_eq!((of_pmix.rank, of_pmix.size), (3, 4));
        assert_eq!(
            Some(&of_pmix),
            job(Family::Mpich, &pmix).as_ref(),
            "an MPICH that is built on PMIx"
        );
        assert_ne!(of_pmi.name, of_pmix.name);
        let spawned = [&pmi[..], &[("PMI_SPAWNED", "1")]].concat();
        assert_ne!(job(Family::Mpich, &spawned).unwrap().name, of_pmi.name);
        let elsewhere = [&pmi[..], &[("SLURM_NODEID", "1")]].concat();
        assert_ne!(job(Family::Mpich, &elsewhere).unwrap().name, of_pmi.name);
        assert_eq!(
            job(Family::Mpich, &[("PMI_FD", "7"), pmi[1], pmi[2]]),
            None,
            "no socket behind it"
        );
    }

    #[test]
    fn only_jobs_on_several_hosts_have_a_name_on_all_of_them() {
        let place = |variables: &[(&str, &str)]| {
            with(Family::Mpich, variables, |launcher| launcher.place_across_hosts())
        };
        let pmi = [("PMI_FD", "6"), ("PMI_RANK", "1"), ("PMI_SIZE", "4")];
        let expected = Place { job: String::new(), rank: 1, size: 4 };
        assert_eq!(place(&pmi), Some(expected.clone()), "Hydra does not name its jobs");
        let here = |ranks| [&pmi[..], &[("MPI_LOCALNRANKS", ranks)]].concat();
        assert_eq!(place(&here("2")), Some(expected.clone()));
        assert_eq!(place(&here("4")), None, "one host");
        let of_slurm = [&here("2")[..], &[("PMI_JOBID", "7.0"), ("PMI_SPAWNED", "0")]].concat();
        assert_eq!(place(&of_slurm), Some(Place { job: "7.0".into(), ..expected }));
        assert_eq!(place(&[&here("2")[..], &[("PMI_SPAWNED", "1")]].concat()), None);
    }

    #[test]
    fn ranks_of_a_host_are_those_that_its_launcher_counts() {
        let here =
            |family, variables: &[(&str, &str)]| with(family, variables, |it| it.ranks_here());
        let slurm =
            |node| [("SLURM_STEP_TASKS_PER_NODE", "4(x2),3,1(x10)"), ("SLURM_NODEID", node)];
        let expected = [("0", 4), ("1", 4), ("2", 3), ("3", 1), ("12", 1)];
        for (node, tasks) in expected {
            assert_eq!(here(Family::OpenMpi, &slurm(node)), Some(tasks), "{node}");
            assert_eq!(here(Family::Mpich, &slurm(node)), Some(tasks), "{node}");
        }
        assert_eq!((here(Family::Mpich, &slurm("13")), here(Family::Mpich, &[])), (None, None));
        for list in ["", "x", "4(x", "4(x2", "4(xx)", "9(x4294967295),9(x4294967295)"] {
            assert_eq!(tasks_of_node(list, u32::MAX), None, "{list}");
        }
        let own =
            [&slurm("0")[..], &[("MPI_LOCALNRANKS", "7"), ("OMPI_COMM_WORLD_LOCAL_SIZE", "8")]]
                .concat();
        assert_eq!((here(Family::Mpich, &own), here(Family::OpenMpi, &own)), (Some(7), Some(8)));
    }

    #[test]
    fn one_program_is_one_that_the_launcher_started_itself_everywhere() {
        let all = [
            ("OMPI_NUM_APP_CTX", "1"),
            ("OMPI_COMM_WORLD_SIZE", "8"),
            ("OMPI_COMM_WORLD_LOCAL_SIZE", "4"),
            ("OMPI_COMMAND", "./bin/a"),
            ("SLURM_JOB_ID", "5"),
        ];
        let is_one = |variables: &[(&str, &str)], started_as: &str| {
            with(Family::OpenMpi, variables, |launcher| {
                launcher.is_of_this_program_alone(Some(started_as))
            })
        };
        assert!(is_one(&all, "/home/me/bin/a") && is_one(&all, "bin/a") && is_one(&all, "./bin/a"));
        assert!(!is_one(&all, "/home/me/bin/ba") && !is_one(&all, "/bin/sh") && !is_one(&all, "a"));
        for left_out in 0..all.len() {
            let others: Vec<_> =
                all.iter().copied().filter(|pair| *pair != all[left_out]).collect();
            assert!(!is_one(&others, "/home/me/bin/a"), "without {}", all[left_out].0);
        }
        for changed in [
            ("OMPI_NUM_APP_CTX", "2"),
            ("OMPI_COMM_WORLD_LOCAL_SIZE", "8"),
            ("SLURM_EXPORT_ENV", "NONE"),
            ("OMPI_MCA_plm", "rsh"),
        ] {
            assert!(!is_one(&[&[changed][..], &all].concat(), "/home/me/bin/a"), "{changed:?}");
        }
        assert!(!with(Family::Mpich, &all, |launcher| launcher
            .is_of_this_program_alone(Some("/bin/a"))));
    }
}

//! Kills of jobs under mpiexec at random moments: one rank, all ranks, or the launcher.

use std::fs;
use std::io;
use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;

use tinyprof_faults::phase::Phase;
use tinyprof_faults::sys::{Ended, Watch, kill, spin_us};
use tinyprof_faults::truth::Truth;
use tinyprof_format::segment::ProcessState;

use crate::judge::{Expected, judge};
use crate::place::{Scratch, executable};
use crate::random::Random;
use crate::results::{Outcome, Results, print};

const RANKS: usize = 3;

/// The longest time that a job takes, and that a launcher takes to notice that its job is dead.
const LIMIT: Duration = Duration::from_secs(25);

/// The moment at which jobs are killed.
#[derive(Debug)]
struct Moment {
    name: &'static str,
    levels: u32,
    rounds: Option<u32>,
    pause_us: u32,
    interval: Option<&'static str>,
    after: Phase,
    within_us: u64,
}

const STEADY: Moment = Moment {
    name: "steady",
    levels: 2,
    rounds: None,
    pause_us: 0,
    interval: None,
    after: Phase::Recording,
    within_us: 50_000,
};

const MOMENTS: &[Moment] = &[
    Moment { name: "growth", levels: 4, after: Phase::Start, ..STEADY },
    STEADY,
    Moment { name: "interim", interval: Some("20ms"), within_us: 200_000, ..STEADY },
    Moment { name: "final", rounds: Some(50), after: Phase::Final, within_us: 12_000, ..STEADY },
    Moment {
        name: "final-interim",
        rounds: Some(50),
        pause_us: 1_000,
        interval: Some("20ms"),
        after: Phase::Final,
        within_us: 15_000,
        ..STEADY
    },
];

/// Returns the launcher that belongs to the build, found as in the tests of `tinyprof-mpi`, and the
/// name of its family.
fn launcher() -> (String, &'static str) {
    let name = std::env::var("TINYPROF_MPIEXEC").unwrap_or_else(|_| "mpiexec".to_owned());
    let version = Command::new(&name)
        .arg("--version")
        .output()
        .map(|output| output.stdout)
        .unwrap_or_default();
    let version = String::from_utf8_lossy(&version).to_lowercase();
    let is_open_mpi =
        ["open mpi", "open-mpi", "openrte", "prrte"].iter().any(|known| version.contains(known));
    (name, if is_open_mpi { "openmpi" } else { "mpich" })
}

fn start(moment: &Moment, place: &Scratch) -> io::Result<Child> {
    let (name, family) = launcher();
    let mut command = place.prepared(Path::new(&name))?;
    if family == "openmpi" {
        command.args(["--oversubscribe", "--bind-to", "none"]);
        command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    }
    // Files that a killed launcher leaves are removed with the place.
    command.env("TMPDIR", place.path("."));
    command.env("FAULTS_TRUTH", place.path("truth")).env("TINYPROF_REPORT", "off");
    command.envs(moment.interval.map(|interval| ("TINYPROF_INTERVAL", interval)));
    command
        .args(["-n", &RANKS.to_string()])
        .arg(executable("victim-mpi"))
        .arg(moment.levels.to_string());
    command.arg(moment.rounds.map_or_else(|| "forever".to_owned(), |rounds| rounds.to_string()));
    command.arg(moment.pause_us.to_string()).spawn()
}

/// Kills one rank, all ranks, or the launcher, at random. Returns which.
fn kill_some(truths: &[Truth], launcher: &Child, random: &mut Random) -> String {
    let processes: Vec<u32> = truths.iter().filter_map(|truth| truth.process()).collect();
    let one = usize::try_from(random.below(RANKS as u64)).unwrap_or_default();
    match random.below(4) {
        0 => {
            processes.iter().for_each(|&process| kill(process));
            "all ranks".to_owned()
        }
        1 => {
            kill(launcher.id());
            "the launcher".to_owned()
        }
        _ => {
            processes.get(one).copied().into_iter().for_each(kill);
            format!("rank {one}")
        }
    }
}

fn run(moment: &Moment, seed: u64, keep: bool) -> io::Result<Outcome> {
    let mut random = Random(seed);
    let mut place = Scratch::new(moment.levels, Some(RANKS))?;
    let mut child = start(moment, &place)?;
    let watch = Watch::begin(child.id(), LIMIT)?;
    let give_up_ns = tinyprof::collect::monotonic_ns() + 15_000_000_000;
    while place.truths().iter().any(|truth| truth.phase() < moment.after)
        && tinyprof::collect::monotonic_ns() < give_up_ns
    {
        std::thread::yield_now();
    }
    spin_us(random.below(moment.within_us));
    let killed = kill_some(place.truths(), &child, &mut random);
    let ended = Ended::of(child.wait()?);
    let mut ended = if watch.end() { Ended::TooLong } else { ended };
    // Ranks may outlive their launcher for a while, and are not judged while they run.
    let processes: Vec<u32> = place.truths().iter().filter_map(|truth| truth.process()).collect();
    while processes.iter().any(|&process| runs(process)) {
        if tinyprof::collect::monotonic_ns() > give_up_ns + 15_000_000_000 {
            ended = Ended::TooLong;
            processes.iter().for_each(|&process| kill(process));
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let expected = Expected { code: 0, killed: true, report: true, ..Expected::UNTOUCHED };
    let verdict = judge(&place, ended, expected);
    let fault = format!("{killed} killed, {}", moment.name);
    if keep {
        print(&format!(
            "{fault}: {verdict:?}\n{}kept in {}\n",
            place.stderr(),
            place.keep().display()
        ));
    }
    Ok(Outcome { reached: ended != Ended::Code(0), fault, verdict })
}

fn runs(process: u32) -> bool {
    let stat = fs::read(format!("/proc/{process}/stat")).unwrap_or_default();
    ProcessState::parse_bytes(&stat).is_some_and(|state| !state.has_ended)
}

/// Kills one job again, at the moment that a seed gives. No two runs are exactly alike.
pub(crate) fn repeat(name: &str, case: &str) -> io::Result<bool> {
    let moment = MOMENTS.iter().find(|moment| name.split(' ').next_back() == Some(moment.name));
    let moment = moment.ok_or_else(|| io::Error::other(format!("there is no moment {name}")))?;
    Ok(run(moment, case.parse().map_err(io::Error::other)?, true)?.verdict.is_ok())
}

/// Kills `kills` jobs, shared among the moments. One job at a time, because waiting ranks spin.
pub(crate) fn all(name: Option<&str>, kills: u64, results: &mut Results) -> io::Result<()> {
    let family = launcher().1;
    let cases: Vec<u64> = (1..=kills.div_ceil(MOMENTS.len() as u64)).collect();
    results.jobs = 1;
    for moment in MOMENTS {
        let configuration = format!("{family} {}", moment.name);
        if name.is_none_or(|name| name.split(' ').next_back() == Some(moment.name)) {
            results.run("jobs", &configuration, &cases, |&seed| run(moment, seed, false))?;
        }
    }
    Ok(())
}

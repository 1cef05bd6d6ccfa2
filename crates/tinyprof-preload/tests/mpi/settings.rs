//! Settings that differ between ranks: a program gets to its end with its own results, whatever
//! some ranks are told, and one line at most is said about it.
//!
//! The settings are those of the table: a new one takes part by itself.

use std::fmt::Write as _;
use std::path::Path;

use tinyprof_settings::{SETTINGS, Setting};

use crate::support::{compile, library, mpiexec};

const RANKS: usize = 3;
/// The longest time that a run may take, in seconds, also where many run at the same time.
const SECONDS_MAX: &str = "100";

/// The levels at which all ranks run, but for what some of them are told.
const LEVELS: [(&str, &str); 4] =
    [("off", "observe"), ("calls", "observe"), ("messages", "observe"), ("messages", "enforce")];

/// The ranks that are told: one, or all but one.
const TOLD: [(&str, &str); 4] = [
    ("rank 0", "0"),
    ("the last rank", "2"),
    ("all but rank 0", "1|2"),
    ("all but the last", "0|1"),
];

/// A setting that some ranks have.
struct Case {
    setting: &'static Setting,
    value: String,
}

/// Returns all settings with their values, as the table gives them.
fn cases(scratch: &Path) -> Vec<Case> {
    let mut cases = Vec::new();
    for setting in SETTINGS {
        let values: Vec<String> = match setting.values {
            "PATH" => vec![scratch.join(setting.key).display().to_string()],
            // What takes time has to take place in a short run, too.
            time if time.ends_with("5s") && setting.accepts("20ms".as_ref()) => {
                vec!["20ms".to_owned(), time.to_owned()]
            }
            values => values.split('|').map(|value| value.replace('N', "2")).collect(),
        };
        for value in values {
            assert!(setting.accepts(value.as_ref()), "{}={value}", setting.variable);
            cases.push(Case { setting, value });
        }
    }
    cases
}

/// Runs the program with a setting on some ranks. Returns what is wrong with it.
fn run(
    program: &Path,
    case: &Case,
    (_, told): (&str, &str),
    (level, order): (&str, &str),
    expected: &str,
) -> Result<(), String> {
    let directory = tempfile::tempdir().expect("a directory can be made");
    // Both MPIs tell a process its rank before it starts.
    let script = format!(
        "case ${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}} in {told}) export {}='{}';; esac; exec \"$0\"",
        case.setting.variable, case.value
    );
    let mut command = mpiexec(RANKS);
    command.env("TINYPROF_MPI", level).env("TINYPROF_ORDER", order);
    command.env("TINYPROF_OUT", directory.path().join("p")).env("TINYPROF_DEADLINE", "60s");
    command.env("MPIEXEC_TIMEOUT", SECONDS_MAX).env("LD_PRELOAD", library());
    let output = command.args(["sh", "-c", &script]).arg(program).output().expect("mpiexec starts");
    let (said, printed) =
        (String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
    let lines: Vec<_> = said.lines().filter(|line| line.starts_with("tinyprof: ")).collect();
    // MPICH's transport notes there that requests were abandoned.
    let printed: String =
        printed.lines().filter(|line| !line.contains(" UCX  WARN ")).collect::<Vec<_>>().join("\n");
    if output.status.success() && printed == expected && lines.len() <= 1 {
        return Ok(());
    }
    Err(format!("{:?}, printed {printed:?}, said {said}", output.status))
}

/// Runs every setting on some ranks and not on others: in each combination with ranks and levels,
/// or in a few.
#[expect(clippy::print_stdout, reason = "says how many runs there were")]
fn check(is_full: bool) {
    let scratch = tempfile::tempdir().expect("a directory can be made");
    let program = compile("settings.c", scratch.path());
    let plain = mpiexec(RANKS).arg(&program).output().expect("mpiexec starts");
    let expected = String::from_utf8_lossy(&plain.stdout).trim_end().to_owned();
    assert!(expected.starts_with("3 ranks: "), "{plain:?}");
    let (mut wrong, mut runs) = (String::new(), 0);
    for (number, case) in cases(scratch.path()).iter().enumerate() {
        for (place, told) in TOLD.into_iter().enumerate() {
            for (height, level) in LEVELS.into_iter().enumerate() {
                // Over all settings a few of them meet all combinations.
                let is_chosen = (number + place) % 8 == height % 8 && place % 2 == 1;
                if !is_full && !is_chosen {
                    continue;
                }
                runs += 1;
                if let Err(why) = run(&program, case, told, level, &expected) {
                    let (who, (level, order)) = (told.0, level);
                    let Case { setting, value } = case;
                    writeln!(
                        wrong,
                        "{}={value} on {who}, {level} {order}: {why}",
                        setting.variable
                    )
                    .expect("text can be written to");
                }
            }
        }
    }
    assert!(wrong.is_empty(), "of {runs} runs:\n{wrong}");
    println!("{runs} runs, each with its own results and one line at most");
}

#[test]
fn settings_that_differ_between_ranks() {
    check(false);
}

#[test]
#[ignore = "takes many minutes: scripts/settings.sh runs it"]
fn all_settings_that_differ_between_ranks() {
    check(true);
}

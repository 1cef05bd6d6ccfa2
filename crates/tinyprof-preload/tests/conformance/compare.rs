//! Comparison of a job with the library to the same job without it.

use crate::job::{Job, Level, Seen};

/// Returns how runs of a job at these levels differ from a run without the library: one text for
/// each difference. Empty if there is none.
pub(crate) fn compare(job: &Job, levels: &[Level]) -> Vec<String> {
    let without = job.run(None, None);
    let mut found = wrong(job, &without);
    for &level in levels {
        let with = job.run(Some(level), None);
        if level != Level::Off && job.is_shared() && with.code == Some(0) && !with.has_profile {
            found.push(format!("{job} at {level:?}: the library has written no profile"));
        }
        let mut ended = differences(job, level, &without, &with, &mut found);
        // The cases after one that ends the job are worth knowing, too.
        while let Some(case) = ended.filter(|_| job.is_shared()) {
            let (without, with) = (job.run(None, Some(&case)), job.run(Some(level), Some(&case)));
            ended = differences(job, level, &without, &with, &mut found)
                .filter(|next| *next != case && with.code != without.code);
        }
    }
    found
}

/// Returns what the program itself says is wrong without the library: it is no legal program, or
/// its MPI has a mistake, for which the case must be skipped.
fn wrong(job: &Job, without: &Seen) -> Vec<String> {
    let mut found: Vec<String> = without
        .lines
        .values()
        .flatten()
        .filter(|line| line.contains(": WRONG"))
        .map(|line| format!("{job} without the library: {line}"))
        .collect();
    if job.is_shared() && without.code != Some(0) {
        found.push(format!("{job} without the library: code {:?}", without.code));
    }
    found
}

/// Adds the differences of two runs to `found`. Returns the case in which the second ended early,
/// if it did.
fn differences(
    job: &Job,
    level: Level,
    without: &Seen,
    with: &Seen,
    found: &mut Vec<String>,
) -> Option<String> {
    let mut texts = Vec::new();
    if with.code != without.code {
        texts.push(format!("exit code {:?}, not {:?}", with.code, without.code));
    }
    if with.output != without.output {
        texts.push(format!("output {:?}, not {:?}", with.output, without.output));
    }
    let mut ended = None;
    let mut names: Vec<&String> = without.lines.keys().chain(with.lines.keys()).collect();
    names.sort();
    names.dedup();
    for name in names {
        let [expected, got] = [without, with].map(|seen| compared(level, seen, name));
        let Some(at) =
            (0..expected.len().max(got.len())).find(|&at| expected.get(at) != got.get(at))
        else {
            continue;
        };
        match got.get(at) {
            Some(line) => {
                texts.push(format!("process {name}: `{line}`, not {:?}", expected.get(at)));
            }
            None => {
                let last = got.last().copied().unwrap_or("start: nothing");
                texts.push(format!("process {name} ends after `{last}`"));
                ended = last.split(':').next().map(str::to_owned);
            }
        }
    }
    if with.errors.contains("panicked") {
        texts.push("the library panicked".to_owned());
    }
    if !texts.is_empty() {
        let first_errors: Vec<&str> =
            with.errors.lines().filter(|line| !line.trim().is_empty()).take(6).collect();
        texts.push(format!("standard error: {}", first_errors.join("\n    ")));
        found.push(format!("{job} at {level:?}:\n  {}", texts.join("\n  ")));
    }
    ended
}

/// Returns the lines of a process that must be equal at a level.
fn compared<'a>(level: Level, seen: &'a Seen, name: &str) -> Vec<&'a str> {
    let lines = seen.lines.get(name).into_iter().flatten().map(String::as_str);
    lines.filter(|line| !level.makes_objects() || !line.contains(": number: ")).collect()
}

//! The commands that the job was given while it ran, in words.

use tinyprof_format::model::{JobCommand, JobCommands, LATE_NS};

use crate::facts::numbers::{ratio, rounded};
use crate::report::Report;
use crate::words::names::{cut, escaped};
use crate::words::units::{counted, percent_cell, time};

/// The most commands that have a line; the rest are counted.
const COMMANDS: usize = 4;

/// The maximum width of a name, in columns.
const NAME_COLUMNS: usize = 64;

/// Returns a line for each of the first commands, such as `command: held 2.10 s at 14:03:12 UTC by
/// ada@login (process 7), on 4 ranks`, and what measuring itself has missed.
#[must_use]
pub(super) fn commands_lines(report: &Report) -> Vec<String> {
    let all = &report.commands;
    // What only ends another has no line: that says for how long it has lasted.
    let begins = |command: &&JobCommand| !matches!(command.verb.as_str(), "release" | "on");
    let mut begun = all.commands.iter().filter(begins);
    let mut lines: Vec<String> = begun.by_ref().take(COMMANDS).map(line).collect();
    let more = (begun.count() as u64).saturating_add(without_room(report));
    if more > 0 {
        lines.push(format!("command: {} more, see --json", counted(more, "command")));
    }
    lines.extend(off_line(report));
    lines.extend(off_at_end_line(&report.commands));
    lines
}

/// Returns the commands that had no room, on the rank that was given most.
fn without_room(report: &Report) -> u64 {
    report.commands.without_room.div_ceil(u64::from(report.ranks.max(1)))
}

fn line(command: &JobCommand) -> String {
    let what = match command.verb.as_str() {
        "record" => "recorded",
        "hold" => "held",
        "off" => "measuring was off for",
        "reset" if command.lasted_ns.is_none() => "another part",
        "reset" => "another part began after",
        other => other,
    };
    let filter = format!("{what} {}", cut(&escaped(&command.argument), NAME_COLUMNS));
    let what = match command.verb.as_str() {
        "filter" | "metrics" if command.lasted_ns.is_some() => &format!("{filter} began after"),
        "filter" | "metrics" => &filter,
        _ => what,
    };
    let lasted = match command.lasted_ns {
        Some(ns) => format!(" {}", time(ns.into())),
        None if command.done > 0
            && matches!(command.verb.as_str(), "reset" | "filter" | "metrics") =>
        {
            " had not begun".to_owned()
        }
        None if command.done > 0 => " until after this profile".to_owned(),
        None => ": not done".to_owned(),
    };
    let by = cut(&escaped(&command.by), NAME_COLUMNS);
    let all = counted(command.given, "rank");
    let ranks =
        if command.done < command.given { format!("{} of {all}", command.done) } else { all };
    let late = late(command);
    format!("command: {what}{lasted} at {} UTC by {by}, {ranks}{late}", clock(command.date_ns))
}

/// Returns `; ranks 3, 17 came more than 1.00 s later or not yet`.
fn late(command: &JobCommand) -> String {
    if command.late == 0 {
        return String::new();
    }
    let named: Vec<String> = command.late_ranks.iter().map(u32::to_string).collect();
    let more = match command.late.saturating_sub(named.len() as u64) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let noun = if command.late == 1 { "rank" } else { "ranks" };
    let limit = time(LATE_NS.into());
    format!("; {noun} {}{more} came more than {limit} later, or not at all", named.join(", "))
}

/// Returns the time of the day in UTC.
fn clock(date_ns: u64) -> String {
    let second = date_ns / 1_000_000_000 % 86_400;
    format!("{:02}:{:02}:{:02}", second / 3_600, second / 60 % 60, second % 60)
}

/// Returns what is not known as measuring was off; none if it never was.
fn off_line(report: &Report) -> Option<String> {
    let JobCommands { off_ns, ranks_off, .. } = report.commands;
    let ranks = u64::from(report.ranks.max(1));
    let of = if ranks_off < ranks {
        format!("{ranks_off} of {ranks} ranks")
    } else {
        "all ranks".to_owned()
    };
    let share = percent_cell(ratio(off_ns.into(), report.base.ns()).min(1.0));
    (off_ns > 0).then(|| {
        format!(
            "off: measuring was switched off for {} per rank, {share} of the time, on {of}: visits, messages and \
             waiting of that time are not in this profile, and no region contains it",
            time(rounded(off_ns.into(), ranks.into())),
        )
    })
}

/// Returns on how many ranks it was off when they were killed; none if on none.
fn off_at_end_line(commands: &JobCommands) -> Option<String> {
    let ranks = commands.ranks_off_at_end;
    let noun = if ranks == 1 { "rank" } else { "ranks" };
    (ranks > 0).then(|| {
        format!("off: measuring was off at the end on {ranks} {noun}, for a time that is not known")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_told_with_its_ranks() {
        let held = JobCommand {
            verb: "hold".into(),
            by: "ada@login (process 7)".into(),
            date_ns: 1_764_252_192_000_000_000,
            lasted_ns: Some(2_100_000_000),
            given: 4,
            done: 4,
            ..JobCommand::default()
        };
        assert_eq!(
            line(&held),
            "command: held 2.10 s at 14:03:12 UTC by ada@login (process 7), 4 ranks"
        );
        let late =
            JobCommand { done: 2, late: 2, late_ranks: vec![3, 17], lasted_ns: None, ..held };
        assert_eq!(
            line(&late),
            "command: held until after this profile at 14:03:12 UTC by ada@login (process 7), 2 of 4 ranks; \
             ranks 3, 17 came more than 1.00 s later, or not at all"
        );
    }

    #[test]
    fn a_filter_is_told_with_its_patterns() {
        let filter = JobCommand {
            verb: "filter".into(),
            argument: "-*inner*".into(),
            by: "ada@login (process 7)".into(),
            date_ns: 1_764_252_192_000_000_000,
            lasted_ns: Some(2_100_000),
            given: 4,
            done: 4,
            ..JobCommand::default()
        };
        let expected = "command: filter -*inner* began after 2.10 ms at 14:03:12 UTC by \
                        ada@login (process 7), 4 ranks";
        assert_eq!(line(&filter), expected);
        let pending = line(&JobCommand { lasted_ns: None, ..filter });
        assert!(pending.contains("filter -*inner* had not begun at "), "{pending}");
    }

    #[test]
    fn what_was_off_for_an_unknown_time_is_said() {
        let commands = JobCommands { ranks_off_at_end: 1, ..JobCommands::default() };
        let expected = "off: measuring was off at the end on 1 rank, for a time that is not known";
        assert_eq!(off_at_end_line(&commands).as_deref(), Some(expected));
        assert_eq!(off_at_end_line(&JobCommands::default()), None);
    }
}

//! The names of states, regions, functions, hosts and threads, for Paraver.

use std::io::{self, Write};

use super::states::{Regions, STATES};
use super::{CALL_TYPE, REGION_TYPE, Trace};
use crate::export::names::shown;

/// A later year would have more digits.
const YEAR_9999: u64 = 253_370_764_800;

/// Colours of the states: red, green, blue.
const COLORS: [[u8; 3]; STATES.len()] = [
    [117, 195, 255],
    [0, 0, 255],
    [255, 255, 255],
    [255, 0, 0],
    [255, 0, 174],
    [179, 0, 0],
    [0, 255, 0],
    [255, 255, 0],
    [235, 0, 0],
    [0, 162, 0],
    [255, 0, 255],
    [100, 100, 177],
    [172, 174, 41],
    [255, 144, 26],
    [2, 255, 177],
    [192, 224, 0],
    [66, 66, 66],
];

/// Writes `trace.pcf`.
pub(super) fn write_names(
    regions: &Regions,
    depth_max: u64,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "DEFAULT_OPTIONS\n\nLEVEL THREAD\nUNITS NANOSEC\nLOOK_BACK 100\nSPEED 1")?;
    writeln!(out, "FLAG_ICONS ENABLED\nNUM_OF_STATE_COLORS 1000\nYMAX_SCALE 37\n")?;
    writeln!(out, "\nDEFAULT_SEMANTIC\n\nTHREAD_FUNC State As Is\n")?;
    writeln!(out, "\nSTATES")?;
    for (number, state) in STATES.iter().enumerate() {
        writeln!(out, "{number}    {state}")?;
    }
    writeln!(out, "\n\nSTATES_COLOR")?;
    for (number, [red, green, blue]) in COLORS.iter().enumerate() {
        writeln!(out, "{number}    {{{red},{green},{blue}}}")?;
    }
    writeln!(out, "\n\nEVENT_TYPE")?;
    for depth in 1..=depth_max {
        writeln!(out, "0    {}    Region at depth {depth}", REGION_TYPE + depth)?;
    }
    write_values(regions.names.iter(), out)?;
    writeln!(out, "\n\nEVENT_TYPE\n0    {CALL_TYPE}    Call of MPI")?;
    write_values(regions.functions.iter(), out)
}

fn write_values<'a>(
    values: impl Iterator<Item = (&'a u64, &'a String)>,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "VALUES\n0    End")?;
    for (number, name) in values {
        writeln!(out, "{number}    {}", shown(name))?;
    }
    Ok(())
}

/// Writes `trace.row`.
pub(super) fn write_rows(trace: &Trace, out: &mut dyn Write) -> io::Result<()> {
    let mut level = |name: &str, rows: Vec<String>| {
        writeln!(out, "LEVEL {name} SIZE {}", rows.len())?;
        rows.iter().try_for_each(|row| writeln!(out, "{}", shown(row)))?;
        writeln!(out)
    };
    let mut threads: Vec<_> = trace.threads.iter().collect();
    threads.sort_by_key(|thread| thread.processor);
    let processor =
        |thread: &&super::Thread| format!("{}.{}", thread.processor, trace.hosts[thread.host]);
    level("CPU", threads.iter().map(processor).collect())?;
    level("NODE", trace.hosts.clone())?;
    level("TASK", trace.tasks.clone())?;
    level("THREAD", trace.threads.iter().map(|thread| thread.name.clone()).collect())
}

/// Returns the date of a time in seconds since 1970, as the first line of a trace has it.
pub(super) fn date(seconds: u64) -> String {
    // `2026-11-21 14:12:30 UTC`
    let date = tinyprof_views::utc(seconds.min(YEAR_9999));
    let part = |from: usize, to: usize| &date[from..to];
    let (day, month, year) = (part(8, 10), part(5, 7), part(2, 4));
    format!("{day}/{month}/{year} at {}", part(11, 16))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_that_of_the_calendar() {
        assert_eq!(date(0), "01/01/70 at 00:00");
        assert_eq!(date(951_782_400 + 3_661), "29/02/00 at 01:01");
        assert_eq!(date(1_798_761_599), "31/12/26 at 23:59");
    }
}

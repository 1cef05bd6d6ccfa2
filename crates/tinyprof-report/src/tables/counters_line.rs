//! Cycles and instructions, in words.

use tinyprof_format::model::{CYCLES, CallpathIndex, INSTRUCTIONS};

use crate::report::Report;
use crate::words::names::{cut, shown};
use crate::words::units::percent_cell;

/// The part of the cycles from which on a place is named.
const PLACE_PART: f64 = 0.05;

/// The maximum width of a name in a sentence, in columns.
const NAME_COLUMNS: usize = 40;

/// Returns `computation: 1.85 instructions per cycle at 2.94 GHz; least in f (a.c:3) 0.42, 31.0% of
/// the cycles`; that nothing is known of it, if there are samples; otherwise none.
pub(crate) fn counters_line(report: &Report) -> Option<String> {
    let Some(all) = report.counters() else {
        let is_sampled = report.callpaths.rows().iter().any(|row| row.region.is_sampled());
        // Ranks send each other no metrics: without these nothing is known.
        let is_known = is_sampled && report.threads.is_some();
        return is_known.then(|| {
            "computation: instructions per cycle are not known, as the system offers no counters of the processor"
                .to_owned()
        });
    };
    let of_place = |(index, _): (CallpathIndex, _)| {
        let cycles = report.recorded(index, CYCLES)?.sum;
        let instructions = report.recorded(index, INSTRUCTIONS)?.sum;
        (cycles >= PLACE_PART * all.cycles).then(|| (index, instructions / cycles, cycles))
    };
    let places = report.callpaths.iter().filter_map(of_place);
    let least = places.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(index, per_cycle, cycles)| {
        let name = cut(&shown(&report.callpaths.get(index).region.name), NAME_COLUMNS);
        format!(
            "; least in {name} {per_cycle:.2}, {} of the cycles",
            percent_cell(cycles / all.cycles)
        )
    });
    Some(format!(
        "computation: {:.2} instructions per cycle at {:.2} GHz{}",
        all.instructions_per_cycle(),
        all.gigahertz(),
        least.unwrap_or_default(),
    ))
}

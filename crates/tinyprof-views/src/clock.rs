//! The facts of the clocks of all ranks, as a sentence and as JSON.

use serde_json::{Value, json};
use tinyprof_report::ClockOverRanks;
use tinyprof_report::cells::{counted, rounded, time};

use crate::json_list::integer;

/// Returns by how much the delay of the mean rank may be wrong:
/// `4.00 us (3.00 us its own + 1.00 us through others)`.
fn uncertainty(clock: &ClockOverRanks) -> String {
    let all = time(a_rank(clock, clock.uncertainty_ns));
    if clock.propagated_uncertainty_ns == 0 {
        return all;
    }
    let own_ns = clock.uncertainty_ns.saturating_sub(clock.propagated_uncertainty_ns);
    let own = time(a_rank(clock, own_ns));
    let through = time(a_rank(clock, clock.propagated_uncertainty_ns));
    format!("{all} ({own} its own + {through} through others)")
}

/// Returns a sentence on what measuring has done to the run.
pub(crate) fn clock_line(clock: &ClockOverRanks) -> String {
    let through = clock.propagated_ns();
    let part = time(a_rank(clock, through.unsigned_abs()));
    let through = if through < 0 {
        format!("less {part} hidden in waiting")
    } else {
        format!("{part} through others")
    };
    let mut parts = vec![format!(
        "clock: measuring delayed the program by {} per rank, +- {}: {} by the rank itself, {through}",
        time(a_rank(clock, clock.intrusion_ns)),
        uncertainty(clock),
        time(a_rank(clock, clock.own_intrusion_ns)),
    )];
    parts.push(format!(
        "{}, {} missing, {} unclear",
        counted(clock.companions, "companion"),
        clock.companions_missing,
        clock.companions_unclear
    ));
    if clock.offset_uncertainty_max_ns > 0 {
        parts.push(format!(
            "clocks of hosts known to +- {}",
            time(clock.offset_uncertainty_max_ns.into())
        ));
    }
    if clock.contradictions > 0 {
        parts.push(counted(clock.contradictions, "contradiction"));
    }
    parts.push(counted(clock.inversions, "order inversion"));
    parts.join("; ")
}

/// Returns the facts as JSON.
pub(crate) fn clock_json(clock: &ClockOverRanks) -> Value {
    let propagated = i64::try_from(clock.propagated_ns()).unwrap_or(i64::MAX);
    json!({
        "ranks": clock.ranks,
        "companions": clock.companions,
        "own_intrusion_ns": integer(clock.own_intrusion_ns),
        "propagated_intrusion_ns": propagated,
        "intrusion_ns": integer(clock.intrusion_ns),
        "intrusion_max_ns": clock.intrusion_max_ns,
        "uncertainty_ns": integer(clock.uncertainty_ns),
        "propagated_uncertainty_ns": integer(clock.propagated_uncertainty_ns),
        "ideal_ns": clock.ideal_ns(),
        "offset_uncertainty_max_ns": clock.offset_uncertainty_max_ns,
        "companions_missing": clock.companions_missing,
        "companions_unclear": clock.companions_unclear,
        "contradictions": clock.contradictions,
        "inversions": clock.inversions,
    })
}

/// Returns the mean over the ranks of a sum over them.
fn a_rank(clock: &ClockOverRanks, sum: u128) -> u128 {
    rounded(sum, clock.ranks.max(1).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_two_ranks() -> ClockOverRanks {
        ClockOverRanks { ranks: 2, companions: 4, ..ClockOverRanks::default() }
    }

    #[test]
    fn the_uncertainty_between_hosts_is_told_where_there_are_several() {
        let one = of_two_ranks();
        assert!(!clock_line(&one).contains("hosts"), "{}", clock_line(&one));
        let several = ClockOverRanks { offset_uncertainty_max_ns: 2_500, ..one };
        assert!(clock_line(&several).contains("clocks of hosts known to +- 2.50 us"));
    }

    #[test]
    fn the_uncertainty_has_the_part_that_came_through_others() {
        let (uncertainty_ns, propagated_uncertainty_ns) = (8_000, 2_000);
        let clock = of_two_ranks();
        let own = ClockOverRanks { uncertainty_ns, ..clock };
        assert!(clock_line(&own).contains("+- 4.00 us: "), "{}", clock_line(&own));
        let both = ClockOverRanks { propagated_uncertainty_ns, ..own };
        let expected = "+- 4.00 us (3.00 us its own + 1.00 us through others): ";
        assert!(clock_line(&both).contains(expected), "{}", clock_line(&both));
    }
}

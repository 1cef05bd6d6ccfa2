//! The line on the overhead of the profiler.

use crate::facts::numbers::{rounded, whole};
use crate::facts::overhead::Overhead;
use crate::words::units::{percent_of, time_cell};

/// Returns a sentence like "overhead: at least 3.10ms per rank (0.02%): 2.00ms timing 81920 visits,
/// 1.10ms writing".
///
/// It says "at least" because the cost of a visit was measured in a loop of its own. Further losses
/// of the program, such as the inlining of a function that is a region, were not measured.
pub(crate) fn overhead_line(cost: &Overhead) -> String {
    let Some((through_ns, uncertainty_ns)) = cost.through_others_ns().zip(cost.uncertainty_ns())
    else {
        return on_the_rank(cost);
    };
    let part = time_cell(whole(through_ns.abs()));
    let through = match through_ns < 0.0 {
        true => format!("waiting for others hid {part} of it"),
        false => format!("{part} more through others"),
    };
    format!("{}; {through}, +- {}", on_the_rank(cost), time_cell(whole(uncertainty_ns)))
}

/// Returns the part of the sentence on the rank's own measuring.
fn on_the_rank(cost: &Overhead) -> String {
    let about = if cost.visit_cost_ns.is_none() { "about" } else { "at least" };
    let per_rank = if cost.ranks > 1 { " per rank" } else { "" };
    let visits = rounded(cost.visits.into(), u128::from(cost.ranks.max(1)));
    let starting = match cost.starting_ns {
        0 => String::new(),
        ns => format!("{} starting, ", time_cell(ns.into())),
    };
    format!(
        "overhead: {about} {}{per_rank} ({}): {} timing {visits} visit{}, {starting}{} writing",
        time_cell(whole(cost.a_rank_ns())),
        percent_of(cost.share()),
        time_cell(whole(cost.timing_ns())),
        if visits == 1 { "" } else { "s" },
        time_cell(cost.writing_ns.into()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::overhead::clock::ClockOverRanks;
    use crate::facts::overhead::tests::cost;

    #[test]
    fn the_cost_is_that_of_a_rank() {
        assert_eq!(
            overhead_line(&cost()),
            "overhead: at least 3.10ms per rank (0.020%): 2.00ms timing 100000 visits, 1.10ms writing"
        );
        let with_start = Overhead { starting_ns: 400_000, ..cost() };
        assert_eq!(
            overhead_line(&with_start),
            "overhead: at least 3.50ms per rank (0.023%): 2.00ms timing 100000 visits, 400us starting, 1.10ms writing"
        );
        let alone = Overhead { ranks: 1, visits: 1, visit_cost_ns: None, ..cost() };
        assert_eq!(
            overhead_line(&alone),
            "overhead: about 1.10ms (0.0018%): 25ns timing 1 visit, 1.10ms writing"
        );
    }

    #[test]
    fn what_it_cost_through_others_is_told_where_it_is_known() {
        let sentence = |own_intrusion_ns, intrusion_ns| {
            let mut clock = ClockOverRanks { ranks: 4, companions: 9, ..ClockOverRanks::default() };
            (clock.own_intrusion_ns, clock.intrusion_ns) = (own_intrusion_ns, intrusion_ns);
            clock.uncertainty_ns = 40_000;
            overhead_line(&Overhead { clock: Some(clock), ..cost() })
        };
        let told = sentence(4_000_000, 6_000_000);
        assert!(told.ends_with("1.10ms writing; 500us more through others, +- 10.0us"), "{told}");
        let told = sentence(4_000_000, 2_000_000);
        assert!(told.ends_with("; waiting for others hid 500us of it, +- 10.0us"), "{told}");
    }
}

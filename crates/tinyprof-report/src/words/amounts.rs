//! Times and shares of a report, as cells of tables.

use crate::facts::statistics::spread::Spread;
use crate::facts::statistics::time_base::TimeBase;
use crate::words::units::{percent_cell, time_cell};

/// Returns a sum as text: `1.23ms`, `~1.23ms`, `<2.34ms`. See [`Spread::shown_ns`].
#[must_use]
pub fn sum_cell(spread: &Spread, bound_ns: Option<u128>) -> String {
    let (mark, ns) = spread.shown_ns(bound_ns);
    format!("{mark}{}", time_cell(ns))
}

/// Returns the share of a time of which a part is start-up, as text.
#[must_use]
pub fn share_cell(base: &TimeBase, ns: u128, startup_ns: u128) -> String {
    if base.ns() == 0 || (startup_ns > 0 && startup_ns >= ns) {
        return "-".to_owned();
    }
    percent_cell(base.share(ns.saturating_sub(startup_ns)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::statistics::spread::HostId;

    #[test]
    fn a_cell_says_how_well_the_sum_is_known() {
        let check = |variance_ns2: u128, bound_ns: Option<u128>, expected: &str| {
            let spread =
                Spread { variance_ns2, ..Spread::of_one_rank(0, HostId::default(), 1_000) };
            assert_eq!(sum_cell(&spread, bound_ns), expected);
        };
        check(0, None, "1.00us");
        check(0, Some(10), "1.00us");
        check(499 * 499, None, "~1.00us");
        check(500 * 500, None, "<2.00us");
        check(500 * 500, Some(1_500), "<1.50us");
        let nothing = Spread { variance_ns2: 1, ..Spread::default() };
        assert_eq!(sum_cell(&nothing, None), "<2ns");
    }
}

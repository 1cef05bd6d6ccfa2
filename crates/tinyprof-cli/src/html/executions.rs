//! The distribution of a callpath's times over executions and ranks: boxes, and the outliers by
//! name.

use serde_json::{Value, json};
use tinyprof_format::model::{CallpathIndex, CallpathValues};

use super::columns::{Columns, USUAL};

/// The most boxes; longer runs have several executions per box.
const BOXES_MAX: u32 = 40;
/// The most outliers of a box that are named; the page shows their total number.
const OUTLIERS_MAX: usize = 5;
/// The distance of an outlier from the box, in heights of the box (Tukey).
const WHISKER: f64 = 1.5;
/// The least deviation of an outlier from the median, as a part of it: less is of no interest, even
/// where the other ranks are nearly equal.
const LEAST_EFFECT: f64 = 0.05;
/// The most ranks that are shown one by one.
const DOTS_RANKS_MAX: usize = 16;

/// A value: the time of a rank in one execution, or in several that were folded into one.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Measured {
    ns: f64,
    rank: u32,
    execution: u32,
}

/// Returns the boxes of a callpath, given its values by rank, and the times of all ranks if few.
pub(super) fn of_callpath(
    index: CallpathIndex,
    ranks: &[CallpathValues],
    columns: &mut Columns,
) -> Value {
    let last = ranks.iter().flat_map(|values| &values.executions).map(|e| e.execution).max();
    // Numbers are 0-based, so the number of executions is one more than the last.
    let per_box = last.unwrap_or(0) / BOXES_MAX + 1;
    let boxes = by_box(ranks, per_box);
    let has_dots = per_box == 1 && ranks.len() <= DOTS_RANKS_MAX;
    let dots = has_dots.then(|| columns.add(&dots(&boxes, ranks.len()), USUAL));
    let boxes: Vec<Value> = boxes.into_iter().map(of_values).collect();
    json!({
        "callpath": index.row(),
        "executions_per_box": per_box,
        "boxes": boxes,
        "dots_ns": dots,
    })
}

/// Returns the time of each rank in each execution, the rank innermost; NaN where it never came.
fn dots(boxes: &[Vec<Measured>], ranks: usize) -> Vec<f64> {
    let mut dots = vec![f64::NAN; boxes.len() * ranks];
    for (of_box, measured) in dots.chunks_mut(ranks.max(1)).zip(boxes) {
        measured.iter().for_each(|value| of_box[value.rank as usize] = value.ns);
    }
    dots
}

/// Returns the values of all ranks by box. Folded executions count once, with their mean, at the
/// first of them.
#[expect(clippy::cast_precision_loss, reason = "what is shown in three digits")]
fn by_box(ranks: &[CallpathValues], per_box: u32) -> Vec<Vec<Measured>> {
    let mut boxes: Vec<Vec<Measured>> = Vec::new();
    for (rank, values) in (0_u32..).zip(ranks) {
        for summary in &values.executions {
            let at = (summary.execution / per_box) as usize;
            boxes.resize_with(boxes.len().max(at + 1), Vec::new);
            let ns = summary.sum_ns as f64 / f64::from(summary.executions.max(1));
            boxes[at].push(Measured { ns, rank, execution: summary.execution });
        }
    }
    boxes
}

/// Returns minimum, quartiles and maximum in nanoseconds, the ends of the whiskers, and the
/// farthest outliers.
fn of_values(mut values: Vec<Measured>) -> Value {
    values.sort_by(|a, b| a.ns.total_cmp(&b.ns));
    let (Some(first), Some(last)) = (values.first(), values.last()) else { return Value::Null };
    let [lower, median, upper] = [0.25, 0.5, 0.75].map(|part| quantile(&values, part));
    let reach = WHISKER * (upper - lower);
    let inside = |value: &&Measured| {
        (lower - reach..=upper + reach).contains(&value.ns)
            || (value.ns - median).abs() < LEAST_EFFECT * median
    };
    let low = values.iter().find(inside).map_or(first.ns, |value| value.ns);
    let high = values.iter().rfind(inside).map_or(last.ns, |value| value.ns);
    let mut outliers: Vec<&Measured> = values.iter().filter(|value| !inside(value)).collect();
    let count = outliers.len();
    outliers.sort_by(|a, b| (b.ns - median).abs().total_cmp(&(a.ns - median).abs()));
    outliers.truncate(OUTLIERS_MAX);
    let outliers: Vec<Value> =
        outliers.iter().map(|value| json!([value.ns, value.rank, value.execution])).collect();
    json!({
        "values": values.len(),
        "five": [first.ns, lower, median, upper, last.ns],
        "whiskers": [low, high],
        "outlier_count": count,
        "outliers": outliers,
    })
}

/// Returns the value below which the fraction `part` of the values lies, interpolated between two
/// values if necessary.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a place in a list that is in memory"
)]
fn quantile(sorted: &[Measured], part: f64) -> f64 {
    let place = part * (sorted.len() - 1) as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    (sorted[above].ns - sorted[below].ns).mul_add(place.fract(), sorted[below].ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_has_quartiles_whiskers_and_outliers_with_their_rank() {
        let measured = |(rank, ns): (u32, f64)| Measured { ns, rank, execution: 7 };
        let found = of_values((0..).zip([10.0, 12.0, 11.0, 13.0, 100.0]).map(measured).collect());
        assert_eq!(found["five"], json!([10.0, 11.0, 12.0, 13.0, 100.0]));
        assert_eq!(found["whiskers"], json!([10.0, 13.0]));
        assert_eq!(
            (&found["outlier_count"], &found["outliers"]),
            (&json!(1), &json!([[100.0, 4, 7]]))
        );
        assert_eq!(of_values(Vec::new()), Value::Null);
        let one = of_values(vec![measured((3, 5.0))]);
        assert_eq!(
            (&one["five"], &one["outlier_count"]),
            (&json!([5.0, 5.0, 5.0, 5.0, 5.0]), &json!(0))
        );
    }

    #[test]
    fn a_small_deviation_is_no_outlier_even_if_the_others_are_equal() {
        let found = |last: f64| {
            let times = [100.0, 100.0, 100.0, 100.0, last];
            let measured = |(rank, ns): (u32, f64)| Measured { ns, rank, execution: 0 };
            of_values((0..).zip(times).map(measured).collect())
        };
        let near = found(104.0);
        assert_eq!(
            (&near["outlier_count"], &near["whiskers"]),
            (&json!(0), &json!([100.0, 104.0]))
        );
        assert_eq!(found(106.0)["outlier_count"], json!(1));
    }

    #[test]
    fn each_rank_has_a_dot_in_each_execution_that_it_reached() {
        let at = |ns, rank, execution| Measured { ns, rank, execution };
        let found = dots(&[vec![at(1.0, 0, 0), at(2.0, 2, 0)], vec![at(3.0, 1, 1)]], 3);
        let told: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(told, ["1", "NaN", "2", "NaN", "3", "NaN"]);
    }

    #[test]
    fn quantiles_lie_between_values() {
        let of = |ns: f64| Measured { ns, rank: 0, execution: 0 };
        assert_eq!(quantile(&[of(0.0), of(10.0)], 0.25).to_bits(), 2.5_f64.to_bits());
    }
}

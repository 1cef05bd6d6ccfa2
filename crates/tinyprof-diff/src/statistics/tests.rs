//! Tests against numbers computed by others, and against chance: how often intervals contain the
//! true value, and how often marks are wrong.

use super::*;

fn sample(values: &[f64]) -> Sample {
    Sample { values: values.to_vec(), estimate_variance: 0.0 }
}

fn close(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() <= 1e-9 * expected.abs(), "{what}: {found} for {expected}");
}

/// Computed by `scipy` 1.17.1: `ttest_ind(new, base, equal_var=False)` with its `pvalue` and half
/// of its `confidence_interval(0.95)`; g as
/// `difference / pooled * exp(lgamma(n/2) - lgamma((n-1)/2)) / sqrt(n/2)` with the pooled standard
/// deviation of `numpy.var(..., ddof=1)` and n the number of values less two.
#[test]
fn intervals_p_values_and_effects_are_those_of_scipy() {
    let check = |base: &[f64], new: &[f64], [difference, half_width, p, g]: [f64; 4]| {
        let found = compare(&sample(base), &sample(new)).expect("both have values");
        let test = found.test.expect("both have several values");
        close(found.difference, difference, "difference");
        close(test.half_width, half_width, "half width");
        close(test.p, p, "p");
        close(found.hedges_g.expect("there is spread"), g, "g");
    };
    check(
        &[10.0, 12.0, 11.0, 13.0],
        &[14.0, 15.0, 13.0, 17.0, 16.0],
        [3.5, 2.265_220_281_753_526_5, 0.008_156_170_828_391_866, 2.123_653_341_857_797],
    );
    check(
        &[1.0, 1.1],
        &[1.3, 1.45],
        [0.325, 0.448_353_088_404_067_4, 0.084_388_541_625_161_75, 2.034_214_472_564_108_7],
    );
    check(
        &[100.0, 100.0, 100.0],
        &[101.0, 103.0, 102.0],
        [2.0, 2.484_137_711_750_330_3, 0.074_179_900_227_448_54, 2.256_758_334_191_025],
    );
    check(
        &[5e9, 5.1e9, 4.9e9, 5.02e9, 5.3e9, 4.99e9],
        &[5.01e9, 5.2e9],
        [53_333_333.333_333, 536_853_496.647_517, 0.681_780_124_672_829_6, 0.338_272_684_599_179],
    );
    check(
        &[1e-3, 1e-3, 1e-3, 2e-3],
        &[3.0, 1.0, 2.0],
        [1.998_75, 2.484_137_051_940_676_7, 0.074_262_602_054_953_42, 2.657_018_602_682_11],
    );
}

/// Computed by `scipy` 1.17.1: `ttest_1samp(log(new / base), 0)` with its `pvalue`, and
/// `base.mean() * exp(mean) * sinh(h)` with h half of its `confidence_interval(0.95)`; the last by
/// `ttest_rel(new, base)`, as there is a zero.
#[test]
fn pairs_are_compared_as_scipy_does_it() {
    let check = |base: &[f64], new: &[f64], half_width: f64, p: f64| {
        let found = compare_pairs(&sample(base), &sample(new)).expect("there are pairs");
        let test = found.test.expect("the pairs differ");
        close(test.half_width, half_width, "half width");
        close(test.p, p, "p");
    };
    check(
        &[10.0, 12.0, 20.0, 31.0],
        &[15.5, 18.7, 30.9, 48.2],
        0.168_680_763_007_284_24,
        1.701_297_289_472_902_5e-7,
    );
    check(&[1.0, 1.1], &[1.3, 1.45], 0.121_442_976_624_043_82, 0.016_412_615_715_949_8);
    check(&[0.0, 2.0, 3.0], &[1.0, 2.5, 4.0], 0.717_108_788_291_577, 0.037_749_551_350_623_71);
    assert_eq!(compare_pairs(&sample(&[1.0, 2.0]), &sample(&[1.0])), None, "no pairs");
    let equal = compare_pairs(&sample(&[1.0, 2.0]), &sample(&[2.0, 4.0])).expect("pairs");
    assert_eq!(equal.test, None, "nothing tells chance");
}

/// Computed by `scipy` 1.17.1: `t.ppf(0.975, df)` and `2 * t.sf(5, df)`.
#[test]
fn the_t_distribution_is_that_of_scipy() {
    for (freedom, quantile, tails) in [
        (1.0, 12.706_204_736_174_694, 0.125_665_916_378_000_2),
        (1.5, 6.016_663_104_427_929, 0.065_375_767_621_156_21),
        (3.7, 2.867_520_707_191_189_5, 0.009_163_967_644_893_314),
        (30.0, 2.042_272_456_301_237_8, 2.329_668_546_700_78e-5),
        (1e5, 1.959_987_707_534_609_5, 5.742_701_678_641_679e-7),
    ] {
        let student = StudentsT::new(0.0, 1.0, freedom).expect("a distribution");
        close(super::quantile(&student), quantile, "quantile");
        close(2.0 * student.sf(5.0), tails, "tails");
    }
}

/// Computed by `scipy` 1.17.1: `false_discovery_control([0.01, 0.04, 0.03, 0.005, 0.8, 0.04])`.
#[test]
fn adjusted_p_values_are_those_of_scipy() {
    let found = adjusted(&[0.01, 0.04, 0.03, 0.005, 0.8, 0.04]);
    let expected = [0.03, 0.048, 0.048, 0.03, 0.8, 0.048];
    for (found, expected) in found.into_iter().zip(expected) {
        close(found, expected, "adjusted p");
    }
    assert_eq!(adjusted(&[]), Vec::<f64>::new());
}

#[test]
fn where_there_is_no_spread_nothing_is_made_up() {
    let of = |base: &[f64], new: &[f64]| compare(&sample(base), &sample(new));
    let alone = of(&[1.0], &[2.0, 3.0]).expect("both have values");
    assert_eq!((alone.difference, alone.test, alone.hedges_g), (1.5, None, None));
    let equal = of(&[1.0, 1.0], &[2.0, 2.0]).expect("both have values");
    assert_eq!((equal.difference, equal.test, equal.hedges_g), (1.0, None, None));
    assert_eq!(of(&[], &[1.0]), None);
    assert_eq!(of(&[f64::NAN, 1.0], &[1.0]), None);
    assert_eq!(of(&[f64::INFINITY], &[1.0]), None);
    let huge = of(&[1e300, 2e300], &[1e300, 3e300]).expect("both have values");
    assert!(huge.test.is_none_or(|test| test.p.is_finite()), "{huge:?}");
}

#[test]
fn an_interval_is_never_narrower_than_the_estimates_make_it() {
    let estimated = |values: &[f64]| Sample { values: values.to_vec(), estimate_variance: 4.0 };
    let (base, new) = ([10.0, 10.1, 9.9], [20.0, 20.2, 19.8]);
    let half_width = |comparison: Option<Comparison>| {
        comparison.and_then(|c| c.test).expect("a test").half_width
    };
    let measured = half_width(compare(&sample(&base), &sample(&new)));
    // Two means of variance 4 with 2 degrees of freedom each give sqrt(8) * t.ppf(0.975, 4) =
    // 7.852972...
    let found = half_width(compare(&estimated(&base), &estimated(&new)));
    assert!(measured < 1.0, "{measured}");
    close(found, 7.852_972_645_910_229, "half width");
    // A single value has no interval, however good its estimate is said to be.
    assert_eq!(compare(&estimated(&[1.0]), &estimated(&new)).and_then(|c| c.test), None);
}

/// Normally distributed values by Box and Muller, from `SplitMix64` with a fixed seed.
struct Normal(u64);

impl Normal {
    #[expect(clippy::cast_precision_loss, reason = "the upper 53 bits fit")]
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (((z ^ (z >> 31)) >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    fn sample(&mut self, count: usize, mean: f64, deviation: f64) -> Sample {
        let mut next = || {
            let (radius, turn) = ((-2.0 * self.uniform().ln()).sqrt(), self.uniform());
            mean + deviation * radius * (std::f64::consts::TAU * turn).cos()
        };
        sample(&(0..count).map(|_| next()).collect::<Vec<_>>())
    }
}

/// With 4,000 trials the standard error of a coverage of 95 % is 0.34 %.
#[test]
fn ninety_five_of_a_hundred_intervals_hold_the_true_difference() {
    let mut normal = Normal(2026);
    for (bases, news, spread) in [(3, 3, 1.0), (5, 8, 4.0), (20, 4, 0.25)] {
        let trials = 4_000;
        let held = (0..trials).filter(|_| {
            let (base, new) =
                (normal.sample(bases, 100.0, 1.0), normal.sample(news, 103.0, spread));
            let found = compare(&base, &new).expect("both have values");
            (found.difference - 3.0).abs() <= found.test.expect("both have spread").half_width
        });
        let held = held.count();
        // Welch's interval is a little too wide for very few values, never much too narrow.
        assert!((3_760..=3_900).contains(&held), "{bases} against {news}: {held} of {trials}");
    }
}

/// Times are skewed, since a wait has no upper bound.
#[test]
fn intervals_of_skewed_times_hold_nearly_as_often() {
    let mut normal = Normal(11);
    let trials = 4_000;
    let held = (0..trials).filter(|_| {
        let mut times = |count: usize, scale: f64| {
            let logarithms = normal.sample(count, 0.0, 0.3).values;
            sample(&logarithms.into_iter().map(|x| scale * x.exp()).collect::<Vec<_>>())
        };
        let found = compare(&times(8, 100.0), &times(8, 110.0)).expect("both have values");
        // The mean of exp(N(0, 0.3)) is exp(0.3^2 / 2).
        let difference = 10.0 * 0.045_f64.exp();
        (found.difference - difference).abs() <= found.test.expect("both have spread").half_width
    });
    let held = held.count();
    assert!((3_740..=3_900).contains(&held), "{held} of {trials}");
}

/// If nothing has changed, any mark is wrong, and at most 5 % of the comparisons may have one. The
/// times of a tree depend on each other: here 16 leaves, their 4 parents, and the root.
#[test]
fn a_run_that_did_not_change_is_seldom_marked() {
    let mut normal = Normal(7);
    let trials = 1_000;
    let (mut adjusted_marks, mut plain_marks) = (0, 0);
    for _ in 0..trials {
        let mut side = || {
            let leaves: Vec<Vec<f64>> =
                (0..16).map(|_| normal.sample(6, 10.0, 1.0).values).collect();
            let sum = |rows: &[Vec<f64>]| -> Vec<f64> {
                (0..6).map(|run| rows.iter().map(|row| row[run]).sum()).collect()
            };
            let parents: Vec<Vec<f64>> = leaves.chunks(4).map(sum).collect();
            let root = sum(&parents);
            [leaves, parents, vec![root]].concat()
        };
        let (base, new) = (side(), side());
        let p = base.iter().zip(&new).map(|(base, new)| {
            compare(&sample(base), &sample(new))
                .and_then(|found| found.test)
                .expect("both have spread")
                .p
        });
        let p: Vec<f64> = p.collect();
        plain_marks += u32::from(p.iter().any(|p| *p < 0.05));
        adjusted_marks += u32::from(adjusted(&p).into_iter().any(|p| p < 0.05));
    }
    // Three standard errors above 50 are 71.
    assert!((15..=71).contains(&adjusted_marks), "{adjusted_marks} of {trials}");
    assert!(plain_marks > 500, "without adjusting it is {plain_marks} of {trials}");
}

//! A series of comparisons with the noise of real runs: nothing changed, a little, and much.
//!
//! Each run takes its noise from one of the runs below, drawn by a generator with a fixed seed, so
//! the outcome depends on no clock.

use tinyprof_format::model::{CallpathId, CallpathTable, Region, SiteId};

use super::compare::{Row, Verdict, rows};
use super::names::Names;
use super::options::Estimator;
use super::run::Run;
use super::values::Amounts;

/// The times of the region `slowed` in 14 real runs of the program of that name, on a busy machine
/// (docs/diff.md): quantiles over the executions of each run, in thousandths of the logarithm of
/// the ratio to the undisturbed time.
const NOISE: [[i16; 28]; 14] = [
    [
        0, 2, 3, 424, 643, 657, 658, 658, 658, 658, 658, 659, 665, 683, 692, 693, 693, 694, 695,
        696, 704, 715, 724, 738, 789, 2169, 2256, 2268,
    ],
    [
        0, 2, 2, 13, 35, 47, 102, 218, 282, 349, 419, 506, 540, 589, 614, 657, 658, 670, 691, 693,
        701, 719, 1962, 2492, 2824, 2839, 2951, 3328,
    ],
    [
        1, 1, 2, 2, 268, 657, 658, 658, 658, 658, 663, 666, 682, 692, 693, 693, 693, 694, 696, 702,
        711, 727, 1789, 2247, 2253, 2258, 2268, 2836,
    ],
    [
        0, 621, 657, 658, 658, 658, 658, 658, 661, 669, 689, 691, 692, 693, 693, 693, 693, 694,
        694, 695, 699, 702, 707, 711, 713, 718, 726, 781,
    ],
    [
        1, 376, 627, 657, 657, 658, 658, 658, 658, 658, 659, 665, 676, 691, 692, 693, 693, 694,
        695, 700, 706, 709, 716, 721, 725, 732, 764, 2260,
    ],
    [
        0, 2, 2, 10, 39, 119, 335, 601, 627, 651, 658, 658, 658, 659, 662, 668, 679, 692, 693, 694,
        697, 728, 2203, 2252, 2257, 2259, 2264, 2270,
    ],
    [
        1, 1, 2, 2, 16, 435, 657, 658, 658, 658, 661, 682, 692, 693, 693, 694, 694, 695, 702, 710,
        737, 2714, 2830, 2832, 2833, 2834, 2836, 3202,
    ],
    [
        0, 1, 2, 478, 657, 657, 658, 658, 658, 658, 658, 661, 664, 685, 689, 692, 693, 693, 693,
        694, 695, 699, 707, 718, 738, 2248, 2251, 2254,
    ],
    [
        0, 2, 2, 2, 3, 12, 29, 80, 229, 367, 480, 588, 657, 658, 659, 667, 693, 694, 1252, 1955,
        2098, 2136, 2335, 2685, 2839, 3269, 3465, 3680,
    ],
    [
        1, 1, 2, 3, 86, 405, 657, 657, 658, 658, 658, 659, 666, 691, 692, 693, 693, 693, 694, 698,
        709, 733, 1685, 1756, 2211, 2254, 2263, 2833,
    ],
    [
        1, 2, 5, 15, 19, 38, 70, 148, 211, 380, 528, 623, 657, 658, 658, 659, 665, 687, 693, 701,
        716, 731, 789, 848, 1009, 1530, 2046, 2259,
    ],
    [
        0, 2, 2, 2, 3, 3, 445, 657, 658, 658, 659, 663, 674, 685, 692, 693, 694, 695, 713, 747,
        1819, 2281, 2831, 3181, 3201, 3219, 3676, 3682,
    ],
    [
        0, 36, 161, 234, 320, 461, 616, 656, 657, 658, 658, 658, 661, 672, 692, 693, 693, 693, 694,
        696, 703, 2209, 2249, 2252, 2258, 2804, 2833, 2838,
    ],
    [
        1, 2, 2, 3, 21, 325, 657, 658, 658, 659, 664, 690, 692, 693, 694, 694, 699, 719, 806, 1402,
        1587, 1635, 1716, 1890, 2263, 2604, 2836, 3091,
    ],
];

/// The executions of a run.
const EXECUTIONS: usize = 300;

/// The regions of a run, with their times in nanoseconds.
const REGIONS: [(&str, f64); 3] = [("compute", 1e6), ("sweep", 0.6e6), ("slowed", 1e6)];

/// Steele, Lea and Flood's generator.
struct SplitMix(u64);

impl SplitMix {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % bound as u64).expect("it is below the bound")
    }

    /// Returns the factor by which an execution of a real run deviates.
    fn factor(&mut self, real_run: usize) -> f64 {
        let noise = &NOISE[real_run];
        (f64::from(noise[self.below(noise.len())]) / 1e3).exp()
    }
}

fn names() -> Names {
    let ids = (1..).map(SiteId::from_bits);
    let regions = ids
        .zip(REGIONS)
        .map(|(site, (name, _))| (CallpathId::root(site), None, Region::named(site, name)));
    let mut names = Names::default();
    names.place(&CallpathTable::from_parents(regions));
    names
}

fn row_of(names: &Names, name: &str) -> usize {
    names.rows().iter().position(|row| &*row.name == name).expect("the region")
}

/// Returns a run in which `slowed` takes this many times its usual time. On several ranks each has
/// its own part of the work. All its executions deviate as those of one real run.
fn run(
    names: &Names,
    slowed: f64,
    (real_run, rank_parts): (usize, &[f64]),
    random: &mut SplitMix,
) -> Run {
    let mut rows = vec![Amounts::default(); names.rows().len()];
    for (name, ns) in REGIONS {
        let ns = if name == "slowed" { ns * slowed } else { ns };
        let mut by_rank = vec![0.0; rank_parts.len()];
        let mut by_execution = vec![0.0; EXECUTIONS];
        for (of_rank, part) in by_rank.iter_mut().zip(rank_parts) {
            for of_execution in &mut by_execution {
                let time_ns = ns * part * random.factor(real_run);
                *of_rank += time_ns / number(EXECUTIONS);
                *of_execution += time_ns / number(rank_parts.len());
            }
        }
        let mean = by_rank.iter().sum::<f64>() / number(rank_parts.len());
        // Ranks are compared if there is one execution.
        let (by_rank, by_execution) = match rank_parts.len() {
            1 => (Vec::new(), by_execution),
            _ => (by_rank, Vec::new()),
        };
        let visited_ranks = rank_parts.len();
        let of_row = Amounts { visited_ranks, mean, by_rank, by_execution, ..Amounts::default() };
        rows[row_of(names, name)] = Amounts { share: 1.0 / 3.0, ..of_row };
    }
    let (ranks, name) = (rank_parts.len(), String::new());
    Run { name, ranks, executions: 1, rows, ..Run::default() }
}

fn is_marked(row: &Row) -> bool {
    matches!(row.verdict, Verdict::Up | Verdict::Down)
}

fn number(count: usize) -> f64 {
    f64::from(u32::try_from(count).expect("few"))
}

/// Compares runs of `slowed` at its usual time with runs at another, ten times; `check` gets the
/// rows, that of `slowed` first.
fn ten_pairs(
    estimator: Estimator,
    (slowed, runs): (f64, usize),
    rank_parts: &[f64],
    mut check: impl FnMut(&[&Row]),
) {
    let names = names();
    let mut random = SplitMix(7);
    for _ in 0..10 {
        // How runs differ from each other cannot be seen in a single one.
        let same = random.below(NOISE.len());
        let mut side = |slowed| -> Vec<Run> {
            let one = |_| {
                let real_run = if runs > 1 { random.below(NOISE.len()) } else { same };
                run(&names, slowed, (real_run, rank_parts), &mut random)
            };
            (0..runs).map(one).collect()
        };
        let (base, new) = (side(1.0), side(slowed));
        let found = rows(names.rows().len(), &base, &new, estimator);
        let mut found: Vec<&Row> = found.iter().collect();
        found.sort_by_key(|found| found.callpath != row_of(&names, "slowed"));
        check(&found);
    }
}

#[test]
fn five_runs_against_five_of_the_same_program_have_no_mark() {
    for estimator in [Estimator::Mean, Estimator::Median, Estimator::Min] {
        ten_pairs(estimator, (1.0, 5), &[1.0], |rows| {
            assert!(!rows.iter().any(|row| is_marked(row)), "{rows:?}");
        });
    }
}

#[test]
fn three_percent_are_found_or_within_the_interval() {
    let mut missed = 0;
    for estimator in [Estimator::Mean, Estimator::Median, Estimator::Min] {
        ten_pairs(estimator, (1.03, 5), &[1.0], |rows| {
            let (_, high) = rows[0].interval().expect("five runs have one");
            let is_said = high >= 0.03 * rows[0].base.mean;
            let is_found = rows[0].verdict == Verdict::Up;
            assert!(is_found || estimator != Estimator::Min, "{:?}", rows[0]);
            missed += usize::from(!is_found && !is_said);
        });
    }
    // An interval of 95 % misses one time in forty on this side.
    assert!(missed <= 2, "{missed} of 30");
}

/// On this machine the means of runs differ by more than that; undisturbed executions do not.
#[test]
fn thirty_percent_are_found_by_the_minimum_in_each_of_ten() {
    let mut by_mean = 0;
    ten_pairs(Estimator::Mean, (1.3, 5), &[1.0], |rows| {
        by_mean += usize::from(rows[0].verdict == Verdict::Up);
    });
    assert!(by_mean < 10, "the noise is none");
    ten_pairs(Estimator::Min, (1.3, 5), &[1.0], |rows| {
        assert_eq!(rows[0].verdict, Verdict::Up, "{:?}", rows[0]);
        assert!(!rows[1..].iter().any(|row| is_marked(row)), "{rows:?}");
    });
}

/// The two runs were disturbed alike: docs/diff.md has what happens if they were not.
#[test]
fn one_run_a_side_shows_fifty_five_percent_on_each_of_four_uneven_ranks() {
    ten_pairs(Estimator::Mean, (1.55, 1), &[1.0, 4.0, 2.0, 0.5], |rows| {
        assert_eq!((rows[0].verdict, rows[0].paired), (Verdict::Up, true), "{:?}", rows[0]);
    });
}

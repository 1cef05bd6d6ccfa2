//! The paper's formula for overhead, and its figures, for comparison.

/// Returns `(N-cost + I-cost) / A-cost x 100`, in percent: annotation and I/O over the application,
/// in any one unit. Returns `None` if the application took no time.
pub(crate) fn overhead_percent(application: f64, annotation: f64, io: f64) -> Option<f64> {
    (application > 0.0).then(|| (annotation + io) / application * 100.0)
}

/// A row of the paper's Table II that is about TinyProf.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TableTwo {
    pub(crate) application: &'static str,
    pub(crate) ranks: u32,
    pub(crate) application_s: f64,
    pub(crate) annotation_s: f64,
    pub(crate) io_s: f64,
    /// The overhead as printed there.
    #[cfg(test)]
    overhead_percent: f64,
}

macro_rules! paper {
    ($application:expr, $ranks:expr, $application_s:expr, $annotation_s:expr, $io_s:expr, $overhead:expr) => {
        TableTwo {
            application: $application,
            ranks: $ranks,
            application_s: $application_s,
            annotation_s: $annotation_s,
            io_s: $io_s,
            #[cfg(test)]
            overhead_percent: $overhead,
        }
    };
}

/// The paper's measurements on Theta, with TinyProf.
pub(crate) const TABLE_TWO: [TableTwo; 4] = [
    paper!("FFT-20", 4096, 57.70, 0.0031, 0.056, 0.102),
    paper!("FFT-3000", 512, 272.61, 0.529, 0.086, 0.226),
    paper!("TC", 1024, 161.36, 0.123, 0.120, 0.150),
    paper!("TC, checkpoints", 4096, 246.45, 1.250, 2.382, 1.474),
];

/// Cost of profiling 32,768 ranks in its Figure 7 (weak scaling), in seconds.
pub(crate) const FIGURE_7_32K_S: f64 = 0.397;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formula_gives_the_papers_own_figures() {
        for row in TABLE_TWO {
            let percent = overhead_percent(row.application_s, row.annotation_s, row.io_s).unwrap();
            // The paper prints three decimals, computed from rounded numbers.
            assert!((percent - row.overhead_percent).abs() < 0.001, "{row:?}: {percent}");
        }
        assert_eq!(overhead_percent(0.0, 1.0, 1.0), None);
    }
}

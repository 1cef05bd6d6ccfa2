//! `--iterations`: how many a job has.

use std::str::FromStr;

/// The number of iterations of a job's loop, or of the visits of a region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IterationCount {
    pub(crate) region: Option<String>,
    pub(crate) iterations: u64,
}

impl FromStr for IterationCount {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (region, number) = match text.rsplit_once('=') {
            Some((region, number)) => (Some(region.to_owned()), number),
            None => (None, text),
        };
        let is_named = region.as_ref().is_none_or(|region| !region.is_empty());
        match number.parse() {
            Ok(iterations) if iterations > 0 && is_named => Ok(Self { region, iterations }),
            _ => Err("expected a number of iterations, as in 5000 or solve=5000".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_may_be_that_of_a_region() {
        let parsed = |text: &str| text.parse::<IterationCount>();
        assert_eq!(parsed("5"), Ok(IterationCount { region: None, iterations: 5 }));
        let named = IterationCount { region: Some("a=b".to_owned()), iterations: 7 };
        assert_eq!(parsed("a=b=7"), Ok(named));
        for wrong in ["0", "", "=5", "five", "a=", "a=-1"] {
            assert!(parsed(wrong).is_err_and(|why| why.contains("solve=5000")), "{wrong}");
        }
    }
}

//! The parts of the evaluation, each measured and kept by itself.

use crate::context::Context;
use crate::kept::values;
use crate::progress::Expected;
use crate::{always_on, formats, scaling, table_two};

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Part {
    #[value(name = "fft-20")]
    Fft20,
    #[value(name = "fft-3000")]
    Fft3000,
    Tc,
    Weak,
    Strong,
    Iterations,
    Formats,
    AlwaysOn,
}

impl Part {
    /// All parts in the order of measurement: the longest comes last.
    pub(crate) const ALL: [Self; 8] = [
        Self::Fft20,
        Self::Fft3000,
        Self::Tc,
        Self::Weak,
        Self::Strong,
        Self::Iterations,
        Self::Formats,
        Self::AlwaysOn,
    ];

    /// Returns the name of its file.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Fft20 => "fft-20",
            Self::Fft3000 => "fft-3000",
            Self::Tc => "tc",
            Self::Weak => "weak",
            Self::Strong => "strong",
            Self::Iterations => "iterations",
            Self::Formats => "formats",
            Self::AlwaysOn => "always-on",
        }
    }

    /// Returns the expected time with seven repetitions, or the given time of the always-on run.
    pub(crate) fn expected(self, always_on_s: u64) -> Expected {
        let usual_s = match self {
            Self::Fft20 => 80,
            Self::Fft3000 => 140,
            Self::Tc => 170,
            Self::Weak => 65,
            Self::Strong => 50,
            Self::Iterations => 95,
            Self::Formats => 40,
            Self::AlwaysOn => always_on_s,
        };
        Expected { usual_s, is_fixed: self == Self::AlwaysOn }
    }

    /// Measures the part and returns its rows.
    pub(crate) fn measure(self, context: &Context) -> Result<Vec<serde_json::Value>, String> {
        match self {
            Self::Fft20 => values(table_two::fft_20(context)?),
            Self::Fft3000 => values(table_two::fft_3000(context)?),
            Self::Tc => values(table_two::tc(context)?),
            Self::Weak => values(scaling::weak(context)?),
            Self::Strong => values(scaling::strong(context)?),
            Self::Iterations => values(scaling::iterations(context)?),
            Self::Formats => values(formats::formats(context)?),
            Self::AlwaysOn => values(always_on::always_on(context)?),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

    #[test]
    fn a_part_is_called_as_its_file_is() {
        for part in Part::ALL {
            assert_eq!(Part::from_str(part.name(), false), Ok(part));
        }
        assert_eq!(Part::ALL.len(), Part::value_variants().len());
    }
}

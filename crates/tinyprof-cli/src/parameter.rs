//! `--parameter`: the quantity that differs between the profiles of a scaling study.

use std::str::FromStr;

use tinyprof_format::model::Manifest;

/// A parameter of a model, with its value for each profile.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Parameter {
    /// The number of ranks, read from each profile.
    Ranks,
    /// The number of hosts, read from each profile.
    Hosts,
    /// Any other quantity: a name, and a value for each profile in the order of the command line.
    Given(String, Vec<f64>),
}

impl Parameter {
    /// Returns the name of the parameter in the model.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Ranks => "ranks",
            Self::Hosts => "hosts",
            Self::Given(name, _) => name,
        }
    }

    /// Returns the value for the profile at `position` on the command line.
    pub(crate) fn value(&self, position: usize, manifest: &Manifest) -> f64 {
        match self {
            Self::Ranks => manifest.ranks.into(),
            Self::Hosts => manifest.metadata.numhosts.into(),
            Self::Given(_, values) => values[position],
        }
    }

    /// Returns the reason if these parameters do not fit this number of profiles.
    pub(crate) fn fault(parameters: &[Self], profiles: usize) -> Option<String> {
        for (position, parameter) in parameters.iter().enumerate() {
            let name = parameter.name();
            if parameters[..position].iter().any(|before| before.name() == name) {
                return Some(format!("the parameter {name} is given twice"));
            }
            if let Self::Given(_, values) = parameter
                && values.len() != profiles
            {
                let found = values.len();
                return Some(format!(
                    "the parameter {name} has {found} values for {profiles} profiles; give one for each"
                ));
            }
        }
        None
    }
}

impl FromStr for Parameter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, values) = match text.split_once('=') {
            None if text == "ranks" => return Ok(Self::Ranks),
            None if text == "hosts" => return Ok(Self::Hosts),
            None => {
                return Err(format!(
                    "expected ranks, hosts, or a name with values such as size=256,512, found {text:?}"
                ));
            }
            Some(("", _)) => return Err(format!("expected a name before =, found {text:?}")),
            Some(parts) => parts,
        };
        let number = |value: &str| match value.trim().parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => {
                Err(format!("expected numbers separated by commas after {name}=, found {value:?}"))
            }
        };
        let values = values.split(',').map(number).collect::<Result<_, _>>()?;
        Ok(Self::Given(name.to_owned(), values))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_read_or_given() {
        assert_eq!("ranks".parse(), Ok(Parameter::Ranks));
        assert_eq!("hosts".parse(), Ok(Parameter::Hosts));
        assert_eq!("n=1,2.5".parse(), Ok(Parameter::Given("n".into(), vec![1.0, 2.5])));
        for wrong in ["", "size", "=1", "n=", "n=a", "n=1,", "n=inf", "n=NaN"] {
            assert!(wrong.parse::<Parameter>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn each_profile_needs_a_value() {
        let given = Parameter::Given("n".into(), vec![1.0, 2.0]);
        assert_eq!(Parameter::fault(&[Parameter::Ranks, given.clone()], 2), None);
        assert!(Parameter::fault(std::slice::from_ref(&given), 3).is_some());
        assert!(Parameter::fault(&[given.clone(), given], 2).is_some());
    }
}

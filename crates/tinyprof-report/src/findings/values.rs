//! Facts by name, as rules ask for them.

use std::collections::BTreeMap;

/// The value of a fact.
#[derive(Clone, Debug, PartialEq)]
pub enum FactValue {
    /// A number, in the unit of the fact.
    Number(f64),
    /// A text.
    Text(String),
}

/// The facts of one subject that are known, by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values(BTreeMap<&'static str, FactValue>);

impl Values {
    /// Adds a number.
    pub fn number(&mut self, name: &'static str, value: f64) {
        self.0.insert(name, FactValue::Number(value));
    }

    /// Adds a number, if it is known.
    pub fn number_if(&mut self, name: &'static str, value: Option<f64>) {
        if let Some(value) = value {
            self.number(name, value);
        }
    }

    /// Adds a text.
    pub fn text(&mut self, name: &'static str, value: impl Into<String>) {
        self.0.insert(name, FactValue::Text(value.into()));
    }

    /// Adds the facts of other values, in place of own ones of the same name.
    pub fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Returns a number; none if it is unknown.
    #[must_use]
    pub fn number_of(&self, name: &str) -> Option<f64> {
        match self.0.get(name)? {
            FactValue::Number(number) => Some(*number),
            FactValue::Text(_) => None,
        }
    }

    /// Returns a text; none if it is unknown.
    #[must_use]
    pub fn text_of(&self, name: &str) -> Option<&str> {
        match self.0.get(name)? {
            FactValue::Text(text) => Some(text),
            FactValue::Number(_) => None,
        }
    }

    /// Returns the facts by name.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &FactValue)> {
        self.0.iter().map(|(name, value)| (*name, value))
    }
}

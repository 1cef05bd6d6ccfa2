//! A value of a table for programs.

/// A value of a table for programs: the same in JSON and in CSV.
#[derive(Clone, Debug, PartialEq)]
pub enum Datum {
    /// Nothing: null, or an empty cell.
    None,
    /// An integer: a count, or a time in ns.
    Integer(u128),
    /// Any other number.
    Float(f64),
    /// A name, or a set of ranks.
    Text(String),
}

impl Datum {
    /// Returns an integer.
    #[must_use]
    pub fn integer(n: impl Into<u128>) -> Self {
        Self::Integer(n.into())
    }

    /// Returns a float, or nothing.
    #[must_use]
    pub fn float(n: Option<f64>) -> Self {
        n.map_or(Self::None, Self::Float)
    }

    /// Returns a text, or nothing.
    #[must_use]
    pub fn text(text: Option<impl Into<String>>) -> Self {
        text.map_or(Self::None, |text| Self::Text(text.into()))
    }

    /// Returns the value as a cell of CSV.
    #[must_use]
    pub fn into_cell(self) -> String {
        match self {
            Self::None => String::new(),
            Self::Integer(n) => n.to_string(),
            Self::Float(n) => n.to_string(),
            Self::Text(text) => text,
        }
    }
}

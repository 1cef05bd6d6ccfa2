//! The table of settings as Markdown, for documentation.

use crate::setting::Setting;

/// A column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// The variable with its values.
    Variable,
    /// The method of the builder, as a link of rustdoc.
    Builder,
    /// The meaning.
    Meaning,
    /// The default.
    Default,
}

impl Column {
    fn head(self) -> &'static str {
        match self {
            Self::Variable => "variable",
            Self::Builder => "builder",
            Self::Meaning => "meaning",
            Self::Default => "default",
        }
    }

    fn cell(self, setting: &Setting) -> String {
        match self {
            Self::Variable => format!("`{}={}`", setting.variable, setting.values),
            Self::Builder => {
                setting.method.map(|method| format!("[`Builder::{method}`]")).unwrap_or_default()
            }
            Self::Meaning => setting.meaning.to_owned(),
            Self::Default => setting.default.to_owned(),
        }
    }
}

/// Returns the lines of a Markdown table of these settings.
#[must_use]
pub fn document(
    settings: impl IntoIterator<Item = &'static Setting>,
    columns: &[Column],
) -> Vec<String> {
    let row = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
    let heads = row(columns.iter().map(|column| column.head().to_owned()).collect());
    let line = format!("|{}", "---|".repeat(columns.len()));
    let escaped = |text: String| text.replace('|', "\\|");
    let rows = settings
        .into_iter()
        .map(|setting| row(columns.iter().map(|column| escaped(column.cell(setting))).collect()));
    [heads, line].into_iter().chain(rows).collect()
}

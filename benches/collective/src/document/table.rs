//! Tables in Markdown, and numbers for people.

/// A table whose first column is text and whose others are numbers.
#[derive(Clone, Debug, Default)]
pub struct Table {
    text: String,
}

impl Table {
    /// Returns a table with these column heads.
    #[must_use]
    pub fn new(heads: &[&str]) -> Self {
        let mut table = Self::default();
        table.row(&heads.iter().map(|head| (*head).to_owned()).collect::<Vec<_>>());
        table.row(
            &heads
                .iter()
                .enumerate()
                .map(|(at, _)| if at == 0 { "---" } else { "---:" }.to_owned())
                .collect::<Vec<_>>(),
        );
        table
    }

    /// Adds a row.
    pub fn row(&mut self, cells: &[String]) {
        self.text.push_str(&format!("| {} |\n", cells.join(" | ")));
    }

    /// Returns the table as Markdown.
    #[must_use]
    pub fn finish(self) -> String {
        self.text
    }
}

/// Converts a number to a float, for arithmetic on medians.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "what is shown has three digits")]
pub fn float(number: u64) -> f64 {
    number as f64
}

/// Formats a number with three digits.
#[must_use]
pub fn digits(number: f64) -> String {
    let places = if number >= 100.0 {
        0
    } else if number >= 10.0 {
        1
    } else {
        2
    };
    format!("{number:.places$}")
}

/// Formats nanoseconds as milliseconds.
#[must_use]
pub fn ms(ns: u64) -> String {
    let ms = float(ns) / 1e6;
    if ms > 0.0 && ms < 0.1 { format!("{ms:.3}") } else { digits(ms) }
}

/// Formats bytes as kilobytes.
#[must_use]
pub fn kb(bytes: u64) -> String {
    digits(float(bytes) / 1e3)
}

/// Formats bytes as megabytes.
#[must_use]
pub fn mb(bytes: u64) -> String {
    digits(float(bytes) / 1e6)
}

/// Formats a quotient with three digits, or a dash if the divisor is zero.
#[must_use]
pub fn per(number: u64, of: u64) -> String {
    if of == 0 { "-".to_owned() } else { digits(float(number) / float(of)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        assert_eq!(
            [ms(1_234_567), ms(123_456_789), ms(56_000), ms(0)],
            ["1.23", "123", "0.056", "0.00"]
        );
        assert_eq!([kb(7504), mb(3_321_739)], ["7.50", "3.32"]);
        assert_eq!([per(10, 4), per(1, 0)], ["2.50", "-"]);
    }

    #[test]
    fn a_table_has_a_line_below_its_heads() {
        let mut table = Table::new(&["a", "b"]);
        table.row(&["x".to_owned(), "1".to_owned()]);
        assert_eq!(table.finish(), "| a | b |\n| --- | ---: |\n| x | 1 |\n");
    }
}

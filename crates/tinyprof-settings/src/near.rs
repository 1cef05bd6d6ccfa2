//! Similar names, to suggest what was probably meant.

/// The largest number of changed letters for which another name is suggested.
pub const CHANGES_MAX: usize = 2;

/// Returns true if this many changed letters may be a mistake in typing this name.
#[must_use]
pub fn is_near(changed: usize, name: &str) -> bool {
    changed <= CHANGES_MAX && 2 * changed < name.chars().count()
}

/// Returns the number of letters to insert, remove or replace to make `b` of `a` (Levenshtein).
///
/// ```
/// use tinyprof_settings::near::changes;
///
/// assert_eq!(changes("bugdet", "budget"), 2);
/// ```
#[must_use]
pub fn changes(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for (row, from) in a.chars().enumerate() {
        let mut line = vec![row + 1];
        for (column, to) in b.iter().enumerate() {
            let replaced = above[column] + usize::from(from != *to);
            line.push(replaced.min(above[column + 1] + 1).min(line[column] + 1));
        }
        above = line;
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_counted_by_letter() {
        assert_eq!(changes("budget", "budget"), 0);
        assert_eq!(changes("bugdet", "budget"), 2);
        assert_eq!(changes("", "out"), 3);
        assert_eq!(changes("outs", "out"), 1);
    }
}

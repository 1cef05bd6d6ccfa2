//! Parsers for Linux's texts about processes and boots. Recorder and reader must interpret them
//! alike.

/// The state of a process in `/proc/PID/stat`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessState {
    /// The start time: field 22.
    pub start_time: u64,
    /// True if all of its threads have ended, and only its parent has not yet collected its exit
    /// code.
    pub has_ended: bool,
}

impl ProcessState {
    /// Parses the text of `/proc/PID/stat`.
    ///
    /// ```
    /// use tinyprof_format::segment::ProcessState;
    /// let stat = "7 (a) b) Z 1 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4711 0 0";
    /// let expected = ProcessState { start_time: 4711, has_ended: true };
    /// assert_eq!(ProcessState::parse(stat), Some(expected));
    /// ```
    #[must_use]
    pub fn parse(stat: &str) -> Option<Self> {
        Self::parse_bytes(stat.as_bytes())
    }

    /// Parses the contents of `/proc/PID/stat`, which are not always UTF-8: the kernel cuts the
    /// name of a process after 15 bytes, which may be inside a character.
    #[must_use]
    pub fn parse_bytes(stat: &[u8]) -> Option<Self> {
        // The program's name is in parentheses and may contain some itself. Field 3 follows the
        // last one.
        let name_end = stat.iter().rposition(|&byte| byte == b')')?;
        let fields = std::str::from_utf8(&stat[name_end + 1..]).ok()?;
        let mut fields = fields.split_whitespace();
        let state = fields.next()?;
        let threads: u64 = fields.nth(16)?.parse().ok()?;
        let start_time = fields.nth(1)?.parse().ok()?;
        // If the first thread of a process ends before the others, the state is that of a zombie,
        // too.
        Some(Self { start_time, has_ended: matches!(state, "Z" | "X") && threads <= 1 })
    }
}

/// Parses the number in `/proc/sys/kernel/random/boot_id`.
#[must_use]
pub fn parse_boot_id(text: &str) -> Option<u128> {
    u128::from_str_radix(&text.trim().replace('-', ""), 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_cut_inside_a_character_hides_nothing() {
        let stat = b"7 (fourteen bytes\xc3) R 1 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4711 0 0";
        let expected = ProcessState { start_time: 4711, has_ended: false };
        assert_eq!(ProcessState::parse_bytes(stat), Some(expected));
        assert_eq!(ProcessState::parse_bytes(b"7 (a) R \xc3"), None);
    }
}

//! Progress of the evaluation.

use std::time::Duration;

/// A part that was measured or will be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Expected {
    /// Time on two otherwise idle processors, in seconds.
    pub(crate) usual_s: u64,
    /// True if it takes this time on any machine, because its duration is given.
    pub(crate) is_fixed: bool,
}

/// Estimates the time of the remaining parts, scaled by how much longer than usual the finished
/// parts took.
pub(crate) fn left_s(done: &[(Expected, u64)], left: &[Expected]) -> u64 {
    let usual: u64 =
        done.iter().filter(|(part, _)| !part.is_fixed).map(|(part, _)| part.usual_s).sum();
    let took: u64 = done.iter().filter(|(part, _)| !part.is_fixed).map(|(_, took_s)| took_s).sum();
    let of = |part: &Expected| {
        if part.is_fixed || usual == 0 { part.usual_s } else { part.usual_s * took / usual }
    };
    left.iter().map(of).sum()
}

/// Formats a duration, such as `4 min 10 s`.
pub(crate) fn duration(seconds: u64) -> String {
    if seconds < 60 {
        format!("{seconds} s")
    } else {
        format!("{} min {} s", seconds / 60, seconds % 60)
    }
}

/// Announces the part that begins. `at` counts from 1.
pub(crate) fn say_part(at: usize, of: usize, part: &str, passed: Duration, left_s: u64) {
    let (passed, left) = (duration(passed.as_secs()), duration(left_s));
    say(&format!("part {at} of {of}, {part}; {passed} passed, about {left} to go"));
}

/// Prints a progress line.
#[expect(clippy::print_stderr, reason = "who waits wants to know")]
pub(crate) fn say(text: &str) {
    eprintln!("evaluation: {text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_guessed_from_what_was_done() {
        let part = |usual_s| Expected { usual_s, is_fixed: false };
        let fixed = Expected { usual_s: 600, is_fixed: true };
        assert_eq!(left_s(&[], &[part(10), fixed]), 610);
        assert_eq!(left_s(&[(part(10), 30), (fixed, 600)], &[part(20), part(5), fixed]), 675);
        assert_eq!([duration(59), duration(61)], ["59 s", "1 min 1 s"]);
    }
}

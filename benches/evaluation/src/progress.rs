//! How far the evaluation is, for who waits for it.

use std::time::Duration;

/// A part that was measured, or is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Expected {
    /// What it takes on two processors that do nothing else, in seconds.
    pub(crate) usual_s: u64,
    /// Whether it takes that everywhere, because it is told how long to run.
    pub(crate) is_fixed: bool,
}

/// What the parts that are left will take: as much longer than usual as those that are done did.
pub(crate) fn left_s(done: &[(Expected, u64)], left: &[Expected]) -> u64 {
    let usual: u64 =
        done.iter().filter(|(part, _)| !part.is_fixed).map(|(part, _)| part.usual_s).sum();
    let took: u64 = done.iter().filter(|(part, _)| !part.is_fixed).map(|(_, took_s)| took_s).sum();
    let of = |part: &Expected| {
        if part.is_fixed || usual == 0 { part.usual_s } else { part.usual_s * took / usual }
    };
    left.iter().map(of).sum()
}

/// `4 min 10 s`.
pub(crate) fn duration(seconds: u64) -> String {
    if seconds < 60 {
        format!("{seconds} s")
    } else {
        format!("{} min {} s", seconds / 60, seconds % 60)
    }
}

/// Says which part begins. `at` counts from 1.
pub(crate) fn say_part(at: usize, of: usize, part: &str, passed: Duration, left_s: u64) {
    let (passed, left) = (duration(passed.as_secs()), duration(left_s));
    say(&format!("part {at} of {of}, {part}; {passed} passed, about {left} to go"));
}

/// A line about what is going on.
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

//! Threads that call MPI on small stacks.

use crate::support::compile;
use crate::unharmed::{path, without_and_with};

#[test]
fn a_small_stack_has_room_for_the_recording() {
    let scratch = tempfile::tempdir().expect("a directory can be made");
    let program = compile("stacks.c", scratch.path());
    let with_samples = ["env", "TINYPROF_SAMPLE=1000", "TINYPROF_EVENTS=ring", path(&program)];
    for words in [&with_samples[3..], &with_samples] {
        for level in ["calls", "messages"] {
            let (without, with, _) = without_and_with(words, 2, level);
            assert_eq!(with, without, "{words:?} at level {level}");
            assert_eq!((with.code, with.lines.len()), (Some(0), 2), "{with:?}");
        }
    }
}

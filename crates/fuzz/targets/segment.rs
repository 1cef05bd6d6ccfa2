//! A segment of hostile bytes, or one that a program left, with changes that know the layout.
#![no_main]

use std::sync::Once;

use libfuzzer_sys::fuzz_target;
use tinyprof_fuzz::segment::{check_seeds, read_segment};
use tinyprof_fuzz::structure::{Tape, mutated_segment};
use tinyprof_segment::layout::MAGIC;

fuzz_target!(|bytes: &[u8]| {
    static CHECKED: Once = Once::new();
    CHECKED.call_once(check_seeds);
    if bytes.starts_with(&MAGIC.to_le_bytes()) {
        read_segment(bytes);
    } else {
        read_segment(&mutated_segment(&mut Tape::new(bytes)));
    }
});

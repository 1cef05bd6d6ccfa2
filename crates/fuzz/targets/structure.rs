//! A frozen profile with changes that know the format. A profile that can be read is written, and
//! must read back equal.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tinyprof_fuzz::again::write_and_read;
use tinyprof_fuzz::read_in_every_way;
use tinyprof_fuzz::structure::{Tape, mutated_profile};

fuzz_target!(|tape: &[u8]| {
    if let Some(profile) = read_in_every_way(&mutated_profile(&mut Tape::new(tape))) {
        write_and_read(&profile);
    }
});

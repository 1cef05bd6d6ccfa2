//! The paper's text format: a profile read from hostile bytes is written, and must read back equal.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tinyprof_format::text::{read_text, write_text};

fuzz_target!(|text: &[u8]| {
    let Ok(imported) = read_text(text) else { return };
    let mut written = Vec::new();
    if write_text(&imported.profile, &mut written).is_err() {
        return;
    }
    let again = read_text(&written).expect("what was written is read");
    assert!(again.salvage.is_whole(), "{:?}", again.salvage);
    let mut twice = Vec::new();
    write_text(&again.profile, &mut twice).expect("it is written again");
    assert_eq!(twice, written);
});

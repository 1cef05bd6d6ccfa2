//! The paper's text format: what is read of hostile bytes is written, and read again as the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tinyprof_format::text::{read_text, write_text};

fuzz_target!(|text: &[u8]| {
    let Ok(imported) = read_text(text) else { return };
    let written = write_text(&imported.profile);
    let again = read_text(written.as_bytes()).expect("what was written is read");
    assert!(again.salvage.is_whole(), "{:?}", again.salvage);
    assert_eq!(write_text(&again.profile), written);
});

//! A manifest or a dictionary of hostile bytes, with valid parts.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tinyprof_format::file::decode_manifest;
use tinyprof_fuzz::{Memory, read_in_every_way};

const CALLPATHS: &[u8] =
    include_bytes!("../../tinyprof-format/tests/profiles/format-1.0/callpaths");
const MANIFEST: &[u8] =
    include_bytes!("../../tinyprof-format/tests/profiles/format-1.0/manifest.json");
const PART_0: &[u8] = include_bytes!("../../tinyprof-format/tests/profiles/format-1.0/part-00000");
const PART_1: &[u8] = include_bytes!("../../tinyprof-format/tests/profiles/format-1.0/part-00001");

fuzz_target!(|bytes: &[u8]| {
    let (manifest, callpaths) = if bytes.starts_with(b"TPRFPATH") {
        let mut known = decode_manifest(MANIFEST).expect("the manifest is whole");
        known.callpaths.bytes = bytes.len() as u64;
        (serde_json::to_vec(&known).expect("JSON"), bytes.to_vec())
    } else {
        (bytes.to_vec(), CALLPATHS.to_vec())
    };
    let files = [
        ("manifest.json", manifest),
        ("callpaths", callpaths),
        ("part-00000", PART_0.to_vec()),
        ("part-00001", PART_1.to_vec()),
    ];
    read_in_every_way(&Memory::from(files));
});

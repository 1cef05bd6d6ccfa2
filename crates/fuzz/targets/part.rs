//! A part of hostile bytes, in a profile with a valid dictionary.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tinyprof_format::file::decode_manifest;
use tinyprof_format::model::Manifest;
use tinyprof_fuzz::{Memory, read_in_every_way};

const CALLPATHS: &[u8] =
    include_bytes!("../../tinyprof-format/tests/profiles/format-1.0/callpaths");
const MANIFEST: &[u8] =
    include_bytes!("../../tinyprof-format/tests/profiles/format-1.0/manifest.json");

fuzz_target!(|part: &[u8]| {
    let mut manifest: Manifest = decode_manifest(MANIFEST).expect("the manifest is whole");
    // As many ranks as the part claims: the manifest of a hostile profile agrees with it.
    let ranks =
        part.get(16..20).map_or(0, |bytes| u32::from_le_bytes(bytes.try_into().expect("4 bytes")));
    manifest.ranks = ranks;
    manifest.parts.truncate(1);
    let file = &mut manifest.parts[0];
    (file.ranks, file.bytes) = (ranks, part.len() as u64);
    let manifest = serde_json::to_vec(&manifest).expect("JSON");
    let files = [
        ("manifest.json", manifest),
        ("callpaths", CALLPATHS.to_vec()),
        ("part-00000", part.to_vec()),
    ];
    read_in_every_way(&Memory::from(files));
});

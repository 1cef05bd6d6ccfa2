//! Files that no writer produces: frames and checksums are correct, the contents are not.

use std::collections::BTreeMap;

/// Files in memory.
pub(crate) type Files = BTreeMap<&'static str, Vec<u8>>;

/// Returns a number as a varint.
pub(crate) fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(u8::try_from(value & 0x7f).expect("seven bits") | 0x80);
        value >>= 7;
    }
    bytes.push(u8::try_from(value).expect("seven bits"));
    bytes
}

/// Returns a column of equal numbers: two bytes or a few more, whatever their number.
pub(crate) fn constant(value: u64) -> Vec<u8> {
    [vec![0], varint(value)].concat()
}

/// Returns a file of sections, as drawn in `docs/format.md`.
pub(crate) fn sections(magic: &[u8; 8], fields: &[u32], sections: &[(u32, Vec<u8>)]) -> Vec<u8> {
    sections_of((1, 0), magic, fields, sections)
}

/// Returns a file of sections in another version.
pub(crate) fn sections_of(
    (major, minor): (u16, u16),
    magic: &[u8; 8],
    fields: &[u32],
    sections: &[(u32, Vec<u8>)],
) -> Vec<u8> {
    let mut file = [&magic[..], &major.to_le_bytes(), &minor.to_le_bytes()].concat();
    fields.iter().for_each(|field| file.extend(field.to_le_bytes()));
    file.extend(crc32fast::hash(&file).to_le_bytes());
    let mut index = Vec::new();
    for (key, bytes) in sections {
        let (length, checksum) =
            ((bytes.len() as u64).to_le_bytes(), crc32fast::hash(bytes).to_le_bytes());
        let frame = [&key.to_le_bytes()[..], &length, &checksum].concat();
        file.extend(&frame);
        file.extend(crc32fast::hash(&frame).to_le_bytes());
        index.extend(
            [&key.to_le_bytes()[..], &(file.len() as u64).to_le_bytes(), &length, &checksum]
                .concat(),
        );
        file.extend(bytes);
    }
    let count = u32::try_from(sections.len()).expect("few sections");
    let offset = file.len() as u64;
    file.extend(&index);
    file.extend(offset.to_le_bytes());
    file.extend(count.to_le_bytes());
    file.extend(crc32fast::hash(&index).to_le_bytes());
    file.extend(b"TPRFEND\n");
    file
}

/// Returns a dictionary of root regions that all have this name.
pub(crate) fn dictionary(rows: u64, name: &str) -> Vec<u8> {
    let mut section =
        [varint(1), varint(name.len() as u64), name.as_bytes().to_vec(), varint(rows)].concat();
    for row in 0..rows {
        section.extend([row.to_le_bytes(), row.to_le_bytes()].concat());
        section.extend([0, 0, 0, 0, 1, 1, 0, 1]);
    }
    sections(b"TPRFPATH", &[], &[(0, section)])
}

/// Returns the facts of `ranks` ranks on one host.
pub(crate) fn facts(ranks: u64) -> Vec<u8> {
    let host = [varint(1), varint(1), vec![b'h'], varint(ranks)].concat();
    [host, constant(1).repeat(3), varint(12), constant(0).repeat(12)].concat()
}

/// Returns a profile of one part over a dictionary of `callpaths` rows.
pub(crate) fn profile(ranks: u32, callpaths: u32, part: Vec<(u32, Vec<u8>)>) -> Files {
    let part = [vec![(u32::MAX, facts(ranks.into()))], part].concat();
    let part = sections(b"TPRFPART", &[0, ranks, callpaths], &part);
    whole(ranks, callpaths, dictionary(callpaths.into(), "r"), part)
}

/// Returns a profile of these files, with a manifest that agrees with them.
pub(crate) fn whole(ranks: u32, callpaths: u32, dictionary: Vec<u8>, part: Vec<u8>) -> Files {
    let manifest = serde_json::json!({
        "format": "tinyprof",
        "version": {"major": 1, "minor": 0},
        "ranks": ranks,
        "executions": 1,
        "callpaths": {
            "file": "callpaths", "bytes": dictionary.len(), "crc32": crc32fast::hash(&dictionary), "callpaths": callpaths,
        },
        "parts": [{
            "file": "part-00000", "first_rank": 0, "ranks": ranks, "bytes": part.len(), "crc32": crc32fast::hash(&part),
        }],
        "metadata": {},
        "losses": {},
    });
    let manifest = serde_json::to_vec(&manifest).expect("JSON");
    [("manifest.json", manifest), ("callpaths", dictionary), ("part-00000", part)].into()
}

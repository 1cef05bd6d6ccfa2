//! A search for parts without a manifest, and for sections without an index.

use super::bare_manifest;
use crate::bytes::Cursor;
use crate::file::section::{FRAME_BYTES, Header, IndexEntry, frame};
use crate::file::source::Source;
use crate::model::{Manifest, PartFile};

/// Returns a manifest made of the files that exist; none if there are none.
pub(super) fn manifest(source: &dyn Source) -> Option<Manifest> {
    let is_part =
        |name: &String| name.strip_prefix("part-").is_some_and(|n| n.parse::<u32>().is_ok());
    let mut names: Vec<String> = source.names().into_iter().filter(is_part).collect();
    names.sort();
    let mut parts = Vec::new();
    let (mut callpaths, mut version) = (None, None);
    for file in names {
        let length = source.length(&file).unwrap_or(0);
        let header = source.read(&file, 0, Header::<3>::BYTES).ok();
        let header =
            header.and_then(|bytes| Header::<3>::read(&bytes, crate::file::part::MAGIC).ok());
        let Some(header) = header else { continue };
        let [first_rank, ranks, rows] = header.fields;
        // Parts of one profile agree. Files that do not belong to it are ignored.
        if *callpaths.get_or_insert(rows) == rows
            && *version.get_or_insert(header.version) == header.version
        {
            parts.push(PartFile { file, first_rank, ranks, bytes: length, crc32: 0 });
        }
    }
    let manifest = bare_manifest(callpaths.unwrap_or(0), parts);
    let dictionary = source.length(&manifest.callpaths.file).is_ok();
    let version = version.unwrap_or(manifest.version);
    (dictionary || callpaths.is_some()).then_some(Manifest { version, ..manifest })
}

/// Returns the sections whose frames are intact, in a file without an index. Everything else is
/// skipped byte by byte.
pub(super) fn sections(bytes: &[u8], header_bytes: usize) -> Vec<IndexEntry> {
    let mut sections = Vec::new();
    let mut at = header_bytes;
    while let Some(framed) = bytes.get(at..).filter(|rest| rest.len() >= FRAME_BYTES) {
        match read_frame(&framed[..FRAME_BYTES]) {
            Some((key, length, checksum)) if length <= framed.len() - FRAME_BYTES => {
                let offset = at + FRAME_BYTES;
                sections.push(IndexEntry {
                    key,
                    offset: offset as u64,
                    length: length as u64,
                    checksum,
                });
                at = offset + length;
            }
            _ => at += 1,
        }
    }
    sections
}

fn read_frame(bytes: &[u8]) -> Option<(u32, usize, u32)> {
    let mut cursor = Cursor::new(bytes, 0);
    let key = cursor.u32("the key").ok()?;
    let length = cursor.u64("the length").ok()?;
    let checksum = cursor.u32("the checksum").ok()?;
    let is_whole = frame(key, length, checksum) == bytes;
    usize::try_from(length).ok().filter(|_| is_whole).map(|length| (key, length, checksum))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::section::SectionWriter;
    use crate::model::FormatVersion;

    #[test]
    fn sections_are_found_by_their_frames_whatever_is_cut_or_damaged_elsewhere() {
        let mut file = SectionWriter::new(b"TPRFTEST", FormatVersion::USUAL, &[]);
        let contents: [&[u8]; 3] = [b"first", b"", b"third and last"];
        (0..).zip(contents).for_each(|(key, bytes)| file.section(key, bytes));
        let bytes = file.finish();
        let header = Header::<0>::BYTES;
        let keys = |bytes: &[u8]| sections(bytes, header).iter().map(|e| e.key).collect::<Vec<_>>();
        assert_eq!(keys(&bytes), [0, 1, 2]);
        let ends = [5, 25, 59].map(|length: usize| header + FRAME_BYTES + length);
        for cut in header..bytes.len() {
            let whole = ends.iter().filter(|&&end| end <= cut).count();
            assert_eq!(keys(&bytes[..cut]).len(), whole, "cut at {cut}");
        }
        for at in header..header + FRAME_BYTES {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert_eq!(keys(&damaged), [1, 2], "flipped byte {at}");
        }
    }
}

//! Size of the authors' values in our format. The bounds are those of the project's plan.

use std::fs;

use tinyprof_format::file::{Permissions, save_profile};
use tinyprof_format::text::read_text;

use super::authors::{LOOPS, WIDE, authors_file, numbers};

/// The sizes of a profile: bytes of the sections with values, bytes of the rest, bytes of names,
/// and the number of values.
struct Sizes {
    columns_bytes: u64,
    other_bytes: u64,
    names_bytes: u64,
    values: u64,
}

fn sizes(text: &str) -> Sizes {
    let profile = read_text(text.as_bytes()).expect("the text is read").profile;
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let path = save_profile(Permissions::Private, &scratch.path().join("run"), &profile)
        .expect("it is written");
    let files = ["manifest.json", "callpaths", "part-00000"];
    let total_bytes: u64 =
        files.iter().map(|f| fs::metadata(path.join(f)).expect("the file").len()).sum();
    let columns_bytes = sections_bytes(&fs::read(path.join("part-00000")).expect("the part"));
    let names = profile.callpaths.rows().iter().map(|c| c.region.name.len() as u64);
    Sizes {
        columns_bytes,
        other_bytes: total_bytes - columns_bytes,
        names_bytes: names.sum(),
        values: numbers(text).iter().flatten().flatten().map(|visits| visits.len() as u64).sum(),
    }
}

/// Returns the bytes of a part's sections, except that of the ranks, from its index: key, offset,
/// length, checksum.
fn sections_bytes(part: &[u8]) -> u64 {
    let footer = &part[part.len() - 24..];
    let word = |bytes: &[u8]| u64::from_le_bytes(bytes[..8].try_into().expect("8 bytes"));
    let index = &part[usize::try_from(word(footer)).expect("an offset")..part.len() - 24];
    let entries = index.chunks_exact(24).filter(|entry| entry[..4] != [0xff; 4]);
    entries.map(|entry| word(&entry[12..])).sum()
}

#[expect(clippy::cast_precision_loss, reason = "bytes of small files")]
fn a_value(bytes: u64, sizes: &Sizes) -> f64 {
    bytes as f64 / sizes.values as f64
}

#[test]
fn the_wide_file_takes_at_most_a_byte_a_value() {
    let Some(text) = authors_file(WIDE) else { return };
    let sizes = sizes(&text);
    let (columns, all) = (sizes.columns_bytes, sizes.columns_bytes + sizes.other_bytes);
    println!(
        "{WIDE}: columns {:.3}, all {:.3} bytes a value",
        a_value(columns, &sizes),
        a_value(all, &sizes)
    );
    assert!(a_value(columns, &sizes) <= 1.0, "{columns} bytes for {} values", sizes.values);
    assert!(a_value(all, &sizes) <= 1.1, "{all} bytes for {} values", sizes.values);
    assert!(
        sizes.other_bytes - sizes.names_bytes <= 4_096,
        "{} bytes beside columns",
        sizes.other_bytes
    );
}

#[test]
fn the_file_with_loops_takes_at_most_a_byte_a_value() {
    let Some(text) = authors_file(LOOPS) else { return };
    let sizes = sizes(&text);
    let columns = sizes.columns_bytes;
    println!(
        "{LOOPS}: columns {:.3} bytes a value, others {}",
        a_value(columns, &sizes),
        sizes.other_bytes
    );
    assert!(a_value(columns, &sizes) <= 1.0, "{columns} bytes for {} values", sizes.values);
    assert!(
        sizes.other_bytes - sizes.names_bytes <= 4_096,
        "{} bytes beside columns",
        sizes.other_bytes
    );
}

//! Shared parts of the targets: a profile in memory, which is read in every way there is, and
//! mutations that know the format.

pub mod again;
pub mod segment;
pub mod structure;

use std::collections::BTreeMap;
use std::io;

use tinyprof_format::error::ReadError;
use tinyprof_format::file::{ProfileReader, ReadOptions};
use tinyprof_format::model::Profile;
use tinyprof_format::text::write_text;
use tinyprof_report::{Report, TextOptions};
use tinyprof_views::{info_text, report_json};

/// The memory limit of readers. libFuzzer stops a target that takes four times as much.
pub const LIMITS: ReadOptions = ReadOptions::new().with_memory_bytes(8 << 20);

/// Files by name.
pub type Memory = BTreeMap<&'static str, Vec<u8>>;

/// Reads a profile as a whole, callpath by callpath, and its salvageable parts. Anything that can
/// be read in several ways must be equal in all of them.
pub fn read_in_every_way(files: &Memory) -> Option<Profile> {
    read_in_every_way_within(files, LIMITS)
}

/// Reads like [`read_in_every_way`], with other options.
pub fn read_in_every_way_within(files: &Memory, options: ReadOptions) -> Option<Profile> {
    let whole = options.read_of(files).ok();
    if let Ok(salvaged) = options.salvage_of(files) {
        show(&salvaged);
    }
    let reader = ProfileReader::of_source(files.clone(), options).ok();
    if let Some(reader) = &reader {
        for (index, _) in reader.callpaths().iter() {
            let callpath = reader.callpath(index).ok();
            // NaNs are not equal to themselves; their text is.
            if let (Some(whole), Some(callpath)) = (&whole, &callpath) {
                assert_eq!(format!("{:?}", whole.values[index.row()]), format!("{callpath:?}"));
            }
            assert!(
                whole.is_none() || callpath.is_some(),
                "what is read with others is read alone"
            );
        }
        pass(reader, whole.as_ref());
    }
    if let Some(whole) = &whole {
        show(whole);
    }
    whole
}

/// Passes over all callpaths, and compares them with those of the whole.
fn pass(reader: &ProfileReader<Memory>, whole: Option<&Profile>) {
    let children = reader.callpaths().children();
    let passed: Result<(), ReadError> = reader.each_callpath(children.roots(), |index, values| {
        if let Some(whole) = whole {
            assert_eq!(format!("{:?}", whole.values[index.row()]), format!("{values:?}"));
        }
        Ok(())
    });
    drop(passed);
    assert!(whole.is_none() || reader.verify_parts().is_ok(), "the checksums were right");
}

/// Produces everything that is shown of a profile.
fn show(profile: &Profile) {
    // For larger profiles, tables and texts take long, and show nothing new.
    if profile.callpaths.len() * profile.ranks.len() <= 1 << 12 {
        drop(info_text(&profile.manifest));
        let report = Report::of_profile(profile);
        drop((report.to_text(&TextOptions::default()), report_json(&report).to_value()));
        drop(write_text(profile, &mut io::sink()));
    }
}

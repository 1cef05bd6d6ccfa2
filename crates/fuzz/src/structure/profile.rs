//! Mutations of whole profiles.

use serde_json::Value;

use super::section_file::SectionFile;
use super::{Tape, manifest};
use crate::Memory;

/// A frozen profile: manifest, dictionary, parts.
type Frozen = (&'static [u8], &'static [u8], &'static [&'static [u8]]);

macro_rules! frozen {
    ($name:literal, $($part:literal)*) => {
        (
            include_bytes!(concat!("../../../tinyprof-format/tests/profiles/", $name, "/manifest.json")),
            include_bytes!(concat!("../../../tinyprof-format/tests/profiles/", $name, "/callpaths")),
            &[$(include_bytes!(concat!("../../../tinyprof-format/tests/profiles/", $name, "/", $part)),)*],
        )
    };
}

const FROZEN: [Frozen; 10] = [
    frozen!("format-1.1-edges", "part-00000" "part-00001"),
    frozen!("format-1.1-events", "part-00000" "part-00001"),
    frozen!("format-1.1-messages", "part-00000" "part-00001"),
    frozen!("format-1.1", "part-00000" "part-00001"),
    frozen!("format-1.1-8bit", "part-00000" "part-00001"),
    frozen!("format-1.0", "part-00000" "part-00001"),
    frozen!("format-1.0-8bit", "part-00000" "part-00001"),
    frozen!("format-0.3", "part-00000" "part-00001"),
    frozen!("format-0.2", "part-00000" "part-00001"),
    frozen!("format-0.1", "part-00000"),
];

const PART_NAMES: [&str; 3] = ["part-00000", "part-00001", "part-00002"];

/// A profile, split into its pieces.
struct Parsed {
    manifest: Value,
    dictionary: SectionFile,
    parts: Vec<SectionFile>,
}

impl Parsed {
    fn of(frozen: &Frozen) -> Self {
        Self {
            manifest: serde_json::from_slice(frozen.0).expect("the manifest is whole"),
            dictionary: SectionFile::parse(frozen.1, 0),
            parts: frozen.2.iter().map(|part| SectionFile::parse(part, 3)).collect(),
        }
    }

    fn mutate(&mut self, tape: &mut Tape<'_>, donor: &Self) {
        let part = tape.below(self.parts.len());
        match tape.byte() % 16 {
            0..=9 => {
                let other = &donor.parts[tape.below(donor.parts.len())];
                self.parts[part].mutate(tape, other);
            }
            10..=12 => self.dictionary.mutate(tape, &donor.dictionary),
            13 | 14 => manifest::mutate(&mut self.manifest, tape),
            _ => {
                // A part that occurs twice, or in place of the other.
                let copy = self.parts[part].clone();
                if tape.byte() % 2 == 0 && self.parts.len() < PART_NAMES.len() {
                    self.parts.push(copy);
                } else {
                    let other = tape.below(self.parts.len());
                    self.parts[other] = copy;
                }
            }
        }
    }

    /// Returns the files. If `mend`, corrects lengths and checksums in the manifest, which would
    /// hide the manifest's own mutation.
    fn to_files(mut self, mend: bool) -> Memory {
        let dictionary = self.dictionary.to_bytes();
        let parts: Vec<Vec<u8>> = self.parts.iter().map(SectionFile::to_bytes).collect();
        if mend {
            mend_entry(self.manifest.get_mut("callpaths"), &dictionary);
            if let Some(Value::Array(entries)) = self.manifest.get_mut("parts") {
                for (number, (file, part)) in parts.iter().zip(&self.parts).enumerate() {
                    if entries.len() <= number {
                        entries.push(entries.last().cloned().unwrap_or_default());
                    }
                    mend_entry(entries.get_mut(number), file);
                    // The manifest of a hostile profile agrees with its parts.
                    if let Some(Value::Object(entry)) = entries.get_mut(number) {
                        entry.insert("file".to_owned(), PART_NAMES[number].into());
                        entry.insert("first_rank".to_owned(), part.fields[0].into());
                        entry.insert("ranks".to_owned(), part.fields[1].into());
                    }
                }
            }
            let ranks =
                self.parts.iter().fold(0_u32, |ranks, part| ranks.wrapping_add(part.fields[1]));
            if let Some(all) = self.manifest.get_mut("ranks") {
                *all = ranks.into();
            }
        }
        let manifest = serde_json::to_vec(&self.manifest).expect("JSON");
        let mut files = Memory::from([("manifest.json", manifest), ("callpaths", dictionary)]);
        files.extend(PART_NAMES.into_iter().zip(parts));
        files
    }
}

fn mend_entry(entry: Option<&mut Value>, file: &[u8]) {
    if let Some(Value::Object(entry)) = entry {
        entry.insert("bytes".to_owned(), file.len().into());
        entry.insert("crc32".to_owned(), crc32fast::hash(file).into());
    }
}

/// Returns a frozen profile with one to four changes.
pub fn mutated_profile(tape: &mut Tape<'_>) -> Memory {
    let mut profile = Parsed::of(&FROZEN[tape.below(FROZEN.len())]);
    let donor = Parsed::of(&FROZEN[tape.below(FROZEN.len())]);
    let mend = tape.byte() % 8 > 0;
    for _ in 0..=tape.byte() % 4 {
        profile.mutate(tape, &donor);
    }
    profile.to_files(mend)
}

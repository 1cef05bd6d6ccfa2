//! The profile directory, its writers and its readers.
//!
//! ```text
//! NAME.tprof/
//!   manifest.json  what the run was, which files there are, their lengths and checksums; written
//!            last
//!   callpaths        the dictionary: every callpath once
//!   part-00000 ...   the values, one part for each aggregator
//! ```
//!
//! A profile is written under `NAME.tprof.unfinished-TOKEN` and renamed when it is complete, so an
//! incomplete profile never has a final name. An existing profile is never overwritten: if the name
//! is taken, the next free number is used.
//!
//! # Example
//!
//! ```
//! use tinyprof_format::file::{ProfileWriter, read_profile};
//! use tinyprof_format::model::{EventMap, PhaseTimes, RunMetadata};
//!
//! let scratch = std::env::temp_dir().join(format!("tinyprof-doc-{}", std::process::id()));
//! std::fs::create_dir_all(&scratch)?;
//! let ranks = [EventMap::default(), EventMap::default()];
//! let path = ProfileWriter::new().write(&scratch.join("empty"), &ranks)?;
//! assert_eq!(read_profile(&path)?.ranks.len(), 2);
//! # std::fs::remove_dir_all(&scratch)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod alike;
mod buffered;
mod callpaths;
mod causes;
mod check;
mod commands;
mod communication;
mod decoded_sections;
mod directory;
mod each_callpath;
mod each_causes;
mod each_events;
mod edges;
mod encoded_rank;
mod events;
mod exclusive;
mod job_commands;
mod joined;
mod keys;
mod manifest;
mod manifest_facts;
mod messages;
mod metrics;
mod names;
mod output;
mod part;
mod part_index;
mod permissions;
mod rank_values;
mod read;
mod read_options;
mod reader;
mod salvage;
mod save;
mod section;
mod series;
mod source;
mod text_part;
mod text_profile;
mod times;
mod write;

pub use alike::{JOINED_RANKS_MIN, join_alike};
pub use buffered::BufferedDirectory;
pub use callpaths::{decode_callpaths, encode_callpaths};
pub use check::{Check, Damage, FileCheck};
pub use directory::{UnfinishedProfile, remove_profile, write_part};
pub use encoded_rank::{EncodedCallpath, EncodedRank};
pub use manifest::{decode_manifest, read_manifest};
pub use manifest_facts::ManifestFacts;
pub use metrics::EncodedMetric;
pub use names::{interim_of, interim_path, name_with, numbered_path, part_path, profile_path};
pub use output::{OutputFiles, OutputFormat};
pub use part::encode_part;
pub use permissions::Permissions;
pub use read::read_profile;
pub use read_options::ReadOptions;
pub use reader::ProfileReader;
pub use save::save_profile;
pub use source::{Directory, Source};
pub use text_part::encode_text_part;
pub use text_profile::read_text_profile;
pub use write::ProfileWriter;

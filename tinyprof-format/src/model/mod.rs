//! What a profile says: plain values, without a byte layout.

mod callpath;
mod event_map;
mod facts;
mod manifest;
mod profile;
mod table;
mod values;

pub use callpath::{Callpath, CallpathId, CallpathIndex, Mode, Region, RegionKind, SiteId};
pub use event_map::EventMap;
pub use facts::{Losses, RankFacts};
pub use manifest::{CallpathFile, FORMAT_NAME, FormatVersion, Manifest, PartFile, PhaseTimes, RunMetadata};
pub use profile::Profile;
pub use table::CallpathTable;
pub use values::{CallpathValues, ExecutionSummary, SeriesBucket};

//! What a process says of itself beside its measurements.

use serde::{Deserialize, Serialize};

use crate::model::RunMetadata;

/// What a process says of itself in each of its segments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProcessDescription {
    /// The name that its profile was to have.
    pub profile: String,
    /// Equal in all processes that were started as one job on this host, and in no others.
    pub job: String,
    /// The host it ran on.
    pub host: String,
    /// The facts of its run.
    pub metadata: RunMetadata,
}

impl ProcessDescription {
    /// The description as it stands in a segment.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

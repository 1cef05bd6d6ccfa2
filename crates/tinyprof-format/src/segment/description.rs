//! The facts that a process reports about itself beside its measurements.

use serde::{Deserialize, Serialize};

use crate::model::RunMetadata;

/// The facts that a process reports about itself in each of its segments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProcessDescription {
    /// The intended name of its profile.
    pub profile: String,
    /// The id of the job: equal in all processes started as one job on this host, and different
    /// otherwise.
    pub job: String,
    /// The host where it ran.
    pub host: String,
    /// The facts of its run.
    pub metadata: RunMetadata,
}

impl ProcessDescription {
    /// Returns the description as stored in a segment.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

//! The spans that a layer records, by level and target.

use tracing_core::subscriber::Interest;
use tracing_core::{LevelFilter, Metadata};
use tracing_subscriber::layer::{Context, Filter};

use crate::collect;

/// A filter of a layer that takes spans and rejects events.
#[derive(Clone, Debug)]
pub(super) struct Spans {
    pub(super) max_level: LevelFilter,
    /// Prefixes of targets; if empty, all targets.
    pub(super) targets: Vec<String>,
}

impl Default for Spans {
    fn default() -> Self {
        Self { max_level: LevelFilter::TRACE, targets: Vec::new() }
    }
}

impl Spans {
    /// Returns whether spans of this place in the source are recorded. The answer never changes.
    #[inline]
    pub(super) fn take(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= self.max_level
            && metadata.is_span()
            && (self.targets.is_empty() || self.has_target(metadata.target()))
    }

    fn has_target(&self, target: &str) -> bool {
        self.targets.iter().any(|prefix| target.starts_with(prefix.as_str()))
    }
}

impl<S> Filter<S> for Spans {
    fn enabled(&self, metadata: &Metadata<'_>, _: &Context<'_, S>) -> bool {
        self.take(metadata) && collect::config().is_recording()
    }

    /// Answers once for each place. `tracing` then skips places that no layer takes at the cost of
    /// a load.
    fn callsite_enabled(&self, metadata: &'static Metadata<'static>) -> Interest {
        if self.take(metadata) && collect::config().is_recording() {
            Interest::always()
        } else {
            Interest::never()
        }
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.max_level)
    }
}

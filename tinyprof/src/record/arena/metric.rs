//! Varying metrics: records beside the regions', one level below the region that they are of.

use super::super::segment::Line;
use super::super::site::Site;
use super::Arena;

impl Arena {
    /// Adds a value of `metric` to the innermost open region. Owner only.
    pub(crate) fn record_innermost(&self, metric: &'static Site, value: f64) {
        self.record(self.current(), metric, value);
    }

    /// Adds a value of `metric` to the region at `line`. Owner only.
    pub(crate) fn record(&self, _line: Line, _metric: &'static Site, _value: f64) {}
}

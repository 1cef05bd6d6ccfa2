//! Waiting as CSV.

use std::io::{self, Write};

use tinyprof_format::model::CallpathIndex;

use crate::tables::put;
use crate::{Report, Waits};

const HEADINGS: [&str; 11] = [
    "kind",
    "callpath",
    "for_callpath",
    "ranks",
    "for_ranks",
    "count",
    "waiting_ns",
    "compensated_ns",
    "transfer_ns",
    "wrong_order_ns",
    "share",
];

impl Report {
    /// Writes the waiting of this report's profile as CSV, line by line, the longest first.
    ///
    /// # Errors
    /// If `to` cannot be written.
    pub fn write_waits_csv(&self, waits: &Waits, to: &mut dyn Write) -> io::Result<()> {
        put(to, HEADINGS)?;
        let path = |callpath: Option<CallpathIndex>| {
            callpath.and_then(|at| self.path(at)).unwrap_or_default()
        };
        for entry in &waits.entries {
            put(
                to,
                [
                    entry.pattern.name().to_owned(),
                    path(entry.callpath),
                    path(entry.for_callpath),
                    entry.ranks.to_string(),
                    entry.for_ranks.to_string(),
                    entry.count.to_string(),
                    entry.waiting_ns.to_string(),
                    entry.compensated_ns.to_string(),
                    entry.transfer_ns.to_string(),
                    entry.wrong_order_ns.to_string(),
                    match entry.is_startup {
                        true => String::new(),
                        false => self.base.share(entry.waiting_ns).to_string(),
                    },
                ],
            )?;
        }
        Ok(())
    }
}

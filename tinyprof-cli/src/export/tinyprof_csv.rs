//! The paper's text format.

use std::error::Error;
use std::io::Write;

use tinyprof_format::text::{Omitted, write_text};

use super::exporter::{Exporter, Notes, Request};

pub(super) struct TinyprofCsv;

impl Exporter for TinyprofCsv {
    fn export(
        &self,
        request: &Request,
        mut out: &mut (dyn Write + Send),
    ) -> Result<Notes, Box<dyn Error>> {
        let source = request.source();
        let omitted = write_text(&source.profile, &mut out)?;
        Ok(notes(&omitted).into_iter().chain(source.rounded_note()).collect())
    }
}

fn notes(omitted: &Omitted) -> Notes {
    let mut notes = Notes::new();
    let mut note = |n: u64, what: &str| {
        if n > 0 {
            notes.push(format!("not in this format: {what} ({n})"));
        }
    };
    note(omitted.metrics, "varying metrics");
    note(omitted.messages, "records of messages");
    note(omitted.edges, "edges between calls");
    note(
        omitted.sums_of_visits,
        "number, minimum and maximum of visits that only a sum is left of",
    );
    note(omitted.estimates, "standard errors of estimates");
    notes
}

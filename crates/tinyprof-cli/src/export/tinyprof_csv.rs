//! The paper's text format.

use std::error::Error;
use std::io::Write;

use tinyprof_format::text::{Omitted, TextSurvey, TextWriter};

use super::exporter::{Exporter, Notes, Request};
use super::spill::Spill;

pub(super) struct TinyprofCsv;

impl Exporter for TinyprofCsv {
    fn export(
        &self,
        request: &Request<'_>,
        mut out: &mut (dyn Write + Send),
    ) -> Result<Notes, Box<dyn Error>> {
        let source = request.source()?;
        let mut survey = TextSurvey::new(source.callpaths().len());
        source.each(|index, values| {
            survey.add(index, values);
            Ok(())
        })?;
        let writer = TextWriter::new(source.callpaths(), survey)?;
        // Callees are read before their callers, and written after them.
        let mut rows = Spill::new(&request.scratch, source.callpaths().len());
        let mut line = Vec::new();
        source.each(|index, values| {
            line.clear();
            writer.times(index, values, &mut line);
            Ok(rows.push(index.row(), &line)?)
        })?;
        let omitted = writer.write(&mut out, |index, out| rows.copy(index.row(), out))?;
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

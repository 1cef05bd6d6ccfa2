//! Parquet: one long table with a row for each execution summary and each element of a series, of
//! times and of metrics.

mod batch;
mod rows;
mod schema;

use std::error::Error;
use std::io::Write;
use std::sync::Arc;

use ::parquet::file::writer::SerializedFileWriter;

use super::exporter::{Exporter, Notes, Request};
use batch::Batch;
use rows::Texts;

pub(super) struct Parquet;

/// The number of rows compressed together. Unwritten rows are in memory, at about 100 bytes a row.
const ROWS_PER_GROUP: usize = 1 << 17;

impl Exporter for Parquet {
    fn is_text(&self) -> bool {
        false
    }

    fn export(
        &self,
        request: &Request,
        out: &mut (dyn Write + Send),
    ) -> Result<Notes, Box<dyn Error>> {
        let source = request.source();
        let texts = Texts::of(source)?;
        let schema = schema::schema()?;
        let properties = schema::properties(&schema, &source.profile.manifest)?;
        let mut writer = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties))?;
        let mut batch = Batch::default();
        for (index, callpath) in source.profile.callpaths.iter() {
            for &rank in &source.ranks {
                let values = source.profile.values(index, rank);
                for row in rows::rows(values) {
                    batch.push(&texts, callpath, index, rank, &row);
                    if batch.len() == ROWS_PER_GROUP {
                        batch.write(&mut writer)?;
                    }
                }
            }
        }
        batch.write(&mut writer)?;
        writer.close()?;
        Ok(Notes::new())
    }
}

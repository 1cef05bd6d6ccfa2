//! Parquet: one long table, a row for each execution summary and for each element of a series, of times and of metrics.
//!
//! The bytes are written here: the crate `parquet` takes longer to build than all else of this command together, and one
//! flat table needs little of the format.

mod column;
mod file;
mod rows;
mod table;
mod thrift;

use std::error::Error;
use std::io::Write;

use super::exporter::{Exporter, Notes, Request};
use file::Writer;
use rows::Texts;
use table::Table;

pub(super) struct Parquet;

/// Rows that are compressed together. What is not yet written is in memory: some 200 bytes a row.
const ROWS_PER_GROUP: usize = 1 << 17;

impl Exporter for Parquet {
    fn is_text(&self) -> bool {
        false
    }

    fn export(&self, request: &Request, out: &mut (dyn Write + Send)) -> Result<Notes, Box<dyn Error>> {
        let source = request.source();
        let texts = Texts::of(source)?;
        let mut writer = Writer::start(out)?;
        let mut table = Table::default();
        for (index, callpath) in source.profile.callpaths.iter() {
            for &rank in &source.ranks {
                for row in rows::rows(source.profile.values(index, rank)) {
                    table.push(&texts, callpath, index, u32::try_from(rank)?, &row);
                    if table.rows() == ROWS_PER_GROUP {
                        writer.row_group(&std::mem::take(&mut table).columns())?;
                    }
                }
            }
        }
        if table.rows() > 0 {
            writer.row_group(&std::mem::take(&mut table).columns())?;
        }
        writer.end(&table.columns(), &serde_json::to_string(&source.profile.manifest)?)?;
        Ok(Notes::new())
    }
}

//! CubeX 4: a tar archive of `anchor.xml`, which describes metrics, call tree and system, and of
//! one index and one data file per metric. Little endian, not compressed.
//!
//! ```text
//! N.index  "CUBEX.INDEX" | 1: u32 | version 0: u16 | sparse 1: u8 | rows: u32 | number of each
//!          row: u32 ...
//! N.data    "CUBEX.DATA"  | for each row, for each location: 8 bytes
//! ```
//!
//! The order of the rows depends on the metric. Rows of exclusive metrics are in depth-first order.
//! Rows of inclusive metrics keep all children of a node next to each other.

mod anchor;
mod cube;
mod tar;
mod tree;

use std::error::Error;
use std::io::{self, Write};

use super::exporter::{Exporter, Notes, Request};
use anchor::anchor;
use cube::Cube;

pub(super) struct CubeX;

impl Exporter for CubeX {
    fn is_text(&self) -> bool {
        false
    }

    fn export(
        &self,
        request: &Request<'_>,
        out: &mut (dyn Write + Send),
    ) -> Result<Notes, Box<dyn Error>> {
        let source = request.source()?;
        let cube = Cube::new(&source)?;
        let anchor = anchor(&cube);
        tar::header(out, "anchor.xml", anchor.len() as u64)?;
        out.write_all(anchor.as_bytes())?;
        tar::pad(out, anchor.len() as u64)?;
        let (rows, locations) = (cube.tree.len(), cube.locations.len());
        for (number, metric) in cube.metrics.iter().enumerate() {
            write_index(out, number, u32::try_from(rows)?)?;
            let length = DATA_MARKER.len() as u64 + rows as u64 * locations as u64 * 8;
            tar::header(out, &format!("{number}.data"), length)?;
            out.write_all(DATA_MARKER)?;
            for node in cube.tree.order(metric.kind) {
                for &rank in &cube.locations {
                    out.write_all(&cube.value(metric, node, rank))?;
                }
            }
            tar::pad(out, length)?;
        }
        tar::end(out)?;
        Ok(Notes::new())
    }
}

const INDEX_MARKER: &[u8] = b"CUBEX.INDEX";
const DATA_MARKER: &[u8] = b"CUBEX.DATA";

/// Writes an index that lists every row.
fn write_index(out: &mut (dyn Write + Send), metric: usize, rows: u32) -> io::Result<()> {
    let mut index = INDEX_MARKER.to_vec();
    index.extend(1_u32.to_le_bytes());
    index.extend(0_u16.to_le_bytes());
    index.push(1);
    index.extend(rows.to_le_bytes());
    index.extend((0..rows).flat_map(u32::to_le_bytes));
    tar::header(out, &format!("{metric}.index"), index.len() as u64)?;
    out.write_all(&index)?;
    tar::pad(out, index.len() as u64)
}

//! The file around the columns: pages, row groups and the footer that describes them.
//!
//! ```text
//! "PAR1" | for each row group, for each column: [dictionary page] data page | footer | its length: u32 | "PAR1"
//! page   header | bytes, compressed with Zstandard
//! ```

use std::io::{self, Write};

use super::column::{Column, PLAIN, RLE, Values};
use super::thrift::Struct;

const MAGIC: &[u8] = b"PAR1";

/// Parquet's number for Zstandard.
const ZSTD: i32 = 6;

/// Parquet's numbers for kinds of pages.
const DATA_PAGE: i32 = 0;
const DICTIONARY_PAGE: i32 = 2;

/// Zstandard's own choice between size and time.
const LEVEL: i32 = zstd::DEFAULT_COMPRESSION_LEVEL;

pub(super) struct Writer<'w> {
    out: &'w mut (dyn Write + Send),
    written_bytes: u64,
    groups: Vec<Struct>,
    rows: u64,
}

impl<'w> Writer<'w> {
    pub(super) fn start(out: &'w mut (dyn Write + Send)) -> io::Result<Self> {
        out.write_all(MAGIC)?;
        Ok(Self { out, written_bytes: MAGIC.len() as u64, groups: Vec::new(), rows: 0 })
    }

    /// Writes columns of equal length.
    pub(super) fn row_group(&mut self, columns: &[Column<'_>]) -> io::Result<()> {
        let rows = columns.first().map_or(0, |column| column.values.len()) as u64;
        let mut uncompressed_bytes = 0;
        let mut chunks = Vec::new();
        for column in columns {
            let chunk = self.chunk(column)?;
            uncompressed_bytes += chunk.uncompressed_bytes;
            chunks.push(Struct::default().i64(2, 0).inner(3, chunk.metadata(column)?));
        }
        let group = Struct::default().structs(1, chunks.into_iter());
        self.groups.push(group.i64(2, signed(uncompressed_bytes)?).i64(3, signed(rows)?));
        self.rows += rows;
        Ok(())
    }

    /// Writes the footer; `columns` are those of all groups, `manifest` goes along as text.
    pub(super) fn end(self, columns: &[Column<'_>], manifest: &str) -> io::Result<()> {
        let root = Struct::default().text(4, "tinyprof").i32(5, length(columns.len())?);
        let schema: Vec<Struct> = [root].into_iter().chain(columns.iter().map(schema_element)).collect();
        let facts = Struct::default().text(1, "tinyprof.manifest").text(2, manifest);
        let footer = Struct::default()
            .i32(1, 1)
            .structs(2, schema.into_iter())
            .i64(3, signed(self.rows)?)
            .structs(4, self.groups.into_iter())
            .structs(5, [facts].into_iter())
            .text(6, concat!("tinyprof ", env!("CARGO_PKG_VERSION")))
            .finish();
        self.out.write_all(&footer)?;
        self.out.write_all(&length(footer.len())?.to_le_bytes())?;
        self.out.write_all(MAGIC)
    }

    /// Writes the pages of a column.
    fn chunk(&mut self, column: &Column<'_>) -> io::Result<Chunk> {
        let encoded = column.values.encoded();
        let start = self.written_bytes;
        let mut chunk = Chunk {
            encodings: vec![RLE, encoded.encoding],
            dictionary_offset: None,
            data_offset: start,
            uncompressed_bytes: 0,
            compressed_bytes: 0,
        };
        if let Some(dictionary) = encoded.dictionary {
            let header = Struct::default().i32(1, length(dictionary.entries)?).i32(2, PLAIN);
            chunk.uncompressed_bytes += self.page(DICTIONARY_PAGE, 7, header, &dictionary.data)?;
            chunk.encodings.push(PLAIN);
            chunk.dictionary_offset = Some(start);
            chunk.data_offset = self.written_bytes;
        }
        let mut data = Vec::new();
        if column.is_optional {
            let presence = column.values.presence();
            data.extend(length(presence.len())?.to_le_bytes());
            data.extend(presence);
        }
        data.extend(encoded.data);
        let header = Struct::default().i32(1, length(column.values.len())?).i32(2, encoded.encoding);
        chunk.uncompressed_bytes += self.page(DATA_PAGE, 5, header.i32(3, RLE).i32(4, RLE), &data)?;
        chunk.compressed_bytes = self.written_bytes - start;
        Ok(chunk)
    }

    /// Writes a page. Gives what it would take uncompressed, header included.
    fn page(&mut self, kind: i32, field: u8, inner: Struct, data: &[u8]) -> io::Result<u64> {
        let compressed = zstd::bulk::compress(data, LEVEL)?;
        let header = Struct::default()
            .i32(1, kind)
            .i32(2, length(data.len())?)
            .i32(3, length(compressed.len())?)
            .inner(field, inner)
            .finish();
        self.out.write_all(&header)?;
        self.out.write_all(&compressed)?;
        self.written_bytes += (header.len() + compressed.len()) as u64;
        Ok((header.len() + data.len()) as u64)
    }
}

/// Where the pages of a column are.
struct Chunk {
    encodings: Vec<i32>,
    dictionary_offset: Option<u64>,
    data_offset: u64,
    uncompressed_bytes: u64,
    compressed_bytes: u64,
}

impl Chunk {
    fn metadata(&self, column: &Column<'_>) -> io::Result<Struct> {
        let metadata = Struct::default()
            .i32(1, column.values.physical_type())
            .i32s(2, &self.encodings)
            .texts(3, &[column.name])
            .i32(4, ZSTD)
            .i64(5, signed(column.values.len() as u64)?)
            .i64(6, signed(self.uncompressed_bytes)?)
            .i64(7, signed(self.compressed_bytes)?)
            .i64(9, signed(self.data_offset)?);
        Ok(match self.dictionary_offset {
            Some(offset) => metadata.i64(11, signed(offset)?),
            None => metadata,
        })
    }
}

fn schema_element(column: &Column<'_>) -> Struct {
    let values: &Values<'_> = &column.values;
    let element = Struct::default().i32(1, values.physical_type()).i32(3, column.is_optional.into());
    let element = element.text(4, column.name);
    match values.converted_type() {
        Some(converted) => element.i32(6, converted),
        None => element,
    }
}

/// A length that the format has 31 bits for.
fn length(length: usize) -> io::Result<i32> {
    i32::try_from(length)
        .map_err(|_| io::Error::other("a page would have more than 2 GiB: use --rank or --path"))
}

/// A number that the format has 63 bits for.
fn signed(number: u64) -> io::Result<i64> {
    i64::try_from(number).map_err(io::Error::other)
}

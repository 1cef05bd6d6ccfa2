//! Parquet: one long table with a row for each execution summary and each element of a series, of
//! times and of metrics, and for the messages of each kind, partner and size class. The rows of
//! callees come before those of their callers.

mod batch;
mod callees;
mod rows;
mod schema;

use std::error::Error;
use std::io::Write;
use std::sync::Arc;

use ::parquet::file::writer::SerializedFileWriter;

use super::exporter::{Exporter, Notes, Request};
use batch::Batch;
use callees::Callees;
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
        request: &Request<'_>,
        out: &mut (dyn Write + Send),
    ) -> Result<Notes, Box<dyn Error>> {
        let source = request.source()?;
        let texts = Texts::of(&source)?;
        let schema = schema::schema()?;
        let properties = schema::properties(&schema, source.manifest())?;
        let mut writer = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties))?;
        let executions = source.manifest().executions;
        let mut batch = Batch::default();
        let mut callees = Callees::default();
        source.each(|index, values| {
            let callpath = source.callpaths().get(index);
            let below = callees.take(index);
            for &rank in &source.ranks {
                let called = below.as_ref().map(|below| below[rank].as_slice());
                for row in rows::rows(&values[rank], called, rank, executions) {
                    batch.push(&texts, callpath, index, rank, &row);
                    if batch.len() == ROWS_PER_GROUP {
                        batch.write(&mut writer)?;
                    }
                }
            }
            if let Some(caller) = callpath.parent {
                callees.add(caller, values);
            }
            Ok(())
        })?;
        batch.write(&mut writer)?;
        writer.close()?;
        Ok(Notes::new())
    }
}

#[cfg(test)]
mod tests {
    use ::parquet::file::reader::{FileReader as _, SerializedFileReader};
    use ::parquet::record::{Field, Row};
    use tinyprof_format::model::MessageKind;

    use super::*;
    use crate::messages_example as example;

    #[test]
    fn messages_are_rows_of_their_own() {
        let profile = example::profile(4);
        let mut expected = Vec::new();
        // Callees come before their callers.
        for (index, _) in profile.callpaths.iter().collect::<Vec<_>>().into_iter().rev() {
            for (rank, values) in profile.values[index.row()].iter().enumerate() {
                for (&key, found) in &values.messages {
                    expected.push((
                        profile.callpaths.path(index),
                        rank,
                        key.kind.name().to_owned(),
                        tinyprof_report::partner(key, rank),
                        [key.size_class.into(), found.count, found.bytes],
                    ));
                }
            }
        }
        assert!(expected.iter().any(|row| row.2 == MessageKind::FileOut.name()));
        let mut file = Vec::new();
        Parquet.export(&Request::of_profile("run", profile), &mut file).expect("it is written");
        let reader = SerializedFileReader::new(on_disk(&file)).expect("it is read");
        let rows = reader.get_row_iter(None).expect("rows").map(|row| row.expect("a row"));
        let (mut found, mut others) = (Vec::new(), 0);
        for row in rows {
            let get = |name: &str| field(&row, name);
            if get("kind") != Field::Str("message".into()) {
                assert_eq!((get("transfer"), get("bytes")), (Field::Null, Field::Null));
                others += 1;
                continue;
            }
            assert_eq!((get("sum_ns"), get("sum")), (Field::Null, Field::Null));
            let number = |name: &str| match get(name) {
                Field::UByte(number) => number.into(),
                Field::UInt(number) => number.into(),
                Field::ULong(number) => number,
                other => panic!("{name}: {other:?}"),
            };
            let (Field::Str(path), Field::Str(transfer)) = (get("path"), get("transfer")) else {
                panic!("{row}");
            };
            let partner = match get("partner") {
                Field::Long(partner) => Some(partner),
                _ => None,
            };
            let rank = usize::try_from(number("rank")).expect("it fits");
            let numbers = ["size_class", "visits", "bytes"].map(number);
            found.push((path, rank, transfer, partner, numbers));
        }
        assert_eq!(found, expected);
        assert_eq!(others, 7 * 4);
    }

    fn on_disk(bytes: &[u8]) -> std::fs::File {
        let mut file = tempfile::tempfile().expect("a temporary file");
        file.write_all(bytes).expect("it is written");
        file
    }

    fn field(row: &Row, name: &str) -> Field {
        let mut columns = row.get_column_iter();
        columns.find(|(column, _)| *column == name).expect("the column").1.clone()
    }
}

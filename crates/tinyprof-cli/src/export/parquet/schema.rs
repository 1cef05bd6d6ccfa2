//! The columns of the table and their encodings.

use std::error::Error;

use parquet::basic::{Compression, Encoding, Type as PhysicalType, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::{ColumnPath, Type};
use tinyprof_format::model::Manifest;

/// The schema, in the order in which a batch writes the columns. Times use the columns `..._ns`,
/// metrics `sum`, `min` and `max`, messages `transfer` to `bytes`. Ids are texts, as in the report,
/// since pandas turns nullable integers into floats.
///
/// A time that equals `sum_ns` by definition is null: `min_ns` and `max_ns` of a single visit, and
/// `exclusive_ns` of a callpath without callees. Each would take as much space as the sum.
const SCHEMA: &str = "message tinyprof {
  required binary kind (STRING);
  optional binary metric (STRING);
  required binary callpath (STRING);
  optional binary parent (STRING);
  required binary path (STRING);
  required int32 rank (INTEGER(32,false));
  optional binary host (STRING);
  required int32 execution (INTEGER(32,false));
  required int32 executions (INTEGER(32,false));
  optional int64 first_visit (INTEGER(64,false));
  required int64 visits (INTEGER(64,false));
  optional int64 sum_ns (INTEGER(64,false));
  optional int64 min_ns (INTEGER(64,false));
  optional int64 max_ns (INTEGER(64,false));
  optional int64 exclusive_ns (INTEGER(64,false));
  optional double standard_error_ns;
  optional double sum;
  optional double min;
  optional double max;
  optional binary transfer (STRING);
  optional int64 partner;
  optional int32 size_class (INTEGER(8,false));
  optional int64 bytes (INTEGER(64,false));
  optional binary job (STRING);
  optional int64 date (TIMESTAMP(MILLIS,true));
}";

pub(super) fn schema() -> Result<Type, ParquetError> {
    parse_message_type(SCHEMA)
}

/// Returns the writer's properties.
///
/// All columns are compressed with Zstandard; the bytes of numbers are first grouped by
/// significance, which is smaller than a dictionary. The manifest is included as JSON.
pub(super) fn properties(
    schema: &Type,
    manifest: &Manifest,
) -> Result<WriterProperties, Box<dyn Error>> {
    let facts = KeyValue::new("tinyprof.manifest".to_owned(), serde_json::to_string(manifest)?);
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_created_by(concat!("tinyprof ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_key_value_metadata(Some(vec![facts]));
    let numbers = schema
        .get_fields()
        .iter()
        .filter(|field| field.get_physical_type() != PhysicalType::BYTE_ARRAY);
    for field in numbers {
        let column = ColumnPath::from(field.name());
        properties = properties
            .set_column_dictionary_enabled(column.clone(), false)
            .set_column_encoding(column, Encoding::BYTE_STREAM_SPLIT);
    }
    Ok(properties.build())
}

//! Rows on their way to the file, by column.

use std::io::Write;

use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use tinyprof_format::model::{Callpath, CallpathIndex};

use super::rows::{Numbers, Row, Texts};

/// A column of optional values: the values present, and a flag for each row.
struct Column<T> {
    values: Vec<T>,
    levels: Vec<i16>,
}

impl<T> Default for Column<T> {
    fn default() -> Self {
        Self { values: Vec::new(), levels: Vec::new() }
    }
}

impl<T> Column<T> {
    fn push(&mut self, value: Option<T>) {
        self.levels.push(value.is_some().into());
        self.values.extend(value);
    }
}

#[derive(Default)]
pub(super) struct Batch {
    kind: Vec<ByteArray>,
    metric: Column<ByteArray>,
    callpath: Vec<ByteArray>,
    parent: Column<ByteArray>,
    path: Vec<ByteArray>,
    rank: Vec<i32>,
    host: Column<ByteArray>,
    execution: Vec<i32>,
    executions: Vec<i32>,
    first_visit: Column<i64>,
    visits: Vec<i64>,
    /// Sum, minimum, maximum and exclusive time.
    times_ns: [Column<i64>; 4],
    standard_error_ns: Column<f64>,
    /// Sum, minimum and maximum.
    metrics: [Column<f64>; 3],
    transfer: Column<ByteArray>,
    partner: Column<i64>,
    size_class: Column<i32>,
    bytes: Column<i64>,
    job: Column<ByteArray>,
    date_ms: Column<i64>,
}

impl Batch {
    pub(super) fn len(&self) -> usize {
        self.kind.len()
    }

    /// Adds a row. Parquet has only signed integers. The bits are kept, and the schema marks the
    /// column as unsigned.
    pub(super) fn push(
        &mut self,
        texts: &Texts,
        callpath: &Callpath,
        index: CallpathIndex,
        rank: usize,
        row: &Row<'_>,
    ) {
        self.kind.push(texts.kind(row.kind));
        self.metric.push(row.metric.map(ByteArray::from));
        self.callpath.push(texts.ids[index.row()].clone());
        self.parent.push(callpath.parent.map(|parent| texts.ids[parent.row()].clone()));
        self.path.push(texts.paths[index.row()].clone());
        self.rank.push(i32::try_from(rank).unwrap_or(i32::MAX));
        self.host.push(texts.hosts[rank].clone());
        self.execution.push(row.execution.cast_signed());
        self.executions.push(row.executions.cast_signed());
        self.first_visit.push(row.first_visit.map(u64::cast_signed));
        self.visits.push(row.visits.cast_signed());
        let (mut times_ns, mut standard_error_ns, mut metrics) = ([None; 4], None, [None; 3]);
        let mut message = None;
        match row.numbers {
            Numbers::Time(time) => {
                let extreme = |at: usize| time.extrema_ns.map(|extrema_ns| extrema_ns[at]);
                times_ns = [Some(time.sum_ns), extreme(0), extreme(1), time.exclusive_ns];
                standard_error_ns = time.standard_error_ns;
            }
            Numbers::Metric(numbers) => metrics = numbers.map(Some),
            Numbers::Message(numbers) => message = Some(numbers),
        }
        self.times_ns.iter_mut().zip(times_ns).for_each(|(column, ns)| {
            column.push(ns.map(u64::cast_signed));
        });
        self.standard_error_ns.push(standard_error_ns);
        self.metrics.iter_mut().zip(metrics).for_each(|(column, number)| column.push(number));
        self.transfer.push(message.map(|message| texts.transfer(message.kind)));
        self.partner.push(message.and_then(|message| message.partner));
        self.size_class.push(message.map(|message| message.size_class.into()));
        self.bytes.push(message.map(|message| message.bytes.cast_signed()));
        self.job.push(texts.job.clone());
        self.date_ms.push(texts.date_ms);
    }

    /// Writes the collected rows as a row group, in the order of the schema, and clears them.
    pub(super) fn write<W: Write + Send>(
        &mut self,
        writer: &mut SerializedFileWriter<W>,
    ) -> Result<(), ParquetError> {
        let batch = std::mem::take(self);
        if batch.len() == 0 {
            return Ok(());
        }
        let mut group = writer.next_row_group()?;
        required::<ByteArrayType, W>(&mut group, &batch.kind)?;
        optional::<ByteArrayType, W>(&mut group, &batch.metric)?;
        required::<ByteArrayType, W>(&mut group, &batch.callpath)?;
        optional::<ByteArrayType, W>(&mut group, &batch.parent)?;
        required::<ByteArrayType, W>(&mut group, &batch.path)?;
        required::<Int32Type, W>(&mut group, &batch.rank)?;
        optional::<ByteArrayType, W>(&mut group, &batch.host)?;
        required::<Int32Type, W>(&mut group, &batch.execution)?;
        required::<Int32Type, W>(&mut group, &batch.executions)?;
        optional::<Int64Type, W>(&mut group, &batch.first_visit)?;
        required::<Int64Type, W>(&mut group, &batch.visits)?;
        for column in &batch.times_ns {
            optional::<Int64Type, W>(&mut group, column)?;
        }
        optional::<DoubleType, W>(&mut group, &batch.standard_error_ns)?;
        for column in &batch.metrics {
            optional::<DoubleType, W>(&mut group, column)?;
        }
        optional::<ByteArrayType, W>(&mut group, &batch.transfer)?;
        optional::<Int64Type, W>(&mut group, &batch.partner)?;
        optional::<Int32Type, W>(&mut group, &batch.size_class)?;
        optional::<Int64Type, W>(&mut group, &batch.bytes)?;
        optional::<ByteArrayType, W>(&mut group, &batch.job)?;
        optional::<Int64Type, W>(&mut group, &batch.date_ms)?;
        group.close()?;
        Ok(())
    }
}

type Group<'a, W> = SerializedRowGroupWriter<'a, W>;

fn required<T: DataType, W: Write + Send>(
    group: &mut Group<'_, W>,
    values: &[T::T],
) -> Result<(), ParquetError> {
    write_column::<T, W>(group, values, None)
}

fn optional<T: DataType, W: Write + Send>(
    group: &mut Group<'_, W>,
    column: &Column<T::T>,
) -> Result<(), ParquetError> {
    write_column::<T, W>(group, &column.values, Some(&column.levels))
}

fn write_column<T: DataType, W: Write + Send>(
    group: &mut Group<'_, W>,
    values: &[T::T],
    levels: Option<&[i16]>,
) -> Result<(), ParquetError> {
    let Some(mut column) = group.next_column()? else {
        return Err(ParquetError::General("the schema has fewer columns than a batch".to_owned()));
    };
    column.typed::<T>().write_batch(values, levels, None)?;
    column.close()
}

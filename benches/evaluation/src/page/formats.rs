//! Figure 9: bytes on disk and time to load, by format.

use std::path::Path;

use tinyprof_bench_collective::document::plot::{Line, Words, draw};
use tinyprof_bench_collective::document::table::{Table, float, kb, per};

use super::Rows;
use super::cells::{NOT_MEASURED, below, bold_spread, median, milliseconds, three};
use crate::formats::{Format, FormatRow};
use crate::kept::Kept;

const FORMATS: [Format; 4] = [Format::Tprof, Format::Text, Format::Csv, Format::Json];

fn name(format: Format) -> &'static str {
    match format {
        Format::Tprof => "tinyprof",
        Format::Text => "the paper's text",
        Format::Csv => "CSV",
        Format::Json => "JSON",
    }
}

/// Makes the table of real profiles.
pub(super) fn real(kept: Option<&Kept<FormatRow>>) -> String {
    of(kept, false)
}

/// Makes the table of synthetic profiles with growing numbers of ranks.
pub(super) fn wide(kept: Option<&Kept<FormatRow>>) -> String {
    of(kept, true)
}

fn of(kept: Option<&Kept<FormatRow>>, synthetic: bool) -> String {
    let Some(kept) = kept else { return NOT_MEASURED.to_owned() };
    let mut table = Table::new(&[
        "profile",
        "times",
        "format",
        "kB",
        "bytes a time",
        "size beside tinyprof",
        "load, ms",
        "load beside tinyprof",
    ]);
    let rows: Vec<&FormatRow> = kept.rows.iter().filter(|row| row.synthetic == synthetic).collect();
    for &row in &rows {
        let Some([size, load]) = beside_tprof(&rows, row) else { continue };
        table.row(&[
            format!("{}, {} ranks", row.profile, row.ranks),
            row.times.to_string(),
            name(row.format).to_owned(),
            kb(row.bytes),
            per(row.bytes, row.times),
            three(size),
            bold_spread(row.load_ns.iter().map(|&ns| milliseconds(ns))),
            three(load),
        ]);
    }
    let repetitions = rows.first().map_or(0, |row| row.load_ns.len());
    table.finish() + &below(&kept.head, repetitions)
}

fn load_ms(row: &FormatRow) -> f64 {
    median(row.load_ns.iter().map(|&ns| milliseconds(ns)))
}

/// Returns the size of a file and its time to load, as multiples of those of the same profile in
/// our format.
fn beside_tprof(rows: &[&FormatRow], row: &FormatRow) -> Option<[f64; 2]> {
    let is_same = |other: &&&FormatRow| {
        (&other.profile, other.ranks, other.format) == (&row.profile, row.ranks, Format::Tprof)
    };
    let ours = rows.iter().find(is_same)?;
    Some([float(row.bytes) / float(ours.bytes), load_ms(row) / load_ms(ours)])
}

/// Returns the size and the loading time of our format relative to another at the most ranks: below
/// 1, ours is less.
pub(super) fn of_the_widest(kept: &Kept<FormatRow>, format: Format) -> Option<[f64; 2]> {
    let rows: Vec<&FormatRow> = kept.rows.iter().filter(|row| row.synthetic).collect();
    let most = rows.iter().map(|row| row.ranks).max()?;
    let other = rows.iter().find(|row| row.ranks == most && row.format == format)?;
    beside_tprof(&rows, other).map(|ratios| ratios.map(|ratio| 1.0 / ratio))
}

pub(super) fn plot(rows: &Rows, directory: &Path) -> Result<(), String> {
    let Some(kept) = &rows.formats else { return Ok(()) };
    let lines = |value: fn(&FormatRow) -> f64| {
        FORMATS.map(|format| Line {
            name: name(format).to_owned(),
            points: kept
                .rows
                .iter()
                .filter(|row| row.synthetic && row.format == format)
                .map(|row| (f64::from(row.ranks), value(row)))
                .collect(),
        })
    };
    let words = |title, y| Words { title, x: "ranks", y, names_in_the_middle: false };
    let size = words("39 callpaths: size", "MB");
    draw(&directory.join("figure9-size.svg"), &size, &lines(|row| float(row.bytes) / 1e6))?;
    let load = words("39 callpaths: time to load", "ms");
    draw(&directory.join("figure9-load.svg"), &load, &lines(load_ms))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_stand_beside_ours_of_the_same_profile() {
        let row = |ranks, format, bytes, ms: u64| FormatRow {
            profile: "made up".into(),
            synthetic: true,
            ranks,
            times: 100,
            format,
            bytes,
            load_ns: vec![ms * 1_000_000],
        };
        let rows = vec![
            row(16, Format::Tprof, 1000, 2),
            row(16, Format::Json, 9000, 2),
            row(64, Format::Tprof, 4000, 10),
            row(64, Format::Json, 40_000, 5),
        ];
        let kept = Kept { head: crate::kept::tests::head("abc"), rows };
        let text = wide(Some(&kept));
        assert!(
            text.contains(
                "| made up, 64 ranks | 100 | JSON | 40.0 | 400 | 10.0 | **5.00** | 0.500 |"
            ),
            "{text}"
        );
        assert_eq!(of_the_widest(&kept, Format::Json), Some([0.1, 2.0]));
        assert_eq!(of_the_widest(&kept, Format::Csv), None);
        assert!(!real(Some(&kept)).contains("JSON"));
    }
}

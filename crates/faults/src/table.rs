//! The table of counts in `docs/reliability.md`, made from the lines of results.

use std::fs;
use std::io;
use std::path::Path;

use serde_json::Value;

/// Columns of the table, in the order of the fields of `Counts`.
const COLUMNS: [&str; 5] = ["faults", "profile", "segment", "nothing", "failed"];

/// Returns the table of results: a row for each loop, with the sum over all configurations.
pub(crate) fn table(results: &Path) -> io::Result<String> {
    let mut rows: Vec<(String, [u64; COLUMNS.len()])> = Vec::new();
    for line in fs::read_to_string(results)?.lines() {
        let line: Value = serde_json::from_str(line)?;
        // Each failure has an additional line.
        if line.get("faults").is_none() {
            continue;
        }
        let text = |key: &str| line.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        // Each MPI has its own rows, as the loop is run once under each.
        let part = match text("part").as_str() {
            "jobs" => {
                format!("jobs, {}", text("configuration").split(' ').next().unwrap_or_default())
            }
            "mutations" => format!("mutations, {}", text("configuration")),
            part => part.to_owned(),
        };
        let numbers = COLUMNS.map(|key| line.get(key).and_then(Value::as_u64).unwrap_or_default());
        match rows.iter_mut().find(|row| row.0 == part) {
            Some((_, sums)) => {
                sums.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += number);
            }
            None => rows.push((part, numbers)),
        }
    }
    let mut table =
        "| loop | faults | profile | recovered | nothing to keep | failed |\n|---|--:|--:|--:|--:|--:|\n"
            .to_owned();
    for (part, numbers) in rows {
        let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
        table.push_str(&format!("| {part} | {} |\n", numbers.join(" | ")));
    }
    Ok(table)
}

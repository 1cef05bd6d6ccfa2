//! The files of a step: one of each aggregator, and what a reader has to know.

use std::fs;
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use tinyprof::profile;

use crate::aggregate::Plan;
use crate::grid::Grid;

/// Writes the bytes of a file at once; where the disk is slow, this takes `slow` longer.
///
/// # Errors
///
/// The file cannot be written.
#[profile(name = "wrtData", tag = "IO")]
pub(crate) fn write(step: &Path, file: usize, bytes: &[u8], slow: Option<Duration>) -> Result<()> {
    if let Some(duration) = slow {
        std::thread::sleep(duration);
    }
    fs::write(path(step, file), bytes)
}

pub(crate) fn path(step: &Path, file: usize) -> PathBuf {
    step.join(format!("data-{file:05}"))
}

/// Writes what a reader has to know: the grid; for each file its patches and the box around them,
/// in cells; for each patch the bytes of its levels.
///
/// # Errors
///
/// The file cannot be written.
#[profile(name = "wrtMeta", tag = "IO")]
pub(crate) fn write_meta(step: &Path, grid: &Grid, plan: &Plan) -> Result<()> {
    let list =
        |values: &[usize]| values.iter().map(usize::to_string).collect::<Vec<String>>().join(" ");
    let [x, y, z] = grid.blocks;
    let mut text = format!("grid {}\n", list(&[x, y, z, grid.block, grid.patch]));
    for patches in &plan.files {
        let begins = || patches.clone().map(|patch| grid.patch_begin(patch));
        let low = |axis| begins().map(|begin| begin[axis]).min().unwrap_or(0);
        let high = |axis| begins().map(|begin| begin[axis] + grid.patch).max().unwrap_or(0);
        let ends = [patches.start, patches.end];
        let sides = [low(0), low(1), low(2), high(0), high(1), high(2)];
        text.push_str(&format!("file {}\n", list(&[&ends[..], &sides[..]].concat())));
    }
    for sizes in &plan.sizes {
        let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
        text.push_str(&format!("patch {}\n", sizes.join(" ")));
    }
    fs::write(step.join("meta"), text)
}

/// Reads what was written: the grid, which patches are in which file, and how long their levels
/// are.
///
/// # Errors
///
/// The file cannot be read, or is not one of these.
pub(crate) fn read_meta(step: &Path) -> Result<(Grid, Plan)> {
    let text = fs::read_to_string(step.join("meta"))?;
    let mut grid = None;
    let mut plan = Plan { sizes: Vec::new(), files: Vec::new() };
    for line in text.lines() {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match (word, numbers::<usize>(rest)?.as_slice()) {
            ("grid", &[x, y, z, block, patch]) => {
                grid = Some(Grid { blocks: [x, y, z], block, patch });
            }
            ("file", &[start, end, ..]) => plan.files.push(start..end),
            ("patch", _) => plan.sizes.push(numbers(rest)?),
            _ => return Err(Error::new(ErrorKind::InvalidData, format!("no such line: {line}"))),
        }
    }
    let grid = grid.ok_or_else(|| Error::new(ErrorKind::InvalidData, "no grid"))?;
    Ok((grid, plan))
}

fn numbers<T: FromStr>(text: &str) -> Result<Vec<T>> {
    let number = |word: &str| {
        word.parse().map_err(|_| Error::new(ErrorKind::InvalidData, format!("no number: {word}")))
    };
    text.split_whitespace().map(number).collect()
}

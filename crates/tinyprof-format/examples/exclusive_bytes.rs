//! How many bytes the sums of executions take, inclusive or exclusive:
//! `exclusive_bytes NAME.tprof`.
//!
//! For each callpath that calls others: its inclusive sums as a column, and its exclusive sums
//! (inclusive minus those of its children in the same execution of the same rank), and what is
//! saved where each column is the shorter of both.
#![expect(clippy::print_stdout, reason = "its numbers are what it is for")]

use std::error::Error;
use std::path::PathBuf;

use tinyprof_format::column::encode;
use tinyprof_format::file::read_profile;
use tinyprof_format::model::Profile;

fn main() -> Result<(), Box<dyn Error>> {
    let path = PathBuf::from(
        std::env::args().nth(1).ok_or("expected a profile: exclusive_bytes NAME.tprof")?,
    );
    let profile = read_profile(&path)?;
    let parts: u64 = profile.manifest.parts.iter().map(|part| part.bytes).sum();
    let (mut inclusive, mut exclusive, mut shorter) = (0, 0, 0);
    let lists = profile.callpaths.children();
    for (row, children) in (0..profile.callpaths.len()).map(|row| (row, &lists[row])) {
        if children.is_empty() {
            continue;
        }
        let children: Vec<usize> = children.iter().map(|child| child.row()).collect();
        let (all, own) = sums(&profile, row, &children);
        let (all, own) = (encode(&all).len(), encode(&own).len());
        inclusive += all;
        exclusive += own;
        shorter += all.min(own);
    }
    println!(
        "{}: parts {parts} bytes; sums of callpaths that call others: inclusive {inclusive}, exclusive {exclusive}, the \
         shorter of each {shorter}",
        path.display()
    );
    Ok(())
}

/// The inclusive and the exclusive sums of a callpath over all ranks. A negative one, as of a rank
/// whose clock stepped back, is a large one: it does not pay, but it comes back.
fn sums(profile: &Profile, row: usize, children: &[usize]) -> (Vec<u64>, Vec<u64>) {
    let (mut inclusive, mut exclusive) = (Vec::new(), Vec::new());
    for rank in 0..profile.ranks.len() {
        for summary in &profile.values[row][rank].executions {
            let of_children =
                children.iter().flat_map(|&child| &profile.values[child][rank].executions);
            let same = of_children.filter(|e| e.execution == summary.execution);
            let called = same.fold(0_u64, |sum, e| sum.wrapping_add(e.sum_ns));
            inclusive.push(summary.sum_ns);
            exclusive.push(summary.sum_ns.wrapping_sub(called));
        }
    }
    (inclusive, exclusive)
}

//! Reading back: each rank looks at its own block, at each resolution.

use std::fs;
use std::io::{Error, ErrorKind, Result};
use std::path::Path;

use crate::aggregate::Plan;
use crate::code::expand;
use crate::field::Cells;
use crate::files::{path, read_meta};
use crate::wavelet::{level_places, levels, restore, transform};

/// Reads the patches of a rank's block, and returns how many of them, at how many resolutions, are
/// not as they should be.
///
/// # Errors
///
/// A file cannot be read, or is not what was written.
pub(crate) fn count_wrong(step: &Path, rank: usize, block: &Cells) -> Result<usize> {
    let (grid, plan) = read_meta(step)?;
    let begin = grid.block_begin(rank);
    let mut wrong = 0;
    for (file, patches) in plan.files.iter().enumerate() {
        let own: Vec<usize> = patches.clone().filter(|&patch| grid.home(patch) == rank).collect();
        if own.is_empty() {
            continue;
        }
        let bytes = fs::read(path(step, file))?;
        for patch in own {
            let at = grid.patch_begin(patch);
            let inside = std::array::from_fn(|axis| at[axis] - begin[axis]);
            let mut exact = block.cut(inside, grid.patch);
            transform(&mut exact);
            let found = read_patch(&bytes, &plan, file, patch, grid.patch)?;
            // Up to each level, restored: the field at that resolution.
            let is_wrong = |level: &u32| {
                let [found, exact] = [&found, &exact].map(|patch| {
                    let mut coarse = patch.cut([0; 3], 1 << level);
                    restore(&mut coarse);
                    coarse
                });
                found != exact
            };
            wrong += (0..levels(grid.patch)).filter(is_wrong).count();
        }
    }
    Ok(wrong)
}

/// Returns a patch as it was before compression.
fn read_patch(bytes: &[u8], plan: &Plan, file: usize, patch: usize, side: usize) -> Result<Cells> {
    let no_level =
        || Error::new(ErrorKind::InvalidData, format!("no patch {patch} in file {file}"));
    let mut cells = Cells::zeros([side; 3]);
    let mut start = 0;
    for level in 0..levels(side) {
        let size = |patch: usize| {
            let size = plan.sizes.get(patch).and_then(|sizes| sizes.get(level as usize));
            size.and_then(|size| usize::try_from(*size).ok()).ok_or_else(no_level)
        };
        let patches = plan.files[file].clone();
        let sizes: Vec<usize> = patches.clone().map(size).collect::<Result<_>>()?;
        let before: usize = sizes[..patch - patches.start].iter().sum();
        let first = start + before;
        let level_bytes = bytes.get(first..first + sizes[patch - patches.start]);
        let places: Vec<_> = level_places(level).collect();
        let values = level_bytes.and_then(|bytes| expand(bytes, places.len()));
        for (place, value) in places.into_iter().zip(values.ok_or_else(no_level)?) {
            cells.set(place, value);
        }
        start += sizes.iter().sum::<usize>();
    }
    Ok(cells)
}

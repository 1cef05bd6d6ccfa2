//! Figure 9: the size of profiles on disk and the time to load them, beside the paper's text, CSV
//! and JSON.

use std::fs;
use std::hint::black_box;
use std::path::Path;

use serde::{Deserialize, Serialize};
use tinyprof::collect::monotonic_ns;
use tinyprof_bench_collective::files::directory_bytes;
use tinyprof_bench_collective::launch::output;
use tinyprof_bench_collective::map::{Shape, event_map};
use tinyprof_format::file::{Permissions, ProfileWriter, read_profile, save_profile};
use tinyprof_format::model::Profile;
use tinyprof_format::text::{read_text, write_text};

use crate::application::{Variant, Work};
use crate::content::{Time, from_csv, from_json, times, to_csv, to_json};
use crate::context::Context;

/// A profile in one format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FormatRow {
    pub(crate) profile: String,
    /// True for a synthetic profile, made for growing numbers of ranks.
    pub(crate) synthetic: bool,
    pub(crate) ranks: u32,
    /// Number of times in it.
    pub(crate) times: u64,
    pub(crate) format: Format,
    pub(crate) bytes: u64,
    /// Time to read all of it, once for each repetition.
    pub(crate) load_ns: Vec<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Format {
    Tprof,
    Text,
    Csv,
    Json,
}

/// Callpaths of a synthetic profile: as many as in the paper's Figure 7.
const CALLPATHS: u32 = 39;

/// The file with the times of 512 ranks that the authors of the paper published.
const AUTHORS: &str = "sim_vis_512_1_1_512.csv";

pub(crate) fn formats(context: &Context) -> Result<Vec<FormatRow>, String> {
    let scratch =
        tempfile::tempdir().map_err(|error| format!("cannot make a directory: {error}"))?;
    let mut rows = Vec::new();
    if context.has_mpi() {
        for ranks in [context.ranks, 16] {
            context.say(&format!("the FFT on {ranks} ranks"));
            let runs = context.size(200, 3);
            let work = Work::fft("FFT", runs, context.size(1 << 14, 1 << 10));
            let target = scratch.path().join(format!("fft-{ranks}"));
            output(context.programs.command(&work, ranks, Variant::On, &target)?)?;
            let path = target.with_extension("tprof");
            let name = format!("the FFT, {runs} transforms");
            rows.extend(measure(context, &name, false, &path)?);
        }
    }
    let authors = context.shared_data.as_ref().map(|directory| directory.join(AUTHORS));
    if let Some(text) = authors.and_then(|path| fs::read(path).ok()) {
        context.say(&format!("the authors' {AUTHORS}"));
        let profile = read_text(&text).map_err(|error| error.to_string())?.profile;
        let path = save_profile(Permissions::Private, &scratch.path().join("authors"), &profile)
            .map_err(|error| error.to_string())?;
        rows.extend(measure(context, &format!("the authors' `{AUTHORS}`"), false, &path)?);
    }
    let most = if context.small { 16 } else { 16_384 };
    for ranks in [16, 64, 1024, 2048, 4096, 8192, 16_384].into_iter().filter(|&ranks| ranks <= most)
    {
        context.say(&format!("a made-up profile of {ranks} ranks"));
        let shape = Shape { callpaths: CALLPATHS, executions: 1, iterations: 1, each: false };
        let maps: Vec<_> = (0..ranks).map(|rank| event_map(shape, rank)).collect();
        let target = scratch.path().join("synthetic");
        let written = ProfileWriter::new().with_ranks_per_part(16).write(&target, &maps);
        let path = written.map_err(|error| error.to_string())?;
        drop(maps);
        rows.extend(measure(context, "made up", true, &path)?);
        fs::remove_dir_all(&path).map_err(|error| error.to_string())?;
    }
    Ok(rows)
}

fn read(path: &Path) -> Result<Profile, String> {
    read_profile(path).map_err(|error| error.to_string())
}

/// Writes the profile at this path in all other formats, checks that each has the content of the
/// first, and times the reading.
fn measure(
    context: &Context,
    name: &str,
    synthetic: bool,
    path: &Path,
) -> Result<Vec<FormatRow>, String> {
    let profile = read(path)?;
    let rows = times(&profile);
    let mut text = Vec::new();
    write_text(&profile, &mut text).map_err(|error| error.to_string())?;
    let row = |format, bytes, load_ns| FormatRow {
        profile: name.to_owned(),
        synthetic,
        ranks: profile.manifest.ranks,
        times: rows.len() as u64,
        format,
        bytes,
        load_ns,
    };
    let repetitions = context.repetitions;
    let mut measured = vec![row(
        Format::Tprof,
        directory_bytes(path)?,
        timed(repetitions, || read(path), |read| times(read) == rows)?,
    )];
    let file = path.with_extension("other");
    let mut of_file = |format, bytes: &[u8], load: Load<'_>| -> Result<(), String> {
        fs::write(&file, bytes).map_err(|error| error.to_string())?;
        measured.push(row(format, bytes.len() as u64, load(&file)?));
        Ok(())
    };
    of_file(Format::Text, &text, &|file| {
        let load = || read_text(&bytes_of(file)?).map_err(|error| error.to_string());
        timed(repetitions, load, |read| times(&read.profile).len() == rows.len())
    })?;
    let equal = |read: &Vec<Time>| *read == rows;
    of_file(Format::Csv, &to_csv(&rows)?, &|file| {
        timed(repetitions, || from_csv(&bytes_of(file)?), equal)
    })?;
    of_file(Format::Json, &to_json(&rows)?, &|file| {
        timed(repetitions, || from_json(&bytes_of(file)?), equal)
    })?;
    Ok(measured)
}

type Load<'a> = &'a dyn Fn(&Path) -> Result<Vec<u64>, String>;

fn bytes_of(file: &Path) -> Result<Vec<u8>, String> {
    fs::read(file).map_err(|error| error.to_string())
}

/// Times the loading, once for each repetition. An untimed load comes first, to check the result.
fn timed<T>(
    repetitions: u32,
    load: impl Fn() -> Result<T, String>,
    is_right: impl FnOnce(&T) -> bool,
) -> Result<Vec<u64>, String> {
    if !is_right(&load()?) {
        return Err("a format does not give back what was written into it".to_owned());
    }
    (0..repetitions)
        .map(|_| {
            let start_ns = monotonic_ns();
            let loaded = black_box(load()?);
            let ns = monotonic_ns() - start_ns;
            drop(loaded);
            Ok(ns)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_loaded_wrongly_is_not_timed() {
        assert_eq!(timed(3, || Ok(7), |&number| number == 7).unwrap().len(), 3);
        assert!(timed(3, || Ok(8), |&number| number == 7).is_err());
    }
}

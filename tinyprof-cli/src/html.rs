//! `tinyprof html`: a profile as a single HTML page, which needs no network and runs only its own
//! scripts.
//!
//! * `payload`: the profile's data in the page. Its larger parts are `rows`, `iterations`,
//!   `executions` and `communication`; `columns` packs their numbers.
//! * `fold`: the selection of callpaths if there are too many.
//! * `page`: the page around the data; `scripts`: the modules in `web/` that draw it.

mod columns;
mod communication;
mod executions;
mod fold;
mod iterations;
mod page;
mod payload;
mod rows;
mod scripts;
mod waiting;

use std::error::Error;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tinyprof_format::model::Profile;
use tinyprof_report::Report;

use crate::arguments::HtmlArguments;
use crate::name::distinct_names;
use crate::{diff, memory, new_file, render, select};

use payload::Shown;

/// The most regions that are listed.
const REGIONS_MAX: usize = 100;

pub(crate) fn run(arguments: &HtmlArguments) -> Result<(), Box<dyn Error>> {
    let (base, new) = arguments.sides();
    let directories: Vec<&Path> = base.iter().chain(new).map(PathBuf::as_path).collect();
    let mut profiles = Vec::new();
    for (directory, name) in directories.iter().zip(distinct_names(&directories)) {
        let profile = select::select(memory::read_options().read(directory)?, &arguments.selection)
            .map_err(|error| format!("{}: {error}", directory.display()))?;
        profiles.push((name, profile));
    }
    // The first run of a side is shown in full.
    let firsts = if base.is_empty() { vec![0] } else { vec![0, base.len()] };
    let regions: Vec<Value> = firsts.iter().map(|&at| regions(&profiles[at].1)).collect();
    let (profiles, wholes) = folded(profiles);
    let shown = firsts.iter().zip(&regions).map(|(&at, regions)| {
        let (name, profile) = &profiles[at];
        let whole = wholes.get(at).map(|whole| (&whole.report, whole.rows.as_slice()));
        Shown { name, profile, regions, whole }
    });
    let shown: Vec<Shown<'_>> = shown.collect();
    let comparison = (!base.is_empty()).then(|| comparison(&profiles, base.len(), arguments));
    let page = page::of_profiles(&shown, comparison.as_ref())?;
    let names: Vec<&str> = shown.iter().map(|shown| shown.name).collect();
    let file = arguments.output.clone().unwrap_or_else(|| default_file(&names));
    if file == Path::new("-") {
        return render::output(&page);
    }
    save(&page, &file, arguments.force)?;
    if arguments.output.is_none() {
        render::notes(&[format!("wrote {}", file.display())]);
    }
    if arguments.open { open(&file) } else { Ok(()) }
}

/// Returns `NAME.html` for `NAME.tprof`, or the names of both profiles joined by `-`.
fn default_file(names: &[&str]) -> PathBuf {
    let names =
        names.iter().map(|name| name.strip_suffix(".tprof").unwrap_or(name).replace('/', "-"));
    PathBuf::from(format!("{}.html", names.collect::<Vec<_>>().join("-")))
}

/// Starts the browser, without waiting for it.
fn open(file: &Path) -> Result<(), Box<dyn Error>> {
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let started = Command::new(opener)
        .arg(file)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    started.map(drop).map_err(|error| {
        format!("cannot start {opener}: {error}; open {} in a browser", file.display()).into()
    })
}

/// Returns the regions with the most exclusive time, as in `tinyprof report --by region --json`.
fn regions(profile: &Profile) -> Value {
    let mut report = Report::of_regions(profile).to_json();
    let mut regions = match report["regions"].take() {
        Value::Array(regions) => regions,
        _ => Vec::new(),
    };
    let exclusive = |region: &Value| region["exclusive_ns"]["sum"].as_f64().unwrap_or(-1.0);
    regions.sort_by(|a, b| exclusive(b).total_cmp(&exclusive(a)));
    regions.truncate(REGIONS_MAX);
    regions.into()
}

/// The facts of a whole profile of which the page shows only some callpaths.
struct Whole {
    report: Report,
    rows: Vec<Option<usize>>,
}

/// Returns the profiles as the page shows them, and the facts of each whole profile if callpaths
/// were folded.
fn folded(profiles: Vec<(String, Profile)>) -> (Vec<(String, Profile)>, Vec<Whole>) {
    let Some(shown) = fold::shown(&profiles.iter().map(|(_, profile)| profile).collect::<Vec<_>>())
    else {
        return (profiles, Vec::new());
    };
    let mut wholes = Vec::new();
    let fold = |((name, profile), is_shown): ((String, Profile), Vec<bool>)| {
        let report = Report::of_profile(&profile);
        let fold::Folded { profile, rows } = fold::fold(profile, &is_shown);
        wholes.push(Whole { report: report.without_callpaths(), rows });
        (name, profile)
    };
    (profiles.into_iter().zip(shown).map(fold).collect(), wholes)
}

/// Returns the comparison of the first `base` profiles with the others.
fn comparison(profiles: &[(String, Profile)], base: usize, arguments: &HtmlArguments) -> Value {
    let selected = |rank: &usize| {
        let list = arguments.selection.ranks.as_ref();
        list.is_none_or(|list| u32::try_from(*rank).is_ok_and(|rank| list.contains(rank)))
    };
    let ranks = |profile: &Profile| (0..profile.ranks.len()).filter(selected).collect::<Vec<_>>();
    let ranks: Vec<Vec<usize>> = profiles.iter().map(|(_, profile)| ranks(profile)).collect();
    let sides = profiles.iter().zip(&ranks);
    let sides: Vec<diff::Side<'_>> =
        sides.map(|((name, profile), ranks)| diff::Side { name, profile, ranks }).collect();
    let (base, new) = sides.split_at(base);
    diff::sides_json(base, new)
}

/// Writes a file. An existing file is overwritten only by force. A new file that could not be
/// written completely is removed.
fn save(page: &str, path: &Path, force: bool) -> Result<(), Box<dyn Error>> {
    let mut file = if force {
        new_file::replace(path)?
    } else {
        new_file::create(path).map_err(|error| format!("{error}; --force overwrites a page"))?
    };
    file.write_all(page.as_bytes()).and_then(|()| file.flush()).map_err(|error| {
        // The first error is the one to report.
        fs::remove_file(path).ok();
        format!("cannot write {}: {error}", path.display()).into()
    })
}

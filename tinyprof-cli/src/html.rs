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

use std::error::Error;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tinyprof_format::model::Profile;
use tinyprof_report::Report;

use crate::arguments::HtmlArguments;
use crate::name::name_of;
use crate::{diff, memory, new_file, render, select};

use payload::Shown;

pub(crate) fn run(arguments: &HtmlArguments) -> Result<(), Box<dyn Error>> {
    let mut profiles = Vec::new();
    for directory in &arguments.directories {
        let profile = select::select(memory::read_options().read(directory)?, &arguments.selection)
            .map_err(|error| format!("{}: {error}", directory.display()))?;
        profiles.push((name_of(directory), profile));
    }
    let (profiles, wholes) = folded(profiles);
    let shown = profiles.iter().enumerate().map(|(at, (name, profile))| {
        let whole = wholes.get(at).map(|whole| (&whole.report, whole.rows.as_slice()));
        Shown { name, profile, whole }
    });
    let shown: Vec<Shown<'_>> = shown.collect();
    let page = page::of_profiles(&shown, comparison(&profiles, arguments).as_ref())?;
    let file = arguments.output.clone().unwrap_or_else(|| default_file(&profiles));
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
fn default_file(profiles: &[(String, Profile)]) -> PathBuf {
    let names = profiles.iter().map(|(name, _)| name.strip_suffix(".tprof").unwrap_or(name));
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

/// Returns the comparison of the first profile with the second, if there are two.
fn comparison(profiles: &[(String, Profile)], arguments: &HtmlArguments) -> Option<Value> {
    let [(base_name, base), (new_name, new)] = profiles else { return None };
    let selected = |rank: &usize| {
        let list = arguments.selection.ranks.as_ref();
        list.is_none_or(|list| u32::try_from(*rank).is_ok_and(|rank| list.contains(rank)))
    };
    let ranks = |profile: &Profile| (0..profile.ranks.len()).filter(selected).collect::<Vec<_>>();
    let (base_ranks, new_ranks) = (ranks(base), ranks(new));
    let base = diff::Side { name: base_name, profile: base, ranks: &base_ranks };
    let new = diff::Side { name: new_name, profile: new, ranks: &new_ranks };
    Some(diff::pair_json(base, new))
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

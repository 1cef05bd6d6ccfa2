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
use tinyprof_diff::{Options, Runs, Side};
use tinyprof_format::model::Profile;
use tinyprof_report::{Report, Totals};
use tinyprof_views::{Top, View as _, by_region};

use crate::arguments::{HtmlArguments, Selection};
use crate::name::distinct_names;
use crate::{new_file, render, select};
use tinyprof_report::ByCallpath;

use payload::Shown;

/// The most regions that are listed.
const REGIONS_MAX: usize = 100;

/// A profile on its way to the page.
struct Loaded<'a> {
    name: String,
    profile: Box<dyn ByCallpath + 'a>,
    whole: Option<Whole>,
    /// None if the page does not show the profile, but only compares it.
    details: Option<Details>,
}

/// The data of a profile that the page shows in full.
struct Details {
    totals: Totals,
    regions: Value,
}

/// The facts of a whole profile of which the page shows only some callpaths.
struct Whole {
    report: Report,
    rows: Vec<Option<usize>>,
}

pub(crate) fn run(arguments: &HtmlArguments) -> Result<(), Box<dyn Error>> {
    let (base, new) = arguments.sides();
    let directories: Vec<&Path> = base.iter().chain(new).map(PathBuf::as_path).collect();
    // The first run of a side is shown in full.
    let firsts = if base.is_empty() { vec![0] } else { vec![0, base.len()] };
    let profiles = loaded(&directories, &arguments.selection, &firsts)?;
    let (rules, notes) = tinyprof_rules::load(&arguments.rules.rules);
    render::notes(&notes);
    let shown = profiles.iter().filter_map(|loaded| {
        let Loaded { name, profile, whole, details } = loaded;
        let Details { totals, regions } = details.as_ref()?;
        let whole = whole.as_ref().map(|whole| (&whole.report, whole.rows.as_slice()));
        Some(Shown { name, profile: &**profile, totals, regions, rules: &rules, whole })
    });
    let shown: Vec<Shown<'_>> = shown.collect();
    let comparison =
        (!base.is_empty()).then(|| comparison(&profiles, base.len(), arguments)).transpose()?;
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

/// Opens the profiles, and computes the totals of the `firsts`.
fn loaded<'a>(
    directories: &[&Path],
    selection: &'a Selection,
    firsts: &[usize],
) -> Result<Vec<Loaded<'a>>, Box<dyn Error>> {
    let open = |directory: &&Path| {
        select::open(directory, selection).map_err(|error| select::named(directory, error))
    };
    let opened = directories.iter().map(open).collect::<Result<Vec<_>, _>>()?;
    let names = distinct_names(directories).into_iter();
    if opened.iter().any(|profile| profile.callpaths().len() > fold::CALLPATHS_MAX) {
        drop(opened);
        return folded(directories, selection, firsts);
    }
    let load = |(at, (profile, name)): (usize, (select::Selected<'a>, String))| {
        let of_first = || -> Result<Details, Box<dyn Error>> {
            let totals = profile.totals().map_err(|e| select::named(directories[at], e))?;
            let regions = regions(&totals);
            Ok(Details { totals, regions })
        };
        let details = firsts.contains(&at).then(of_first).transpose()?;
        Ok(Loaded { name, profile: Box::new(profile), whole: None, details })
    };
    opened.into_iter().zip(names).enumerate().map(load).collect()
}

/// Reads profiles of which some have more callpaths than a page can show, and folds the smaller
/// ones.
fn folded<'a>(
    directories: &[&Path],
    selection: &Selection,
    firsts: &[usize],
) -> Result<Vec<Loaded<'a>>, Box<dyn Error>> {
    let read = |directory: &&Path| {
        select::read(directory, selection).map_err(|error| select::named(directory, error))
    };
    let profiles = directories.iter().map(read).collect::<Result<Vec<Profile>, _>>()?;
    let is_shown = fold::shown(&profiles.iter().collect::<Vec<_>>());
    let names = distinct_names(directories).into_iter();
    let fold = |(at, ((profile, is_shown), name)): (usize, ((Profile, Vec<bool>), String))| {
        let (report, of_first) = {
            let totals = Totals::of_profile(&profile);
            let report = Report::of_totals(&totals).without_callpaths();
            (report, firsts.contains(&at).then(|| regions(&totals)))
        };
        let fold::Folded { profile, rows } = fold::fold(profile, &is_shown);
        let details =
            of_first.map(|regions| Details { totals: Totals::of_profile(&profile), regions });
        Loaded { name, profile: Box::new(profile), whole: Some(Whole { report, rows }), details }
    };
    Ok(profiles.into_iter().zip(is_shown).zip(names).enumerate().map(fold).collect())
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

/// Returns the regions with the most exclusive time, as in `tinyprof top --by region --json`.
fn regions(totals: &Totals) -> Value {
    // A report as a whole would hold the text of a million regions.
    Top::new(&by_region(totals), REGIONS_MAX).json().to_value()["regions"].take()
}

/// Returns the comparison of the first `base` profiles with the others by their inclusive times:
/// the output of `tinyprof diff --json`, with what `tinyprof diff` says above and below its table.
fn comparison(
    profiles: &[Loaded<'_>],
    base: usize,
    arguments: &HtmlArguments,
) -> Result<Value, Box<dyn Error>> {
    let selected = |rank: &usize| {
        let list = arguments.selection.ranks.as_ref();
        list.is_none_or(|list| u32::try_from(*rank).is_ok_and(|rank| list.contains(rank)))
    };
    let mut runs = Runs::new(Options::default());
    for (at, Loaded { name, profile, .. }) in profiles.iter().enumerate() {
        let side = if at < base { Side::Base } else { Side::New };
        let ranks: Vec<usize> = (0..profile.ranks().len()).filter(selected).collect();
        runs.add(side, name, &**profile, &ranks)?;
    }
    let diff = runs.compare();
    let mut json = diff.json().to_value();
    json["samples"] = diff.samples().into();
    json["notes"] = diff.notes().into();
    Ok(json)
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

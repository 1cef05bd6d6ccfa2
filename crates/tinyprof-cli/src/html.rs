//! `tinyprof html`: a profile as a single HTML page, which needs no network and runs only its own
//! scripts.
//!
//! * `payload`: the profile's data in the page. Its larger parts are `rows`, `iterations`,
//!   `executions` and `communication`; `columns` packs their numbers.
//! * `fold`: the selection of callpaths if there are too many.
//! * `timeline`: the events, if the profile has any.
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
mod timeline;
mod waiting;

use std::error::Error;
use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tinyprof_diff::{Options, Runs, Side};
use tinyprof_format::model::{CallpathTable, Profile};
use tinyprof_report::{Report, Totals};
use tinyprof_rules::Rules;
use tinyprof_views::{Top, View as _, by_region};

use crate::arguments::{HtmlArguments, PageArguments, Selection, TimelineArguments};
use crate::events::{
    self, EventSelection, EventVisitor, EventsProfile, NO_EVENTS, RankChoice, ShownEvents,
};
use crate::name::distinct_names;
use crate::{new_file, render, select};
use tinyprof_report::ByCallpath;

use payload::Shown;
use timeline::{Subject, Timeline};

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
    timeline: Option<Timeline>,
}

/// The facts of a whole profile of which the page shows only some callpaths.
struct Whole {
    report: Report,
    rows: Vec<Option<usize>>,
}

/// The profiles of a page, and the parts of them that it shows.
struct Wanted<'a> {
    directories: &'a [&'a Path],
    selection: &'a Selection,
    events: &'a EventSelection,
    /// The profiles that are shown in full.
    firsts: &'a [usize],
}

pub(crate) fn run(arguments: &HtmlArguments) -> Result<(), Box<dyn Error>> {
    let (base, new) = arguments.sides();
    let directories: Vec<&Path> = base.iter().chain(new).map(PathBuf::as_path).collect();
    // The first run of a side is shown in full.
    let firsts = if base.is_empty() { vec![0] } else { vec![0, base.len()] };
    let (selection, events) = (&arguments.selection, &EventSelection::default());
    let wanted = Wanted { directories: &directories, selection, events, firsts: &firsts };
    let profiles = loaded(&wanted)?;
    let (rules, notes) = tinyprof_rules::load(&arguments.rules.rules);
    render::notes(&notes);
    let shown = shown(&profiles, &rules, false);
    let comparison =
        (!base.is_empty()).then(|| comparison(&profiles, base.len(), arguments)).transpose()?;
    let page = page::of_profiles(&shown, comparison.as_ref())?;
    let names: Vec<&str> = shown.iter().map(|shown| shown.name).collect();
    finish(&page, &arguments.page, || default_file(&names, ""))
}

/// `tinyprof timeline`: the page of one profile, which opens with its events.
pub(crate) fn timeline(arguments: &TimelineArguments) -> Result<(), Box<dyn Error>> {
    let TimelineArguments { directory, ranks, path, events, page } = arguments;
    let selection = Selection { ranks: ranks.clone(), executions: None, path: path.clone() };
    let directories: &[&Path] = &[directory];
    let wanted = Wanted { directories, selection: &selection, events, firsts: &[0] };
    let profiles = loaded(&wanted)?;
    let timeline = profiles[0].details.as_ref().and_then(|details| details.timeline.as_ref());
    let Some(timeline) = timeline else { return Err(select::named(directory, NO_EVENTS.into())) };
    render::notes(&timeline.told.notes());
    let rules = Rules::default();
    let text = page::of_profiles(&shown(&profiles, &rules, true), None)?;
    finish(&text, page, || default_file(&[&profiles[0].name], "-timeline"))
}

/// Returns the page of a profile, which opens with its events if there are any.
///
/// # Errors
/// If it cannot be read, or is too large for a page.
#[cfg(feature = "top")]
pub(crate) fn page_of(directory: &Path) -> Result<String, Box<dyn Error>> {
    let (selection, events) = (Selection::default(), EventSelection::default());
    let directories = &[directory];
    let wanted = Wanted { directories, selection: &selection, events: &events, firsts: &[0] };
    page::of_profiles(&shown(&loaded(&wanted)?, &Rules::default(), true), None)
}

/// Returns the page of a running job, which gets its data from where it comes from.
#[cfg(feature = "top")]
pub(crate) fn live_page() -> String {
    page::of_a_running_job()
}

fn shown<'a>(profiles: &'a [Loaded<'a>], rules: &'a Rules, opens_timeline: bool) -> Vec<Shown<'a>> {
    let of = |loaded: &'a Loaded<'a>| {
        let Loaded { name, profile, whole, details } = loaded;
        let Details { totals, regions, timeline } = details.as_ref()?;
        let whole = whole.as_ref().map(|whole| (&whole.report, whole.rows.as_slice()));
        let (profile, timeline) = (&**profile, timeline.as_ref());
        Some(Shown { name, profile, totals, regions, timeline, opens_timeline, rules, whole })
    };
    profiles.iter().filter_map(of).collect()
}

/// Writes the page where the user wants it.
fn finish(
    page: &str,
    arguments: &PageArguments,
    default: impl FnOnce() -> PathBuf,
) -> Result<(), Box<dyn Error>> {
    let file = arguments.output.clone().unwrap_or_else(default);
    if file == Path::new("-") {
        return render::output(page);
    }
    save(page, &file, arguments.force)?;
    if arguments.output.is_none() {
        render::notes(&[format!("wrote {}", file.display())]);
    }
    if arguments.open { open(file.as_ref()) } else { Ok(()) }
}

/// Opens the profiles, and computes what is shown of those that are shown in full.
fn loaded<'a>(wanted: &Wanted<'a>) -> Result<Vec<Loaded<'a>>, Box<dyn Error>> {
    let directories = wanted.directories;
    let open = |directory: &&Path| {
        select::open(directory, wanted.selection).map_err(|error| select::named(directory, error))
    };
    let opened = directories.iter().map(open).collect::<Result<Vec<_>, _>>()?;
    let names = distinct_names(directories).into_iter();
    if opened.iter().any(|profile| profile.callpaths().len() > fold::CALLPATHS_MAX) {
        drop(opened);
        return folded(wanted);
    }
    let load = |(at, (profile, name)): (usize, (select::Selected<'a>, String))| {
        let of_first = || -> Result<Details, Box<dyn Error>> {
            let totals = profile.totals()?;
            let (regions, callpaths) = (regions(&totals), profile.callpaths());
            let timeline = wanted.timeline(at, &totals, callpaths, callpaths)?;
            Ok(Details { totals, regions, timeline })
        };
        let details = wanted.firsts.contains(&at).then(of_first).transpose();
        let details = details.map_err(|error| select::named(directories[at], error))?;
        Ok(Loaded { name, profile: Box::new(profile), whole: None, details })
    };
    opened.into_iter().zip(names).enumerate().map(load).collect()
}

/// Reads profiles of which some have more callpaths than a page can show, and folds the smaller
/// ones.
fn folded<'a>(wanted: &Wanted<'a>) -> Result<Vec<Loaded<'a>>, Box<dyn Error>> {
    let directories = wanted.directories;
    let read = |directory: &&Path| {
        select::read(directory, wanted.selection).map_err(|error| select::named(directory, error))
    };
    let profiles = directories.iter().map(read).collect::<Result<Vec<Profile>, _>>()?;
    let is_shown = fold::shown(&profiles.iter().collect::<Vec<_>>());
    let names = distinct_names(directories).into_iter();
    let fold = |(at, ((profile, is_shown), name)): (usize, ((Profile, Vec<bool>), String))| {
        let all = profile.callpaths.clone();
        let (report, regions) = {
            let totals = Totals::of_profile(&profile);
            let report = Report::of_totals(&totals).without_callpaths();
            (report, wanted.firsts.contains(&at).then(|| regions(&totals)))
        };
        let fold::Folded { profile, rows } = fold::fold(profile, &is_shown);
        let of_first = |regions| {
            let totals = Totals::of_profile(&profile);
            let timeline = wanted.timeline(at, &totals, &all, &profile.callpaths)?;
            Ok::<_, Box<dyn Error>>(Details { totals, regions, timeline })
        };
        let details = regions.map(of_first).transpose()?;
        Ok(Loaded {
            name,
            profile: Box::new(profile),
            whole: Some(Whole { report, rows }),
            details,
        })
    };
    profiles.into_iter().zip(is_shown).zip(names).enumerate().map(fold).collect()
}

impl Wanted<'_> {
    /// Returns the events of the profile at a place, if it has any and is the last that is shown in
    /// full: the page draws no others. It has rows for the callpaths `in_page`.
    fn timeline(
        &self,
        at: usize,
        totals: &Totals,
        callpaths: &CallpathTable,
        in_page: &CallpathTable,
    ) -> Result<Option<Timeline>, Box<dyn Error>> {
        if self.firsts.last() != Some(&at) {
            return Ok(None);
        }
        let directory = self.directories[at];
        let ranks = self.selection.ranks_of(totals.ranks().len());
        let each = |is_chosen: &RankChoice<'_>, visit: &mut EventVisitor<'_>| {
            events::each_in(directory, is_chosen, visit)
        };
        let is_whole = self.selection.path.is_none();
        let profile = EventsProfile { callpaths, is_whole, facts: totals.ranks() };
        let shown = ShownEvents::of(self.events, profile, &each)?;
        Timeline::of(&Subject { callpaths, in_page, totals, ranks: &ranks }, &shown)
    }
}

/// Returns `NAME.html` for `NAME.tprof`, or the names of both profiles joined by `-`.
fn default_file(names: &[&str], ending: &str) -> PathBuf {
    let names =
        names.iter().map(|name| name.strip_suffix(".tprof").unwrap_or(name).replace('/', "-"));
    PathBuf::from(format!("{}{ending}.html", names.collect::<Vec<_>>().join("-")))
}

/// Starts the browser with a file or an address, without waiting for it.
pub(crate) fn open(what: &OsStr) -> Result<(), Box<dyn Error>> {
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let started = Command::new(opener)
        .arg(what)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    started.map(drop).map_err(|error| {
        format!("cannot start {opener}: {error}; open {} in a browser", what.display()).into()
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
    let mut runs = Runs::new(Options::default());
    for (at, Loaded { name, profile, .. }) in profiles.iter().enumerate() {
        let side = if at < base { Side::Base } else { Side::New };
        let ranks = arguments.selection.ranks_of(profile.ranks().len());
        runs.add(side, name, &**profile, &ranks)?;
    }
    let diff = runs.compare();
    let mut json = diff.json().to_value();
    let differs = diff.differs().map(|differs| format!("{differs}; ")).unwrap_or_default();
    json["samples"] = format!("{differs}{}", diff.samples()).into();
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

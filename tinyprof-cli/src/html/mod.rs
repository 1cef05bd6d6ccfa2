//! `tinyprof html`: a profile as one page for the browser, which needs no network and runs nothing
//! but its own scripts.
//!
//! * `payload`: what of the profile is in the page; `rows`, `iterations`, `executions` are its
//!   larger parts, `columns` how their numbers are packed.
//! * `fold`: which callpaths of many are in it.
//! * `page`: the page around it; `scripts` are the modules that draw it, in `web/`.

mod columns;
mod executions;
mod fold;
mod iterations;
mod page;
mod payload;
mod rows;
mod scripts;

use std::error::Error;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::Path;

use serde_json::Value;
use tinyprof_format::file::read_profile_within;
use tinyprof_format::model::Profile;
use tinyprof_format::report::Report;

use crate::arguments::HtmlArguments;
use crate::name::name_of;
use crate::{diff, memory, render, select};

use payload::Shown;

pub(crate) fn run(arguments: &HtmlArguments) -> Result<(), Box<dyn Error>> {
    let mut profiles = Vec::new();
    for directory in &arguments.directories {
        let profile =
            select::select(read_profile_within(directory, memory::limits())?, &arguments.selection)
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
    if arguments.output == Path::new("-") {
        return render::output(&page);
    }
    save(&page, &arguments.output)
}

/// What is said of a profile as a whole, of which the page shows some callpaths only.
struct Whole {
    report: Report,
    rows: Vec<Option<usize>>,
}

/// The profiles as the page shows them, and what is said of each as a whole if these are not all
/// their callpaths.
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

/// What became of the first profile in the second, if there are two.
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

/// Writes a new file; what was there before is somebody's. A file that could not be written to its
/// end is removed.
fn save(page: &str, path: &Path) -> Result<(), Box<dyn Error>> {
    let fail = |error: io::Error| match error.kind() {
        ErrorKind::AlreadyExists => {
            format!(
                "{} exists already and is left as it is; name another file, or remove it",
                path.display()
            )
        }
        _ => format!("cannot create {}: {error}", path.display()),
    };
    let mut file = OpenOptions::new().write(true).create_new(true).open(path).map_err(fail)?;
    file.write_all(page.as_bytes()).and_then(|()| file.flush()).map_err(|error| {
        // The first error is the one to tell.
        fs::remove_file(path).ok();
        format!("cannot write {}: {error}", path.display()).into()
    })
}

//! One function a command: read, then render.

use std::error::Error;
use std::path::Path;

use tinyprof_format::file::{read_manifest, read_profile};
use tinyprof_format::report::{Report, TextOptions, info_text, json_text};

use crate::arguments::{Command, InfoArguments, ReportArguments, Selection, TopArguments, TreeArguments};
use crate::name::name_of;
use crate::outcome::Outcome;
use crate::{check, export, html, import, recover, render, select};

pub(crate) fn run(command: &Command) -> Result<Outcome, Box<dyn Error>> {
    match command {
        Command::Report(arguments) => report(arguments).map(Outcome::done),
        Command::Tree(arguments) => tree(arguments).map(Outcome::done),
        Command::Top(arguments) => top(arguments).map(Outcome::done),
        Command::Info(arguments) => info(arguments).map(Outcome::done),
        Command::Check(arguments) => check::run(arguments),
        Command::Export(arguments) => export::run(arguments).map(Outcome::done),
        Command::Html(arguments) => html::run(arguments).map(Outcome::done),
        Command::Import(arguments) => import::run(arguments),
        Command::Recover(arguments) => recover::run(arguments).map(Outcome::done),
    }
}

fn report(arguments: &ReportArguments) -> Result<(), Box<dyn Error>> {
    let report = report_of(&arguments.directory, &arguments.selection)?;
    if arguments.json {
        return render::output(&json_text(&report.to_json()));
    }
    let columns = arguments.width.unwrap_or_else(render::columns);
    let options = TextOptions::default().with_width(columns);
    render::output(&report.to_text(&if arguments.all { options.unfolded() } else { options }))
}

fn tree(arguments: &TreeArguments) -> Result<(), Box<dyn Error>> {
    let report = report_of(&arguments.directory, &arguments.selection)?;
    if arguments.json {
        return render::output(&json_text(&report.to_tree_json()));
    }
    render::output(&report.to_tree_text(arguments.width.unwrap_or_else(render::columns)))
}

fn top(arguments: &TopArguments) -> Result<(), Box<dyn Error>> {
    let report = report_of(&arguments.directory, &arguments.selection)?;
    let count = usize::try_from(arguments.count).unwrap_or(usize::MAX);
    if arguments.json {
        return render::output(&json_text(&report.to_top_json(count)));
    }
    render::output(&report.to_top_text(count, arguments.width.unwrap_or_else(render::columns)))
}

fn info(arguments: &InfoArguments) -> Result<(), Box<dyn Error>> {
    let manifest = read_manifest(&arguments.directory)?;
    if arguments.json {
        return render::output(&json_text(&serde_json::to_value(&manifest)?));
    }
    render::output(&info_text(&manifest))
}

fn report_of(directory: &Path, selection: &Selection) -> Result<Report, Box<dyn Error>> {
    let profile = select::select(read_profile(directory)?, selection)?;
    Ok(Report::of_profile(&profile).named(name_of(directory)))
}

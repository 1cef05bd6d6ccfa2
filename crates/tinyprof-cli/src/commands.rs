//! One function per command: read, then render.

use std::error::Error;
use std::path::{Path, PathBuf};

use tinyprof_format::file::read_manifest;
use tinyprof_report::{Report, SortKey, TextOptions, Totals};
use tinyprof_views::{
    Callpaths, EfficiencyView, MpiCallSums, MpiView, Top, Tree, by_line, by_region, info_text,
    json_text,
};

use crate::arguments::{
    Command, EfficiencyArguments, InfoArguments, MpiArguments, ReportArguments, Rows, Selection,
    TableFormat, TopArguments, TreeArguments,
};
#[cfg(feature = "top")]
use crate::live::run as watch;
use crate::name::{distinct_names, name_of};
use crate::outcome::Outcome;
use crate::{
    check, diff, documents, export, graph, grouped, html, import, launch, near, recover, render,
    rules, select, waits, why,
};
use tinyprof_report::ByCallpath as _;

/// The note below a profile without MPI calls.
const NO_MPI: &str = "to record MPI calls, start the program with tinyprof run -- mpiexec -n 4 ./a.out, or \
                      link a Rust program with tinyprof-mpi; TINYPROF_MPI=off records none";

pub(crate) fn run(command: &Command) -> Result<Outcome, Box<dyn Error>> {
    match command {
        Command::Report(arguments) => report(arguments).map(Outcome::done),
        Command::Tree(arguments) => tree(arguments).map(Outcome::done),
        Command::Top(arguments) => top(arguments).map(Outcome::done),
        Command::Mpi(arguments) => mpi(arguments).map(Outcome::done),
        Command::Why(arguments) => why::run(arguments).map(Outcome::done),
        Command::Rules(arguments) => rules::run(arguments),
        Command::Waits(arguments) => waits::run(arguments),
        Command::Classes(arguments) => graph::classes(arguments).map(Outcome::done),
        Command::Graph(arguments) => graph::graph(arguments).map(Outcome::done),
        #[cfg(feature = "top")]
        Command::Agent(arguments) => crate::live::agent(arguments).map(Outcome::done),
        #[cfg(feature = "top")]
        Command::Ctl(arguments) => crate::live::ctl(arguments).map(Outcome::done),
        #[cfg(feature = "top")]
        Command::Live(arguments) => crate::live::page(arguments).map(Outcome::done),
        #[cfg(feature = "top")]
        Command::Plug(arguments) => crate::live::plug(arguments).map(Outcome::done),
        #[cfg(feature = "top")]
        Command::Push(arguments) => crate::live::push(arguments),
        #[cfg(feature = "top")]
        Command::Save(arguments) => crate::live::save(arguments).map(Outcome::done),
        Command::Run(arguments) => launch::run(arguments),
        Command::Diff(arguments) => diff::run(arguments),
        Command::Efficiency(arguments) => efficiency(arguments).map(Outcome::done),
        Command::Info(arguments) => info(arguments).map(Outcome::done),
        Command::Check(arguments) => check::run(arguments),
        Command::Export(arguments) => export::run(arguments).map(Outcome::done),
        Command::Html(arguments) => html::run(arguments).map(Outcome::done),
        Command::Timeline(arguments) => html::timeline(arguments).map(Outcome::done),
        Command::Import(arguments) => import::run(arguments),
        Command::Recover(arguments) => recover::run(arguments).map(Outcome::done),
        Command::Completions(arguments) => documents::completions(arguments).map(Outcome::done),
        Command::Man(arguments) => documents::man(arguments).map(Outcome::done),
    }
}

/// Returns `true` for commands that read files and print a report.
pub(crate) fn prints_report(command: &Command) -> bool {
    match command {
        Command::Top(arguments) => !is_of_a_running_job(arguments),
        Command::Report(_)
        | Command::Tree(_)
        | Command::Mpi(_)
        | Command::Why(_)
        | Command::Rules(_)
        | Command::Waits(_)
        | Command::Classes(_)
        | Command::Diff(_)
        | Command::Efficiency(_)
        | Command::Info(_)
        | Command::Check(_) => true,
        _ => false,
    }
}

fn report(arguments: &ReportArguments) -> Result<(), Box<dyn Error>> {
    let ReportArguments { directory, selection, metric, by, .. } = arguments;
    let by = match by.groups() {
        Ok(rows) => rows,
        Err(groups) => return grouped::run(arguments, groups),
    };
    let options = TextOptions::default();
    let options = if arguments.all { options.unfolded() } else { options };
    if !selection.is_part() && metric.is_none() {
        let selected = select::open(directory, selection)?;
        let (why, totals, report) = why::of(&selected, &arguments.rules)?;
        let report = match by {
            Rows::Callpath => report.named(name_of(directory)),
            _ => report_of_totals(&totals, directory, selection, by),
        };
        if !matches!(arguments.output.format(), TableFormat::Text) {
            // A hint that does not know the cause could contradict it.
            let report = why.without_told(&report);
            return render::view(&Callpaths::new(&report, options), &arguments.output);
        }
        let options = options.with_width(render::columns(arguments.output.width));
        return render::text(&why.report_text(&report, &options));
    }
    let report = report_of(directory, selection, metric.as_ref(), by)?;
    render::view(&Callpaths::new(&report, options), &arguments.output)
}

fn tree(arguments: &TreeArguments) -> Result<(), Box<dyn Error>> {
    let TreeArguments { directory, selection, metric, .. } = arguments;
    let report = report_of(directory, selection, metric.as_ref(), Rows::Callpath)?;
    render::view(&Tree::new(&report), &arguments.output)
}

fn top(arguments: &TopArguments) -> Result<(), Box<dyn Error>> {
    let Some(directory) =
        arguments.directory.as_deref().filter(|_| !is_of_a_running_job(arguments))
    else {
        return watch(arguments);
    };
    let TopArguments { selection, metric, by, .. } = arguments;
    let report = report_of(directory, selection, metric.as_ref(), *by)?;
    let count = usize::try_from(arguments.count).unwrap_or(usize::MAX);
    render::view(&Top::new(&report, count), &arguments.output)
}

/// Returns `true` if `tinyprof top` should watch: it was given no profile, but another directory,
/// or none at all.
fn is_of_a_running_job(arguments: &TopArguments) -> bool {
    arguments.directory.as_ref().is_none_or(|directory| {
        let is_profile = directory.extension().is_some_and(|extension| extension == "tprof");
        directory.is_dir() && !is_profile && !directory.join("manifest.json").exists()
    })
}

/// Says why a running job is not shown.
#[cfg(not(feature = "top"))]
fn watch(_: &TopArguments) -> Result<(), Box<dyn Error>> {
    Err("running jobs are not shown by this build of the command, which is without the feature \
         `top`; name a profile, NAME.tprof or NAME-interim-NNNN.tprof"
        .into())
}

fn mpi(arguments: &MpiArguments) -> Result<(), Box<dyn Error>> {
    let selection = arguments.selection();
    let selected = select::open(&arguments.directory, &selection)?;
    let (callpaths, ranks) = (selected.callpaths(), selected.ranks());
    let mut totals = Totals::new(selected.manifest(), callpaths, ranks);
    let mut sums = MpiCallSums::new(callpaths, ranks.len());
    selected.each(&mut |index, values| {
        totals.add(index, values);
        sums.add(index, values);
        Ok(())
    })?;
    let calls = sums.calls(&totals);
    let report = report_of_totals(&totals, &arguments.directory, &selection, Rows::Callpath);
    if calls.is_empty() && !selection.is_part() {
        render::notes(&[NO_MPI.to_owned()]);
    }
    let count = usize::try_from(arguments.count).unwrap_or(usize::MAX);
    render::view(&MpiView::new(&report, &calls, count), &arguments.output)
}

fn efficiency(arguments: &EfficiencyArguments) -> Result<(), Box<dyn Error>> {
    let all = Selection { ranks: None, executions: None, path: None };
    let directories: Vec<&Path> = arguments.directories.iter().map(PathBuf::as_path).collect();
    let names = distinct_names(&directories);
    let of = |(directory, name): (&&Path, String)| {
        let totals = select::open(directory, &all).and_then(|selected| selected.totals());
        let totals = totals.map_err(|error| select::named(directory, error))?;
        Ok(Report::of_totals(&totals).named(name))
    };
    let runs = directories.iter().zip(names).map(of).collect::<Result<Vec<_>, Box<dyn Error>>>()?;
    render::view(&EfficiencyView::new(&runs), &arguments.output)
}

fn info(arguments: &InfoArguments) -> Result<(), Box<dyn Error>> {
    let manifest = read_manifest(&arguments.directory)?;
    if arguments.output.is_json() {
        return render::output(&json_text(&serde_json::to_value(&manifest)?));
    }
    render::output(&info_text(&manifest))
}

fn report_of(
    directory: &Path,
    selection: &Selection,
    metric: Option<&SortKey>,
    by: Rows,
) -> Result<Report, Box<dyn Error>> {
    let totals = select::open(directory, selection)?.totals()?;
    let report = report_of_totals(&totals, directory, selection, by);
    Ok(match metric {
        Some(metric) => {
            report.by_metric(metric.clone()).map_err(|error| near::unknown_metric(&error))?
        }
        None => report,
    })
}

fn report_of_totals(totals: &Totals, directory: &Path, selection: &Selection, by: Rows) -> Report {
    let report = match by {
        Rows::Callpath => Report::of_totals(totals),
        Rows::Region => by_region(totals),
        Rows::Line => by_line(totals),
    };
    let report = report.named(name_of(directory));
    if selection.is_part() { report.without_overhead() } else { report }
}

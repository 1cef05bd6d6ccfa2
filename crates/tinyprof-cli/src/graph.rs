//! `tinyprof graph` and `tinyprof classes`: what ranks do, as a graph, and by classes of ranks.

mod dot;
mod graphml;
mod json;

use std::error::Error;
use std::io::Write;

use tinyprof_format::file::{Directory, ProfileReader};
use tinyprof_structure::{Drawing, DrawnKind, DrawnRanks, Structure};
use tinyprof_views::json_text;

use crate::arguments::{ClassesArguments, GraphArguments, GraphFormat, GraphRanks};
use crate::name::name_of;
use crate::{export, memory, render};

/// The note below a profile without edges.
pub(crate) const NO_EDGES: &str = "to record the order of calls and who waits for whom, start the program with tinyprof run \
     -o mpi=messages -- mpiexec -n 4 ./a.out, or with TINYPROF_MPI=messages";

pub(crate) fn classes(arguments: &ClassesArguments) -> Result<(), Box<dyn Error>> {
    let structure = read(&arguments.directory, !arguments.structure_only)?;
    if !structure.is_recorded() {
        render::notes(&[NO_EDGES.to_owned()]);
    }
    let name = name_of(&arguments.directory);
    if arguments.output.is_json() {
        return render::output(&json_text(&structure.to_json(&name)));
    }
    let count = usize::try_from(arguments.count).unwrap_or(usize::MAX);
    render::text(&structure.to_text(&name, count, render::columns(arguments.width)))
}

pub(crate) fn graph(arguments: &GraphArguments) -> Result<(), Box<dyn Error>> {
    let structure = read(&arguments.directory, true)?;
    let mut notes = Vec::new();
    if !structure.is_recorded() {
        notes.push(NO_EDGES.to_owned());
    }
    let ranks = match &arguments.ranks {
        GraphRanks::All => DrawnRanks::All,
        GraphRanks::Classes => DrawnRanks::Classes,
        GraphRanks::List(list) => {
            let (ranks, highest) = (structure.ranks(), list.highest());
            if highest >= ranks {
                return Err(format!(
                    "there is no rank {highest}: the profile has {ranks} ranks, the first is rank 0"
                )
                .into());
            }
            DrawnRanks::Some((0..ranks).filter(|rank| list.contains(*rank)).collect())
        }
    };
    let drawing = structure.drawing(&ranks);
    let name = name_of(&arguments.directory);
    let notes = export::to_file(&arguments.output, |out| {
        write(arguments.format, &name, &drawing, out)?;
        Ok(notes)
    })?;
    render::notes(&notes);
    Ok(())
}

fn write(
    format: GraphFormat,
    name: &str,
    drawing: &Drawing,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    match format {
        GraphFormat::Graphml => graphml::write(name, drawing, out),
        GraphFormat::Dot => dot::write(name, drawing, out),
        GraphFormat::Json => out.write_all(json_text(&json::of(name, drawing)).as_bytes()),
    }
}

/// Returns the name of a kind of nodes.
fn kind(kind: DrawnKind) -> &'static str {
    match kind {
        DrawnKind::Begin => "begin",
        DrawnKind::Loop => "loop",
        _ => "call",
    }
}

fn read(directory: &std::path::Path, with_times: bool) -> Result<Structure, Box<dyn Error>> {
    let reader = ProfileReader::of_source(Directory::new(directory), memory::read_options())?;
    Ok(Structure::read(&reader, with_times)?)
}

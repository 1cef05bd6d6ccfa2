//! What the command says of itself for shells and for `man`: made of the same description that
//! reads the arguments.

use std::error::Error;
use std::fs;

use clap::CommandFactory as _;

use crate::arguments::{Arguments, CompletionsArguments, ManArguments};
use crate::render;

/// `tinyprof completions`.
pub(crate) fn completions(arguments: &CompletionsArguments) -> Result<(), Box<dyn Error>> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "tinyprof", &mut script);
    render::output(&String::from_utf8(script)?)
}

/// `tinyprof man`: a page for the command, and one for each of its commands.
pub(crate) fn man(arguments: &ManArguments) -> Result<(), Box<dyn Error>> {
    let directory = &arguments.directory;
    let cannot =
        |error| format!("cannot write the manual pages to {}: {error}", directory.display());
    fs::create_dir_all(directory).map_err(cannot)?;
    // The version stands in the footer; a date would make another page of each build.
    clap_mangen::generate_to(Arguments::command(), directory).map_err(cannot)?;
    Ok(())
}

//! The command's own documents, completions and man pages, generated from the description that
//! parses the arguments.

use std::error::Error;
use std::fs;

use clap::CommandFactory as _;

use crate::arguments::{Arguments, CompletionsArguments, ManArguments};
use crate::render;

/// Runs `tinyprof completions`.
pub(crate) fn completions(arguments: &CompletionsArguments) -> Result<(), Box<dyn Error>> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "tinyprof", &mut script);
    render::output(&String::from_utf8(script)?)
}

/// Runs `tinyprof man`: writes a page for the command itself and one for each subcommand.
pub(crate) fn man(arguments: &ManArguments) -> Result<(), Box<dyn Error>> {
    let directory = &arguments.directory;
    let cannot =
        |error| format!("cannot write the manual pages to {}: {error}", directory.display());
    fs::create_dir_all(directory).map_err(cannot)?;
    // The version is in the footer. A date would make every build's pages differ.
    clap_mangen::generate_to(Arguments::command(), directory).map_err(cannot)?;
    Ok(())
}

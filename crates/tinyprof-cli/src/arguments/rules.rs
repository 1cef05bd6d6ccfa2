//! Arguments of `tinyprof rules`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Arguments of `tinyprof rules`.
#[derive(Args, Debug)]
pub(crate) struct RulesArguments {
    #[command(subcommand)]
    pub(crate) command: RulesCommand,
}

/// The commands of `tinyprof rules`.
#[derive(Debug, Subcommand)]
pub(crate) enum RulesCommand {
    /// Check rules and run their test cases: say where they are wrong, and what to do
    Check {
        /// The files [default: the built-in rules, and those in ~/.config/tinyprof/rules]
        #[arg(value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Print the rules that are applied, in their order
    List {
        /// Print the facts that rules can ask, with their units
        #[arg(long)]
        facts: bool,
    },
}

/// Rules of a user, beside those in the directory of rules.
#[derive(Args, Debug)]
pub(crate) struct RuleFiles {
    /// Apply the rules of this file, too; may be repeated
    #[arg(long = "rules", value_name = "FILE")]
    pub(crate) rules: Vec<PathBuf>,
}

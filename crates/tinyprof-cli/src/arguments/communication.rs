//! Arguments of the commands on who waits for whom, and on the structure of a program.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum};

use super::output::width;
use super::{PlainOutput, RuleFiles, TableOutput, profile};
use crate::numbers::NumberList;

/// Arguments of `tinyprof why`.
#[derive(Args, Debug)]
pub(crate) struct WhyArguments {
    /// The profile: a directory NAME.tprof
    #[arg(value_name = "DIR", value_parser = profile::directory)]
    pub(crate) directory: PathBuf,
    /// Fit the text into N columns [default: the terminal's, COLUMNS, or 120]
    #[arg(long, value_name = "N", conflicts_with = "json", value_parser = width())]
    pub(crate) width: Option<u16>,
    #[command(flatten)]
    pub(crate) rules: RuleFiles,
    #[command(flatten)]
    pub(crate) output: PlainOutput,
}

/// Arguments of `tinyprof waits`.
#[derive(Args, Debug)]
pub(crate) struct WaitsArguments {
    /// The profile: a directory NAME.tprof
    #[arg(value_name = "DIR", value_parser = profile::directory)]
    pub(crate) directory: PathBuf,
    /// Only waiting of these ranks, 0-based, such as 3,8-15
    #[arg(long = "rank", value_name = "LIST")]
    pub(crate) ranks: Option<NumberList>,
    /// Only waiting in this callpath and those below it, such as 'main<exchange' or main/exchange;
    /// a name is enough if it is unique
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Option<String>,
    /// A line for each pair of ranks
    #[arg(long)]
    pub(crate) by_rank: bool,
    /// Print the times of ranks without measurement: less their own delays, and less all delays
    #[arg(long, conflicts_with_all = ["json", "format", "by_rank", "path"])]
    pub(crate) compensated: bool,
    /// The number of lines
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) count: u64,
    #[command(flatten)]
    pub(crate) output: TableOutput,
}

/// Arguments of `tinyprof classes`.
#[derive(Args, Debug)]
pub(crate) struct ClassesArguments {
    /// The profile: a directory NAME.tprof
    #[arg(value_name = "DIR", value_parser = profile::directory)]
    pub(crate) directory: PathBuf,
    /// Compare which calls ranks make and with whom, but not how long they take
    #[arg(long)]
    pub(crate) structure_only: bool,
    /// The number of calls of a class, and of its differences
    #[arg(short = 'n', long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) count: u64,
    /// Fit the tables into N columns [default: the terminal's, COLUMNS, or 120]
    #[arg(long, value_name = "N", conflicts_with = "json", value_parser = width())]
    pub(crate) width: Option<u16>,
    #[command(flatten)]
    pub(crate) output: PlainOutput,
}

/// The formats of `tinyprof graph`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    /// GraphML: networkx, Gephi, yEd, Cytoscape
    Graphml,
    /// The language of Graphviz
    Dot,
    /// Nodes, edges and messages, for programs
    Json,
}

/// The ranks of a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum GraphRanks {
    All,
    Classes,
    List(NumberList),
}

impl FromStr for GraphRanks {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "all" => Ok(Self::All),
            "classes" => Ok(Self::Classes),
            list => {
                list.parse().map(Self::List).map_err(|error| format!("{error}; or all, or classes"))
            }
        }
    }
}

/// Arguments of `tinyprof graph`.
#[derive(Args, Debug)]
pub(crate) struct GraphArguments {
    /// The profile: a directory NAME.tprof
    #[arg(value_name = "DIR", value_parser = profile::directory)]
    pub(crate) directory: PathBuf,
    /// The format to write
    #[arg(long = "to", value_name = "FORMAT")]
    pub(crate) format: GraphFormat,
    /// The file to write, - for standard output
    #[arg(short, long = "output", value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
    /// The ranks whose graphs are united: all, a list such as 3,8-15, or classes for one rank of
    /// each class
    #[arg(long, value_name = "RANKS", default_value = "all")]
    pub(crate) ranks: GraphRanks,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_of_a_graph_are_words_or_a_list() {
        assert_eq!("all".parse(), Ok(GraphRanks::All));
        assert_eq!("classes".parse(), Ok(GraphRanks::Classes));
        assert!(matches!("0,3-5".parse(), Ok(GraphRanks::List(_))));
        let error = "some".parse::<GraphRanks>().expect_err("it is neither");
        assert!(error.ends_with("; or all, or classes"), "{error}");
    }
}

//! Makes the wrappers and the table of MPI's functions from `functions.txt`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

/// One line of the table.
struct Function<'a> {
    name: &'a str,
    role: &'a str,
    texts: usize,
    arguments: Vec<&'a str>,
}

fn main() {
    println!("cargo::rerun-if-changed=functions.txt");
    let text = fs::read_to_string("functions.txt").expect("the table is part of the package");
    let functions: Vec<Function<'_>> =
        text.lines().filter(|line| !line.starts_with('#')).map(parse).collect();
    let directory = env::var_os("OUT_DIR").expect("cargo sets it");
    let write = |name, text| {
        fs::write(Path::new(&directory).join(name), text).expect("cargo's directory is writable");
    };
    write("table.rs", table(&functions));
    write("wrappers.rs", wrappers(&functions));
}

fn parse(line: &str) -> Function<'_> {
    let mut words = line.split_whitespace();
    let mut word = || words.next().unwrap_or_else(|| panic!("functions.txt: too short: {line}"));
    let (name, role) = (word(), word());
    let texts = word().parse().unwrap_or_else(|_| panic!("functions.txt: no number: {line}"));
    Function { name, role, texts, arguments: words.collect() }
}

/// Returns `CamelCase` for `kebab-case`.
fn camel(words: &str) -> String {
    let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
    words.split('-').map(capital).collect()
}

/// Returns the arrays `FUNCTIONS` and `SITES`.
fn table(functions: &[Function<'_>]) -> String {
    let known: BTreeSet<&str> = POSITIONS.into();
    let mut out = String::new();
    let count = functions.len();
    writeln!(out, "pub(crate) static FUNCTIONS: [Function; {count}] = [")
        .expect("text can be written to");
    for function in functions {
        let Function { name, role, texts, arguments } = function;
        let role = match role.strip_prefix("collective-init-") {
            Some(kind) => format!("Collective(Collective::{}, Form::Persistent)", camel(kind)),
            None => match role.strip_prefix("collective-") {
                Some(kind) => format!("Collective(Collective::{}, Form::Once)", camel(kind)),
                None => camel(role),
            },
        };
        let mut at = String::new();
        for (position, argument) in arguments.iter().enumerate() {
            if known.contains(argument) {
                write!(at, "{argument}: word_of_argument({position}), ")
                    .expect("text can be written to");
            }
        }
        let fortran = match *name {
            "Init" | "Pcontrol" => 1,
            "Init_thread" => 3,
            _ => arguments.len() + 1 + texts,
        };
        writeln!(
            out,
            "    Function {{ name: \"MPI_{name}\", role: Role::{role}, looks: Role::{role}.looks(), is_large: {}, \
             arguments: {}, \
             fortran_arguments: {fortran}, at: Positions {{ {at}..Positions::NONE }} }},",
            name.ends_with("_c"),
            arguments.len(),
        )
        .expect("text can be written to");
    }
    out.push_str("];\n");
    writeln!(
        out,
        "#[cfg_attr(target_os = \"linux\", unsafe(link_section = \"tinyprof_sites\"))]\n\
         pub(crate) static SITES: [Site; {count}] = ["
    )
    .expect("text can be written to");
    for function in functions {
        let tag = match function.name {
            "Init" | "Init_thread" => "INIT",
            name if name.starts_with("File_") => "IO",
            _ => "COMM",
        };
        writeln!(out, "    Site::mpi(\"MPI_{}\", &{tag}),", function.name)
            .expect("text can be written to");
    }
    out.push_str("];\n");
    out
}

/// Returns one entry point for each function and binding. Those that begin and end MPI are written
/// by hand, elsewhere.
fn wrappers(functions: &[Function<'_>]) -> String {
    let mut out = String::new();
    for (index, function) in functions.iter().enumerate() {
        let name = function.name;
        let lower = name.to_lowercase();
        let symbols = [
            (format!("MPI_{name}"), "C"),
            (format!("mpi_{lower}_"), "FORTRAN"),
            (format!("mpi_{lower}_f08_"), "FORTRAN_2008"),
            (format!("mpi_{lower}_f08ts_"), "FORTRAN_2008_TS"),
        ];
        for (symbol, binding) in symbols {
            writeln!(out, "wrapper!({symbol}, {index}, {binding});")
                .expect("text can be written to");
        }
    }
    out
}

/// The arguments that the wrappers look at.
const POSITIONS: [&str; 42] = [
    "comm",
    "count",
    "datatype",
    "dest",
    "fh",
    "flag",
    "group",
    "incount",
    "index",
    "indices",
    "lock_type",
    "message",
    "newcomm",
    "op",
    "origin_count",
    "origin_datatype",
    "outcount",
    "partitions",
    "rank",
    "recvbuf",
    "recvcount",
    "recvcounts",
    "recvtag",
    "recvtype",
    "recvtypes",
    "request",
    "requests",
    "result_count",
    "result_datatype",
    "root",
    "sendbuf",
    "sendcount",
    "sendcounts",
    "sendtag",
    "sendtype",
    "sendtypes",
    "source",
    "status",
    "statuses",
    "tag",
    "target_rank",
    "win",
];

//! Makes the wrappers and the table of MPI's functions from `functions.txt`.

#[path = "build/role.rs"]
mod role;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use role::Role;

/// One function of the table.
struct Function<'a> {
    name: &'a str,
    role: &'a str,
    texts: usize,
    arguments: Vec<&'a str>,
}

impl<'a> Function<'a> {
    fn parse(line: &'a str) -> Self {
        let mut words = line.split_whitespace();
        let mut word =
            || words.next().unwrap_or_else(|| panic!("functions.txt: too short: {line}"));
        let (name, role) = (word(), word());
        let texts = word().parse().unwrap_or_else(|_| panic!("functions.txt: no number: {line}"));
        Self { name, role, texts, arguments: words.collect() }
    }

    fn has(&self, argument: &str) -> bool {
        self.arguments.contains(&argument)
    }

    /// Returns the operation of all ranks of a communicator, if the function makes or prepares one.
    fn operation(&self) -> Option<&'a str> {
        self.role.strip_prefix("collective-")
    }

    /// Returns whether the function prepares an operation that others start.
    fn is_persistent(&self) -> bool {
        self.operation().is_some() && self.name.trim_end_matches("_c").ends_with("_init")
    }

    /// Returns the arguments of the function in Fortran.
    fn fortran_arguments(&self) -> usize {
        match self.name {
            "Init" | "Pcontrol" => 1,
            "Init_thread" => 3,
            _ => self.arguments.len() + 1 + self.texts,
        }
    }

    /// Returns the position of the argument in which the function of Fortran returns its code.
    fn fortran_error(&self) -> usize {
        if self.name == "Init_thread" { 2 } else { self.arguments.len() }
    }

    /// Returns the position of the first of these arguments that the function has.
    fn position(&self, names: &[&str]) -> String {
        let at = names
            .iter()
            .find_map(|name| self.arguments.iter().position(|argument| argument == name));
        at.map_or("Positions::NO".to_owned(), |at| format!("word_of_argument({at})"))
    }
}

fn main() {
    println!("cargo::rerun-if-changed=functions.txt");
    println!("cargo::rerun-if-changed=build");
    let text = fs::read_to_string("functions.txt").expect("the table is part of the package");
    let lines = || text.lines().filter(|line| !line.starts_with('#'));
    let roles: BTreeMap<&str, Role<'_>> = lines()
        .filter_map(|line| {
            let mut words = line.strip_prefix("role ")?.split_whitespace();
            let name = words.next()?;
            Some((name, Role::parse(line, words)))
        })
        .collect();
    let functions: Vec<Function<'_>> =
        lines().filter(|line| !line.starts_with("role ")).map(Function::parse).collect();
    for role in roles.keys() {
        let is_used = functions.iter().any(|function| function.role == *role);
        assert!(is_used, "functions.txt: no function has the role `{role}`");
    }
    let directory = env::var_os("OUT_DIR").expect("cargo sets it");
    let write = |name, text| {
        fs::write(Path::new(&directory).join(name), text).expect("cargo's directory is writable");
    };
    write("table.rs", table(&functions, &roles));
    write("wrappers.rs", wrappers(&functions));
}

/// Returns the arrays `FUNCTIONS` and `SITES`.
fn table(functions: &[Function<'_>], roles: &BTreeMap<&str, Role<'_>>) -> String {
    let mut out = String::new();
    let count = functions.len();
    writeln!(out, "pub(crate) static FUNCTIONS: [Function; {count}] = [")
        .expect("text can be written to");
    for function in functions {
        let role = roles.get(function.role);
        let role = role.unwrap_or_else(|| panic!("functions.txt: no role: {}", function.role));
        role.check(function);
        writeln!(out, "    {},", entry(function, role)).expect("text can be written to");
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

/// Returns one element of `FUNCTIONS`.
fn entry(function: &Function<'_>, role: &Role<'_>) -> String {
    let Function { name, arguments, .. } = function;
    let mut at = String::new();
    for (position, argument) in arguments.iter().enumerate() {
        if POSITIONS.contains(argument) {
            write!(at, "{argument}: word_of_argument({position}), ")
                .expect("text can be written to");
        }
    }
    let counts = role.counts(function);
    let fortran_arguments = function.fortran_arguments();
    format!(
        "Function {{ name: \"MPI_{name}\", is_large: {}, is_test: {}, arguments: {}, \
         fortran_arguments: {fortran_arguments}, error: word_of_argument({}), \
         looks: Looks::{}, counts: {counts}, concludes: Concludes::{}, meets: {}, {}, \
         sent: Sent {{ tag: {}, count: {}, datatype: {} }}, received_tag: {}, \
         at: Positions {{ {at}..Positions::NONE }} }}",
        name.ends_with("_c"),
        function.has("flag") || *name == "Testsome",
        arguments.len(),
        function.fortran_error(),
        role.looks(&counts),
        role.concludes(),
        role.meets(function),
        role.other_facts(function),
        function.position(&["sendtag", "tag"]),
        function.position(&["sendcount", "count"]),
        function.position(&["sendtype", "datatype"]),
        function.position(&["recvtag", "tag"]),
    )
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
const POSITIONS: [&str; 40] = [
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
    "sendtype",
    "sendtypes",
    "source",
    "status",
    "statuses",
    "tag",
    "target_rank",
    "win",
];

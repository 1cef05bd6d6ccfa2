//! Prints numbers that say how large and how tangled the code is (`scripts/counts.sh`).

use std::path::Path;

use tinyprof_architecture::counts::{Count, Counts, FILE_LINES, FUNCTION_LINES, files_that_name};
use tinyprof_architecture::source::sources;

/// The most lines of a list that are printed, without `--all`.
const SHOWN: usize = 5;

#[expect(clippy::print_stdout, reason = "the purpose of the program")]
fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the workspace");
    let shown =
        if std::env::args().any(|argument| argument == "--all") { usize::MAX } else { SHOWN };
    let rust = sources(root, &[".rs"]).expect("sources are read");
    let counts = Counts::of(&rust);
    let all = sources(root, &[".rs", ".py", ".md", ".json", ".c", ".h", ".js"])
        .expect("sources are read");
    let named = files_that_name(&["late_receiver", "LateReceiver"], &all);
    println!("{:6} Rust files, {} lines", counts.files, counts.lines);
    println!("{:6} public items", counts.public_items);
    println!("{:6} files that name late_receiver", named.len());
    let tuples: usize = counts.tuple_parameters.iter().map(|count| count.number).sum();
    print(&format!("{tuples:6} parameters that are tuples"), &counts.tuple_parameters, shown);
    let title =
        |list: &[Count], what: &str, limit| format!("{:6} {what} above {limit} lines", list.len());
    print(&title(&counts.long_files, "files", FILE_LINES), &counts.long_files, shown);
    let functions = &counts.long_functions;
    print(&title(functions, "functions", FUNCTION_LINES), functions, shown);
    let largest = counts.folders.first().map_or(0, |folder| folder.number);
    print(&format!("{largest:6} files in one folder at most"), &counts.folders, shown);
}

#[expect(clippy::print_stdout, reason = "the purpose of the program")]
fn print(title: &str, list: &[Count], shown: usize) {
    println!("{title}");
    for Count { number, of } in list.iter().take(shown) {
        println!("       {number:6} {of}");
    }
}

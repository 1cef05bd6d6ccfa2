//! Calls of Python are at the lines of the script, whichever way the program came there.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use tinyprof_format::model::Profile;

use crate::support::{library, mpiexec, profiled_with, python};

/// Returns the call sites of a profile, with the visits of all callpaths that end there.
fn sites(profile: &Profile) -> BTreeMap<String, u64> {
    let mut sites = BTreeMap::new();
    for (index, callpath) in profile.callpaths.iter() {
        if callpath.region.name.contains(" at ") {
            let executions = profile.values[index.row()].iter().flat_map(|of| &of.executions);
            let visits: u64 = executions.map(|execution| execution.visits).sum();
            *sites.entry(callpath.region.name.clone()).or_default() += visits;
        }
    }
    sites
}

/// Returns the call sites of `MPI_Barrier` that the comments of the script tell.
fn expected(script: &str) -> BTreeMap<String, u64> {
    let of_line = |(number, line): (usize, &str)| {
        let (function, count) = line.split_once("# at ")?.1.split_once(" x")?;
        let count = count.parse().expect("a number");
        Some((format!("MPI_Barrier at {function} (places.py:{number})"), count))
    };
    let marked = (1..).zip(script.lines()).filter_map(of_line);
    let made = (0..105).map(|number| {
        let (function, file, line) = (number % 7, number % 5, number % 3 + 2);
        (format!("MPI_Barrier at made_{function} (m{file}.py:{line})"), 2)
    });
    marked.chain(made).collect()
}

#[test]
fn a_call_of_python_is_at_the_line_of_the_script() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let directory = directory.path();
    let python = match python(directory) {
        Ok(python) => python,
        Err(reason) => return println!("left out: {reason}"),
    };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/places.py");
    let script = fs::read_to_string(&path).expect("it is there");
    let variables =
        [("LD_PRELOAD", library().into_os_string()), ("TINYPROF_WRAPPERS", "told_*".into())];
    for level in ["calls", "messages"] {
        let profile = profiled_with(&variables, &python, &[&path], 1, directory, level);
        let mut sites = sites(&profile);
        let line = (1..).zip(script.lines()).find(|(_, line)| line.contains("# ctypes"));
        let (line, _) = line.expect("it is marked");
        let by_ctypes = format!("MPI_Get_processor_name at by_ctypes (places.py:{line})");
        assert_eq!(sites.get(&by_ctypes), Some(&1), "{level}: {sites:#?}");
        let (line, _) = (1..)
            .zip(script.lines())
            .find(|(_, line)| line.starts_with("from mpi4py"))
            .expect("it imports it");
        let begin = format!("MPI_Init_thread at module (places.py:{line})");
        assert!(sites.contains_key(&begin), "{level}: {sites:#?}");
        sites.retain(|site, _| site.starts_with("MPI_Barrier"));
        assert_eq!(sites, expected(&script), "{level}");
        let lines = profile.callpaths.iter().map(|(_, callpath)| &callpath.region);
        for region in lines.filter(|region| region.name.contains(" at Solver.two")) {
            assert_eq!(region.file, path.to_str().expect("the build's path is text"));
            assert!(region.name.ends_with(&format!(":{})", region.line)), "{region:?}");
        }
    }
}

#[test]
fn a_script_prints_the_same_with_the_library() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let directory = directory.path();
    let python = match python(directory) {
        Ok(python) => python,
        Err(reason) => return println!("left out: {reason}"),
    };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/places.py");
    let printed = |with_library: bool| {
        let mut command = mpiexec(1);
        command.env("LD_LIBRARY_PATH", directory).env("TINYPROF_OUT", directory.join("same"));
        if with_library {
            command.env("LD_PRELOAD", library());
        }
        let output = command.arg(&python).arg(&path).output().expect("mpiexec starts");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("text")
    };
    assert_eq!(printed(true), printed(false));
}

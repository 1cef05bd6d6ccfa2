//! A directory for LLNL's `CallFlow`: a file of each profile, as Caliper writes it, for
//! `callflow --data_path DIR --profile_format caliper_json`. Several profiles are an ensemble.
//!
//! `CallFlow` calls a run as its file up to the first dot, and a region by what follows the last
//! slash in its name, so that neither may contain them. Nor may a name contain a zero, behind which
//! it does not look.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use super::exporter::{Exporter, Notes, Request};
use super::hatchet;

pub(super) struct CallFlow;

/// The characters that replace a slash and a zero in the name of a region: they look alike.
const SLASH: &str = "\u{2215}";
const ZERO: &str = "\u{2400}";

impl Exporter for CallFlow {
    fn takes_several(&self) -> bool {
        true
    }

    fn writes_directory(&self) -> bool {
        true
    }

    fn export_into(&self, request: &Request<'_>, to: &Path) -> Result<Notes, Box<dyn Error>> {
        let mut names = BTreeSet::new();
        for input in &request.inputs {
            let source = input.open()?;
            let name = run_name(&source.name, &mut names);
            let file = to.join(format!("{name}.json"));
            let created = File::create_new(&file);
            let mut out =
                BufWriter::new(created.map_err(|error| format!("{}: {error}", file.display()))?);
            hatchet::write(&source, &region_name, &mut out)?;
            out.flush()?;
        }
        Ok(Notes::new())
    }
}

/// Returns the name of a run, which none of `names` has, and adds it to them.
fn run_name(profile: &str, names: &mut BTreeSet<String>) -> String {
    let name = profile.strip_suffix(".tprof").unwrap_or(profile).replace('.', "-");
    // A file of this name is CallFlow's own.
    let name = if name == "config" { "config-run".to_owned() } else { name };
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    let mut candidates = std::iter::once(name.clone()).chain(numbered);
    let free = candidates.find(|candidate| !names.contains(candidate)).unwrap_or_default();
    names.insert(free.clone());
    free
}

fn region_name(name: &str) -> Cow<'_, str> {
    if !name.contains(['/', '\0']) {
        return Cow::Borrowed(name);
    }
    Cow::Owned(name.replace('/', SLASH).replace('\0', ZERO))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::messages_example as example;

    #[test]
    fn each_profile_is_a_file_that_no_other_has() {
        let mut request = Request::of_profile("run.1.tprof", example::profile(4));
        let again = Request::of_profile("run-1.tprof", example::profile(2));
        request.inputs.extend(again.inputs);
        request.inputs.extend(Request::of_profile("config", example::profile(1)).inputs);
        let scratch = tempfile::tempdir().expect("a directory");
        CallFlow.export_into(&request, scratch.path()).expect("it is written");
        let listed = std::fs::read_dir(scratch.path()).expect("it is there");
        let mut files: Vec<String> = listed
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        files.sort();
        assert_eq!(files, ["config-run.json", "run-1-2.json", "run-1.json"]);
        let text = std::fs::read(scratch.path().join("run-1-2.json")).expect("it can be read");
        let file: Value = serde_json::from_slice(&text).expect("JSON");
        assert_eq!(file["profile"], "run-1.tprof");
    }

    #[test]
    fn a_region_has_no_slash_and_no_zero() {
        assert_eq!(region_name("MPI_Send at a/b.c:3\0"), "MPI_Send at a\u{2215}b.c:3\u{2400}");
        assert!(matches!(region_name("main"), Cow::Borrowed("main")));
    }
}

//! The name of this run's profile.

use std::env;
use std::path::PathBuf;

use tinyprof_format::file::profile_path;

use super::choices::chosen;
use super::metadata::job_id;
use super::session::session;

/// Returns the path of the profile of this process's run.
///
/// It is `TINYPROF_OUT`, or the choice of the program, or `./EXE-JOBID.tprof` with the process id
/// if there is no job. Relative names are relative to the working directory at the time when
/// recording began.
#[must_use]
pub fn profile_name() -> PathBuf {
    let session = session();
    let name = chosen(|settings| settings.out.clone()).unwrap_or_else(|| {
        let executable = env::current_exe().unwrap_or_default();
        let stem =
            executable.file_stem().unwrap_or("profile".as_ref()).to_string_lossy().into_owned();
        let id = job_id().unwrap_or_else(|| std::process::id().to_string());
        format!("{stem}-{id}").into()
    });
    let moved =
        session.directory.as_ref().filter(|begun| env::current_dir().ok().as_ref() != Some(begun));
    profile_path(&moved.map_or(name.clone(), |begun| begun.join(&name)))
}

//! `tinyprof save --every`: interim profiles of a job that writes none itself, from the memory of
//! its threads. The job need not have flush points, and takes no notice.

use std::collections::VecDeque;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;
use std::{fs, io};

use tinyprof_format::file::{interim_path, name_with, remove_profile};

use super::save::{saved, told};
use super::told::form;
use crate::arguments::SaveArguments;
use crate::render;

/// The end of a name under which a profile is written before it gets its number.
const SAVED: &str = "-saved";

/// Saves a job each `interval` as `NAME-interim-NNNN.tprof` until it has ended, and keeps the
/// newest profiles. A job that has not begun is waited for.
///
/// # Errors
/// If a profile cannot be renamed or removed.
pub(super) fn run(arguments: &SaveArguments, interval: Duration) -> Result<(), Box<dyn Error>> {
    let name = arguments.name.as_deref().map(|name| name_with(name, SAVED));
    let (mut written, mut number) = (VecDeque::new(), 1);
    let mut is_noted = false;
    loop {
        sleep(interval);
        match saved(&arguments.on, name.as_deref()) {
            Ok(one) => {
                let Some(profile) = &one.profile else { continue };
                let path = as_interim(profile, &mut number)?;
                let who = one.json["job"].as_str().unwrap_or_default();
                told(who, path.clone()).print(form(&arguments.on))?;
                written.push_back(path);
            }
            Err(error) if written.is_empty() => {
                if !is_noted {
                    render::notes(&[format!("nothing is saved yet: {error}")]);
                }
                is_noted = true;
            }
            Err(error) => {
                let saved = number - 1;
                render::notes(&[format!(
                    "{saved} profiles were saved; now there is none: {error}"
                )]);
                return Ok(());
            }
        }
        while written.len() > arguments.keep as usize {
            written.pop_front().map_or(Ok(()), |path| remove_profile(&path))?;
        }
    }
}

/// Gives a profile the name of an interim profile, with the next number that is free.
fn as_interim(profile: &Path, number: &mut u32) -> io::Result<PathBuf> {
    let stem = profile.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let own = profile.with_file_name(stem.rsplit_once(SAVED).map_or(&*stem, |(own, _)| own));
    loop {
        let path = interim_path(&own, *number);
        *number += 1;
        if !path.exists() {
            fs::rename(profile, &path)?;
            return Ok(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_on_behind_those_that_are_there() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let make = |name: &str| {
            let path = place.path().join(name);
            fs::create_dir(&path).expect("a directory");
            path
        };
        make("lu-interim-0002.tprof");
        let mut number = 1;
        for expected in ["lu-interim-0001.tprof", "lu-interim-0003.tprof"] {
            let path = as_interim(&make("lu-saved-4.tprof"), &mut number).expect("it is renamed");
            assert_eq!(path, place.path().join(expected));
            assert!(path.is_dir());
        }
        for name in ["a/lu", "a/lu.tprof"] {
            assert_eq!(name_with(Path::new(name), SAVED), Path::new("a/lu-saved"));
        }
        assert_eq!(name_with(Path::new("v1.2"), SAVED), Path::new("v1.2-saved"));
    }
}

//! `tinyprof check --salvage`: a profile of the intact parts of a damaged one.

use std::error::Error;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tinyprof_format::file::{profile_path, save_profile};
use tinyprof_format::model::Salvage;
use tinyprof_report::escaped;

use crate::{memory, permissions};

/// The salvaged profile, and its location.
pub(crate) struct Salvaged {
    path: PathBuf,
    salvage: Salvage,
    ranks: usize,
    callpaths: usize,
}

/// Reads the intact parts in `directory` and writes them as `output`.
pub(crate) fn salvage(directory: &Path, output: &Path) -> Result<Salvaged, Box<dyn Error>> {
    let profile = memory::read_options().salvage(directory)?;
    let path = save_profile(permissions::permissions(), &profile_path(output), &profile)?;
    let salvage = profile.manifest.salvage.unwrap_or_default();
    Ok(Salvaged { path, salvage, ranks: profile.ranks.len(), callpaths: profile.callpaths.len() })
}

impl Salvaged {
    /// Returns `true` if nothing was lost.
    pub(crate) fn is_whole(&self) -> bool {
        self.salvage == Salvage::default()
    }

    pub(crate) fn to_text(&self) -> String {
        let path = escaped(&self.path.display().to_string());
        let lost = if self.is_whole() {
            "nothing was lost".to_owned()
        } else {
            format!("lost: {}", self.salvage.summary())
        };
        format!("{path}: {} ranks, {} callpaths; {lost}\n", self.ranks, self.callpaths)
    }

    pub(crate) fn to_json(&self) -> Value {
        json!({
            "profile": self.path.to_string_lossy(),
            "ranks": self.ranks,
            "callpaths": self.callpaths,
            "whole": self.is_whole(),
            "salvage": self.salvage,
        })
    }
}

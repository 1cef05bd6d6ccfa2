//! Salvage of damaged profiles. A damaged section costs only that section, and a missing file only
//! that file.
//!
//! Missing data is never invented: lost values are read as no visits, and all losses are counted.

mod dictionary;
mod found;
mod part;

use std::path::Path;

use super::causes;
use super::manifest;
use super::read::{empty_values, memory_limit, take_ranks};
use super::source::{Directory, Source};
use super::{ManifestFacts, ReadOptions};
use crate::error::ReadError;
use crate::model::{
    CallpathFile, CallpathValues, FORMAT_NAME, FormatVersion, Losses, Manifest, PartFile,
    PeakMemory, Profile, RankFacts, RunMetadata, Salvage,
};

impl ReadOptions {
    /// Reads all intact data of the profile in `directory`, within the memory limit. The field
    /// `salvage` of its manifest lists the losses. An intact profile is returned unchanged, with a
    /// `salvage` of zeros.
    ///
    /// ```
    /// use tinyprof_format::file::{ProfileWriter, ReadOptions};
    /// use tinyprof_format::model::EventMap;
    ///
    /// let scratch = std::env::temp_dir().join(format!("tinyprof-salvage-{}", std::process::id()));
    /// std::fs::create_dir_all(&scratch)?;
    /// let ranks = [EventMap::default(), EventMap::default()];
    /// let path = ProfileWriter::new().write(&scratch.join("run"), &ranks)?;
    /// std::fs::remove_file(path.join("part-00001"))?;
    /// let salvaged = ReadOptions::default().salvage(&path)?;
    /// let salvage = salvaged.manifest.salvage.unwrap_or_default();
    /// assert_eq!((salvage.parts_lost, salvage.ranks_lost), (1, 1));
    /// # std::fs::remove_dir_all(&scratch)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If nothing of a profile is left, if it is of a newer major version, or if it is too large
    /// for the memory limit.
    pub fn salvage(self, directory: &Path) -> Result<Profile, ReadError> {
        self.salvage_of(&Directory::new(directory))
    }

    /// Salvages the profile whose files are in `source`.
    ///
    /// # Errors
    /// As [`salvage`](Self::salvage).
    pub fn salvage_of(self, source: &dyn Source) -> Result<Profile, ReadError> {
        let mut salvage = Salvage::default();
        let mut manifest = match manifest::read(source, self) {
            Ok(manifest) => manifest,
            Err(error @ (ReadError::NewerVersion { .. } | ReadError::OverLimit { .. })) => {
                return Err(error);
            }
            Err(error) => {
                salvage.manifest_lost = true;
                found::manifest(source).ok_or(error)?
            }
        };
        let memory_limit = memory_limit(source, &manifest, self);
        let dictionary =
            dictionary::salvage(source, &manifest.callpaths, &memory_limit, &mut salvage)?;
        let parts = in_order(manifest.parts.clone(), &mut manifest.ranks, &mut salvage);
        let ranks = manifest.ranks as usize;
        let mut values = empty_values(source, dictionary.table.len(), ranks, &memory_limit)?;
        let mut rest: Vec<&mut [CallpathValues]> =
            values.iter_mut().map(Vec::as_mut_slice).collect();
        let mut facts: Vec<RankFacts> = Vec::new();
        for file in &parts {
            let missing = file.first_rank as usize - facts.len();
            drop(take_ranks(&mut rest, missing));
            facts.resize(facts.len() + missing, RankFacts::default());
            let mut here = take_ranks(&mut rest, file.ranks as usize);
            facts.extend(part::salvage(
                source,
                (file, manifest.version),
                &dictionary,
                &mut here,
                &memory_limit,
                &mut salvage,
            )?);
        }
        facts.resize(ranks, RankFacts::default());
        causes::share_activities(&mut facts);
        let mut profile = Profile { manifest, callpaths: dictionary.table, ranks: facts, values };
        mark(&mut profile, salvage);
        Ok(profile)
    }
}

/// Returns the parts by first rank, without those that overlap others. Ranks in no part are lost.
fn in_order(mut parts: Vec<PartFile>, ranks: &mut u32, salvage: &mut Salvage) -> Vec<PartFile> {
    parts.sort_by_key(|part| part.first_rank);
    let mut next = 0_u64;
    parts.retain(|part| {
        let end = u64::from(part.first_rank) + u64::from(part.ranks);
        let fits = u64::from(part.first_rank) >= next && end <= u64::from(u32::MAX);
        if fits {
            salvage.ranks_lost +=
                u32::try_from(u64::from(part.first_rank) - next).unwrap_or(u32::MAX);
            next = end;
        } else {
            salvage.parts_lost += 1;
        }
        fits
    });
    let next = u32::try_from(next).unwrap_or(u32::MAX);
    salvage.ranks_lost = salvage.ranks_lost.saturating_add(ranks.saturating_sub(next));
    *ranks = next.max(*ranks);
    parts
}

/// Enters the losses into the manifest, and facts from the ranks where no other source is left.
fn mark(profile: &mut Profile, salvage: Salvage) {
    let Profile { manifest, ranks, values, .. } = profile;
    if salvage.manifest_lost {
        let ends = values.iter().flatten().filter_map(|values| values.executions.last());
        manifest.executions =
            ends.map(|e| e.execution.saturating_add(e.executions)).max().unwrap_or(0);
        let mut facts = ManifestFacts::default();
        for rank in ranks.iter().filter(|rank| !rank.host.is_empty()) {
            facts.absorb(ManifestFacts {
                executions: 0,
                losses: rank.losses,
                peak_memory: PeakMemory::of_one_rank(rank.peak_memory_bytes),
                hosts: vec![rank.host.clone()],
            });
        }
        (manifest.losses, manifest.peak_memory) = (facts.losses, facts.peak_memory);
        manifest.metadata.jobsize = manifest.ranks;
        manifest.metadata.numhosts = u32::try_from(facts.hosts.len()).unwrap_or(u32::MAX);
        manifest.metadata.hostlist = facts.hosts;
    }
    if salvage != Salvage::default() {
        let before = manifest.incomplete_because.take();
        let before = before.map_or_else(String::new, |because| format!("; before that: {because}"));
        manifest.complete = false;
        manifest.incomplete_because = Some(format!(
            "it was salvaged from a damaged profile, without {}{before}",
            salvage.summary()
        ));
    }
    manifest.salvage = Some(salvage);
}

/// Returns a manifest that contains only the list of files.
fn bare_manifest(callpaths: u32, parts: Vec<PartFile>) -> Manifest {
    let file = CallpathFile { file: "callpaths".to_owned(), callpaths, ..CallpathFile::default() };
    Manifest {
        format: FORMAT_NAME.to_owned(),
        version: FormatVersion::USUAL,
        ranks: 0,
        executions: 0,
        callpaths: file,
        parts,
        metadata: RunMetadata::default(),
        complete: false,
        incomplete_because: None,
        precision: crate::model::Precision::Exact,
        salvage: None,
        peak_memory: PeakMemory::default(),
        losses: Losses::default(),
        flush: crate::model::PhaseTimes::default(),
        interim_profiles: crate::model::InterimTimes::default(),
        profile_id: None,
    }
}

//! What tests ask of the profiles that a command has written.

use std::path::Path;

use tinyprof_format::file::read_profile;
use tinyprof_format::model::Profile;

pub(crate) fn profile(place: &Path, name: &str) -> Profile {
    read_profile(&place.join(name)).expect("a profile")
}

/// Returns the visits of all callpaths of a region, by rank.
pub(crate) fn visits_by_rank(profile: &Profile, name: &str) -> Vec<u64> {
    let callpaths = profile.callpaths.iter().zip(&profile.values);
    let of_region = callpaths.filter(|((_, callpath), _)| &*callpath.region.name == name);
    let rows: Vec<_> = of_region.map(|(_, row)| row).collect();
    (0..profile.ranks.len()).map(|rank| rows.iter().map(|row| row[rank].visits()).sum()).collect()
}

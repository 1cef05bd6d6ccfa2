//! Which of several activities of a group comes first.

use super::evidence::Compared;
use super::groups::Group;
use crate::facts::activities::Doing;
use crate::facts::run::Run;

/// The part of the costliest activity's waiting from which on another one is as good a cause.
const NEAR_PART: f64 = 0.5;

/// Moves the activity to the front that is nearly as costly as the first one, and that the ranks do
/// longer than others by more: to do the first one as long as others would gain less.
pub(super) fn begin_with_longer(run: &Run, group: &mut Group) {
    let Some((_, first_ns)) = group.activities.first().copied() else { return };
    let gain_ns = |(doing, ns): (Doing, f64)| {
        let compared = Compared::with_all(run, doing, &group.ranks);
        let longer = compared
            .filter(|one| one.here.ns > 0.0)
            .map_or(0.0, |one| (1.0 - one.elsewhere.ns / one.here.ns).max(0.0));
        longer * ns
    };
    let near = group.activities.iter().enumerate();
    let near = near.filter(|(_, (_, ns))| *ns >= NEAR_PART * first_ns);
    let gains = near.map(|(place, of)| (place, gain_ns(*of)));
    // Of equal ones the first.
    let most = gains.reduce(|most, one| if one.1 > most.1 { one } else { most });
    if let Some((place, _)) = most {
        let activity = group.activities.remove(place);
        group.activities.insert(0, activity);
    }
}

//! The number that links a profile to the segments of the processes it was written from.

use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The number of one attempt to write a profile, stored in its manifest and in the segments of all
/// its ranks.
///
/// A process that is killed between the last step of writing and the removal of its segments leaves
/// both. The number shows for certain that the profile holds the data of the segments.
///
/// ```
/// use tinyprof_format::model::ProfileId;
///
/// let id = ProfileId::of(&[0x1234, 42, 7]);
/// assert_eq!(id.to_string().parse(), Ok(id));
/// assert_eq!(ProfileId::from_word(id.to_word()), Some(id));
/// assert_ne!(id, ProfileId::of(&[0x1234, 42, 8]));
/// assert_eq!(ProfileId::from_word(0), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct ProfileId(NonZeroU64);

/// The error for a text that is not a [`ProfileId`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoProfileId;

impl ProfileId {
    /// Returns the number made of `words`, which together name one moment of one process: boot, PID
    /// namespace, process id, and the time since boot in nanoseconds. Equal words give equal
    /// numbers.
    #[must_use]
    pub fn of(words: &[u64]) -> Self {
        // The finalizer of SplitMix64 after each word, so that neighbouring times differ in many
        // bits.
        let mixed = words.iter().fold(0x9e37_79b9_7f4a_7c15_u64, |state, word| {
            let state = (state ^ word).wrapping_add(0x9e37_79b9_7f4a_7c15);
            let state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            state ^ (state >> 31)
        });
        Self(NonZeroU64::new(mixed).unwrap_or(NonZeroU64::MAX))
    }

    /// Returns the number stored as `word` in a segment; none for 0.
    #[must_use]
    pub fn from_word(word: u64) -> Option<Self> {
        NonZeroU64::new(word).map(Self)
    }

    /// Returns the word to store in a segment, never 0.
    #[must_use]
    pub const fn to_word(self) -> u64 {
        self.0.get()
    }
}

/// Sixteen hexadecimal digits, because JSON numbers of 64 bits are not safe integers.
impl fmt::Display for ProfileId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl FromStr for ProfileId {
    type Err = NoProfileId;

    fn from_str(text: &str) -> Result<Self, NoProfileId> {
        u64::from_str_radix(text, 16).ok().and_then(Self::from_word).ok_or(NoProfileId)
    }
}

impl From<ProfileId> for String {
    fn from(id: ProfileId) -> Self {
        id.to_string()
    }
}

impl TryFrom<String> for ProfileId {
    type Error = NoProfileId;

    fn try_from(text: String) -> Result<Self, NoProfileId> {
        text.parse()
    }
}

impl fmt::Display for NoProfileId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected 16 hexadecimal digits that are not all 0")
    }
}

impl std::error::Error for NoProfileId {}

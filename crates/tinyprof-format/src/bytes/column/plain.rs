//! Stand-ins for packing, for programs of one process: they write short columns.
//!
//! pco and its dependencies are a fifth of what a program with one attribute compiles. A column
//! of such a program has few numbers, and the program reads no profile.

use crate::bytes::Malformed;

/// A number that columns may be packed of.
pub(super) trait Packable: Copy {}

impl<T: Copy> Packable for T {}

/// Packs nothing: a column then has another encoding.
pub(super) fn pack<T: Packable>(_: &[T], _: impl Iterator<Item = u64> + Clone) -> Option<Vec<u8>> {
    None
}

/// Refuses a packed column, with the feature that would read it.
pub(super) fn unpack<T: Packable, U>(
    _: &[u8],
    _: usize,
    _: impl FnMut(T) -> U,
    _: impl Fn(usize) -> Result<(), Malformed>,
    failed: impl Fn(String) -> Malformed,
) -> Result<(Vec<U>, bool), Malformed> {
    Err(failed("tinyprof-format was built without its feature `pco`".to_owned()))
}

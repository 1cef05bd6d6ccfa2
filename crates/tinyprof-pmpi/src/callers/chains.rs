//! The functions around the place of a call, by which the user wants calls to be told apart.
//!
//! How to get from each frame to the one around it is [kept](super::kept), as for wrappers. A chain
//! ends at `main`, at the C library, which starts threads and programs, and where the compiler has
//! made no table.

use std::path::Path;
use std::ptr;
use std::sync::PoisonError;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicPtr, AtomicUsize};

use tinyprof::__calls::{CALLERS_MAX, CallChain, CallPlace};

use super::kept::Maker;
use super::object::Object;
use super::unwinding::{Frame, Rule};
use super::{KEPT, SYMBOLS, python};

/// The chains that are kept. Calls of further ones are at their place alone.
const CHAINS: usize = 4096;
/// How far from its first slot a chain may be.
const REACH: usize = 32;

static CALLERS: AtomicUsize = AtomicUsize::new(0);
static KNOWN: [AtomicPtr<CallChain>; CHAINS] = [const { AtomicPtr::new(ptr::null_mut()) }; CHAINS];

/// Sets how many of the functions around a call tell it apart. To be called before the first call
/// that is recorded.
pub fn set_callers(callers: usize) {
    CALLERS.store(callers.min(CALLERS_MAX), Relaxed);
}

/// Returns the place of a call that `frame` has made, with the functions around it, if the user
/// wants them.
///
/// # Safety
/// The frame is one of this thread's, and open.
#[inline]
pub(super) unsafe fn place(frame: Frame) -> CallPlace {
    match CALLERS.load(Relaxed) {
        0 => CallPlace::Address(frame.pc),
        // SAFETY: as the caller says.
        callers => unsafe { place_in_chain(frame, callers) },
    }
}

unsafe fn place_in_chain(mut frame: Frame, callers: usize) -> CallPlace {
    let mut chain = CallChain { address: frame.pc, callers: [0; CALLERS_MAX] };
    let mut hash = frame.pc as u64;
    for place in &mut chain.callers[..callers] {
        // Numbers of functions are above these bits, so that wrappers have other keys.
        let key = frame.pc as u64;
        let rule = match KEPT.find(key).unwrap_or_else(|| find_out(key, &frame)) {
            Maker::Wrapper(rule) => rule,
            Maker::Own | Maker::Python => break,
        };
        // SAFETY: the rule is that of the place, and the frame is open.
        let Some(caller) = (unsafe { rule.caller_of(&frame) }) else { break };
        *place = caller.pc;
        hash = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29) ^ caller.pc as u64;
        frame = caller;
    }
    if chain.callers[0] == 0 {
        return CallPlace::Address(chain.address);
    }
    known(hash, &chain).map_or(CallPlace::Address(chain.address), CallPlace::Chain)
}

/// Returns the kept chain that equals this one; `None` if there is no room for it.
#[inline]
fn known(hash: u64, chain: &CallChain) -> Option<&'static CallChain> {
    for slot in slots(hash) {
        // Pairs with the release in `keep`.
        let place = slot.load(Acquire);
        // SAFETY: null, or a chain that stays.
        match unsafe { place.as_ref() } {
            Some(known) if known == chain => return Some(known),
            Some(_) => {}
            None => return keep(hash, chain),
        }
    }
    None
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the high bits, which are few")]
fn slots(hash: u64) -> impl Iterator<Item = &'static AtomicPtr<CallChain>> {
    let first = (hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - CHAINS.ilog2())) as usize;
    (first..first + REACH).map(|index| &KNOWN[index % CHAINS])
}

/// Keeps a new chain. Once for each.
#[cold]
#[inline(never)]
fn keep(hash: u64, chain: &CallChain) -> Option<&'static CallChain> {
    let made = Box::into_raw(Box::new(*chain));
    for slot in slots(hash) {
        match slot.compare_exchange(ptr::null_mut(), made, Release, Acquire) {
            // SAFETY: just made, and never freed.
            Ok(_) => return unsafe { made.as_ref() },
            Err(other) => {
                // SAFETY: a chain that stays.
                if let Some(known) = unsafe { other.as_ref() }.filter(|known| *known == chain) {
                    return Some(known);
                }
            }
        }
    }
    None
}

/// Finds out how to get from a frame to the one around it. Once for each place.
#[cold]
#[inline(never)]
fn find_out(key: u64, frame: &Frame) -> Maker {
    let rule = rule(frame).map_or(Maker::Own, Maker::Wrapper);
    let _alone = SYMBOLS.lock().unwrap_or_else(PoisonError::into_inner);
    KEPT.keep(key, rule);
    rule
}

fn rule(frame: &Frame) -> Option<Rule> {
    if tinyprof::__mpi::is_sandboxed() {
        return None;
    }
    // The call is the instruction before the one that it returns to.
    let address = frame.pc.checked_sub(1)?;
    let object = Object::of(address)?;
    if python::is_part(&object.path, address) {
        return None;
    }
    let name = {
        let mut symbols = SYMBOLS.lock().unwrap_or_else(PoisonError::into_inner);
        symbols.name(&object, address)
    };
    if name.is_some_and(|name| matches!(name.as_str(), "main" | "MAIN__")) {
        return None;
    }
    let rule = Rule::find(&object, address)?;
    let caller = rule.checked_caller_of(frame)?;
    let around = Object::of(caller.pc.checked_sub(1)?)?;
    (!is_of_system(&around.path)).then_some(rule)
}

/// Returns whether an object is the C library or the loader.
fn is_of_system(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    ["libc.so", "libc-", "libpthread", "ld-linux", "ld-musl"]
        .iter()
        .any(|start| name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_chains_are_one_and_others_are_not() {
        let chain = |callers: &[usize]| {
            let mut all = [0; CALLERS_MAX];
            all[..callers.len()].copy_from_slice(callers);
            CallChain { address: 7, callers: all }
        };
        let of = |callers: &[usize]| known(5, &chain(callers)).expect("there is room");
        let first = of(&[1, 2]);
        assert!(ptr::eq(first, of(&[1, 2])));
        for other in [&[1][..], &[2, 1], &[1, 2, 3]] {
            assert!(!ptr::eq(first, of(other)), "{other:?}");
        }
        let all: Vec<_> = (0..100).map(|number| known(5, &chain(&[number + 10]))).collect();
        assert!(all.last() == Some(&None), "slots that one hash may have are few");
    }

    #[test]
    fn the_system_s_objects_are_known_by_their_names() {
        for name in ["/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2"] {
            assert!(is_of_system(Path::new(name)));
        }
        assert!(!is_of_system(Path::new("/opt/libcgns.so.4")));
    }
}

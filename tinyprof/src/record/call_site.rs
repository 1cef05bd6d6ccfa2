//! Calls of MPI's functions by the place that they come from: one site for each function and return
//! address.
//!
//! Finding a known place takes no lock and no allocation. A new place takes a page from the system,
//! and asks the loader which object it is in.

use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use std::sync::atomic::{AtomicPtr, AtomicU32};

use super::site::Site;
use crate::sys::{LoadedObject, Room};

/// The most call sites of a program. Calls from further ones have the site of their function.
const CALL_SITES_MAX: u32 = 4096;
/// Slots in the table, a power of two.
const SLOTS: usize = 4 * CALL_SITES_MAX as usize;
/// The longest name of a function with its place.
const NAME_BYTES: usize = 512;
/// The longest path of an executable or library.
const PATH_BYTES: usize = 2048;

static TABLE: [AtomicPtr<CallSite>; SLOTS] = [const { AtomicPtr::new(ptr::null_mut()) }; SLOTS];
static TAKEN: AtomicU32 = AtomicU32::new(0);

#[derive(Debug)]
struct CallSite {
    function: &'static Site,
    address: usize,
    site: Site,
}

/// A page with everything that a call site needs.
struct Page {
    name: [u8; NAME_BYTES],
    path: [u8; PATH_BYTES],
    call_site: OnceLock<CallSite>,
}

/// Returns the site of a call of `function` that returns to `address`; that of the function itself
/// if there is no room for another one.
#[inline]
pub(crate) fn call_site(function: &'static Site, address: usize) -> &'static Site {
    for slot in slots(function, address) {
        match known(slot) {
            Some(known) if known.is(function, address) => return &known.site,
            Some(_) => {}
            None => break,
        }
    }
    insert(function, address).unwrap_or(function)
}

fn known(slot: &AtomicPtr<CallSite>) -> Option<&'static CallSite> {
    // SAFETY: null, or a pointer stored by `insert`, to memory that was written before and is never
    // freed.
    unsafe { slot.load(Acquire).as_ref() }
}

#[inline]
fn slots(
    function: &'static Site,
    address: usize,
) -> impl Iterator<Item = &'static AtomicPtr<CallSite>> {
    let word = address as u64 ^ (ptr::from_ref(function).addr() as u64).rotate_left(20);
    let first = (word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as usize;
    (0..SLOTS).map(move |next| &TABLE[(first + next) % SLOTS])
}

#[cold]
#[inline(never)]
fn insert(function: &'static Site, address: usize) -> Option<&'static Site> {
    let reserve = |taken| (taken < CALL_SITES_MAX).then_some(taken + 1);
    TAKEN.fetch_update(Relaxed, Relaxed, reserve).ok()?;
    let new = CallSite::new(function, address)?;
    for slot in slots(function, address) {
        let put =
            slot.compare_exchange(ptr::null_mut(), ptr::from_ref(new).cast_mut(), AcqRel, Acquire);
        if put.is_ok() {
            return Some(&new.site);
        }
        // Another thread has made the site in the meantime.
        if let Some(known) = known(slot).filter(|known| known.is(function, address)) {
            return Some(&known.site);
        }
    }
    None
}

impl CallSite {
    fn new(function: &'static Site, address: usize) -> Option<&'static Self> {
        let object = LoadedObject::of(address)?;
        let mut page =
            Page { name: [0; NAME_BYTES], path: [0; PATH_BYTES], call_site: OnceLock::new() };
        let path_bytes = object.path(&mut page.path);
        let file = file_name(&page.path[..path_bytes]);
        let name_bytes = name(function.name(), file, object.offset_of(address), &mut page.name);
        let page: &'static Page = Room::new()?.fill(page);
        let name = str::from_utf8(&page.name[..name_bytes]).ok()?;
        let path = str::from_utf8(&page.path[..path_bytes]).unwrap_or_default();
        // No other thread knows the page yet, so this does not wait.
        Some(page.call_site.get_or_init(|| Self {
            function,
            address,
            site: function.at_call_site(name, path),
        }))
    }

    #[inline]
    fn is(&self, function: &'static Site, address: usize) -> bool {
        self.address == address && ptr::eq(self.function, function)
    }
}

fn file_name(path: &[u8]) -> &[u8] {
    path.rsplit(|&byte| byte == b'/').next().unwrap_or_default()
}

/// Writes `MPI_Send at file+0x1234`, and returns its length. `<` and `>`, which separate the
/// regions of a callpath, become parentheses.
fn name(function: &str, file: &[u8], offset: usize, into: &mut [u8; NAME_BYTES]) -> usize {
    let file = str::from_utf8(file).unwrap_or("?");
    let mut digits = [0; 16];
    let mut rest = offset;
    let mut first = digits.len();
    while rest != 0 || first == digits.len() {
        first -= 1;
        digits[first] = b"0123456789abcdef"[rest % 16];
        rest /= 16;
    }
    let room = NAME_BYTES - function.len().min(NAME_BYTES / 2) - 32;
    let end = (0..=file.len().min(room)).rev().find(|&end| file.is_char_boundary(end));
    let plain = |byte: u8| match byte {
        b'<' => b'(',
        b'>' => b')',
        other => other,
    };
    let bytes = function.bytes().chain(*b" at ");
    let bytes = bytes.chain(file[..end.unwrap_or(0)].bytes().map(plain)).chain(*b"+0x");
    let bytes = bytes.chain(digits[first..].iter().copied());
    let mut length = 0;
    for (place, byte) in into.iter_mut().zip(bytes) {
        *place = byte;
        length += 1;
    }
    length
}

/// Returns the region of the whole program, which is named like its executable.
pub(crate) fn program() -> Option<&'static Site> {
    struct Named {
        path: [u8; PATH_BYTES],
        site: OnceLock<Site>,
    }
    static PROGRAM: OnceLock<Option<&'static Site>> = OnceLock::new();
    *PROGRAM.get_or_init(|| {
        let mut named = Named { path: [0; PATH_BYTES], site: OnceLock::new() };
        let length = LoadedObject::executable_path(&mut named.path);
        let named: &'static Named = Room::new()?.fill(named);
        let name = str::from_utf8(file_name(&named.path[..length])).ok()?;
        Some(named.site.get_or_init(|| Site::program(name)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    static SEND: Site = Site::mpi("MPI_Send", &[("tag", "COMM")]);
    static RECEIVE: Site = Site::mpi("MPI_Recv", &[("tag", "COMM")]);

    #[test]
    fn a_place_has_one_site_for_each_function_which_names_object_and_offset() {
        let here = a_place_has_one_site_for_each_function_which_names_object_and_offset as fn();
        let here = here as usize;
        let (send, receive) = (call_site(&SEND, here), call_site(&RECEIVE, here));
        assert!(ptr::eq(send, call_site(&SEND, here)) && !ptr::eq(send, receive));
        assert_ne!(send.id(), receive.id());
        let elsewhere = call_site(&SEND, here + 1);
        assert_ne!(send.id(), elsewhere.id());
        let region = send.region().unwrap();
        let executable = std::env::current_exe().unwrap();
        let file = executable.file_name().unwrap().to_str().unwrap().to_owned();
        let start = format!("MPI_Send at {file}+0x");
        assert!(region.name.starts_with(&start), "{}", region.name);
        let offset = usize::from_str_radix(&region.name[start.len()..], 16).unwrap();
        assert!(offset > 0 && offset < here, "relative to where the object is loaded");
        assert_eq!(region.file, executable.to_str().unwrap());
        assert_eq!(region.constants, [("tag".into(), "COMM".into())].into());
        assert!(ptr::eq(call_site(&SEND, 16), &raw const SEND), "in no object");
    }

    #[test]
    fn the_program_is_named_like_its_executable() {
        let executable = std::env::current_exe().unwrap();
        let name = program().unwrap().region().unwrap().name;
        assert_eq!(Some(name.as_str()), executable.file_name().and_then(|name| name.to_str()));
    }
}

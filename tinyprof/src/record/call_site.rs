//! Calls of MPI's functions by the place that they come from: one site for each function and return
//! address.
//!
//! Finding a known place takes no lock and no allocation. A new place takes a page from the system,
//! and asks the loader which object it is in.

use std::ptr;
use std::sync::OnceLock;

use super::site::Site;
use super::site_table::{SiteTable, name_byte};
use crate::sys::{LoadedObject, Room};

/// The longest name of a function with its place.
const NAME_BYTES: usize = 512;
/// The longest path of an executable or library.
const PATH_BYTES: usize = 2048;

/// The call sites of the program, at most 4096. Calls from further ones have the site of their
/// function.
static CALL_SITES: SiteTable<CallSite, 8192> = SiteTable::new();

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
    let hash = hash(function, address);
    match CALL_SITES.find(hash, |known| known.is(function, address)) {
        Some(known) => &known.site,
        None => insert(hash, function, address).unwrap_or(function),
    }
}

#[inline]
fn hash(function: &'static Site, address: usize) -> u64 {
    let word = address as u64 ^ (ptr::from_ref(function).addr() as u64).rotate_left(20);
    word.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cold]
#[inline(never)]
fn insert(hash: u64, function: &'static Site, address: usize) -> Option<&'static Site> {
    let make = || CallSite::new(function, address);
    let call_site = CALL_SITES.insert(hash, |known| known.is(function, address), make);
    call_site.map(|call_site| &call_site.site)
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

/// Writes `MPI_Send at file+0x1234`, and returns its length.
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
    let bytes = function.bytes().chain(*b" at ");
    let bytes = bytes.chain(file[..end.unwrap_or(0)].bytes().map(name_byte)).chain(*b"+0x");
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

//! Calls of MPI's functions by the place that they come from: one site for each function and return
//! address, or line of a script.
//!
//! Finding a known place takes no lock and no allocation. A new place takes a page from the system,
//! and asks the loader which object it is in.

mod callers;

use std::ptr;
use std::sync::OnceLock;

use tinyprof_format::model::MADE_CODE_FILE;

use super::site::Site;
use super::site_table::{SiteTable, name_byte};
use crate::sys::{LoadedObject, Room};

/// The longest name of a function with its place.
const NAME_BYTES: usize = 512;
/// The longest path of an executable or library.
const PATH_BYTES: usize = 2048;

/// The addresses of programs, without those that only a broken pointer has.
const MADE_CODE: std::ops::Range<usize> = 1 << 16..1 << 47;

/// The call sites of the program, at most 4096. Calls from further ones have the site of their
/// function.
static CALL_SITES: SiteTable<CallSite, SLOTS> = SiteTable::new();

/// The places of samples, at most 4096. Those of further ones are not told apart.
static SAMPLE_SITES: SiteTable<CallSite, SLOTS> = SiteTable::new();

const SLOTS: usize = 8192;

/// The place that a call comes from.
#[derive(Clone, Copy, Debug)]
pub enum CallPlace {
    /// What the call returns to.
    Address(usize),
    /// As [`Address`](Self::Address), in an interpreter whose script is not known at this call. It
    /// is another place, so that the next call is asked for its script again.
    Interpreter(usize),
    /// A line of a script that an interpreter executes. Equal lines are one.
    Script(&'static ScriptLine),
    /// The address that the call returns to, and the functions around. Equal chains are one.
    Chain(&'static CallChain),
}

/// The most functions around a call that tell it apart from others.
pub const CALLERS_MAX: usize = 8;

/// The address that a call returns to, and those of the functions around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallChain {
    /// The address that the call returns to.
    pub address: usize,
    /// The addresses that the functions around it return to, from the innermost on; 0 beyond the
    /// outermost.
    pub callers: [usize; CALLERS_MAX],
}

/// A line of a script.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ScriptLine {
    /// The function that the line is in.
    pub function: String,
    /// The path of the script.
    pub file: String,
    /// The line's number, from 1 on.
    pub line: u32,
}

/// The bit of a word by which the two kinds of addresses differ. No address of a program has it.
const OF_INTERPRETER: usize = 1 << 47;

impl CallPlace {
    /// Returns a word of 48 bits that only this place has.
    #[inline]
    pub(crate) fn word(self) -> usize {
        match self {
            Self::Address(address) => address,
            Self::Interpreter(address) => address | OF_INTERPRETER,
            Self::Script(line) => ptr::from_ref(line).addr(),
            Self::Chain(chain) => ptr::from_ref(chain).addr(),
        }
    }
}

#[derive(Debug)]
struct CallSite {
    function: &'static Site,
    /// The word of the place.
    place: usize,
    site: Site,
}

/// A page with everything that a call site needs.
struct Page {
    name: [u8; NAME_BYTES],
    path: [u8; PATH_BYTES],
    call_site: OnceLock<CallSite>,
}

/// Returns the site of a call of `function` from a place; that of the function itself if there is
/// no room for another one.
#[inline]
pub(crate) fn call_site(function: &'static Site, place: CallPlace) -> &'static Site {
    site_in(&CALL_SITES, function, place)
}

/// Returns the site of samples of the instruction at `address`; `unknown` if there is no room for
/// another one, or no program has such an address.
pub(crate) fn sample_site(unknown: &'static Site, address: usize) -> &'static Site {
    site_in(&SAMPLE_SITES, unknown, CallPlace::Address(address))
}

#[inline]
fn site_in(
    sites: &'static SiteTable<CallSite, SLOTS>,
    function: &'static Site,
    place: CallPlace,
) -> &'static Site {
    let hash = hash(function, place.word());
    match sites.find(hash, |known| known.is(function, place.word())) {
        Some(known) => &known.site,
        None => insert(sites, hash, function, place).unwrap_or(function),
    }
}

#[inline]
fn hash(function: &'static Site, place: usize) -> u64 {
    let word = place as u64 ^ (ptr::from_ref(function).addr() as u64).rotate_left(20);
    word.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cold]
#[inline(never)]
fn insert(
    sites: &'static SiteTable<CallSite, SLOTS>,
    hash: u64,
    function: &'static Site,
    place: CallPlace,
) -> Option<&'static Site> {
    let make = || CallSite::new(function, place);
    let call_site = sites.insert(hash, |known| known.is(function, place.word()), make);
    call_site.map(|call_site| &call_site.site)
}

impl CallSite {
    fn new(function: &'static Site, place: CallPlace) -> Option<&'static Self> {
        let mut page =
            Page { name: [0; NAME_BYTES], path: [0; PATH_BYTES], call_site: OnceLock::new() };
        let (name_bytes, path_bytes) = match place {
            CallPlace::Address(address)
            | CallPlace::Interpreter(address)
            | CallPlace::Chain(&CallChain { address, .. }) => {
                let Some(object) = LoadedObject::of(address) else {
                    return Self::of_made_code(function, address);
                };
                let path_bytes = object.path(&mut page.path);
                let file = file_name(&page.path[..path_bytes]);
                let offset = object.offset_of(address);
                let name = if function.is_sample() {
                    of_sample(file, offset, &mut page.name)
                } else {
                    of_address(function.name(), file, offset, &mut page.name)
                };
                (name, path_bytes)
            }
            CallPlace::Script(line) => {
                let path = beginning(&line.file, PATH_BYTES);
                page.path[..path.len()].copy_from_slice(path.as_bytes());
                (of_script(function.name(), line, &mut page.name), path.len())
            }
        };
        let page: &'static Page = Room::new()?.fill(page);
        let name = str::from_utf8(&page.name[..name_bytes]).ok()?;
        let path = str::from_utf8(&page.path[..path_bytes]).unwrap_or_default();
        let site = match place {
            CallPlace::Script(line) => function.at_line(name, path, line.line),
            CallPlace::Chain(chain) => {
                let site = function.at_call_site(name, path);
                callers::of_chain(&site, &chain.callers).unwrap_or(site)
            }
            _ => function.at_call_site(name, path),
        };
        // No other thread knows the page yet, so this does not wait.
        Some(page.call_site.get_or_init(|| Self { function, place: place.word(), site }))
    }

    /// Returns the site of samples of code that was made at run time: in memory that no executable
    /// or library is in. A sample of another kind of place has none.
    fn of_made_code(function: &'static Site, address: usize) -> Option<&'static Self> {
        if !function.is_sample() || !MADE_CODE.contains(&address) {
            return None;
        }
        let mut page =
            Page { name: [0; NAME_BYTES], path: [0; PATH_BYTES], call_site: OnceLock::new() };
        let (begin, end) = MADE_CODE_FILE;
        let (process, first) = digits(std::process::id() as usize, 10);
        let parts = [begin.as_bytes(), &process[first..], end.as_bytes()];
        let path_bytes = write(&parts, &mut page.path);
        let name_bytes = of_sample(file_name(&page.path[..path_bytes]), address, &mut page.name);
        let page: &'static Page = Room::new()?.fill(page);
        let name = str::from_utf8(&page.name[..name_bytes]).ok()?;
        let path = str::from_utf8(&page.path[..path_bytes]).ok()?;
        let (place, site) = (address, function.at_call_site(name, path));
        Some(page.call_site.get_or_init(|| Self { function, place, site }))
    }

    #[inline]
    fn is(&self, function: &'static Site, place: usize) -> bool {
        self.place == place && ptr::eq(self.function, function)
    }
}

fn file_name(path: &[u8]) -> &[u8] {
    path.rsplit(|&byte| byte == b'/').next().unwrap_or_default()
}

/// Writes `MPI_Send at file+0x1234`, and returns its length.
fn of_address(function: &str, file: &[u8], offset: usize, into: &mut [u8; NAME_BYTES]) -> usize {
    let file = str::from_utf8(file).unwrap_or("?");
    let room = NAME_BYTES - function.len().min(NAME_BYTES / 2) - 32;
    let (digits, first) = digits(offset, 16);
    let file = beginning(file, room).as_bytes();
    write(&[function.as_bytes(), b" at ", file, b"+0x", &digits[first..]], into)
}

/// Writes `file+0x1234`, and returns its length.
fn of_sample(file: &[u8], offset: usize, into: &mut [u8; NAME_BYTES]) -> usize {
    let file = beginning(str::from_utf8(file).unwrap_or("?"), NAME_BYTES - 32);
    let (digits, first) = digits(offset, 16);
    write(&[file.as_bytes(), b"+0x", &digits[first..]], into)
}

/// Writes `MPI_Send at step (app.py:12)`, and returns its length.
fn of_script(function: &str, line: &ScriptLine, into: &mut [u8; NAME_BYTES]) -> usize {
    let room = (NAME_BYTES - function.len().min(NAME_BYTES / 2) - 48) / 2;
    let (digits, first) = digits(line.line as usize, 10);
    let file = str::from_utf8(file_name(line.file.as_bytes())).unwrap_or("?");
    let (caller, file) = (beginning(&line.function, room), beginning(file, room));
    let place: [&[u8]; 5] = [caller.as_bytes(), b" (", file.as_bytes(), b":", &digits[first..]];
    let [caller, open, file, colon, number] = place;
    write(&[function.as_bytes(), b" at ", caller, open, file, colon, number, b")"], into)
}

/// Returns the digits of a number, from an index on.
fn digits(number: usize, base: usize) -> ([u8; 20], usize) {
    let mut digits = [0; 20];
    let mut rest = number;
    let mut first = digits.len();
    while rest != 0 || first == digits.len() {
        first -= 1;
        digits[first] = b"0123456789abcdef"[rest % base];
        rest /= base;
    }
    (digits, first)
}

/// Returns the first characters of a text, in at most `bytes` bytes.
fn beginning(text: &str, bytes: usize) -> &str {
    let end = (0..=text.len().min(bytes)).rev().find(|&end| text.is_char_boundary(end));
    &text[..end.unwrap_or(0)]
}

fn write(parts: &[&[u8]], into: &mut [u8]) -> usize {
    let mut length = 0;
    for (place, &byte) in into.iter_mut().zip(parts.iter().copied().flatten()) {
        *place = name_byte(byte);
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
        let here = CallPlace::Address(here as usize);
        let (send, receive) = (call_site(&SEND, here), call_site(&RECEIVE, here));
        assert!(ptr::eq(send, call_site(&SEND, here)) && !ptr::eq(send, receive));
        assert_ne!(send.id(), receive.id());
        let elsewhere = call_site(&SEND, CallPlace::Address(here.word() + 1));
        assert_ne!(send.id(), elsewhere.id());
        let region = send.region().unwrap();
        let executable = std::env::current_exe().unwrap();
        let file = executable.file_name().unwrap().to_str().unwrap().to_owned();
        let start = format!("MPI_Send at {file}+0x");
        assert!(region.name.starts_with(&start), "{}", region.name);
        let offset = usize::from_str_radix(&region.name[start.len()..], 16).unwrap();
        assert!(offset > 0 && offset < here.word(), "relative to where the object is loaded");
        assert_eq!(region.file, executable.to_str().unwrap());
        assert_eq!(region.constants, [("tag".into(), "COMM".into())].into());
        let nowhere = CallPlace::Address(16);
        assert!(ptr::eq(call_site(&SEND, nowhere), &raw const SEND), "in no object");
    }

    #[test]
    fn a_sample_in_no_object_is_in_code_that_was_made() {
        static PERIOD: &[(&str, &str)] = &[("period_ns", "10")];
        static UNKNOWN: Site = Site::sample("[unknown place]", PERIOD);
        let heap = Box::new(0_u8);
        let address = ptr::from_ref(&*heap).addr();
        // Not from the table, which another test fills.
        let of = |address| CallSite::new(&UNKNOWN, CallPlace::Address(address));
        let region = of(address).unwrap().site.region().unwrap();
        assert_eq!(region.made_code(), Some(address as u64), "{region:?}");
        assert_eq!(region.file, format!("/tmp/perf-{}.map", std::process::id()));
        for address in [0, 16, usize::MAX] {
            assert!(of(address).is_none(), "{address:x}");
        }
    }

    #[test]
    fn a_line_of_a_script_is_a_place_of_its_own() {
        let line = |file: &str, line| {
            let line = ScriptLine { function: "Grid.<step>".into(), file: file.into(), line };
            CallPlace::Script(Box::leak(Box::new(line)))
        };
        let of = |place| call_site(&SEND, place);
        let here = line("/home/u/app/app.py", 12);
        let region = of(here).region().unwrap();
        assert_eq!(region.name, "MPI_Send at Grid.(step) (app.py:12)");
        assert_eq!((region.file.as_str(), region.line), ("/home/u/app/app.py", 12));
        assert!(ptr::eq(of(here), of(here)));
        assert_eq!(of(here).id(), of(line("/scratch/7/app/app.py", 12)).id(), "on another host");
        for other in [line("/home/u/app/app.py", 13), line("/home/u/lib/app.py", 12)] {
            assert_ne!(of(here).id(), of(other).id());
        }
        let long = of(line(&"/x".repeat(5000), 7)).region().unwrap();
        assert!(long.name.ends_with("(x:7)") && long.file.len() == PATH_BYTES, "{long:?}");
    }

    #[test]
    fn the_program_is_named_like_its_executable() {
        let executable = std::env::current_exe().unwrap();
        let name = program().unwrap().region().unwrap().name;
        assert_eq!(Some(name.as_str()), executable.file_name().and_then(|name| name.to_str()));
    }
}

//! The functions around a call, as a constant of its site.

use std::sync::OnceLock;

use tinyprof_format::model::CALLERS;

use super::super::site::Site;
use super::{PATH_BYTES, digits, file_name};
use crate::sys::{LoadedObject, Room};

/// The longest list of callers.
const TEXT_BYTES: usize = 6144;
/// The most constants of a function of MPI, with that of its callers.
const CONSTANTS_MAX: usize = 8;

/// The texts of a chain, to which its site refers.
struct Kept {
    text: [u8; TEXT_BYTES],
    /// The first bytes of the names alone, without directories, which hosts may have elsewhere.
    names: [u8; TEXT_BYTES],
    constants: OnceLock<[(&'static str, &'static str); CONSTANTS_MAX]>,
}

/// Returns the site of a call with the functions around it; `None` if there are none, or no room
/// for them.
pub(super) fn of_chain(call: &Site, callers: &[usize]) -> Option<Site> {
    let mut kept =
        Kept { text: [0; TEXT_BYTES], names: [0; TEXT_BYTES], constants: OnceLock::new() };
    let (mut text_bytes, mut names_bytes) = (0, 0);
    for &address in callers.iter().take_while(|&&address| address != 0) {
        let object = LoadedObject::of(address)?;
        let mut path = [0; PATH_BYTES];
        let length = object.path(&mut path);
        let (digits, first) = digits(object.offset_of(address), 16);
        let offset = &digits[first..];
        append(&mut kept.text, &mut text_bytes, &[&path[..length], b"+0x", offset, b"\n"])?;
        let name = file_name(&path[..length]);
        append(&mut kept.names, &mut names_bytes, &[name, b"+0x", offset, b"\n"])?;
    }
    let constants = call.constants();
    if text_bytes == 0 || constants.len() >= CONSTANTS_MAX {
        return None;
    }
    let kept: &'static Kept = Room::new()?.fill(kept);
    let text = str::from_utf8(&kept.text[..text_bytes]).ok()?;
    let names = str::from_utf8(&kept.names[..names_bytes]).ok()?;
    let mut all = [("", ""); CONSTANTS_MAX];
    all[..constants.len()].copy_from_slice(constants);
    all[constants.len()] = (CALLERS, text);
    let all = kept.constants.get_or_init(|| all);
    Some(call.told_apart_by(names, &all[..=constants.len()]))
}

/// Appends parts to a text; `None` if it has no room for them.
fn append(text: &mut [u8], length: &mut usize, parts: &[&[u8]]) -> Option<()> {
    for part in parts {
        text.get_mut(*length..*length + part.len())?.copy_from_slice(part);
        *length += part.len();
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::super::{CALLERS_MAX, CallChain, CallPlace, call_site};
    use super::*;

    static SEND: Site = Site::mpi("MPI_Send", &[("tag", "COMM")]);

    fn region(address: usize, callers: &[usize]) -> tinyprof_format::model::Region {
        let mut all = [0; CALLERS_MAX];
        all[..callers.len()].copy_from_slice(callers);
        let chain = Box::leak(Box::new(CallChain { address, callers: all }));
        call_site(&SEND, CallPlace::Chain(chain)).region().expect("it is a region")
    }

    #[test]
    fn a_call_names_the_functions_around_it() {
        let here = a_call_names_the_functions_around_it as fn() as usize;
        let found = region(here, &[here + 16, here + 32]);
        let path = std::env::current_exe().expect("it has a path");
        let lines: Vec<&str> = found.constants[CALLERS].lines().collect();
        let offset = |line: &str| {
            let (of, digits) = line.rsplit_once("+0x").expect("an offset");
            assert_eq!(of, path.to_str().expect("text"));
            usize::from_str_radix(digits, 16).expect("a number")
        };
        assert_eq!(lines.len(), 2);
        assert_eq!(offset(lines[1]) - offset(lines[0]), 16);
        assert_eq!(found.constants["tag"], "COMM");
        let others = [region(here, &[here + 16]), region(here, &[here + 32, here + 16])];
        assert!(others.iter().all(|other| other.site != found.site && other.name == found.name));
        let plain = region(here, &[]);
        assert!(!plain.constants.contains_key(CALLERS));
        assert_eq!(region(here, &[16]).site, plain.site, "in no object");
    }
}

//! The executable or library that an address is in, as the loader has put it into memory.

use std::ffi::{CStr, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::slice;

use crate::loaded::{find_loaded, headers};

/// A loaded object. It is not unloaded while a call from it is under way.
#[derive(Debug)]
pub(super) struct Object {
    /// Its file.
    pub(super) path: PathBuf,
    /// The difference between addresses in memory and in the file.
    pub(super) loaded_at: usize,
    /// The index of its unwinding tables, and what it points into: addresses in memory.
    pub(super) unwinding: Option<Unwinding>,
}

/// Where the unwinding tables of an object are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unwinding {
    /// The section `.eh_frame_hdr`.
    pub(super) index: &'static [u8],
    /// The segments that are loaded: `.eh_frame` is in one of them.
    headers: &'static [libc::Elf64_Phdr],
    loaded_at: usize,
}

impl Object {
    /// Returns the object that an address is in.
    pub(super) fn of(address: usize) -> Option<Self> {
        find_loaded(|object| {
            let (headers, loaded_at) = (headers(object), size(object.dlpi_addr));
            segment_of(headers, loaded_at, address)?;
            let unwinding = Unwinding::find(headers, loaded_at);
            Some(Self { path: path_of(object).to_owned(), loaded_at, unwinding })
        })
    }
}

impl Unwinding {
    fn find(headers: &'static [libc::Elf64_Phdr], loaded_at: usize) -> Option<Self> {
        let header = headers.iter().find(|header| header.p_type == libc::PT_GNU_EH_FRAME)?;
        let address = loaded_at.wrapping_add(size(header.p_vaddr));
        let place = std::ptr::with_exposed_provenance(address);
        // SAFETY: the loader has mapped the section, which nobody writes to.
        let index = unsafe { slice::from_raw_parts(place, size(header.p_memsz)) };
        Some(Self { index, headers, loaded_at })
    }

    /// Returns the memory from an address to the end of the segment that it is in.
    pub(super) fn from(&self, address: usize) -> Option<&'static [u8]> {
        let (start, bytes) = segment_of(self.headers, self.loaded_at, address)?;
        let length = start + bytes - address;
        // SAFETY: the loader has mapped the segment, which nobody writes to.
        Some(unsafe { slice::from_raw_parts(std::ptr::with_exposed_provenance(address), length) })
    }
}

/// Returns the path of an object. That of the executable is known to the system alone.
fn path_of(object: &libc::dl_phdr_info) -> &Path {
    // SAFETY: the loader's names end with a zero, and live as long as the object.
    let name = (!object.dlpi_name.is_null()).then(|| unsafe { CStr::from_ptr(object.dlpi_name) });
    match name.map(CStr::to_bytes) {
        Some(name) if !name.is_empty() => Path::new(OsStr::from_bytes(name)),
        _ => Path::new("/proc/self/exe"),
    }
}

/// Returns start and length of the loaded segment that an address is in.
fn segment_of(
    headers: &[libc::Elf64_Phdr],
    loaded_at: usize,
    address: usize,
) -> Option<(usize, usize)> {
    let loaded = headers.iter().filter(|header| header.p_type == libc::PT_LOAD);
    let mut segments =
        loaded.map(|header| (loaded_at.wrapping_add(size(header.p_vaddr)), size(header.p_memsz)));
    segments.find(|&(start, bytes)| address.wrapping_sub(start) < bytes)
}

fn size(word: u64) -> usize {
    usize::try_from(word).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_in_the_executable_and_the_system_s_are_in_a_library() {
        let own = Object::of(segment_of as fn(_, _, _) -> _ as usize).expect("it is loaded");
        assert_eq!(own.path, Path::new("/proc/self/exe"));
        assert!(own.unwinding.is_some());
        let library = Object::of(libc::getpid as *const () as usize).expect("it is loaded");
        assert!(library.path.to_string_lossy().contains("libc"), "{library:?}");
        assert!(Object::of(16).is_none(), "nothing is there");
    }
}

//! The executable or library that an address is in, as the loader has put it into memory.

use std::ffi::{CStr, OsStr, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::slice;

/// A loaded object. It is not unloaded while a call from it is under way.
#[derive(Debug)]
pub(super) struct Object {
    /// Its file. That of the executable is known to the system alone.
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
        let mut search = Search { address, found: None };
        // SAFETY: the callback matches the signature, and the search outlives the call.
        unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut search).cast()) };
        search.found
    }
}

impl Unwinding {
    /// Returns the memory from an address to the end of the segment that it is in.
    pub(super) fn from(&self, address: usize) -> Option<&'static [u8]> {
        let (start, bytes) = segment_of(self.headers, self.loaded_at, address)?;
        let length = start + bytes - address;
        // SAFETY: the loader has mapped the segment, which nobody writes to.
        Some(unsafe { slice::from_raw_parts(std::ptr::with_exposed_provenance(address), length) })
    }
}

struct Search {
    address: usize,
    found: Option<Object>,
}

/// Checks one object; stops the search when it is found.
unsafe extern "C" fn look(
    object: *mut libc::dl_phdr_info,
    _bytes: usize,
    search: *mut c_void,
) -> c_int {
    // SAFETY: the loader passes a valid description.
    let object = unsafe { &*object };
    // SAFETY: `of` passes its search, which nobody else uses meanwhile.
    let search = unsafe { &mut *search.cast::<Search>() };
    if object.dlpi_phnum == 0 {
        return 0;
    }
    // SAFETY: the loader's table has as many headers, and stays while the object is loaded.
    let headers = unsafe { slice::from_raw_parts(object.dlpi_phdr, object.dlpi_phnum.into()) };
    let loaded_at = size(object.dlpi_addr);
    if segment_of(headers, loaded_at, search.address).is_none() {
        return 0;
    }
    // SAFETY: the loader's names end with a zero.
    let name = (!object.dlpi_name.is_null()).then(|| unsafe { CStr::from_ptr(object.dlpi_name) });
    let path = match name.map(CStr::to_bytes) {
        Some(name) if !name.is_empty() => Path::new(OsStr::from_bytes(name)),
        _ => Path::new("/proc/self/exe"),
    };
    let of_index = headers.iter().find(|header| header.p_type == libc::PT_GNU_EH_FRAME);
    let unwinding = of_index.map(|header| {
        let address = loaded_at.wrapping_add(size(header.p_vaddr));
        let place = std::ptr::with_exposed_provenance(address);
        // SAFETY: the loader has mapped the section, which nobody writes to.
        let index = unsafe { slice::from_raw_parts(place, size(header.p_memsz)) };
        Unwinding { index, headers, loaded_at }
    });
    search.found = Some(Object { path: path.to_owned(), loaded_at, unwinding });
    1
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

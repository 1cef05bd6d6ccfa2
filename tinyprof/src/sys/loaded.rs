//! The objects that the loader has put into this process: the executable and its libraries.

use std::ffi::{CStr, c_int, c_void};

use super::sandbox;

/// An object in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoadedObject {
    address: usize,
    /// The difference between addresses in memory and in the object's file.
    loaded_at: usize,
    /// The path, or null for the executable.
    name: *const libc::c_char,
    is_found: bool,
}

impl LoadedObject {
    /// Returns the object that an address is in.
    pub(crate) fn of(address: usize) -> Option<Self> {
        let mut object = Self { address, loaded_at: 0, name: std::ptr::null(), is_found: false };
        // SAFETY: the callback matches the signature, and the object outlives the call.
        unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut object).cast()) };
        object.is_found.then_some(object)
    }

    /// Returns whether the object was loaded at an address, of those that the kernel tells.
    pub(super) fn is_loaded_at(&self, address: usize) -> bool {
        self.loaded_at == address
    }

    /// Returns the address as the object's file counts it, which does not depend on where it is
    /// loaded.
    pub(crate) fn offset_of(&self, address: usize) -> usize {
        address.wrapping_sub(self.loaded_at)
    }

    /// Writes the object's path, as far as it fits, and returns its length.
    pub(crate) fn path(&self, into: &mut [u8]) -> usize {
        // SAFETY: the loader's names end with a zero, and live as long as the object.
        let name = (!self.name.is_null()).then(|| unsafe { CStr::from_ptr(self.name) }.to_bytes());
        match name.filter(|name| !name.is_empty()) {
            Some(name) => {
                let length = name.len().min(into.len());
                into[..length].copy_from_slice(&name[..length]);
                length
            }
            None => Self::executable_path(into),
        }
    }

    /// Writes the path of the executable, as far as it fits, and returns its length. In a sandbox
    /// there is none.
    pub(crate) fn executable_path(into: &mut [u8]) -> usize {
        if sandbox::is_entered() {
            return 0;
        }
        let link = c"/proc/self/exe".as_ptr();
        // SAFETY: the link's name ends with a zero, and the place has as many bytes as are told.
        let length = unsafe { libc::readlink(link, into.as_mut_ptr().cast(), into.len()) };
        usize::try_from(length).unwrap_or(0)
    }
}

/// Checks one object; stops the search when it is found.
unsafe extern "C" fn look(
    object: *mut libc::dl_phdr_info,
    _bytes: usize,
    found: *mut c_void,
) -> c_int {
    // SAFETY: the loader passes a valid description.
    let object = unsafe { &*object };
    // SAFETY: `of` passes its object, which nobody else uses meanwhile.
    let found = unsafe { &mut *found.cast::<LoadedObject>() };
    let headers = if object.dlpi_phnum == 0 {
        &[]
    } else {
        // SAFETY: the loader's table has as many headers.
        unsafe { std::slice::from_raw_parts(object.dlpi_phdr, object.dlpi_phnum.into()) }
    };
    let base = usize::try_from(object.dlpi_addr).unwrap_or(0);
    let is_inside = headers.iter().filter(|header| header.p_type == libc::PT_LOAD).any(|header| {
        let start = base.wrapping_add(usize::try_from(header.p_vaddr).unwrap_or(0));
        let bytes = usize::try_from(header.p_memsz).unwrap_or(0);
        found.address.wrapping_sub(start) < bytes
    });
    if is_inside {
        (found.loaded_at, found.name, found.is_found) = (base, object.dlpi_name, true);
    }
    c_int::from(is_inside)
}

//! Weak references of the program to functions that its MPI does not have.
//!
//! A program that can do without a function refers to it weakly, and asks whether its address is
//! null. The binary packages of mpi4py do so for all functions of MPI 4. A wrapper of that name
//! would be taken for the function, so these references get the null that they have without us.
//! Only objects that are loaded when MPI begins are looked at.

use std::ffi::{CStr, CString, c_void};
use std::ptr;

use crate::function::FUNCTIONS;
use crate::loaded::{find_loaded, headers, library_of, symbol};

// Entries of an object's dynamic section (System V ABI, chapter 5).
const PLT_RELOCATIONS_BYTES: usize = 2;
const TEXTS: usize = 5;
const SYMBOLS: usize = 6;
const RELOCATIONS: usize = 7;
const RELOCATIONS_BYTES: usize = 8;
const PLT_RELOCATIONS: usize = 23;

/// `R_X86_64_64`, `R_X86_64_GLOB_DAT` and `R_X86_64_JUMP_SLOT`: the address of a symbol.
#[cfg(target_arch = "x86_64")]
const ADDRESS_OF_SYMBOL: [usize; 3] = [1, 6, 7];
/// `R_AARCH64_ABS64`, `R_AARCH64_GLOB_DAT` and `R_AARCH64_JUMP_SLOT`: the address of a symbol.
#[cfg(target_arch = "aarch64")]
const ADDRESS_OF_SYMBOL: [usize; 3] = [257, 1025, 1026];

/// The bytes of a relocation: place, kind and symbol, addend.
const RELOCATION_BYTES: usize = 24;
/// The bytes of a symbol: name, kind and binding, section, address, size.
const SYMBOL_BYTES: usize = 24;
/// The binding of weak symbols.
const WEAK: u8 = 2;

/// A place in memory that holds the address of a function.
struct Reference {
    place: usize,
    name: &'static CStr,
    /// True if the loader has made the place read-only when the object was ready.
    is_protected: bool,
}

/// Clears the weak references to our wrappers of functions that MPI does not have.
///
/// To be called before MPI begins, when no other thread calls MPI.
pub(crate) fn clear_missing() {
    let mut references: Vec<Reference> = Vec::new();
    find_loaded(|object| {
        collect(object, &mut references);
        None::<()>
    });
    for reference in references {
        if is_missing(reference.name) && is_ours(reference.place) {
            clear(&reference);
        }
    }
}

/// Returns whether a function has a wrapper here, but is not in MPI.
fn is_missing(name: &CStr) -> bool {
    let is_wrapped = |text| FUNCTIONS.iter().any(|function| function.name == text);
    let original = CString::new([b"P", name.to_bytes()].concat());
    name.to_str().is_ok_and(is_wrapped) && original.is_ok_and(|name| symbol(&name).is_none())
}

/// Returns whether a place holds an address within this library.
fn is_ours(place: usize) -> bool {
    let start_of =
        |address: usize| library_of(ptr::without_provenance_mut(address)).map(|of| of.start);
    let address: usize = read(place);
    address != 0 && start_of(address) == start_of((&raw const FUNCTIONS).addr())
}

fn clear(reference: &Reference) {
    // SAFETY: asks for a constant of the system.
    let page_bytes = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096);
    let page: *mut c_void =
        ptr::with_exposed_provenance_mut(reference.place / page_bytes * page_bytes);
    if reference.is_protected {
        // SAFETY: the page holds addresses that the loader has filled in, and stays mapped.
        let code = unsafe { libc::mprotect(page, page_bytes, libc::PROT_READ | libc::PROT_WRITE) };
        if code != 0 {
            return;
        }
    }
    // SAFETY: the place is aligned and writable, and no other thread reads it before MPI begins.
    unsafe { ptr::with_exposed_provenance_mut::<usize>(reference.place).write_volatile(0) };
    if reference.is_protected {
        // SAFETY: the place is aligned and writable, and no other thread reads it before MPI
        // begins; this is how the loader has left the page.
        unsafe { libc::mprotect(page, page_bytes, libc::PROT_READ) };
    }
}

/// Reads from the tables of an object, whose addresses come from the loader.
fn read<T: Copy>(address: usize) -> T {
    // SAFETY: the loader has filled the tables of the objects that it names, and they stay mapped
    // while the loader's lock is held, or, as the references of a live object, longer.
    unsafe { ptr::with_exposed_provenance::<T>(address).read_unaligned() }
}

/// Collects the weak references of one object to functions with MPI's names.
fn collect(object: &libc::dl_phdr_info, references: &mut Vec<Reference>) {
    let base = usize::try_from(object.dlpi_addr).unwrap_or(0);
    let range = |kind| {
        let header = headers(object).iter().find(|header| header.p_type == kind)?;
        let start = base + usize::try_from(header.p_vaddr).ok()?;
        Some(start..start + usize::try_from(header.p_memsz).ok()?)
    };
    let Some(dynamic) = range(libc::PT_DYNAMIC) else { return };
    let protected = range(libc::PT_GNU_RELRO).unwrap_or_default();
    let entry = |tag: usize| {
        let mut entries = dynamic.clone().step_by(16).map(|at| (read::<usize>(at), at));
        let (_, at) = entries
            .by_ref()
            .take_while(|(found, _)| *found != 0)
            .find(|(found, _)| *found == tag)?;
        Some(read::<usize>(at + 8))
    };
    // The loader has added the base in most objects, but not in read-only ones.
    let table = |tag| entry(tag).map(|at| if at < base { at + base } else { at });
    let (Some(symbols), Some(texts)) = (table(SYMBOLS), table(TEXTS)) else { return };
    for (relocations, bytes) in
        [(RELOCATIONS, RELOCATIONS_BYTES), (PLT_RELOCATIONS, PLT_RELOCATIONS_BYTES)]
    {
        let (Some(start), Some(bytes)) = (table(relocations), entry(bytes)) else { continue };
        for at in (start..start + bytes).step_by(RELOCATION_BYTES) {
            let info: usize = read(at + 8);
            let symbol = symbols + (info >> 32) * SYMBOL_BYTES;
            let is_undefined = read::<u16>(symbol + 6) == 0;
            let is_weak = read::<u8>(symbol + 4) >> 4 == WEAK;
            if !is_weak || !is_undefined || !ADDRESS_OF_SYMBOL.contains(&(info & 0xffff_ffff)) {
                continue;
            }
            let name = texts + usize::try_from(read::<u32>(symbol)).unwrap_or(0);
            // SAFETY: the names of symbols end with a zero, and stay while the object is loaded.
            let name = unsafe { CStr::from_ptr(ptr::with_exposed_provenance(name)) };
            let place = base + read::<usize>(at);
            if name.to_bytes().starts_with(b"MPI_") {
                references.push(Reference {
                    place,
                    name,
                    is_protected: protected.contains(&place),
                });
            }
        }
    }
}

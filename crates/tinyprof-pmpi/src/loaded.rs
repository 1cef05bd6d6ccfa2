//! Symbols of the libraries in this process, found by name.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ops::Range;
use std::{ptr, slice};

/// Returns whether the library with this soname is in the process.
pub(crate) fn is_loaded(soname: &CStr) -> bool {
    // SAFETY: the name ends with a zero; nothing is loaded.
    let library = unsafe { libc::dlopen(soname.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
    if library.is_null() {
        return false;
    }
    // SAFETY: the handle comes from `dlopen` and is given back once.
    unsafe { libc::dlclose(library) };
    true
}

/// Returns the address of a symbol: of those visible to all, or else of the MPI libraries that were
/// loaded for one user alone (`RTLD_LOCAL`), as plugins and scripting languages do.
pub(crate) fn symbol(name: &CStr) -> Option<*mut c_void> {
    visible_symbol(name).or_else(|| find_loaded(|object| symbol_in(object, name, is_of_mpi)))
}

/// As [`symbol`], of libraries whose file's name has this beginning.
pub(crate) fn symbol_of(name: &CStr, library: &[u8]) -> Option<*mut c_void> {
    let is_of_library = |path: &[u8]| file_name(path).starts_with(library);
    visible_symbol(name).or_else(|| find_loaded(|object| symbol_in(object, name, is_of_library)))
}

fn visible_symbol(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: the name ends with a zero.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!found.is_null()).then_some(found)
}

/// Has the preloaded library do what it does when it is loaded, if there is one.
pub(crate) fn arrange_now() {
    let Some(found) = visible_symbol(c"tinyprof_arrange") else { return };
    // SAFETY: the symbol is the preloaded library's function of that name.
    let arrange = unsafe { std::mem::transmute::<*mut c_void, extern "C" fn()>(found) };
    arrange();
}

/// Returns the definition of a function that the linker finds next after ours, if it belongs to
/// another tool. It does not if its library is MPI, which also defines one of the names `of_mpi` of
/// the profiling interface, or another copy of ours.
pub(crate) fn next_of_a_tool(name: &CStr, of_mpi: &[CString]) -> Option<*mut c_void> {
    // SAFETY: the name ends with a zero.
    let next = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    let library = library_of(next)?;
    let is_mpi = of_mpi.iter().any(|name| library.defines(name));
    (!is_mpi && !library.defines(c"tinyprof_wrappers")).then_some(next)
}

/// A loaded library or executable.
pub(crate) struct Library {
    /// Where it begins in memory.
    pub(crate) start: *mut c_void,
    path: *const c_char,
}

/// Returns the library that an address belongs to.
pub(crate) fn library_of(address: *mut c_void) -> Option<Library> {
    let mut found = libc::Dl_info {
        dli_fname: ptr::null(),
        dli_fbase: ptr::null_mut(),
        dli_sname: ptr::null(),
        dli_saddr: ptr::null_mut(),
    };
    // SAFETY: any address may be asked for, and the place for the answer is valid.
    let code = unsafe { libc::dladdr(address, &raw mut found) };
    (code != 0).then_some(Library { start: found.dli_fbase, path: found.dli_fname })
}

/// Returns the addresses of the loaded library that an address belongs to; none if it belongs to
/// none.
pub(crate) fn memory_around(address: usize) -> Range<usize> {
    let word = |address| usize::try_from(address).unwrap_or(0);
    let around = find_loaded(|object| {
        let loaded = headers(object).iter().filter(|header| header.p_type == libc::PT_LOAD);
        let memory = loaded.map(|header| {
            let start = object.dlpi_addr + header.p_vaddr;
            (start, start + header.p_memsz)
        });
        let all = memory.reduce(|all, one| (all.0.min(one.0), all.1.max(one.1)));
        all.map(|(start, end)| word(start)..word(end)).filter(|all| all.contains(&address))
    });
    around.unwrap_or(0..0)
}

/// Calls `look` for each loaded executable and library, until it returns something.
///
/// The loader is locked meanwhile: `look` loads nothing.
pub(crate) fn find_loaded<T>(look: impl FnMut(&libc::dl_phdr_info) -> Option<T>) -> Option<T> {
    let mut search = Search { look, found: None };
    let callback = search_in(&search);
    // SAFETY: the callback is that of the search, which outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(callback), (&raw mut search).cast()) };
    search.found
}

/// Returns the headers of the segments of a loaded object, which stay while it is loaded.
pub(crate) fn headers(object: &libc::dl_phdr_info) -> &'static [libc::Elf64_Phdr] {
    if object.dlpi_phnum == 0 {
        return &[];
    }
    // SAFETY: the loader says where the headers are, and how many.
    unsafe { slice::from_raw_parts(object.dlpi_phdr, usize::from(object.dlpi_phnum)) }
}

struct Search<T, Look> {
    look: Look,
    found: Option<T>,
}

type Callback = unsafe extern "C" fn(*mut libc::dl_phdr_info, usize, *mut c_void) -> c_int;

/// Returns the function that the loader is to call for a search.
fn search_in<T, Look: FnMut(&libc::dl_phdr_info) -> Option<T>>(_: &Search<T, Look>) -> Callback {
    unsafe extern "C" fn visit<T, Look: FnMut(&libc::dl_phdr_info) -> Option<T>>(
        object: *mut libc::dl_phdr_info,
        _bytes: usize,
        search: *mut c_void,
    ) -> c_int {
        // SAFETY: the loader passes a valid description of an object.
        let object = unsafe { &*object };
        // SAFETY: `find_loaded` passes its search, which nobody else uses meanwhile.
        let search = unsafe { &mut *search.cast::<Search<T, Look>>() };
        search.found = (search.look)(object);
        c_int::from(search.found.is_some())
    }
    visit::<T, Look>
}

/// Marks libraries that contain our wrappers: a program may be built with them, and the library
/// preloaded, too.
#[used]
#[unsafe(no_mangle)]
static tinyprof_wrappers: u8 = 1;

impl Library {
    /// Returns whether it defines a symbol itself, for others.
    pub(crate) fn defines(&self, name: &CStr) -> bool {
        let flags = libc::RTLD_LAZY | libc::RTLD_NOLOAD;
        // SAFETY: the path is that of an object that is loaded; nothing is loaded by this.
        let mut library = unsafe { libc::dlopen(self.path, flags) };
        if library.is_null() {
            // The executable is not found by the name that it was started by.
            // SAFETY: this names the executable; nothing is loaded.
            library = unsafe { libc::dlopen(ptr::null(), flags) };
        }
        if library.is_null() {
            return false;
        }
        // SAFETY: the library is loaded, and the name ends with a zero.
        let found = unsafe { libc::dlsym(library, name.as_ptr()) };
        // SAFETY: the handle comes from `dlopen` and is given back once.
        unsafe { libc::dlclose(library) };
        // The search goes on in what the library depends on.
        library_of(found).is_some_and(|of| of.start == self.start)
    }
}

/// Looks a symbol up in one loaded object, if its path is one of those.
fn symbol_in(
    object: &libc::dl_phdr_info,
    name: &CStr,
    is_one: impl Fn(&[u8]) -> bool,
) -> Option<*mut c_void> {
    let path = object.dlpi_name;
    if path.is_null() {
        return None;
    }
    // SAFETY: the loader's paths end with a zero.
    if !is_one(unsafe { CStr::from_ptr(path) }.to_bytes()) {
        return None;
    }
    // SAFETY: the path is that of an object that is loaded; nothing is loaded by this.
    let library = unsafe { libc::dlopen(path, libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
    if library.is_null() {
        return None;
    }
    // SAFETY: the library is loaded, and the name ends with a zero.
    let found = unsafe { libc::dlsym(library, name.as_ptr()) };
    // SAFETY: the handle comes from `dlopen` and is given back once.
    unsafe { libc::dlclose(library) };
    (!found.is_null()).then_some(found)
}

/// Returns whether a path is that of an MPI library: `libmpi...`, `libmpich...`.
fn is_of_mpi(path: &[u8]) -> bool {
    let file = file_name(path);
    file.starts_with(b"libmpi") || file.starts_with(b"libpmpi")
}

fn file_name(path: &[u8]) -> &[u8] {
    path.rsplit(|&byte| byte == b'/').next().unwrap_or_default()
}

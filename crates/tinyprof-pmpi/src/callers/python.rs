//! Lines of Python at calls that an extension such as mpi4py makes for them.
//!
//! Most calls of mpi4py are made while the interpreter's lock (the GIL) is not held, and asking for
//! it would change the order of the program's threads. So nothing here needs the lock: no reference
//! is taken, no object made, no code of Python run. What is read is the chain of the calling
//! thread's own frames, which only this thread changes, and code objects and texts, which never
//! change while a frame holds them ([`interpreter`]). The line of a code object is told by the
//! interpreter's own function, which only reads, too.
//!
//! Frames are not described by the interpreter. They differ from version to version ([`layout`]);
//! the first look checks everything that it reads, and where anything is not what it should be,
//! calls stay at the extension's address.
//!
//! What is known of a place is kept by code object and instruction ([`known`]), and compared with
//! what tells a code object from another one at the same address.

mod interpreter;
mod known;
mod layout;
mod lines;

use std::ffi::{CStr, CString};
use std::path::Path;

use tinyprof::__calls::ScriptLine;

use super::wrappers;
use crate::function::FUNCTIONS;
use crate::loaded::library_of;
use interpreter::Interpreter;
use known::{KNOWN, Seen};

/// How many frames are looked through for one of the user's.
const DEPTH_MAX: usize = 64;

/// Returns whether the loaded object with this path, which has code at `address`, is a part of
/// Python: an extension, the library by which `ctypes` and `cffi` make calls, or the interpreter.
pub(super) fn is_part(path: &Path, address: usize) -> bool {
    if Interpreter::get().is_none() {
        return false;
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let module = name.split('.').next().unwrap_or_default();
    let initializer = CString::new(format!("PyInit_{module}")).unwrap_or_default();
    let library = library_of(std::ptr::with_exposed_provenance_mut(address));
    let defines = |name: &CStr| library.as_ref().is_some_and(|library| library.defines(name));
    name.starts_with("libffi.")
        || defines(&initializer)
        || defines(c"PyGILState_GetThisThreadState")
}

/// Returns the line of the user's script from which the function at `index` is called on this
/// thread. Frames of bindings and of wrappers are skipped; if there are no others, it is the line
/// of the innermost frame.
///
/// # Cost
/// Some ten loads and comparisons for each frame that is looked at; microseconds the first time.
pub(super) fn line(index: usize) -> Option<&'static ScriptLine> {
    let interpreter = Interpreter::get()?;
    let mut frame = interpreter.frame()?;
    let mut innermost = None;
    for _ in 0..DEPTH_MAX {
        if let Some(code) = interpreter.code(frame) {
            let look = interpreter.look(frame, code, index);
            let seen = KNOWN.find(&look).or_else(|| {
                let seen = see(interpreter, frame, code, index)?;
                KNOWN.keep(&look, seen);
                Some(seen)
            })?;
            if seen.is_own {
                return Some(seen.line);
            }
            innermost = innermost.or(Some(seen.line));
        }
        match interpreter.caller(frame) {
            Some(caller) => frame = caller,
            None => break,
        }
    }
    innermost
}

/// Finds out what a frame executes.
#[cold]
fn see(interpreter: &Interpreter, frame: usize, code: usize, index: usize) -> Option<Seen> {
    let file = interpreter.file(code)?;
    let function = lines::plain(&interpreter.function(code)?);
    let line = u32::try_from(interpreter.line(frame, code)).ok().filter(|&line| line > 0)?;
    let module = Path::new(&file).file_stem().unwrap_or_default().to_string_lossy();
    let name = format!("{module}::{}", function.replace('.', "::"));
    let is_own =
        !lines::is_of_bindings(&file) && !wrappers().is_wrapper(&name, FUNCTIONS[index].name);
    let line = lines::kept(ScriptLine { function, file, line })?;
    Some(Seen { line, is_own })
}

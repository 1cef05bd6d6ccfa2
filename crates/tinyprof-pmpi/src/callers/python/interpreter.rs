//! The interpreter of this process, and what is read of it: the frames of the calling thread.
//!
//! Nothing is written, and no function is called but four that only read.

use std::ffi::{CStr, c_char, c_int};
use std::mem::transmute;
use std::sync::OnceLock;
use std::sync::atomic::AtomicU8;
use std::sync::atomic::Ordering::Relaxed;

use super::known::{LOOK_WORDS, Look};
use super::layout::{Instruction, Layout};
use crate::callers::unwinding::read_word;
use crate::loaded::symbol_of;

/// Offsets that all versions have: of an object's type, and of the number of its parts.
const TYPE: usize = 8;
const PARTS: usize = 16;
/// Of a text's length and its hash.
const TEXT_LENGTH: usize = 16;
const TEXT_HASH: usize = 24;
/// Of the bytes of a type's objects, without their parts, and of the list of its fields.
const TYPE_BYTES: usize = 32;
const TYPE_FIELDS: usize = 240;
/// The bytes of an entry of that list: name, kind, offset, flags, text.
const FIELD_BYTES: usize = 40;
const FIELD_OFFSET: usize = 16;
const FIELDS_MAX: usize = 64;
/// A frame that stands for a call from C, and executes nothing.
const OWNED_BY_C: u8 = 3;
/// The most frames that are checked.
const CHECKED_MAX: usize = 1000;
/// The longest text that is read.
const TEXT_MAX: isize = 2048;

/// `PyGILState_GetThisThreadState`.
type ThisThread = unsafe extern "C" fn() -> usize;
/// `Py_IsFinalizing`.
type IsEnding = unsafe extern "C" fn() -> c_int;
/// `PyCode_Addr2Line`: code object, and offset in its instructions.
type LineOf = unsafe extern "C" fn(usize, c_int) -> c_int;
/// `PyUnicode_GetLength`.
type LengthOf = unsafe extern "C" fn(usize) -> isize;
/// `PyUnicode_ReadChar`: text, and index.
type LetterOf = unsafe extern "C" fn(usize, isize) -> u32;

/// `CPython`, of which everything is known that reading its frames needs.
#[derive(Debug)]
pub(super) struct Interpreter {
    layout: Layout,
    fields: Fields,
    /// The addresses of the types of code objects and texts.
    code_type: usize,
    text_type: usize,
    this_thread: ThisThread,
    is_ending: Option<IsEnding>,
    line: LineOf,
    text_length: LengthOf,
    letter: LetterOf,
    check: AtomicU8,
}

/// The offsets of the fields of code objects.
#[derive(Debug)]
struct Fields {
    file: usize,
    name: usize,
    qualified_name: Option<usize>,
    first_line: usize,
    lines: usize,
    /// Where the instructions begin, in versions whose frames have addresses.
    instructions: usize,
}

/// The states of the check: whether frames are as the layout says.
const UNCHECKED: u8 = 0;
const RIGHT: u8 = 1;
const WRONG: u8 = 2;

impl Interpreter {
    /// Returns the interpreter that was in the process at the first call, if it is one that is
    /// known.
    #[inline]
    pub(super) fn get() -> Option<&'static Self> {
        static INTERPRETER: OnceLock<Option<Interpreter>> = OnceLock::new();
        INTERPRETER.get_or_init(Self::find).as_ref()
    }

    #[cold]
    fn find() -> Option<Self> {
        let symbol = |name: &CStr| symbol_of(name, b"libpython").map(|at| at.addr());
        // SAFETY: the function has been so since version 1.
        let version = unsafe {
            transmute::<usize, unsafe extern "C" fn() -> *const c_char>(symbol(c"Py_GetVersion")?)
        };
        // SAFETY: it may be called at any time, and returns a text that stays.
        let version = unsafe { version() };
        // SAFETY: the text ends with a zero.
        let version = unsafe { CStr::from_ptr(version) }.to_str().ok()?;
        let layout = Layout::of(minor_of(version)?)?;
        let code_type = symbol(c"PyCode_Type")?;
        let is_ending = symbol(c"Py_IsFinalizing").or_else(|| symbol(c"_Py_IsFinalizing"));
        Some(Self {
            fields: Fields::of(code_type)?,
            layout,
            code_type,
            text_type: symbol(c"PyUnicode_Type")?,
            // SAFETY: the functions have had these arguments since version 3.3 at the latest.
            this_thread: unsafe {
                transmute::<usize, ThisThread>(symbol(c"PyGILState_GetThisThreadState")?)
            },
            // SAFETY: the functions have had these arguments since version 3.3 at the latest.
            is_ending: is_ending.map(|at| unsafe { transmute::<usize, IsEnding>(at) }),
            // SAFETY: the functions have had these arguments since version 3.3 at the latest.
            line: unsafe { transmute::<usize, LineOf>(symbol(c"PyCode_Addr2Line")?) },
            // SAFETY: the functions have had these arguments since version 3.3 at the latest.
            text_length: unsafe { transmute::<usize, LengthOf>(symbol(c"PyUnicode_GetLength")?) },
            // SAFETY: the functions have had these arguments since version 3.3 at the latest.
            letter: unsafe { transmute::<usize, LetterOf>(symbol(c"PyUnicode_ReadChar")?) },
            check: AtomicU8::new(UNCHECKED),
        })
    }

    /// Returns the innermost frame of the calling thread: none if the thread is not one of Python,
    /// if Python ends, or if frames are not what they are known to be.
    #[inline]
    pub(super) fn frame(&self) -> Option<usize> {
        if self.check.load(Relaxed) == WRONG {
            return None;
        }
        // SAFETY: the function only reads, and needs no lock.
        if self.is_ending.is_some_and(|is_ending| unsafe { is_ending() } != 0) {
            return None;
        }
        // SAFETY: the function only reads, and needs no lock.
        let thread = unsafe { (self.this_thread)() };
        if thread == 0 || self.check.load(Relaxed) == UNCHECKED && !self.check_frames(thread) {
            return None;
        }
        let layout = &self.layout;
        // SAFETY: the thread is alive, and its state has these words, as was checked.
        let mut frame = unsafe { word(thread + layout.of_thread) };
        if let Some(of_link) = layout.of_link {
            // SAFETY: the thread is alive, and its state has these words, as was checked.
            frame = unsafe { word(frame + of_link) };
        }
        (frame != 0).then_some(frame)
    }

    /// Returns the frame that has called another one.
    #[inline]
    pub(super) fn caller(&self, frame: usize) -> Option<usize> {
        // SAFETY: the frame is one of this thread, which is inside of a call.
        let caller = unsafe { word(frame + self.layout.caller) };
        (caller != 0).then_some(caller)
    }

    /// Returns the code object of a frame; none if the frame executes nothing.
    #[inline]
    pub(super) fn code(&self, frame: usize) -> Option<usize> {
        if let Instruction::Address(_, owner) = self.layout.instruction {
            let owner: *const u8 = std::ptr::with_exposed_provenance(frame + owner);
            // SAFETY: as for `caller`.
            if unsafe { *owner } == OWNED_BY_C {
                return None;
            }
        }
        // SAFETY: as for `caller`.
        let code = unsafe { word(frame + self.layout.code) };
        // SAFETY: an object that the frame holds.
        (unsafe { word(code + TYPE) } == self.code_type).then_some(code)
    }

    /// Returns what tells the place in a frame from any other one.
    #[inline]
    pub(super) fn look(&self, frame: usize, code: usize, index: usize) -> Look {
        let fields = &self.fields;
        // SAFETY: the code object has these fields, which it does not change.
        let field = |offset: usize| unsafe { word(code + offset) };
        let (name, file, lines) = (field(fields.name), field(fields.file), field(fields.lines));
        // SAFETY: the code object holds these texts and bytes.
        let of = |object: usize, offset: usize| unsafe { word(object + offset) };
        let first_line = number(code + fields.first_line);
        let look: [usize; LOOK_WORDS] = [
            code,
            self.instruction(frame),
            index << 32 | first_line as usize,
            name,
            of(name, TEXT_HASH),
            file,
            of(file, TEXT_LENGTH) << 32 | of(lines, PARTS) & 0xffff_ffff,
            lines,
        ];
        Look(look)
    }

    /// Returns the number of the line that a frame executes.
    pub(super) fn line(&self, frame: usize, code: usize) -> i32 {
        let instruction = self.instruction(frame);
        let offset = match self.layout.instruction {
            Instruction::Number(_, bytes) => low(instruction).wrapping_mul(bytes),
            Instruction::Address(..) => {
                i32::try_from(instruction.wrapping_sub(code + self.fields.instructions))
                    .unwrap_or(-1)
            }
        };
        // SAFETY: the function only reads the code object.
        unsafe { (self.line)(code, offset) }
    }

    /// Returns the path of the file of a code object.
    pub(super) fn file(&self, code: usize) -> Option<String> {
        self.text(code, self.fields.file)
    }

    /// Returns the name of the function of a code object, with its classes where the version knows.
    pub(super) fn function(&self, code: usize) -> Option<String> {
        self.text(code, self.fields.qualified_name.unwrap_or(self.fields.name))
    }

    fn text(&self, code: usize, field: usize) -> Option<String> {
        // SAFETY: the code object has this field.
        let text = unsafe { word(code + field) };
        // SAFETY: the code object holds it.
        if unsafe { word(text + TYPE) } != self.text_type {
            return None;
        }
        // SAFETY: `text` is a text of Python, and the function only reads it.
        let length = unsafe { (self.text_length)(text) }.min(TEXT_MAX);
        // SAFETY: the same, and `at` is less than its length.
        let letters = (0..length).map(|at| unsafe { (self.letter)(text, at) });
        Some(letters.map(|letter| char::from_u32(letter).unwrap_or('?')).collect())
    }

    #[inline]
    fn instruction(&self, frame: usize) -> usize {
        match self.layout.instruction {
            Instruction::Number(offset, _) => number(frame + offset) as usize,
            // SAFETY: as for `caller`.
            Instruction::Address(offset, _) => unsafe { word(frame + offset) },
        }
    }

    /// Checks that all frames of a thread are as the layout says, and keeps the result.
    #[cold]
    fn check_frames(&self, thread: usize) -> bool {
        let is_right = self.checked_frames(thread);
        let result = match is_right {
            Some(true) => RIGHT,
            // Without any frame there is nothing to check.
            Some(false) => UNCHECKED,
            None => WRONG,
        };
        self.check.store(result, Relaxed);
        result == RIGHT
    }

    /// Returns whether there are frames, and `None` if anything is not what it should be.
    fn checked_frames(&self, thread: usize) -> Option<bool> {
        let layout = &self.layout;
        let mut frame = read_word(thread + layout.of_thread)?;
        if let Some(of_link) = layout.of_link {
            frame = read_word(frame + of_link)?;
        }
        let mut count = 0;
        while frame != 0 {
            if count == CHECKED_MAX {
                return Some(true);
            }
            let executes = self.checked_frame(frame)?;
            count += usize::from(executes);
            frame = read_word(frame.checked_add(layout.caller)?)?;
        }
        Some(count > 0)
    }

    /// Returns whether a frame executes anything, as [`checked_frames`](Self::checked_frames).
    fn checked_frame(&self, frame: usize) -> Option<bool> {
        if let Instruction::Address(_, owner) = self.layout.instruction {
            let [owner, ..] = read_word(frame.checked_add(owner)?)?.to_le_bytes();
            if owner == OWNED_BY_C {
                return Some(false);
            }
            if owner > OWNED_BY_C {
                return None;
            }
        }
        let code = read_word(frame.checked_add(self.layout.code)?)?;
        let is = |object: usize, kind: usize| {
            (read_word(object.checked_add(TYPE)?)? == kind).then_some(())
        };
        is(code, self.code_type)?;
        is(read_word(code + self.fields.name)?, self.text_type)?;
        is(read_word(code + self.fields.file)?, self.text_type)?;
        if let Some(qualified_name) = self.fields.qualified_name {
            is(read_word(code + qualified_name)?, self.text_type)?;
        }
        read_word(read_word(code + self.fields.lines)? + PARTS)?;
        match self.layout.instruction {
            Instruction::Number(offset, _) => {
                let number = low(read_word(frame + offset)?);
                (-1..1 << 24).contains(&number).then_some(true)
            }
            Instruction::Address(offset, _) => {
                let start = code + self.fields.instructions;
                let bytes = read_word(code + PARTS)?.checked_mul(2)?;
                let at = read_word(frame + offset)?;
                // Before the first instruction, the last one is that before it.
                (at + 2 >= start && at - start.min(at) < bytes.max(1)).then_some(true)
            }
        }
    }
}

impl Fields {
    /// Returns the offsets as the interpreter's own list of fields tells them.
    fn of(code_type: usize) -> Option<Self> {
        let fields = read_word(code_type + TYPE_FIELDS)?;
        let mut all: Vec<(Vec<u8>, usize)> = Vec::new();
        for index in 0..FIELDS_MAX {
            let field = fields.checked_add(index * FIELD_BYTES)?;
            let name = read_word(field)?;
            if name == 0 {
                break;
            }
            all.push((read_name(name)?, read_word(field + FIELD_OFFSET)?));
        }
        let offset = |name: &[u8]| {
            let found = all.iter().find(|(known, _)| known == name);
            found.map(|(_, offset)| *offset).filter(|offset| (16..512).contains(offset))
        };
        Some(Self {
            file: offset(b"co_filename")?,
            name: offset(b"co_name")?,
            qualified_name: offset(b"co_qualname"),
            first_line: offset(b"co_firstlineno")?,
            lines: offset(b"co_linetable").or_else(|| offset(b"co_lnotab"))?,
            instructions: read_word(code_type + TYPE_BYTES)?,
        })
    }
}

/// Reads a short name that ends with a zero.
fn read_name(at: usize) -> Option<Vec<u8>> {
    let mut name = Vec::new();
    for part in 0..8 {
        let bytes = read_word(at.checked_add(part * 8)?)?.to_le_bytes();
        let end = bytes.iter().position(|&byte| byte == 0);
        name.extend(&bytes[..end.unwrap_or(bytes.len())]);
        if end.is_some() {
            return Some(name);
        }
    }
    None
}

/// Returns the second number of a version such as `3.11.2 (main, ...)`. Builds without the lock
/// have other objects.
fn minor_of(version: &str) -> Option<u32> {
    let is_free = version.contains("free-threading");
    let minor = version.strip_prefix("3.").filter(|_| !is_free)?;
    minor.split(['.', '+', ' ', 'a', 'b', 'r']).next()?.parse().ok()
}

/// Returns the low half of a word.
fn low(word: usize) -> i32 {
    let [first, second, third, fourth, ..] = word.to_le_bytes();
    i32::from_le_bytes([first, second, third, fourth])
}

/// Reads a word of the interpreter.
///
/// # Safety
/// The address is inside of an object of the interpreter that stays meanwhile.
#[inline]
unsafe fn word(address: usize) -> usize {
    // SAFETY: as the caller says.
    unsafe { *std::ptr::with_exposed_provenance::<usize>(address) }
}

/// Reads a number of 32 bits, of a frame or a code object.
#[inline]
fn number(address: usize) -> u32 {
    // SAFETY: the callers pass fields of objects that stay meanwhile.
    unsafe { *std::ptr::with_exposed_provenance::<u32>(address) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_that_of_a_build_with_the_lock() {
        for (version, minor) in [
            ("3.11.2 (main, Apr 28 2025, 14:11:48) [GCC 12.2.0]", Some(11)),
            ("3.9.0rc1", Some(9)),
            ("3.13.0 experimental free-threading build (main)", None),
            ("2.7.18", None),
            ("", None),
        ] {
            assert_eq!(minor_of(version), minor, "{version}");
        }
    }

    #[test]
    fn a_process_without_python_has_no_interpreter() {
        assert!(Interpreter::get().is_none());
    }

    #[test]
    fn a_name_is_read_up_to_its_end() {
        let name = c"co_firstlineno";
        assert_eq!(read_name(name.as_ptr().addr()).as_deref(), Some(name.to_bytes()));
        assert_eq!(read_name(16), None, "nothing is there");
    }
}

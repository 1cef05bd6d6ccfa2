//! Wraps a call of the program: opens its region, and records its messages.

mod announced;
mod at_once;
mod before;
mod collective;
mod completion;
mod concluded;
mod contents;
mod file;
mod flush_point;
mod followed;
mod inside;
mod joined;
mod joint;
mod lifetime;
mod message;
mod off;
mod one_sided;
mod ordered;
mod original;
mod outcome;
mod persistent;
mod refused;
mod sending;
mod short;
mod under_way;
mod unrecorded;
mod watched;

use std::ffi::c_int;

use tinyprof::__calls::{Open, Recorder, Visited};

use before::Before;

use crate::abi::Interface;
use crate::arguments::Arguments;
use crate::callers;
use crate::companions;
use crate::forward::forward;
use crate::function::{Completes, Counts, FUNCTIONS, Form, Function, Lifetime, Looks, SITES};
use crate::library::mpi;
use crate::requests;
use crate::session;
use crate::words::{RETURN_ADDRESS, Words, binding};

/// The code for a function that the MPI of this process does not have: `MPI_ERR_OTHER`.
const OTHER_ERROR: c_int = 15;

/// A call that is observed.
struct Call {
    function: &'static Function,
    arguments: Arguments,
    recorder: Recorder,
    /// When the program has made it, in ticks, if looking up its function has taken time since; 0
    /// otherwise.
    called_ticks: u64,
}

/// Handles a call of the function at `index` in the table, from a program in the language of
/// `called`.
///
/// # Safety
/// `words` are those that the entry point of this function and binding has built.
#[inline(always)]
pub(crate) unsafe fn call(index: usize, called: u32, words: Words) -> c_int {
    match Recorder::current() {
        // SAFETY: as the caller says.
        Some(recorder) => unsafe { call_on(recorder, index, called, words) },
        // SAFETY: as the caller says.
        None => unsafe { off::call(index, called, words) },
    }
}

/// Handles a call of a thread that records. Out of line, so that a call that is off saves no
/// registers for it.
///
/// # Safety
/// As for [`call`].
#[inline(never)]
unsafe fn call_on(recorder: Recorder, index: usize, called: u32, words: Words) -> c_int {
    let original = original::known_of_c(index);
    if is_usual(&FUNCTIONS[index], called, original) && inside::word(recorder) == 0 {
        // SAFETY: as the caller says, and the original is the function of this name.
        unsafe { call_usual(recorder, index, words, original) }
    } else {
        // SAFETY: as the caller says.
        unsafe { call_unusual(index, called, words) }
    }
}

/// Returns whether a call is one of C, of a function that is known, and no end or pause.
#[inline(always)]
fn is_usual(function: &Function, called: u32, original: usize) -> bool {
    called == binding::C && original != 0 && function.looks != Looks::Steers
}

/// Handles a call of C that is made outside of all others, while calls are recorded.
///
/// # Safety
/// As for [`call`], and `original` is the function that it goes on to.
#[inline(always)]
unsafe fn call_usual(recorder: Recorder, index: usize, words: Words, original: usize) -> c_int {
    let (function, called) = (&FUNCTIONS[index], binding::C);
    if !session::records_calls_alone() {
        if !companions::is_on() {
            // SAFETY: as the caller says.
            return unsafe { call_unusual(index, called, words) };
        }
        // SAFETY: the words are those of this function's call, which is under way.
        let call = unsafe { Call::new(function, words, called, recorder) };
        call.arguments.pass_flush_point(function);
        // SAFETY: the original is the function of this name.
        return unsafe { call.make_observed(index, words, original) };
    }
    if function.looks == Looks::Never {
        // SAFETY: the original is the function of this name, and the words are those of its call.
        return unsafe { make(recorder, index, words, original, words, function.arguments) }.0;
    }
    // SAFETY: the words are those of this function's call, which is under way.
    let call = unsafe { Call::new(function, words, binding::C, recorder) };
    // The functions that are called most have code of their own, here.
    match function.counts {
        Counts::Sent => {
            let (code, visited) =
                // SAFETY: the original is the function of this name, and the words are those of its
                // call.
                unsafe { make(recorder, index, words, original, words, function.arguments) };
            if code == 0 {
                call.sent(visited);
            }
            code
        }
        Counts::Received => {
            let status = call.status(function.at.status);
            let (code, visited) =
                // SAFETY: the original is the function of this name, and the words are those of its
                // call.
                unsafe { make(recorder, index, words, original, words, function.arguments) };
            if code == 0 || call.has_taken(code) {
                call.received(status, visited);
            }
            code
        }
        // SAFETY: the original is the function of this name.
        _ => unsafe { call.make_and_count(index, words, original) },
    }
}

/// Handles a call that is not recorded, or not in the usual way: of Fortran, within another, before
/// MPI has begun, or the first of its function or thread.
///
/// # Safety
/// As for [`call`].
#[inline(never)]
unsafe fn call_unusual(index: usize, called: u32, words: Words) -> c_int {
    let function = &FUNCTIONS[index];
    if function.counts == Counts::KeyvalCreated {
        session::expect_attributes();
    }
    if function.lifetime == Lifetime::Begins {
        companions::begins();
    }
    let count = if called == binding::C { function.arguments } else { function.fortran_arguments };
    let called_ticks = Recorder::current().map_or(0, Recorder::ticks);
    let Some(original) = original::find(index, called) else { return OTHER_ERROR };
    // SAFETY: the original is the function of this name, and the words are those of its call.
    let pass_on = || unsafe { forward(original, words, count) };
    if !session::is_recording() || function.looks == Looks::Steers {
        // SAFETY: as the caller says.
        let _inside = unsafe { flush_point::pass_unrecorded(function, called, words) };
        // SAFETY: as the caller says.
        return unsafe { lifetime::steer(index, called, words, pass_on) };
    }
    // SAFETY: as the caller says.
    let arguments = || unsafe { Arguments::new(words, called, function.is_large, mpi()) };
    let Some(recorder) = Recorder::make() else {
        let arguments = arguments();
        if !calls_c(called) {
            arguments.pass_flush_point(function);
        }
        let code = arguments.pass_on_unrecorded(function, pass_on);
        if !calls_c(called) {
            arguments.take_part(function, code == 0);
        }
        return code;
    };
    if inside::is_inside(recorder) {
        return arguments().pass_on_unrecorded(function, pass_on);
    }
    if calls_c(called) {
        // MPI passes the call on to the function of C, which is ours again.
        let leading = inside::lead_to_c(recorder, words);
        let code = pass_on();
        drop(leading);
        return code;
    }
    let of_fortran = (called == binding::C).then(|| inside::fortran_words(recorder)).flatten();
    let from = of_fortran.unwrap_or(words);
    // SAFETY: the words are those of this function's call, which is under way.
    let call = unsafe { Call::new(function, words, called, recorder) };
    let call = Call { called_ticks, ..call };
    call.arguments.pass_flush_point(function);
    if companions::is_on() {
        // SAFETY: the original is the function of this name and binding.
        unsafe { call.make_watched(index, from, original) }
    } else {
        // SAFETY: the original is the function of this name and binding.
        unsafe { call.make_and_count(index, from, original) }
    }
}

/// Opens the region of a call that the program has made with the words `from`: in Fortran others
/// than those of the call of C that it leads to.
///
/// # Safety
/// Both calls are under way.
#[inline(always)]
unsafe fn open(recorder: Recorder, index: usize, from: Words) -> Open {
    // SAFETY: the entry point has stored the place there.
    let address = unsafe { *from.wrapping_add(RETURN_ADDRESS) };
    // SAFETY: as the caller says.
    recorder.open(&SITES[index], index, address, || unsafe { callers::place(index, from) })
}

/// Makes a call inside of its region, and returns its result and callpath.
///
/// # Safety
/// As for [`forward`], and as for [`open`].
#[inline(always)]
unsafe fn make(
    recorder: Recorder,
    index: usize,
    from: Words,
    original: usize,
    words: Words,
    count: u8,
) -> (c_int, Visited) {
    let inside = inside::enter(recorder);
    // SAFETY: as the caller says.
    let open = unsafe { open(recorder, index, from) };
    // SAFETY: as the caller says.
    let code = unsafe { forward(original, words, count) };
    let visited = open.end();
    drop(inside);
    (code, visited)
}

/// Returns whether MPI implements functions of this binding by those of C, with their public names.
fn calls_c(called: u32) -> bool {
    matches!(called, binding::FORTRAN | binding::FORTRAN_2008_TS)
        && mpi().abi.interface == Interface::Mpich
}

impl Call {
    /// Returns a call.
    ///
    /// # Safety
    /// As for [`Arguments::new`].
    #[inline(always)]
    unsafe fn new(
        function: &'static Function,
        words: Words,
        called: u32,
        recorder: Recorder,
    ) -> Self {
        // SAFETY: as the caller says.
        let arguments = unsafe { Arguments::new(words, called, function.is_large, mpi()) };
        Self { function, arguments, recorder, called_ticks: 0 }
    }

    /// Makes the call inside of its region, and counts what it did.
    ///
    /// # Safety
    /// `original` is the address of this function, of the binding that the program has called.
    #[inline(never)]
    unsafe fn make_and_count(&self, index: usize, from: Words, original: usize) -> c_int {
        let before = self.before();
        let words = self.arguments.words;
        let (code, visited) =
            // SAFETY: as the caller says, and the words are those of its call.
            unsafe { make(self.recorder, index, from, original, words, self.count()) };
        if self.is_successful(code) {
            self.after(&before, visited);
        } else if self.has_taken(code) {
            self.after(&before.with_errors(), visited);
        }
        self.give_back(&before);
        code
    }

    /// Returns the number of arguments.
    fn count(&self) -> u8 {
        let function = self.function;
        if self.arguments.is_fortran { function.fortran_arguments } else { function.arguments }
    }

    /// Looks at arguments that the call will change.
    #[inline(always)]
    fn before(&self) -> Before {
        match self.function.looks {
            Looks::Steers | Looks::Never | Looks::After => Before::NOTHING,
            Looks::AtStatus => self.before_status(),
            Looks::AtMessage => self.before_matched_receive(),
            Looks::AtRequest => self.before_completion_of_one(),
            Looks::AtRequests => self.before_completion(),
            Looks::AtFreed => {
                self.arguments.forget_freed(self.function);
                Before::NOTHING
            }
        }
    }

    #[inline(always)]
    fn before_status(&self) -> Before {
        Before { status: self.status(self.function.at.status), ..Before::NOTHING }
    }

    /// Counts what the call has done, or remembers what it has started, for the
    /// callpath of its visit.
    #[inline(always)]
    fn after(&self, before: &Before, visited: Visited) {
        match self.function.counts {
            Counts::Nothing => {}
            Counts::Sent => self.sent(visited),
            Counts::Received => self.received(before.status, visited),
            Counts::ReceiveStarted => self.started_receive(visited),
            Counts::Exchanged => {
                self.sent(visited);
                self.received(before.status, visited);
            }
            Counts::ExchangeStarted => {
                self.sent(visited);
                self.started_receive(visited);
            }
            Counts::Matched => self.matched(before),
            Counts::MatchedReceived => {
                self.received_on(before.communicator, before.status, visited);
            }
            Counts::MatchedReceiveStarted => self.started_matched_receive(before, visited),
            Counts::Prepared(prepares) => self.prepared(prepares, visited),
            Counts::Started => self.started(visited),
            Counts::Completed(Completes::One) => self.completed_one(before, visited),
            Counts::Completed(Completes::Any) => self.completed_any(before, visited),
            Counts::Completed(Completes::Some) => self.completed_some(before, visited),
            Counts::Completed(Completes::All) => self.completed_all(before, visited),
            Counts::Cancelled => requests::expect_cancelled(),
            Counts::KeyvalCreated => session::expect_attributes(),
            Counts::Collective(kind, form) => self.exchanged(kind, form == Form::Once, visited),
            Counts::Accessed(accesses) => self.accessed(accesses, visited),
            Counts::FileRead => self.file_read(before.status, visited),
            Counts::FileReadStarted => self.file_read_started(visited),
            Counts::FileWritten => self.file_written(visited),
        }
    }

    fn int(&self, position: u8) -> usize {
        usize::try_from(self.arguments.int(position)).unwrap_or(0)
    }
}

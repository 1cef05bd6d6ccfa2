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
mod one_sided;
mod ordered;
mod original;
mod outcome;
mod persistent;
mod refused;
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
use crate::function::{FUNCTIONS, Form, Function, Looks, Role, SITES};
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
    let function = &FUNCTIONS[index];
    let original = original::known_of_c(index);
    let is_usual = called == binding::C && original != 0 && function.looks != Looks::Steers;
    let recorder = match Recorder::current() {
        Some(recorder) if is_usual && inside::word(recorder) == 0 => recorder,
        // SAFETY: as the caller says.
        _ => return unsafe { call_unusual(index, called, words) },
    };
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
    match function.role {
        Role::Send => {
            let (code, visited) =
                // SAFETY: as above.
                unsafe { make(recorder, index, words, original, words, function.arguments) };
            if code == 0 {
                call.sent(visited);
            }
            code
        }
        Role::Receive => {
            let status = call.status(function.at.status);
            let (code, visited) =
                // SAFETY: as above.
                unsafe { make(recorder, index, words, original, words, function.arguments) };
            if code == 0 || call.has_taken(code) {
                call.received(status, visited);
            }
            code
        }
        // SAFETY: as above.
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
    if function.role == Role::CreateKeyval {
        session::expect_attributes();
    }
    if matches!(function.role, Role::Init | Role::InitThread) {
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
        // SAFETY: as above.
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
    // SAFETY: as above.
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
        let before = match self.function.looks {
            Looks::BeforeAndAfter => self.before(),
            _ => Before::NOTHING,
        };
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
        let at = &self.function.at;
        match self.function.role {
            Role::Receive
            | Role::Exchange
            | Role::ExchangeReplace
            | Role::Match
            | Role::FileRead
            | Role::FileReadEnd => Before { status: self.status(at.status), ..Before::NOTHING },
            Role::MatchedReceive | Role::StartMatchedReceive => self.before_matched_receive(),
            Role::CompleteOne => self.before_completion_of_one(),
            Role::CompleteAny | Role::CompleteSome | Role::CompleteAll => self.before_completion(),
            Role::FreeRequest | Role::FreeCommunicator | Role::FreeDatatype => {
                self.arguments.forget_freed(self.function);
                Before::NOTHING
            }
            _ => Before::NOTHING,
        }
    }

    /// Counts what the call has done, or remembers what it has started, for the
    /// callpath of its visit.
    #[inline(always)]
    fn after(&self, before: &Before, visited: Visited) {
        match self.function.role {
            Role::Send => self.sent(visited),
            Role::Receive => self.received(before.status, visited),
            Role::StartReceive => self.started_receive(visited),
            Role::Exchange | Role::ExchangeReplace => {
                self.sent(visited);
                self.received(before.status, visited);
            }
            Role::StartExchange | Role::StartExchangeReplace => {
                self.sent(visited);
                self.started_receive(visited);
            }
            Role::Match => self.matched(before),
            Role::MatchedReceive => {
                self.received_on(before.communicator, before.status, visited);
            }
            Role::StartMatchedReceive => self.started_matched_receive(before, visited),
            Role::SendInit
            | Role::PartitionedSendInit
            | Role::ReceiveInit
            | Role::PartitionedReceiveInit => self.prepared(visited),
            Role::Start => self.started(1, visited),
            Role::Startall => self.started(self.int(self.function.at.count), visited),
            Role::CompleteOne => self.completed_one(before, visited),
            Role::CompleteAny => self.completed_any(before, visited),
            Role::CompleteSome => self.completed_some(before, visited),
            Role::CompleteAll => self.completed_all(before, visited),
            Role::Cancel => requests::expect_cancelled(),
            Role::CreateKeyval => session::expect_attributes(),
            Role::Collective(kind, form) => self.exchanged(kind, form == Form::Once, visited),
            Role::Put
            | Role::Get
            | Role::GetAccumulate
            | Role::FetchAndOp
            | Role::CompareAndSwap => self.accessed(visited),
            Role::FileRead | Role::FileReadEnd => self.file_read(before.status, visited),
            Role::FileWrite => self.file_written(visited),
            Role::FileStartRead => self.file_read_started(visited),
            _ => {}
        }
    }

    fn int(&self, position: u8) -> usize {
        usize::try_from(self.arguments.int(position)).unwrap_or(0)
    }
}

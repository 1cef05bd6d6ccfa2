//! What is done around a call of the program: its region, and what it says of messages.

mod collective;
mod completion;
mod file;
mod message;
mod one_sided;
mod persistent;

use std::ffi::{CString, c_int};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{Acquire, Release};

use tinyprof::__calls::{self as calls, Callpath, MessageKind, Open};

use crate::abi::{Handle, Interface};
use crate::arguments::Arguments;
use crate::communicators;
use crate::datatypes;
use crate::forward::forward;
use crate::function::{FUNCTIONS, Form, Function, Looks, Role, SITES};
use crate::library::mpi;
use crate::loaded::symbol;
use crate::requests;
use crate::session;
use crate::thread::{self, Thread};
use crate::weak;
use crate::words::{RETURN_ADDRESS, Words, binding};

/// The functions that the calls go on to, by binding and index; 0 where not looked up yet.
static ORIGINALS: [[AtomicUsize; FUNCTIONS.len()]; binding::COUNT] =
    [const { [const { AtomicUsize::new(0) }; FUNCTIONS.len()] }; binding::COUNT];

/// The error class for a function that the MPI of this process does not have; `MPI_ERR_OTHER`.
const NO_SUCH_FUNCTION: c_int = 15;

/// A call that is observed.
struct Call<'a> {
    function: &'static Function,
    arguments: Arguments,
    thread: &'a Thread,
}

/// Handles a call of the function at `index` in the table, from a program in the language of
/// `called`.
///
/// # Safety
/// `words` are those that the entry point of this function and binding has built.
#[inline]
pub(crate) unsafe fn call(index: usize, called: u32, words: Words) -> c_int {
    let function = &FUNCTIONS[index];
    let original = ORIGINALS[binding::C as usize][index].load(Acquire);
    if called != binding::C || original == 0 || !session::is_recording() {
        // SAFETY: as the caller says.
        return unsafe { call_unusual(index, called, words) };
    }
    thread::with(|thread| {
        if thread.depth.get() > 0 || thread.fortran_address.get() != 0 {
            // SAFETY: as the caller says.
            return unsafe { call_unusual(index, called, words) };
        }
        let inside = thread.enter();
        // SAFETY: the entry point has stored the place there.
        let address = unsafe { *words.wrapping_add(RETURN_ADDRESS) };
        // SAFETY: the original is the function of this name, and the words are those of its call.
        let pass_on = || unsafe { forward(original, words, function.arguments) };
        let code = if function.role == Role::Plain {
            let open = calls::open(&SITES[index], index, address);
            let code = pass_on();
            drop(open);
            code
        } else {
            // SAFETY: the words are those of this function's call, which is under way.
            let arguments = unsafe { Arguments::new(words, called, function.is_large, mpi()) };
            let call = Call { function, arguments, thread };
            call.run(index, address, called, pass_on)
        };
        drop(inside);
        code
    })
}

/// Handles a call that is not recorded, or not in the usual way: of Fortran, within another, before
/// MPI has begun, or the first of its function.
#[cold]
#[inline(never)]
unsafe fn call_unusual(index: usize, called: u32, words: Words) -> c_int {
    let function = &FUNCTIONS[index];
    let count = if called == binding::C { function.arguments } else { function.fortran_arguments };
    let Some(original) = original(index, called) else { return NO_SUCH_FUNCTION };
    // SAFETY: the original is the function of this name, and the words are those of its call.
    let pass_on = || unsafe { forward(original, words, count) };
    if !session::is_recording() {
        return outside(function, called, words, pass_on);
    }
    thread::with(|thread| {
        if thread.depth.get() > 0 {
            return pass_on();
        }
        // SAFETY: the entry point has stored the place there.
        let mut address = unsafe { *words.wrapping_add(RETURN_ADDRESS) };
        if calls_c(called) {
            // MPI passes the call on to the function of C, which is ours again.
            thread.fortran_address.set(address);
            let code = pass_on();
            thread.fortran_address.set(0);
            return code;
        }
        if called == binding::C && thread.fortran_address.get() != 0 {
            address = thread.fortran_address.take();
        }
        let inside = thread.enter();
        // SAFETY: the words are those of this function's call, which is under way.
        let arguments = unsafe { Arguments::new(words, called, function.is_large, mpi()) };
        let call = Call { function, arguments, thread };
        let code = call.run(index, address, called, pass_on);
        drop(inside);
        code
    })
}

/// Returns whether MPI implements functions of this binding by those of C, with their public names.
fn calls_c(called: u32) -> bool {
    matches!(called, binding::FORTRAN | binding::FORTRAN_2008_TS)
        && mpi().abi.interface == Interface::Mpich
}

/// Returns the function that a call goes on to, if this MPI has it.
#[inline]
fn original(index: usize, called: u32) -> Option<usize> {
    let known = &ORIGINALS[called as usize][index];
    match known.load(Acquire) {
        0 => look_up(index, called).inspect(|&found| known.store(found, Release)),
        found => Some(found),
    }
}

/// Looks a function up by the name of the profiling interface. MPICH has names of its own for
/// `mpi_f08`.
#[cold]
#[inline(never)]
fn look_up(index: usize, called: u32) -> Option<usize> {
    let name = FUNCTIONS[index].name;
    let lower = name.to_ascii_lowercase();
    let names = match called {
        binding::C => vec![format!("P{name}")],
        binding::FORTRAN => vec![format!("p{lower}_")],
        binding::FORTRAN_2008 => {
            vec![format!("p{lower}_f08_"), format!("pmpir{}_f08_", &lower[3..])]
        }
        _ => vec![format!("pmpir{}_f08ts_", &lower[3..]), format!("p{lower}_f08ts_")],
    };
    let find = |name: &String| symbol(&CString::new(name.as_str()).ok()?);
    names.iter().find_map(find).map(|found| found.expose_provenance())
}

/// Handles a call while nothing is recorded.
#[cold]
fn outside(
    function: &'static Function,
    called: u32,
    words: Words,
    pass_on: impl Fn() -> c_int,
) -> c_int {
    // The depth keeps the function of C, which Fortran's may call, from a second round.
    let is_outermost = thread::with(|thread| thread.depth.get() == 0);
    match function.role {
        Role::Init | Role::InitThread if is_outermost => {
            weak::clear_missing();
            thread::with(|thread| initialise(function, called, words, thread, pass_on))
        }
        // Regions may be recorded without calls, and recording may be paused.
        Role::Finalize if is_outermost => finalize(pass_on),
        Role::Pcontrol => control(called, words, pass_on),
        _ => pass_on(),
    }
}

/// Initialises MPI, with the profiler's steps before and after it.
fn initialise(
    function: &'static Function,
    called: u32,
    words: Words,
    thread: &Thread,
    pass_on: impl Fn() -> c_int,
) -> c_int {
    let Some(session) = session::session() else { return pass_on() };
    let inside = thread.enter();
    let code = if (session.before_init)() {
        session::begin();
        // SAFETY: the words are those of this function's call, which is under way.
        let arguments = unsafe { Arguments::new(words, called, false, mpi()) };
        let call = Call { function, arguments, thread };
        // SAFETY: the entry point has stored the place there.
        let address = unsafe { *words.wrapping_add(RETURN_ADDRESS) };
        let index = FUNCTIONS.iter().position(|known| std::ptr::eq(known, function));
        let open = call.open(index.unwrap_or_default(), address);
        let code = pass_on();
        drop(open);
        code
    } else {
        pass_on()
    };
    (session.after_init)();
    if session::is_recording() {
        calls::open_program();
    }
    drop(inside);
    code
}

/// Finalises MPI, after the profiler's last steps.
fn finalize(pass_on: impl Fn() -> c_int) -> c_int {
    if let Some(session) = session::session() {
        (session.before_finalize)();
    }
    session::end();
    pass_on()
}

fn control(called: u32, words: Words, pass_on: impl Fn() -> c_int) -> c_int {
    // SAFETY: `MPI_Pcontrol` has one argument, an `int`.
    let arguments = unsafe { Arguments::new(words, called, false, mpi()) };
    session::control(arguments.int(0));
    pass_on()
}

impl Call<'_> {
    /// Opens the region of the call.
    #[inline]
    fn open(&self, index: usize, address: usize) -> Open {
        calls::open(&SITES[index], index, address)
    }

    #[inline]
    fn run(&self, index: usize, address: usize, called: u32, pass_on: impl Fn() -> c_int) -> c_int {
        match self.function.role.looks() {
            Looks::Never => self.steer(pass_on),
            Looks::After => {
                let open = self.open(index, address);
                let code = pass_on();
                let callpath = open.end();
                if self.is_successful(code, called) {
                    self.after(&Before::NOTHING, callpath);
                }
                code
            }
            Looks::BeforeAndAfter => {
                let before = self.before();
                let open = self.open(index, address);
                let code = pass_on();
                let callpath = open.end();
                if self.is_successful(code, called) {
                    self.after(&before, callpath);
                }
                code
            }
        }
    }

    /// Handles the functions that end, pause or resume the recording.
    #[cold]
    #[inline(never)]
    fn steer(&self, pass_on: impl Fn() -> c_int) -> c_int {
        if self.function.role == Role::Finalize {
            return finalize(pass_on);
        }
        session::control(self.arguments.int(0));
        pass_on()
    }

    /// Returns whether the call has succeeded. Fortran's functions return their code in an
    /// argument, which `mpi_f08` leaves out.
    #[inline]
    fn is_successful(&self, code: c_int, called: u32) -> bool {
        if called == binding::C {
            return code == 0;
        }
        let error = match self.function.role {
            Role::InitThread => 2,
            _ => self.function.arguments,
        };
        let place = self.arguments.word(error);
        place == 0 || self.arguments.output(error) == 0
    }

    /// Looks at arguments that the call will change.
    #[inline(never)]
    fn before(&self) -> Before {
        let at = &self.function.at;
        match self.function.role {
            Role::Receive
            | Role::Exchange
            | Role::ExchangeReplace
            | Role::FileRead
            | Role::FileReadEnd => Before { status: self.status(at.status), ..Before::NOTHING },
            Role::MatchedReceive | Role::StartMatchedReceive => self.before_matched_receive(),
            Role::CompleteOne => self.before_completion_of_one(),
            Role::CompleteAny | Role::CompleteSome | Role::CompleteAll => self.before_completion(),
            Role::FreeRequest => {
                self.forget_request();
                Before::NOTHING
            }
            Role::FreeCommunicator => {
                let kind = crate::arguments::Kind::Communicator;
                communicators::forget(self.arguments.handle_at(at.comm, 0, kind));
                Before::NOTHING
            }
            Role::FreeDatatype => {
                datatypes::forget();
                Before::NOTHING
            }
            _ => Before::NOTHING,
        }
    }

    /// Counts what the call has done, or remembers what it has started, for `callpath`.
    #[inline(never)]
    fn after(&self, before: &Before, callpath: Callpath) {
        match self.function.role {
            Role::Send => self.sent(callpath),
            Role::Receive => self.received(before.status, self.communicator(), callpath),
            Role::StartReceive => self.started_receive(callpath),
            Role::Exchange | Role::ExchangeReplace => {
                self.sent(callpath);
                self.received(before.status, self.communicator(), callpath);
            }
            Role::StartExchange | Role::StartExchangeReplace => {
                self.sent(callpath);
                self.started_receive(callpath);
            }
            Role::Match => self.matched(),
            Role::MatchedReceive => self.received(before.status, before.communicator, callpath),
            Role::StartMatchedReceive => self.started_matched_receive(before, callpath),
            Role::SendInit
            | Role::PartitionedSendInit
            | Role::ReceiveInit
            | Role::PartitionedReceiveInit => self.prepared(callpath),
            Role::Start => self.started(1, callpath),
            Role::Startall => self.started(self.int(self.function.at.count), callpath),
            Role::CompleteOne => self.completed_one(before, callpath),
            Role::CompleteAny => self.completed_any(before, callpath),
            Role::CompleteSome => self.completed_some(before, callpath),
            Role::CompleteAll => self.completed_all(before, callpath),
            Role::Cancel => requests::expect_cancelled(),
            Role::Collective(kind, form) => self.exchanged(kind, form == Form::Once, callpath),
            Role::Put
            | Role::Get
            | Role::GetAccumulate
            | Role::FetchAndOp
            | Role::CompareAndSwap => self.accessed(callpath),
            Role::FileRead | Role::FileReadEnd => self.file_read(before.status, callpath),
            Role::FileWrite => self.file_written(callpath),
            Role::FileStartRead => self.file_read_started(callpath),
            _ => {}
        }
    }

    fn int(&self, position: u8) -> usize {
        usize::try_from(self.arguments.int(position)).unwrap_or(0)
    }

    /// Counts a message or a transfer, for a callpath of this thread.
    #[inline]
    fn count(&self, callpath: Callpath, kind: MessageKind, partner: i32, bytes: u64) {
        calls::count(callpath, kind, partner, bytes);
    }
}

/// Facts known before a call, for after it.
#[derive(Clone, Copy, Debug)]
struct Before {
    /// The address of the status, or of the first of an array; 0 if there is none.
    status: usize,
    /// The communicator of a matched message.
    communicator: Handle,
    /// The place in the table of the request that is completed, and what is known of it.
    request: Option<(usize, requests::Request)>,
    /// The number of requests whose handles the thread has kept.
    kept: usize,
}

impl Before {
    const NOTHING: Self = Self { status: 0, communicator: Handle(0), request: None, kept: 0 };
}

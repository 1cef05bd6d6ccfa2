//! Tracing: runs a program while an observer changes its system calls.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Duration;

use super::tracee::{self, Stop};
use super::watch::Watch;
use super::{Ended, MARKER};
use crate::phase::Phase;

/// A system call that a thread is about to make.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// The phase that the program is in.
    pub phase: Phase,
    /// The thread.
    pub thread: i32,
    /// True for the first thread of the program.
    pub is_main: bool,
    /// The system call number.
    pub number: i64,
    /// The arguments of the call.
    pub arguments: [u64; 6],
}

impl Call {
    /// Returns the path that an argument points to, as far as it can be read.
    #[must_use]
    pub fn text(&self, argument: usize) -> Option<String> {
        let memory = fs::File::open(format!("/proc/{}/mem", self.thread)).ok()?;
        let mut bytes = [0; 256];
        let read = memory.read_at(&mut bytes, self.arguments[argument]).ok()?;
        let end = bytes[..read].iter().position(|&byte| byte == 0)?;
        Some(String::from_utf8_lossy(&bytes[..end]).into_owned())
    }

    /// Returns whether an argument is the descriptor of a directory.
    #[must_use]
    pub fn is_directory(&self, argument: usize) -> bool {
        let path = format!("/proc/{}/fd/{}", self.thread, self.arguments[argument]);
        fs::metadata(path).is_ok_and(|metadata| metadata.is_dir())
    }

    /// Returns the file that an argument is the descriptor of.
    #[must_use]
    pub fn file(&self, argument: usize) -> Option<String> {
        let link =
            fs::read_link(format!("/proc/{}/fd/{}", self.thread, self.arguments[argument])).ok()?;
        Some(link.to_string_lossy().into_owned())
    }
}

/// The action for a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Make the call.
    Let,
    /// Do not make the call, and return this error.
    Fail(i32),
    /// Make the call, and return this error nevertheless.
    FailAfter(i32),
    /// Make the call with this value as that argument (0-based, the first or the third).
    Change(usize, u64),
    /// Let the call hang for as long as the program lives.
    Hold,
}

/// An observer that decides about the calls of a program.
pub trait Observer {
    /// Returns the action for a call that is about to be made. Marker calls are not passed.
    fn call(&mut self, call: &Call) -> Action;
}

/// The action at the end of a call.
#[derive(Clone, Copy, Debug, Default)]
enum AtExit {
    #[default]
    Nothing,
    /// Return this error.
    Fail(i32),
    /// Restore this argument, which was changed: programs rely on finding it unchanged.
    Restore(usize, u64),
}

/// A program that runs under observation.
#[derive(Debug)]
pub struct Trace<'o, O> {
    observer: &'o mut O,
    leader: libc::pid_t,
    phase: Phase,
    /// The threads, with the action at the end of the call that each is in.
    threads: HashMap<libc::pid_t, AtExit>,
}

impl<O: Observer> Trace<'_, O> {
    /// Runs `command` to its end; kills it after `limit`. If `children` is set, children of the
    /// program are observed too, and the run ends with the last of them.
    ///
    /// # Errors
    /// When the program cannot be started, or this machine does not allow tracing.
    pub fn run(
        command: &mut Command,
        limit: Duration,
        children: bool,
        observer: &mut O,
    ) -> io::Result<Ended> {
        // SAFETY: the closure makes one system call, and allocates nothing.
        unsafe { command.pre_exec(tracee::trace_me) };
        let child = command.spawn()?;
        let leader = libc::pid_t::try_from(child.id()).map_err(io::Error::other)?;
        let watch = Watch::begin(child.id(), limit)?;
        // The program is stopped at its beginning.
        wait(leader)?;
        tracee::follow(leader, children)?;
        tracee::resume(leader, 0);
        let threads = HashMap::from([(leader, AtExit::Nothing)]);
        let ended = Trace { observer, leader, phase: Phase::Before, threads }.follow();
        let too_long = watch.end();
        Ok(if too_long { Ended::TooLong } else { ended? })
    }

    fn follow(mut self) -> io::Result<Ended> {
        let mut ended = None;
        while !self.threads.is_empty() {
            let (thread, status) = match wait(-1) {
                Err(error) if error.raw_os_error() == Some(libc::ECHILD) => break,
                waited => waited?,
            };
            if libc::WIFSTOPPED(status) {
                self.stopped(thread, status)?;
                continue;
            }
            self.threads.remove(&thread);
            if thread == self.leader {
                ended = Some(if libc::WIFEXITED(status) {
                    Ended::Code(libc::WEXITSTATUS(status))
                } else {
                    Ended::Signal(libc::WTERMSIG(status))
                });
            }
        }
        ended.ok_or_else(|| io::Error::other("the program's end was not reported"))
    }

    fn stopped(&mut self, thread: libc::pid_t, status: libc::c_int) -> io::Result<()> {
        let signal = libc::WSTOPSIG(status);
        let is_new = !self.threads.contains_key(&thread);
        self.threads.entry(thread).or_default();
        if signal == libc::SIGTRAP | 0x80 {
            return match self.at_call(thread) {
                // It was killed in the meantime.
                Err(error) if error.raw_os_error() == Some(libc::ESRCH) => Ok(()),
                other => other,
            };
        }
        let is_event = status >> 16 != 0;
        let is_start = is_new && signal == libc::SIGSTOP;
        tracee::resume(
            thread,
            if is_event || is_start || signal == libc::SIGTRAP { 0 } else { signal },
        );
        Ok(())
    }

    fn at_call(&mut self, thread: libc::pid_t) -> io::Result<()> {
        match tracee::stop(thread)? {
            Stop::Entry(number, arguments) => self.entry(thread, number, arguments),
            Stop::Exit => {
                match self.threads.insert(thread, AtExit::Nothing).unwrap_or_default() {
                    AtExit::Nothing => {}
                    AtExit::Fail(errno) => tracee::set_error(thread, errno)?,
                    AtExit::Restore(argument, value) => {
                        tracee::set_argument(thread, argument, value)?;
                    }
                }
                tracee::resume(thread, 0);
                Ok(())
            }
        }
    }

    fn entry(&mut self, thread: libc::pid_t, number: i64, arguments: [u64; 6]) -> io::Result<()> {
        let is_marker =
            number == libc::SYS_prctl && arguments[0] == u64::from(MARKER.cast_unsigned());
        let action = if is_marker {
            self.phase = Phase::of_number(arguments[1]).unwrap_or(self.phase);
            Action::Let
        } else {
            let is_main = thread == self.leader;
            self.observer.call(&Call { phase: self.phase, thread, is_main, number, arguments })
        };
        let at_exit = match action {
            Action::Let => AtExit::Nothing,
            Action::Fail(errno) => {
                tracee::skip(thread)?;
                AtExit::Fail(errno)
            }
            Action::FailAfter(errno) => AtExit::Fail(errno),
            Action::Change(argument, value) => {
                tracee::set_argument(thread, argument, value)?;
                AtExit::Restore(argument, arguments[argument])
            }
            // The thread stays there until the process is over.
            Action::Hold => return Ok(()),
        };
        self.threads.insert(thread, at_exit);
        tracee::resume(thread, 0);
        Ok(())
    }
}

/// Waits for a thread that this thread traces; -1 for any.
fn wait(thread: libc::pid_t) -> io::Result<(libc::pid_t, libc::c_int)> {
    loop {
        let mut status = 0;
        // SAFETY: the pointer is to a local value. Only children of this thread are waited for:
        // other threads trace programs of their own.
        let waited =
            unsafe { libc::waitpid(thread, &raw mut status, libc::__WALL | libc::__WNOTHREAD) };
        if waited >= 0 {
            return Ok((waited, status));
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

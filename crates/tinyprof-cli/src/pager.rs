//! A pager between a report and the terminal, as git has one: for what is longer than the terminal.

use std::env;
use std::ffi::OsString;
use std::io::{self, ErrorKind, Write};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use tinyprof_report::escaped;

use crate::sys;

const VARIABLES: [&str; 2] = ["TINYPROF_PAGER", "PAGER"];
const DEFAULT: &str = "less";
/// Options of `less` unless the user has set some: end at once if all fits, show colours, and leave
/// the text on the screen.
const LESS: (&str, &str) = ("LESS", "FRX");
/// Characters that only a shell understands.
const OF_A_SHELL: &str = "|&;<>()$`\\\"'*?[#~=%\n";

static IS_WANTED: AtomicBool = AtomicBool::new(false);

/// Lets output that is longer than the terminal go through the pager from now on, unless the user
/// wants none.
pub(crate) fn allow(is_wanted: bool) {
    IS_WANTED.store(is_wanted, Ordering::Relaxed);
}

/// Standard output, or the pager in front of it.
pub(crate) enum Output {
    Direct(io::Stdout),
    /// Output that may still fit the terminal, which has this many more lines.
    Kept {
        bytes: Vec<u8>,
        lines_left: usize,
        pager: OsString,
    },
    Through(Child),
}

impl Output {
    pub(crate) fn new() -> Self {
        match IS_WANTED.load(Ordering::Relaxed).then(rows).flatten().zip(pager()) {
            Some((rows, pager)) => Self::Kept { bytes: Vec::new(), lines_left: rows.into(), pager },
            None => Self::Direct(io::stdout()),
        }
    }

    /// Prints what is left, and waits until the user has left the pager.
    ///
    /// # Errors
    /// If standard output cannot be written.
    pub(crate) fn end(self) -> io::Result<()> {
        match self {
            Self::Direct(_) => Ok(()),
            Self::Kept { bytes, .. } => direct(&bytes).map(drop),
            Self::Through(mut child) => {
                drop(child.stdin.take());
                // How a pager ends says nothing about the report.
                child.wait().map(drop)
            }
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Direct(stdout) => stdout.write(bytes),
            Self::Through(child) => match &mut child.stdin {
                Some(pipe) => pipe.write(bytes),
                None => Err(ErrorKind::BrokenPipe.into()),
            },
            Self::Kept { bytes: kept, lines_left, pager } => {
                kept.extend_from_slice(bytes);
                let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
                *lines_left = lines_left.saturating_sub(lines);
                // The prompt below the report takes a line, too.
                if *lines_left == 0 {
                    *self = started(pager, kept)?;
                }
                Ok(bytes.len())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Direct(stdout) => stdout.flush(),
            Self::Kept { .. } | Self::Through(_) => Ok(()),
        }
    }
}

/// Returns the number of lines of the terminal on standard output, if it is one.
fn rows() -> Option<u16> {
    terminal_size::terminal_size_of(io::stdout()).map(|(_, terminal_size::Height(rows))| rows)
}

/// Returns the user's pager, or the default one; none if the user wants none.
fn pager() -> Option<OsString> {
    let chosen = VARIABLES.iter().find_map(env::var_os);
    let is_none = |pager: &OsString| matches!(pager.to_string_lossy().trim(), "" | "cat");
    Some(chosen.unwrap_or_else(|| DEFAULT.into())).filter(|pager| !is_none(pager))
}

/// Starts the pager with what was kept for it; without one, prints that.
fn started(pager: &OsString, kept: &[u8]) -> io::Result<Output> {
    let mut command = command_of(pager);
    if env::var_os(LESS.0).is_none() {
        command.env(LESS.0, LESS.1);
    }
    match command.stdin(Stdio::piped()).spawn() {
        Ok(child) => {
            // An interrupt is the pager's: without us it would share the terminal with the shell.
            sys::ignore_interrupts();
            let mut output = Output::Through(child);
            match output.write_all(kept) {
                // The reader left early.
                Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error),
                _ => Ok(output),
            }
        }
        Err(error) => {
            if pager != DEFAULT || error.kind() != ErrorKind::NotFound {
                let name = escaped(&pager.to_string_lossy());
                // If standard error is closed, there is nowhere left to report it.
                writeln!(io::stderr(), "note: the pager {name} cannot be started: {error}").ok();
            }
            direct(kept)
        }
    }
}

/// A shell is needed only for what it alone understands: it could not say that there is no such
/// program before it has the report.
fn command_of(pager: &OsString) -> Command {
    let text = pager.to_string_lossy();
    if text.contains(|character| OF_A_SHELL.contains(character)) {
        let mut command = Command::new("sh");
        command.arg("-c").arg(pager);
        return command;
    }
    let mut words = text.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or(DEFAULT));
    command.args(words);
    command
}

fn direct(bytes: &[u8]) -> io::Result<Output> {
    let mut stdout = io::stdout();
    stdout.write_all(bytes)?;
    stdout.flush()?;
    Ok(Output::Direct(stdout))
}

//! The only place that prints.

use std::error::Error;
use std::fmt::Write as _;
use std::io::{self, BufWriter, ErrorKind, Write as _};

use anstream::ColorChoice;
use tinyprof_format::report::escaped;

use crate::arguments::Color;
use crate::paint;

/// Where the output is no terminal: what a line of a wide table needs.
const COLUMNS_ELSEWHERE: u16 = 120;

/// What is printed at a time.
const STREAM_BYTES: usize = 64 << 10;

/// The columns that tables may have: those that the user asked for, else those of the terminal that
/// standard output is.
pub(crate) fn columns(asked_for: Option<u16>) -> u16 {
    let size = terminal_size::terminal_size_of(io::stdout());
    asked_for
        .or(size.map(|(terminal_size::Width(columns), _)| columns))
        .unwrap_or(COLUMNS_ELSEWHERE)
}

/// Says where colours go, for all that is printed.
pub(crate) fn choose_colors(color: Color) {
    let choice = match color {
        Color::Auto => ColorChoice::Auto,
        Color::Always => ColorChoice::Always,
        Color::Never => ColorChoice::Never,
    };
    choice.write_global();
}

/// Prints `text` for people, with its head and its notes in colours where they are wanted.
///
/// # Errors
/// If standard output cannot be written for another reason than that its reader left early.
pub(crate) fn text(text: &str) -> Result<(), Box<dyn Error>> {
    painted(&paint::text(text))
}

/// Prints a text that was painted, without its colours where they are not wanted.
///
/// # Errors
/// As of [`text`].
pub(crate) fn painted(text: &str) -> Result<(), Box<dyn Error>> {
    // At once: a line of a table is written to a terminal as a whole.
    let mut bytes =
        anstream::AutoStream::new(Vec::new(), anstream::AutoStream::choice(&io::stdout()));
    bytes.write_all(text.as_bytes())?;
    write(&bytes.into_inner())
}

/// Prints `text` as it is. A reader that left early, such as `head`, has had what it wanted: no
/// error.
///
/// # Errors
/// If standard output cannot be written for another reason.
pub(crate) fn output(text: &str) -> Result<(), Box<dyn Error>> {
    write(text.as_bytes())
}

fn write(bytes: &[u8]) -> Result<(), Box<dyn Error>> {
    stream(|to| to.write_all(bytes))
}

/// Prints what `write` writes while it is made: a table of a million callpaths is longer than
/// memory should be.
///
/// # Errors
/// As of [`output`].
pub(crate) fn stream(
    write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
) -> Result<(), Box<dyn Error>> {
    let mut stdout = BufWriter::with_capacity(STREAM_BYTES, io::stdout().lock());
    match write(&mut stdout).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(format!("cannot write to standard output: {error}").into())
        }
        _ => Ok(()),
    }
}

/// Prints an error with its causes as one line on standard error: what it quotes from a file or an
/// argument cannot break out of the line.
pub(crate) fn error(error: &dyn Error) {
    // There is nowhere left to say that standard error is closed.
    writeln!(
        anstream::stderr().lock(),
        "{} {}",
        paint::painted("error:", paint::ERROR),
        escaped(&chain(error))
    )
    .ok();
}

/// Prints a line on standard error for each of `notes`: what is good to know, but is not the
/// output.
pub(crate) fn notes(notes: &[String]) {
    let text: String = notes.iter().map(|note| format!("note: {}\n", escaped(note))).collect();
    // There is nowhere left to say that standard error is closed.
    io::stderr().lock().write_all(text.as_bytes()).ok();
}

/// The error and its causes: `a: b: c`, without causes that the error before has already told.
fn chain(error: &dyn Error) -> String {
    let mut told = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let text = cause.to_string();
        if !told.ends_with(&text) {
            // Writing to a string cannot fail.
            let _ = write!(told, ": {text}");
        }
        next = cause.source();
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Link(&'static str, Option<Box<Link>>);

    impl std::fmt::Display for Link {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str(self.0)
        }
    }

    impl Error for Link {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            self.1.as_deref().map(|cause| cause as _)
        }
    }

    #[test]
    fn a_chain_tells_each_cause_once() {
        let disk = || Some(Box::new(Link("disk full", None)));
        assert_eq!(chain(&Link("cannot write", disk())), "cannot write: disk full");
        assert_eq!(chain(&Link("cannot write: disk full", disk())), "cannot write: disk full");
    }
}

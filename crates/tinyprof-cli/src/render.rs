//! All printing of the command.

use std::env;
use std::error::Error;
use std::fmt::Write as _;
use std::io::{self, BufWriter, ErrorKind, Write as _};

use anstream::ColorChoice;
use tinyprof_report::escaped;
use tinyprof_views::View;

use crate::arguments::{Color, TableFormat, TableOutput, WIDTHS};
use crate::{pager, paint};

/// The width if the output is no terminal and `COLUMNS` is not set: that of a line in a wide table.
const COLUMNS_ELSEWHERE: u16 = 120;

/// The variable in which users, or programs that show our output, tell the width of a pipe. A shell
/// does not export it.
const COLUMNS: &str = "COLUMNS";

/// The number of bytes printed at a time.
const STREAM_BYTES: usize = 64 << 10;

/// Returns the width of tables: the one that the user asked for, else that of the terminal on
/// standard output, or in a pipe that of `COLUMNS`.
pub(crate) fn columns(asked_for: Option<u16>) -> u16 {
    let terminal = || terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| width.0);
    let of_pipe = || env::var(COLUMNS).ok().as_deref().and_then(columns_of);
    asked_for.or_else(terminal).or_else(of_pipe).unwrap_or(COLUMNS_ELSEWHERE)
}

/// Returns the width in a value of `COLUMNS`, in the bounds of `--width`. What is no number is not
/// for us: other programs read the variable, too.
fn columns_of(value: &str) -> Option<u16> {
    let columns = value.trim().parse::<u16>().ok().filter(|columns| *columns > 0)?;
    Some(columns.clamp(*WIDTHS.start(), *WIDTHS.end()))
}

/// Sets where colours are used, for everything that is printed.
pub(crate) fn choose_colors(color: Color) {
    let choice = match color {
        Color::Auto => ColorChoice::Auto,
        Color::Always => ColorChoice::Always,
        Color::Never => ColorChoice::Never,
    };
    choice.write_global();
}

/// Prints `text` for people, with its head and notes in colours if they are wanted.
///
/// # Errors
/// If standard output cannot be written for a reason other than a reader that left early.
pub(crate) fn text(text: &str) -> Result<(), Box<dyn Error>> {
    painted(&paint::text(text))
}

/// Prints a table in the form that the user asked for.
///
/// # Errors
/// See [`text`].
pub(crate) fn view(view: &dyn View, output: &TableOutput) -> Result<(), Box<dyn Error>> {
    match output.format() {
        TableFormat::Json => stream(|to| view.json().write(to)),
        TableFormat::Csv => stream(|to| view.write_csv(to)),
        TableFormat::Text => text(&view.text(columns(output.width))),
    }
}

/// Prints a coloured text, without the colours if they are not wanted.
///
/// # Errors
/// See [`text`].
pub(crate) fn painted(text: &str) -> Result<(), Box<dyn Error>> {
    // All at once, since a terminal should get a line of a table as a whole.
    let mut bytes =
        anstream::AutoStream::new(Vec::new(), anstream::AutoStream::choice(&io::stdout()));
    bytes.write_all(text.as_bytes())?;
    write(&bytes.into_inner())
}

/// Prints `text` unchanged. A reader that left early, such as `head`, has all that it wanted: this
/// is no error.
///
/// # Errors
/// If standard output cannot be written for another reason.
pub(crate) fn output(text: &str) -> Result<(), Box<dyn Error>> {
    write(text.as_bytes())
}

fn write(bytes: &[u8]) -> Result<(), Box<dyn Error>> {
    stream(|to| to.write_all(bytes))
}

/// Prints the output of `write` while it is being produced: a table of a million callpaths would
/// take too much memory. Reports that are longer than the terminal go through the [`pager`].
///
/// # Errors
/// See [`output`].
pub(crate) fn stream(
    write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
) -> Result<(), Box<dyn Error>> {
    let mut output = BufWriter::with_capacity(STREAM_BYTES, pager::Output::new());
    let written = write(&mut output).and_then(|()| output.flush());
    // What could not be written is of no use any more.
    let (output, _) = output.into_parts();
    match written.and(output.end()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(format!("cannot write to standard output: {error}").into())
        }
        _ => Ok(()),
    }
}

/// Prints an error with its causes as one line on standard error. Quoted parts of a file or an
/// argument cannot break the line.
pub(crate) fn error(error: &dyn Error, suggestion: Option<&str>) {
    let suggestion = suggestion.map_or_else(String::new, |text| format!("; {text}"));
    // If standard error is closed, there is nowhere left to report it.
    writeln!(
        anstream::stderr().lock(),
        "{} {}",
        paint::painted("error:", paint::ERROR),
        escaped(&format!("{}{suggestion}", chain(error)))
    )
    .ok();
}

/// Prints each of `notes` as a line on standard error: useful facts that are not part of the
/// output.
pub(crate) fn notes(notes: &[String]) {
    let text: String = notes.iter().map(|note| format!("note: {}\n", escaped(note))).collect();
    // If standard error is closed, there is nowhere left to report it.
    io::stderr().lock().write_all(text.as_bytes()).ok();
}

/// Returns the error and its causes: `a: b: c`, without causes that the error before already
/// includes.
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
    fn the_width_of_a_pipe_is_a_number_in_bounds() {
        let check = |value: &str, expected: Option<u16>| assert_eq!(columns_of(value), expected);
        check("100", Some(100));
        check(" 80 ", Some(80));
        check("3", Some(20));
        check("5000", Some(1000));
        for value in ["", "0", "-1", "wide", "99999999"] {
            check(value, None);
        }
    }

    #[test]
    fn a_chain_tells_each_cause_once() {
        let disk = || Some(Box::new(Link("disk full", None)));
        assert_eq!(chain(&Link("cannot write", disk())), "cannot write: disk full");
        assert_eq!(chain(&Link("cannot write: disk full", disk())), "cannot write: disk full");
    }
}

//! Lines of text on a connection, of limited length.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;

/// The longest line, in bytes. Longer ones are no words of ours.
const MAX: usize = 512;

/// The first words of a rank.
pub(crate) const GREETING: &str = "tinyprof roll call 1";
/// The keeper accepts the rank's token and place.
pub(crate) const KNOWN: &str = "known";
/// The rank has heard so.
pub(crate) const HERE: &str = "here";
/// The keeper counts the rank.
pub(crate) const NOTED: &str = "noted";
/// The rank asks whether all are here.
pub(crate) const ASKED: &str = "all?";
/// All are here.
pub(crate) const ALL: &str = "all";
/// Not all are here.
pub(crate) const NOT_ALL: &str = "not all";

/// Writes a line, at once.
pub(crate) fn write(mut stream: &TcpStream, text: &str) -> io::Result<()> {
    stream.write_all(format!("{text}\n").as_bytes())
}

/// Reads a line. Takes nothing that comes after it.
///
/// # Errors
/// If the connection ends, fails, or is silent for as long as its timeout; if the line is too long,
/// or no text.
pub(crate) fn read(mut stream: &TcpStream) -> io::Result<String> {
    let mut line = Vec::new();
    let mut byte = [0];
    loop {
        match stream.read(&mut byte) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(_) if byte[0] == b'\n' => break,
            Ok(_) if line.len() == MAX => return Err(ErrorKind::InvalidData.into()),
            Ok(_) => line.push(byte[0]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    String::from_utf8(line).map_err(|_| ErrorKind::InvalidData.into())
}

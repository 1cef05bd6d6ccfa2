//! A request of a browser, as far as the page needs it: one a connection, of HTTP/1.1.

use std::io::{self, Read};

/// The most bytes of a request line and its headers, and of what follows them.
const HEAD_MAX: usize = 16 << 10;
const BODY_MAX: usize = 4 << 10;
/// The most headers.
const HEADERS_MAX: usize = 64;

/// A request.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) is_post: bool,
    /// The path, without what follows a `?`.
    pub(super) path: String,
    pub(super) body: Vec<u8>,
}

/// The reason why a request is not answered as asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// It is no request, too long, or asks for what there is not.
    Malformed,
    /// It is for a host of another name: a page of somebody else that has made its name lead here.
    ForeignHost,
    /// It comes from a page of somebody else.
    ForeignPage,
}

impl Request {
    /// Reads a request.
    ///
    /// # Errors
    /// If it cannot be read within the time limits of `stream`; the inner one, if it is refused.
    pub(super) fn read(stream: &mut impl Read) -> io::Result<Result<Self, Refused>> {
        let mut bytes = Vec::new();
        let mut part = [0; 4 << 10];
        loop {
            match Self::parse(&bytes) {
                Parsed::Whole(found) => return Ok(found),
                Parsed::Part if bytes.len() > HEAD_MAX + BODY_MAX => {
                    return Ok(Err(Refused::Malformed));
                }
                Parsed::Part => {}
            }
            let count = stream.read(&mut part)?;
            if count == 0 {
                return Ok(Err(Refused::Malformed));
            }
            bytes.extend_from_slice(&part[..count]);
        }
    }

    fn parse(bytes: &[u8]) -> Parsed {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
        let mut head = httparse::Request::new(&mut headers);
        let length = match head.parse(bytes) {
            Ok(httparse::Status::Complete(length)) => length,
            Ok(httparse::Status::Partial) if bytes.len() <= HEAD_MAX => return Parsed::Part,
            _ => return Parsed::Whole(Err(Refused::Malformed)),
        };
        let header = |name: &str| {
            let found =
                head.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name))?;
            std::str::from_utf8(found.value).ok()
        };
        let is_post = match head.method {
            Some("GET") => false,
            Some("POST") => true,
            _ => return Parsed::Whole(Err(Refused::Malformed)),
        };
        let host = header("host").unwrap_or_default();
        if !is_of_this_host(host) {
            return Parsed::Whole(Err(Refused::ForeignHost));
        }
        // Browsers say where a request comes from. Programs that are none need not.
        let is_own = |origin: &str| origin.strip_prefix("http://") == Some(host);
        if is_post && !header("origin").is_none_or(is_own) {
            return Parsed::Whole(Err(Refused::ForeignPage));
        }
        let body_length = header("content-length").map_or(Ok(0), str::parse::<usize>);
        let Some(body_length) = body_length.ok().filter(|&length| length <= BODY_MAX) else {
            return Parsed::Whole(Err(Refused::Malformed));
        };
        let Some(body) = bytes.get(length..length + body_length) else { return Parsed::Part };
        let path = head.path.unwrap_or_default();
        let path = path.split_once('?').map_or(path, |(path, _)| path);
        Parsed::Whole(Ok(Self { is_post, path: path.to_owned(), body: body.to_vec() }))
    }
}

enum Parsed {
    /// More is needed.
    Part,
    Whole(Result<Request, Refused>),
}

/// Returns whether a browser of this host has asked for this host by its own name. The port may be
/// another one, where ssh forwards it.
fn is_of_this_host(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.parse::<u16>().is_ok() => name,
        _ => host,
    };
    matches!(name, "127.0.0.1" | "localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Request, Refused> {
        Request::read(&mut text.as_bytes()).expect("nothing that can fail")
    }

    #[test]
    fn requests_of_a_browser_are_read_as_they_are() {
        let get = "GET /abc/pictures?x=1 HTTP/1.1\r\nHost: 127.0.0.1:4711\r\n\r\n";
        let path = "/abc/pictures".to_owned();
        assert_eq!(read(get), Ok(Request { is_post: false, path, body: Vec::new() }));
        let post = "POST /abc/save HTTP/1.1\r\nhost: localhost:1\r\norigin: http://localhost:1\r\n\
                    content-length: 2\r\n\r\n{}more";
        let (path, body) = ("/abc/save".to_owned(), b"{}".to_vec());
        assert_eq!(read(post), Ok(Request { is_post: true, path, body }));
    }

    #[test]
    fn what_comes_from_elsewhere_or_is_no_request_is_refused() {
        let refused = |text: &str, why| assert_eq!(read(text), Err(why), "{text}");
        refused("GET / HTTP/1.1\r\nHost: evil.example:4711\r\n\r\n", Refused::ForeignHost);
        refused("GET / HTTP/1.1\r\nHost: 127.0.0.1.evil.example\r\n\r\n", Refused::ForeignHost);
        refused("GET / HTTP/1.1\r\n\r\n", Refused::ForeignHost);
        let post = "POST / HTTP/1.1\r\nHost: localhost:1\r\nOrigin: ";
        refused(&format!("{post}http://evil.example\r\n\r\n"), Refused::ForeignPage);
        refused(&format!("{post}null\r\n\r\n"), Refused::ForeignPage);
        refused("DELETE / HTTP/1.1\r\nHost: localhost\r\n\r\n", Refused::Malformed);
        refused(
            "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\n\r\n",
            Refused::Malformed,
        );
        refused(
            "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
            Refused::Malformed,
        );
        refused("GET / HTTP/1.1\r\nHost: local", Refused::Malformed);
        refused("\u{1f}\u{8b}\0", Refused::Malformed);
        let long = format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {}", "x".repeat(30_000));
        refused(&long, Refused::Malformed);
    }
}

//! The answers to a browser.

use std::io::{self, Write};

use super::request::Refused;

/// An answer that is sent as a whole.
#[derive(Debug)]
pub(super) struct Response {
    status: &'static str,
    content_type: &'static str,
    body: Vec<u8>,
}

/// The headers of every answer: no caching, no guessing of types, no frames, no other origins.
const HEADERS: &str = "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n\
                       X-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\n\
                       Cross-Origin-Resource-Policy: same-origin\r\nConnection: close\r\n";

impl Response {
    pub(super) fn page(html: String) -> Self {
        let (status, content_type) = ("200 OK", "text/html; charset=utf-8");
        Self { status, content_type, body: html.into_bytes() }
    }

    pub(super) fn json(value: &serde_json::Value) -> Self {
        let (status, content_type) = ("200 OK", "application/json");
        Self { status, content_type, body: value.to_string().into_bytes() }
    }

    /// Returns the answer to a path that there is not, which also does not tell what there is.
    pub(super) fn nothing() -> Self {
        let text = "Nothing here: use the whole address that tinyprof live has printed.\n";
        Self::text("404 Not Found", text)
    }

    pub(super) fn refused(why: Refused) -> Self {
        match why {
            Refused::Malformed => {
                Self::text("400 Bad Request", "This is no request of the page.\n")
            }
            Refused::ForeignHost => {
                let text = "Ask for 127.0.0.1 or localhost, as tinyprof live has printed.\n";
                Self::text("421 Misdirected Request", text)
            }
            Refused::ForeignPage => {
                Self::text("403 Forbidden", "Only its own page gives commands.\n")
            }
        }
    }

    pub(super) fn failed(what: &str) -> Self {
        Self::text("500 Internal Server Error", what)
    }

    fn text(status: &'static str, text: &str) -> Self {
        let body = text.as_bytes().to_vec();
        Self { status, content_type: "text/plain; charset=utf-8", body }
    }

    /// Sends it.
    ///
    /// # Errors
    /// If whoever asked is gone.
    pub(super) fn send(&self, to: &mut impl Write) -> io::Result<()> {
        let Self { status, content_type, body } = self;
        write!(
            to,
            "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n{HEADERS}\r\n",
            body.len()
        )?;
        to.write_all(body)?;
        to.flush()
    }
}

/// Begins a stream of events (WHATWG HTML, server-sent events), which a browser asks for again a
/// second after it was cut.
///
/// # Errors
/// If whoever asked is gone.
pub(super) fn begin_events(to: &mut impl Write) -> io::Result<()> {
    write!(to, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n{HEADERS}\r\nretry: 1000\n\n")
}

/// Sends an event. JSON has no line breaks, so one line is enough.
///
/// # Errors
/// If whoever asked is gone.
pub(super) fn send_event(to: &mut impl Write, name: &str, data: &str) -> io::Result<()> {
    write!(to, "event: {name}\ndata: {data}\n\n")?;
    to.flush()
}

/// Sends what no page notices, to find out whether anybody is there.
///
/// # Errors
/// If whoever asked is gone.
pub(super) fn send_nothing(to: &mut impl Write) -> io::Result<()> {
    to.write_all(b":\n\n")?;
    to.flush()
}

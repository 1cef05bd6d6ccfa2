//! Where documents go: a collector, a file that is replaced, and a file that grows.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use ureq::Agent;

use super::endpoint::Endpoint;
use super::otlp::{Accepted, accepted};

/// Takes documents, one after the other.
pub(super) trait Target: Send {
    /// Delivers a document within this time.
    ///
    /// # Errors
    /// Why not, and when it may be tried again.
    fn deliver(&mut self, document: &str, limit: Duration) -> Result<Accepted, Failure>;
}

/// The reason why a document was not delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) why: String,
    pub(super) again: Again,
}

/// When something may be tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Again {
    Never,
    /// After a while, which becomes longer each time.
    Later,
    /// After the time that the collector asks for.
    After(Duration),
}

/// A collector, by OTLP over HTTP.
#[derive(Debug)]
pub(super) struct Collector {
    agent: Agent,
    endpoint: Endpoint,
}

impl Collector {
    pub(super) fn new(endpoint: Endpoint) -> Self {
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent(concat!("tinyprof/", env!("CARGO_PKG_VERSION")))
            .build();
        Self { agent: agent.into(), endpoint }
    }

    fn post(&self, document: &str, limit: Duration) -> Result<(u16, Again, Vec<u8>), ureq::Error> {
        let Endpoint { url, headers, timeout, is_compressed, .. } = &self.endpoint;
        let mut request = self.agent.post(url).content_type("application/json");
        for (name, value) in headers {
            request = request.header(name, value);
        }
        if *is_compressed {
            request = request.header("content-encoding", "gzip");
        }
        let limit = (*timeout).min(limit);
        let request = request.config().timeout_global(Some(limit)).build();
        let mut response = if *is_compressed {
            request.send(compressed(document)?)?
        } else {
            request.send(document)?
        };
        let again = after(response.headers().get("retry-after"));
        let status = response.status().as_u16();
        // A body that ends early, or too late, does not change what the status says.
        let body = response.body_mut().with_config().limit(1 << 16).read_to_vec();
        Ok((status, again, body.unwrap_or_default()))
    }
}

fn compressed(document: &str) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(document.as_bytes())?;
    encoder.finish()
}

/// Returns what a header says in seconds; one with a date says nothing.
fn after(header: Option<&ureq::http::HeaderValue>) -> Again {
    let seconds = header.and_then(|value| value.to_str().ok()?.trim().parse().ok());
    seconds.map_or(Again::Later, |seconds| Again::After(Duration::from_secs(seconds)))
}

impl Target for Collector {
    fn deliver(&mut self, document: &str, limit: Duration) -> Result<Accepted, Failure> {
        match self.post(document, limit) {
            Ok((200..=299, _, body)) => Ok(accepted(&body)),
            Ok((status, again, body)) => {
                let again =
                    if matches!(status, 429 | 502 | 503 | 504) { again } else { Again::Never };
                let said = String::from_utf8_lossy(&body);
                let said: String = said.trim().chars().take(200).collect();
                let colon = if said.is_empty() { "" } else { ": " };
                Err(Failure { why: format!("HTTP status {status}{colon}{said}"), again })
            }
            Err(error) => Err(Failure { why: error.to_string(), again: Again::Later }),
        }
    }
}

/// A file that always has one whole document: the newest.
#[derive(Debug)]
pub(super) struct Newest {
    path: PathBuf,
    /// Where the next one is written, in the same directory. Its name does not end as that of the
    /// file does, so that nobody takes it for one.
    part: PathBuf,
}

impl Newest {
    pub(super) fn new(path: &Path) -> Self {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let part = path.with_file_name(format!(".{name}.part-{}", std::process::id()));
        Self { path: path.to_owned(), part }
    }
}

impl Target for Newest {
    fn deliver(&mut self, document: &str, _: Duration) -> Result<Accepted, Failure> {
        let written = fs::write(&self.part, document)
            .and_then(|()| fs::rename(&self.part, &self.path))
            .inspect_err(|_| drop(fs::remove_file(&self.part)));
        done(written)
    }
}

/// A file, or standard output, with a document a line.
#[derive(Debug)]
pub(super) struct Lines {
    /// None for standard output.
    file: Option<File>,
    is_broken: bool,
}

impl Lines {
    /// Opens the file, at its end.
    ///
    /// # Errors
    /// If it cannot be written to.
    pub(super) fn new(path: &Path) -> Result<Self, String> {
        let open = |path: &Path| OpenOptions::new().create(true).append(true).open(path);
        let file = (path != Path::new("-")).then(|| open(path)).transpose();
        let file = file.map_err(|error| format!("cannot write to {}: {error}", path.display()))?;
        Ok(Self { file, is_broken: false })
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        match &mut self.file {
            Some(file) => file.write_all(text.as_bytes()),
            None => {
                let mut output = io::stdout().lock();
                output.write_all(text.as_bytes()).and_then(|()| output.flush())
            }
        }
    }
}

impl Target for Lines {
    fn deliver(&mut self, document: &str, _: Duration) -> Result<Accepted, Failure> {
        // Of a document that did not fit on the disk there may be a part.
        let before = if self.is_broken { "\n" } else { "" };
        let written = self.write(&format!("{before}{document}\n"));
        self.is_broken = written.is_err();
        done(written)
    }
}

/// A write that failed is not tried again: the next document has newer numbers.
fn done(written: io::Result<()>) -> Result<Accepted, Failure> {
    let failed = |error: io::Error| Failure { why: error.to_string(), again: Again::Never };
    written.map(|()| Accepted::default()).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collector_may_say_when_it_will_listen_again() {
        let of = |text: &str| after(Some(&ureq::http::HeaderValue::from_str(text).expect("text")));
        assert_eq!(of("7"), Again::After(Duration::from_secs(7)));
        assert_eq!(of("Wed, 21 Oct 2026 07:28:00 GMT"), Again::Later);
        assert_eq!(after(None), Again::Later);
    }

    #[test]
    fn a_file_is_replaced_as_a_whole() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("a.prom");
        let mut file = Newest::new(&path);
        for text in ["long and first", "next"] {
            file.deliver(text, Duration::ZERO).expect("it is written");
            assert_eq!(fs::read_to_string(&path).expect("it is there"), text);
        }
        assert_eq!(fs::read_dir(place.path()).expect("a directory").count(), 1);
        let mut nowhere = Newest::new(&place.path().join("none/a.prom"));
        assert_eq!(nowhere.deliver("x", Duration::ZERO).expect_err("none").again, Again::Never);
    }
}

//! The server of the page: on 127.0.0.1, for whoever knows its token.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::commands::Commands;
use super::feed::Feed;
use super::request::Request;
use super::response::{Response, begin_events, send_event, send_nothing};
use crate::html;

/// The most requests at a time: a page needs two.
const CONNECTIONS_MAX: usize = 64;

/// How long a browser may take to say what it wants, and to take what it gets.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long no picture comes before it is checked whether anybody is there.
const QUIET: Duration = Duration::from_secs(5);

/// The server.
#[derive(Debug)]
pub(super) struct Server {
    listener: TcpListener,
    pages: Arc<Pages>,
}

/// The state that all connections share.
#[derive(Debug)]
struct Pages {
    /// The beginning of each path: `/TOKEN/`.
    prefix: String,
    feed: Arc<Feed>,
    commands: Arc<Commands>,
    connections: AtomicUsize,
}

impl Server {
    /// Listens at a port of 127.0.0.1; at any that is free, if it is 0.
    ///
    /// # Errors
    /// If it cannot, or there is no random number for a token.
    pub(super) fn new(port: u16, feed: Arc<Feed>, commands: Arc<Commands>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let prefix = format!("/{}/", token()?);
        let connections = AtomicUsize::new(0);
        Ok(Self { listener, pages: Arc::new(Pages { prefix, feed, commands, connections }) })
    }

    /// Returns where it listens, and the address of the page.
    pub(super) fn address(&self) -> io::Result<(SocketAddr, String)> {
        let address = self.listener.local_addr()?;
        Ok((address, format!("http://{address}{}", self.pages.prefix)))
    }

    /// Answers, in threads of its own, as long as this process runs.
    pub(super) fn start(self) {
        thread::spawn(move || {
            for stream in self.listener.incoming().filter_map(Result::ok) {
                let pages = Arc::clone(&self.pages);
                if pages.connections.fetch_add(1, Relaxed) >= CONNECTIONS_MAX {
                    pages.connections.fetch_sub(1, Relaxed);
                    continue;
                }
                thread::spawn(move || {
                    // Whoever asked may be gone: nobody is left to be told.
                    pages.answer(stream).ok();
                    pages.connections.fetch_sub(1, Relaxed);
                });
            }
        });
    }
}

impl Pages {
    fn answer(&self, mut stream: TcpStream) -> io::Result<()> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let request = match Request::read(&mut stream)? {
            Ok(request) => request,
            Err(why) => return Response::refused(why).send(&mut stream),
        };
        let Some(path) = rest_of(&request.path, &self.prefix) else {
            return Response::nothing().send(&mut stream);
        };
        match (request.is_post, path) {
            (false, "") => Response::page(html::live_page()).send(&mut stream),
            (false, "events") => self.send_events(&mut stream),
            (true, "command") => self.command(&request.body).send(&mut stream),
            (false, path) => self.kept(path).send(&mut stream),
            _ => Response::nothing().send(&mut stream),
        }
    }

    /// Sends pictures until whoever asked is gone.
    fn send_events(&self, stream: &mut TcpStream) -> io::Result<()> {
        begin_events(stream)?;
        send_event(stream, "points", &self.feed.points())?;
        let mut number = 0;
        loop {
            match self.feed.after(number, QUIET) {
                Some(news) => {
                    number = news.number;
                    send_event(stream, news.event, &news.text)?;
                }
                None => send_nothing(stream)?,
            }
        }
    }

    fn command(&self, body: &[u8]) -> Response {
        let begun = serde_json::from_slice(body)
            .map_err(|error| format!("expected a command in JSON: {error}"))
            .and_then(|order: Value| Commands::begin(&self.commands, &order));
        Response::json(&match begun {
            Ok(()) => json!({ "begun": true }),
            Err(why) => json!({ "begun": false, "why": why }),
        })
    }

    /// Returns the page of a profile that a command has written.
    fn kept(&self, path: &str) -> Response {
        let number = path.strip_prefix("kept/").and_then(|number| number.parse().ok());
        match number.and_then(|number| self.commands.kept(number)) {
            Some(profile) => match html::page_of(&profile) {
                Ok(page) => Response::page(page),
                Err(error) => Response::failed(&format!("{}: {error}\n", profile.display())),
            },
            None => Response::nothing(),
        }
    }
}

/// Returns what follows the prefix in a path. How long this takes does not tell where they differ.
fn rest_of<'a>(path: &'a str, prefix: &str) -> Option<&'a str> {
    let (own, rest) = path.split_at_checked(prefix.len())?;
    let differing = own.bytes().zip(prefix.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
    (differing == 0).then_some(rest)
}

/// Returns 128 random bits as text.
fn token() -> io::Result<String> {
    let mut bits = [0_u8; 16];
    getrandom::fill(&mut bits).map_err(io::Error::other)?;
    Ok(bits.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_token_opens() {
        let prefix = format!("/{}/", token().expect("random bits"));
        assert_eq!(
            (prefix.len(), rest_of(&format!("{prefix}events"), &prefix)),
            (34, Some("events"))
        );
        assert_eq!(rest_of(&prefix, &prefix), Some(""));
        assert_eq!(rest_of(&prefix[..33], &prefix), None);
        assert_eq!(rest_of(&format!("/{}/", token().expect("random bits")), &prefix), None);
    }
}

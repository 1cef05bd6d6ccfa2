//! A collector for tests: real HTTP on the loopback, with the answers that a test wants.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

/// The answer to a request.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Answer {
    /// A status with its reason, further header lines, and a body.
    Status(&'static str, &'static str, &'static str),
    /// The connection is closed instead.
    Drop,
    /// Nothing, while the connection stays open.
    Hang,
}

/// The answer of a collector that took everything.
pub(crate) const OK: Answer = Answer::Status("200 OK", "", "{\"partialSuccess\":{}}");

/// A request.
#[derive(Debug)]
pub(crate) struct Request {
    /// Such as `POST /v1/metrics HTTP/1.1`.
    pub(crate) line: String,
    /// The header lines, in lower case.
    pub(crate) head: Vec<String>,
    pub(crate) body: Vec<u8>,
}

/// The collector.
pub(crate) struct Collector {
    /// Such as `http://127.0.0.1:41233`.
    pub(crate) url: String,
    requests: Receiver<Request>,
}

impl Collector {
    /// Starts one that gives these answers in turn, and the last one again and again.
    pub(crate) fn start(answers: &[Answer]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let (sender, requests) = channel();
        let answers = answers.to_vec();
        thread::spawn(move || serve(&listener, &answers, &sender));
        Self { url, requests }
    }

    /// Waits for the next request.
    pub(crate) fn next(&self) -> Request {
        self.requests.recv_timeout(Duration::from_secs(60)).expect("a request")
    }

    /// Returns the requests that have come, and that nobody has asked for.
    pub(crate) fn rest(&self) -> Vec<Request> {
        self.requests.try_iter().collect()
    }
}

fn serve(listener: &TcpListener, answers: &[Answer], to: &Sender<Request>) {
    let mut hanging = Vec::new();
    for (number, stream) in listener.incoming().enumerate() {
        let Ok(mut stream) = stream else { continue };
        let Some(request) = read(&stream) else { continue };
        let answer = answers[number.min(answers.len() - 1)];
        if to.send(request).is_err() {
            return;
        }
        match answer {
            Answer::Drop => {}
            Answer::Hang => hanging.push(stream),
            Answer::Status(status, head, body) => {
                let length = body.len();
                let text = format!(
                    "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n{head}\r\n{body}"
                );
                stream.write_all(text.as_bytes()).ok();
            }
        }
    }
}

fn read(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|length| *length > 0)?;
        match line.trim_end() {
            "" => break,
            line => lines.push(line.to_owned()),
        }
    }
    let line = lines.remove(0);
    let head: Vec<String> = lines.into_iter().map(|line| line.to_ascii_lowercase()).collect();
    let length = head.iter().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.expect("its length is told").parse().expect("a number")];
    reader.read_exact(&mut body).ok()?;
    Some(Request { line, head, body })
}

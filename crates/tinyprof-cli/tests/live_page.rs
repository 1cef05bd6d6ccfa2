//! `tinyprof live`: what its server answers, to whom, and what its commands do.

#[path = "support/watched.rs"]
mod watched;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;

use serde_json::{Value, json};
use watched::Watched;

/// The server of a page.
struct Live {
    process: Child,
    /// Such as `127.0.0.1:41233`.
    host: String,
    /// Such as `/b0f0/`.
    path: String,
}

impl Live {
    fn start(place: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tinyprof"));
        command.args(["live", "segments"]).current_dir(place).stdin(Stdio::null());
        command.env_remove("TINYPROF_SEGMENT_DIR").stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().expect("tinyprof starts");
        let mut line = String::new();
        let output = process.stdout.take().expect("a pipe");
        BufReader::new(output).read_line(&mut line).expect("an address");
        let rest = line.trim().strip_prefix("http://").expect("an address");
        let (host, path) = rest.split_once('/').expect("a path");
        Self { process, host: host.to_owned(), path: format!("/{path}") }
    }

    fn ask(&self, request: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.host).expect("it listens");
        stream.write_all(request.as_bytes()).expect("it reads");
        stream
    }

    /// Returns the whole answer to a request.
    fn answer(&self, request: &str) -> String {
        let mut text = String::new();
        self.ask(request).read_to_string(&mut text).expect("text");
        text
    }

    fn get(&self, path: &str) -> String {
        let Self { host, path: prefix, .. } = self;
        self.answer(&format!("GET {prefix}{path} HTTP/1.1\r\nHost: {host}\r\n\r\n"))
    }

    fn command(&self, order: &Value) -> Value {
        let (Self { host, path, .. }, body) = (self, order.to_string());
        let answer = self.answer(&format!(
            "POST {path}command HTTP/1.1\r\nHost: {host}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        ));
        let (_, json) = answer.split_once("\r\n\r\n").expect("a body");
        serde_json::from_str(json).expect("JSON")
    }

    /// Returns the first event of this name that is as wanted.
    fn event(&self, name: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let Self { host, path, .. } = self;
        let stream = self.ask(&format!("GET {path}events HTTP/1.1\r\nHost: {host}\r\n\r\n"));
        let mut last = String::new();
        for line in BufReader::new(stream).lines() {
            let line = line.expect("text");
            if let Some(event) = line.strip_prefix("event: ") {
                event.clone_into(&mut last);
            }
            let Some(data) = line.strip_prefix("data: ").filter(|_| last == name) else { continue };
            let data = serde_json::from_str(data).expect("JSON");
            if is_so(&data) {
                return data;
            }
        }
        panic!("the events have ended");
    }

    /// Waits for what a command has done, and returns it.
    fn mark(&self, what: &str, number: usize) -> Value {
        let marks = |picture: &Value| -> Vec<Value> {
            let all = picture["marks"].as_array().cloned().unwrap_or_default();
            all.into_iter().filter(|mark| mark["what"] == what).collect()
        };
        marks(&self.event("picture", |picture| marks(picture).len() > number))[number].clone()
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

/// Has a program do steps while this is done.
fn stepping<T: Send>(program: &mut Watched, work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let work = scope.spawn(work);
        while !work.is_finished() {
            program.step();
        }
        work.join().expect("it was done")
    })
}

fn visits(picture: &Value, name: &str) -> u64 {
    let callpaths = picture["callpaths"].as_array().expect("callpaths");
    let found = callpaths.iter().find(|callpath| callpath["name"] == name);
    found.map_or(0, |callpath| callpath["visits"].as_u64().expect("visits"))
}

#[test]
fn a_page_is_told_what_the_program_does() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let mut program = Watched::start(place.path(), &[]);
    let live = Live::start(place.path());
    let page = live.get("");
    assert!(
        page.starts_with("HTTP/1.1 200 OK\r\n") && page.contains("<!doctype html>"),
        "{page:.300}"
    );
    assert!(page.contains("connect-src 'self'") && page.contains("X-Frame-Options: DENY"));
    let picture = live.event("picture", |picture| visits(picture, "step") == 1);
    assert_eq!((&picture["ranks"], &picture["name"]), (&json!(1), &json!("job.tprof")));
    program.step();
    program.step();
    let picture = live.event("picture", |picture| visits(picture, "step") == 3);
    let step = picture["callpaths"]
        .as_array()
        .expect("callpaths")
        .iter()
        .position(|one| one["name"] == "step");
    let step = &picture["callpaths"][step.expect("the callpath")];
    assert_eq!((&step["parent"], &step["bins_ns"].as_array().map(Vec::len)), (&json!(0), &Some(1)));
    assert_eq!(picture["activity"], Value::Null, "no region says what it does");
    program.end();
    live.event("picture", |picture| picture["has_ended"] == true && visits(picture, "step") == 3);
}

#[test]
fn nobody_else_is_told_anything() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let live = Live::start(place.path());
    let Live { host, path, .. } = &live;
    let status = |request: String| live.answer(&request).split(' ').nth(1).map(str::to_owned);
    let get =
        |path: &str, host: &str| status(format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n"));
    assert_eq!(get(path, host).as_deref(), Some("200"));
    assert_eq!(get("/", host).as_deref(), Some("404"), "no token");
    assert_eq!(get(&path.replace(char::is_numeric, "f"), host).as_deref(), Some("404"));
    assert_eq!(get(path, "evil.example").as_deref(), Some("421"), "a name that was led here");
    assert_eq!(get(&format!("{path}kept/0"), host).as_deref(), Some("404"), "nothing was written");
    assert_eq!(get(&format!("{path}kept/../../etc/passwd"), host).as_deref(), Some("404"));
    let post = format!(
        "POST {path}command HTTP/1.1\r\nHost: {host}\r\nOrigin: http://evil.example\r\n\r\n"
    );
    assert_eq!(status(post).as_deref(), Some("403"), "another page");
    for order in [json!({ "verb": "rm" }), json!({ "verb": "record", "seconds": "x" }), json!(7)] {
        assert_eq!(live.command(&order)["begun"], false, "{order}");
    }
    let answer = live.command(&json!({ "verb": "save", "when": "efficency < 1.0" }));
    assert!(answer["why"].as_str().expect("why").contains("no efficency"), "{answer}");
}

#[test]
fn its_commands_save_record_hold_and_wait_for_conditions() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let mut program = Watched::start(place.path(), &[("TINYPROF_STEER", "hold")]);
    program.step();
    let live = Live::start(place.path());
    live.event("picture", |picture| visits(picture, "step") == 2);
    assert_eq!(live.command(&json!({ "verb": "save" })), json!({ "begun": true }));
    let saved = live.mark("save", 0);
    assert_eq!((&saved["kept"], &saved["is_error"]), (&json!(0), &Value::Null), "{saved}");
    assert!(place.path().join("job-saved.tprof").is_dir());
    let page = live.get("kept/0");
    assert!(
        page.starts_with("HTTP/1.1 200 OK\r\n") && page.contains("octet-stream"),
        "{page:.300}"
    );
    // The program does not come to the end of a visit by itself: it is told to.
    live.command(&json!({ "verb": "record", "seconds": 1 }));
    let recorded = stepping(&mut program, || live.mark("record", 0));
    assert!(recorded["said"].as_str().expect("text").contains("recorded 1 rank"), "{recorded}");
    live.command(&json!({ "verb": "hold", "seconds": 0.5 }));
    let held = stepping(&mut program, || live.mark("hold", 0));
    assert!(held["said"].as_str().expect("text").contains("1 of 1 held"), "{held}");
    let over = stepping(&mut program, || live.mark("hold", 1));
    assert_eq!(over["said"], "the hold is over");
    live.command(&json!({ "verb": "save", "when": "ranks == 1.0" }));
    assert_eq!(live.mark("condition", 0)["said"], "ranks == 1.0: holds");
    assert_eq!(live.mark("save", 1)["kept"], 2);
    program.end();
}

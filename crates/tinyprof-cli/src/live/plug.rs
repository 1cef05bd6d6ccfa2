//! `tinyprof plug`: somebody else's program analyses a running job. It reads a JSON document a
//! line, as `tinyprof top --json` prints them, and may tell findings, a JSON object a line.

use std::error::Error;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::thread::{self, sleep};
use std::time::Duration;

use serde_json::{Value, json};
use tinyprof_report::escaped;

use super::queue::Queue;
use super::stream::{LOOK, PATIENCE, Stream, write};
use crate::arguments::{PlugArguments, SegmentChoice};
use crate::{render, sys};

/// Feeds the program until the job has ended, or the program has.
///
/// # Errors
/// If there is no such program or job, or the program fails.
pub(crate) fn run(arguments: &PlugArguments) -> Result<(), Box<dyn Error>> {
    let (directory, job) = (arguments.directory.clone(), arguments.job.clone());
    let segments = SegmentChoice { directory, job };
    let mut stream =
        Stream::new(&segments, &arguments.hosts, arguments.interval, &arguments.choice);
    let mut plug = Plug::start(arguments)?;
    let queue = Arc::clone(&plug.queue);
    stream.feed(&queue, |time| plug.sleep(time))?;
    plug.end()
}

/// The program.
struct Plug {
    name: String,
    program: Child,
    queue: Arc<Queue>,
    reader: Option<thread::JoinHandle<()>>,
}

impl Plug {
    fn start(arguments: &PlugArguments) -> Result<Self, Box<dyn Error>> {
        let (path, rest) = arguments.command.split_first().ok_or("expected a program")?;
        let mut program = Command::new(path)
            .args(rest)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot start {}: {error}", path.display()))?;
        let file = path.display().to_string();
        let name = file.rsplit('/').next().unwrap_or(&file).to_owned();
        let queue = Arc::new(Queue::default());
        if let Some(input) = program.stdin.take() {
            let queue = Arc::clone(&queue);
            thread::spawn(move || write(&queue, input));
        }
        let reader = program.stdout.take().map(|output| {
            let (name, is_json) = (name.clone(), arguments.output.is_json());
            thread::spawn(move || read(&name, output, is_json))
        });
        Ok(Self { name, program, queue, reader })
    }

    /// Waits. Returns false if the program has ended.
    fn sleep(&mut self, time: Duration) -> Result<bool, Box<dyn Error>> {
        let begun_ns = sys::now().monotonic_ns;
        loop {
            if self.program.try_wait()?.is_some() {
                return Ok(false);
            }
            let rest = time.saturating_sub(sys::since(begun_ns));
            if rest.is_zero() {
                return Ok(true);
            }
            sleep(LOOK.min(rest));
        }
    }

    /// Ends its input, and waits for its end.
    fn end(mut self) -> Result<(), Box<dyn Error>> {
        self.queue.close();
        let status = loop {
            match self.program.try_wait()? {
                Some(status) => break status,
                None if self.queue.closed_for() >= PATIENCE => {
                    return Err(format!(
                        "{} did not end within 10 s after its input, and was ended",
                        self.name
                    )
                    .into());
                }
                None => sleep(LOOK),
            }
        };
        if let Some(reader) = self.reader.take() {
            reader.join().ok();
        }
        let lost = self.queue.lost();
        if lost > 0 {
            render::notes(&[format!("{} was too slow for {lost} documents", self.name)]);
        }
        if status.success() { Ok(()) } else { Err(format!("{}: {status}", self.name).into()) }
    }
}

impl Drop for Plug {
    fn drop(&mut self) {
        if self.program.kill().is_ok() {
            self.program.wait().ok();
        }
    }
}

/// Prints the findings of the program until it tells no more.
fn read(name: &str, output: ChildStdout, is_json: bool) {
    let mut has_warned = false;
    for line in BufReader::new(output).lines() {
        let Ok(line) = line else { return };
        let told: Option<Value> = serde_json::from_str(&line).ok();
        let text = told.as_ref().and_then(|told| told["finding"].as_str().map(str::to_owned));
        let printed = match (text, told) {
            (Some(_), Some(mut told)) if is_json => {
                told["from"] = json!(name);
                render::output(&format!("{told}\n"))
            }
            (Some(text), _) => render::output(&(escaped(&format!("{name}: {text}")) + "\n")),
            (None, _) if has_warned => Ok(()),
            (None, _) => {
                has_warned = true;
                let line: String = line.chars().take(80).collect();
                let what = format!(
                    "{name}: expected a line such as {{\"finding\": \"...\"}}, found: {line}"
                );
                render::notes(&[escaped(&what)]);
                Ok(())
            }
        };
        if printed.is_err() {
            return;
        }
    }
}

//! `tinyprof push`: what collectors and files get of a running job, and what collectors that fail
//! cost.

#[path = "support/otlp.rs"]
mod otlp;
#[path = "support/receiver.rs"]
mod receiver;
#[path = "support/watched.rs"]
mod watched;

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use otlp::Told;
use receiver::{Answer, Collector, OK};
use serde_json::Value;
use watched::Watched;

/// A program, and what pushes its numbers.
struct Pushed {
    place: tempfile::TempDir,
    program: Watched,
    push: Child,
}

fn push(place: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tinyprof"));
    command.args(["push", "segments"]).args(arguments).current_dir(place);
    command.env_remove("TINYPROF_SEGMENT_DIR").envs(variables.iter().copied());
    command.env("NO_PROXY", "127.0.0.1");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

impl Pushed {
    fn start(arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let place = tempfile::tempdir().expect("a directory");
        let program = Watched::start(place.path(), &[]);
        let push = push(place.path(), arguments, variables).spawn().expect("tinyprof starts");
        Self { place, program, push }
    }

    /// Waits until there is an OpenMetrics file, and returns its text.
    fn text(&self) -> String {
        let path = self.place.path().join("job.prom");
        while !path.exists() {
            thread::sleep(Duration::from_millis(10));
        }
        fs::read_to_string(path).expect("a file")
    }

    /// Ends the program, which was not disturbed, and returns what was told.
    fn end(self) -> (tempfile::TempDir, Output) {
        self.program.end();
        (self.place, self.push.wait_with_output().expect("it ends"))
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Checks that no sum has fallen, nor has the run another start.
fn check_growth(earlier: &Told, later: &Told) {
    assert_eq!(earlier.start_ns, later.start_ns);
    assert!(earlier.moment_ns < later.moment_ns);
    for (key, number) in &earlier.sums {
        assert!(later.sums.get(key).is_some_and(|later| later >= number), "{key}: {later:?}");
    }
}

#[test]
fn a_job_is_pushed_while_it_runs_and_once_more_when_it_ends() {
    let collector = Collector::start(&[OK]);
    let url = format!("{}/otlp", collector.url);
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", url.as_str()),
        ("OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%20b"),
        ("OTEL_RESOURCE_ATTRIBUTES", "site=north"),
    ];
    let arguments = ["--otlp", "--openmetrics", "job.prom", "--json", "-"];
    let mut job = Pushed::start(&arguments, &variables);
    let request = collector.next();
    assert_eq!(request.line, "POST /otlp/v1/metrics HTTP/1.1");
    for line in ["api-key: a b", "content-type: application/json"] {
        assert!(request.head.iter().any(|known| known == line), "{request:?}");
    }
    let first = otlp::read(&request.body);
    assert_eq!(first.resource["site"], "north");
    assert_eq!(first.resource["service.name"], "tinyprof");
    assert_eq!(first.gauges["tinyprof.job.ranks{state=running}"], 1.0);
    check_text(&job.text(), &first);
    for _ in 0..20 {
        job.program.step();
    }
    // Ten seconds after the first.
    let second = otlp::read(&collector.next().body);
    check_growth(&first, &second);
    let visits = "tinyprof.job.callpath.visits{callpath=run<step}";
    assert_eq!(second.sums[visits] - first.sums[visits], 20.0);
    let (place, output) = job.end();
    assert_eq!((said(&output), output.status.code()), (String::new(), Some(0)));
    let last = otlp::read(&collector.next().body);
    check_growth(&second, &last);
    assert_eq!(last.gauges["tinyprof.job.ranks{state=ended}"], 1.0);
    assert_eq!(last.gauges["tinyprof.job.ranks{state=running}"], 0.0);
    assert_eq!(last.sums["tinyprof.push.dropped{target=otlp}"], 0.0);
    let text = fs::read_to_string(place.path().join("job.prom")).expect("a file");
    check_text(&text, &last);
    let lines = String::from_utf8(output.stdout).expect("text");
    let documents: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let ended: Vec<&Value> = documents.iter().map(|document| &document["has_ended"]).collect();
    assert_eq!(ended, [false, false, true]);
    assert!(documents[1]["interval_ns"].as_u64().is_some_and(|ns| ns > 9_000_000_000));
}

/// Checks text of OpenMetrics: its form, and that it says what was told to a collector.
fn check_text(text: &str, told: &Told) {
    let body = text.strip_suffix("# EOF\n").expect("an end");
    let mut family = String::new();
    let mut samples = 0;
    for line in body.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').expect("a type");
            assert!(["gauge", "counter"].contains(&kind), "node_exporter knows no {kind}");
            name.clone_into(&mut family);
        } else if !line.starts_with('#') {
            let (sample, number) = line.rsplit_once(' ').expect("a number");
            let (name, labels) =
                sample.strip_suffix('}').expect("labels").split_once('{').expect("labels");
            assert!(name == family || name == format!("{family}_total"), "{line}");
            assert!(labels.starts_with("job_id=\"") && !labels.contains("rank="), "{line}");
            let number: f64 = number.parse().expect("a number");
            samples += 1;
            let is_same = |known: &f64| (known - number).abs() <= 1e-9 * known.abs();
            assert!(
                told.gauges.values().chain(told.sums.values()).any(is_same),
                "{line}: {told:?}"
            );
        }
    }
    assert_eq!(samples, told.gauges.len() + told.sums.len());
}

#[test]
fn a_collector_that_asks_for_a_pause_gets_the_same_again() {
    let busy = Answer::Status("429 Too Many Requests", "Retry-After: 1\r\n", "");
    let collector = Collector::start(&[busy, Answer::Drop, OK]);
    let job = Pushed::start(&[&format!("--otlp={}", collector.url)], &[]);
    let (first, again) = (collector.next(), collector.next());
    assert_eq!(first.body, again.body);
    assert_eq!(collector.next().body, first.body, "a connection was closed");
    let (_, output) = job.end();
    collector.next();
    let told = said(&output);
    assert!(
        told.contains("HTTP status 429; it is tried again") && told.lines().count() == 1,
        "{told}"
    );
    assert_eq!(output.status.code(), Some(0), "nothing is lost");
}

#[test]
fn what_is_refused_is_not_sent_again_but_counted() {
    let collector = Collector::start(&[Answer::Status("400 Bad Request", "", "too old"), OK]);
    let job = Pushed::start(&[&format!("--otlp={}", collector.url)], &[]);
    collector.next();
    let (_, output) = job.end();
    let last = otlp::read(&collector.next().body);
    assert_eq!(last.sums["tinyprof.push.dropped{target=otlp}"], 1.0);
    let told = said(&output);
    assert!(told.contains(": HTTP status 400: too old; what is not taken is dropped\n"), "{told}");
    assert!(told.contains(": 1 of 2 documents dropped, 0 points refused: "), "{told}");
    assert_eq!(output.status.code(), Some(3), "{told}");
    assert!(collector.rest().is_empty());
}

#[test]
fn points_that_are_refused_are_told() {
    let partly = r#"{"partialSuccess":{"rejectedDataPoints":"2","errorMessage":"no such unit"}}"#;
    let collector = Collector::start(&[Answer::Status("200 OK", "", partly), OK]);
    let job = Pushed::start(&[&format!("--otlp={}", collector.url)], &[]);
    collector.next();
    let (_, output) = job.end();
    let told = said(&output);
    assert!(told.contains("2 points refused: no such unit; others were taken\n"), "{told}");
    assert!(told.contains("0 of 2 documents dropped, 2 points refused"), "{told}");
    assert_eq!(output.status.code(), Some(3), "{told}");
}

#[test]
fn a_collector_that_hangs_or_is_not_there_costs_no_more_than_its_numbers() {
    let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let nowhere = format!("http://{}", free.expect("a port"));
    let hanging = Collector::start(&[Answer::Hang]);
    for (url, timeout, why) in [
        (&nowhere, "10000", "refused"),
        (&hanging.url, "200", "timeout"),
        (&hanging.url, "60000", "no answer within 10 s"),
    ] {
        let variables = [("OTEL_EXPORTER_OTLP_TIMEOUT", timeout)];
        let arguments = [&format!("--otlp={url}"), "--openmetrics", "job.prom"];
        let job = Pushed::start(&arguments, &variables);
        // It has seen the job, and begun to tell of it.
        while !job.place.path().join("job.prom").exists() {
            thread::yield_now();
        }
        if url == &hanging.url {
            hanging.next();
        }
        let (place, output) = job.end();
        let told = said(&output);
        assert!(told.contains(&format!("nothing reached {url}/v1/metrics: ")), "{told}");
        assert!(told.to_lowercase().contains(why), "{told}");
        assert_eq!(output.status.code(), Some(1), "{told}");
        let text = fs::read_to_string(place.path().join("job.prom")).expect("a file");
        assert!(text.contains("{job_id=") && text.contains("state=\"ended\"} 1\n"), "{text}");
    }
}

#[test]
fn a_signal_ends_it_after_a_last_push() {
    let collector = Collector::start(&[OK]);
    let job = Pushed::start(&[&format!("--otlp={}", collector.url), "--callpaths=1"], &[]);
    let first = otlp::read(&collector.next().body);
    assert_eq!(first.gauges["tinyprof.job.callpaths{state=pushed}"], 1.0);
    assert_eq!(first.gauges["tinyprof.job.callpaths{state=left_out}"], 2.0);
    let of_callpaths = |key: &&String| key.starts_with("tinyprof.job.callpath.visits{");
    assert_eq!(first.sums.keys().filter(of_callpaths).count(), 1);
    let status = Command::new("kill").arg(job.push.id().to_string()).status();
    assert!(status.expect("kill starts").success());
    let last = otlp::read(&collector.next().body);
    assert_eq!(last.gauges["tinyprof.job.ranks{state=running}"], 1.0);
    let output = job.push.wait_with_output().expect("it ends");
    assert_eq!((said(&output), output.status.code()), (String::new(), Some(0)));
    job.program.end();
}

#[test]
fn what_cannot_be_is_refused_with_what_to_do() {
    let place = tempfile::tempdir().expect("a directory");
    let check = |arguments: &[&str], code, what: &str| {
        let output = push(place.path(), arguments, &[]).output().expect("it starts");
        assert_eq!(output.status.code(), Some(code));
        assert!(said(&output).contains(what), "{}", said(&output));
    };
    check(&["--otlp=https://c:4318"], 2, "https is not spoken here: run a collector on this host");
    check(&["--json", "-", "--interval", "5"], 2, "expected at least 10 s");
    check(&[], 2, "--otlp");
    check(&["--json", "none/file"], 1, "cannot write to none/file");
}

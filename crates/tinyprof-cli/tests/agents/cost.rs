//! The memory and processor time of an agent on a host with many ranks.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::watched::Watched;

const RANKS: u32 = 128;
/// The most memory of its agent.
const BYTES_MAX: u64 = 64 << 20;
/// The pictures after which it is measured.
const PICTURES: usize = 3;

/// Returns the greatest resident memory of a process so far.
fn greatest_bytes(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("Linux tells it");
    let kib: u64 = line.trim().trim_end_matches(" kB").parse().expect("a number");
    kib << 10
}

/// Returns the processor time of a process so far, in hundredths of a second.
fn processor_ticks(process: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).expect("it runs");
    let (_, fields) = stat.rsplit_once(") ").expect("the name is in parentheses");
    fields.split(' ').skip(11).take(2).map(|ticks| ticks.parse::<u64>().expect("a number")).sum()
}

/// Takes whole pictures: eight bytes that mark one, and what follows.
fn take_pictures(from: &mut impl Read, count: usize) {
    let (mut bytes, mut found) = (vec![0; 1 << 16], 0);
    let mut tail = Vec::new();
    while found <= count {
        let length = from.read(&mut bytes).expect("it goes on");
        assert!(length > 0, "the agent has ended");
        tail.extend_from_slice(&bytes[..length]);
        found += tail.windows(8).filter(|part| part == b"TPPIC001").count();
        tail.drain(..tail.len().saturating_sub(7));
    }
}

fn rank(place: &Path, number: u32) -> Watched {
    let (number, size) = (number.to_string(), RANKS.to_string());
    Watched::start(place, &[("PMI_RANK", &number), ("PMI_SIZE", &size)])
}

#[test]
#[ignore = "takes a minute of processor time in a build that is not optimised"]
fn an_agent_of_128_ranks_takes_little_memory() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let ranks: Vec<Watched> = (0..RANKS).map(|number| rank(place.path(), number)).collect();
    let mut command = Command::new(env!("CARGO_BIN_EXE_tinyprof"));
    command.args(["agent", "--hosts=here", "--measurements=1"]).arg(place.path().join("segments"));
    let mut agent =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    take_pictures(agent.stdout.as_mut().expect("a pipe"), PICTURES);
    let (bytes, ticks) = (greatest_bytes(agent.id()), processor_ticks(agent.id()));
    println!("{RANKS} ranks, {PICTURES} pictures: {bytes} bytes, {ticks}0 ms of processor time");
    drop(agent.stdin.take());
    drop(agent.stdout.take());
    agent.wait().expect("it ends");
    for mut rank in ranks {
        rank.child.kill().expect("ours");
        rank.child.wait().expect("ours");
    }
    assert!(bytes <= BYTES_MAX, "{bytes} bytes");
}

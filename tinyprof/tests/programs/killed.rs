//! Records on several threads until it is killed, and writes the progress of each to a file.
//!
//! Arguments: the file, the number of threads, and the number of executions of each if it is not
//! killed.

use std::fs::OpenOptions;
use std::os::fd::AsRawFd;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::SeqCst;

use tinyprof::__calls::{
    CallPlace, ClockFacts, EdgeInstance, EdgeKey, EdgeKind, MessageKind, Recorder, Site,
};
use tinyprof::{profile, profile_loop};

/// The number of counters per thread: executions, leaves, steps, messages.
const COUNTERS: usize = 4;

/// The bytes of each message.
const MESSAGE_BYTES: u64 = 100;

/// A call as the wrappers of MPI's functions record it.
static SEND: Site = Site::mpi("MPI_Send", &[]);

#[profile]
fn execution(done: &[AtomicU64]) {
    for _ in 0..3 {
        leaf();
        done[1].fetch_add(1, SeqCst);
    }
    profile_loop!(
        "step",
        mode = each,
        for _ in 0..4 {
            done[2].fetch_add(1, SeqCst);
        }
    );
    for partner in [-1, 1] {
        let recorder = Recorder::make().expect("recording is on");
        let visited = recorder.open(&SEND, 0, 0, || CallPlace::Address(0)).end();
        visited.count(MessageKind::MessageOut, partner, MESSAGE_BYTES);
        let key = EdgeKey { kind: EdgeKind::Message, partner, from: visited.id() };
        let transfer_ns = 3 * MESSAGE_BYTES;
        let instance =
            EdgeInstance { bytes: MESSAGE_BYTES, transfer_ns, ..EdgeInstance::default() };
        visited.add_edge(&key, &instance);
        let companions = done[3].fetch_add(1, SeqCst);
        recorder.store_clock(&ClockFacts { companions, ..ClockFacts::default() });
    }
}

#[profile]
fn leaf() {}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().expect("the file of the counters");
    let threads: usize =
        arguments.next().and_then(|text| text.parse().ok()).expect("a number of threads");
    let executions: u64 = arguments.next().and_then(|text| text.parse().ok()).expect("a number");
    let file = OpenOptions::new().read(true).write(true).open(path).expect("the file is there");
    let length = threads * COUNTERS * size_of::<AtomicU64>();
    // SAFETY: maps the file at an address of the system's choice.
    let place = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            length,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED,
            file.as_raw_fd(),
            0,
        )
    };
    assert_ne!(place, libc::MAP_FAILED);
    // SAFETY: the mapping is never unmapped, has this length, and is only accessed atomically.
    let counters: &[AtomicU64] =
        unsafe { std::slice::from_raw_parts(place.cast(), threads * COUNTERS) };
    std::thread::scope(|scope| {
        for done in counters.chunks(COUNTERS) {
            scope.spawn(move || {
                for _ in 0..executions {
                    execution(done);
                    done[0].fetch_add(1, SeqCst);
                }
            });
        }
    });
    // With this argument, the program never ends normally.
    if std::env::args().nth(4).as_deref() == Some("abort") {
        std::process::abort();
    }
}

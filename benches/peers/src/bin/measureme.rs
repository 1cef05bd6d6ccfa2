//! `measureme`, the profiler inside of rustc: one event for each visit, written to a file as memory
//! fills.

use measureme::{EventId, Profiler, StringId};
use tinyprof_peers::{VISITS, measure, work};

fn region(profiler: &Profiler, kind: StringId, id: EventId) {
    let _event = profiler.start_recording_interval_event(kind, id, 0);
    work();
}

fn main() {
    let directory = tempfile::tempdir().unwrap();
    let profiler = Profiler::new(directory.path().join("events")).unwrap();
    let kind = profiler.alloc_string("Function");
    let root = EventId::from_label(profiler.alloc_string("root"));
    let inner = EventId::from_label(profiler.alloc_string("region"));
    measure(|| {
        let _event = profiler.start_recording_interval_event(kind, root, 0);
        for _ in 0..VISITS {
            region(&profiler, kind, inner);
        }
    });
}

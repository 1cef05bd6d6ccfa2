//! System calls that the cold path needs and std does not provide. Together with `record`, this is
//! the only unsafe code.

mod exit;
mod host;
mod isolated;
mod loaded;
mod loader;
mod memory;
mod pages;
mod posted;
mod process;
mod processor;
mod rights;
mod samples;
pub(crate) mod sandbox;
mod segment_file;
mod segment_room;
mod signals;
mod standard_error;
mod thread_end;
pub(crate) mod thread_word;
mod threads_at_work;
mod undisturbed;

pub(crate) use exit::{at_exit, in_forked_child};
pub(crate) use host::{cpus, effective_user_id, host_name, user_id};
pub use isolated::NotDone;
pub(crate) use isolated::isolated;
pub(crate) use loaded::LoadedObject;
pub(crate) use memory::{address_space_bytes, has_mpi, peak_memory_bytes};
pub(crate) use pages::{Room, pages, unmap};
pub(crate) use posted::{LeftAlone, on_signal};
pub use process::boot_id;
pub(crate) use process::{pid_namespace, start_time};
pub(crate) use processor::{ThreadTime, is_own_thread, own_cpu_ns, process_cpu_ns, thread_number};
pub(crate) use rights::has_raised_rights;
pub(crate) use samples::{Counted, NotSampled, Sample, SampleRing};
pub use sandbox::{is_entered as is_sandboxed, note_sandbox};
pub(crate) use segment_file::{SegmentFile, refuse_segment, segment_refusal};
pub(crate) use segment_room::share_room_among;
pub use signals::without_write_signals;
pub(crate) use standard_error::write_line;
pub(crate) use thread_end::ThreadEnd;
pub(crate) use threads_at_work::{ThreadsAtWork, other_threads};
pub use undisturbed::undisturbed;

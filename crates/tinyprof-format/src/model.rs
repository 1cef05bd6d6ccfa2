//! The contents of a profile as plain values, without a byte layout.

mod bound;
mod callers;
mod callpath;
mod cause;
mod clock_facts;
mod command;
mod edge;
mod event;
mod event_map;
mod facts;
mod identity;
mod kinds;
mod lately;
mod manifest;
mod merged;
mod message;
mod metric;
mod numbers;
pub(crate) mod precision;
mod processor;
mod profile;
mod profile_id;
mod samples;
mod since;
mod span;
mod table;
mod threads;
mod values;

pub use bound::ESTIMATE_ERRORS;
pub use callers::{CALLERS, CALLERS_MODULE, CallpathRecord, with_callers};
pub use callpath::{Callpath, CallpathId, CallpathIndex, Mode, Region, RegionKind, SiteId};
pub use cause::{Activities, Activity, Cause, CauseFacts, DelayCost, PathPart, RankCauses, Waited};
pub use clock_facts::ClockFacts;
pub use command::{JobCommand, JobCommands, LATE_NS, LATE_RANKS_NAMED, RankCommand, RankCommands};
pub use edge::{Edge, EdgeKey, EdgeKind};
pub use event::{EventCell, MessageEvent, RankEvents, ThreadEvents, VisitEvent};
pub use event_map::EventMap;
pub use facts::{Losses, RankFacts};
pub use identity::Identity;
pub(crate) use lately::Lately;
pub use manifest::{
    CallpathFile, FORMAT_NAME, FormatVersion, InterimTimes, Manifest, PartFile, PeakMemory,
    PhaseTimes, RunMetadata, RunState, Salvage,
};
pub use merged::MergedRows;
pub use message::{MessageKey, MessageKind, Traffic};
pub use metric::{MetricBucket, MetricSummary, MetricValues};
pub use precision::Precision;
pub use processor::ProcessorFacts;
pub use profile::Profile;
pub use profile_id::{NoProfileId, ProfileId};
pub use samples::{
    CYCLES, INSTRUCTIONS, KERNEL_SAMPLES, MADE_CODE_FILE, SAMPLES_AT_END, SAMPLES_IN_KERNEL,
    SAMPLES_MODULE, SAMPLES_PERIOD, SAMPLES_UNKNOWN, SAMPLES_WITHOUT_FILE, THREADS_NOT_SAMPLED,
};
pub(crate) use table::Link;
pub use table::{CallpathTable, Children};
pub use threads::{
    SAMPLED_SECONDS, THREAD_SECONDS, ThreadTimes, WORKER_SECONDS, WORKERS_MODULE, is_recorders_key,
};
pub use tinyprof_vocabulary::{EventClass, EventPolicy, MessageEnd};
pub use values::{CallpathValues, ExecutionSummary, SeriesBucket};

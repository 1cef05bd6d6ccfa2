//! The settings of TinyProf in one table.
//!
//! An internal crate of TinyProf: nothing here is stable. Programs use `tinyprof` and
//! `tinyprof-mpi`.
//!
//! [`SETTINGS`] describes every setting: its key, its environment variable, the accepted values,
//! the meaning and the default. [`Settings`] holds typed values, which the recorder reads from the
//! environment, and programs set through a builder. The table, the values and the methods of the
//! builders come from the same rows, in `table.rs`: a new setting is a row there, and the code that
//! obeys it.
//!
//! ```
//! use std::time::Duration;
//! use tinyprof_settings::{Setting, Settings};
//!
//! let interval = Setting::of_key("interval").unwrap();
//! assert_eq!(interval.variable, "TINYPROF_INTERVAL");
//! assert!(interval.accepts("5s".as_ref()) && !interval.accepts("5".as_ref()));
//!
//! let lookup = |variable: &str| (variable == interval.variable).then(|| "5s".into());
//! let settings = Settings::read(lookup, |setting, _| panic!("{}", setting.expected));
//! assert_eq!(settings.interim_interval, Some(Duration::from_secs(5)));
//! ```
//!
//! This crate reads no environment and prints nothing: the recorder and the command do.

// Rows name types by paths that are also valid in the crates whose builders they make.
extern crate self as tinyprof_settings;

mod choice;
mod document;
mod events;
pub mod near;
pub mod parse;
pub mod pattern;
mod rows;
mod setting;
mod table;
mod trigger;
mod unknown;
mod wrappers;

pub use choice::{
    Aggregators, ClockChoice, MessageOrder, MpiLevel, ReportSignal, SeriesGather, Steer, World,
};
pub use document::{Column, document};
pub use events::{EVENTS_BYTES_MAX, Events, EventsWindow};
pub use setting::Setting;
pub use table::{ALL_INTERIM_PROFILES, DEADLINE_DEFAULT, SETTINGS, Settings};
pub use trigger::{Trigger, TriggerAction};
pub use unknown::{is_unknown, nearest};
pub use wrappers::Wrappers;

/// Types in the rows, under paths that are valid in every crate with a builder.
#[doc(hidden)]
pub mod __types {
    pub use std::path::{Path, PathBuf};
    pub use std::time::Duration;

    pub use tinyprof_format::file::{OutputFormat, Permissions};
    pub use tinyprof_format::model::Precision;
}

//! The buttons of the page: what `tinyprof ctl` and `save` do, and conditions.

use std::error::Error;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use serde_json::{Value, json};

use super::super::ctl::{hold_by, record_by, release_by, status_by};
use super::super::elsewhere::Elsewhere;
use super::super::frame::Frame;
use super::super::save::save_by;
use super::super::told::Told;
use super::super::until::Condition;
use super::feed::Feed;
use crate::arguments::{OnJob, Time};

/// The most commands at a time.
const AT_A_TIME: usize = 8;

/// The most conditions that are waited for.
const CONDITIONS_MAX: usize = 16;

/// The commands to a job.
#[derive(Debug)]
pub(super) struct Commands {
    on: Mutex<OnJob>,
    is_here: AtomicBool,
    feed: Arc<Feed>,
    under_way: AtomicUsize,
    kept: Mutex<Vec<PathBuf>>,
    chosen: Mutex<Option<String>>,
    conditions: Mutex<Vec<Awaited>>,
}

/// An order, and the condition that triggers it.
#[derive(Debug)]
struct Awaited {
    condition: Condition,
    order: Order,
}

/// A command.
#[derive(Clone, Debug, PartialEq)]
enum Order {
    Status,
    Save,
    Record(Time),
    Hold(Time),
    Release,
    Notify,
    /// Watch this one of several jobs.
    Watch(String),
}

impl Order {
    /// Reads `{"verb": "record", "seconds": 5}`.
    fn read(order: &Value) -> Result<Self, String> {
        let time = || {
            let seconds = order["seconds"].as_f64().filter(|seconds| seconds.is_finite());
            let text = format!("{}ms", (seconds.unwrap_or(0.0) * 1e3).round());
            text.parse::<Time>().map_err(str::to_owned)
        };
        match order["verb"].as_str().unwrap_or_default() {
            "status" => Ok(Self::Status),
            "save" => Ok(Self::Save),
            "record" => time().map(Self::Record),
            "hold" => time().map(Self::Hold),
            "release" => Ok(Self::Release),
            "notify" => Ok(Self::Notify),
            "watch" => Ok(Self::Watch(order["job"].as_str().unwrap_or_default().to_owned())),
            other => Err(format!(
                "expected status, save, record, hold, release, notify or watch, found '{other}'"
            )),
        }
    }

    const fn name(&self) -> &'static str {
        match self {
            Self::Status => "status",
            Self::Save => "save",
            Self::Record(_) => "record",
            Self::Hold(_) => "hold",
            Self::Release => "release",
            Self::Notify => "notify",
            Self::Watch(_) => "watch",
        }
    }
}

impl Commands {
    pub(super) fn new(on: OnJob, feed: Arc<Feed>) -> Self {
        let (kept, chosen, conditions) = Default::default();
        let (under_way, is_here) = (AtomicUsize::new(0), AtomicBool::new(false));
        Self { on: Mutex::new(on), is_here, feed, under_way, kept, chosen, conditions }
    }

    /// Directs commands to this one of several jobs of this host.
    pub(super) fn direct_to(&self, job: &str) {
        self.is_here.store(true, Relaxed);
        let mut on = locked(&self.on);
        if on.segments.job.as_deref() != Some(job) {
            on.segments.job = Some(job.to_owned());
        }
    }

    /// Returns the job that a page has chosen since the last time.
    pub(super) fn chosen(&self) -> Option<String> {
        locked(&self.chosen).take()
    }

    /// Begins what a page asks for, in a thread of its own; what comes of it is a mark. With a
    /// condition, it is begun when that holds.
    ///
    /// # Errors
    /// If it is no command, or there are too many.
    pub(super) fn begin(this: &Arc<Self>, order: &Value) -> Result<(), String> {
        let found = Order::read(order)?;
        let Some(condition) = order["when"].as_str() else { return Self::start(this, found) };
        let awaited = Awaited { condition: Condition::new(condition)?, order: found };
        let mut conditions = locked(&this.conditions);
        if conditions.len() == CONDITIONS_MAX {
            return Err(format!("{CONDITIONS_MAX} conditions are waited for already"));
        }
        conditions.push(awaited);
        Ok(())
    }

    /// Does what was to be done when a condition holds, for those that hold now, once.
    pub(super) fn look(this: &Arc<Self>, frame: &Frame) {
        let mut conditions = locked(&this.conditions);
        for Awaited { condition, order } in
            conditions.extract_if(.., |one| one.condition.holds(frame))
        {
            this.feed.mark(
                json!({ "what": "condition", "said": format!("{}: holds", condition.text()) }),
            );
            if let Err(why) = Self::start(this, order) {
                this.feed.mark(json!({ "what": "condition", "said": why, "is_error": true }));
            }
        }
    }

    /// Returns the profile that a command has written.
    pub(super) fn kept(&self, number: usize) -> Option<PathBuf> {
        locked(&self.kept).get(number).cloned()
    }

    fn start(this: &Arc<Self>, order: Order) -> Result<(), String> {
        match order {
            Order::Notify => return Ok(()),
            Order::Watch(job) => {
                *locked(&this.chosen) = Some(job);
                return Ok(());
            }
            _ => {}
        }
        if this.under_way.fetch_add(1, Relaxed) >= AT_A_TIME {
            this.under_way.fetch_sub(1, Relaxed);
            return Err(format!("{AT_A_TIME} commands are under way already"));
        }
        let this = Arc::clone(this);
        thread::spawn(move || {
            let what = order.name();
            let told = this.done(&order).map_err(|error| error.to_string());
            this.feed.mark(match told {
                Ok(told) => this.mark(what, told),
                Err(why) => json!({ "what": what, "said": of_here(&why), "is_error": true }),
            });
            this.under_way.fetch_sub(1, Relaxed);
        });
        Ok(())
    }

    fn done(&self, order: &Order) -> Result<Told, Box<dyn Error>> {
        let on = locked(&self.on).clone();
        // Once a job of this host is watched, that is the one.
        let is_here = self.is_here.load(Relaxed);
        let elsewhere = if is_here { None } else { Elsewhere::of(&on) };
        let hosts = elsewhere.unwrap_or_else(|| Elsewhere::here(&on));
        match order {
            Order::Status => status_by(&hosts),
            Order::Save => save_by(&hosts, None),
            Order::Record(time) => record_by(&hosts, *time, None),
            Order::Hold(time) => {
                let held = hold_by(&hosts, *time, |host, head| {
                    let said = format!("{host}: {}", head.text.trim_end());
                    self.feed.mark(json!({ "what": "hold", "said": of_here(&said) }));
                    Ok(())
                });
                held.map(|()| Told {
                    text: "the hold is over".into(),
                    json: Value::Null,
                    profile: None,
                })
            }
            Order::Release => release_by(&hosts),
            Order::Notify | Order::Watch(_) => Err("is no command to a job".into()),
        }
    }

    /// Returns the mark of what was done; a profile can be opened from now on.
    fn mark(&self, what: &str, told: Told) -> Value {
        let Told { text, json, profile } = told;
        let kept = profile.and_then(|profile| fs::canonicalize(profile).ok()).map(|profile| {
            let mut kept = locked(&self.kept);
            kept.push(profile);
            kept.len() - 1
        });
        json!({ "what": what, "said": of_here(text.trim_end()), "facts": json, "kept": kept })
    }
}

/// Returns what was told, without the name of this host at the beginning of a line.
fn of_here(text: &str) -> String {
    let lines = text.lines().map(|line| line.strip_prefix("here: ").unwrap_or(line));
    lines.collect::<Vec<_>>().join("; ")
}

/// A thread that has panicked has left nothing half done here.
fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_of_the_closed_list() {
        let read = |order: Value| Order::read(&order);
        assert_eq!(read(json!({ "verb": "save" })), Ok(Order::Save));
        let five = "5s".parse::<Time>().expect("a time");
        assert_eq!(read(json!({ "verb": "record", "seconds": 5 })), Ok(Order::Record(five)));
        for wrong in
            [json!({ "verb": "hold", "seconds": -1 }), json!({ "verb": "hold" }), json!([])]
        {
            assert!(read(wrong.clone()).is_err(), "{wrong}");
        }
        let error = read(json!({ "verb": "rm" })).expect_err("no verb");
        assert!(error.contains("found 'rm'"), "{error}");
    }
}

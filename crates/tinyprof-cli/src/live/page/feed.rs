//! The data for all open pages: the newest picture of the job, the points of the last ten minutes,
//! and the marks of commands.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

use super::super::seen::JobLine;

/// The most points of the last minutes: ten, with one a second.
const POINTS_MAX: usize = 600;

/// The most commands and conditions that are remembered.
const MARKS_MAX: usize = 100;

/// The newest picture, for all pages that are open.
#[derive(Debug, Default)]
pub(super) struct Feed {
    told: Mutex<Latest>,
    is_new: Condvar,
}

#[derive(Debug, Default)]
struct Latest {
    /// How many changes there were.
    number: u64,
    /// The kind of the newest, and what it says.
    event: &'static str,
    newest: Value,
    points: VecDeque<Value>,
    marks: VecDeque<Value>,
}

/// An update for a page.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct News {
    pub(super) number: u64,
    pub(super) event: &'static str,
    pub(super) text: String,
}

impl Feed {
    /// Tells all pages of a picture, and keeps its point of the last minutes.
    pub(super) fn picture(&self, mut document: Value) {
        let point = point(&document);
        self.tell(|told| {
            if told.points.back() != Some(&point) {
                told.points.push_back(point.clone());
            }
            if told.points.len() > POINTS_MAX {
                told.points.pop_front();
            }
            document["point"] = point;
            (told.event, told.newest) = ("picture", document);
        });
    }

    /// Tells all pages why there is no picture, and the jobs of which one can be chosen.
    pub(super) fn waiting(&self, for_what: &str, jobs: &[JobLine]) {
        let job = |job: &JobLine| json!({ "id": job.id, "what": job.what });
        let waiting = json!({ "for": for_what, "jobs": jobs.iter().map(job).collect::<Value>() });
        self.tell(|told| (told.event, told.newest) = ("waiting", waiting));
    }

    /// Tells all pages what was done at the moment of the newest picture.
    pub(super) fn mark(&self, mut mark: Value) {
        self.tell(|told| {
            mark["elapsed_ns"] = told.newest["elapsed_ns"].clone();
            told.marks.push_back(mark);
            if told.marks.len() > MARKS_MAX {
                told.marks.pop_front();
            }
        });
    }

    fn tell(&self, change: impl FnOnce(&mut Latest)) {
        let mut told = self.told();
        change(&mut told);
        told.newest["marks"] = told.marks.iter().cloned().collect();
        told.number += 1;
        self.is_new.notify_all();
    }

    fn told(&self) -> MutexGuard<'_, Latest> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the last minutes, as an array of points.
    pub(super) fn points(&self) -> String {
        self.told().points.iter().cloned().collect::<Value>().to_string()
    }

    /// Waits for what is newer than this number, so long; none if nothing is.
    pub(super) fn after(&self, number: u64, timeout: Duration) -> Option<News> {
        let is_old = |told: &mut Latest| told.number <= number;
        let waited = self.is_new.wait_timeout_while(self.told(), timeout, is_old);
        let (told, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let is_news = told.number > number && !told.event.is_empty();
        let news =
            || News { number: told.number, event: told.event, text: told.newest.to_string() };
        is_news.then(news)
    }
}

/// Returns the numbers of a picture that a page draws over time.
fn point(document: &Value) -> Value {
    json!({
        "elapsed_ns": document["elapsed_ns"],
        "activity": document["activity"],
        "efficiency": document["efficiency"]["parallel"],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(elapsed_ns: u64) -> Value {
        json!({ "elapsed_ns": elapsed_ns, "efficiency": { "parallel": 0.5 } })
    }

    fn newest(feed: &Feed, number: u64) -> Value {
        let news = feed.after(number, Duration::ZERO).expect("news");
        serde_json::from_str(&news.text).expect("JSON")
    }

    fn points(feed: &Feed) -> Vec<Value> {
        serde_json::from_str(&feed.points()).expect("JSON")
    }

    #[test]
    fn a_page_gets_the_newest_and_the_last_minutes() {
        let feed = Feed::default();
        assert_eq!(feed.after(0, Duration::ZERO), None);
        (0..700).for_each(|second| feed.picture(picture(second)));
        assert_eq!(newest(&feed, 0)["point"]["efficiency"], 0.5);
        assert_eq!(feed.after(700, Duration::ZERO), None, "it knows that one");
        assert_eq!((points(&feed).len(), &points(&feed)[0]["elapsed_ns"]), (600, &json!(100)));
        feed.picture(picture(699));
        assert_eq!(points(&feed).len(), 600, "the same moment is no point of its own");
        feed.waiting("a job", &[]);
        assert_eq!(newest(&feed, 701)["for"], "a job");
    }

    #[test]
    fn what_was_done_is_told_with_each_picture() {
        let feed = Feed::default();
        feed.picture(picture(7));
        feed.mark(json!({ "what": "save" }));
        assert_eq!(newest(&feed, 1)["marks"], json!([{ "what": "save", "elapsed_ns": 7 }]));
        feed.picture(picture(8));
        assert_eq!(newest(&feed, 2)["marks"][0]["elapsed_ns"], 7);
        (0..200).for_each(|_| feed.mark(json!({ "what": "again" })));
        assert_eq!(newest(&feed, 3)["marks"].as_array().map(Vec::len), Some(MARKS_MAX));
    }
}

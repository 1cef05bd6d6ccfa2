//! What is to be done when a condition holds of the running job: the value of `TINYPROF_ON`.

use std::time::Duration;

use crate::parse::duration;

/// The most firings of a condition.
const TIMES_MAX: u32 = 1_000;

/// For how long is recorded or held unless the user says.
const TIME_DEFAULT: Duration = Duration::from_secs(5);

/// Something to do when a condition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TriggerAction {
    /// Print a line.
    Notify,
    /// Write a profile of the job as it is.
    Save,
    /// Keep events for some time, and write them.
    Record,
    /// Hold the job.
    Hold,
}

impl TriggerAction {
    fn of_word(word: &str) -> Option<Self> {
        Some(match word.trim() {
            "notify" => Self::Notify,
            "save" => Self::Save,
            "record" => Self::Record,
            "hold" => Self::Hold,
            _ => return None,
        })
    }
}

/// A condition, and what is to be done when it holds: `CONDITION: ACTION,... [times N] [for TIME]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trigger {
    /// The condition, as `tinyprof ctl on` takes it. Only its reader knows whether it is one.
    pub condition: String,
    /// The actions, in this order.
    pub actions: Vec<TriggerAction>,
    /// The most times that they are done.
    pub times: u32,
    /// The time that is recorded or held.
    pub time: Duration,
}

impl Trigger {
    /// Parses it; `None` if it is none.
    ///
    /// ```
    /// use tinyprof_settings::{Trigger, TriggerAction};
    ///
    /// let trigger = Trigger::parse(r#"imbalance("solve") > 0.3: save,record times 3"#).unwrap();
    /// assert_eq!(trigger.condition, r#"imbalance("solve") > 0.3"#);
    /// assert_eq!(trigger.actions, [TriggerAction::Save, TriggerAction::Record]);
    /// assert_eq!(trigger.times, 3);
    /// assert_eq!(Trigger::parse("efficiency < 0.5"), None);
    /// ```
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        // The last one: a condition may have others, as in `a ? b : c`, or in a region's name.
        let (condition, rest) = text.rsplit_once(':')?;
        let condition = condition.trim().to_owned();
        let mut words = rest.split_whitespace().peekable();
        let mut list = String::new();
        while let Some(word) = words.next_if(|word| !matches!(*word, "times" | "for")) {
            list += word;
        }
        let actions = list.split(',').map(TriggerAction::of_word).collect::<Option<Vec<_>>>()?;
        let (mut times, mut time) = (1, TIME_DEFAULT);
        while let Some(word) = words.next() {
            let value = words.next()?;
            if word == "times" {
                times = value.parse().ok().filter(|times| (1..=TIMES_MAX).contains(times))?;
            } else if word == "for" {
                time = duration(value).filter(|time| !time.is_zero())?;
            } else {
                return None;
            }
        }
        (!condition.is_empty()).then_some(Self { condition, actions, times, time })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_its_actions_and_their_limits_are_read() {
        let check = |text: &str, condition: &str, times: u32, seconds: u64| {
            let trigger = Trigger::parse(text).expect(text);
            assert_eq!((trigger.condition.as_str(), trigger.times), (condition, times), "{text}");
            assert_eq!(trigger.time, Duration::from_secs(seconds), "{text}");
        };
        check("ranks > 3: notify", "ranks > 3", 1, 5);
        check("ranks>3:save , record for 2s times 7", "ranks>3", 7, 2);
        check(r#"share["a::b"] > 0.5: hold"#, r#"share["a::b"] > 0.5"#, 1, 5);
        check("ranks > 3 ? still > 1.0 : false : save", "ranks > 3 ? still > 1.0 : false", 1, 5);
    }

    #[test]
    fn what_is_none_is_refused() {
        for text in [
            "",
            ":",
            ": save",
            "ranks > 3",
            "ranks > 3:",
            "ranks > 3: stop",
            "ranks > 3: save,",
            "ranks > 3: save times",
            "ranks > 3: save times 0",
            "ranks > 3: save times 1001",
            "ranks > 3: save for 5",
            "ranks > 3: save for 0s",
            "ranks > 3: save times 2 now 5s",
            r#"share["a::b"] > 0.5"#,
        ] {
            assert_eq!(Trigger::parse(text), None, "{text}");
        }
    }
}

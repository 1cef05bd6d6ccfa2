//! `-o KEY=VALUE`: a setting of the recorder, by the key in the table of settings.

use std::ffi::{OsStr, OsString};

use tinyprof_settings::{SETTINGS, Setting};

use crate::near::{CHANGES_MAX, changes};

/// A setting and its value, as an environment variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SettingValue {
    pub(crate) variable: &'static str,
    pub(crate) value: OsString,
}

/// Parses `KEY=VALUE`.
///
/// # Errors
/// What is wrong, with the keys or values that are accepted.
pub(super) fn parse(text: &str) -> Result<SettingValue, String> {
    let Some((key, value)) = text.split_once('=') else {
        return Err("expected KEY=VALUE, as in interval=5s".to_owned());
    };
    let setting = Setting::of_key(key).ok_or_else(|| unknown(key))?;
    with_value(setting, value.as_ref())
}

/// Parses the value of `--out`. A file's name need not be text.
///
/// # Errors
/// The values that are accepted.
#[expect(clippy::needless_pass_by_value, reason = "the parser passes it so")]
pub(super) fn out(name: OsString) -> Result<SettingValue, String> {
    with_value(Setting::of_key("out").ok_or_else(|| unknown("out"))?, &name)
}

fn with_value(setting: &Setting, value: &OsStr) -> Result<SettingValue, String> {
    // An empty path counts as not set.
    if value.is_empty() || !setting.accepts(value) {
        return Err(format!("expected {} for {}", setting.expected, setting.key));
    }
    Ok(SettingValue { variable: setting.variable, value: value.to_owned() })
}

/// Returns the message for a key that is none, with the key that was probably meant.
fn unknown(key: &str) -> String {
    let is_meant = |setting: &&Setting| {
        setting.variable.eq_ignore_ascii_case(key)
            || setting.key.replace('-', "_").eq_ignore_ascii_case(&key.replace('-', "_"))
    };
    let nearest = || {
        let near = SETTINGS.iter().map(|setting| (changes(key, setting.key), setting));
        near.filter(|(changes, setting)| *changes <= CHANGES_MAX && *changes < setting.key.len())
            .min_by_key(|(changes, _)| *changes)
            .map(|(_, setting)| setting)
    };
    let keys = SETTINGS.iter().map(|setting| setting.key).collect::<Vec<_>>().join(", ");
    match SETTINGS.iter().find(is_meant).or_else(nearest) {
        Some(meant) => {
            format!("there is no setting {key}; did you mean {}? Settings: {keys}", meant.key)
        }
        None => format!("there is no setting {key}; settings: {keys}"),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt as _;

    use super::*;

    #[test]
    fn a_setting_is_a_variable_with_a_value() {
        let check = |text: &str, variable: &'static str, value: &str| {
            assert_eq!(parse(text), Ok(SettingValue { variable, value: value.into() }));
        };
        check("interval=5s", "TINYPROF_INTERVAL", "5s");
        check("filter=-*fields_at*,+main", "TINYPROF_FILTER", "-*fields_at*,+main");
        check("out=a=b", "TINYPROF_OUT", "a=b");
    }

    #[test]
    fn a_name_need_not_be_text() {
        let name = OsString::from_vec(b"caf\xe9".to_vec());
        let expected = SettingValue { variable: "TINYPROF_OUT", value: name.clone() };
        assert_eq!(out(name), Ok(expected));
    }

    #[test]
    fn a_wrong_setting_says_what_is_right() {
        let check = |text: &str, expected: &str| {
            let error = parse(text).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        };
        check("intervall=5s", "there is no setting intervall; did you mean interval? Settings: ");
        check("TINYPROF_BUDGET=1%", "there is no setting TINYPROF_BUDGET; did you mean budget?");
        check("Segment_Dir=x", "there is no setting Segment_Dir; did you mean segment-dir?");
        check("frequency=5s", "there is no setting frequency; settings: recording, out, ");
        check("interval=5", "expected a time from 1ms to 1000h with its unit, as in 5s");
        check("out=", "expected the name of a directory that can be created for out");
        check("interval", "expected KEY=VALUE");
    }
}

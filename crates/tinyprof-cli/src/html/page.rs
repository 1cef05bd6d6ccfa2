//! The page: one file that may run its own scripts and load nothing else.
//!
//! Text from the profile is never HTML text of the page. It is base64, which has no character with
//! a meaning in HTML, and the scripts insert it into the page as text. A Content-Security-Policy
//! lists the hashes of the scripts and the style, so that the browser would run nothing else even
//! if that failed.
//!
//! The page of a running job has no data: it may ask for them where it comes from.

use std::error::Error;

use serde_json::Value;

use super::payload::Shown;
use super::{payload, scripts};

const BODY: &str = include_str!("../../web/page.html");
#[cfg(feature = "top")]
const LIVE_BODY: &str = include_str!("../../web/live.html");
const STYLES: [&str; 4] = [
    include_str!("../../web/vendor/uplot.css"),
    include_str!("../../web/style/page.css"),
    include_str!("../../web/style/views.css"),
    include_str!("../../web/style/print.css"),
];

/// The hashes by which the policies list the libraries, the program for profiles, that for a
/// running job, and the style: SHA-256, in base64. They change with the files of `web`, and a test
/// says to what.
const HASHES: [&str; 4] = [
    "KgJVsC6ZtO36GHbPx7mxi8unNtaEOWubzRWBtiOJCrg=",
    "M/mPlBBqg2kkqv0fb9XPiYMjZJQcRlPpugek8qLBcso=",
    "BUTBN33C2+AaSwU9tpdLxd0JGo6mPut6WYdyYUBf0Wc=",
    "6jq+YHxtnNY8PMA4QSeT24/Dp0/ZPdoapVFqybr6a5U=",
];

/// Returns the page of one profile, or of two and their comparison.
///
/// # Errors
/// If a profile cannot be read, or is too large for a page: its names and statistics alone would be
/// 4 GiB.
pub(super) fn of_profiles(
    profiles: &[Shown<'_>],
    comparison: Option<&Value>,
) -> Result<String, Box<dyn Error>> {
    let [of_libraries, of_program, _, of_style] = HASHES;
    let mut page = head([of_libraries, of_program, of_style], "");
    page.push_str(BODY);
    for profile in profiles {
        add_data(&mut page, "profile", &payload::of_profile(profile)?);
    }
    if let Some(comparison) = comparison {
        add_data(&mut page, "comparison", &payload::packed(comparison, &[])?);
    }
    page.push_str(&end(&scripts::program()));
    Ok(page)
}

/// Returns the page of a running job, which gets its data from where it comes from.
#[cfg(feature = "top")]
pub(super) fn of_a_running_job() -> String {
    let [of_libraries, _, of_program, of_style] = HASHES;
    let mut page = head([of_libraries, of_program, of_style], "; connect-src 'self'");
    page.push_str(LIVE_BODY);
    page.push_str(&end(&scripts::live_program()));
    page
}

/// Returns the beginning of a page that runs what has these hashes, and may do what `more` says.
fn head([of_libraries, of_program, of_style]: [&str; 3], more: &str) -> String {
    let style = STYLES.concat();
    let policy = format!(
        "default-src 'none'; script-src 'sha256-{of_libraries}' 'sha256-{of_program}'; style-src \
         'sha256-{of_style}'; img-src data:; base-uri 'none'; form-action 'none'{more}"
    );
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <link rel=\"icon\" href=\"data:,\">\n\
         <title>TinyProf</title>\n<style>{style}</style>\n</head>\n<body>\n"
    )
}

fn end(program: &str) -> String {
    let libraries = scripts::libraries();
    format!(
        "<script>{libraries}</script>\n<script type=\"module\">{program}</script>\n</body>\n</html>\n"
    )
}

/// Adds an element that the browser does not run as a script, despite its name: base64 for our
/// scripts.
fn add_data(page: &mut String, class: &str, base64: &str) {
    for part in
        ["<script type=\"application/octet-stream\" class=\"", class, "\">", base64, "</script>\n"]
    {
        page.push_str(part);
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use sha2::{Digest as _, Sha256};

    use super::*;

    #[test]
    fn the_policy_has_the_hashes_of_what_the_page_runs() {
        let shown =
            [scripts::libraries(), scripts::program(), scripts::live_program(), STYLES.concat()];
        let hashes = shown.map(|text| STANDARD.encode(Sha256::digest(text)));
        assert_eq!(HASHES, hashes, "the files of `web` have changed: these are the new HASHES");
    }

    #[test]
    fn no_part_of_the_page_ends_its_own_element_or_loads_anything() {
        for script in [scripts::libraries(), scripts::program(), scripts::live_program()] {
            let lower = script.to_lowercase();
            assert!(
                !lower.contains("</script") && !lower.contains("<!--"),
                "a script would end too early"
            );
        }
        assert!(!STYLES.concat().to_lowercase().contains("</style"));
        for part in [BODY, LIVE_BODY, &STYLES.concat()] {
            for loads in ["src=", "url(", "@import", "http:", "https:", "onclick", "style="] {
                assert!(
                    !part.contains(loads),
                    "{loads} loads something, or is refused by the policy"
                );
            }
        }
    }
}

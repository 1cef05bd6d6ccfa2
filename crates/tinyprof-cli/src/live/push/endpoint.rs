//! Where a collector is, and what it wants to be told: the standard variables of OpenTelemetry.

use std::time::Duration;

use percent_encoding::percent_decode_str;

use crate::outcome::WrongArgument;

/// The path of metrics below an address.
const METRICS_PATH: &str = "v1/metrics";

/// A collector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Endpoint {
    /// The whole address.
    pub(super) url: String,
    pub(super) headers: Vec<(String, String)>,
    /// The longest time for a request.
    pub(super) timeout: Duration,
    pub(super) is_compressed: bool,
    /// The attributes of the resource.
    pub(super) resource: Vec<(String, String)>,
    /// Notes for the user on variables that are ignored.
    pub(super) notes: Vec<String>,
}

impl Endpoint {
    /// Returns the collector at this address, or that of the variables.
    ///
    /// # Errors
    /// If the address is none, or of a protocol that is not spoken here.
    pub(super) fn new(
        url: Option<&str>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, WrongArgument> {
        // An empty variable is as good as none.
        let variable = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        // Those of metrics alone come first.
        let setting = |name: &str| {
            ["METRICS_", ""].into_iter().find_map(|of| {
                let name = format!("OTEL_EXPORTER_OTLP_{of}{name}");
                variable(&name).map(|value| (name, value.trim().to_owned()))
            })
        };
        let mut notes = Vec::new();
        let url = match (url, setting("ENDPOINT")) {
            (Some(base), _) => below(base),
            (None, Some((name, whole))) if name.contains("_METRICS_") => whole,
            (None, Some((_, base))) => below(&base),
            (None, None) => below("http://localhost:4318"),
        };
        check(&url)?;
        let mut ignored = |name: &str, expected: &str| {
            notes.push(format!("{name} is ignored: expected {expected}"));
        };
        let mut timeout = Duration::from_secs(10);
        if let Some((name, value)) = setting("TIMEOUT") {
            match value.parse().ok().filter(|ms| *ms > 0) {
                Some(ms) => timeout = Duration::from_millis(ms),
                None => ignored(&name, "milliseconds"),
            }
        }
        let pairs = "percent-encoded pairs such as key=value,key2=value2";
        let mut headers = Vec::new();
        if let Some((name, value)) = setting("HEADERS") {
            match pairs_of(&value).filter(|pairs| pairs.iter().all(is_header)) {
                Some(pairs) => headers = pairs,
                None => ignored(&name, pairs),
            }
        }
        let compression = setting("COMPRESSION");
        let is_compressed = compression.as_ref().is_some_and(|(_, value)| value == "gzip");
        if let Some((name, _)) = compression.filter(|(_, value)| value != "gzip" && value != "none")
        {
            ignored(&name, "gzip or none");
        }
        if let Some((name, _)) = setting("PROTOCOL").filter(|(_, value)| value == "grpc") {
            ignored(&name, "http/json, which is what is sent");
        }
        let mut resource = Vec::new();
        if let Some(value) = variable("OTEL_RESOURCE_ATTRIBUTES") {
            match pairs_of(&value) {
                Some(pairs) => resource = pairs,
                None => ignored("OTEL_RESOURCE_ATTRIBUTES", pairs),
            }
        }
        name_service(&mut resource, variable("OTEL_SERVICE_NAME"));
        Ok(Self { url, headers, timeout, is_compressed, resource, notes })
    }

    /// Returns the address for people, without a password that may be in it.
    pub(super) fn shown(&self) -> String {
        match self.url.split_once("://") {
            Some((scheme, rest)) => {
                let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
                let host = authority.rsplit('@').next().unwrap_or(authority);
                let path = path.split('?').next().unwrap_or(path);
                format!("{scheme}://{host}/{path}")
            }
            None => self.url.clone(),
        }
    }
}

/// Returns the address of metrics below a base.
fn below(base: &str) -> String {
    let base = base.trim_end_matches('/');
    if base.ends_with(METRICS_PATH) { base.to_owned() } else { format!("{base}/{METRICS_PATH}") }
}

fn check(url: &str) -> Result<(), WrongArgument> {
    let wrong = |what: String| Err(WrongArgument(what));
    match url.split_once("://") {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") && !rest.starts_with('/') => {
            Ok(())
        }
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("https") => {
            let host = rest.split('/').next().unwrap_or(rest);
            let host = host.rsplit('@').next().unwrap_or(host);
            wrong(format!(
                "https is not spoken here: run a collector on this host, such as otelcol, have it forward to \
                 https://{host}, and push to it: --otlp=http://localhost:4318"
            ))
        }
        _ => wrong(format!(
            "expected an address such as http://collector:4318, found {url:?} (--otlp, or a variable \
             OTEL_EXPORTER_OTLP_*ENDPOINT)"
        )),
    }
}

/// Returns `key=value` pairs; none if there is anything else in the text.
fn pairs_of(text: &str) -> Option<Vec<(String, String)>> {
    let decoded = |part: &str| {
        let text = percent_decode_str(part.trim()).decode_utf8().ok()?;
        Some(text.into_owned())
    };
    let pairs = text.split(',').map(str::trim).filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (key, value) = pair.split_once('=')?;
            Some((decoded(key)?, decoded(value)?)).filter(|(key, _)| !key.is_empty())
        })
        .collect()
}

/// Returns whether HTTP can carry a header.
fn is_header((name, value): &(String, String)) -> bool {
    ureq::http::HeaderName::from_bytes(name.as_bytes()).is_ok()
        && ureq::http::HeaderValue::from_str(value).is_ok()
}

/// Gives the resource the name of its service, which it must have.
fn name_service(resource: &mut Vec<(String, String)>, name: Option<String>) {
    let key = "service.name";
    if name.is_some() {
        resource.retain(|(known, _)| known != key);
    }
    if !resource.iter().any(|(known, _)| known == key) {
        let name = name.unwrap_or_else(|| "tinyprof".to_owned());
        resource.push((key.to_owned(), name.trim().to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(url: Option<&str>, variables: &[(&str, &str)]) -> Result<Endpoint, String> {
        let of = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        Endpoint::new(url, of).map_err(|error| error.0)
    }

    fn pair(key: &str, value: &str) -> (String, String) {
        (key.to_owned(), value.to_owned())
    }

    #[test]
    fn addresses_are_what_the_specification_says() {
        const BASE: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
        const WHOLE: &str = "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT";
        let check = |url, variables: &[(&str, &str)], expected: &str| {
            assert_eq!(endpoint(url, variables).expect("it is one").url, expected);
        };
        check(None, &[], "http://localhost:4318/v1/metrics");
        check(None, &[(BASE, "")], "http://localhost:4318/v1/metrics");
        check(None, &[(BASE, "http://c:1/otlp/")], "http://c:1/otlp/v1/metrics");
        check(None, &[(BASE, "http://c:1"), (WHOLE, "http://d/in")], "http://d/in");
        check(Some("http://e:2"), &[(WHOLE, "http://d/in")], "http://e:2/v1/metrics");
        check(Some("http://e:2/v1/metrics"), &[], "http://e:2/v1/metrics");
    }

    #[test]
    fn what_is_not_spoken_is_refused_with_what_to_do() {
        let error = endpoint(Some("https://u:secret@c:4318"), &[]).expect_err("it is not spoken");
        assert!(error.contains("run a collector on this host") && error.contains("https://c:4318"));
        assert!(!error.contains("secret"), "{error}");
        for wrong in ["collector:4318", "grpc://c", "http:///x"] {
            let error = endpoint(Some(wrong), &[]).expect_err(wrong);
            assert!(error.contains("such as http://collector:4318"), "{error}");
        }
        let of = endpoint(Some("http://u:secret@c:1/x?key=secret"), &[]).expect("it is one");
        assert_eq!(of.shown(), "http://c:1/x");
    }

    #[test]
    fn variables_are_read_and_those_of_metrics_come_first() {
        let of = endpoint(
            None,
            &[
                ("OTEL_EXPORTER_OTLP_HEADERS", "a=general"),
                ("OTEL_EXPORTER_OTLP_METRICS_HEADERS", "api-key=a%20b%3D, x=2"),
                ("OTEL_EXPORTER_OTLP_TIMEOUT", "1500"),
                ("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"),
                ("OTEL_RESOURCE_ATTRIBUTES", "service.name=a,site=north%2Cwest"),
                ("OTEL_SERVICE_NAME", "heat"),
            ],
        );
        let of = of.expect("an endpoint");
        assert_eq!(of.headers, [pair("api-key", "a b="), pair("x", "2")]);
        assert_eq!((of.timeout, of.is_compressed), (Duration::from_millis(1500), true));
        assert_eq!(of.resource, [pair("site", "north,west"), pair("service.name", "heat")]);
        assert_eq!(of.notes, [""; 0]);
    }

    #[test]
    fn what_cannot_be_read_is_ignored_and_told() {
        let of = endpoint(
            None,
            &[
                ("OTEL_EXPORTER_OTLP_HEADERS", "secret"),
                ("OTEL_EXPORTER_OTLP_TIMEOUT", "10s"),
                ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
                ("OTEL_RESOURCE_ATTRIBUTES", "a=%ff"),
            ],
        );
        let of = of.expect("an endpoint");
        assert_eq!((of.headers.len(), of.timeout), (0, Duration::from_secs(10)));
        assert_eq!(of.resource, [pair("service.name", "tinyprof")]);
        assert_eq!(of.notes.len(), 4, "{:?}", of.notes);
        assert!(!of.notes.concat().contains("secret"));
    }
}

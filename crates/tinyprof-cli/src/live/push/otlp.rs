//! The numbers as a request of OTLP, in its JSON encoding, and what the answer says.
//!
//! Names and rules are those of `opentelemetry/proto/collector/metrics/v1`: fields in camel case,
//! integers of 64 bits as text, enumerations as numbers.

use serde_json::{Value, json};

use super::metric::{Metric, Number, Numbers, Point};

/// `AGGREGATION_TEMPORALITY_CUMULATIVE`.
const CUMULATIVE: u32 = 2;

/// Returns the request that hands the numbers over, of a resource with these attributes.
pub(super) fn request(numbers: &Numbers, resource: &[(String, String)]) -> Value {
    let metrics: Vec<Value> =
        numbers.metrics().map(|(metric, points)| one(numbers, metric, points)).collect();
    let resource: Vec<Value> = resource.iter().map(|(key, value)| attribute(key, value)).collect();
    json!({ "resourceMetrics": [{
        "resource": { "attributes": resource },
        "scopeMetrics": [{
            "scope": { "name": "tinyprof", "version": env!("CARGO_PKG_VERSION") },
            "metrics": metrics,
        }],
    }] })
}

fn one(numbers: &Numbers, metric: &Metric, points: &[Point]) -> Value {
    let points: Vec<Value> = points.iter().map(|at| point(numbers, metric, at)).collect();
    let mut told = json!({
        "name": metric.name, "description": metric.help, "unit": metric.unit,
    });
    if metric.is_sum {
        told["sum"] = json!({
            "dataPoints": points, "aggregationTemporality": CUMULATIVE, "isMonotonic": true,
        });
    } else {
        told["gauge"] = json!({ "dataPoints": points });
    }
    told
}

fn point(numbers: &Numbers, metric: &Metric, point: &Point) -> Value {
    let labels = numbers.labels(metric, point);
    let labels: Vec<Value> = labels.map(|(key, value)| attribute(key, value)).collect();
    let mut told = json!({
        "attributes": labels, "timeUnixNano": numbers.moment_ns.to_string(),
    });
    if metric.is_sum {
        told["startTimeUnixNano"] = json!(numbers.start_ns.to_string());
    }
    match point.number {
        Number::Whole(count) => told["asInt"] = json!(signed(count).to_string()),
        Number::Time(ns) => told["asDouble"] = json!(seconds(ns)),
        Number::Real(number) => told["asDouble"] = json!(number),
    }
    told
}

fn attribute(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}

/// Returns a count in the protocol's 64 bits, of which one is the sign.
fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[expect(clippy::cast_precision_loss, reason = "the protocol has no times, only doubles")]
fn seconds(ns: u128) -> f64 {
    ns as f64 / 1e9
}

/// How much of a request a collector has accepted, by its answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Accepted {
    /// The points that were refused, and why.
    pub(super) rejected: u64,
    pub(super) why: String,
}

/// Returns what the body of an answer says.
pub(super) fn accepted(body: &[u8]) -> Accepted {
    let told: Value = serde_json::from_slice(body).unwrap_or_default();
    let partly = &told["partialSuccess"];
    let count = &partly["rejectedDataPoints"];
    let rejected = count.as_u64().or_else(|| count.as_str()?.parse().ok()).unwrap_or(0);
    let why = partly["errorMessage"].as_str().unwrap_or_default().to_owned();
    Accepted { rejected, why }
}

#[cfg(test)]
mod tests {
    use super::super::example::numbers;
    use super::*;

    #[test]
    fn a_request_is_that_of_the_protocol() {
        let resource = [("service.name".to_owned(), "tinyprof".to_owned())];
        let request = request(&numbers(), &resource);
        insta::assert_snapshot!(serde_json::to_string_pretty(&request).expect("JSON"));
    }

    #[test]
    fn an_answer_may_accept_a_part() {
        let check = |body: &str, rejected, why: &str| {
            assert_eq!(accepted(body.as_bytes()), Accepted { rejected, why: why.to_owned() });
        };
        check("{}", 0, "");
        check("", 0, "");
        check("\u{8}\u{1}", 0, "");
        check(r#"{"partialSuccess":{"rejectedDataPoints":"3","errorMessage":"old"}}"#, 3, "old");
        check(r#"{"partialSuccess":{"rejectedDataPoints":3}}"#, 3, "");
    }
}

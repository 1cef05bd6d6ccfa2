//! A request of OTLP in JSON, read strictly: with the fields and forms of
//! `opentelemetry/proto/metrics/v1/metrics.proto`, and no others.

use std::collections::BTreeMap;

use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ExportMetricsServiceRequest {
    pub(crate) resource_metrics: Vec<ResourceMetrics>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ResourceMetrics {
    pub(crate) resource: Resource,
    pub(crate) scope_metrics: Vec<ScopeMetrics>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Resource {
    pub(crate) attributes: Vec<KeyValue>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ScopeMetrics {
    pub(crate) scope: Scope,
    pub(crate) metrics: Vec<Metric>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Scope {
    pub(crate) name: String,
    pub(crate) version: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Metric {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) unit: String,
    pub(crate) sum: Option<Sum>,
    pub(crate) gauge: Option<Gauge>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Sum {
    pub(crate) data_points: Vec<NumberDataPoint>,
    pub(crate) aggregation_temporality: u32,
    pub(crate) is_monotonic: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Gauge {
    pub(crate) data_points: Vec<NumberDataPoint>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NumberDataPoint {
    pub(crate) attributes: Vec<KeyValue>,
    pub(crate) start_time_unix_nano: Option<String>,
    pub(crate) time_unix_nano: String,
    pub(crate) as_int: Option<String>,
    pub(crate) as_double: Option<f64>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct KeyValue {
    pub(crate) key: String,
    pub(crate) value: AnyValue,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct AnyValue {
    pub(crate) string_value: String,
}

/// The numbers of a request: each by its metric and labels.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) resource: BTreeMap<String, String>,
    pub(crate) gauges: BTreeMap<String, f64>,
    pub(crate) sums: BTreeMap<String, f64>,
    /// The start of all sums, and the moment of all points, in ns since 1970.
    pub(crate) start_ns: u64,
    pub(crate) moment_ns: u64,
}

/// Reads a request, and checks what the protocol says of its parts.
pub(crate) fn read(body: &[u8]) -> Told {
    let text = String::from_utf8_lossy(body);
    let mut request: ExportMetricsServiceRequest =
        serde_json::from_slice(body).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(request.resource_metrics.len(), 1);
    let of_resource = request.resource_metrics.remove(0);
    let mut told = Told {
        resource: pairs(&of_resource.resource.attributes),
        gauges: BTreeMap::new(),
        sums: BTreeMap::new(),
        start_ns: 0,
        moment_ns: 0,
    };
    assert_eq!(of_resource.scope_metrics.len(), 1);
    let scope = &of_resource.scope_metrics[0];
    assert_eq!((scope.scope.name.as_str(), scope.scope.version.is_empty()), ("tinyprof", false));
    let mut names: Vec<&str> = scope.metrics.iter().map(|metric| metric.name.as_str()).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count, "a metric is there once");
    scope.metrics.iter().for_each(|metric| told.add(metric));
    assert!(told.start_ns <= told.moment_ns && told.start_ns > 1_700_000_000_000_000_000);
    told
}

impl Told {
    fn add(&mut self, metric: &Metric) {
        assert!(!metric.description.is_empty() && !metric.unit.is_empty(), "{metric:?}");
        let points = match (&metric.sum, &metric.gauge) {
            (Some(sum), None) => {
                assert!(sum.is_monotonic && sum.aggregation_temporality == 2, "{metric:?}");
                &sum.data_points
            }
            (None, Some(gauge)) => &gauge.data_points,
            _ => panic!("one of both: {metric:?}"),
        };
        assert!(!points.is_empty(), "{metric:?}");
        for point in points {
            let is_sum = metric.sum.is_some();
            let nanoseconds = |text: &String| text.parse::<u64>().expect("whole nanoseconds");
            assert_eq!(point.start_time_unix_nano.is_some(), is_sum, "{metric:?}");
            if let Some(start_ns) = point.start_time_unix_nano.as_ref().map(nanoseconds) {
                assert!(self.start_ns == 0 || self.start_ns == start_ns);
                self.start_ns = start_ns;
            }
            self.moment_ns = nanoseconds(&point.time_unix_nano);
            let number = match (&point.as_int, point.as_double) {
                (Some(count), None) => count.parse::<i32>().expect("a small count").into(),
                (None, Some(number)) => number,
                _ => panic!("one of both: {point:?}"),
            };
            let labels = pairs(&point.attributes);
            assert!(!labels.contains_key("rank"), "{point:?}");
            let own = labels.iter().filter(|(key, _)| !key.starts_with("job_"));
            let own: Vec<String> = own.map(|(key, value)| format!("{key}={value}")).collect();
            assert_eq!(labels.len() - own.len(), 2, "the labels of the job: {point:?}");
            let key = format!("{}{{{}}}", metric.name, own.join(","));
            let to = if is_sum { &mut self.sums } else { &mut self.gauges };
            assert_eq!(to.insert(key, number), None, "labels are unique: {point:?}");
        }
    }
}

fn pairs(attributes: &[KeyValue]) -> BTreeMap<String, String> {
    let pairs = attributes.iter().map(|of| (of.key.clone(), of.value.string_value.clone()));
    let pairs: BTreeMap<String, String> = pairs.collect();
    assert_eq!(pairs.len(), attributes.len(), "a key is there once: {attributes:?}");
    pairs
}

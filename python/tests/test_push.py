"""What `tinyprof push` sends is what the readers of these formats take. The documents are those that
tests of the command compare with what it makes."""

from __future__ import annotations

import json
from pathlib import Path

from google.protobuf.json_format import Parse
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.metrics.v1.metrics_pb2 import AGGREGATION_TEMPORALITY_CUMULATIVE
from prometheus_client.openmetrics.parser import text_string_to_metric_families

ROOT = Path(__file__).parents[2]
SNAPSHOTS = ROOT / "crates/tinyprof-cli/src/live/push/snapshots"


def document(name):
    text = (SNAPSHOTS / f"tinyprof__live__push__{name}.snap").read_text()
    return text.split("---\n", 2)[2].rstrip("\n") + "\n"


def test_a_collector_takes_a_request():
    text = document("otlp__tests__a_request_is_that_of_the_protocol")
    request = Parse(text, ExportMetricsServiceRequest(), ignore_unknown_fields=False)
    (of_resource,) = request.resource_metrics
    (of_scope,) = of_resource.scope_metrics
    kinds = {metric.name: metric.WhichOneof("data") for metric in of_scope.metrics}
    assert set(kinds.values()) == {"sum", "gauge"}
    for metric in of_scope.metrics:
        data = getattr(metric, kinds[metric.name])
        if kinds[metric.name] == "sum":
            assert data.is_monotonic
            assert data.aggregation_temporality == AGGREGATION_TEMPORALITY_CUMULATIVE
        for point in data.data_points:
            assert point.WhichOneof("value")
            assert "rank" not in {attribute.key for attribute in point.attributes}
            assert point.time_unix_nano > point.start_time_unix_nano
    # Nothing was read as a default that stands there as something else.
    again = json.loads(text)["resourceMetrics"][0]["scopeMetrics"][0]["metrics"]
    assert len(again) == len(of_scope.metrics)


def test_text_is_read_by_the_reference_parser():
    text = document("text__tests__text_is_that_of_the_format")
    families = {family.name: family for family in text_string_to_metric_families(text)}
    assert {family.type for family in families.values()} == {"counter", "gauge"}
    waiting = families["tinyprof_job_waiting_seconds"]
    (sample,) = waiting.samples
    assert (waiting.unit, sample.name) == ("seconds", "tinyprof_job_waiting_seconds_total")
    assert (sample.labels["cause"], sample.value) == ("late_sender", 3)
    assert families["tinyprof_job_elapsed_seconds"].samples[0].value == 83.5


def test_the_dashboard_asks_for_labels_that_are_pushed():
    dashboard = json.loads((ROOT / "packaging/grafana/tinyprof.json").read_text())
    expressions = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    assert len(expressions) > 15
    assert all('job_id="$job_id"' in expression for expression in expressions)
    places = [panel["gridPos"] for panel in dashboard["panels"]]
    covered = {(x, y) for p in places for x in range(p["x"], p["x"] + p["w"]) for y in range(p["y"], p["y"] + p["h"])}
    assert len(covered) == sum(p["w"] * p["h"] for p in places), "panels do not overlap"

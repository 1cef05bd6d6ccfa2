"""A profile of rounded times says so wherever its numbers go."""

from __future__ import annotations

import json
import tarfile
import xml.etree.ElementTree as ElementTree

import networkx
import pyarrow.parquet
import pytest
from hatchet import GraphFrame
from prometheus_client.openmetrics.parser import text_string_to_metric_families

import tinyprof
from conftest import VERSIONS, frozen
from export_profiles import export, run

ROUNDED = next(version for version in VERSIONS if version.endswith("8bit"))


@pytest.mark.parametrize(["version", "expected"], [(ROUNDED, "8bit"), ("0.3", "exact")])
def test_every_export_with_a_place_for_it_tells_the_precision(version, expected, tmp_path):
    profile = frozen(version)

    def exported(name: str):
        file, message = export(profile, name, tmp_path)
        assert "rounded" not in message
        return file

    assert GraphFrame.from_caliper(str(exported("hatchet"))).metadata["precision"] == expected
    assert networkx.read_graphml(exported("graphml")).graph["precision"] == expected
    manifest = pyarrow.parquet.read_metadata(exported("parquet")).metadata[b"tinyprof.manifest"]
    assert json.loads(manifest)["precision"] == expected
    families = text_string_to_metric_families(exported("openmetrics").read_text())
    labels = next(family for family in families if family.name == "tinyprof_run").samples[0].labels
    assert labels["precision"] == expected
    assert json.loads(exported("chrome").read_text())["otherData"]["precision"] == expected
    assert json.loads(exported("extrap").read_text())["precisions"] == [expected]
    with tarfile.open(exported("cubex")) as archive:
        anchor = ElementTree.parse(archive.extractfile("anchor.xml"))
    attributes = {attr.get("key"): attr.get("value") for attr in anchor.getroot().iter("attr")}
    assert attributes["tinyprof precision"] == expected
    is_rounded = expected == "8bit"
    name = json.loads(exported("speedscope").read_text())["name"]
    assert name.endswith(" (times rounded to 8 bits)") == is_rounded
    assert ("times rounded to 8 bits" in exported("flamegraph").read_text()) == is_rounded


@pytest.mark.parametrize("name", ["folded", "tinyprof-csv"])
def test_a_format_without_a_place_for_it_is_said_to_have_none(name):
    note = "note: not in this format: times rounded to 8 bits\n"
    assert note in run("export", frozen(ROUNDED), "--to", name)[1]
    assert note not in run("export", frozen("0.3"), "--to", name)[1]


def test_frames_tell_the_precision():
    for version, expected in ((ROUNDED, "8bit"), ("0.3", "exact")):
        profile = tinyprof.read(frozen(version))
        assert profile.precision == expected
        assert profile.to_hatchet().metadata["precision"] == expected
        assert set(tinyprof.to_thicket([profile]).metadata["precision"]) == {expected}

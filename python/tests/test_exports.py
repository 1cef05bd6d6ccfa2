"""Each export, read by the format's own consumer: the numbers must be those of `tinyprof report --json`."""

import gzip
import json
import warnings
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from pathlib import Path

import jsonschema
import networkx
import pytest
from export_profiles import (
    BIG_NS,
    HOSTILE,
    big,
    export,
    golden,
    hostile,
    imported,
    report,
    roots,
    truth,
    wide,
)
from hatchet import GraphFrame
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from pycubexr import CubexParser

with warnings.catch_warnings():
    # Extra-P declares its options in a way that is deprecated in the library it uses.
    warnings.simplefilter("ignore")
    from extrap.fileio.file_reader.json_file_reader import JsonFileReader
    from extrap.modelers.model_generator import ModelGenerator

SCHEMAS = Path(__file__).parent / "schemas"


@pytest.fixture(params=[lambda _: golden(), hostile, big, roots], ids=["golden", "hostile", "big", "roots"])
def profile(request, tmp_path):
    return request.param(tmp_path)


def stacks(profile):
    """Id -> names from the root, and the parent's id."""
    rows = report(profile)["callpaths"]
    found = {}
    for row in rows:
        above = () if row["parent"] is None else found[rows[row["parent"]]["id"]]
        found[row["id"]] = (*above, row["name"])
    return found


def summed(profile):
    """Stack -> [visits, inclusive ns, exclusive ns] of each rank; siblings of one name are added."""
    names, ranks = stacks(profile), report(profile)["ranks"]
    found = defaultdict(lambda: [[0, 0, 0] for _ in range(ranks)])
    for (callpath, rank), numbers in truth(profile).items():
        of_rank = found[names[callpath]][rank]
        of_rank[:] = [a + b for a, b in zip(of_rank, numbers)]
    return found


def test_hatchet(profile, tmp_path):
    file, _ = export(profile, "hatchet", tmp_path)
    frame = GraphFrame.from_caliper(str(file))
    assert set(frame.inc_metrics) == {"time (inc)", "time_ns (inc)"}
    found = defaultdict(lambda: [[0, 0, 0] for _ in range(report(profile)["ranks"])])
    paths, waiting = {}, [((), root) for root in frame.graph.roots]
    while waiting:
        above, node = waiting.pop()
        paths[node] = (*above, node.frame["name"])
        waiting += [(paths[node], child) for child in node.children]
    for (node, rank), row in frame.dataframe.iterrows():
        numbers = [row["visits"], row["time_ns (inc)"], row["time_ns"]]
        path = paths[node]
        found[path][rank] = [a + int(b) for a, b in zip(found[path][rank], numbers)]
        assert row["time"] == pytest.approx(row["time_ns"] / 1e9, abs=1e-12, rel=1e-15)
    assert found == summed(profile)
    assert frame.metadata["jobsize"] == report(profile)["ranks"]
    assert len(frame.graph) == len(report(profile)["callpaths"])


def test_hatchet_can_work_with_what_it_has_read(tmp_path):
    frame = GraphFrame.from_caliper(str(export(golden(), "hatchet", tmp_path)[0]))
    assert frame.dataframe["metric bytes"].sum() == 1.5
    frame.drop_index_levels()
    assert "main" in frame.tree(metric_column="time_ns")
    slow = frame.filter(lambda row: row["time_ns"] > 10_000, squash=True)
    assert sorted(slow.dataframe["name"]) == ["main", "steps"]


def test_speedscope(profile, tmp_path):
    file = json.loads(export(profile, "speedscope", tmp_path)[0].read_text())
    jsonschema.validate(file, json.loads((SCHEMAS / "speedscope-1.25.0.json").read_text()))
    frames = [frame["name"] for frame in file["shared"]["frames"]]
    expected = summed(profile)
    assert [p["name"] for p in file["profiles"]] == [f"rank {r}" for r in range(report(profile)["ranks"])]
    for rank, of_rank in enumerate(file["profiles"]):
        found = defaultdict(int)
        for sample, weight in zip(of_rank["samples"], of_rank["weights"], strict=True):
            found[tuple(frames[frame] for frame in sample)] += weight
        assert found == {path: ranks[rank][2] for path, ranks in expected.items() if ranks[rank][2]}
        assert of_rank["endValue"] == sum(of_rank["weights"])


def test_folded_stacks_and_their_flame_graph(profile, tmp_path):
    folded = export(profile, "folded", tmp_path)[0].read_text()
    total_ns = sum(int(line.rsplit(" ", 1)[1]) for line in folded.splitlines())
    assert total_ns == sum(numbers[2] for numbers in truth(profile).values())
    drawing = ElementTree.parse(export(profile, "flamegraph", tmp_path)[0])
    titles = [title.text for title in drawing.iter("{http://www.w3.org/2000/svg}title")]
    # The flame graph is drawn with doubles.
    assert f"all ({int(float(total_ns)):,} ns, 100%)" in titles


def nested(slices):
    """Whether slices of one track, (start, length) in ns, are one inside the other or apart."""
    ends = []
    for start, length in sorted(slices, key=lambda s: (s[0], -s[1])):
        while ends and ends[-1] <= start:
            ends.pop()
        if ends and start + length > ends[-1]:
            return False
        ends.append(start + length)
    return True


def test_chrome(profile, tmp_path):
    file = json.loads(export(profile, "chrome", tmp_path)[0].read_text())
    jsonschema.validate(file, json.loads((SCHEMAS / "trace-event.json").read_text()))
    names = {e["pid"]: e["args"]["name"] for e in file["traceEvents"] if e["name"] == "process_name"}
    tracks, sums, series = defaultdict(list), defaultdict(int), defaultdict(int)
    for event in (event for event in file["traceEvents"] if event["ph"] == "X"):
        tracks[event["pid"], event["tid"]].append([round(event[key] * 1000) for key in ("ts", "dur")])
        rank = int(names[event["pid"]].removeprefix("rank "))
        if "first_visit" in event["args"]:
            series[event["name"].rsplit(" [", 1)[0], rank] += event["args"]["sum_ns"]
        else:
            sums[event["name"], rank] += event["args"]["sum_ns"]
        assert round(event["dur"] * 1000) == pytest.approx(event["args"]["sum_ns"], rel=1e-15)
    expected = defaultdict(int)
    for path, ranks in summed(profile).items():
        for rank, (visits, inclusive_ns, _) in enumerate(ranks):
            if visits:
                expected[path[-1], rank] += inclusive_ns
    assert sums == expected
    assert series and all(sums[key] == ns for key, ns in series.items())
    if profile.stem != "big":  # whose sums no double holds
        assert all(nested(slices) for slices in tracks.values())


def test_extrap_models_what_it_has_read(tmp_path):
    profiles = []
    for ranks in (2, 4, 8, 16, 32):
        rows = [
            (["main"], 0, [[ranks * 1000 + 500]] * ranks),
            (["main", "a->b"], 0, [[ranks * 1000]] * ranks),
        ]
        profiles.append(imported(tmp_path, f"p{ranks}", rows))
    first, *others = profiles
    file, message = export(first, "extrap", tmp_path, *others)
    assert message == ""
    experiment = JsonFileReader().read_experiment(file)
    assert [parameter.name for parameter in experiment.parameters] == ["ranks"]
    assert [coordinate.as_tuple() for coordinate in experiment.coordinates] == [(2,), (4,), (8,), (16,), (32,)]
    statistics = {"exclusive_mean_ns": ("exclusive_ns", "mean"), "inclusive_max_ns": ("inclusive_ns", "max")}
    for profile, coordinate in zip(profiles, experiment.coordinates):
        for row, callpath in zip(report(profile)["callpaths"], experiment.callpaths, strict=True):
            for metric in experiment.metrics:
                key, statistic = statistics.get(metric.name, (None, None))
                measured = [m for m in experiment.measurements[callpath, metric] if m.coordinate == coordinate]
                assert len(measured) == 1
                if key:
                    assert measured[0].mean == row[key][statistic], (callpath, metric)
    ModelGenerator(experiment).model_all()
    models = {(str(key[0]), key[1].name): model.hypothesis.function for key, model in experiment.modelers[0].models.items()}
    # 1000 ns per rank below main, and 500 ns in main itself.
    assert models["main", "inclusive_max_ns"].evaluate(1024) == pytest.approx(1_024_500)
    assert models["main", "exclusive_mean_ns"].evaluate(1024) == pytest.approx(500)
    assert models["main->a-\\u{3e}b", "exclusive_mean_ns"].evaluate(1024) == pytest.approx(1_024_000)
    main = experiment.call_tree.childs[0]
    assert (main.name, [child.name for child in main.childs]) == ("main", ["a-\\u{3e}b"])


def test_graphml(profile, tmp_path):
    graph = networkx.read_graphml(export(profile, "graphml", tmp_path)[0])
    rows = report(profile)["callpaths"]
    assert networkx.is_forest(graph) and graph.number_of_nodes() == len(rows)
    nodes = {data["id"]: (node, data) for node, data in graph.nodes(data=True)}
    for row in rows:
        node, data = nodes[row["id"]]
        for time in ("inclusive", "exclusive"):
            for statistic in ("sum", "min", "mean", "max"):
                assert data[f"{time}_{statistic}_ns"] == row[f"{time}_ns"][statistic], row["path"]
        assert (data["visits"], data["ranks"], data["depth"]) == (row["visits"], row["ranks"], row["depth"])
        above = [nodes[rows[row["parent"]]["id"]][0]] if row["parent"] is not None else []
        assert list(graph.predecessors(node)) == above


def test_cubex(profile, tmp_path):
    with CubexParser(str(export(profile, "cubex", tmp_path)[0])) as cube:
        values = {metric.name: cube.get_metric_values(metric) for metric in cube.all_metrics()}
        locations = [int(location.name.removeprefix("rank ")) for location in cube.get_locations()]
        found = {}
        for node in cube.all_cnodes():
            path, at = [], node
            while at:
                path.insert(0, cube.get_region(at).name)
                at = at.parent
            path = tuple(path[1:] if path[0] == "[all roots]" else path)
            for location, rank in enumerate(locations):
                numbers = [int(values[name].location_value(node, location)) for name in ("visits", "time")]
                found[path, rank] = numbers
        metrics = {name: int(values[name].values.sum() * 2) for name in values if name.startswith("metric.")}
    expected = {}
    for path, ranks in summed(profile).items():
        shown = tuple(visible(name) for name in path)
        expected |= {(shown, rank): numbers[:2] for rank, numbers in enumerate(ranks)}
    if ((), 0) in found:
        for rank in range(report(profile)["ranks"]):
            inclusive_ns = sum(ns for (path, r), (_, ns) in expected.items() if len(path) == 1 and r == rank)
            assert found.pop(((), rank)) == [0, inclusive_ns]
    assert found == expected
    assert metrics == ({"metric.bytes": 3} if profile == golden() else {})


def visible(name):
    """How formats spell characters that they cannot hold."""
    for character, spelled in (("\r", "\\r"), ("\n", "\\n"), ("\0", "\\u{0}"), ("\u202e", "\\u{202e}")):
        name = name.replace(character, spelled)
    return name


def test_openmetrics(profile, tmp_path):
    text = export(profile, "openmetrics", tmp_path)[0].read_text()
    families = {family.name: family for family in text_string_to_metric_families(text)}
    labels = {label for family in families.values() for sample in family.samples for label in sample.labels}
    assert "rank" not in labels
    rows = {row["id"]: row for row in report(profile)["callpaths"] if row["ranks"]}
    for time in ("inclusive", "exclusive"):
        for statistic in ("sum", "min", "mean", "max"):
            family = families[f"tinyprof_{time}_{statistic}_seconds"]
            assert (family.unit, len(family.samples)) == ("seconds", len(rows))
            for sample in family.samples:
                row = rows[sample.labels["id"]]
                assert sample.value * 1e9 == pytest.approx(row[f"{time}_ns"][statistic], rel=1e-15)
                assert sample.labels["callpath"] == visible(row["path"])
    for sample in families["tinyprof_callpath_visits"].samples:
        assert sample.value == rows[sample.labels["id"]]["visits"]
    assert families["tinyprof_ranks"].samples[0].value == report(profile)["ranks"]


def pprof(data):
    """The messages of a protocol buffer, decoded as its encoding's description says: field -> list."""

    def varint(at):
        number = shift = 0
        while True:
            byte = data[at]
            number |= (byte & 127) << shift
            at, shift = at + 1, shift + 7
            if byte < 128:
                return number, at

    at, fields = 0, defaultdict(list)
    while at < len(data):
        tag, at = varint(at)
        number, at = varint(at)
        assert tag & 7 in (0, 2)
        if tag & 7 == 2:
            number, at = data[at : at + number], at + number
            assert at <= len(data)
        fields[tag >> 3].append(number)
    return fields


def packed(data):
    """The numbers of a packed field."""
    numbers, number, shift = [], 0, 0
    for byte in data:
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            numbers.append(number)
            number = shift = 0
    return numbers


def test_pprof(profile, tmp_path):
    file = pprof(gzip.decompress(export(profile, "pprof", tmp_path)[0].read_bytes()))
    texts = [text.decode() for text in file[6]]
    assert texts[0] == "" and len(set(texts)) == len(texts)
    types = [pprof(kind) for kind in file[1]]
    assert [(texts[kind[1][0]], texts[kind[2][0]]) for kind in types] == [("visits", "count"), ("time", "nanoseconds")]
    functions = {message[1][0]: texts[message[2][0]] for message in map(pprof, file[5])}
    locations = {}
    for message in map(pprof, file[4]):
        (line,) = map(pprof, message[4])
        locations[message[1][0]] = functions[line[1][0]]
    assert 0 not in functions and 0 not in locations
    found = defaultdict(lambda: [0, 0])
    for message in map(pprof, file[2]):
        path = tuple(locations[location] for location in reversed(packed(message[1][0])))
        visits, ns = packed(message[2][0])
        found[path] = [found[path][0] + visits, found[path][1] + ns]
    expected = {}
    for path, ranks in summed(profile).items():
        visits, _, exclusive_ns = map(sum, zip(*ranks))
        if visits:
            expected[tuple(visible(name) for name in path)] = [visits, exclusive_ns]
    assert found == expected


def test_whole_nanoseconds_are_exact_where_a_format_can_hold_them(tmp_path):
    profile = big(tmp_path)
    assert [row["inclusive_ns"]["sum"] for row in report(profile)["callpaths"]] == BIG_NS[::-1]
    text = {name: export(profile, name, tmp_path)[0].read_text() for name in ("folded", "openmetrics")}
    assert f"step {BIG_NS[0]}\n" in text["folded"]
    assert "9007199.254740993\n" in text["openmetrics"]
    chrome = json.loads(export(profile, "chrome", tmp_path)[0].read_text())
    assert BIG_NS[0] in [event["args"].get("sum_ns") for event in chrome["traceEvents"]]


def test_wide_profiles_are_capped_and_say_so(tmp_path):
    profile = wide(tmp_path)
    file, message = export(profile, "speedscope", tmp_path, "--max-ranks", "4")
    assert "100 ranks are shown as their mean, minimum and maximum and 4 representatives" in message
    file = json.loads(file.read_text())
    jsonschema.validate(file, json.loads((SCHEMAS / "speedscope-1.25.0.json").read_text()))
    assert len(file["profiles"]) == 7
    stands_for = [p["name"].split(" for ")[1].split()[0] for p in file["profiles"][3:] if " for " in p["name"]]
    alone = sum(" for " not in p["name"] for p in file["profiles"][3:])
    assert sum(map(int, stands_for)) + alone == 100
    chrome = json.loads(export(profile, "chrome", tmp_path, "--max-ranks", "4")[0].read_text())
    jsonschema.validate(chrome, json.loads((SCHEMAS / "trace-event.json").read_text()))
    assert sum(event["name"] == "process_name" for event in chrome["traceEvents"]) == 7


def test_hostile_names_come_back_where_a_format_can_hold_them(tmp_path):
    profile = hostile(tmp_path)
    frame = GraphFrame.from_caliper(str(export(profile, "hatchet", tmp_path)[0]))
    assert [node.frame["name"] for node in frame.graph.traverse()] == HOSTILE
    graph = networkx.read_graphml(export(profile, "graphml", tmp_path)[0])
    assert {data["name"] for _, data in graph.nodes(data=True)} == {visible(name) for name in HOSTILE}

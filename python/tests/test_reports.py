"""Reports and comparisons are those of the command."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

import jsonschema
import pytest

import tinyprof
from tinyprof import frames
from conftest import NEWEST, VERSIONS, frozen
from export_profiles import HOSTILE, hostile, imported, roots, run
from test_schema import SCHEMA

EXAMPLES = Path(__file__).parents[1] / "examples" / "runs"


def printed(*arguments):
    """The text that the command prints."""
    return run(*arguments, "--width", "100")[0].decode()


@pytest.mark.parametrize("version", ["0.1", *VERSIONS])
def test_a_report_is_the_text_of_the_command(version):
    profile = tinyprof.read(frozen(version))
    assert profile.report(width=100) == printed("report", frozen(version))
    assert profile.report(width=100, by="region") == printed("report", frozen(version), "--by", "region")
    assert profile.report(width=100, by="line") == printed("report", frozen(version), "--by", "line")
    assert profile.report(width=100, metric="exclusive", all=True) == printed(
        "report", frozen(version), "--metric", "exclusive", "--all"
    )
    # A prompt shows it as it is.
    assert repr(profile.report()) == str(profile.report())
    assert profile.report() == run("report", frozen(version))[0].decode()


@pytest.mark.parametrize("version", ["0.1", *VERSIONS])
def test_hints_and_efficiency_are_the_json_of_the_command(version, report):
    profile, expected = tinyprof.read(frozen(version)), report(frozen(version))
    assert profile.report_json() == expected
    assert profile.report_json(by="region") == json.loads(run("report", "--json", "--by", "region", frozen(version))[0])
    assert profile.report_json(by="line") == json.loads(run("report", "--json", "--by", "line", frozen(version))[0])
    assert (profile.hints(), profile.efficiency()) == (expected["hints"], expected["efficiency"])


def test_a_hint_says_what_where_and_what_to_do(tmp_path):
    slow = [(["main"], 0, [[3 * 10**8], [10**9]]), (["main", "work"], 0, [[2 * 10**8], [9 * 10**8]])]
    profile = tinyprof.read(imported(tmp_path, "slow", slow))
    (hint,) = [hint for hint in profile.hints() if hint["path"] == "main<work"]
    assert profile.callpaths[hint["callpath"]].path == "main<work"
    assert hint["rank"] == 1 and "work" in hint["headline"] and hint["advice"].endswith(".")
    # What was given away is the caller's.
    hint["path"] = "changed"
    assert "changed" not in [hint["path"] for hint in profile.hints()]


def test_threads_are_a_frame():
    step = {"count": 3.0, "busy": 2.0, "longest_ns": 3.5e9, "longest_rank": 1, "imbalance": 0.5, "largest_visit_ns": 7}
    place = {name: 1.5 if name == "busy" else None for name in step}
    rows = [("main", None), ("main<step", step), (None, place)]
    found = frames.of_threads([{"path": path, "name": "f (a.c:3)", "threads": of} for path, of in rows])
    assert found["path"].to_list() == ["main<step", "f (a.c:3)"]
    assert found.loc[0, "threads":].to_list() == [3.0, 2.0, 3.5e9, 1, 0.5, 7]
    assert found.loc[1, "threads":].isna().to_list() == [True, False, True, True, True, True]
    assert tinyprof.read(frozen(NEWEST)).threads().empty


def test_wrong_arguments_are_told():
    profile = tinyprof.read(frozen(NEWEST))
    with pytest.raises(KeyError, match="there is no metric bytez: expected inclusive"):
        profile.report(metric="bytez")
    with pytest.raises(ValueError, match="'callpath', .* 'call' or 'peer', not by 'rank'"):
        profile.report(by="rank")
    with pytest.raises(KeyError, match="there is no metric bytez"):
        tinyprof.diff(profile, profile, metric="bytez")
    with pytest.raises(ValueError, match="expected one of mean, median, min"):
        tinyprof.diff(profile, profile, estimator="maximum")
    with pytest.raises(ValueError, match="new has no run"):
        tinyprof.diff(profile, [])
    with pytest.raises(FileNotFoundError):
        tinyprof.diff(profile, "none.tprof")


def test_a_damaged_profile_is_told_as_by_the_reader(copy):
    directory = copy(NEWEST)
    profile = tinyprof.read(directory)
    part = directory / "part-00000"
    part.write_bytes(part.read_bytes()[:-1])
    with pytest.raises(tinyprof.DamagedError, match="cut off") as caught:
        profile.report()
    assert caught.value.path == part and caught.value.offset == part.stat().st_size
    # Damage of one byte, and of the manifest.
    part.write_bytes((frozen(NEWEST) / "part-00000").read_bytes()[:-40] + b"\xff" * 40)
    with pytest.raises(tinyprof.DamagedError):
        profile.hints()
    (directory / "manifest.json").write_text("{")
    with pytest.raises(tinyprof.ProfileError, match="not a readable manifest"):
        profile.report()
    (directory / "manifest.json").unlink()
    with pytest.raises(tinyprof.ProfileError, match="no manifest"):
        tinyprof.diff(profile, profile)


def test_a_report_keeps_to_the_limit():
    profile = tinyprof.read(frozen(NEWEST))
    profile.limit_bytes = 1000
    with pytest.raises(tinyprof.TooLargeError, match="more memory"):
        profile.report()


def runs(tmp_path, name, slower):
    """Five runs of two ranks, in which `work` takes so much longer, with a noise of 2 %."""
    made = []
    for number in range(5):
        noise = 1 + 0.01 * ((number * 7) % 5 - 2)
        work = [[round(1e8 * slower * noise)], [round(1.1e8 * slower * noise)]]
        rest = [[round(2e8 * noise)], [round(2e8 * noise)]]
        main = [[work[0][0] + rest[0][0]], [work[1][0] + rest[1][0]]]
        rows = [(["main"], 0, main), (["main", "work"], 0, work), (["main", "rest"], 0, rest)]
        made.append(imported(tmp_path, f"{name}-{number}", rows))
    return made


@pytest.fixture(scope="module")
def sides(tmp_path_factory):
    directory = tmp_path_factory.mktemp("runs")
    return runs(directory, "base", 1), runs(directory, "new", 1.3)


def test_a_comparison_is_that_of_the_command(sides):
    base, new = sides
    found = tinyprof.diff(base, new)
    command = ["diff", "--base", *base, "--new", *new]
    assert str(found) == run(*command)[0].decode()
    assert found.text(all=True, width=100) == printed(*command, "--all")
    assert found.json == json.loads(run(*command, "--json", "--min-share", "1%")[0])
    jsonschema.validate(found.json, SCHEMA)
    for settings, options in [
        ({"metric": "exclusive", "estimator": "min"}, ["--metric", "exclusive", "--estimator", "min"]),
        ({"metric": "visits", "min_share": 0.2}, ["--metric", "visits", "--min-share", "20%"]),
    ]:
        assert str(tinyprof.diff(base, new, **settings)) == run(*command, *options)[0].decode()


def test_verdicts_and_the_smallest_visible_change_are_there(sides):
    base, new = sides
    found = tinyprof.diff(map(tinyprof.read, base), new, fail_above=0.05)
    table = found.dataframe()
    assert table.loc["main<work", "verdict"] == "up" and table.loc["main<rest", "verdict"] == "equal"
    assert table.loc["main<work", "change"] == pytest.approx(0.3) and table.loc["main<work", "fails"]
    assert 0.01 < table.loc["main<work", "smallest_change"] < 0.05
    low, high = table.loc["main<work", ["low", "high"]]
    assert low < table.loc["main<work", "difference"] < high
    assert found.is_above_limit and found.samples == "samples: 5 runs against 5"
    assert any("up by more than 5.0%" in note for note in found.notes)
    same = tinyprof.diff(base, base, fail_above=0.05)
    assert not same.is_above_limit and set(same.dataframe()["verdict"]) == {"equal"}


def test_one_run_has_no_interval(tmp_path):
    one = imported(tmp_path, "one", [(["main"], 0, [[1000]])])
    two = imported(tmp_path, "two", [(["main"], 0, [[1500]])])
    row = tinyprof.diff(one, two).dataframe().loc["main"]
    assert row["verdict"] == "unjudged" and row["change"] == pytest.approx(0.5)
    assert row[["low", "high", "smallest_change", "adjusted_p"]].isna().all()


class Cells(HTMLParser):
    """The tags and the texts of a piece of HTML."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.texts = set(), []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)

    def handle_data(self, data):
        self.texts.append(data)


def test_a_notebook_shows_the_facts_and_the_hottest_callpaths(sides, tmp_path):
    profile = tinyprof.read(sides[0][0])
    shown = Cells(profile._repr_html_())
    assert "base-0.tprof" in shown.texts and ": 2 ranks, 1 execution, 299ms per rank" in shown.texts
    hottest = [text for text in shown.texts if text.startswith("main")]
    assert hottest == ["main<rest", "main<work", "main"]
    # Names are text, whatever they are, and move nothing.
    evil = tinyprof.read(hostile(tmp_path))._repr_html_()
    shown = Cells(evil)
    assert shown.tags == {"p", "b", "ul", "li", "table", "tr", "th", "td"} | shown.tags & {"code"}
    assert not set("\u202e\0\n\r") & {character for text in shown.texts for character in text.strip("\n")}
    assert any(HOSTILE[1] in text for text in shown.texts)


def test_a_callpath_that_ranks_never_ran_is_counted(tmp_path):
    shown = Cells(tinyprof.read(roots(tmp_path))._repr_html_()).texts
    at = shown.index("a<x")
    cells = shown[at + 1 : at + 8]
    # Two of three ranks run it, for 2 and 3 ns: the mean, 2.5 ns, is theirs, the number beside it.
    assert cells == ["2", "5ns", "2.5%", "5ns", "2/3", "3ns", "2"]


def test_efficiencies_are_those_of_the_report():
    profile = tinyprof.read(EXAMPLES / "fft")
    (line,) = [line for line in profile.report().splitlines() if line.startswith("efficiency: ")]
    assert line.replace(" x ", " × ").replace("efficiency: ", "Efficiency: ") in Cells(profile._repr_html_()).texts

"""Pictures: what is drawn, and what is said where there is nothing to draw."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import pytest

import tinyprof
from conftest import NEWEST, frozen

matplotlib.use("Agg")
EXAMPLES = Path(__file__).parents[1] / "examples" / "runs"


@pytest.fixture(autouse=True)
def closed():
    yield
    matplotlib.pyplot.close("all")


def test_a_heat_map_has_a_row_for_each_callpath_and_a_column_for_each_rank():
    profile = tinyprof.read(EXAMPLES / "fft")
    axes = profile.heatmap("exclusive_ns", callpaths=5)
    assert axes.images[0].get_array().shape == (5, profile.manifest.ranks)
    # The first callpath is the one with the most of it.
    sums = profile.dataframe()["exclusive_ns"].groupby("callpath").sum()
    assert axes.get_yticklabels()[0].get_text()[-20:] == sums.idxmax()[-20:]


def test_efficiencies_of_runs_are_drawn_by_their_ranks():
    axes = tinyprof.plot_efficiency([EXAMPLES / "fft", tinyprof.read(EXAMPLES / "fft")])
    drawn = {line.get_label(): line.get_ydata() for line in axes.get_lines()}
    found = tinyprof.read(EXAMPLES / "fft").efficiency()
    assert drawn["load balance"][0] == pytest.approx(found["load_balance"] * 100)
    with pytest.raises(ValueError, match="runs has no run"):
        tinyprof.plot_efficiency([])


def test_events_are_a_lane_for_each_rank():
    profile = tinyprof.read(frozen(NEWEST))
    ranks = sorted(profile.events()["rank"].unique())
    axes = profile.timeline()
    assert [label.get_text() for label in axes.get_yticklabels()] == [f"rank {rank}" for rank in ranks]
    with pytest.raises(ValueError, match="there are no events of rank 99: the ranks with events are"):
        profile.timeline(ranks=[99])
    with pytest.raises(ValueError, match="tinyprof run -o events=ring"):
        tinyprof.read(frozen("0.1")).timeline()


def test_mistyped_names_are_answered_with_similar_ones():
    profile = tinyprof.read(frozen(NEWEST))
    with pytest.raises(KeyError, match="no column 'exclusive'; did you mean 'exclusive_ns'"):
        profile.heatmap("exclusive")
    with pytest.raises(KeyError, match="no column 'vists' for Hatchet: .* did you mean 'visits'"):
        profile.to_hatchet(columns=("vists",))
    with pytest.raises(KeyError, match="there is no metric exclusiv: .* did you mean 'exclusive'"):
        profile.report(metric="exclusiv")
    with pytest.raises(KeyError, match="has no metric 'byts'"):
        profile.metric_series("main", "byts")
    with pytest.raises(KeyError, match="there is no callpath 'mian' .* did you mean 'main'"):
        profile.series("mian")

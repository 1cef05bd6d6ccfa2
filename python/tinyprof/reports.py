"""Reports of a profile: those of the command `tinyprof report`."""

from __future__ import annotations

import html
import json
import os
import warnings
from pathlib import Path
from typing import Any

from . import _native
from .errors import near

#: The width of a report, in columns, unless the caller sets another: that of the command where its
#: output is no terminal.
WIDTH = 120

#: What a report may have a row for: callpaths and sums of them, and the groups of another table.
_BY = ("callpath", "region", "function", "line")
_GROUPS = ("site", "loop", "call", "peer")

#: The directory of a profile, its name, and the memory for reading it, in bytes.
Source = tuple[Path, str, int]

#: The warning of a profile below level `messages`.
_NO_EDGES = (
    "the profile does not say which call followed which: to record that, start the program with "
    "tinyprof run -o mpi=messages -- mpiexec -n 4 ./a.out"
)

#: The number of hints and of callpaths in the table of a notebook.
_HINTS_SHOWN = 3
_CALLPATHS_SHOWN = 10


class Text(str):
    """A text of several lines that a notebook or a prompt shows as it is, and not in quotes."""

    def __repr__(self) -> str:
        return str(self)


def name_of(path: Path) -> str:
    """Returns the name of a profile in reports: that of its directory."""
    return os.fsencode(path.resolve().name).decode(errors="replace")


def text(source: Source, by: str, metric: str | None, width: int, everything: bool) -> Text:
    if _is_of_groups(by, metric):
        return Text(_native.groups_text(source, by, width, everything))
    return Text(_native.report_text(source, by, metric, width, everything))


def data(source: Source, by: str, metric: str | None) -> dict[str, Any]:
    if _is_of_groups(by, metric):
        return json.loads(_native.groups_json(source, by))
    return json.loads(_native.report_json(source, by, metric))


def classes(source: Source, with_times: bool) -> dict[str, Any]:
    text, is_recorded = _native.classes_json(source, with_times)
    if not is_recorded:
        warnings.warn(_NO_EDGES, stacklevel=3)
    return json.loads(text)


def _is_of_groups(by: str, metric: str | None) -> bool:
    """Returns whether rows are groups, which have no metrics, and not callpaths or regions."""
    if by in _BY:
        return False
    if by not in _GROUPS:
        known = ", ".join(map(repr, (*_BY, *_GROUPS[:-1])))
        raise ValueError(f"a report is by {known} or {_GROUPS[-1]!r}, not by {by!r}{near(by, (*_BY, *_GROUPS))}")
    if metric is not None:
        raise ValueError(f"metric is for callpaths and regions, not for a report by {by!r}")
    return True


def why(source: Source, rules: list[Path]) -> dict[str, Any]:
    text, notes = _native.why_json(source, rules)
    for note in notes:
        warnings.warn(note, stacklevel=3)
    return json.loads(text)


def table(report: dict[str, Any]) -> str:
    """Returns the most important facts of a report as HTML, for a notebook."""
    facts = [_count(report["ranks"], "rank")]
    if report["hosts"] > 0:
        facts.append(_count(report["hosts"], "host"))
    facts.append(_count(report["executions"], "execution"))
    if report["ranks"] > 0:
        facts.append(f"{_native.time_text(report['total_inclusive_ns'] / report['ranks'])} per rank")
    if not report["complete"]:
        facts.append("incomplete")
    lines = [f"<p><b>{_shown(report['name'])}</b>: {', '.join(facts)}</p>"]
    if report["efficiency"]:
        lines.append(f"<p>Efficiency: {_efficiency(report['efficiency'])}</p>")
    hints = [
        f"<li><b>{_shown(hint['headline'])}</b>: {_shown(hint['evidence'])} {_shown(hint['advice'])}</li>"
        for hint in report["hints"][:_HINTS_SHOWN]
    ]
    if hints:
        lines.append(f"<ul>{''.join(hints)}</ul>")
    lines.append(_hottest(report))
    return "\n".join(lines)


def _efficiency(found: dict[str, float | None]) -> str:
    """Returns the known efficiencies as in the report, where the first is the product of the others."""
    names = ["load_balance", "communication"]
    if found["serialisation"] is not None:
        names[1:] = ["serialisation", "transfer"]
    known = [(name.replace("_", " "), found[name]) for name in names if found[name] is not None]
    product = " × ".join(f"{name} {_native.percent_text(value)}" for name, value in known)
    if found["parallel"] is None:
        return product
    return f"parallel {_native.percent_text(found['parallel'])} = {product}"


def _hottest(report: dict[str, Any]) -> str:
    visited = [row for row in report["callpaths"] if row["exclusive_ns"] is not None]
    hottest = sorted(visited, key=lambda row: -row["exclusive_ns"]["sum"])[:_CALLPATHS_SHOWN]
    headings = ("callpath", "visits", "exclusive", "share", "inclusive", "ranks", "exclusive per rank", "slowest rank")
    rows = ["<tr>" + "".join(f"<th>{heading}</th>" for heading in headings) + "</tr>"]
    ranks = report["ranks"]
    for row in hottest:
        exclusive, inclusive = row["exclusive_ns"], row["inclusive_ns"]
        numbers = (
            f"{row['visits']}",
            _native.time_text(exclusive["sum"]),
            _native.percent_text(row["exclusive_share"]),
            _native.time_text(inclusive["sum"]),
            "all" if row["ranks"] == ranks else f"{row['ranks']}/{ranks}",
            _native.time_text(exclusive["mean"]),
            f"{exclusive['max_rank']}",
        )
        cells = "".join(f"<td>{number}</td>" for number in numbers)
        rows.append(f'<tr><td style="text-align: left">{_shown(row["path"] or row["name"])}</td>{cells}</tr>')
    more = len(visited) - len(hottest)
    below = f"<p>{_count(more, 'more callpath')}: <code>profile.report()</code></p>" if more > 0 else ""
    return f"<table>{''.join(rows)}</table>{below}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _shown(name: str) -> str:
    """Returns a text of the profile, which is never trusted, as HTML."""
    return html.escape(_native.escaped(name))

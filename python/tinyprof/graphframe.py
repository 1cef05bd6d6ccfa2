"""Builds a Hatchet GraphFrame.

Supports both LLNL's Hatchet and UMD's, which have the same import name.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ._native import Reader
from .callpath import Callpath
from .cells import Cells
from .errors import near

#: The columns of `Profile.dataframe` that a `GraphFrame` may have, too.
_COLUMNS = ("visits", "sum_ns", "exclusive_ns", "min_ns", "max_ns", "mean_ns", "standard_error_ns")

if TYPE_CHECKING:
    from hatchet import GraphFrame

    from .manifest import Manifest


def build(callpaths: list[Callpath], manifest: Manifest, reader: Reader, columns: tuple[str, ...]) -> GraphFrame:
    """Returns the `GraphFrame` of `Profile.to_hatchet`."""
    for name in columns:
        if name not in _COLUMNS:
            raise KeyError(f"there is no column {name!r} for Hatchet: expected {', '.join(_COLUMNS)}{near(name, _COLUMNS)}")
    from hatchet import GraphFrame

    graph, nodes = graph_of(callpaths)
    ranks = manifest.ranks
    # Hatchet sorts its frames by node. Callpaths in the order of its walk over the tree need no
    # sorting.
    order = sorted(range(len(nodes)), key=lambda row: nodes[row]._hatchet_nid)
    # Hatchet's own readers fill in zeros if a rank did not visit a node, and UMD's requires all of
    # them.
    cells = Cells(reader, order, range(ranks), seconds=True, dense=True)
    index = pd.MultiIndex(
        [_objects([nodes[row] for row in order]), pd.RangeIndex(ranks)],
        [cells.callpath_codes, cells.rank_codes],
        names=["node", "rank"],
        verify_integrity=False,
    )
    # A cell for every rank: filling row by row takes half as long as `np.repeat` of objects.
    names = np.empty((len(order), ranks), object)
    names[:] = _objects([callpaths[row].name for row in order]).to_numpy()[:, None]
    table = {"name": names.reshape(-1)}
    table |= {"time": cells.column("exclusive"), "time (inc)": cells.column("sum")}
    if set(columns) - {"visits"}:
        cells = Cells(reader, order, range(ranks), all_columns=True, dense=True)
    table |= {name: cells.column(name) for name in columns}
    inclusive = ["time (inc)", *(name for name in columns if name == "sum_ns")]
    exclusive = ["time", *(name for name in columns if name != "sum_ns")]
    frame = pd.DataFrame(table, index=index, copy=False)
    metadata = {**manifest.metadata, "precision": manifest.precision}
    return GraphFrame(graph, frame, exclusive, inclusive, metadata=metadata)


def graph_of(callpaths: list[Callpath]):
    """Returns Hatchet's graph, and its nodes row by row."""
    from hatchet.graph import Graph
    from hatchet.node import Node

    twice = _siblings_alike(callpaths)
    nodes: list[Node] = []
    for callpath in callpaths:
        parent = None if callpath.parent is None else nodes[callpath.parent]
        node = Node(_frame(callpath, twice), parent=parent)
        nodes.append(node)
        if parent is not None:
            parent.add_child(node)
    graph = Graph([node for node, callpath in zip(nodes, callpaths) if callpath.parent is None])
    graph.enumerate_traverse()
    return graph, nodes


def _frame(callpath: Callpath, twice: set[tuple]):
    from hatchet.frame import Frame

    attributes = {"name": callpath.name, "type": callpath.kind}
    # Hatchet treats nodes with equal frames as one. The other nodes get no line, because it would
    # keep two versions of a program apart.
    if _looks(callpath) in twice:
        attributes |= {"file": callpath.file, "line": str(callpath.line), "column": str(callpath.column)}
    return Frame(attributes)


def _looks(callpath: Callpath) -> tuple:
    return callpath.parent, callpath.name, callpath.kind


def _siblings_alike(callpaths: list[Callpath]) -> set[tuple]:
    """Returns parent, name and kind of siblings that are different regions with the same name."""
    counts = Counter(map(_looks, callpaths))
    return {looks for looks, count in counts.items() if count > 1}


def _objects(values: list) -> pd.Index:
    """Returns an index of arbitrary Python objects."""
    array = np.empty(len(values), object)
    array[:] = values
    return pd.Index(array, dtype=object)

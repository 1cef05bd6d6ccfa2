"""Callpaths: the rows of a profile's dictionary."""

from __future__ import annotations

from dataclasses import dataclass, field

_KINDS = ("function", "scope", "loop")
_MODES = ("total", "each")


@dataclass(frozen=True, slots=True)
class Callpath:
    """A chain of regions from a root region, with the properties of the last region."""

    row: int
    """The position in the dictionary; callers come before their callees."""
    id: int
    """A 64-bit id, equal on all ranks and in every run of the same source code."""
    parent: int | None
    """The row of the parent, or `None` for a root region."""
    depth: int
    """The depth in the tree, 0 for a root region."""
    name: str
    module: str
    file: str
    line: int
    column: int
    site: int
    """The 64-bit id of the site: the place in the source where the region is declared."""
    kind: str
    """`function`, `scope` or `loop`."""
    mode: str
    """`total`, or `each` if the callpath has a series."""
    rank_local: bool
    """True if the program marks the region as visited by some ranks only."""
    constants: dict[str, str]
    """The constants that the program gives the region, by key; `tag` is the paper's tag."""
    _above: Callpath | None = field(default=None, repr=False, compare=False)

    @property
    def path(self) -> str:
        """The names of the regions, beginning with the root region: `main<exchange<comm`.

        Built on each access, because all paths of a deep tree together have quadratic length.
        """
        names = []
        here: Callpath | None = self
        while here is not None:
            names.append(here.name)
            here = here._above
        return "<".join(reversed(names))


def from_rows(rows: list[tuple]) -> list[Callpath]:
    """Returns the callpaths of a dictionary, in canonical order."""
    callpaths: list[Callpath] = []
    for number, (identity, site, parent, texts, kind, mode, rank_local, constants) in enumerate(rows):
        name, module, file, line, column = texts
        above = None if parent is None else callpaths[parent]
        callpaths.append(
            Callpath(
                row=number,
                id=identity,
                parent=parent,
                depth=0 if above is None else above.depth + 1,
                name=name,
                module=module,
                file=file,
                line=line,
                column=column,
                site=site,
                kind=_KINDS[kind],
                mode=_MODES[mode],
                rank_local=rank_local,
                constants={} if constants is None else constants,
                _above=above,
            )
        )
    return callpaths

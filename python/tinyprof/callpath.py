"""Callpaths: the rows of a profile's dictionary."""

from __future__ import annotations

from dataclasses import dataclass, field

_KINDS = ("function", "scope", "loop")
_MODES = ("total", "each")


@dataclass(frozen=True, slots=True)
class Callpath:
    """A chain of regions from a root region, and what is known of the region at its end."""

    row: int
    """Its place in the dictionary; parents come before their children."""
    id: int
    """64 bits, equal on all ranks and in every run of the same program text."""
    parent: int | None
    """The row of the parent; none for a root region."""
    depth: int
    """0 for a root region."""
    name: str
    module: str
    file: str
    line: int
    column: int
    site: int
    """The id of the place in the program, 64 bits."""
    kind: str
    """`function`, `scope` or `loop`."""
    mode: str
    """`total`, or `each` where the callpath has a series."""
    rank_local: bool
    """Whether the program said that only some ranks come here."""
    constants: dict[str, str]
    """What the program says of the region, by key; `tag` is the paper's tag."""
    _above: Callpath | None = field(default=None, repr=False, compare=False)

    @property
    def path(self) -> str:
        """The names from the root region on: `main<exchange<comm`.

        Made anew each time: all paths of a deep tree together would be of quadratic length.
        """
        names = []
        here: Callpath | None = self
        while here is not None:
            names.append(here.name)
            here = here._above
        return "<".join(reversed(names))


def from_rows(rows: list[tuple]) -> list[Callpath]:
    """The callpaths of a dictionary, in canonical order."""
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

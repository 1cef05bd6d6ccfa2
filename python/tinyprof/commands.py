"""Frames of commands that ranks were given while they ran."""

from __future__ import annotations

import pandas as pd

#: The commands of all ranks, and rank, commands without room and time off of those given any.
Commands = tuple[list[tuple], list[tuple[int, int, int]]]

#: Names by the numbers that are stored.
_VERBS = {1: "record", 2: "hold", 3: "release", 4: "off", 5: "on", 6: "reset", 7: "filter", 8: "metrics"}
_DONE = 1


def frame(commands: Commands) -> pd.DataFrame:
    """Returns the frame of `Profile.commands`."""
    names = ["rank", "command", "answer", "by", "date_ns", "at_ns", "late_ns", "lasted_ns", "threads"]
    found = pd.DataFrame(commands[0], columns=[*names, "argument"])
    found["command"] = [_VERBS.get(verb, f"command {verb}") for verb in found["command"]]
    found.insert(2, "done", found.pop("answer") == _DONE)
    whole = {"late_ns": "Int64", "lasted_ns": "Int64"}
    return found.astype({"rank": "int64", "date_ns": "uint64", **whole})


def off(commands: Commands) -> pd.DataFrame:
    """Returns the frame of `Profile.time_off`."""
    names = ["rank", "commands_without_room", "off_ns"]
    return pd.DataFrame(commands[1], columns=names, dtype="int64")

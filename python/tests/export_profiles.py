"""Profiles to export, and what is true of them, both by the command `tinyprof` that TINYPROF_BIN names."""

import json
import os
import subprocess
from pathlib import Path

PROFILES = Path(__file__).parents[2] / "crates" / "tinyprof-format" / "tests" / "profiles"

# Names that could be taken for something other than names.
HOSTILE = [
    "\"quoted\" and 'quoted'",
    "<script>alert(1)</script>",
    "]]><!-- &amp;",
    "a;b",
    "two\nlines\r\n",
    "right\u202eleft",
    "nul\0",
    "p|q",
    "step 12",
    "a->b\\",
    "流れ",
]

# Beyond the precision of a double: 2^53 + 1 ns, and its double and a bit.
BIG_NS = [9_007_199_254_740_993, 18_014_398_509_481_987]


def binary():
    """The command. An error if it is not set: a test that does not run must not pass."""
    name = os.environ.get("TINYPROF_BIN")
    if not name:
        raise RuntimeError("TINYPROF_BIN must be the path of the command tinyprof")
    return Path(name).resolve(strict=True)


def run(*arguments):
    """Standard output and standard error of the command, which must succeed."""
    # Packages of the tests set COLUMNS, from which the command takes its width in a pipe.
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    done = subprocess.run([binary(), *arguments], capture_output=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout, done.stderr.decode()


def golden():
    """A frozen profile: hosts, executions, series, folded ones too, estimates, metrics, an absent callpath."""
    return PROFILES / "format-0.3"


def seconds(ns):
    return f"{ns // 10**9}.{ns % 10**9:09}"


def imported(directory, name, rows):
    """A profile made of rows of the paper's text format: (path as a list, series or not, times of each rank in ns)."""
    lines = ["id,parent,tag,is_loop,times"]
    for path, is_series, ranks in rows:
        names = ["".join(f"%{byte:02X}" for byte in region.encode()) for region in path]
        parent = "<".join(names[:-1]) or "null"
        times = "|".join("+".join(seconds(ns) for ns in times) for times in ranks)
        lines.append(f'"{"<".join(names)}","{parent}","null","{int(is_series)}","{times}"')
    text = directory / f"{name}.csv"
    text.write_text("\n".join(lines) + "\n")
    run("import", text, "-o", directory / name)
    return directory / f"{name}.tprof"


def hostile(directory):
    """Each hostile name below the one before, on two ranks."""
    rows = [
        (HOSTILE[: depth + 1], depth % 2, [[1000 - depth], [2000 - depth]]) for depth in range(len(HOSTILE))
    ]
    return imported(directory, "hostile", rows)


def big(directory):
    """Times that only whole numbers of 64 bits hold. One rank."""
    return imported(directory, "big", [(["main"], 0, [[BIG_NS[1]]]), (["main", "step"], 1, [[BIG_NS[0]]])])


def roots(directory):
    """Several roots, siblings of one name, a callpath that rank 0 never visits."""
    rows = [
        (["a"], 0, [[50], [60], [70]]),
        (["b"], 0, [[5], [6], [7]]),
        (["a", "x"], 0, [[], [2], [3]]),
        (["a", "y"], 1, [[1, 2, 3], [4, 5, 6], [7, 8, 9]]),
        (["a", "y", "z"], 0, [[1], [1], [1]]),
    ]
    return imported(directory, "roots", rows)


def wide(directory, ranks=100):
    """So many ranks, most alike, every tenth twice as slow."""
    main = [[200_000 if rank % 10 == 3 else 100_000 + rank] for rank in range(ranks)]
    return imported(directory, "wide", [(["main"], 0, main), (["main", "step"], 1, [[50_000]] * ranks)])


def report(profile, *selection):
    """What the report says, as JSON."""
    return json.loads(run("report", profile, "--json", *selection)[0])


def truth(profile):
    """(id, rank) -> (visits, inclusive ns, exclusive ns), where the rank visited the callpath."""
    found = {}
    for rank in range(report(profile)["ranks"]):
        for row in report(profile, "--rank", str(rank))["callpaths"]:
            if row["ranks"]:
                times = row["inclusive_ns"]["sum"], row["exclusive_ns"]["sum"]
                found[row["id"], rank] = (row["visits"], *times)
    return found


def export(profile, format_name, directory, *options):
    """The file that an export wrote, and what was said on standard error."""
    file = directory / f"{profile.stem}.{format_name}"
    file.unlink(missing_ok=True)
    message = run("export", profile, "--to", format_name, "-o", file, *options)[1]
    return file, message

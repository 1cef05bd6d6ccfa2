"""Reads TinyProf profiles into numpy, pandas, Hatchet and Thicket, reports and compares them.

>>> import tinyprof
>>> profile = tinyprof.read("fft-4242.tprof")      # doctest: +SKIP
>>> profile.report()                               # doctest: +SKIP
>>> profile.dataframe().loc["main<exchange"]       # doctest: +SKIP
>>> tinyprof.diff(["a1.tprof", "a2.tprof"], ["b1.tprof", "b2.tprof"])      # doctest: +SKIP

The terms are those of the whole project. A *callpath* is a chain of regions from a root region, and
a *visit* is one entry and exit of it. An *execution* is one visit of the root region. A *series* is
the values of a callpath in the order of its visits. Times are integers in nanoseconds.
"""

from .callpath import Callpath
from .comparison import Diff, diff, plot_efficiency
from .errors import DamagedError, NewerVersionError, NotFoundError, ProfileError, TooLargeError, UnfinishedError
from .profile import Profile, read
from .thickets import to_thicket

__all__ = [
    "Callpath",
    "DamagedError",
    "Diff",
    "NewerVersionError",
    "NotFoundError",
    "Profile",
    "ProfileError",
    "TooLargeError",
    "UnfinishedError",
    "diff",
    "plot_efficiency",
    "read",
    "to_thicket",
]

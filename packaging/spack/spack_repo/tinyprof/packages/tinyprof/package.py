# SPDX-License-Identifier: (Apache-2.0 OR MIT)

from spack_repo.builtin.build_systems.generic import Package
from spack_repo.builtin.build_systems.python import PythonPipBuilder

from spack.package import *


class Tinyprof(Package):
    """An always-on profiler: records the calls of MPI programs that are not rebuilt, and reads the
    profiles in a terminal, a browser and Python."""

    homepage = "https://tinyprof.invalid/tinyprof"
    git = "https://tinyprof.invalid/tinyprof.git"

    license("MIT OR Apache-2.0")

    version("main", branch="main")

    variant("python", default=False, description="Install the Python package, too")

    # No MPI: the library finds the program's own when it is loaded.
    depends_on("c", type="build")
    depends_on("rust@1.88:", type="build")

    with when("+python"):
        extends("python@3.10:")
        depends_on("py-pip@22.1:", type="build")
        depends_on("py-maturin@1.9:1", type="build")
        depends_on("py-numpy@1.24:", type=("build", "run"))
        depends_on("py-pandas@2:", type=("build", "run"))

    sanity_check_is_file = ["bin/tinyprof"]

    def install(self, spec, prefix):
        if spec.satisfies("+python"):
            # The wheel has the command and the library, too.
            pip = spec["python"].command
            pip.add_default_arg("-m", "pip")
            pip(*PythonPipBuilder.std_args(self), f"--prefix={prefix}", "./python")
        else:
            bash = which("bash", required=True)
            bash("scripts/install.sh", "--root", prefix)

"""Calls MPI_Barrier from places of all kinds, and prints how often each was passed.

A comment `at NAME xN` marks a line that calls it N times, in the function of that name.
"""

import contextlib
import ctypes
import threading
import types

from mpi4py import MPI

world = MPI.COMM_WORLD
passed = []


class Solver:
    def step(self):
        world.Barrier()  # at Solver.step x5
        passed.append("step")

    def two(self):
        world.Barrier()  # at Solver.two x1
        world.Barrier()  # at Solver.two x1


def recurse(depth):
    if depth == 0:
        return world.Barrier()  # at recurse x2
    return recurse(depth - 1)


def generate():
    for value in range(3):
        world.Barrier()  # at generate x3
        yield value


def comm_barrier():
    world.Barrier()


def told_to_wait():
    world.Barrier()


@contextlib.contextmanager
def around():
    world.Barrier()  # at around x1
    yield
    world.Barrier()  # at around x1


def in_thread():
    world.Barrier()  # at in_thread x1


def großer_Schritt():
    world.Barrier()  # at großer_Schritt x1


def by_ctypes():
    # From a library that is loaded already: the wrapper, as for any program.
    library = ctypes.CDLL(None)
    if not hasattr(library, "MPI_Get_processor_name"):
        return 0  # MPI's own is not visible to all, and there is no wrapper.
    name, length = ctypes.create_string_buffer(4096), ctypes.c_int()
    return library.MPI_Get_processor_name(name, ctypes.byref(length))  # ctypes


solver = Solver()
for _ in range(5):
    solver.step()
solver.two()
recurse(10)
recurse(20)
passed += generate()
comm_barrier()  # at module x1
told_to_wait()  # at module x1
with around():
    (lambda: world.Barrier())()  # at lambda x1
thread = threading.Thread(target=in_thread)
thread.start()
thread.join()
großer_Schritt()
passed.append(by_ctypes())

# Code objects that come and go, at the addresses of earlier ones: 105 places, each twice.
for number in range(210):
    module = types.ModuleType("made")
    name = f"made_{number % 7}"
    source = "\n" * (number % 3) + f"def {name}(world):\n    world.Barrier()\n"
    exec(compile(source, f"/made/m{number % 5}.py", "exec"), module.__dict__)
    getattr(module, name)(world)
    del module
print(world.rank, passed)

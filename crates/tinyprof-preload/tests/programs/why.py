"""Faults of programs in Python, for the suite of `tinyprof why`: see why.c.

A comment `place: NAME` marks the line that a finding has to name.
"""

import sys
import time

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, ranks = world.Get_rank(), world.Get_size()
UNIT = 0.004


def assemble(units):
    time.sleep(units * UNIT)


def python_reduced():
    assemble(5 if rank == 1 else 1)
    world.Barrier()  # place: python_reduced


def python_sender():
    assemble(5 if rank == 2 else 1)
    request = world.isend(rank, (rank + 1) % ranks)  # place: python_sender
    world.recv(source=(rank - 1) % ranks)
    request.wait()


def python_healthy():
    assemble(8)
    world.Barrier()


world.Barrier()
for _ in range(int(sys.argv[2])):
    globals()[sys.argv[1]]()

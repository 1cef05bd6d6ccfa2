"""Exchanges messages by mpi4py, and counts: calls and bytes of each function, bytes of each peer.

Every rank writes what it counted to counts-RANK, in the directory that the first argument names.
"""

import sys
from collections import defaultdict

import mpi4py

# The calls are those below.
mpi4py.rc.initialize = False
mpi4py.rc.finalize = False

from mpi4py import MPI  # noqa: E402

functions = defaultdict(lambda: [0, 0, 0])
peers = defaultdict(lambda: [0, 0, 0, 0])


def call(name, bytes_out, bytes_in, result=None):
    """Counts a call. The result is that of the call, which is thus an argument."""
    counts = functions[name]
    counts[0] += 1
    counts[1] += bytes_out
    counts[2] += bytes_in
    return result


def exchanged(to, source, size):
    for peer, at in ((to, 0), (source, 2)):
        peers[peer][at] += 1
        peers[peer][at + 1] += size


MPI.Init()
call("MPI_Init", 0, 0)
world = MPI.COMM_WORLD
# mpi4py makes these calls for itself, too, so they are not counted.
rank, ranks = world.Get_rank(), world.Get_size()
to, source = (rank + 1) % ranks, (rank - 1) % ranks
for size in (0, 1, 100, 10_000):
    data, room = bytearray(size), bytearray(10_000)
    receive = call("MPI_Irecv", 0, size, world.Irecv([room, MPI.BYTE], source, 1))
    call("MPI_Send", size, 0, world.Send([data, MPI.BYTE], to, 1))
    call("MPI_Wait", 0, 0, receive.Wait())
    exchanged(to, source, size)
    requests = [
        call("MPI_Irecv", 0, size, world.Irecv([room, MPI.BYTE], source, 2)),
        call("MPI_Isend", size, 0, world.Isend([data, MPI.BYTE], to, 2)),
    ]
    call("MPI_Waitall", 0, 0, MPI.Request.Waitall(requests))
    exchanged(to, source, size)
    call("MPI_Sendrecv", size, size, world.Sendrecv([data, MPI.BYTE], to, 3, [room, MPI.BYTE], source, 3))
    exchanged(to, source, size)
one, all_of_them = bytearray(8), bytearray(8 * ranks)
call("MPI_Barrier", 0, 0, world.Barrier())
call("MPI_Bcast", 8 if rank == 0 else 0, 0 if rank == 0 else 8, world.Bcast([one, MPI.BYTE], 0))
call("MPI_Allreduce", 8, 8, world.Allreduce(MPI.IN_PLACE, [one, 1, MPI.DOUBLE], MPI.SUM))
call("MPI_Allgather", 8, 8 * ranks, world.Allgather([one, 8, MPI.BYTE], [all_of_them, 8, MPI.BYTE]))
call("MPI_Alltoall", 8 * ranks, 8 * ranks, world.Alltoall(MPI.IN_PLACE, [all_of_them, 8, MPI.BYTE]))

with open(f"{sys.argv[1]}/counts-{rank}", "w") as file:
    for name, counts in functions.items():
        print("function", name, *counts, file=file)
    for peer, counts in peers.items():
        print("peer", peer, *counts, file=file)
MPI.Finalize()

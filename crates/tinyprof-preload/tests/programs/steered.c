// Steps around a ring for the given seconds, or until there is a file of the given name; rank 1
// computes longer. The sum of what went around is that of all steps, or the program fails.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile double sink;

static void compute(int rounds) {
    for (int i = 0; i < rounds; i++) sink += i;
}

int main(int argc, char **argv) {
    int rank, size, goes_on = 1;
    long steps = 0, sum = 0, expected = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double end = MPI_Wtime() + atof(argv[1]);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (; goes_on; steps++) {
        long mine = rank + steps, its;
        MPI_Request requests[2];
        compute(rank == 1 ? 200000 : 20000);
        MPI_Irecv(&its, 1, MPI_LONG, left, (int)(steps % 100), MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(&mine, 1, MPI_LONG, right, (int)(steps % 100), MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        sum += its;
        expected += left + steps;
        int mine_goes_on = MPI_Wtime() < end && (rank || argc < 3 || access(argv[2], F_OK));
        MPI_Allreduce(&mine_goes_on, &goes_on, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    }
    if (sum != expected) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("%ld steps, sums right\n", steps);
    MPI_Finalize();
    return 0;
}

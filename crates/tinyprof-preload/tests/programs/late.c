/* One rank computes longer than the others: late PATTERN REPETITIONS MICROSECONDS.
 *
 *   sender   rank 0 computes before it sends to rank 1
 *   chain    0 computes and sends to 1, which computes a little and sends to 2
 *   barrier  the last rank computes before a barrier
 *   root     rank 0 computes before it broadcasts
 *   receiver rank 1 computes before it receives a message that MPI does not store
 *   behind   the same, and completes the receive long after; rank 2 waits for rank 0 meanwhile
 */

#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec * 1e6 + at.tv_nsec * 1e-3;
}

/* Leaves the processor to others: there may be fewer than ranks. */
static void compute(double us)
{
    double end = now() + us;
    while (now() < end)
        usleep(200);
}

int main(int argc, char **argv)
{
    int rank, ranks, number = 0;
    static char large[1 << 20];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char *pattern = argv[1];
    int repetitions = atoi(argv[2]);
    double us = atof(argv[3]);
    for (int i = 0; i < repetitions; i++) {
        if (strcmp(pattern, "sender") == 0) {
            if (rank == 0) {
                compute(us);
                MPI_Send(&number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
            } else if (rank == 1)
                MPI_Recv(&number, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (strcmp(pattern, "chain") == 0) {
            if (rank > 0)
                MPI_Recv(&number, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            compute(rank == 0 ? us : us / 4);
            if (rank + 1 < ranks)
                MPI_Send(&number, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
        } else if (strcmp(pattern, "barrier") == 0) {
            compute(rank + 1 == ranks ? us : us / 10);
            MPI_Barrier(MPI_COMM_WORLD);
        } else if (strcmp(pattern, "root") == 0) {
            compute(rank == 0 ? us : us / 10);
            MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
        } else if (strcmp(pattern, "receiver") == 0) {
            if (rank == 0)
                MPI_Ssend(large, sizeof large, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
            else if (rank == 1) {
                compute(us);
                MPI_Recv(large, sizeof large, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            }
        } else if (strcmp(pattern, "behind") == 0) {
            MPI_Request request;
            if (rank == 0) {
                MPI_Isend(large, sizeof large, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &request);
                MPI_Wait(&request, MPI_STATUS_IGNORE);
                MPI_Send(&number, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
                MPI_Send(&number, 1, MPI_INT, 2, 1, MPI_COMM_WORLD);
            } else if (rank == 1) {
                compute(us);
                MPI_Irecv(large, sizeof large, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &request);
                MPI_Recv(&number, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                compute(us / 4);
                MPI_Wait(&request, MPI_STATUS_IGNORE);
            } else if (rank == 2)
                MPI_Recv(&number, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    /* So that the gap before it is known. */
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

/* Three usual patterns of messages, for time lines: `wave` (each rank waits for the one before),
   `halo` (neighbours exchange, the last rank computes longer), `farm` (rank 0 hands out work). */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;

/* Computes for about this time, on the processor. */
static void compute(double seconds)
{
    volatile double sum = 0;
    double end = MPI_Wtime() + seconds;
    while (MPI_Wtime() < end)
        for (int i = 0; i < 1000; i++)
            sum += i * 0.5;
}

static void wave(int steps)
{
    char block[4096] = {0};
    for (int step = 0; step < steps; step++) {
        if (rank > 0)
            MPI_Recv(block, sizeof block, MPI_CHAR, rank - 1, step, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        compute(2e-4);
        if (rank < ranks - 1)
            MPI_Send(block, sizeof block, MPI_CHAR, rank + 1, step, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void halo(int steps)
{
    char out[2][1024] = {{0}}, in[2][1024];
    int neighbours[2] = {(rank + ranks - 1) % ranks, (rank + 1) % ranks};
    for (int step = 0; step < steps; step++) {
        MPI_Request requests[4];
        for (int side = 0; side < 2; side++) {
            MPI_Irecv(in[side], 1024, MPI_CHAR, neighbours[side], side, MPI_COMM_WORLD, &requests[side]);
            MPI_Isend(out[side], 1024, MPI_CHAR, neighbours[side], 1 - side, MPI_COMM_WORLD, &requests[2 + side]);
        }
        compute(rank == ranks - 1 ? 5e-4 : 2e-4);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        if (step % 5 == 4) {
            double own = step, sum;
            MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        }
    }
}

static void farm(int jobs)
{
    int job = 0, open = ranks - 1, done;
    MPI_Status status;
    if (rank > 0) {
        for (;;) {
            MPI_Send(&job, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
            MPI_Recv(&job, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, &status);
            if (job < 0)
                return;
            compute(1e-4 * (1 + job % 7));
        }
    }
    while (open > 0) {
        MPI_Recv(&done, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
        int next = job < jobs ? job++ : -1;
        open -= next < 0;
        MPI_Send(&next, 1, MPI_INT, status.MPI_SOURCE, 2, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int steps = argc > 2 ? atoi(argv[2]) : 40;
    if (argc < 2 || strcmp(argv[1], "wave") == 0)
        wave(steps);
    else if (strcmp(argv[1], "halo") == 0)
        halo(steps);
    else
        farm(steps);
    MPI_Finalize();
    return 0;
}

// Uses 1,000 communicators and 100,000 open requests at a time, and counts for itself. Writes what
// it counted to `counts-0`, in the directory that the first argument names. For one rank.
#include <mpi.h>
#include <stdio.h>

enum { COMMS = 1000, REQUESTS = 100000, NOBODY = 1000 };

static MPI_Comm comms[COMMS];
static MPI_Request requests[REQUESTS + NOBODY];
static int in[REQUESTS];

int main(int argc, char **argv) {
    int rank, value = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < COMMS; i++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (int i = 0; i < REQUESTS; i++)
        MPI_Irecv(&in[i], 1, MPI_INT, rank, i / COMMS, comms[i % COMMS], &requests[i]);
    for (int i = 0; i < NOBODY; i++)
        MPI_Irecv(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[REQUESTS + i]);
    for (int i = 0; i < REQUESTS; i++)
        MPI_Send(&value, 1, MPI_INT, rank, i / COMMS, comms[i % COMMS]);
    MPI_Waitall(REQUESTS + NOBODY, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < COMMS; i++) MPI_Comm_free(&comms[i]);
    char name[4096];
    snprintf(name, sizeof name, "%s/counts-%d", argv[1], rank);
    FILE *file = fopen(name, "w");
    fprintf(file, "function MPI_Init 1 0 0\nfunction MPI_Comm_rank 1 0 0\n");
    fprintf(file, "function MPI_Comm_dup %d 0 0\nfunction MPI_Comm_free %d 0 0\n", COMMS, COMMS);
    fprintf(file, "function MPI_Irecv %d 0 %d\n", REQUESTS + NOBODY, 4 * REQUESTS);
    fprintf(file, "function MPI_Send %d %d 0\n", REQUESTS, 4 * REQUESTS);
    fprintf(file, "function MPI_Waitall 1 0 0\n");
    fprintf(file, "peer %d %d %d %d %d\n", rank, REQUESTS, 4 * REQUESTS, REQUESTS, 4 * REQUESTS);
    fclose(file);
    MPI_Finalize();
    return 0;
}

// Calls MPI from several threads at the same time, each on a communicator of its own, some of which
// have the ranks in reverse. Counts for itself: calls and bytes of each function, messages and bytes
// of each peer. Every rank writes what it counted to `counts-RANK`, in the directory that the first
// argument names.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 3, ROUNDS = 300, OPEN = 4 };

static MPI_Comm comms[THREADS];

static void *work(void *argument) {
    MPI_Comm comm = *(MPI_Comm *)argument;
    int me, size, in[OPEN], out[OPEN] = {1, 2, 3, 4};
    PMPI_Comm_rank(comm, &me);
    PMPI_Comm_size(comm, &size);
    int next = (me + 1) % size, before = (me + size - 1) % size;
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Request requests[2 * OPEN];
        // Handles of sends, of which nothing is kept, are used again for receives of other threads.
        for (int k = 0; k < OPEN; k++) {
            MPI_Isend(&out[k], 1, MPI_INT, next, k, comm, &requests[2 * k]);
            MPI_Irecv(&in[k], 1, MPI_INT, before, k, comm, &requests[2 * k + 1]);
        }
        MPI_Waitall(2 * OPEN, requests, MPI_STATUSES_IGNORE);
        for (int k = 0; k < OPEN; k++)
            if (in[k] != out[k]) MPI_Abort(MPI_COMM_WORLD, 9);
    }
    return 0;
}

int main(int argc, char **argv) {
    int provided, rank, size;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE) return 8;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_split(MPI_COMM_WORLD, 0, i % 2 ? rank : -rank, &comms[i]);
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], 0, work, &comms[i]);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], 0);
    for (int i = 0; i < THREADS; i++) MPI_Comm_free(&comms[i]);
    char name[4096];
    snprintf(name, sizeof name, "%s/counts-%d", argv[1], rank);
    FILE *file = fopen(name, "w");
    int messages = THREADS * ROUNDS * OPEN;
    fprintf(file, "function MPI_Init_thread 1 0 0\n");
    fprintf(file, "function MPI_Comm_rank 1 0 0\nfunction MPI_Comm_size 1 0 0\n");
    fprintf(file, "function MPI_Comm_split %d 0 0\n", THREADS);
    fprintf(file, "function MPI_Comm_free %d 0 0\n", THREADS);
    fprintf(file, "function MPI_Irecv %d 0 %d\n", messages, 4 * messages);
    fprintf(file, "function MPI_Isend %d %d 0\n", messages, 4 * messages);
    fprintf(file, "function MPI_Waitall %d 0 0\n", THREADS * ROUNDS);
    for (int peer = 0; peer < size; peer++) {
        // In every second communicator, the next rank is the one before.
        int reversed = (THREADS + 1) / 2, next = peer == (rank + 1) % size;
        int before = peer == (rank + size - 1) % size, each = ROUNDS * OPEN;
        int sent = each * (next * (THREADS - reversed) + before * reversed);
        int received = each * (before * (THREADS - reversed) + next * reversed);
        if (sent)
            fprintf(file, "peer %d %d %d %d %d\n", peer, sent, 4 * sent, received, 4 * received);
    }
    fclose(file);
    MPI_Finalize();
    return 0;
}

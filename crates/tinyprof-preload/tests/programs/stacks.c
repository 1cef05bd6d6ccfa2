// Calls MPI on threads with the smallest stacks: of the system, and of memory that the program has.
#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int rank;

static void *work(void *argument) {
    int tag = *(int *)argument, in = 0, out = tag;
    for (int i = 0; i < 100; i++) {
        MPI_Request requests[2];
        MPI_Irecv(&in, 1, MPI_INT, 1 - rank, tag, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(&out, 1, MPI_INT, 1 - rank, tag, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    return 0;
}

int main(int argc, char **argv) {
    int provided, tags[2] = {1, 2};
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE) return 8;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pthread_attr_t small, given;
    pthread_attr_init(&small);
    pthread_attr_init(&given);
    size_t bytes = 0, given_bytes = 1 << 18;
    // What MPI itself needs.
    pthread_attr_setstacksize(&small, PTHREAD_STACK_MIN + (8 << 10));
    pthread_attr_setstack(&given, aligned_alloc(1 << 12, given_bytes), given_bytes);
    pthread_t threads[2];
    if (pthread_create(&threads[0], &small, work, &tags[0])) return 7;
    if (pthread_create(&threads[1], &given, work, &tags[1])) return 7;
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    // The program's own attributes stay as they are.
    pthread_attr_getstacksize(&small, &bytes);
    MPI_Finalize();
    printf("a stack of %ld KiB\n", (long)(bytes - PTHREAD_STACK_MIN) >> 10);
    return 0;
}

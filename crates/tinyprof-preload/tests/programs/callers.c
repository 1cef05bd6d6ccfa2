/* Calls of MPI through stubs, as large codes make them. Each line of `work` says whom it calls. */
#include <mpi.h>
#include <stdlib.h>

#define STUB __attribute__((noinline))

STUB int hypre_MPI_Send(void *data, int bytes, int to) {
    int code = MPI_Send(data, bytes, MPI_BYTE, to, 3, MPI_COMM_WORLD);
    return code + (data == NULL);
}

/* With a frame whose size is known when the program runs only. */
STUB int comm_receive(void *data, int bytes, int from) {
    char *copy = __builtin_alloca((size_t)bytes);
    int code = MPI_Recv(copy, bytes, MPI_BYTE, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    ((char *)data)[0] = copy[0];
    return code;
}

/* Two stubs around each other, the inner one of a large frame. */
STUB static int mpi_allreduce_impl(double *in, double *out) {
    volatile char filler[3000];
    filler[0] = 0;
    int code = MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return code + filler[0];
}

STUB int comm_allreduce_sum(double *value) {
    double sum;
    int code = mpi_allreduce_impl(value, &sum);
    *value = sum;
    return code;
}

/* Inlined into its caller: no frame of its own. */
static inline __attribute__((always_inline)) int par_barrier(void) {
    return MPI_Barrier(MPI_COMM_WORLD);
}

/* A stub whose name says nothing. */
STUB int syncAll(int *value) {
    int code = MPI_Scan(value, &(int){0}, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return code + (*value < 0);
}

STUB void everyone(double *value) {
    MPI_Bcast(value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Bcast(value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    *value += 1;
}

STUB void work(int rank) {
    char data[64] = {0};
    double value = rank;
    if (rank == 0) {
        hypre_MPI_Send(data, 8, 1);
        hypre_MPI_Send(data, 8, 1);
    } else if (rank == 1) {
        comm_receive(data, 8, 0);
        comm_receive(data, 16, 0);
    }
    comm_allreduce_sum(&value);
    par_barrier();
    syncAll(&rank);
    everyone(&value);
}

STUB int par_init(int *count, char ***words) {
    int code = MPI_Init(count, words);
    return code + (*count < 0);
}

int main(int count, char **words) {
    int rank;
    par_init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int step = 0; step < 50; step++)
        work(rank);
    MPI_Finalize();
    return 0;
}

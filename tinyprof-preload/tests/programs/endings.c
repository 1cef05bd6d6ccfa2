// Ends in the way that the first argument names. Each rank prints a line before it does.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    int rank, size, value = 1, sum, is = 0;
    const char *ending = argv[1];
    if (!strcmp(ending, "never-initialised")) {
        MPI_Initialized(&is);
        printf("initialised: %d\n", is);
        return 5;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("rank %d of %d: %d\n", rank, size, sum);
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(ending, "aborted")) {
        if (rank == size - 1) MPI_Abort(MPI_COMM_WORLD, 3);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (!strcmp(ending, "never-finalised")) {
        exit(6);
    } else if (!strcmp(ending, "deadlocked")) {
        // Each rank waits for a message that nobody sends.
        if (rank == 0) printf("hangs\n"), fflush(stdout);
        MPI_Recv(&value, 1, MPI_INT, (rank + 1) % size, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (!strcmp(ending, "failed")) {
        // The error handler of the world ends the program.
        MPI_Send(&value, 1, MPI_INT, size + 5, 0, MPI_COMM_WORLD);
    } else if (!strcmp(ending, "returned-error")) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        int code = MPI_Send(&value, 1, MPI_INT, size + 5, 0, MPI_COMM_WORLD), class;
        MPI_Error_class(code, &class);
        printf("class is RANK: %d\n", class == MPI_ERR_RANK);
    }
    MPI_Finalize();
    MPI_Finalized(&is);
    if (!strcmp(ending, "finalised-twice")) MPI_Finalize();
    printf("finalised: %d\n", is);
    return rank == 0 ? 4 : 0;
}

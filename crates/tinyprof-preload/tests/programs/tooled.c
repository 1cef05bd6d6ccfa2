// A program that is linked to the tool of tool.c. If MPI does not begin, it ends, or tries again.
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
    int rank, value = 1;
    int code = MPI_Init(&argc, &argv);
    if (code != MPI_SUCCESS && !strcmp(argv[1], "retries")) code = MPI_Init(&argc, &argv);
    if (code != MPI_SUCCESS) return printf("MPI has not begun\n"), 3;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 10; i++) {
        if (rank == 0)
            MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        if (rank == 1)
            MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}

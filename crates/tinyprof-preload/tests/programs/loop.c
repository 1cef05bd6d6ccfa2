/* A loop with four calls, two to send and two to receive, on two ranks. Arguments: iterations. */
#include <mpi.h>
#include <stdlib.h>

static void from(int other, char *small, double *large) {
    MPI_Recv(small, 4, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(large, 6, MPI_DOUBLE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void to(int other, char *small, double *large) {
    MPI_Send(small, 4, MPI_BYTE, other, 0, MPI_COMM_WORLD);
    MPI_Send(large, 6, MPI_DOUBLE, other, 1, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    int rank;
    char small[4] = {0};
    double large[6] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < atoi(argv[1]); i++) {
        if (rank == 0) to(1, small, large);
        from(1 - rank, small, large);
        if (rank == 1) to(0, small, large);
    }
    MPI_Finalize();
    return 0;
}

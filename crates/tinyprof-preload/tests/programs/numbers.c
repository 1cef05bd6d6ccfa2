// The numbers that MPI gives to the communicators of the program, by which it also finds them.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm twice, half, again;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &twice);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
    MPI_Comm_dup(half, &again);
    printf("rank %d: %d %d %d\n", rank, (int)MPI_Comm_c2f(twice), (int)MPI_Comm_c2f(half),
           (int)MPI_Comm_c2f(again));
    fflush(stdout);
    MPI_Comm_free(&twice);
    MPI_Comm_free(&half);
    MPI_Comm_free(&again);
    MPI_Finalize();
    return 0;
}

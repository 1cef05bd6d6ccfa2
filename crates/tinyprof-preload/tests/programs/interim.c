// Steps with a collective operation on the world, or on another communicator, until the file of an
// interim profile is there or a number of steps is over.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int is_on_world = !strcmp(argv[1], "world");
    MPI_Comm other;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    // The recording is paused on one rank: it passes the same flush points.
    if (rank == 1) MPI_Pcontrol(0);
    double begun = MPI_Wtime();
    int is_over = 0;
    for (int step = 0; !is_over; step++) {
        int mine = 1, all = 0;
        MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, is_on_world ? MPI_COMM_WORLD : other);
        if (rank == 0) {
            is_over = is_on_world ? !access(argv[2], F_OK) : MPI_Wtime() - begun > 0.2;
            is_over |= MPI_Wtime() - begun > 60;
        }
        MPI_Bcast(&is_over, 1, MPI_INT, 0, other);
    }
    MPI_Comm_free(&other);
    MPI_Finalize();
    return 0;
}

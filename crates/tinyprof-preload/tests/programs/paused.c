// Pauses the recording of calls, and resumes it.
#include <mpi.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 3; i++) MPI_Barrier(MPI_COMM_WORLD);
    MPI_Pcontrol(0);
    for (int i = 0; i < 50; i++) MPI_Barrier(MPI_COMM_WORLD);
    MPI_Pcontrol(1);
    for (int i = 0; i < 4; i++) MPI_Barrier(MPI_COMM_WORLD);
    MPI_Pcontrol(0);
    MPI_Finalize();
    return 0;
}

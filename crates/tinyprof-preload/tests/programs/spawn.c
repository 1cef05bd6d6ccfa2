// Spawns two processes of itself, exchanges messages with them, and finalises.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    MPI_Comm parent, children, all;
    int rank, size, value = 20, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL) {
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                       MPI_ERRCODES_IGNORE);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Intercomm_merge(children, 0, &all);
        if (rank == 0) MPI_Send(&value, 1, MPI_INT, 1, 0, children);
    } else {
        children = parent;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Intercomm_merge(children, 1, &all);
        if (rank == 1) MPI_Recv(&value, 1, MPI_INT, 0, 0, parent, MPI_STATUS_IGNORE), value = 22;
    }
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, all);
    MPI_Comm_size(all, &size);
    if (parent == MPI_COMM_NULL && rank == 0) printf("%d ranks: %d\n", size, sum);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&children);
    MPI_Finalize();
    return 0;
}

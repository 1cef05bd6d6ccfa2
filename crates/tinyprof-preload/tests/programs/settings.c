// Messages in a ring and to rank 0, in any order, and collective operations on the world and on a
// communicator of the program's own. Rank 0 prints a sum that all of them have a part in.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    long sum = 0;
    double begun = MPI_Wtime();
    int is_over = 0;
    for (int step = 0; !is_over; step++) {
        int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
        long own = rank + step, got = 0, all = 0;
        MPI_Sendrecv(&own, 1, MPI_LONG, next, 1, &got, 1, MPI_LONG, last, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        if (rank == 0) {
            for (int from = 1; from < ranks; from++) {
                long one = 0;
                MPI_Recv(&one, 1, MPI_LONG, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                got += one;
            }
        } else {
            MPI_Send(&own, 1, MPI_LONG, 0, 2, MPI_COMM_WORLD);
        }
        MPI_Comm twice;
        MPI_Comm_dup(MPI_COMM_WORLD, &twice);
        MPI_Allreduce(&got, &all, 1, MPI_LONG, MPI_SUM, twice);
        MPI_Comm_free(&twice);
        if (step < 40) sum += all;
        // Long enough for interim profiles, if there are any.
        is_over = step >= 40 && MPI_Wtime() - begun > 0.05;
        MPI_Bcast(&is_over, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("%d ranks: %ld\n", ranks, sum);
    MPI_Finalize();
    return 0;
}

// Carries out orders. `s N` has each rank call MPI_Barrier N times, and exchange N messages with its
// neighbours; before the next order it calls MPI_Allreduce, so that commands are obeyed. `w R` has
// rank R stay out of MPI until there is the file that the argument names.
#include "commanded.h"

static void steps(int count) {
    int right = (my_rank + 1) % ranks, left = (my_rank + ranks - 1) % ranks;
    for (int step = 0; step < count; step++) {
        int mine = my_rank + step, its = -1;
        MPI_Request request;
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Irecv(&its, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &request);
        MPI_Send(&mine, 1, MPI_INT, right, 1, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (its != left + step) PMPI_Abort(MPI_COMM_WORLD, 1);
    }
}

int main(int argc, char **argv) {
    begin_orders(&argc, &argv);
    done("ready");
    for (;;) {
        struct order order = next_order();
        if (order.verb == 'q') break;
        if (order.verb == 's') {
            steps(order.number);
            done("done");
        } else if (order.verb == 'w') {
            done("away");
            while (my_rank == order.number && access(argv[1], F_OK) != 0) usleep(1000);
        }
        int mine = my_rank, sum = 0;
        MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (sum != ranks * (ranks - 1) / 2) PMPI_Abort(MPI_COMM_WORLD, 2);
    }
    done("sums right");
    MPI_Finalize();
    return 0;
}

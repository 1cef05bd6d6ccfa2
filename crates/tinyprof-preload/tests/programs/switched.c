// Carries out orders. `s N` has each rank call MPI_Barrier N times, and exchange N messages with its
// neighbours; before the next order it calls MPI_Allreduce, so that commands are obeyed. `w R` has
// rank R stay out of MPI until there is the file that the argument names. `p` has ranks call
// MPI_Comm_rank alone until the next order, and `l R` has rank R stay away in the middle of
// operations in which nobody waits for it.
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

// Rank 0 sends to all, which need not have come.
static void operations(int count) {
    for (int i = 0; i < count; i++) {
        int value = 7;
        MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
        usleep(200);
    }
}

static void stay_away(const char *until) {
    while (access(until, F_OK) != 0) usleep(1000);
}

static struct order pause_until_next(void) {
    done("paused");
    for (;;) {
        int rank;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        struct order order = next_order();
        if (order.verb) return order;
    }
}

int main(int argc, char **argv) {
    begin_orders(&argc, &argv);
    done("ready");
    for (;;) {
        struct order order = next_order();
        if (order.verb == 'p') order = pause_until_next();
        if (order.verb == 'q') break;
        if (order.verb == 's') {
            steps(order.number);
            done("done");
        } else if (order.verb == 'w') {
            done("away");
            if (my_rank == order.number) stay_away(argv[1]);
        } else if (order.verb == 'l') {
            operations(25);
            if (my_rank == order.number) stay_away(argv[1]);
            operations(275);
            done("done");
        }
        int mine = my_rank, sum = 0;
        MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (sum != ranks * (ranks - 1) / 2) PMPI_Abort(MPI_COMM_WORLD, 2);
    }
    done("sums right");
    MPI_Finalize();
    return 0;
}

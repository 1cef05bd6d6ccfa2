// What programs share that a test gives orders, one line each on the input of rank 0. All ranks
// learn them by PMPI_ functions, which no profiler sees: what the others do is all that is measured.
#include <mpi.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static MPI_Comm orders;
static int my_rank, ranks;

struct order {
    char verb;
    int number;
};

static void begin_orders(int *argc, char ***argv) {
    MPI_Init(argc, argv);
    PMPI_Comm_rank(MPI_COMM_WORLD, &my_rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    PMPI_Comm_dup(MPI_COMM_WORLD, &orders);
}

// Returns the order that has come, such as `s 7`, on all ranks; its verb is 0 if none has.
static struct order next_order(void) {
    struct order order = {0, 0};
    if (my_rank == 0) {
        struct pollfd input = {0, POLLIN, 0};
        if (poll(&input, 1, 0) > 0) {
            char line[64], *at = line;
            while (at < line + sizeof line - 1 && read(0, at, 1) == 1 && *at != '\n') at++;
            *at = 0;
            order.verb = at == line ? 'q' : line[0];
            order.number = at > line + 1 ? atoi(line + 1) : 0;
        }
    }
    PMPI_Bcast(&order, sizeof order, MPI_BYTE, 0, orders);
    return order;
}

// Tells the test on rank 0 that an order was carried out on all ranks.
static void done(const char *what) {
    PMPI_Barrier(orders);
    if (my_rank == 0) {
        printf("%s\n", what);
        fflush(stdout);
    }
}

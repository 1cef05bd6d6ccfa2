/* Wrappers, and functions that do the same under other names: see behind.h. Each looks at the
 * result, as stubs do; one that did not would leave no frame behind. */
#include "behind.h"

#include <mpi.h>

static int failures;

static int checked(int result) {
    if (result != MPI_SUCCESS) failures++;
    return result + failures;
}

#define ASKING(name) \
    int name(int *rank) { return checked(MPI_Comm_rank(MPI_COMM_WORLD, rank)); }
#define SENDING(name)                                                                   \
    int name(char *buffer, int bytes, int to) {                                         \
        return checked(MPI_Send(buffer, bytes, MPI_BYTE, to, 0, MPI_COMM_WORLD));       \
    }
#define RECEIVING(name)                                                                 \
    int name(char *buffer, int bytes, int from) {                                       \
        return checked(MPI_Recv(buffer, bytes, MPI_BYTE, from, 0, MPI_COMM_WORLD,       \
                                MPI_STATUS_IGNORE));                                    \
    }
#define REDUCING(name)                                                                  \
    int name(char *buffer, int bytes) {                                                 \
        return checked(MPI_Allreduce(MPI_IN_PLACE, buffer, bytes, MPI_BYTE, MPI_BOR,    \
                                     MPI_COMM_WORLD));                                  \
    }

ASKING(comm_rank)
ASKING(hop_1)
SENDING(comm_send)
SENDING(hop_2)
RECEIVING(comm_recv)
RECEIVING(hop_3)
REDUCING(comm_allreduce)
REDUCING(hop_4)

/* Not inlined, or there would be one wrapper and not two. */
static __attribute__((noinline)) int my_send_inner(char *buffer, int bytes, int to) {
    return checked(MPI_Send(buffer, bytes, MPI_BYTE, to, 0, MPI_COMM_WORLD));
}
static __attribute__((noinline)) int outer_2_inner(char *buffer, int bytes, int to) {
    return checked(MPI_Send(buffer, bytes, MPI_BYTE, to, 0, MPI_COMM_WORLD));
}
int my_send(char *buffer, int bytes, int to) { return checked(my_send_inner(buffer, bytes, to)); }
int outer_2(char *buffer, int bytes, int to) { return checked(outer_2_inner(buffer, bytes, to)); }

/* The cheapest wrappers there can be: each passes its call on, and does nothing else. */
#include <mpi.h>

int MPI_Comm_rank(MPI_Comm comm, int *rank) { return PMPI_Comm_rank(comm, rank); }

int MPI_Send(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
    return PMPI_Send(buffer, count, type, to, tag, comm);
}

int MPI_Recv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status *status) {
    return PMPI_Recv(buffer, count, type, from, tag, comm, status);
}

int MPI_Irecv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request *request) {
    return PMPI_Irecv(buffer, count, type, from, tag, comm, request);
}

int MPI_Wait(MPI_Request *request, MPI_Status *status) { return PMPI_Wait(request, status); }

int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op operation,
                  MPI_Comm comm) {
    return PMPI_Allreduce(from, to, count, type, operation, comm);
}

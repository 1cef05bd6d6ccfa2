// A tool that a program is linked to: it wraps functions of MPI by the profiling interface, as
// profilers and balancers of load do. If the program's first argument says so, MPI does not begin
// at first: the call fails, or ends the program, as that of an MPI without a network does.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int begun, sent;

int MPI_Init(int *argc, char ***argv) {
    begun++;
    if (*argc > 1 && !strcmp((*argv)[1], "exits")) exit(3);
    if (*argc > 1 && begun == 1) return MPI_ERR_OTHER;
    return PMPI_Init(argc, argv);
}

int MPI_Send(const void *buffer, int count, MPI_Datatype datatype, int to, int tag, MPI_Comm comm) {
    int size;
    // Its own calls are not the program's.
    MPI_Comm_size(comm, &size);
    sent += size > to;
    return PMPI_Send(buffer, count, datatype, to, tag, comm);
}

int MPI_Finalize(void) {
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("rank %d: begun %d times, sent %d messages\n", rank, begun, sent);
    fflush(stdout);
    return PMPI_Finalize();
}

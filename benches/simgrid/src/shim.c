/* What the ranks need of SMPI, as functions that Rust can call: some of MPI's own names are macros here. */
#include <mpi.h>
#include <unistd.h>

enum { LONGEST = 1 << 28 };

/* What arrives is thrown away: the bytes themselves change hands inside of the process, in which all ranks run. Never
 * read, so that no rank minds that all receive into it. */
static char nowhere[LONGEST];

void shim_begin(int *argc, char ***argv) { MPI_Init(argc, argv); }

void shim_end(void) { MPI_Finalize(); }

int shim_rank(void)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

int shim_size(void)
{
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return size;
}

/* Seconds of simulated time. */
double shim_time(void) { return MPI_Wtime(); }

/* Lets simulated time pass. */
void shim_sleep(unsigned int microseconds) { usleep(microseconds); }

/* As long as a message of so many bytes takes. */
void shim_send(int to, int length) { MPI_Send(nowhere, length, MPI_BYTE, to, 0, MPI_COMM_WORLD); }

void shim_receive(int from)
{
    MPI_Recv(nowhere, LONGEST, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

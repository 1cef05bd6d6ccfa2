// A plugin that calls MPI: a shared library, which is linked to MPI.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

// Functions of MPI 4.0 and 4.1, which a program can do without if they are not there.
#pragma weak MPI_Send_c
extern int MPI_Send_c();
#pragma weak MPI_Comm_attach_buffer
extern int MPI_Comm_attach_buffer();

#ifdef AROUND
// MPI begins when this library is loaded, and ends when it is closed, unless it has ended before.
__attribute__((constructor)) static void begin(void) { MPI_Init(0, 0); }

__attribute__((destructor)) static void end(void) {
    int is_finalized;
    MPI_Finalized(&is_finalized);
    if (!is_finalized) MPI_Finalize();
}
#endif

int run(int argc, char **argv) {
    int rank, size, value, sum;
#ifndef AROUND
    MPI_Init(&argc, &argv);
#endif
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    value = rank;
    for (int i = 0; i < 10; i++)
        MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d ranks: %d\n", size, sum);
        printf("large counts: %d\n", MPI_Send_c != 0);
        printf("buffers of communicators: %d\n", MPI_Comm_attach_buffer != 0);
        printf("an MPI for all: %d\n", dlsym(RTLD_DEFAULT, "MPI_Get_version") != 0);
    }
#ifndef AROUND
    MPI_Finalize();
#endif
    return 0;
}

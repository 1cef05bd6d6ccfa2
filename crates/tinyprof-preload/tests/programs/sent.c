// A library to be loaded behind the profiler: counts what anybody asks MPI to send under the names
// of the profiling interface, and writes it to `sent-RANK` when MPI ends. The directory is that of
// the environment's SENT.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static long sends, collectives;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int PMPI_Isend(const void *b, int n, MPI_Datatype d, int to, int tag, MPI_Comm c, MPI_Request *r) {
  sends++;
  return REAL(PMPI_Isend)(b, n, d, to, tag, c, r);
}
int PMPI_Send(const void *b, int n, MPI_Datatype d, int to, int tag, MPI_Comm c) {
  sends++;
  return REAL(PMPI_Send)(b, n, d, to, tag, c);
}
int PMPI_Allreduce(const void *a, void *b, int n, MPI_Datatype d, MPI_Op o, MPI_Comm c) {
  collectives++;
  return REAL(PMPI_Allreduce)(a, b, n, d, o, c);
}
int PMPI_Barrier(MPI_Comm c) {
  collectives++;
  return REAL(PMPI_Barrier)(c);
}
int PMPI_Comm_split(MPI_Comm c, int color, int key, MPI_Comm *n) {
  collectives++;
  return REAL(PMPI_Comm_split)(c, color, key, n);
}
int PMPI_Finalize(void) {
  int rank;
  char name[4096];
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  snprintf(name, sizeof name, "%s/sent-%d", getenv("SENT"), rank);
  FILE *file = fopen(name, "w");
  fprintf(file, "%ld %ld\n", sends, collectives);
  fclose(file);
  return REAL(PMPI_Finalize)();
}

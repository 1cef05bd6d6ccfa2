// What why.c and faults.c share: the place of this rank, and work that is sleeping, so that ranks
// need no processors of their own.

#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TAG = 3, UNIT_US = 4000 };

static const MPI_Comm world = MPI_COMM_WORLD;
static int rank, ranks, steps, step;
static double in[16], out[16];

static __attribute__((noinline)) void work(double units) {
  long ns = (long)(units * UNIT_US * 1000);
  struct timespec nap = {ns / 1000000000, ns % 1000000000};
  if (ns > 0) nanosleep(&nap, 0);
}

static int left(void) { return (rank + ranks - 1) % ranks; }
static int right(void) { return (rank + 1) % ranks; }

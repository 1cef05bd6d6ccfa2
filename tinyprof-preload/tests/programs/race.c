// Two ranks send to a third, which receives from any source: `race skewed|even`. Rank 1 works
// before it sends; with `skewed` its work is calls of MPI, which cost little by themselves and
// much when they are measured, so that without measurement it would be the first.

#include <mpi.h>
#include <string.h>
#include <time.h>

enum { REPETITIONS = 20, CALLS = 200000 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

static void work(double seconds) {
  for (double until = now() + seconds; now() < until;) {
  }
}

int main(int count, char **arguments) {
  MPI_Init(&count, &arguments);
  int rank, is_skewed = !strcmp(arguments[1], "skewed");
  char byte = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double began = now();
  for (int i = 0; i < CALLS; i++) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double took = now() - began;
  for (int i = 0; i < REPETITIONS; i++) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
      MPI_Recv(&byte, 1, MPI_BYTE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Recv(&byte, 1, MPI_BYTE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
      if (is_skewed)
        for (int c = 0; c < CALLS; c++) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
      else
        work(took);
      MPI_Send(&byte, 1, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    } else if (rank == 2) {
      work(0.7 * took);
      MPI_Send(&byte, 1, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
  }
  MPI_Finalize();
  return 0;
}

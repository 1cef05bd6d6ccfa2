// Two ranks send to a third, which receives from any source: `race skewed|even`. Rank 1 works
// before it sends; with `skewed` its work is calls of MPI, which cost little by themselves and
// much when they are measured, so that without measurement it would be the first. Rank 2 sends a
// little before it, or with `even` long before it, however late the system wakes it.

#include <mpi.h>
#include <string.h>
#include <time.h>

enum { REPETITIONS = 30 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

int main(int count, char **arguments) {
  MPI_Init(&count, &arguments);
  int rank, is_skewed = !strcmp(arguments[1], "skewed");
  char byte = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < REPETITIONS; i++) {
    MPI_Barrier(MPI_COMM_WORLD);
    double until = now() + 0.020;
    struct timespec shorter = {0, is_skewed ? 16000000 : 5000000};
    if (rank == 0) {
      MPI_Recv(&byte, 1, MPI_BYTE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Recv(&byte, 1, MPI_BYTE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      if (rank == 2) nanosleep(&shorter, 0);
      while (rank == 1 && now() < until)
        if (is_skewed)
          for (int c = 0; c < 100; c++) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
      MPI_Send(&byte, 1, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
  }
  MPI_Finalize();
  return 0;
}

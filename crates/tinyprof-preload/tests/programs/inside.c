// Ranks compute for long between two calls of MPI, and rank 1 for longer: `inside STEPS`. Only
// samples know in which of the two functions that is. A comment `place` marks the line.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static __attribute__((noinline)) double prepare(double value, long times) {
  for (long i = 0; i < times; i++) value = value * 0.999999 + 1e-6;
  return value;
}

static __attribute__((noinline)) double relax(double value, long times) {
  for (long i = 0; i < times; i++) value = value * 0.999998 + 2e-6;  // place
  return value;
}

int main(int argc, char **argv) {
  int rank;
  double value = 1, sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int step = 0; step < atoi(argv[1]); step++) {
    value = prepare(value, 4000000);
    value = relax(value, rank == 1 ? 16000000 : 4000000);
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  if (sum < 0) printf("%f\n", sum);
  MPI_Finalize();
  return 0;
}

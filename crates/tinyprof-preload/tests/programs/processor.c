// Works, and prints what the system says of the processor time of each rank, in ns: from before
// `MPI_Init` to before `MPI_Finalize`, and to after it.
#include <mpi.h>
#include <stdio.h>
#include <sys/resource.h>

static long long used_ns(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  long long us = usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
  return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000LL + us * 1000;
}

int main(int argc, char **argv) {
  int rank;
  volatile double value = 1;
  long long before_ns = used_ns();
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  while (used_ns() - before_ns < (rank + 1) * 800000000LL)
    for (int i = 0; i < 1000000; i++) value = value * 1.0000001;
  MPI_Barrier(MPI_COMM_WORLD);
  long long until_end_ns = used_ns() - before_ns;
  MPI_Finalize();
  printf("%d %lld %lld\n", rank, until_end_ns, used_ns() - before_ns);
  return 0;
}

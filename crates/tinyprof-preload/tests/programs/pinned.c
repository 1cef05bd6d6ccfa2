// Works on one processor beside a process that spins there, and prints what the system says of its
// thread, in ns: for how long it was ready without a processor, from after `MPI_Init` to before
// `MPI_Finalize`, and from before the one to after the other; and the processor time of the first.
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct times {
  long long cpu_ns, delay_ns;
};

static struct times now(void) {
  struct times times;
  FILE *file = fopen("/proc/thread-self/schedstat", "r");
  if (!file || fscanf(file, "%lld %lld", &times.cpu_ns, &times.delay_ns) != 2) exit(77);
  fclose(file);
  return times;
}

static void pin(void) {
  cpu_set_t allowed, one;
  CPU_ZERO(&one);
  if (sched_getaffinity(0, sizeof allowed, &allowed)) exit(77);
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
    if (CPU_ISSET(cpu, &allowed)) {
      CPU_SET(cpu, &one);
      break;
    }
  if (sched_setaffinity(0, sizeof one, &one)) exit(77);
}

int main(int argc, char **argv) {
  pin();
  pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (volatile unsigned long i = 0;; i++) {
    }
  }
  struct times first = now();
  MPI_Init(&argc, &argv);
  struct times begin = now(), end = begin;
  volatile double value = 1;
  while (end.cpu_ns - begin.cpu_ns < 400000000) {
    for (int i = 0; i < 1000000; i++) value = value * 1.0000001;
    MPI_Barrier(MPI_COMM_WORLD);
    end = now();
  }
  MPI_Finalize();
  struct times last = now();
  kill(child, SIGKILL);
  waitpid(child, 0, 0);
  printf("%lld %lld %lld\n", end.delay_ns - begin.delay_ns, last.delay_ns - first.delay_ns,
         end.cpu_ns - begin.cpu_ns);
  return 0;
}

// Two functions that work for known processor times between calls of MPI, and what may disturb
// samples or be disturbed by them: `sampled [fork] [exec] [events] [killed] [threads]`. Each rank
// prints the processor time of each function, in ns: `longer NS` and `shorter NS`.
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 64 };

static long long processor_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

// Works for a processor time, and returns how long it was. No function is called in the loop, which
// is long, so that the clock, which the kernel reads, takes no part of the time.
#define WORKING(name, shift)                                              \
  static __attribute__((noinline)) long long name(long long wanted_ns) {  \
    long long begin_ns = processor_ns(), passed_ns;                       \
    unsigned long word = begin_ns | 1;                                    \
    do {                                                                  \
      for (int i = 0; i < 400000; i++) {                                  \
        word ^= word << shift;                                            \
        word ^= word >> 7;                                                \
      }                                                                   \
      passed_ns = processor_ns() - begin_ns;                              \
    } while (passed_ns < wanted_ns || word == 0);                         \
    return passed_ns;                                                     \
  }

WORKING(longer, 13)
WORKING(shorter, 17)
WORKING(of_child, 19)

static volatile sig_atomic_t ticks;
static void tick(int number) { ticks++; }

// Uses what a profiler may use, for itself: a timer with SIGPROF, and an event with its ring.
static void *begin_events(int *file) {
  struct sigaction action = {.sa_handler = tick, .sa_flags = SA_RESTART};
  struct itimerval every = {{0, 1000}, {0, 1000}};
  sigaction(SIGPROF, &action, 0);
  setitimer(ITIMER_PROF, &every, 0);
  struct perf_event_attr attributes = {.type = PERF_TYPE_SOFTWARE, .size = sizeof attributes};
  attributes.config = PERF_COUNT_SW_TASK_CLOCK;
  attributes.sample_period = 1000000;
  attributes.sample_type = PERF_SAMPLE_IP;
  attributes.exclude_kernel = attributes.exclude_hv = 1;
  *file = syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0);
  return mmap(0, 3 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, *file, 0);
}

// Its own numbers must be those of a program that is not profiled.
static void end_events(void *ring, int file, long long worked_ns) {
  struct itimerval never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_PROF, &never, 0);
  unsigned long long counted_ns = 0;
  if (file >= 0 && read(file, &counted_ns, sizeof counted_ns) != sizeof counted_ns) exit(3);
  if (file >= 0 && (ring == MAP_FAILED || counted_ns < (unsigned long long)worked_ns / 2)) exit(4);
  if (file >= 0) {
    struct perf_event_mmap_page *page = ring;
    if (page->data_head < 16 * 50) exit(5);
  }
  if (ticks < 10) exit(6);
  close(file);
}

static void *work(void *worked) {
  *(long long *)worked = shorter(8000000);
  return 0;
}

int main(int argc, char **argv) {
  long long of_longer = 0, of_shorter = 0;
  const char *what = argc > 1 ? argv[1] : "";
  if (!strcmp(what, "of-exec")) return of_child(30000000) > 0 ? 7 : 1;
  MPI_Init(&argc, &argv);
  void *ring = 0;
  int file = -1, state = 0;
  if (!strcmp(what, "events")) ring = begin_events(&file);
  for (int round = 0; round < 5; round++) {
    of_longer += longer(60000000);
    MPI_Barrier(MPI_COMM_WORLD);
    of_shorter += shorter(20000000);
    if (round == 2 && !strcmp(what, "fork")) {
      pid_t child = fork();
      if (child == 0) _exit(of_child(50000000) > 0 ? 7 : 1);
      if (waitpid(child, &state, 0) != child || WEXITSTATUS(state) != 7) return 1;
    }
    if (round == 2 && !strcmp(what, "exec")) {
      pid_t child = vfork();
      if (child == 0) {
        execl("/proc/self/exe", argv[0], "of-exec", (char *)0);
        _exit(1);
      }
      if (waitpid(child, &state, 0) != child || WEXITSTATUS(state) != 7) return 1;
    }
  }
  if (!strcmp(what, "events")) end_events(ring, file, of_longer + of_shorter);
  if (!strcmp(what, "threads")) {
    static long long worked[THREADS];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], 0, work, &worked[i]);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], 0);
    for (int i = 0; i < THREADS; i++) of_shorter += worked[i];
  }
  MPI_Barrier(MPI_COMM_WORLD);
  printf("longer %lld\nshorter %lld\n", of_longer, of_shorter);
  fflush(stdout);
  if (!strcmp(what, "killed")) raise(SIGKILL);
  MPI_Finalize();
  return 0;
}

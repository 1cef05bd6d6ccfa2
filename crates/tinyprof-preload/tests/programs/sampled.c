// Two functions that work for known processor times between calls of MPI, and what may disturb
// samples or be disturbed by them: `sampled [fork|exec|events|threads|early|ptrace|kernel]`, or all
// of threads, forks and execs for some time: `sampled all SECONDS`. Each rank prints the processor
// time of each function, in ns: `longer NS` and `shorter NS`. `sampled brief SECONDS` makes threads
// that work for less than the time between two samples, 2,000 at least, and prints `brief NS` and
// `made THREADS` alone.
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long processor_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

// Works for a processor time, and returns how long it was. No function is called in the loop, which
// is long, so that the clock, which the kernel reads, takes no part of the time.
#define WORKING(name, shift, steps)                                              \
  static __attribute__((noinline)) long long name(long long wanted_ns) {  \
    long long begin_ns = processor_ns(), passed_ns;                       \
    unsigned long word = begin_ns | 1;                                    \
    do {                                                                  \
      for (int i = 0; i < steps; i++) {                                   \
        word ^= word << shift;                                            \
        word ^= word >> 7;                                                \
      }                                                                   \
      passed_ns = processor_ns() - begin_ns;                              \
    } while (passed_ns < wanted_ns || word == 0);                         \
    return passed_ns;                                                     \
  }

WORKING(longer, 13, 400000)
WORKING(shorter, 17, 400000)
WORKING(of_child, 19, 400000)
WORKING(brief, 11, 20000)

// Works mostly in the kernel, which gives it new memory again and again.
static __attribute__((noinline)) long long touching(long long wanted_ns) {
  const size_t bytes = 64 << 20;
  long long begin_ns = processor_ns(), passed_ns;
  do {
    volatile char *memory =
        mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) exit(10);
    madvise((void *)memory, bytes, MADV_NOHUGEPAGE);
    for (size_t at = 0; at < bytes; at += 4096) memory[at] = 1;
    munmap((void *)memory, bytes);
    passed_ns = processor_ns() - begin_ns;
  } while (passed_ns < wanted_ns);
  return passed_ns;
}

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

static long long of_threads[2], longest_ns;

// A thread that never calls MPI, and ends in one of three ways.
static void *short_thread(void *number) {
  long long ns = (long)number % 2 ? longer(12000000) : shorter(12000000);
  __atomic_fetch_add(&of_threads[(long)number % 2], ns, __ATOMIC_RELAXED);
  if ((long)number % 3 == 1) pthread_exit(0);
  while ((long)number % 3 == 2) pause();
  return 0;
}

static void *brief_thread(void *number) {
  long long ns = brief(150000 + (long)number * 20000);
  __atomic_fetch_add(&of_threads[0], ns, __ATOMIC_RELAXED);
  if ((long)number % 2) pthread_exit(0);
  return 0;
}

// 16 at a time, of 150 to 450 us each.
static long with_brief_threads(long seconds) {
  time_t end = time(0) + seconds;
  pthread_t threads[16];
  long made = 0;
  while (made < 2000 || time(0) < end) {
    for (long i = 0; i < 16; i++, made++)
      if (pthread_create(&threads[i], 0, brief_thread, (void *)i)) exit(8);
    for (long i = 0; i < 16; i++) if (pthread_join(threads[i], 0)) exit(9);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  return made;
}

static pthread_barrier_t begin, done;

// A thread that works between barriers, as those of OpenMP do, until the program ends.
static void *pool_thread(void *number) {
  long long own_ns = 0;
  for (;;) {
    pthread_barrier_wait(&begin);
    long long wanted_ns = (long)number == 31 ? 40000000 : 8000000;
    long long ns = (long)number % 2 ? longer(wanted_ns) : shorter(wanted_ns);
    __atomic_fetch_add(&of_threads[(long)number % 2], ns, __ATOMIC_RELAXED);
    own_ns += ns;
    if ((long)number == 31) longest_ns = own_ns;
    pthread_barrier_wait(&done);
  }
  return 0;
}

static int with_child(const char *name, int is_fork) {
  int state = 0;
  pid_t child = is_fork ? fork() : vfork();
  if (child == 0) {
    if (is_fork) _exit(of_child(50000000) > 0 ? 7 : 1);
    execl("/proc/self/exe", name, "of-exec", (char *)0);
    _exit(1);
  }
  return waitpid(child, &state, 0) == child && WEXITSTATUS(state) == 7;
}

// 32 threads of a pool that stay, and 32 at a time that end: at least thrice, and for some time,
// with children meanwhile if there is a name of the program.
static void with_threads(const char *name, long seconds) {
  time_t end = time(0) + seconds;
  pthread_t pool[32], threads[32];
  pthread_barrier_init(&begin, 0, 33);
  pthread_barrier_init(&done, 0, 33);
  for (long i = 0; i < 32; i++) if (pthread_create(&pool[i], 0, pool_thread, (void *)i)) exit(8);
  for (int round = 0; round < 3 || time(0) < end; round++) {
    pthread_barrier_wait(&begin);
    if (name && !with_child(name, round % 2)) exit(11);
    for (long i = 0; i < 32; i++)
      if (pthread_create(&threads[i], 0, short_thread, (void *)i)) exit(8);
    pthread_barrier_wait(&done);
    MPI_Barrier(MPI_COMM_WORLD);
    // They are cancelled where they pause, after their work.
    for (long i = 0; i < 32; i++)
      if (i % 3 != 2 && pthread_join(threads[i], 0)) exit(9);
    for (long i = 2; i < 32; i += 3) {
      void *how;
      if (pthread_cancel(threads[i]) || pthread_join(threads[i], &how)) exit(9);
      if (how != PTHREAD_CANCELED) exit(9);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

// 4 threads of a pool that is made before MPI begins.
static void make_early(void) {
  pthread_t pool[4];
  pthread_barrier_init(&begin, 0, 5);
  pthread_barrier_init(&done, 0, 5);
  for (long i = 0; i < 4; i++) if (pthread_create(&pool[i], 0, pool_thread, (void *)i)) exit(8);
}

static void work_with_early(void) {
  for (int round = 0; round < 20; round++) {
    pthread_barrier_wait(&begin);
    pthread_barrier_wait(&done);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

int main(int argc, char **argv) {
  long long of_longer = 0, of_shorter = 0;
  const char *what = argc > 1 ? argv[1] : "";
  if (!strcmp(what, "of-exec")) return of_child(30000000) > 0 ? 7 : 1;
  if (!strcmp(what, "early")) make_early();
  MPI_Init(&argc, &argv);
  void *ring = 0;
  int file = -1, state = 0;
  if (!strcmp(what, "events")) ring = begin_events(&file);
  if (!strcmp(what, "brief")) {
    long made = with_brief_threads(argc > 2 ? atol(argv[2]) : 0);
    printf("brief %lld\nmade %ld\n", of_threads[0], made);
    fflush(stdout);
    MPI_Finalize();
    return 0;
  }
  int is_all = !strcmp(what, "all"), is_kernel = !strcmp(what, "kernel");
  int is_alone = !is_all && strcmp(what, "threads");
  if (!is_alone) with_threads(is_all ? argv[0] : 0, is_all && argc > 2 ? atol(argv[2]) : 0);
  if (!strcmp(what, "early")) work_with_early();
  for (int round = 0; round < 5 && is_alone; round++) {
    of_longer += longer(60000000);
    MPI_Barrier(MPI_COMM_WORLD);
    of_shorter += is_kernel ? touching(40000000) : shorter(20000000);
    if (round == 2 && !strcmp(what, "fork") && !with_child(argv[0], 1)) return 1;
    if (round == 2 && !strcmp(what, "exec") && !with_child(argv[0], 0)) return 1;
    if (round == 2 && !strcmp(what, "ptrace")) {
      pid_t child = fork();
      if (child == 0) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        raise(SIGSTOP);
        _exit(of_child(50000000) > 0 ? 7 : 1);
      }
      if (waitpid(child, &state, 0) != child || !WIFSTOPPED(state)) return 1;
      if (ptrace(PTRACE_CONT, child, 0, 0)) return 1;
      if (waitpid(child, &state, 0) != child || WEXITSTATUS(state) != 7) return 1;
    }
  }
  if (!strcmp(what, "events")) end_events(ring, file, of_longer + of_shorter);
  MPI_Barrier(MPI_COMM_WORLD);
  of_longer += of_threads[1];
  of_shorter += of_threads[0];
  printf("longer %lld\n%s %lld\n", of_longer, is_kernel ? "touching" : "shorter", of_shorter);
  if (longest_ns > 0) printf("longest %lld\n", longest_ns);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}

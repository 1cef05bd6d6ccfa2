// A library to be loaded behind the profiler: odd ranks run on another host, as far as the system
// tells them, whose clock is 1,000 s ahead. With HOSTS_DRIFT_PPM it also goes faster, since
// HOSTS_SINCE_S. With HOSTS_SLOW_START_MS it takes as long to measure what calls cost.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { AHEAD_S = 1000 };

static int is_elsewhere(void) {
  static int known = -1;
  if (known < 0) {
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    if (!rank) rank = getenv("PMI_RANK");
    known = rank && atoi(rank) % 2;
  }
  return known;
}

// As the launchers say it: how many ranks run on this host.
__attribute__((constructor)) static void count_ranks_here(void) {
  const char *ranks = getenv("OMPI_COMM_WORLD_SIZE");
  if (!ranks) ranks = getenv("PMI_SIZE");
  if (!ranks) return;
  char here[16];
  snprintf(here, sizeof here, "%d", (atoi(ranks) + !is_elsewhere()) / 2);
  const char *variables[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"};
  for (int i = 0; i < 2; i++)
    if (getenv(variables[i])) setenv(variables[i], here, 1);
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  int code = real(clock, time);
  if (!code && clock == CLOCK_MONOTONIC && is_elsewhere()) {
    const char *drift = getenv("HOSTS_DRIFT_PPM"), *since = getenv("HOSTS_SINCE_S");
    long long ns = time->tv_sec * 1000000000LL + time->tv_nsec;
    if (drift && since) ns += (ns - atoll(since) * 1000000000LL) / 1000000 * atoll(drift);
    time->tv_sec = ns / 1000000000 + AHEAD_S;
    time->tv_nsec = ns % 1000000000;
  }
  return code;
}

// Only a profiler that measures calls makes as many before the program begins.
int PMPI_Comm_rank(MPI_Comm communicator, int *rank) {
  static int (*real)(MPI_Comm, int *);
  static int calls;
  if (!real) real = (int (*)(MPI_Comm, int *))dlsym(RTLD_NEXT, "PMPI_Comm_rank");
  const char *slow = getenv("HOSTS_SLOW_START_MS");
  if (slow && is_elsewhere() && ++calls == 100) usleep(1000 * atoi(slow));
  return real(communicator, rank);
}

// The number of a host's last start.
static int other_start(void) {
  static const char text[] = "01234567-89ab-cdef-0123-456789abcdef\n";
  int file = memfd_create("start", 0);
  if (write(file, text, sizeof text - 1) < 0 || lseek(file, 0, SEEK_SET) < 0) return -1;
  return file;
}

int open64(const char *path, int flags, ...) {
  static int (*real)(const char *, int, ...);
  va_list list;
  va_start(list, flags);
  int mode = va_arg(list, int);
  va_end(list);
  if (is_elsewhere() && strstr(path, "random/boot_id")) return other_start();
  if (!real) real = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open64");
  return real(path, flags, mode);
}

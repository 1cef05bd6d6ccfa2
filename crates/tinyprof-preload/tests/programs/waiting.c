// Waiting that is known: `waiting PATTERN REPETITIONS EXTRA_US [DISTRIBUTION]`.
//
// Each rank sleeps, so that it does not matter how many processors there are, and then meets the
// others. What a rank waits follows from the times that all of them sleep. With STAMPS, a directory,
// each rank writes when it entered and left each barrier to STAMPS/stamps-RANK, by a clock that all
// ranks share.

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LARGE = 1 << 20 };

static char buffer[LARGE], other[LARGE];

static void sleep_us(double us) {
  struct timespec left = {(time_t)(us / 1e6), 0};
  left.tv_nsec = (long)((us - 1e6 * left.tv_sec) * 1e3);
  while (nanosleep(&left, &left)) {
  }
}

// The part of the extra time that a rank has: from 0 to 1.
static double share(const char *distribution, int rank, int ranks) {
  if (!strcmp(distribution, "same")) return 1;
  if (!strcmp(distribution, "cyclic2")) return rank % 2;
  if (!strcmp(distribution, "cyclic3")) return rank % 3 / 2.0;
  if (!strcmp(distribution, "block2")) return rank >= ranks / 2;
  if (!strcmp(distribution, "block3")) return 3 * rank / ranks / 2.0;
  if (!strcmp(distribution, "linear")) return rank / (ranks - 1.0);
  return rank == ranks - 1;  // peak
}

static FILE *stamps;

static void stamp(const char *end) {
  if (!stamps) return;
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC_RAW, &t);
  fprintf(stamps, "%lld%s", t.tv_sec * 1000000000LL + t.tv_nsec, end);
}

static void barrier(void) {
  stamp(" ");
  MPI_Barrier(MPI_COMM_WORLD);
  stamp("\n");
}

int main(int count, char **arguments) {
  MPI_Init(&count, &arguments);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (getenv("STAMPS")) {
    char name[4096];
    snprintf(name, sizeof name, "%s/stamps-%d", getenv("STAMPS"), rank);
    stamps = fopen(name, "w");
  }
  const char *pattern = arguments[1];
  int repetitions = atoi(arguments[2]);
  double extra_us = atof(arguments[3]);
  const char *distribution = count > 4 ? arguments[4] : "peak";
  double us = 500 + extra_us * share(distribution, rank, ranks);
  int is_first = rank == 0, is_even = rank % 2 == 0, has_next = rank + 1 < ranks;
  int each = 8;
  for (int i = 0; i < repetitions; i++) {
    barrier();
    if (!strcmp(pattern, "late_sender")) {
      sleep_us(is_even ? 500 + extra_us : 500);
      if (is_even && has_next) MPI_Send(buffer, 8, MPI_BYTE, rank + 1, 3, MPI_COMM_WORLD);
      if (!is_even) MPI_Recv(buffer, 8, MPI_BYTE, rank - 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (!strcmp(pattern, "late_sender_wait")) {
      MPI_Request request = MPI_REQUEST_NULL;
      if (!is_even) MPI_Irecv(buffer, 8, MPI_BYTE, rank - 1, 3, MPI_COMM_WORLD, &request);
      sleep_us(is_even ? 500 + extra_us : 500);
      if (is_even && has_next) MPI_Send(buffer, 8, MPI_BYTE, rank + 1, 3, MPI_COMM_WORLD);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (!strcmp(pattern, "late_receiver")) {
      sleep_us(is_even ? 500 : 500 + extra_us);
      if (is_even && has_next) MPI_Ssend(buffer, 8, MPI_BYTE, rank + 1, 3, MPI_COMM_WORLD);
      if (!is_even) MPI_Recv(buffer, 8, MPI_BYTE, rank - 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (!strcmp(pattern, "measured_receiver")) {
      // It is late because its calls are measured.
      for (int i = 0; !is_even && i < 100000; i++) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
      if (is_even && has_next) MPI_Ssend(buffer, 8, MPI_BYTE, rank + 1, 3, MPI_COMM_WORLD);
      if (!is_even) MPI_Recv(buffer, 8, MPI_BYTE, rank - 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (!strcmp(pattern, "late_receiver_large")) {
      sleep_us(is_even ? 500 : 500 + extra_us);
      if (is_even && has_next) MPI_Send(buffer, LARGE, MPI_BYTE, rank + 1, 3, MPI_COMM_WORLD);
      if (!is_even) MPI_Recv(buffer, LARGE, MPI_BYTE, rank - 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (!strcmp(pattern, "wrong_order")) {
      // The first message is sent last.
      if (is_first) {
        MPI_Recv(buffer, 8, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(buffer, 8, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      } else if (rank == 1) {
        MPI_Send(buffer, 8, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
        sleep_us(extra_us);
        MPI_Send(buffer, 8, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
      }
    } else if (!strcmp(pattern, "barrier")) {
      sleep_us(us);
      barrier();
    } else if (!strcmp(pattern, "alltoall")) {
      sleep_us(us);
      MPI_Alltoall(buffer, each, MPI_BYTE, other, each, MPI_BYTE, MPI_COMM_WORLD);
    } else if (!strcmp(pattern, "bcast")) {
      sleep_us(is_first ? 500 + extra_us : 500);
      MPI_Bcast(buffer, each, MPI_BYTE, 0, MPI_COMM_WORLD);
    } else if (!strcmp(pattern, "scatter")) {
      sleep_us(is_first ? 500 + extra_us : 500);
      MPI_Scatter(buffer, each, MPI_BYTE, other, each, MPI_BYTE, 0, MPI_COMM_WORLD);
    } else if (!strcmp(pattern, "reduce")) {
      sleep_us(is_first ? 500 : 500 + extra_us);
      MPI_Reduce(buffer, other, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    } else if (!strcmp(pattern, "gather")) {
      sleep_us(is_first ? 500 : 500 + extra_us);
      MPI_Gather(buffer, each, MPI_BYTE, other, each, MPI_BYTE, 0, MPI_COMM_WORLD);
    } else if (!strcmp(pattern, "scan")) {
      sleep_us(is_first ? 500 + extra_us : 500);
      MPI_Scan(buffer, other, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    } else {
      fprintf(stderr, "waiting: no pattern %s\n", pattern);
      MPI_Abort(MPI_COMM_WORLD, 2);
    }
  }
  if (stamps) fclose(stamps);
  MPI_Finalize();
  return 0;
}

// Messages whose size tells their tag, received by receives of all kinds that are completed in
// random order: `matching WINDOWS [THREADS]`.
//
// In each window every rank sends to every other one two messages with each tag, from a call of
// its own, and receives them: tag 0 exactly, tag 1 from any source, tag 2 first exactly and then
// from any source, tag 3 on another communicator from any source with any tag. With threads, each
// thread has a tag to itself.

#include "complete.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { TAGS = 4, EACH = 2, RANKS_MAX = 16, OPEN = TAGS * EACH * RANKS_MAX };

static int rank, ranks, windows;
static MPI_Comm others;
static char bytes[64];

static int size_of(int tag) { return 8 * (1 + tag); }

static void send_0(int to, MPI_Request *r) {
  MPI_Isend(bytes, size_of(0), MPI_BYTE, to, 0, MPI_COMM_WORLD, r);
}
static void send_1(int to, MPI_Request *r) {
  MPI_Isend(bytes, size_of(1), MPI_BYTE, to, 1, MPI_COMM_WORLD, r);
}
static void send_2(int to, MPI_Request *r) {
  MPI_Isend(bytes, size_of(2), MPI_BYTE, to, 2, MPI_COMM_WORLD, r);
}
static void send_3(int to, MPI_Request *r) {
  MPI_Isend(bytes, size_of(3), MPI_BYTE, to, 3, others, r);
}
static void (*const sends[TAGS])(int, MPI_Request *) = {send_0, send_1, send_2, send_3};

static void window(unsigned *seed) {
  static char into[OPEN][64];
  MPI_Request requests[2 * OPEN];
  int count = 0;
  for (int e = 0; e < EACH; e++) {
    for (int source = 0; source < ranks; source++) {
      if (source == rank) continue;
      MPI_Irecv(into[count], 64, MPI_BYTE, source, 0, MPI_COMM_WORLD, &requests[count]), count++;
      if (e == 0)
        MPI_Irecv(into[count], 64, MPI_BYTE, source, 2, MPI_COMM_WORLD, &requests[count]), count++;
    }
  }
  for (int any = 0; any < (ranks - 1) * EACH; any++) {
    MPI_Irecv(into[count], 64, MPI_BYTE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &requests[count]);
    count++;
    MPI_Irecv(into[count], 64, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, others, &requests[count]);
    count++;
    if (any % EACH == 0)
      MPI_Irecv(into[count], 64, MPI_BYTE, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &requests[count]),
          count++;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int send = 0; send < TAGS * EACH; send++) {
    int tag = (send + rank) % TAGS;
    for (int to = 0; to < ranks; to++)
      if (to != rank) sends[tag](to, &requests[count++]);
  }
  complete(requests, count, seed);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void *thread(void *number) {
  int tag = (int)(long)number;
  char into[64];
  for (int w = 0; w < windows; w++) {
    for (int other = 1; other < ranks; other++) {
      MPI_Request request;
      sends[tag]((rank + other) % ranks, &request);
      MPI_Recv(into, 64, MPI_BYTE, (rank + ranks - other) % ranks, tag,
               tag == 3 ? others : MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
  }
  return 0;
}

int main(int count, char **arguments) {
  int provided, threads = count > 2 ? atoi(arguments[2]) : 0;
  windows = atoi(arguments[1]);
  MPI_Init_thread(&count, &arguments, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_dup(MPI_COMM_WORLD, &others);
  unsigned seed = 17 + rank;
  if (threads) {
    pthread_t started[TAGS];
    for (long t = 0; t < TAGS; t++) pthread_create(&started[t], 0, thread, (void *)t);
    for (int t = 0; t < TAGS; t++) pthread_join(started[t], 0);
  } else {
    for (int w = 0; w < windows; w++) window(&seed);
  }
  MPI_Comm_free(&others);
  MPI_Finalize();
  return 0;
}

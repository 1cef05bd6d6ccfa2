// Receives from any source, of messages that others wait for: `orders REPETITIONS` on 4 ranks. Ends
// with 1 if a message is not the one that was sent.

#include <mpi.h>
#include <stdlib.h>
#include <time.h>

enum { LARGE = 1 << 18 };
static int rank, numbers[LARGE];

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

static void check(int is_right) {
  if (!is_right) exit(1);
}

// Works for 2 ms: `is_measured` in calls that cost little without measurement.
static void work(int is_measured) {
  double until = now() + 0.002;
  while (now() < until)
    for (int c = 0; is_measured && c < 100; c++) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
}

static int receive(int source, int tag) {
  int number;
  MPI_Recv(&number, 1, MPI_INT, source, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return number;
}

static void send(int to, int tag) { MPI_Send(&rank, 1, MPI_INT, to, tag, MPI_COMM_WORLD); }

// Rank 1 has a message of rank 0. Rank 3 is behind, but waits for 2, which waits for 1: figure 4 of
// paper 004.
static void wait_in_a_circle(void) {
  work(rank >= 2);
  if (rank == 0) send(1, 0);
  if (rank == 1) {
    check(receive(MPI_ANY_SOURCE, 0) == 0);
    send(2, 0);
    MPI_Status status;
    MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    check(status.MPI_SOURCE == 3 && status.MPI_TAG == 5 && receive(status.MPI_SOURCE, 5) == 3);
  }
  if (rank == 2) {
    receive(1, 0);
    send(3, 0);
  }
  if (rank == 3) {
    receive(2, 0);
    send(1, 5);
  }
}

// What rank 0 waits for comes after a large message of its own, which MPI must go on with.
static void wait_behind_a_send(void) {
  MPI_Request request;
  if (rank == 0) {
    MPI_Isend(numbers, LARGE, MPI_INT, 3, 1, MPI_COMM_WORLD, &request);
    check(receive(MPI_ANY_SOURCE, MPI_ANY_TAG) == 3);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (rank == 3) {
    MPI_Recv(numbers, LARGE, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    send(0, 2);
  }
}

// A posted receive from any source gets the first message, a matched one and a plain one the rest.
static void receive_in_all_ways(void) {
  int first = -1, second = -1, sum = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank > 0) send(0, 7);
  if (rank == 0) {
    MPI_Request request;
    MPI_Message message;
    MPI_Irecv(&first, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &request);
    MPI_Mprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(&second, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    sum = receive(MPI_ANY_SOURCE, 7);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(first + second + sum == 1 + 2 + 3);
  }
}

int main(int count, char **arguments) {
  MPI_Init(&count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < atoi(arguments[1]); i++) {
    wait_in_a_circle();
    wait_behind_a_send();
    receive_in_all_ways();
  }
  MPI_Finalize();
  return 0;
}

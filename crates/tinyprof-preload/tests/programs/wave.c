// A wave on a string (WaveSend of paper 003): rank 0 hands out the parts, the ranks exchange their
// borders in each step, and rank 0 collects. `wave STEPS [SLOW_RANK]`: the slow rank sleeps in each
// step, between its sends and its receives.

#include <mpi.h>
#include <stdlib.h>
#include <time.h>

enum { POINTS = 1000, TAG = 7 };

int main(int count, char **arguments) {
  MPI_Init(&count, &arguments);
  int rank, ranks, steps = atoi(arguments[1]);
  int slow = count > 2 ? atoi(arguments[2]) : -1;
  double u[POINTS] = {0}, left = 0, right = 0;
  struct timespec nap = {0, 2000000};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (rank == 0) {
    for (int r = 1; r < ranks; r++) MPI_Send(u, POINTS, MPI_DOUBLE, r, TAG, MPI_COMM_WORLD);
  } else {
    MPI_Recv(u, POINTS, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  for (int step = 0; step < steps; step++) {
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    if (rank > 0) MPI_Isend(u, 1, MPI_DOUBLE, rank - 1, TAG, MPI_COMM_WORLD, &requests[0]);
    if (rank < ranks - 1)
      MPI_Isend(&u[POINTS - 1], 1, MPI_DOUBLE, rank + 1, TAG, MPI_COMM_WORLD, &requests[1]);
    if (rank == slow) nanosleep(&nap, 0);
    if (rank > 0)
      MPI_Recv(&left, 1, MPI_DOUBLE, rank - 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank < ranks - 1)
      MPI_Recv(&right, 1, MPI_DOUBLE, rank + 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    u[0] = (u[0] + left) / 2, u[POINTS - 1] = (u[POINTS - 1] + right) / 2;
  }
  if (rank == 0) {
    for (int r = 1; r < ranks; r++)
      MPI_Recv(u, POINTS, MPI_DOUBLE, r, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Send(u, POINTS, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}

// Completion of many requests in random order, by calls of all kinds.
#include <mpi.h>
#include <stdlib.h>

enum { REQUESTS_MAX = 512 };

static void complete(MPI_Request *requests, int count, unsigned *seed) {
  int left = count, index, flag, done, indices[REQUESTS_MAX];
  while (left > 0) {
    switch (rand_r(seed) % 5) {
      case 0:
        MPI_Waitany(count, requests, &index, MPI_STATUS_IGNORE);
        left -= index != MPI_UNDEFINED;
        break;
      case 1:
        MPI_Testany(count, requests, &index, &flag, MPI_STATUS_IGNORE);
        left -= flag && index != MPI_UNDEFINED;
        break;
      case 2:
        MPI_Waitsome(count, requests, &done, indices, MPI_STATUSES_IGNORE);
        left -= done == MPI_UNDEFINED ? 0 : done;
        break;
      case 3:
        index = rand_r(seed) % count;
        if (requests[index] == MPI_REQUEST_NULL) break;
        MPI_Wait(&requests[index], MPI_STATUS_IGNORE);
        left--;
        break;
      default:
        MPI_Testsome(count, requests, &done, indices, MPI_STATUSES_IGNORE);
        left -= done == MPI_UNDEFINED ? 0 : done;
    }
  }
}

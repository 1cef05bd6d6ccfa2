// Rank 1 sends messages of 16 and 32 bytes in turn, all with one tag, and rank 0 receives each into
// 16 bytes: blocking, or with `requests` by one call for two.

#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { PAIRS = 50 };

static void of_16_bytes(char *bytes) { MPI_Send(bytes, 16, MPI_BYTE, 0, 5, MPI_COMM_WORLD); }
static void of_32_bytes(char *bytes) { MPI_Send(bytes, 32, MPI_BYTE, 0, 5, MPI_COMM_WORLD); }

int main(int count, char **arguments) {
  MPI_Init(&count, &arguments);
  int rank, errors = 0;
  char bytes[64] = {0};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int by_requests = count > 1 && !strcmp(arguments[1], "requests");
  for (int i = 0; i < PAIRS; i++) {
    if (rank == 1) {
      of_16_bytes(bytes);
      of_32_bytes(bytes);
    } else if (rank == 0 && by_requests) {
      MPI_Request requests[2];
      MPI_Irecv(bytes, 16, MPI_BYTE, 1, 5, MPI_COMM_WORLD, &requests[0]);
      MPI_Irecv(bytes + 16, 16, MPI_BYTE, 1, 5, MPI_COMM_WORLD, &requests[1]);
      errors += MPI_Waitall(2, requests, MPI_STATUSES_IGNORE) != MPI_SUCCESS;
      // An MPI may leave the second for another call.
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else if (rank == 0) {
      for (int message = 0; message < 2; message++)
        errors += MPI_Recv(bytes, 16, MPI_BYTE, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE) != MPI_SUCCESS;
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (rank == 0)
    printf("%d errors\n", errors);
  MPI_Finalize();
  return 0;
}

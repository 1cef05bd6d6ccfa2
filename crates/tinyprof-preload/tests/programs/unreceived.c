// Rank 1 sends thirty thousand messages that rank 0 receives only after others, or never:
// `unreceived`. Ends well, as MPI stores small messages.

#include <mpi.h>

enum { MESSAGES = 30000 };

int main(int count, char **arguments) {
  MPI_Init(&count, &arguments);
  int rank;
  char bytes[8] = {0};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1) {
    MPI_Request request;
    for (int i = 0; i < MESSAGES; i++) {
      MPI_Isend(bytes, 8, MPI_BYTE, 0, i % 16, MPI_COMM_WORLD, &request);
      MPI_Request_free(&request);
    }
    MPI_Send(bytes, 8, MPI_BYTE, 0, 99, MPI_COMM_WORLD);
  } else if (rank == 0) {
    MPI_Recv(bytes, 8, MPI_BYTE, 1, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < MESSAGES; i++)
      MPI_Recv(bytes, 8, MPI_BYTE, 1, i % 16, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 0;
}

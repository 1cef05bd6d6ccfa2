// Rank 1 sends messages of 16 and 32 bytes in turn, all with one tag. Before each it makes calls
// with the same tag that MPI refuses, and goes on. The first of them follows a receive at once.

#include <mpi.h>
#include <stdio.h>

enum { PAIRS = 50 };

static void of_16_bytes(char *bytes) { MPI_Send(bytes, 16, MPI_BYTE, 0, 5, MPI_COMM_WORLD); }
static void of_32_bytes(char *bytes) { MPI_Send(bytes, 32, MPI_BYTE, 0, 5, MPI_COMM_WORLD); }

static void ask(char *bytes) { MPI_Send(bytes, 8, MPI_BYTE, 1, 6, MPI_COMM_WORLD); }

// Answers with nothing that could be sent. Returns how many calls MPI has refused.
static int answer(char *bytes) {
  MPI_Recv(bytes, 8, MPI_BYTE, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return MPI_Send(NULL, 16, MPI_BYTE, 0, 5, MPI_COMM_WORLD) != MPI_SUCCESS;
}

// Returns how many calls MPI has refused.
static int refused(char *bytes) {
  MPI_Request request;
  int errors = 0;
  errors += MPI_Ssend(bytes, -1, MPI_BYTE, 0, 5, MPI_COMM_WORLD) != MPI_SUCCESS;
  errors += MPI_Send(bytes, -1, MPI_BYTE, 0, 5, MPI_COMM_WORLD) != MPI_SUCCESS;
  errors += MPI_Isend(bytes, 16, MPI_DATATYPE_NULL, 0, 5, MPI_COMM_WORLD, &request) != MPI_SUCCESS;
  errors += MPI_Sendrecv(bytes, 16, MPI_BYTE, 0, 5, bytes, -1, MPI_BYTE, 0, 5, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE) != MPI_SUCCESS;
  return errors;
}

int main(int count, char **arguments) {
  MPI_Init(&count, &arguments);
  int rank, errors = 0;
  char bytes[64] = {0};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  // They have come when they are received, which takes no time then.
  for (int i = 0; i < PAIRS && rank == 0; i++) ask(bytes);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < PAIRS; i++) {
    if (rank == 1) {
      errors += answer(bytes);
      errors += refused(bytes);
      of_16_bytes(bytes);
      errors += refused(bytes);
      of_32_bytes(bytes);
    } else if (rank == 0) {
      MPI_Recv(bytes, 16, MPI_BYTE, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Recv(bytes, 32, MPI_BYTE, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  if (rank == 1)
    printf("%d refused\n", errors);
  MPI_Finalize();
  return 0;
}

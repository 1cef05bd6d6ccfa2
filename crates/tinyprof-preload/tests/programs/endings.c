// Ends in the way that the first argument names. Each rank prints a line before it does.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// A launcher that sees a rank end with a code other than 0 ends the others, whose output may be
// lost. So that rank goes last.
static int runs(int process) {
    char name[64], state = 'Z';
    snprintf(name, sizeof name, "/proc/%d/stat", process);
    FILE *file = fopen(name, "r");
    if (!file) return 0;
    int read = fscanf(file, "%*d (%*[^)]) %c", &state);
    fclose(file);
    return read == 1 && state != 'Z';
}

static void wait_for_the_end_of(const int *processes, int count) {
    for (int i = 0; i < count; i++)
        for (int tries = 0; tries < 2000 && runs(processes[i]); tries++) usleep(5000);
}

static void finalise(void) { MPI_Finalize(); }

int main(int argc, char **argv) {
    int rank, size, value = 1, sum, is = 0, process = getpid(), processes[64] = {0};
    const char *ending = argv[1];
    if (!strcmp(ending, "never-initialised")) {
        MPI_Initialized(&is);
        printf("initialised: %d\n", is);
        return 5;
    }
    if (!strcmp(ending, "finalised-by-atexit")) atexit(finalise);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("rank %d of %d: %d\n", rank, size, sum);
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(ending, "aborted")) {
        if (rank == size - 1) MPI_Abort(MPI_COMM_WORLD, 3);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (!strcmp(ending, "never-finalised")) {
        exit(6);
    } else if (!strcmp(ending, "deadlocked")) {
        // Each rank waits for a message that nobody sends.
        if (rank == 0) printf("hangs\n"), fflush(stdout);
        MPI_Recv(&value, 1, MPI_INT, (rank + 1) % size, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (!strcmp(ending, "failed")) {
        // The error handler of the world ends the program.
        MPI_Send(&value, 1, MPI_INT, size + 5, 0, MPI_COMM_WORLD);
    } else if (!strcmp(ending, "returned-error")) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        int code = MPI_Send(&value, 1, MPI_INT, size + 5, 0, MPI_COMM_WORLD), class;
        MPI_Error_class(code, &class);
        printf("class is RANK: %d\n", class == MPI_ERR_RANK);
    }
    if (!strcmp(ending, "finalised-by-atexit")) return 0;
    if (!strcmp(ending, "finalised"))
        MPI_Gather(&process, 1, MPI_INT, processes, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    MPI_Finalized(&is);
    if (!strcmp(ending, "finalised-twice")) MPI_Finalize();
    printf("finalised: %d\n", is);
    fflush(stdout);
    if (rank == 0 && processes[0]) wait_for_the_end_of(processes + 1, size - 1);
    return rank == 0 ? 4 : 0;
}

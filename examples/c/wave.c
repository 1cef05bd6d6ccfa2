// A wave on a string: each rank has a part of it, and sends its borders to its neighbours.
// It knows nothing of TinyProf: `tinyprof run -- mpiexec -n 4 ./wave` profiles it as it is.
#include <mpi.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const int STEPS = 2000;
static int rank, size;

static void exchange(double *u, int points) {
    MPI_Request sent[2];
    int count = 0;
    if (rank > 0) MPI_Isend(&u[1], 1, MPI_DOUBLE, rank - 1, 0, MPI_COMM_WORLD, &sent[count++]);
    if (rank < size - 1)
        MPI_Isend(&u[points], 1, MPI_DOUBLE, rank + 1, 0, MPI_COMM_WORLD, &sent[count++]);
    if (rank > 0)
        MPI_Recv(&u[0], 1, MPI_DOUBLE, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank < size - 1)
        MPI_Recv(&u[points + 1], 1, MPI_DOUBLE, rank + 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Waitall(count, sent, MPI_STATUSES_IGNORE);
}

static void advance(const double *before, const double *now, double *next, int points) {
    for (int i = 1; i <= points; i++)
        next[i] = 2 * now[i] - before[i] + 0.25 * (now[i - 1] - 2 * now[i] + now[i + 1]);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int points = 40000 / size;
    double *u[3];
    for (int i = 0; i < 3; i++) u[i] = calloc(points + 2, sizeof(double));
    for (int i = 1; i <= points; i++)
        u[0][i] = u[1][i] = sin(3.14159265358979 * (rank * points + i) / (size * points + 1.0));
    for (int step = 0; step < STEPS; step++) {
        exchange(u[1], points);
        advance(u[0], u[1], u[2], points);
        double *oldest = u[0];
        u[0] = u[1], u[1] = u[2], u[2] = oldest;
    }
    double energy = 0, total;
    for (int i = 1; i <= points; i++) energy += u[1][i] * u[1][i];
    MPI_Reduce(&energy, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("energy %.6f after %d steps on %d ranks\n", total, STEPS, size);
    MPI_Finalize();
    return 0;
}

/* A program that computes: a fixed amount of work on arrays that stay in the cache, and a call of
 * MPI after each part of it.
 *
 *     mpiexec -n 1 ./computes MILLIONS PARTS     millions of steps, in this many parts
 *
 * Prints the processor time and the time that have passed meanwhile, in ns. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double ns(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

enum { CELLS = 1024 };
static double cells[2][CELLS];

/* The compiler may not know how often it is called. */
static __attribute__((noinline)) void relax(long steps) {
    for (; steps > 0; steps -= CELLS)
        for (int side = 0; side < 2; side++)
            for (int i = 1; i < CELLS - 1; i++)
                cells[!side][i] = 0.25 * (cells[side][i - 1] + cells[side][i + 1]) + 0.5 * cells[side][i];
}

int main(int count, char **words) {
    MPI_Init(&count, &words);
    long steps = (count > 1 ? atol(words[1]) : 1000) * 1000000L;
    long parts = count > 2 ? atol(words[2]) : 1;
    cells[0][CELLS / 2] = 1;
    relax(steps / 20);
    double processor = ns(CLOCK_PROCESS_CPUTIME_ID), passed = ns(CLOCK_MONOTONIC);
    for (long part = 0; part < parts; part++) {
        relax(steps / parts);
        MPI_Barrier(MPI_COMM_SELF);
    }
    processor = ns(CLOCK_PROCESS_CPUTIME_ID) - processor;
    passed = ns(CLOCK_MONOTONIC) - passed;
    printf("%.0f %.0f\n", processor, passed);
    int is_wrong = cells[0][CELLS / 2] <= 0;
    MPI_Finalize();
    return is_wrong;
}

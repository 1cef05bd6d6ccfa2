/* Times calls of MPI, in nanoseconds, directly, through a function, and through a wrapper of
 * stubs.c, in turn, so that what changes on the machine meets all of them.
 *
 *     mpiexec -n 2 ./behind [ROUNDS]         a line "NAME DIRECT FUNCTION WRAPPER MORE FROM TO" each
 *     ./behind count NAME WAY CALLS          makes this many calls in one way (0, 1, 2), and no more
 *
 * The times are medians of all rounds; MORE is the median of what a wrapper takes more than a
 * function in a round, FROM and TO its quartiles. */
#include "behind.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DIRECT, FUNCTION, WRAPPER, WAYS };

static double now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

static char buffer[64];
static int rank;

/* Functions whose calls are repeated, of one way each. */
#define WAY(name, way, call)                                          \
    static void name##_##way(int repetitions) {                       \
        for (int i = 0; i < repetitions; i++) call;                   \
    }
#define SEND(to) MPI_Send(buffer, 8, MPI_BYTE, to, 0, MPI_COMM_WORLD)
#define RECEIVE(from) \
    MPI_Recv(buffer, 8, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)

WAY(rank, 0, MPI_Comm_rank(MPI_COMM_WORLD, &rank))
WAY(rank, 1, hop_1(&rank))
WAY(rank, 2, comm_rank(&rank))
WAY(send, 0, SEND(MPI_PROC_NULL))
WAY(send, 1, hop_2(buffer, 8, MPI_PROC_NULL))
WAY(send, 2, comm_send(buffer, 8, MPI_PROC_NULL))
WAY(receive, 0, RECEIVE(MPI_PROC_NULL))
WAY(receive, 1, hop_3(buffer, 8, MPI_PROC_NULL))
WAY(receive, 2, comm_recv(buffer, 8, MPI_PROC_NULL))
WAY(twice, 0, SEND(MPI_PROC_NULL))
WAY(twice, 1, outer_2(buffer, 8, MPI_PROC_NULL))
WAY(twice, 2, my_send(buffer, 8, MPI_PROC_NULL))
WAY(pong, 0, rank ? (RECEIVE(0), SEND(0)) : (SEND(1), RECEIVE(1)))
WAY(pong, 1, rank ? (hop_3(buffer, 8, 0), hop_2(buffer, 8, 0))
                  : (hop_2(buffer, 8, 1), hop_3(buffer, 8, 1)))
WAY(pong, 2, rank ? (comm_recv(buffer, 8, 0), comm_send(buffer, 8, 0))
                  : (comm_send(buffer, 8, 1), comm_recv(buffer, 8, 1)))
WAY(reduce, 0, MPI_Allreduce(MPI_IN_PLACE, buffer, 8, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD))
WAY(reduce, 1, hop_4(buffer, 8))
WAY(reduce, 2, comm_allreduce(buffer, 8))

static const struct kind {
    const char *name;
    int ranks, repetitions, calls;
    void (*ways[WAYS])(int);
} kinds[] = {
    {"comm_rank", 1, 2000, 1, {rank_0, rank_1, rank_2}},
    {"null_send", 1, 2000, 1, {send_0, send_1, send_2}},
    {"null_receive", 1, 2000, 1, {receive_0, receive_1, receive_2}},
    {"null_send_behind_two", 1, 2000, 1, {twice_0, twice_1, twice_2}},
    {"ping_pong_8", 2, 1000, 2, {pong_0, pong_1, pong_2}},
    {"allreduce_8", 2, 1000, 1, {reduce_0, reduce_1, reduce_2}},
};

static int compare(const void *left, const void *right) {
    double difference = *(const double *)left - *(const double *)right;
    return (difference > 0) - (difference < 0);
}

static double part(double *numbers, int count, double part) {
    qsort(numbers, count, sizeof *numbers, compare);
    return numbers[(int)((count - 1) * part)];
}

static void measure(const struct kind *kind, int rounds) {
    double *times[WAYS + 1];
    for (int way = 0; way <= WAYS; way++) times[way] = calloc(rounds, sizeof(double));
    for (int round = 0; round < rounds; round++) {
        /* Each way is first, second and third equally often. */
        for (int turn = 0; turn < WAYS; turn++) {
            int way = (round + turn) % WAYS;
            if (kind->ranks > 1) MPI_Barrier(MPI_COMM_WORLD);
            double begin = now_ns();
            kind->ways[way](kind->repetitions);
            times[way][round] = (now_ns() - begin) / kind->repetitions / kind->calls;
        }
        times[WAYS][round] = times[WRAPPER][round] - times[FUNCTION][round];
    }
    if (rank == 0) {
        printf("%s", kind->name);
        for (int way = 0; way <= WAYS; way++) printf(" %.2f", part(times[way], rounds, 0.5));
        printf(" %.2f %.2f\n", part(times[WAYS], rounds, 0.25), part(times[WAYS], rounds, 0.75));
    }
    for (int way = 0; way <= WAYS; way++) free(times[way]);
}

int main(int count, char **words) {
    MPI_Init(&count, &words);
    int ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int is_counting = count > 4 && !strcmp(words[1], "count");
    int rounds = count > 1 && !is_counting ? atoi(words[1]) : 300;
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const struct kind *kind = &kinds[i];
        if (is_counting) {
            if (!strcmp(kind->name, words[2])) kind->ways[atoi(words[3]) % WAYS](atoi(words[4]));
        } else if (kind->ranks == 1 ? rank == 0 : ranks == 2) {
            measure(kind, rounds);
        }
    }
    MPI_Finalize();
    return 0;
}

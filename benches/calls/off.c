/* Calls of MPI while measuring is switched off.
 *
 *     ./off count KIND CALLS     makes ten calls, says `ready`, and after a line on its input ten
 *                                more; then `off`, and after another line this many
 *     ./off times OFF ON         a line "KIND PMPI ON OFF" each: ns of a call that nobody sees, of
 *                                one that is measured, and of one while it is off, which the shell
 *                                commands OFF and ON switch
 *
 * The times are medians of rounds in which each comes in turn. Each takes less than a slice of time
 * of a processor that others use, too. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 41, REPEATS = 2000 };

static char buffer[64];
static int rank;
static MPI_Request request;

#define KIND(name, call, unseen)                                                  \
    static void name(int calls) {                                                 \
        for (int i = 0; i < calls; i++) call;                                     \
    }                                                                             \
    static void unseen_##name(int calls) {                                        \
        for (int i = 0; i < calls; i++) unseen;                                   \
    }
#define SEND(P) P##Send(buffer, 8, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD)
#define REDUCE(P) \
    P##Allreduce(MPI_IN_PLACE, buffer, 8, MPI_BYTE, MPI_BOR, MPI_COMM_SELF)
#define ISEND(P)                                                                              \
    (P##Isend(buffer, 8, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request), \
     P##Wait(&request, MPI_STATUS_IGNORE))
#define IRECEIVE(P)                                                                           \
    (P##Irecv(buffer, 8, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request), \
     P##Wait(&request, MPI_STATUS_IGNORE))

KIND(comm_rank, MPI_Comm_rank(MPI_COMM_WORLD, &rank), PMPI_Comm_rank(MPI_COMM_WORLD, &rank))
KIND(null_send, SEND(MPI_), SEND(PMPI_))
KIND(allreduce, REDUCE(MPI_), REDUCE(PMPI_))
KIND(isend_wait, ISEND(MPI_), ISEND(PMPI_))
KIND(irecv_wait, IRECEIVE(MPI_), IRECEIVE(PMPI_))

#define NAME(name) {#name, name, unseen_##name}
static const struct kind {
    const char *name;
    void (*seen)(int), (*unseen)(int);
} kinds[] = {NAME(comm_rank), NAME(null_send), NAME(allreduce), NAME(isend_wait), NAME(irecv_wait)};
#define KINDS (sizeof kinds / sizeof *kinds)

static double ns_of(void (*work)(int)) {
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    work(REPEATS);
    clock_gettime(CLOCK_MONOTONIC, &end);
    return ((end.tv_sec - begin.tv_sec) * 1e9 + (end.tv_nsec - begin.tv_nsec)) / REPEATS;
}

static int compare(const void *left, const void *right) {
    double difference = *(const double *)left - *(const double *)right;
    return (difference > 0) - (difference < 0);
}

static double median(double *numbers) {
    qsort(numbers, ROUNDS, sizeof *numbers, compare);
    return numbers[ROUNDS / 2];
}

/* Runs a command beside the calls, one of which obeys it. */
static void run(const char *command) {
    char line[1024];
    unlink("switched");
    snprintf(line, sizeof line, "(%s; touch switched) >/dev/null &", command);
    if (system(line) != 0) exit(2);
    while (access("switched", F_OK) != 0) comm_rank(1), usleep(500);
}

static void times(const char *off, const char *on) {
    static double all[KINDS][3][ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < KINDS; i++) all[i][0][round] = ns_of(kinds[i].unseen);
        for (unsigned i = 0; i < KINDS; i++) all[i][1][round] = ns_of(kinds[i].seen);
        run(off);
        for (unsigned i = 0; i < KINDS; i++) all[i][2][round] = ns_of(kinds[i].seen);
        run(on);
    }
    for (unsigned i = 0; i < KINDS; i++) {
        double *ns[3] = {all[i][0], all[i][1], all[i][2]};
        printf("%s %.1f %.1f %.1f\n", kinds[i].name, median(ns[0]), median(ns[1]), median(ns[2]));
    }
}

/* Calls no MPI before there is a line on the input. */
static void wait_after(const char *said) {
    char line[8];
    printf("%s\n", said);
    fflush(stdout);
    if (!fgets(line, sizeof line, stdin)) exit(2);
}

static void count_calls(const char *name, int calls) {
    for (unsigned i = 0; i < KINDS; i++) {
        if (strcmp(kinds[i].name, name)) continue;
        kinds[i].seen(10);
        wait_after("ready");
        kinds[i].seen(10);
        wait_after("off");
        kinds[i].seen(calls);
    }
}

int main(int count, char **words) {
    MPI_Init(&count, &words);
    if (count == 4 && !strcmp(words[1], "times")) times(words[2], words[3]);
    if (count == 4 && !strcmp(words[1], "count")) count_calls(words[2], atoi(words[3]));
    MPI_Finalize();
    return 0;
}

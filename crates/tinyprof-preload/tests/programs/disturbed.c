// Does what the first argument names to a thread that calls MPI, and prints how that went.
#define _GNU_SOURCE
#include <fenv.h>
#include <malloc.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static int rank, size;

static void begin(void) {
    int provided;
    MPI_Init_thread(0, 0, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
}

static int sum_of_ranks(void) {
    int sum = -1;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

// A message to itself, which waits for nothing.
static int message(void) {
    int sent = 7, received = 0;
    MPI_Sendrecv(&sent, 1, MPI_INT, 0, 4, &received, 1, MPI_INT, 0, 4, MPI_COMM_SELF,
                 MPI_STATUS_IGNORE);
    return received;
}

// Messages around a ring, in which ranks wait for each other.
static int ring(void) {
    int received = -1, next = (rank + 1) % size, before = (rank + size - 1) % size;
    for (int i = 0; i < 300; i++) {
        MPI_Request requests[2];
        MPI_Irecv(&received, 1, MPI_INT, before, 3, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(&rank, 1, MPI_INT, next, 3, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        if (i % 16 == 0) sum_of_ranks();
    }
    return received == before;
}

// Somebody has asked the thread to end before its first call of MPI, and none of these calls is one
// that may end it.
static void *is_to_end(void *steps) {
    pthread_cancel(pthread_self());
    *(int *)steps = message();
    pthread_testcancel();
    *(int *)steps = 0;
    return 0;
}

static void *sends(void *received) {
    *(int *)received = message();
    return 0;
}

static int on_thread(size_t stack_bytes, void *(*work)(void *), int *is_cancelled) {
    pthread_t thread;
    pthread_attr_t attributes;
    void *result = 0;
    int value = -1;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, stack_bytes);
    if (pthread_create(&thread, &attributes, work, &value) == 0) pthread_join(thread, &result);
    *is_cancelled = result == PTHREAD_CANCELED;
    return value;
}

enum { THREADS = 8, MIB = 1 << 20 };

static pthread_barrier_t all_have_sent, all_may_end;

static void *sends_and_stays(void *received) {
    sends(received);
    pthread_barrier_wait(&all_have_sent);
    pthread_barrier_wait(&all_may_end);
    return 0;
}

// Returns whether the program gets its half of the 256 MiB that may be added from now on, while
// several threads call MPI.
static int half_of_the_address_space(void) {
    long pages = 0;
    int received;
    pthread_t thread;
    pthread_attr_t attributes;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld", &pages) != 1) return -1;
    fclose(file);
    struct rlimit limit;
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = (rlim_t)pages * sysconf(_SC_PAGESIZE) + 256 * MIB;
    setrlimit(RLIMIT_AS, &limit);
    pthread_barrier_init(&all_have_sent, 0, THREADS + 1);
    pthread_barrier_init(&all_may_end, 0, THREADS + 1);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, MIB);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    for (int i = 0; i < THREADS; i++) {
        static int places[THREADS];
        if (pthread_create(&thread, &attributes, sends_and_stays, &places[i])) return -2;
    }
    received = message();
    pthread_barrier_wait(&all_have_sent);
    void *half = mmap(0, 128 * MIB, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_barrier_wait(&all_may_end);
    return half == MAP_FAILED ? 0 : received;
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    int value = 0, is_cancelled = 0;
    // Threads share what malloc has: each would take 128 MiB of addresses otherwise.
    mallopt(M_ARENA_MAX, 1);
    begin();
    if (!strcmp(what, "to-end")) value = on_thread(1 << 20, is_to_end, &is_cancelled);
    if (!strcmp(what, "small-stack")) value = on_thread(SMALL_BYTES, sends, &is_cancelled);
    if (!strcmp(what, "little-address-space")) value = half_of_the_address_space();
    if (!strcmp(what, "float-signals")) {
        // Of all errors of floating-point numbers, and of rounding. Without the library none of
        // these calls has one; MPICH's MPI_Finalize has.
        feenableexcept(FE_ALL_EXCEPT);
        value = ring();
#ifdef MPICH
        fedisableexcept(FE_ALL_EXCEPT);
#endif
    }
    printf("rank %d: %d %d %d\n", rank, value, is_cancelled, sum_of_ranks());
    fflush(stdout);
    MPI_Finalize();
    return 0;
}

/* Times calls of MPI, in nanoseconds: a call that does nothing, and messages of 1 and of 2 ranks.
 *
 *     mpiexec -n 2 ./calls [BATCHES]
 *
 * Each number is the least mean of a batch. The program does not know whether it is profiled. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#if defined(__x86_64__)
#include <x86intrin.h>
static inline unsigned long long ticks(void) { return __rdtsc(); }
#elif defined(__aarch64__)
static inline unsigned long long ticks(void) {
    unsigned long long value;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
    return value;
}
#endif

static double now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

/* What a batch repeats. */
typedef void work(char *buffer, int bytes, int peer);

static volatile unsigned long long kept;

static void two_clock_reads(char *buffer, int bytes, int peer) {
    (void)buffer, (void)bytes, (void)peer;
    unsigned long long begin = ticks();
    kept = ticks() - begin;
}

static void null_send(char *buffer, int bytes, int peer) {
    (void)peer;
    MPI_Send(buffer, bytes, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
}

static void null_receive(char *buffer, int bytes, int peer) {
    (void)peer;
    MPI_Recv(buffer, bytes, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void ask_rank(char *buffer, int bytes, int peer) {
    (void)buffer, (void)bytes, (void)peer;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
}

static void message_to_self(char *buffer, int bytes, int peer) {
    (void)peer;
    MPI_Request request;
    MPI_Irecv(buffer, bytes, MPI_BYTE, 0, 0, MPI_COMM_SELF, &request);
    MPI_Send(buffer + bytes, bytes, MPI_BYTE, 0, 0, MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void ping_pong(char *buffer, int bytes, int peer) {
    if (peer == 1) {
        MPI_Send(buffer, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
        MPI_Recv(buffer, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(buffer, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(buffer, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
    }
}

static void reduce_all(char *buffer, int bytes, int peer) {
    (void)peer;
    MPI_Allreduce(MPI_IN_PLACE, buffer, bytes, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
}

static void meet(char *buffer, int bytes, int peer) {
    (void)buffer, (void)bytes, (void)peer;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void exchange_all(char *buffer, int bytes, int peer) {
    (void)peer;
    MPI_Alltoall(buffer, bytes, MPI_BYTE, buffer + 1048576, bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static double least_ns(work *work, int repetitions, int batches, char *buffer, int bytes, int peer) {
    double least = 1e30;
    for (int batch = 0; batch < batches; batch++) {
        double begin = now_ns();
        for (int i = 0; i < repetitions; i++) work(buffer, bytes, peer);
        double each = (now_ns() - begin) / repetitions;
        if (each < least) least = each;
    }
    return least;
}

int main(int count, char **words) {
    static const int sizes[] = {8, 1024, 8192, 65536, 1048576};
    MPI_Init(&count, &words);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int batches = count > 1 ? atoi(words[1]) : 40;
    char *buffer = calloc(2, 1048576);
    if (rank == 0) {
        printf("two_clock_reads %.2f\n", least_ns(two_clock_reads, 10000, batches, buffer, 8, 0));
        printf("comm_rank %.2f\n", least_ns(ask_rank, 10000, batches, buffer, 8, 0));
        printf("null_send %.2f\n", least_ns(null_send, 10000, batches, buffer, 8, 0));
        printf("null_receive %.2f\n", least_ns(null_receive, 10000, batches, buffer, 8, 0));
        printf("self_message_8 %.2f\n", least_ns(message_to_self, 10000, batches, buffer, 8, 0));
    }
    if (ranks > 1) {
        for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            int repetitions = sizes[i] < 65536 ? 2000 : 200;
            MPI_Barrier(MPI_COMM_WORLD);
            double both = 0;
            if (rank < 2) both = least_ns(ping_pong, repetitions, batches, buffer, sizes[i], 1 - rank);
            if (rank == 0) printf("ping_pong_%d %.2f\n", sizes[i], both / 2);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        double reduce = least_ns(reduce_all, 2000, batches, buffer, 8, 0);
        if (rank == 0) printf("allreduce_8 %.2f\n", reduce);
        double alltoall = least_ns(exchange_all, 2000, batches, buffer, 8, 0);
        if (rank == 0) printf("alltoall_8 %.2f\n", alltoall);
        double barrier = least_ns(meet, 2000, batches, buffer, 8, 0);
        if (rank == 0) printf("barrier %.2f\n", barrier);
    }
    free(buffer);
    MPI_Finalize();
    return 0;
}

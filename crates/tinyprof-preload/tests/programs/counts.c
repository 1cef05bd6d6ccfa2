// Calls most of MPI's functions that carry data, and counts for itself: calls and bytes of each
// function, messages and bytes of each peer. Every rank writes what it counted to `counts-RANK`, in
// the directory that the first argument names.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FUNCTIONS = 200, PEERS = 4096, N = 1000 };

static struct {
    const char *name;
    long long calls, out, in;
} functions[FUNCTIONS];
static long long sent[PEERS][2], received[PEERS][2];
static int rank, size;

static void counted(const char *name, long long out, long long in) {
    int i = 0;
    while (functions[i].name && strcmp(functions[i].name, name)) i++;
    functions[i].name = name;
    functions[i].calls++;
    functions[i].out += out;
    functions[i].in += in;
}

static void sends(int peer, long long bytes) { sent[peer][0]++, sent[peer][1] += bytes; }
static void receives(int peer, long long bytes) { received[peer][0]++, received[peer][1] += bytes; }

#define CALL(name, out, in, ...) (counted("MPI_" #name, out, in), MPI_##name(__VA_ARGS__))

static int a[N * 64], b[N * 64];

static void point_to_point(MPI_Comm comm, const int *world) {
    int me, ranks, flag, index, done[4], some;
    CALL(Comm_rank, 0, 0, comm, &me);
    CALL(Comm_size, 0, 0, comm, &ranks);
    int next = (me + 1) % ranks, before = (me + ranks - 1) % ranks;
    MPI_Request r[4];
    MPI_Status s, all[4];
    for (int n = 1; n <= 729; n *= 3) {
        int bytes = n * 4;
        // Posted larger than what comes, from anyone, with statuses ignored and not.
        CALL(Irecv, 0, bytes, b, N, MPI_INT, before, 1, comm, &r[0]);
        CALL(Isend, bytes, 0, a, n, MPI_INT, next, 1, comm, &r[1]);
        CALL(Waitall, 0, 0, 2, r, MPI_STATUSES_IGNORE);
        CALL(Irecv, 0, bytes, b, N, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &r[0]);
        CALL(Issend, bytes, 0, a, n, MPI_INT, next, 2, comm, &r[1]);
        CALL(Waitall, 0, 0, 2, r, all);
        CALL(Irecv, 0, bytes, b, N, MPI_INT, before, 3, comm, &r[0]);
        CALL(Isend, bytes, 0, a, n, MPI_INT, next, 3, comm, &r[1]);
        CALL(Wait, 0, 0, &r[0], MPI_STATUS_IGNORE);
        CALL(Wait, 0, 0, &r[1], &s);
        CALL(Irecv, 0, bytes, b, N, MPI_INT, before, 4, comm, &r[0]);
        CALL(Isend, bytes, 0, a, n, MPI_INT, next, 4, comm, &r[1]);
        CALL(Waitany, 0, 0, 2, r, &index, MPI_STATUS_IGNORE);
        CALL(Waitany, 0, 0, 2, r, &index, &s);
        CALL(Irecv, 0, bytes, b, N, MPI_INT, before, 5, comm, &r[0]);
        CALL(Isend, bytes, 0, a, n, MPI_INT, next, 5, comm, &r[1]);
        for (int left = 2; left > 0; left -= some)
            CALL(Waitsome, 0, 0, 2, r, &some, done, left == 2 ? MPI_STATUSES_IGNORE : all);
        CALL(Sendrecv, bytes, bytes, a, n, MPI_INT, next, 6, b, N, MPI_INT, before, 6, comm,
             MPI_STATUS_IGNORE);
        CALL(Sendrecv_replace, bytes, bytes, a, n, MPI_INT, next, 7, before, 7, comm, &s);
        for (int i = 0; i < 7; i++) sends(world[next], bytes), receives(world[before], bytes);
        // Blocking, with a probe before.
        if (me % 2 == 0 && ranks > 1) {
            if (me + 1 < ranks) {
                CALL(Send, bytes, 0, a, n, MPI_INT, me + 1, 8, comm), sends(world[me + 1], bytes);
                CALL(Ssend, bytes, 0, a, n, MPI_INT, me + 1, 9, comm), sends(world[me + 1], bytes);
            }
        } else if (ranks > 1) {
            CALL(Probe, 0, 0, me - 1, 8, comm, &s);
            CALL(Recv, 0, bytes, b, N, MPI_INT, s.MPI_SOURCE, 8, comm, MPI_STATUS_IGNORE);
            receives(world[me - 1], bytes);
            MPI_Message message;
            CALL(Mprobe, 0, 0, me - 1, 9, comm, &message, &s);
            CALL(Mrecv, 0, bytes, b, N, MPI_INT, &message, MPI_STATUS_IGNORE);
            receives(world[me - 1], bytes);
        }
    }
    // Nobody.
    CALL(Send, 0, 0, a, 10, MPI_INT, MPI_PROC_NULL, 1, comm);
    CALL(Recv, 0, 0, b, 10, MPI_INT, MPI_PROC_NULL, 1, comm, &s);
    // Persistent requests, started three times.
    CALL(Send_init, 0, 0, a, 5, MPI_DOUBLE, next, 10, comm, &r[0]);
    CALL(Recv_init, 0, 0, b, N, MPI_INT, before, 10, comm, &r[1]);
    for (int i = 0; i < 3; i++) {
        if (i == 1) {
            CALL(Start, 40, 0, &r[0]);
            CALL(Start, 0, 40, &r[1]);
        } else {
            CALL(Startall, 40, 40, 2, r);
        }
        CALL(Waitall, 0, 0, 2, r, MPI_STATUSES_IGNORE);
        sends(world[next], 40), receives(world[before], 40);
    }
    CALL(Request_free, 0, 0, &r[0]);
    CALL(Request_free, 0, 0, &r[1]);
    // A receive that is cancelled, and one that is tested until it is done.
    CALL(Irecv, 0, 0, b, 10, MPI_INT, before, 99, comm, &r[0]);
    CALL(Cancel, 0, 0, &r[0]);
    CALL(Wait, 0, 0, &r[0], MPI_STATUS_IGNORE);
    CALL(Irecv, 0, 0, b, 10, MPI_INT, before, 11, comm, &r[0]);
    CALL(Isend, 0, 0, a, 0, MPI_INT, next, 11, comm, &r[1]);
    sends(world[next], 0), receives(world[before], 0);
    do CALL(Testall, 0, 0, 2, r, &flag, MPI_STATUSES_IGNORE);
    while (!flag);
}

static void collectives(MPI_Comm comm) {
    int me, ranks;
    MPI_Comm_rank(comm, &me), counted("MPI_Comm_rank", 0, 0);
    MPI_Comm_size(comm, &ranks), counted("MPI_Comm_size", 0, 0);
    int counts[PEERS], places[PEERS], sum = 0, n = 7, bytes = n * 4;
    for (int i = 0; i < ranks; i++) counts[i] = i + 1, places[i] = sum, sum += i + 1;
    MPI_Datatype types[PEERS];
    int zeros[PEERS];
    for (int i = 0; i < ranks; i++) types[i] = MPI_INT, zeros[i] = 0;
    MPI_Request r;
    CALL(Barrier, 0, 0, comm);
    for (int root = 0; root < ranks; root += ranks > 1 ? ranks - 1 : 1) {
        int is = me == root;
        CALL(Bcast, is ? bytes : 0, is ? 0 : bytes, a, n, MPI_INT, root, comm);
        CALL(Gather, bytes, is ? bytes * ranks : 0, a, n, MPI_INT, b, n, MPI_INT, root, comm);
        CALL(Scatter, is ? bytes * ranks : 0, bytes, a, n, MPI_INT, b, n, MPI_INT, root, comm);
        CALL(Gatherv, 4 * (me + 1), is ? 4 * sum : 0, a, me + 1, MPI_INT, b, counts, places,
             MPI_INT, root, comm);
        CALL(Scatterv, is ? 4 * sum : 0, 4 * (me + 1), a, counts, places, MPI_INT, b, me + 1,
             MPI_INT, root, comm);
        CALL(Reduce, bytes, is ? bytes : 0, a, b, n, MPI_INT, MPI_SUM, root, comm);
        if (is)
            CALL(Gather, bytes, bytes * ranks, MPI_IN_PLACE, n, MPI_INT, b, n, MPI_INT, root, comm);
        else
            CALL(Gather, bytes, 0, a, n, MPI_INT, b, n, MPI_INT, root, comm);
    }
    CALL(Allgather, bytes, bytes * ranks, a, n, MPI_INT, b, n, MPI_INT, comm);
    CALL(Allgather, bytes, bytes * ranks, MPI_IN_PLACE, 0, MPI_INT, b, n, MPI_INT, comm);
    CALL(Allgatherv, 4 * (me + 1), 4 * sum, a, me + 1, MPI_INT, b, counts, places, MPI_INT, comm);
    CALL(Alltoall, bytes * ranks, bytes * ranks, a, n, MPI_INT, b, n, MPI_INT, comm);
    CALL(Alltoall, bytes * ranks, bytes * ranks, MPI_IN_PLACE, n, MPI_INT, b, n, MPI_INT, comm);
    int same[PEERS], at[PEERS];
    for (int i = 0; i < ranks; i++) same[i] = 3, at[i] = 3 * i;
    CALL(Alltoallv, 12 * ranks, 12 * ranks, a, same, at, MPI_INT, b, same, at, MPI_INT, comm);
    CALL(Alltoallw, 12 * ranks, 12 * ranks, a, same, zeros, types, b, same, zeros, types, comm);
    CALL(Allreduce, bytes, bytes, a, b, n, MPI_INT, MPI_MAX, comm);
    CALL(Allreduce, bytes, bytes, MPI_IN_PLACE, b, n, MPI_INT, MPI_MAX, comm);
    CALL(Reduce_scatter, 4 * sum, 4 * (me + 1), a, b, counts, MPI_INT, MPI_SUM, comm);
    CALL(Reduce_scatter_block, bytes * ranks, bytes, a, b, n, MPI_INT, MPI_SUM, comm);
    CALL(Scan, bytes, bytes, a, b, n, MPI_INT, MPI_SUM, comm);
    CALL(Exscan, bytes, me ? bytes : 0, a, b, n, MPI_INT, MPI_SUM, comm);
    CALL(Iallreduce, bytes, bytes, a, b, n, MPI_INT, MPI_SUM, comm, &r);
    CALL(Wait, 0, 0, &r, MPI_STATUS_IGNORE);
    CALL(Ialltoall, bytes * ranks, bytes * ranks, a, n, MPI_INT, b, n, MPI_INT, comm, &r);
    CALL(Wait, 0, 0, &r, MPI_STATUS_IGNORE);
    CALL(Ibarrier, 0, 0, comm, &r);
    CALL(Wait, 0, 0, &r, MPI_STATUS_IGNORE);
    // A ring of neighbours, one of which is missing at each border.
    MPI_Comm line;
    int length = ranks, is_periodic = 0;
    CALL(Cart_create, 0, 0, comm, 1, &length, &is_periodic, 0, &line);
    int neighbors = (me > 0) + (me < ranks - 1);
    CALL(Neighbor_allgather, bytes * neighbors, bytes * neighbors, a, n, MPI_INT, b, n, MPI_INT,
         line);
    CALL(Neighbor_alltoall, bytes * neighbors, bytes * neighbors, a, n, MPI_INT, b, n, MPI_INT,
         line);
    CALL(Comm_free, 0, 0, &line);
}

static void files_and_windows(const char *directory) {
    char name[4096];
    MPI_File file;
    MPI_Request r;
    MPI_Win window;
    snprintf(name, sizeof name, "%s/shared-file", directory);
    CALL(File_open, 0, 0, MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
         &file);
    CALL(File_write_at, 400, 0, file, rank * 400, a, 100, MPI_INT, MPI_STATUS_IGNORE);
    CALL(File_write_at_all, 400, 0, file, rank * 400, a, 100, MPI_INT, MPI_STATUS_IGNORE);
    CALL(File_sync, 0, 0, file);
    CALL(File_read_at, 0, 400, file, rank * 400, b, 100, MPI_INT, MPI_STATUS_IGNORE);
    CALL(File_iread_at, 0, 400, file, rank * 400, b, 100, MPI_INT, &r);
    CALL(Wait, 0, 0, &r, MPI_STATUS_IGNORE);
    CALL(File_close, 0, 0, &file);
    // Open MPI 4.1 has no window for a single process.
    if (size == 1) return;
    CALL(Win_create, 0, 0, b, sizeof b, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    CALL(Win_fence, 0, 0, 0, window);
    CALL(Put, 80, 0, a, 20, MPI_INT, (rank + 1) % size, 0, 20, MPI_INT, window);
    CALL(Win_fence, 0, 0, 0, window);
    CALL(Get, 0, 120, a, 30, MPI_INT, (rank + 1) % size, 0, 30, MPI_INT, window);
    CALL(Win_fence, 0, 0, 0, window);
    CALL(Accumulate, 40, 0, a, 10, MPI_INT, (rank + 1) % size, 0, 10, MPI_INT, MPI_SUM, window);
    CALL(Win_fence, 0, 0, 0, window);
    CALL(Win_free, 0, 0, &window);
}

int main(int argc, char **argv) {
    counted("MPI_Init", 0, 0);
    MPI_Init(&argc, &argv);
    CALL(Comm_rank, 0, 0, MPI_COMM_WORLD, &rank);
    CALL(Comm_size, 0, 0, MPI_COMM_WORLD, &size);
    int world[PEERS], turned[PEERS], half[PEERS], color = rank % 2;
    for (int i = 0; i < size; i++) world[i] = i, turned[i] = size - 1 - i, half[i] = 2 * i + color;
    point_to_point(MPI_COMM_WORLD, world);
    collectives(MPI_COMM_WORLD);
    // The ranks of other communicators are others in the world.
    MPI_Comm backwards, halves, copy;
    CALL(Comm_split, 0, 0, MPI_COMM_WORLD, 0, size - rank, &backwards);
    point_to_point(backwards, turned);
    CALL(Comm_split, 0, 0, MPI_COMM_WORLD, color, rank, &halves);
    point_to_point(halves, half);
    collectives(halves);
    CALL(Comm_free, 0, 0, &backwards);
    CALL(Comm_free, 0, 0, &halves);
    for (int i = 0; i < 50; i++) {
        // Handles are used again.
        CALL(Comm_dup, 0, 0, MPI_COMM_WORLD, &copy);
        CALL(Sendrecv, 4, 4, a, 1, MPI_INT, (rank + 1) % size, 1, b, 1, MPI_INT,
             (rank + size - 1) % size, 1, copy, MPI_STATUS_IGNORE);
        sends((rank + 1) % size, 4), receives((rank + size - 1) % size, 4);
        CALL(Comm_free, 0, 0, &copy);
        MPI_Datatype vector;
        CALL(Type_vector, 0, 0, i + 1, 1, 2, MPI_INT, &vector);
        CALL(Type_commit, 0, 0, &vector);
        CALL(Bcast, rank ? 0 : 4 * (i + 1), rank ? 4 * (i + 1) : 0, a, 1, vector, 0,
             MPI_COMM_WORLD);
        CALL(Type_free, 0, 0, &vector);
    }
    files_and_windows(argv[1]);
    char name[4096];
    snprintf(name, sizeof name, "%s/counts-%d", argv[1], rank);
    FILE *file = fopen(name, "w");
    for (int i = 0; functions[i].name; i++)
        fprintf(file, "function %s %lld %lld %lld\n", functions[i].name, functions[i].calls,
                functions[i].out, functions[i].in);
    for (int i = 0; i < size; i++)
        if (sent[i][0] + received[i][0])
            fprintf(file, "peer %d %lld %lld %lld %lld\n", i, sent[i][0], sent[i][1],
                    received[i][0], received[i][1]);
    fclose(file);
    MPI_Finalize();
    return 0;
}

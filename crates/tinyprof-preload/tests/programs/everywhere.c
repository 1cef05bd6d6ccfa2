// Calls each function that communicates, again and again until the test says `n`, with a message of
// 1 MB and one of 8 bytes on their way. All else is done by PMPI_ functions, which no profiler sees:
// a command is obeyed in the function that is named, or not at all.
#include "commanded.h"

#define LARGE (1 << 17)
#define SMALL 64

static double out[LARGE], in[LARGE];
static long small_out, small_in;
static int a[SMALL * 8], b[SMALL * 8], counts[8], places[8];
static MPI_Datatype types[8];
static int left, right;
static MPI_Comm world, ring;
static MPI_Request request, requests[2];
static MPI_Status status;
static MPI_Message message;
static MPI_Win window;
static int flag, number, indices[2];
static char *attached;

static void wrong(const char *what) {
    fprintf(stderr, "rank %d: wrong result of %s\n", my_rank, what);
    PMPI_Abort(MPI_COMM_WORLD, 1);
}

static void fill(void) {
    for (int i = 0; i < SMALL * 8; i++) a[i] = my_rank + 1, b[i] = 0;
}

// The messages of each test of a function: posted by PMPI_, each function under test ends one.
static void post_receive(void) { PMPI_Irecv(b, SMALL, MPI_INT, left, 5, world, &request); }
static void post_send(void) { PMPI_Isend(a, SMALL, MPI_INT, right, 5, world, &request); }
static void complete(void) { PMPI_Wait(&request, MPI_STATUS_IGNORE); }
static void post_both(void) {
    PMPI_Irecv(b, SMALL, MPI_INT, left, 5, world, &requests[0]);
    PMPI_Isend(a, SMALL, MPI_INT, right, 5, world, &requests[1]);
}
static void complete_both(void) { PMPI_Waitall(2, requests, MPI_STATUSES_IGNORE); }
static void from_left(const char *what) {
    if (b[0] != left + 1 || b[SMALL - 1] != left + 1) wrong(what);
}
static void sum_of_all(const char *what) {
    if (b[0] != ranks * (ranks + 1) / 2) wrong(what);
}

#define FROM_LEFT(name, call) \
    static void do_##name(void) { \
        fill(); \
        call; \
        from_left(#name); \
    }
#define SUM(name, call) \
    static void do_##name(void) { \
        fill(); \
        call; \
        sum_of_all(#name); \
    }
#define PLAIN(name, call) \
    static void do_##name(void) { \
        fill(); \
        call; \
    }

FROM_LEFT(Send, (post_receive(), MPI_Send(a, SMALL, MPI_INT, right, 5, world), complete()))
FROM_LEFT(Ssend, (post_receive(), MPI_Ssend(a, SMALL, MPI_INT, right, 5, world), complete()))
FROM_LEFT(Rsend, (post_receive(), PMPI_Barrier(orders), MPI_Rsend(a, SMALL, MPI_INT, right, 5, world), complete()))
FROM_LEFT(Bsend, (post_receive(), MPI_Bsend(a, SMALL, MPI_INT, right, 5, world), complete()))
FROM_LEFT(Isend, (post_receive(), MPI_Isend(a, SMALL, MPI_INT, right, 5, world, &requests[0]), complete(), PMPI_Wait(requests, &status)))
FROM_LEFT(Issend, (post_receive(), MPI_Issend(a, SMALL, MPI_INT, right, 5, world, &requests[0]), complete(), PMPI_Wait(requests, &status)))
FROM_LEFT(Irsend, (post_receive(), PMPI_Barrier(orders), MPI_Irsend(a, SMALL, MPI_INT, right, 5, world, &requests[0]), complete(), PMPI_Wait(requests, &status)))
FROM_LEFT(Ibsend, (post_receive(), MPI_Ibsend(a, SMALL, MPI_INT, right, 5, world, &requests[0]), complete(), PMPI_Wait(requests, &status)))
FROM_LEFT(Recv, (post_send(), MPI_Recv(b, SMALL, MPI_INT, left, 5, world, &status), complete()))
FROM_LEFT(Irecv, (post_send(), MPI_Irecv(b, SMALL, MPI_INT, left, 5, world, &requests[0]), complete(), PMPI_Wait(requests, &status)))
FROM_LEFT(Probe, (post_send(), MPI_Probe(left, 5, world, &status), PMPI_Recv(b, SMALL, MPI_INT, left, 5, world, &status), complete()))
FROM_LEFT(Iprobe, (post_send(), MPI_Iprobe(left, 5, world, &flag, &status), PMPI_Recv(b, SMALL, MPI_INT, left, 5, world, &status), complete()))
FROM_LEFT(Mprobe, (post_send(), MPI_Mprobe(left, 5, world, &message, &status), PMPI_Mrecv(b, SMALL, MPI_INT, &message, &status), complete()))
FROM_LEFT(Mrecv, (post_send(), PMPI_Mprobe(left, 5, world, &message, &status), MPI_Mrecv(b, SMALL, MPI_INT, &message, &status), complete()))
FROM_LEFT(Imrecv, (post_send(), PMPI_Mprobe(left, 5, world, &message, &status), MPI_Imrecv(b, SMALL, MPI_INT, &message, &requests[0]), complete(), PMPI_Wait(requests, &status)))
FROM_LEFT(Sendrecv, MPI_Sendrecv(a, SMALL, MPI_INT, right, 5, b, SMALL, MPI_INT, left, 5, world, &status))
FROM_LEFT(Sendrecv_replace, (memcpy(b, a, sizeof b), MPI_Sendrecv_replace(b, SMALL, MPI_INT, right, 5, left, 5, world, &status)))
FROM_LEFT(Wait, (post_receive(), PMPI_Send(a, SMALL, MPI_INT, right, 5, world), MPI_Wait(&request, &status)))
FROM_LEFT(Waitall, (post_both(), MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)))
FROM_LEFT(Waitany, (post_both(), MPI_Waitany(2, requests, &number, &status), complete_both()))
FROM_LEFT(Waitsome, (post_both(), MPI_Waitsome(2, requests, &number, indices, MPI_STATUSES_IGNORE), complete_both()))
FROM_LEFT(Test, (post_receive(), PMPI_Send(a, SMALL, MPI_INT, right, 5, world), MPI_Test(&request, &flag, &status), complete()))
FROM_LEFT(Testall, (post_both(), MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE), complete_both()))
FROM_LEFT(Testany, (post_both(), MPI_Testany(2, requests, &number, &flag, &status), complete_both()))
FROM_LEFT(Testsome, (post_both(), MPI_Testsome(2, requests, &number, indices, MPI_STATUSES_IGNORE), complete_both()))
static void persistent(void (*start)(void), const char *what) {
    fill();
    PMPI_Recv_init(b, SMALL, MPI_INT, left, 5, world, &requests[0]);
    PMPI_Send_init(a, SMALL, MPI_INT, right, 5, world, &requests[1]);
    start();
    PMPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    PMPI_Request_free(&requests[0]);
    PMPI_Request_free(&requests[1]);
    from_left(what);
}
static void start_each(void) { MPI_Start(&requests[0]), MPI_Start(&requests[1]); }
static void start_all(void) { MPI_Startall(2, requests); }
static void do_Start(void) { persistent(start_each, "Start"); }
static void do_Startall(void) { persistent(start_all, "Startall"); }

PLAIN(Barrier, MPI_Barrier(world))
PLAIN(Ibarrier, (MPI_Ibarrier(world, &request), complete()))
PLAIN(Bcast, (MPI_Bcast(a, SMALL, MPI_INT, 1, world), a[0] == 2 ? (void)0 : wrong("Bcast")))
PLAIN(Ibcast, (MPI_Ibcast(a, SMALL, MPI_INT, 1, world, &request), complete(), a[0] == 2 ? (void)0 : wrong("Ibcast")))
SUM(Allreduce, MPI_Allreduce(a, b, SMALL, MPI_INT, MPI_SUM, world))
SUM(Iallreduce, (MPI_Iallreduce(a, b, SMALL, MPI_INT, MPI_SUM, world, &request), complete()))
PLAIN(Reduce, (MPI_Reduce(a, b, SMALL, MPI_INT, MPI_SUM, 1, world), my_rank == 1 ? sum_of_all("Reduce") : (void)0))
PLAIN(Ireduce, (MPI_Ireduce(a, b, SMALL, MPI_INT, MPI_SUM, 1, world, &request), complete(), my_rank == 1 ? sum_of_all("Ireduce") : (void)0))
SUM(Reduce_scatter, MPI_Reduce_scatter(a, b, counts, MPI_INT, MPI_SUM, world))
SUM(Reduce_scatter_block, MPI_Reduce_scatter_block(a, b, SMALL, MPI_INT, MPI_SUM, world))
PLAIN(Scan, (MPI_Scan(a, b, SMALL, MPI_INT, MPI_SUM, world), b[0] == (my_rank + 1) * (my_rank + 2) / 2 ? (void)0 : wrong("Scan")))
PLAIN(Exscan, (MPI_Exscan(a, b, SMALL, MPI_INT, MPI_SUM, world), my_rank == 0 || b[0] == my_rank * (my_rank + 1) / 2 ? (void)0 : wrong("Exscan")))
#define EACH(what) b[SMALL * left] == left + 1 ? (void)0 : wrong(what)
#define AT_ROOT(what) my_rank == 1 ? (void)(EACH(what)) : (void)0
PLAIN(Gather, (MPI_Gather(a, SMALL, MPI_INT, b, SMALL, MPI_INT, 1, world), AT_ROOT("Gather")))
PLAIN(Gatherv, (MPI_Gatherv(a, SMALL, MPI_INT, b, counts, places, MPI_INT, 1, world), AT_ROOT("Gatherv")))
PLAIN(Scatter, (MPI_Scatter(a, SMALL, MPI_INT, b, SMALL, MPI_INT, 1, world), b[0] == 2 ? (void)0 : wrong("Scatter")))
PLAIN(Scatterv, (MPI_Scatterv(a, counts, places, MPI_INT, b, SMALL, MPI_INT, 1, world), b[0] == 2 ? (void)0 : wrong("Scatterv")))
PLAIN(Allgather, (MPI_Allgather(a, SMALL, MPI_INT, b, SMALL, MPI_INT, world), EACH("Allgather")))
PLAIN(Allgatherv, (MPI_Allgatherv(a, SMALL, MPI_INT, b, counts, places, MPI_INT, world), EACH("Allgatherv")))
PLAIN(Iallgather, (MPI_Iallgather(a, SMALL, MPI_INT, b, SMALL, MPI_INT, world, &request), complete(), EACH("Iallgather")))
PLAIN(Alltoall, (MPI_Alltoall(a, SMALL, MPI_INT, b, SMALL, MPI_INT, world), EACH("Alltoall")))
PLAIN(Alltoallv, (MPI_Alltoallv(a, counts, places, MPI_INT, b, counts, places, MPI_INT, world), EACH("Alltoallv")))
PLAIN(Ialltoall, (MPI_Ialltoall(a, SMALL, MPI_INT, b, SMALL, MPI_INT, world, &request), complete(), EACH("Ialltoall")))
static void do_Alltoallw(void) {
    int bytes[8];
    fill();
    for (int i = 0; i < ranks; i++) bytes[i] = places[i] * (int)sizeof(int);
    MPI_Alltoallw(a, counts, bytes, types, b, counts, bytes, types, world);
    EACH("Alltoallw");
}
// The neighbours of a rank in a ring: the one before it comes first.
FROM_LEFT(Neighbor_allgather, MPI_Neighbor_allgather(a, SMALL, MPI_INT, b, SMALL, MPI_INT, ring))
FROM_LEFT(Neighbor_alltoall, MPI_Neighbor_alltoall(a, SMALL, MPI_INT, b, SMALL, MPI_INT, ring))

// One-sided: each writes into the memory of its right neighbour.
#define OPEN PMPI_Win_lock_all(0, window)
#define CLOSE (PMPI_Win_unlock_all(window), PMPI_Barrier(orders))
FROM_LEFT(Put, (PMPI_Barrier(orders), OPEN, MPI_Put(a, SMALL, MPI_INT, right, 0, SMALL, MPI_INT, window), CLOSE))
FROM_LEFT(Get, (memcpy(b, a, sizeof b), PMPI_Barrier(orders), OPEN, MPI_Get(a, SMALL, MPI_INT, left, 0, SMALL, MPI_INT, window), CLOSE, memcpy(b, a, sizeof a)))
FROM_LEFT(Accumulate, (PMPI_Barrier(orders), OPEN, MPI_Accumulate(a, SMALL, MPI_INT, right, 0, SMALL, MPI_INT, MPI_SUM, window), CLOSE))
FROM_LEFT(Win_fence, (PMPI_Barrier(orders), MPI_Win_fence(0, window), PMPI_Put(a, SMALL, MPI_INT, right, 0, SMALL, MPI_INT, window), MPI_Win_fence(0, window), PMPI_Barrier(orders)))
FROM_LEFT(Win_lock, (PMPI_Barrier(orders), MPI_Win_lock(MPI_LOCK_SHARED, right, 0, window), PMPI_Put(a, SMALL, MPI_INT, right, 0, SMALL, MPI_INT, window), MPI_Win_unlock(right, window), PMPI_Barrier(orders)))
FROM_LEFT(Win_flush, (PMPI_Barrier(orders), OPEN, PMPI_Put(a, SMALL, MPI_INT, right, 0, SMALL, MPI_INT, window), MPI_Win_flush(right, window), CLOSE))

// Files: each rank has its own part of one file.
static MPI_File file, other;
#define OWN my_rank * SMALL * (MPI_Offset)sizeof(int)
#define TO(file) file, OWN, a, SMALL, MPI_INT
#define FROM(file) file, OWN, b, SMALL, MPI_INT
#define OPEN_OTHER "everywhere.other", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &other
#define OWN_PART(name, call) \
    static void do_##name(void) { \
        fill(); \
        call; \
        if (b[0] != my_rank + 1 || b[SMALL - 1] != my_rank + 1) wrong(#name); \
    }
static void write_own(void) { PMPI_File_write_at(TO(file), &status); }
static void read_own(void) { PMPI_File_read_at(FROM(file), &status); }
OWN_PART(File_write_at, (MPI_File_write_at(TO(file), &status), read_own()))
OWN_PART(File_write_at_all, (MPI_File_write_at_all(TO(file), &status), read_own()))
OWN_PART(File_iwrite_at, (MPI_File_iwrite_at(TO(file), &request), complete(), read_own()))
OWN_PART(File_read_at, (write_own(), MPI_File_read_at(FROM(file), &status)))
OWN_PART(File_read_at_all, (write_own(), MPI_File_read_at_all(FROM(file), &status)))
OWN_PART(File_iread_at, (write_own(), MPI_File_iread_at(FROM(file), &request), complete()))
OWN_PART(File_sync, (write_own(), MPI_File_sync(file), read_own()))
OWN_PART(File_open, (MPI_File_open(world, OPEN_OTHER), PMPI_File_write_at(TO(other), &status), PMPI_File_read_at(FROM(other), &status), PMPI_File_close(&other)))
OWN_PART(File_close, (PMPI_File_open(world, OPEN_OTHER), PMPI_File_write_at(TO(other), &status), PMPI_File_read_at(FROM(other), &status), MPI_File_close(&other)))
static MPI_Comm made;
PLAIN(Comm_dup, (MPI_Comm_dup(world, &made), PMPI_Comm_free(&made)))
PLAIN(Comm_split, (MPI_Comm_split(world, my_rank % 2, 0, &made), PMPI_Comm_free(&made)))
PLAIN(Comm_free, (PMPI_Comm_dup(world, &made), MPI_Comm_free(&made)))

#define NAME(name) {#name, do_##name}
static const struct {
    const char *name;
    void (*call)(void);
} all[] = {
    NAME(Send), NAME(Ssend), NAME(Rsend), NAME(Bsend), NAME(Isend), NAME(Issend), NAME(Irsend),
    NAME(Ibsend), NAME(Recv), NAME(Irecv), NAME(Probe), NAME(Iprobe), NAME(Mprobe), NAME(Mrecv),
    NAME(Imrecv), NAME(Sendrecv), NAME(Sendrecv_replace), NAME(Wait), NAME(Waitall), NAME(Waitany),
    NAME(Waitsome), NAME(Test), NAME(Testall), NAME(Testany), NAME(Testsome), NAME(Start),
    NAME(Startall), NAME(Barrier), NAME(Ibarrier), NAME(Bcast), NAME(Ibcast), NAME(Allreduce),
    NAME(Iallreduce), NAME(Reduce), NAME(Ireduce), NAME(Reduce_scatter), NAME(Reduce_scatter_block),
    NAME(Scan), NAME(Exscan), NAME(Gather), NAME(Gatherv), NAME(Scatter), NAME(Scatterv),
    NAME(Allgather), NAME(Allgatherv), NAME(Iallgather), NAME(Alltoall), NAME(Alltoallv),
    NAME(Alltoallw), NAME(Ialltoall), NAME(Neighbor_allgather), NAME(Neighbor_alltoall), NAME(Put),
    NAME(Get), NAME(Accumulate), NAME(Win_fence), NAME(Win_lock), NAME(Win_flush),
    NAME(File_write_at), NAME(File_write_at_all), NAME(File_iwrite_at), NAME(File_read_at),
    NAME(File_read_at_all), NAME(File_iread_at), NAME(File_sync), NAME(File_open),
    NAME(File_close), NAME(Comm_dup), NAME(Comm_split), NAME(Comm_free),
};

static void prepare(void) {
    int periodic = 1, bytes = SMALL * (int)sizeof(int) + MPI_BSEND_OVERHEAD;
    left = (my_rank + ranks - 1) % ranks;
    right = (my_rank + 1) % ranks;
    PMPI_Comm_dup(MPI_COMM_WORLD, &world);
    PMPI_Cart_create(world, 1, &ranks, &periodic, 0, &ring);
    PMPI_Win_create(b, sizeof b, sizeof(int), MPI_INFO_NULL, world, &window);
    PMPI_File_open(world, "everywhere.data", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    attached = malloc((size_t)bytes * 4);
    PMPI_Buffer_attach(attached, bytes * 4);
    for (int i = 0; i < 8; i++) counts[i] = SMALL, places[i] = i * SMALL, types[i] = MPI_INT;
}

// Calls a function until the test says to go on, with messages on their way.
static void again_and_again(int at) {
    MPI_Request way[4];
    for (int i = 0; i < LARGE; i++) out[i] = my_rank + at + i, in[i] = -1;
    small_out = my_rank * 1000 + at;
    PMPI_Isend(out, LARGE, MPI_DOUBLE, right, 8, world, &way[0]);
    PMPI_Isend(&small_out, 1, MPI_LONG, right, 9, world, &way[1]);
    done(all[at].name);
    while (next_order().verb != 'n') all[at].call();
    PMPI_Irecv(in, LARGE, MPI_DOUBLE, left, 8, world, &way[2]);
    PMPI_Irecv(&small_in, 1, MPI_LONG, left, 9, world, &way[3]);
    PMPI_Waitall(4, way, MPI_STATUSES_IGNORE);
    if (small_in != left * 1000 + at) wrong("small message");
    for (int i = 0; i < LARGE; i++) if (in[i] != left + at + i) wrong("large message");
}

int main(int argc, char **argv) {
    begin_orders(&argc, &argv);
    prepare();
    for (int at = 0; at < (int)(sizeof all / sizeof *all); at++) again_and_again(at);
    done("sums right");
    PMPI_File_close(&file);
    PMPI_Win_free(&window);
    PMPI_Comm_free(&world);
    MPI_Finalize();
    return 0;
}

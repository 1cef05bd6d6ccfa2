// Collective operations to which a rank is late: the last one, or the root where others need its
// data.
#include "truth.h"

enum { ROOT = 0 };

static int counts[RANKS_MAX];
static MPI_Request request;
static int last(void) { return ranks - 1; }

// Says who has waited in slot 0: all for the last rank, which enters `slot` of it in `for_at`.
static void all_wait_for(const char *kind, const char *at, int slot, const char *for_at) {
  int64_t until = last_enter(slot, 0, ranks);
  waits_for(kind, at, 0, until, last_to_enter, for_at);
}

static void all_wait(const char *kind, const char *at) { all_wait_for(kind, at, 0, at); }

static void late(int of_rank) {
  meet();
  if (rank == of_rank) be_late();
}

#define N_TO_N(name, kind, at, call) \
  static void name(void) {           \
    late(last());                    \
    CALL(0, call);                   \
    meet();                          \
    all_wait(kind, at);              \
  }

#define INTS(count) buffer, other, count, MPI_INT, MPI_MAX
#define EACH buffer, 8, MPI_BYTE, other, 8, MPI_BYTE

N_TO_N(barrier, "barrier", "MPI_Barrier", MPI_Barrier(world))
N_TO_N(allreduce, "all_to_all", "MPI_Allreduce", MPI_Allreduce(INTS(2), world))
N_TO_N(alltoall, "all_to_all", "MPI_Alltoall", MPI_Alltoall(EACH, world))
N_TO_N(allgather, "all_to_all", "MPI_Allgather", MPI_Allgather(EACH, world))

static void reduce_scatter(void) {
  for (int r = 0; r < ranks; r++) counts[r] = 2;
  late(last());
  CALL(0, MPI_Reduce_scatter(buffer, other, counts, MPI_INT, MPI_MAX, world));
  meet();
  all_wait("all_to_all", "MPI_Reduce_scatter");
}

#define FROM_ROOT(name, at, call)                                      \
  static void name(void) {                                             \
    late(ROOT);                                                        \
    CALL(0, call);                                                     \
    meet();                                                            \
    if (rank != ROOT)                                                  \
      waits_for("late_root", at, 0, enter_of(ROOT, 0), ROOT, at); \
  }

FROM_ROOT(bcast, "MPI_Bcast", MPI_Bcast(buffer, 8, MPI_BYTE, ROOT, world))
FROM_ROOT(scatter, "MPI_Scatter", MPI_Scatter(EACH, ROOT, world))

#define TO_ROOT(name, at, call)                                              \
  static void name(void) {                                                   \
    late(last());                                                            \
    CALL(0, call);                                                           \
    meet();                                                                  \
    if (rank == ROOT)                                                        \
      waits_for("early_root", at, 0, last_enter(0, 0, ranks), last(), at); \
  }

TO_ROOT(reduce, "MPI_Reduce", MPI_Reduce(INTS(2), ROOT, world))
TO_ROOT(gather, "MPI_Gather", MPI_Gather(EACH, ROOT, world))

#define SCAN(name, at, call)                                           \
  static void name(void) {                                             \
    late(0);                                                           \
    CALL(0, call);                                                     \
    meet();                                                            \
    waits_for("early_scan", at, 0, last_enter(0, 0, rank + 1), 0, at); \
  }

SCAN(scan, "MPI_Scan", MPI_Scan(INTS(2), world))
SCAN(exscan, "MPI_Exscan", MPI_Exscan(INTS(2), world))

// Slot 1 is the start of the operation, and slot 0 its completion, where ranks wait.
#define STARTED(start)                              \
  do {                                              \
    CALL(1, start);                                 \
    CALL(0, MPI_Wait(&request, MPI_STATUS_IGNORE)); \
  } while (0)

static void ibarrier(void) {
  late(last());
  STARTED(MPI_Ibarrier(world, &request));
  meet();
  all_wait_for("barrier", "MPI_Ibarrier|MPI_Wait", 1, "MPI_Ibarrier");
}

static void iallreduce(void) {
  late(last());
  STARTED(MPI_Iallreduce(INTS(2), world, &request));
  meet();
  all_wait_for("all_to_all", "MPI_Iallreduce|MPI_Wait", 1, "MPI_Iallreduce");
}

static void ibcast(void) {
  late(ROOT);
  STARTED(MPI_Ibcast(buffer, 8, MPI_BYTE, ROOT, world, &request));
  meet();
  if (rank != ROOT)
    waits("late_root", "MPI_Ibcast|MPI_Wait", 0, enter_of(ROOT, 1));
}

// On a line, only the last but one is a neighbour of the late rank.
static void neighbor_alltoall(void) {
  static MPI_Comm line = MPI_COMM_NULL;
  int is_periodic = 0;
  if (line == MPI_COMM_NULL) MPI_Cart_create(world, 1, &ranks, &is_periodic, 0, &line);
  late(last());
  CALL(0, MPI_Neighbor_alltoall(EACH, line));
  meet();
  int first = rank > 0 ? rank - 1 : 0, end = rank + 2 < ranks ? rank + 2 : ranks;
  waits("neighbors", "MPI_Neighbor_alltoall", 0, last_enter(0, first, end));
}

int main(int count, char **arguments) {
  static const Pattern patterns[] = {
      {"barrier", barrier},
      {"allreduce", allreduce},
      {"alltoall", alltoall},
      {"allgather", allgather},
      {"reduce_scatter", reduce_scatter},
      {"bcast", bcast},
      {"scatter", scatter},
      {"reduce", reduce},
      {"gather", gather},
      {"scan", scan},
      {"exscan", exscan},
      {"ibarrier", ibarrier},
      {"iallreduce", iallreduce},
      {"ibcast", ibcast},
      {"neighbor_alltoall", neighbor_alltoall},
      {0, 0},
  };
  return run(count, arguments, patterns, MPI_THREAD_SINGLE);
}

// Programs with one fault each, beside those of why.c: what is further away than one rank, one place
// and one call. A comment `place: NAME` marks the line that a finding of that fault has to name.
//
// faults NAME [STEPS]

#include "planted.h"

enum { RESULT = 4, PLACES = 6 };

static double from[2][1 << 16], to[2][1 << 16];

// The master has more to do for each result than all workers for theirs: it waits for nobody.
static void busy_master(void) {
  if (rank > 0) {
    work(0.5);
    MPI_Send(out, 1, MPI_DOUBLE, 0, RESULT, world);
    MPI_Recv(in, 1, MPI_DOUBLE, 0, TAG, world, MPI_STATUS_IGNORE);
    return;
  }
  MPI_Status status;
  for (int i = 1; i < ranks; i++) {
    MPI_Recv(in, 1, MPI_DOUBLE, MPI_ANY_SOURCE, RESULT, world, &status);
    work(2);
    MPI_Send(out, 1, MPI_DOUBLE, status.MPI_SOURCE, TAG, world);  // place: busy_master
  }
}

// The same with synchronous results: workers wait until the master receives.
static void busy_receiver(void) {
  if (rank > 0) {
    work(0.5);
    MPI_Ssend(out, 1, MPI_DOUBLE, 0, RESULT, world);
    return;
  }
  for (int i = 1; i < ranks; i++) {
    MPI_Recv(in, 1, MPI_DOUBLE, MPI_ANY_SOURCE, RESULT, world, MPI_STATUS_IGNORE);  // place: busy_receiver
    work(2);
  }
}

// One function communicates for two others, which are slow on different ranks.
static __attribute__((noinline)) void exchange(void) {
  MPI_Request r[2];
  MPI_Irecv(in, 1, MPI_DOUBLE, left(), TAG, world, &r[0]);  // place: shared_place
  MPI_Isend(out, 1, MPI_DOUBLE, right(), TAG, world, &r[1]);
  MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
}

static __attribute__((noinline)) void momentum(void) {
  work(rank == 1 ? 4 : 1);
  exchange();
}

static __attribute__((noinline)) void energy(void) {
  work(rank == 3 ? 5 : 1);
  exchange();
}

static void shared_place(void) {
  momentum();
  energy();
}

static void persistent(void) {
  static MPI_Request r[2];
  if (step == 0) {
    MPI_Recv_init(in, 1, MPI_DOUBLE, left(), TAG, world, &r[0]);
    MPI_Send_init(out, 1, MPI_DOUBLE, right(), TAG, world, &r[1]);
  }
  work(rank == 2 ? 4 : 1);
  MPI_Startall(2, r);  // place: persistent
  MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
  if (step == steps - 1) for (int i = 0; i < 2; i++) MPI_Request_free(&r[i]);
}

static void persistent_single(void) {
  static MPI_Request r[2];
  if (step == 0) {
    MPI_Recv_init(in, 1, MPI_DOUBLE, left(), TAG, world, &r[0]);
    MPI_Send_init(out, 1, MPI_DOUBLE, right(), TAG, world, &r[1]);
  }
  work(rank == 2 ? 4 : 1);
  MPI_Start(&r[0]);  // place: persistent_single
  MPI_Start(&r[1]);
  MPI_Wait(&r[0], MPI_STATUS_IGNORE);
  MPI_Wait(&r[1], MPI_STATUS_IGNORE);
  if (step == steps - 1) for (int i = 0; i < 2; i++) MPI_Request_free(&r[i]);
}

// Rank 1 is late to receive from rank 0, because it has waited for rank 2.
static void behind_receiver(void) {
  if (rank == 2) {
    work(5);
    MPI_Send(out, 1, MPI_DOUBLE, 1, TAG, world);  // place: behind_receiver
  } else if (rank == 1) {
    MPI_Recv(in, 1, MPI_DOUBLE, 2, TAG, world, MPI_STATUS_IGNORE);
    MPI_Recv(in, 1, MPI_DOUBLE, 0, TAG, world, MPI_STATUS_IGNORE);
  } else if (rank == 0) {
    work(1);
    MPI_Ssend(out, 1, MPI_DOUBLE, 1, TAG, world);
  } else {
    work(5);
  }
}

// At each place another rank is late, and each at one: no rank and no place has much of it.
#define MEET                                                                                     \
  MPI_Sendrecv(out, 1, MPI_DOUBLE, right(), TAG, in, 1, MPI_DOUBLE, left(), TAG, world,            \
               MPI_STATUS_IGNORE)
static __attribute__((noinline)) void swap(int place) {
  switch (place) {
    case 0: MEET; break;
    case 1: MEET; break;
    case 2: MEET; break;
    case 3: MEET; break;
    case 4: MEET; break;
    case 5: MEET; break;
  }
}

static void spread(void) {
  for (int place = 0; place < PLACES; place++) {
    int late = place * 5 % ranks;
    work(rank == late ? 2 : 1);
    swap(place);
  }
}

// Ring of tokens through all; rank 2 holds it long.
static void token(void) {
  if (rank > 0) MPI_Recv(in, 1, MPI_DOUBLE, left(), TAG, world, MPI_STATUS_IGNORE);
  work(rank == 2 ? 4 : 0.5);
  MPI_Send(out, 1, MPI_DOUBLE, right(), TAG, world);  // place: token
  if (rank == 0) MPI_Recv(in, 1, MPI_DOUBLE, left(), TAG, world, MPI_STATUS_IGNORE);
}

// Tree reduction by hand; rank 3 late leaf.
static void tree(void) {
  work(rank == 3 ? 4 : 1);
  for (int bit = 1; bit < ranks; bit *= 2) {
    if (rank & bit) { MPI_Send(out, 1, MPI_DOUBLE, rank - bit, TAG, world); break; }  // place: tree
    if (rank + bit < ranks) MPI_Recv(in, 1, MPI_DOUBLE, rank + bit, TAG, world, MPI_STATUS_IGNORE);
  }
  MPI_Bcast(in, 1, MPI_DOUBLE, 0, world);
}

// Subcommunicators: rank 1 late in rows, rank 2 late in columns behind.
static void rows(void) {
  static MPI_Comm row, column;
  if (step == 0) {
    MPI_Comm_split(world, rank / 2, rank, &row);
    MPI_Comm_split(world, rank % 2, rank, &column);
  }
  work(rank == 1 ? 4 : 1);
  MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, row);  // place: rows
  MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, column);
}

// Iallreduce started late by rank 1, others overlap.
static void begun_late(void) {
  MPI_Request r;
  work(rank == 1 ? 5 : 1);
  MPI_Iallreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, world, &r);  // place: begun_late
  work(0.5);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
}

// Probe loop master: worker 2 slow.
static void probing(void) {
  MPI_Status s;
  if (rank) { work(rank == 2 ? 5 : 1); MPI_Send(out, rank, MPI_DOUBLE, 0, TAG, world); }  // place: probing
  else for (int i = 1; i < ranks; i++) {
    MPI_Probe(MPI_ANY_SOURCE, TAG, world, &s);
    MPI_Recv(in, 16, MPI_DOUBLE, s.MPI_SOURCE, TAG, world, MPI_STATUS_IGNORE);
    work(0.2);
  }
  MPI_Barrier(world);
}

// Two independent faults: rank 0 late in the first allreduce, rank 3 in the second.
static void two_ranks(void) {
  work(rank == 0 ? 4 : 1);
  MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, world);  // place: two_ranks
  work(rank == 3 ? 3 : 1);
  MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_MAX, world);
}

// Scatter by root via loop of sends, workers wait in order of rank; root packs for each.
static void packer(void) {
  for (int to_rank = 1; rank == 0 && to_rank < ranks; to_rank++) {
    work(1.5);
    MPI_Send(out, 8, MPI_DOUBLE, to_rank, TAG, world);  // place: packer
  }
  if (rank > 0) {
    MPI_Recv(in, 8, MPI_DOUBLE, 0, TAG, world, MPI_STATUS_IGNORE);
    work(1);
  }
  MPI_Barrier(world);
}

// Late at the end of alternating phases: rank 1 does extra output every 4th step.
static void dumps(void) {
  work(1);
  if (rank == 1 && step % 4 == 3) work(12);
  MPI_Sendrecv(out, 1, MPI_DOUBLE, right(), TAG, in, 1, MPI_DOUBLE, left(), TAG, world, MPI_STATUS_IGNORE);  // place: dumps
  MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, world);
}

// Gatherv with late non-root rank 3, root then computes alone (Amdahl).
static void serial_root(void) {
  work(1);
  MPI_Gather(out, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE, 0, world);
  if (rank == 0) work(4);
  MPI_Scatter(in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, 0, world);  // place: serial_root
}

// Three-stage pipeline, middle stage slow.
static void stages(void) {
  if (rank > 0) MPI_Recv(in, 1, MPI_DOUBLE, rank - 1, TAG, world, MPI_STATUS_IGNORE);
  work(rank == 1 ? 4 : 1);
  if (rank + 1 < ranks) MPI_Ssend(out, 1, MPI_DOUBLE, rank + 1, TAG, world);  // place: stages
}

// Ranks in a line exchange large messages with one side after the other, and wait for the send
// first: those that wait for rank 3 are late to receive from the next ones.
static void sides(void) {
  work(rank == 3 ? 4 : 1);
  MPI_Request r[2][2];
  for (int side = 0; side < 2; side++) {
    int other = side ? rank - 1 : rank + 1;
    if (other < 0 || other >= ranks) continue;
    MPI_Irecv(from[side], 1 << 16, MPI_DOUBLE, other, TAG, world, &r[side][0]);  // place: sides
    MPI_Isend(to[side], 1 << 16, MPI_DOUBLE, other, TAG, world, &r[side][1]);
    MPI_Wait(&r[side][1], MPI_STATUS_IGNORE);
    MPI_Wait(&r[side][0], MPI_STATUS_IGNORE);
  }
}

// Ranks in a line post their receives after their work, and wait for each send before the receive.
static void behind_waits(void) {
  work(rank == 2 ? 4 : 1);
  MPI_Request r[2][2];
  for (int side = 0; side < 2; side++) {
    int other = side ? rank - 1 : rank + 1;
    if (other < 0 || other >= ranks) continue;
    MPI_Irecv(from[side], 1 << 14, MPI_DOUBLE, other, TAG, world, &r[side][0]);  // place: behind_waits
    MPI_Isend(to[side], 1 << 14, MPI_DOUBLE, other, TAG, world, &r[side][1]);
  }
  for (int side = 0; side < 2; side++) {
    int other = side ? rank - 1 : rank + 1;
    if (other < 0 || other >= ranks) continue;
    MPI_Wait(&r[side][1], MPI_STATUS_IGNORE);
    MPI_Wait(&r[side][0], MPI_STATUS_IGNORE);
  }
}

// A ring in which ranks test for the message of the one before, of which rank 2 is late.
static void tested(void) {
  MPI_Request request;
  int is_there = 0;
  work(rank == 2 ? 5 : 1);
  MPI_Irecv(in, 1, MPI_DOUBLE, left(), TAG, world, &request);  // place: tested
  MPI_Send(out, 1, MPI_DOUBLE, right(), TAG, world);
  while (!is_there) MPI_Test(&request, &is_there, MPI_STATUS_IGNORE);
}

// Ranks take pieces of work from a counter, of which the last is large: whoever gets it is late.
// The barriers are not redundant: rank 0 sets the counter back between them.
static void handed_out(void) {
  static long *counter, one = 1;
  static MPI_Win window;
  long piece = 0, last = 11;
  if (step == 0) MPI_Win_allocate(sizeof one, sizeof one, MPI_INFO_NULL, world, &counter, &window);
  MPI_Barrier(world);
  if (rank == 0) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    *counter = 0;
    MPI_Win_unlock(0, window);
  }
  MPI_Barrier(world);
  while (1) {
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);  // place: handed_out
    MPI_Fetch_and_op(&one, &piece, MPI_LONG, 0, 0, MPI_SUM, window);
    MPI_Win_unlock(0, window);
    if (piece > last) break;
    work(piece == last ? 9 : 1);
  }
  MPI_Barrier(world);
  if (step == steps - 1) MPI_Win_free(&window);
}

// Rank 3 is late in every tenth step alone.
static void tenth(void) {
  work(rank == 3 && step % 10 == 5 ? 11 : 1);
  MPI_Allreduce(in, out, 4, MPI_DOUBLE, MPI_SUM, world);  // place: tenth
}

// Only the ranks behind rank 1 wait for it.
static void scanned(void) {
  work(rank == 1 ? 4 : 1);
  MPI_Scan(in, out, 4, MPI_DOUBLE, MPI_SUM, world);  // place: scanned
}

// Two communicators, whose ranks meet now and then.
static void halves(void) {
  static MPI_Comm half;
  if (step == 0) MPI_Comm_split(world, rank / 2, rank, &half);
  work(4);
  MPI_Allreduce(in, out, 4, MPI_DOUBLE, MPI_SUM, half);
  if (step % 5 == 4) MPI_Barrier(world);
}

// Who is late changes half-way.
static void halfway(void) {
  work(rank == (step < steps / 2 ? 1 : 3) ? 5 : 1);
  MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, world);  // place: halfway
}

// A function of a library, which is called from two places, and takes long in one of them.
static __attribute__((noinline)) void library(double units) {
  work(units);
  MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_MAX, world);  // place: two_callers
}

static __attribute__((noinline)) void predict(void) { library(1); step += 0; }
static __attribute__((noinline)) void correct(void) { library(rank == 2 ? 5 : 1); step += 0; }

static void two_callers(void) {
  predict();
  correct();
}

// Rank 2 has twice as many pieces to send.
static void pieces(void) {
  int sent = rank == 2 ? 10 : 5, received = left() == 2 ? 10 : 5;
  for (int i = 0; i < sent; i++) {
    work(0.5);
    MPI_Send(out, 8, MPI_DOUBLE, right(), TAG, world);  // place: pieces
  }
  for (int i = 0; i < received; i++)
    MPI_Recv(in, 8, MPI_DOUBLE, left(), TAG, world, MPI_STATUS_IGNORE);
  MPI_Barrier(world);
}

// As `tested`, but the ranks sleep between two tests.
static void napping(void) {
  MPI_Request request;
  int is_there = 0;
  work(rank == 2 ? 5 : 1);
  MPI_Irecv(in, 1, MPI_DOUBLE, left(), TAG, world, &request);  // place: napping
  MPI_Send(out, 1, MPI_DOUBLE, right(), TAG, world);
  while (!is_there) {
    MPI_Test(&request, &is_there, MPI_STATUS_IGNORE);
    if (!is_there) work(0.25);
  }
}

// The message has come long ago when rank 1 looks for it again.
static void noticed_late(void) {
  if (rank == 1) {
    MPI_Request request;
    int is_there = 0;
    MPI_Irecv(in, 1, MPI_DOUBLE, 0, TAG, world, &request);
    while (1) {
      MPI_Test(&request, &is_there, MPI_STATUS_IGNORE);  // place: noticed_late
      if (is_there) break;
      work(4);
    }
  } else {
    work(0.5);
    if (rank == 0) MPI_Send(out, 1, MPI_DOUBLE, 1, TAG, world);
  }
  MPI_Barrier(world);
}

// Healthy: all ranks write a checkpoint now and then.
static void checkpoints(void) {
  work(8);
  if (step % 4 == 3) work(16);
  MPI_Allreduce(in, out, 4, MPI_DOUBLE, MPI_SUM, world);
}

static const struct {
  const char *name;
  void (*run)(void);
} patterns[] = {
#define PATTERN(name) {#name, name}
    PATTERN(busy_master), PATTERN(busy_receiver), PATTERN(shared_place), PATTERN(persistent),
    PATTERN(persistent_single), PATTERN(behind_receiver), PATTERN(spread), PATTERN(sides),
    PATTERN(token), PATTERN(tree), PATTERN(rows), PATTERN(begun_late), PATTERN(probing), PATTERN(two_ranks), PATTERN(packer), PATTERN(dumps), PATTERN(serial_root), PATTERN(stages),
    PATTERN(behind_waits), PATTERN(tested), PATTERN(handed_out), PATTERN(tenth), PATTERN(scanned),
    PATTERN(halves), PATTERN(halfway), PATTERN(two_callers), PATTERN(pieces), PATTERN(napping),
    PATTERN(noticed_late), PATTERN(checkpoints)};

int main(int count, char **arguments) {
  MPI_Init(&count, &arguments);
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &ranks);
  steps = count > 2 ? atoi(arguments[2]) : 10;
  for (int at = 0; at < (int)(sizeof patterns / sizeof *patterns); at++) {
    if (strcmp(patterns[at].name, arguments[1])) continue;
    MPI_Barrier(world);
    for (step = 0; step < steps; step++) patterns[at].run();
    MPI_Finalize();
    return 0;
  }
  return 2;
}

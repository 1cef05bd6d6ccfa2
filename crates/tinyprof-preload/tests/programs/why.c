// Programs with one fault each, chosen by a name: the oracle of `tinyprof why`. A comment `place: NAME`
// marks the line that a finding of that fault has to name.
//
// why NAME [STEPS [killed]]: with the last, each rank kills itself in place of ending MPI.

#define _GNU_SOURCE
#include "planted.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum { LARGE = 1 << 20 };

static double large[2][LARGE];

// Faults ------------------------------------------------------------------------------------------

static void late_sender(void) {
  MPI_Request r[2];
  work(rank == 3 ? 4 : 1);
  MPI_Irecv(in, 1, MPI_DOUBLE, left(), TAG, world, &r[0]);  // place: late_sender
  MPI_Isend(out, 1, MPI_DOUBLE, right(), TAG, world, &r[1]);
  MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
}

static void assemble(void) {
  work(rank == 2 ? 5 : 1);
  MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, world);  // place: two_callpaths
}

static void solve(void) {
  work(rank == 2 ? 3 : 1);
  MPI_Allreduce(in, out, 2, MPI_DOUBLE, MPI_SUM, world);
}

static void two_callpaths(void) {
  assemble();
  solve();
}

static void chain(void) {
  work(rank == 0 ? 4 : 1);
  if (rank > 0) MPI_Recv(in, 1, MPI_DOUBLE, rank - 1, TAG, world, MPI_STATUS_IGNORE);
  if (rank + 1 < ranks) MPI_Send(in, 1, MPI_DOUBLE, rank + 1, TAG, world);  // place: chain
}

static void slow_rank(void) {
  double factor = rank == 1 ? 1.8 : 1;
  work(factor);
  MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, world);
  work(1.5 * factor);
  MPI_Allgather(in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, world);
  work(2 * factor);
  MPI_Barrier(world);  // place: slow_rank
}

static void late_to_barrier(void) {
  work(rank == 2 ? 4 : 1);
  MPI_Barrier(world);  // place: late_to_barrier
}

static void wavefront(void) {
  if (rank > 0) MPI_Recv(in, 1, MPI_DOUBLE, rank - 1, TAG, world, MPI_STATUS_IGNORE);
  work(1);
  if (rank + 1 < ranks) MPI_Send(in, 1, MPI_DOUBLE, rank + 1, TAG, world);  // place: wavefront
  MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, world);
}

static void master(double serve, double task) {
  if (rank > 0) {
    MPI_Send(in, 1, MPI_DOUBLE, 0, TAG, world);
    MPI_Recv(in, 1, MPI_DOUBLE, 0, TAG, world, MPI_STATUS_IGNORE);
    work(task);
    MPI_Send(in, 1, MPI_DOUBLE, 0, TAG + 1, world);  // place: starving
    return;
  }
  MPI_Status status;
  for (int i = 1; i < ranks; i++) {
    MPI_Recv(in, 1, MPI_DOUBLE, MPI_ANY_SOURCE, TAG, world, &status);
    work(serve);
    MPI_Send(in, 1, MPI_DOUBLE, status.MPI_SOURCE, TAG, world);  // place: saturated
  }
  for (int i = 1; i < ranks; i++)
    MPI_Recv(in, 1, MPI_DOUBLE, MPI_ANY_SOURCE, TAG + 1, world, MPI_STATUS_IGNORE);
}

static void saturated(void) { master(2, 0.1); }
static void starving(void) { master(0, 4); }

static void late_root(void) {
  work(rank == 0 ? 4 : 1);
  MPI_Bcast(in, 1, MPI_DOUBLE, 0, world);  // place: late_root
}

static void early_root(void) {
  work(rank == 2 ? 4 : 1);
  MPI_Reduce(in, out, 1, MPI_DOUBLE, MPI_SUM, 0, world);  // place: early_root
  MPI_Bcast(in, 1, MPI_DOUBLE, 0, world);
}

static void late_receiver(void) {
  if (rank == 0) {
    work(1);
    MPI_Ssend(in, 1, MPI_DOUBLE, 1, TAG, world);
  } else if (rank == 1) {
    work(4);
    MPI_Recv(in, 1, MPI_DOUBLE, 0, TAG, world, MPI_STATUS_IGNORE);  // place: late_receiver
  } else {
    work(4);
  }
}

// The receive is there before, and its rank is not in MPI when the message is sent.
static void absent_receiver(void) {
  MPI_Request request;
  if (rank == 0) {
    work(1);
    MPI_Isend(large[0], LARGE, MPI_DOUBLE, 1, TAG, world, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (rank == 1) {
    MPI_Irecv(large[0], LARGE, MPI_DOUBLE, 0, TAG, world, &request);
    work(4);
    MPI_Wait(&request, MPI_STATUS_IGNORE);  // place: absent_receiver
  } else {
    work(4);
  }
}

static void serial_io(void) {
  static MPI_File file = MPI_FILE_NULL;
  char name[64];
  snprintf(name, sizeof name, "why-%d.out", (int)getpid());
  if (rank == 0) {
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
    for (int i = 0; i < 3; i++)
      MPI_File_write_at(file, 0, large[0], LARGE, MPI_DOUBLE, MPI_STATUS_IGNORE);  // place: serial_io
    MPI_File_close(&file);
  }
  MPI_Barrier(world);
}

static void posix_io(void) {
  work(1);
  if (rank == 0) work(3);
  MPI_Barrier(world);  // place: posix_io
}

#define SEND_OR_RECEIVE                                                             \
  rank % 2 ? MPI_Recv(in, 1, MPI_DOUBLE, rank - 1, TAG, world, MPI_STATUS_IGNORE)   \
           : MPI_Send(in, 1, MPI_DOUBLE, rank + 1, TAG, world)

static void small_messages(void) {
  for (int i = 0; i < 4000; i++) {
    // Either end may take longer: both are one line.
    SEND_OR_RECEIVE;  // place: small_messages
  }
  work(0.2);
}

static void no_overlap(void) {
  MPI_Request r[2];
  MPI_Irecv(large[0], LARGE, MPI_DOUBLE, left(), TAG, world, &r[0]);
  MPI_Isend(large[1], LARGE, MPI_DOUBLE, right(), TAG, world, &r[1]);
  MPI_Waitall(2, r, MPI_STATUSES_IGNORE);  // place: no_overlap
  work(0.5);
}

static void polling(void) {
  MPI_Request request;
  int is_there = 0;
  if (rank == 3) {
    work(4);
    for (int r = 0; r < 3; r++) MPI_Send(in, 1, MPI_DOUBLE, r, TAG, world);  // place: polling
  } else {
    MPI_Irecv(in, 1, MPI_DOUBLE, 3, TAG, world, &request);
    while (!is_there) MPI_Test(&request, &is_there, MPI_STATUS_IGNORE);
  }
}

static void wrong_order(void) {
  if (rank > 0) {
    work(rank == 1 ? 6 : 0.1);
    MPI_Send(in, 1, MPI_DOUBLE, 0, TAG, world);
    MPI_Barrier(world);
    return;
  }
  for (int r = 1; r < ranks; r++) {
    MPI_Recv(in, 1, MPI_DOUBLE, r, TAG, world, MPI_STATUS_IGNORE);  // place: wrong_order
    work(2);
  }
  MPI_Barrier(world);
}

static void redundant_barrier(void) {
  work(1);
  for (int i = 0; i < 3; i++) {
    MPI_Barrier(world);  // place: redundant_barrier
    MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, world);
  }
}

static void turns(void) {
  work(rank == step % ranks ? 4 : 1);
  MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, world);  // place: turns
}

static void growth(void) {
  work(rank == 2 ? 1 + step : 1);
  MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, world);  // place: growth
}

static void noise(void) {
  work(rank == 1 && step % 3 == 2 ? 7 : 1);
  MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, world);  // place: noise
}

static void first_iteration(void) {
  work(step == 0 ? 20 : 1);
  MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, world);  // place: first_iteration
}

static void half(void) {
  work(rank >= 2 ? 4 : 1);
  MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, world);  // place: half
}

static void more_visits(void) {
  for (int i = 0; i < (rank == 3 ? 4 : 1); i++) {
    work(1);
    MPI_Sendrecv(in, 1, MPI_DOUBLE, rank, TAG, out, 1, MPI_DOUBLE, rank, TAG, world,  // place: more_visits
                 MPI_STATUS_IGNORE);
  }
  MPI_Barrier(world);
}

static void locks(void) {
  static MPI_Win window;
  if (step == 0) MPI_Win_create(in, sizeof in, 8, MPI_INFO_NULL, world, &window);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
  MPI_Put(out, 1, MPI_DOUBLE, 0, 1, 1, MPI_DOUBLE, window);
  MPI_Win_flush(0, window);
  work(1);
  MPI_Win_unlock(0, window);  // place: locks
  if (step == steps - 1) MPI_Win_free(&window);
}

// At the ends there is no neighbour. Too large to be sent at once, and small enough to be stored.
static void shift(void) {
  static double from[64], to[64];
  int up = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL, down = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  work(rank == 2 ? 4 : 1);
  MPI_Sendrecv(to, 64, MPI_DOUBLE, up, TAG, from, 64, MPI_DOUBLE, down, TAG, world,  // place: shift
               MPI_STATUS_IGNORE);
  MPI_Sendrecv(to, 64, MPI_DOUBLE, down, TAG, from, 64, MPI_DOUBLE, up, TAG, world, MPI_STATUS_IGNORE);
}

static void at_the_end(void) {
  work(1);
  MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, world);
  if (rank == 3 && step + 1 == steps) work(20);
}

static void both_late(void) {
  MPI_Request r[2];
  work(rank == 1 || rank == 2 ? 5 : 1);
  MPI_Irecv(in, 1, MPI_DOUBLE, left(), TAG, world, &r[0]);  // place: both_late
  MPI_Isend(out, 1, MPI_DOUBLE, right(), TAG, world, &r[1]);
  MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
  MPI_Barrier(world);
}

// What rank 0 does with each result is done before the last one comes.
static void last_result(void) {
  MPI_Request r[16];
  int of;
  work(rank == 3 ? 6 : 2);
  if (rank > 0) {
    MPI_Send(out, 1, MPI_DOUBLE, 0, TAG, world);  // place: last_result
  } else {
    for (int from = 1; from < ranks; from++) MPI_Irecv(&in[from], 1, MPI_DOUBLE, from, TAG, world, &r[from - 1]);
    for (int count = 1; count < ranks; count++) {
      MPI_Waitany(ranks - 1, r, &of, MPI_STATUS_IGNORE);
      work(0.3);
    }
  }
  MPI_Bcast(in, 1, MPI_DOUBLE, 0, world);
}

// A rank that is late by one activity is a little slower in all others, too.
static void one_activity(void) {
  double factor = rank == 3 ? 1.3 : 1;
  work(0.3 * factor);
  MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, world);
  work(0.3 * factor);
  MPI_Allgather(in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, world);
  work(rank == 3 ? 6 : 0.5);
  MPI_Barrier(world);  // place: one_activity
}

// Healthy programs --------------------------------------------------------------------------------

static void ring(void) {
  MPI_Request r[2];
  MPI_Irecv(in, 1, MPI_DOUBLE, left(), TAG, world, &r[0]);
  MPI_Isend(out, 1, MPI_DOUBLE, right(), TAG, world, &r[1]);
  work(8);
  MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
}

static void reduced(void) {
  work(8);
  MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, world);
}

static void alone(void) { work(8); }

static void stencil(void) {
  MPI_Request r[4];
  MPI_Irecv(in, 4, MPI_DOUBLE, left(), TAG, world, &r[0]);
  MPI_Irecv(in + 8, 4, MPI_DOUBLE, right(), TAG + 1, world, &r[1]);
  MPI_Isend(out, 4, MPI_DOUBLE, right(), TAG, world, &r[2]);
  MPI_Isend(out, 4, MPI_DOUBLE, left(), TAG + 1, world, &r[3]);
  work(8);
  MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
}

static void broadcast(void) {
  work(8);
  MPI_Bcast(in, 8, MPI_DOUBLE, 0, world);
}

static void all_to_all(void) {
  work(8);
  MPI_Alltoall(in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, world);
}

static void exchanged(void) {
  work(8);
  MPI_Sendrecv(in, 8, MPI_DOUBLE, right(), TAG, out, 8, MPI_DOUBLE, left(), TAG, world,
               MPI_STATUS_IGNORE);
}

static void gathered(void) {
  work(8);
  MPI_Gather(in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, 0, world);
}

static void rare(void) {
  work(8);
  if (step % 5 == 4) MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, world);
}

// The processors of a host are slower: hosts.c tells the profiler that odd ranks run on another one.
static void slow_host(void) {
  double factor = rank % 2 ? 2 : 1;
  work(2 * factor);
  MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, world);  // place: slow_host
}

static void healthy_hosts(void) {
  work(8);
  MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, world);
}

// All ranks run on one processor, and compute as much.
static void oversubscribed(void) {
  if (!step) {
    cpu_set_t one;
    int cpu = sched_getcpu();
    MPI_Bcast(&cpu, 1, MPI_INT, 0, world);
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
  }
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  long long end_ns = now.tv_sec * 1000000000LL + now.tv_nsec + 4LL * UNIT_US * 1000;
  do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  while (now.tv_sec * 1000000000LL + now.tv_nsec < end_ns);
  MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, world);  // place: oversubscribed
}

// The same loads everywhere: on rank 2 from all over a memory that no cache holds.
static void memory_bound(void) {
  enum { WORDS = 1 << 23, LOADS = 1 << 16 };
  static unsigned *next;
  unsigned words = rank == 2 ? WORDS : 1 << 10;
  if (!next) {
    next = malloc(words * sizeof *next);
    for (unsigned i = 0; i < words; i++) next[i] = (i * 2654435761u + 12345u) % words;
  }
  volatile unsigned at = 0;
  for (int i = 0; i < LOADS; i++) at = (next[at % words] + i) % words;
  MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, world);  // place: memory_bound
}

static void overlapped(void) {
  MPI_Request r[2];
  MPI_Irecv(large[0], 1 << 15, MPI_DOUBLE, left(), TAG, world, &r[0]);
  MPI_Isend(large[1], 1 << 15, MPI_DOUBLE, right(), TAG, world, &r[1]);
  work(8);
  MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
}

static const struct {
  const char *name;
  void (*run)(void);
} patterns[] = {
#define PATTERN(name) {#name, name}
    PATTERN(late_sender), PATTERN(two_callpaths), PATTERN(chain), PATTERN(slow_rank),
    PATTERN(late_to_barrier), PATTERN(wavefront), PATTERN(saturated), PATTERN(starving),
    PATTERN(late_root), PATTERN(early_root), PATTERN(late_receiver), PATTERN(absent_receiver), PATTERN(serial_io),
    PATTERN(posix_io), PATTERN(small_messages), PATTERN(no_overlap), PATTERN(polling),
    PATTERN(wrong_order), PATTERN(redundant_barrier), PATTERN(turns), PATTERN(growth), PATTERN(noise),
    PATTERN(first_iteration), PATTERN(half), PATTERN(more_visits), PATTERN(ring),
    PATTERN(reduced), PATTERN(alone), PATTERN(locks), PATTERN(stencil), PATTERN(broadcast),
    PATTERN(all_to_all), PATTERN(exchanged), PATTERN(gathered), PATTERN(rare), PATTERN(overlapped), PATTERN(slow_host),
    PATTERN(healthy_hosts), PATTERN(oversubscribed), PATTERN(memory_bound), PATTERN(shift),
    PATTERN(at_the_end), PATTERN(both_late), PATTERN(last_result), PATTERN(one_activity)};

int main(int count, char **arguments) {
  MPI_Init(&count, &arguments);
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &ranks);
  steps = count > 2 ? atoi(arguments[2]) : 10;
  for (int at = 0; at < (int)(sizeof patterns / sizeof *patterns); at++) {
    if (strcmp(patterns[at].name, arguments[1])) continue;
    MPI_Barrier(world);
    for (step = 0; step < steps; step++) patterns[at].run();
    if (count > 3) {
      MPI_Barrier(world);
      raise(SIGKILL);
    }
    MPI_Finalize();  // place: at_the_end
    return 0;
  }
  return 2;
}

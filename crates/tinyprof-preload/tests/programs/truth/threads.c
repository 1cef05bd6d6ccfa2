// Threads of a rank that communicate at the same time, each with its partner thread of the last
// rank. Thread t of rank 0 waits (t + 1) times as long as thread 0. Threads stamp slots of their
// own, which the main thread adds up.
#include "truth.h"

#include <pthread.h>

enum { THREADS = 2, INSTANCES = 4, TAG = 3 };

static MPI_Comm comms[THREADS];
static int own_tags, own_comms;
// The slot of the message that was received in a slot: threads that share a stream take turns by
// chance.
static int got[THREADS * INSTANCES];

static int is_sender(void) { return rank == ranks - 1; }
static int slot_of(int t, int instance) { return t * INSTANCES + instance; }

// Threads of two ranks meet as ranks do, by a count of their own.
static void meet_thread(int t, int all) {
  atomic_fetch_add(&shared->threads_met[t], 1);
  while (atomic_load(&shared->threads_met[t]) < all) sleep_us(50);
}

static void *receive_late(void *number) {
  static int met[THREADS];
  int t = (int)(long)number, tag = own_tags ? TAG + t : TAG;
  MPI_Comm comm = own_comms ? comms[t] : world;
  for (int i = 0; i < INSTANCES; i++) {
    int slot = slot_of(t, i), from = ranks - 1;
    meet_thread(t, met[t] += 2);
    if (is_sender()) {
      sleep_us((t + 1) * extra_us);
      CALL(slot, MPI_Send(&slot, 1, MPI_INT, 0, tag, comm));
    } else {
      CALL(slot, MPI_Recv(&got[slot], 1, MPI_INT, from, tag, comm, MPI_STATUS_IGNORE));
    }
  }
  return 0;
}

// Starts threads on the first and the last rank, of which `main` runs the first itself or none.
static void run_threads(int main_communicates) {
  pthread_t started[THREADS];
  int is_partner = rank == 0 || is_sender();
  meet();
  for (long t = main_communicates; is_partner && t < THREADS; t++)
    pthread_create(&started[t], 0, receive_late, (void *)t);
  if (is_partner && main_communicates) receive_late(0);
  for (int t = main_communicates; is_partner && t < THREADS; t++) pthread_join(started[t], 0);
  meet();
  for (int slot = 0; rank == 0 && slot < THREADS * INSTANCES; slot++)
    waits("late_sender", "MPI_Recv", slot, enter_of(ranks - 1, got[slot]));
}

static void make_comms(void) {
  for (int t = 0; own_comms && t < THREADS; t++) {
    int slot = THREADS * INSTANCES + t;
    CALL(slot, MPI_Comm_dup(world, &comms[t]));
    meet();
    waits("creation", "MPI_Comm_dup", slot, last_enter(slot, 0, ranks));
  }
}

static void free_comms(void) {
  for (int t = 0; own_comms && t < THREADS; t++) MPI_Comm_free(&comms[t]);
}

static void with(int tags, int communicators, int main_communicates) {
  own_tags = tags;
  own_comms = communicators;
  make_comms();
  run_threads(main_communicates);
  free_comms();
}

static void own_tags_each(void) { with(1, 0, 1); }
static void own_comms_each(void) { with(0, 1, 1); }
static void one_stream(void) { with(0, 0, 1); }
static void workers_tags(void) { with(1, 0, 0); }
static void workers_comms(void) { with(0, 1, 0); }

// One worker enters a barrier late, of which the main threads know nothing.
static void *barrier_late(void *unused) {
  if (is_sender()) be_late();
  CALL(0, MPI_Barrier(world));
  return unused;
}

static void worker_barrier(void) {
  pthread_t started;
  meet();
  pthread_create(&started, 0, barrier_late, 0);
  pthread_join(started, 0);
  meet();
  waits("barrier", "MPI_Barrier", 0, last_enter(0, 0, ranks));
}

// Each thread is blocked until the receive of its partner.
static void *send_late(void *number) {
  int t = (int)(long)number;
  char bytes[8];
  if (rank == 0) CALL(t, MPI_Ssend(bytes, 8, MPI_BYTE, ranks - 1, TAG + t, world));
  if (is_sender()) {
    sleep_us((t + 1) * extra_us);
    CALL(t, MPI_Recv(bytes, 8, MPI_BYTE, 0, TAG + t, world, MPI_STATUS_IGNORE));
  }
  return 0;
}

static void blocked_sends(void) {
  pthread_t started[THREADS];
  meet();
  for (long t = 0; t < THREADS; t++) pthread_create(&started[t], 0, send_late, (void *)t);
  for (int t = 0; t < THREADS; t++) pthread_join(started[t], 0);
  meet();
  for (int t = 0; rank == 0 && t < THREADS; t++)
    waits("late_receiver", "MPI_Ssend", t, enter_of(ranks - 1, t));
}

int main(int count, char **arguments) {
  static const Pattern patterns[] = {
      {"own_tags", own_tags_each},     {"own_comms", own_comms_each},
      {"one_stream", one_stream},      {"workers_tags", workers_tags},
      {"workers_comms", workers_comms}, {"worker_barrier", worker_barrier},
      {"blocked_sends", blocked_sends}, {0, 0},
  };
  return run(count, arguments, patterns, MPI_THREAD_MULTIPLE);
}

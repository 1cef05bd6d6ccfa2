// One-sided operations for which a rank is late. Windows are allocated by MPI.
#include "truth.h"

static MPI_Win window = MPI_WIN_NULL;
static MPI_Group all;
static char *memory;

static int last(void) { return ranks - 1; }

static void make_window(void) {
  if (window != MPI_WIN_NULL) return;
  CALL(10, MPI_Win_allocate(64, 1, MPI_INFO_NULL, world, &memory, &window));
  MPI_Comm_group(world, &all);
}

// Frees the window after the last repetition, as MPI_Finalize must find none.
static void end_window(void) {
  waits("creation", "MPI_Win_allocate", 10, last_enter(10, 0, ranks));
  meet();
  CALL(11, MPI_Win_free(&window));
  MPI_Group_free(&all);
  meet();
  waits("creation", "MPI_Win_free", 11, last_enter(11, 0, ranks));
  meet();
}

static void fence(void) {
  make_window();
  CALL(1, MPI_Win_fence(0, window));
  meet();
  if (rank == last()) be_late();
  CALL(0, MPI_Win_fence(0, window));
  meet();
  waits("fence", "MPI_Win_fence", 0, last_enter(0, 0, ranks));
  waits("fence", "MPI_Win_fence", 1, last_enter(1, 0, ranks));
  end_window();
}

static MPI_Group group_of(int of_rank) {
  MPI_Group group;
  MPI_Group_incl(all, 1, &of_rank, &group);
  return group;
}

// Rank 0 writes into the memory of the last rank, which posts late, or has to wait for rank 0.
static void post_and_complete(int is_post_late) {
  make_window();
  MPI_Group partner = group_of(rank == 0 ? last() : 0);
  meet();
  if (rank == 0) {
    CALL(0, MPI_Win_start(partner, 0, window));
    CALL(1, MPI_Put(buffer, 8, MPI_BYTE, last(), 0, 8, MPI_BYTE, window));
    if (!is_post_late) be_late();
    CALL(2, MPI_Win_complete(window));
  } else if (rank == last()) {
    if (is_post_late) be_late();
    CALL(0, MPI_Win_post(partner, 0, window));
    CALL(3, MPI_Win_wait(window));
  }
  meet();
  const char *origin = "MPI_Win_start|MPI_Put|MPI_Win_complete";
  for (int slot = 0; rank == 0 && slot < 3; slot++)
    waits("late_post", origin, slot, enter_of(last(), 0));
  if (rank == last()) waits("late_complete", "MPI_Win_wait", 3, enter_of(0, 2));
  MPI_Group_free(&partner);
  end_window();
}

static void late_post(void) { post_and_complete(1); }
static void late_complete(void) { post_and_complete(0); }

// The last rank holds the lock of rank 0's memory while the one before wants it. Others are in a
// barrier, where they can answer.
static void lock_contention(void) {
  const char *at = "MPI_Win_lock|MPI_Put|MPI_Win_unlock";
  int wants = rank == last() - 1;
  static int held;
  make_window();
  meet();
  held++;
  if (rank == last()) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    MPI_Put(buffer, 8, MPI_BYTE, 0, 0, 8, MPI_BYTE, window);
    MPI_Win_flush(0, window);
    atomic_store(&shared->flag, held);
    be_late();
    CALL(0, MPI_Win_unlock(0, window));
  }
  if (wants) {
    while (atomic_load(&shared->flag) < held) sleep_us(50);
    CALL(1, MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window));
    CALL(2, MPI_Put(buffer, 8, MPI_BYTE, 0, 0, 8, MPI_BYTE, window));
    CALL(3, MPI_Win_unlock(0, window));
  }
  CALL(4, MPI_Barrier(world));
  meet();
  for (int slot = 1; wants && slot < 4; slot++) waits("lock", at, slot, enter_of(last(), 0));
  waits("barrier", "MPI_Barrier", 4, last_enter(4, 0, ranks));
  end_window();
}

int main(int count, char **arguments) {
  static const Pattern patterns[] = {
      {"fence", fence},
      {"late_post", late_post},
      {"late_complete", late_complete},
      {"lock_contention", lock_contention},
      {0, 0},
  };
  return run(count, arguments, patterns, MPI_THREAD_SINGLE);
}

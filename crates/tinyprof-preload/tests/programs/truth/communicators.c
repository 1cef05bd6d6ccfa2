// Ranks that are late where communicators are made, between communicators, at files, and at both
// ends of MPI.
#include "truth.h"

static MPI_Comm between = MPI_COMM_NULL;

static int last(void) { return ranks - 1; }
static int half(void) { return ranks / 2; }
static int is_second_half(void) { return rank >= half(); }

static void late(int of_rank) {
  meet();
  if (rank == of_rank) be_late();
}

static void all_wait(const char *kind, const char *at) {
  waits(kind, at, 0, last_enter(0, 0, ranks));
}

// Makes the intercommunicator of the two halves of the world.
static void make_between(void) {
  if (between != MPI_COMM_NULL) return;
  MPI_Comm mine;
  CALL(10, MPI_Comm_split(world, is_second_half(), rank, &mine));
  MPI_Intercomm_create(mine, 0, world, is_second_half() ? 0 : half(), 5, &between);
  MPI_Comm_free(&mine);
  meet();
  waits("creation", "MPI_Comm_split", 10, last_enter(10, 0, ranks));
}

static void inter_recv(void) {
  make_between();
  meet();
  if (rank == half()) be_late(), CALL(0, MPI_Send(buffer, 8, MPI_BYTE, 0, 3, between));
  if (rank == 0) CALL(0, MPI_Recv(buffer, 8, MPI_BYTE, 0, 3, between, MPI_STATUS_IGNORE));
  meet();
  if (rank == 0) waits("late_sender", "MPI_Recv", 0, enter_of(half(), 0));
}

// The standard lets a rank leave when the other half has come. The last rank is late, for whom the
// others of its half may wait, too: until they leave.
static void inter_barrier(void) {
  make_between();
  late(last());
  CALL(0, MPI_Barrier(between));
  meet();
  waits("barrier", "MPI_Barrier", 0, last_enter(0, half(), ranks));
}

static void comm_dup(void) {
  MPI_Comm made;
  late(last());
  CALL(0, MPI_Comm_dup(world, &made));
  meet();
  all_wait("creation", "MPI_Comm_dup");
  MPI_Comm_free(&made);
}

static void comm_split(void) {
  MPI_Comm made;
  late(last());
  CALL(0, MPI_Comm_split(world, rank % 2, rank, &made));
  meet();
  all_wait("creation", "MPI_Comm_split");
  MPI_Comm_free(&made);
}

static void write_all(void) {
  static MPI_File file = MPI_FILE_NULL;
  char name[4096];
  snprintf(name, sizeof name, "%s/written", directory);
  CALL(10, MPI_File_open(world, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file));
  CALL(11, MPI_File_set_view(file, 8 * rank, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  late(last());
  CALL(0, MPI_File_write_all(file, buffer, 8, MPI_BYTE, MPI_STATUS_IGNORE));
  meet();
  all_wait("file", "MPI_File_write_all");
  CALL(12, MPI_File_close(&file));
  meet();
  waits("file", "MPI_File_open", 10, last_enter(10, 0, ranks));
  waits("file", "MPI_File_set_view", 11, last_enter(11, 0, ranks));
  waits("file", "MPI_File_close", 12, last_enter(12, 0, ranks));
  meet();
}

// What is looked at is in run().
static void nothing(void) {}

int main(int count, char **arguments) {
  static const Pattern patterns[] = {
      {"inter_recv", inter_recv}, {"inter_barrier", inter_barrier},
      {"comm_dup", comm_dup},     {"comm_split", comm_split},
      {"write_all", write_all},   {"init", nothing},
      {"finalize", nothing},      {0, 0},
  };
  return run(count, arguments, patterns, MPI_THREAD_SINGLE);
}

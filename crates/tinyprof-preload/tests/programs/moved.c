// Programs with one fault each, beside those of faults.c: a rank with far more data than the others,
// and one that is late with its first call. A comment `place: NAME` marks the line that a finding of
// that fault has to name.
//
// moved NAME [STEPS]

#include "planted.h"

enum { MUCH = 6 << 20, LITTLE = 1 << 10 };

static char *mine, *all;

static int bytes_of(int of) { return of == 1 ? MUCH : LITTLE; }

// The counts and places of all ranks.
static void counts(int *count, int *at) {
  for (int of = 0, sum = 0; of < ranks; sum += count[of++]) {
    count[of] = bytes_of(of);
    at[of] = sum;
  }
}

static void much_to_all(void) {
  int sent[16], received[16], from[16], to[16];
  counts(received, to);
  for (int of = 0; of < ranks; of++) {
    sent[of] = bytes_of(rank);
    from[of] = 0;
  }
  work(0.25);
  MPI_Alltoallv(mine, sent, from, MPI_CHAR, all, received, to, MPI_CHAR, world);  // place: much_to_all
}

// The others wait for it in the barrier.
static void much_for_root(void) {
  int received[16], to[16];
  counts(received, to);
  work(0.25);
  MPI_Gatherv(mine, bytes_of(rank), MPI_CHAR, all, received, to, MPI_CHAR, 0, world);  // place: much_for_root
  MPI_Barrier(world);
}

static void much_from_root(void) {
  int sent[16], from[16];
  counts(sent, from);
  work(0.25);
  MPI_Scatterv(all, sent, from, MPI_CHAR, mine, bytes_of(rank), MPI_CHAR, 0, world);  // place: much_from_root
  MPI_Barrier(world);
}

static void much_sent(void) {
  MPI_Request r[2];
  work(0.25);
  MPI_Irecv(all, MUCH, MPI_CHAR, left(), TAG, world, &r[0]);
  MPI_Isend(mine, bytes_of(rank), MPI_CHAR, right(), TAG, world, &r[1]);  // place: much_sent
  MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
}

// Rank 2 of four takes 0.2 s before it asks which one it is, as for a file that is slow to read.
static void read_first(void) {
  work(1);
  MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, world);
}

// Its number as the launcher says it.
static int number_of_launcher(void) {
  const char *number = getenv("OMPI_COMM_WORLD_RANK");
  if (!number) number = getenv("PMI_RANK");
  return number ? atoi(number) : -1;
}

static const struct {
  const char *name;
  void (*run)(void);
} patterns[] = {
#define PATTERN(name) {#name, name}
    PATTERN(much_to_all), PATTERN(much_for_root), PATTERN(much_from_root), PATTERN(much_sent),
    PATTERN(read_first)};

int main(int count, char **arguments) {
  MPI_Init(&count, &arguments);
  if (!strcmp(arguments[1], "read_first") && number_of_launcher() == 2) work(50);
  MPI_Comm_rank(world, &rank);  // place: read_first
  MPI_Comm_size(world, &ranks);
  steps = count > 2 ? atoi(arguments[2]) : 10;
  mine = calloc(1, MUCH);
  all = calloc(1, MUCH + LITTLE * 16);
  for (int at = 0; at < (int)(sizeof patterns / sizeof *patterns); at++) {
    if (strcmp(patterns[at].name, arguments[1])) continue;
    MPI_Barrier(world);
    for (step = 0; step < steps; step++) patterns[at].run();
    MPI_Finalize();
    return 0;
  }
  return 2;
}

// What the programs of truth share: stamps in memory that the ranks share, and the waiting that
// follows from them by Scalasca's definitions: `PROGRAM PATTERN REPETITIONS EXTRA_US DIRECTORY`.
//
// A pattern is a function that runs once for each repetition. It wraps the calls of interest in
// CALL(slot, call), and then says with waits() until when this rank had to wait in a slot. Between
// repetitions ranks meet in shared memory, not in MPI, so that a program has no other calls than
// those of its pattern. Each rank writes its sums to DIRECTORY/truth-RANK, a line of JSON for each
// kind and function.
#define _GNU_SOURCE
#include <mpi.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { RANKS_MAX = 8, SLOTS = 64, SUMS = 16, LARGE = 1 << 20 };

typedef struct {
  int64_t enter, leave;
} Span;

// The stamps of a call by the program, and by how much those behind the profiler differ.
typedef struct {
  int64_t enter, leave, unsure_enter, unsure_leave;
} Call;

typedef struct {
  _Atomic int met, flag, threads_met[2];
  // Of the current repetition. Each rank writes its own, and reads others after meet().
  Call calls[RANKS_MAX][SLOTS];
} Shared;

typedef struct {
  const char *kind, *at, *for_at;
  int for_rank;
  int64_t waiting_ns, most_ns, unsure_ns;
} Sum;

typedef struct {
  const char *name;
  void (*run)(void);
} Pattern;

static Shared *shared;
static int rank, ranks, meetings;
static double extra_us;
static int64_t unsure_ns;
// The rank that last_enter() has found.
static int last_to_enter;
// The stamps of the call under way behind the profiler, of this thread: inner.c has them.
static Span *(*inner_span)(void);
static const char *directory;
static Sum sums[SUMS];
static char buffer[2 * LARGE], other[2 * LARGE];
static const MPI_Comm world = MPI_COMM_WORLD;

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

// Where inner.c is not loaded.
static Span *no_inner(void) {
  static __thread Span none;
  return &none;
}

static void sleep_us(double us) {
  struct timespec left = {(time_t)(us / 1e6), 0};
  left.tv_nsec = (long)((us - 1e6 * left.tv_sec) * 1e3);
  while (nanosleep(&left, &left)) {
  }
}

// Sleeps so long that the others wait.
static void be_late(void) { sleep_us(extra_us); }

static void begin_call(int slot) {
  Span *inner = inner_span();
  inner->enter = inner->leave = 0;
  shared->calls[rank][slot].enter = now();
}

static void end_call(int slot) {
  Call *call = &shared->calls[rank][slot];
  call->leave = now();
  Span *inner = inner_span();
  call->unsure_enter = inner->enter ? inner->enter - call->enter : 0;
  call->unsure_leave = inner->enter ? call->leave - inner->leave : 0;
}

// Runs statements, and keeps when. An expression, so that it can follow a comma.
#define CALL(slot, ...) ({ begin_call(slot); __VA_ARGS__; end_call(slot); })

// Waits until all ranks are here. They sleep meanwhile, as processors may be few.
static void meet(void) {
  int all = ++meetings * ranks;
  atomic_fetch_add(&shared->met, 1);
  while (atomic_load(&shared->met) < all) sleep_us(50);
}

// Returns when a rank entered a slot. What is unsure about that is so about the next waits(), too.
static int64_t enter_of(int of_rank, int slot) {
  const Call *call = &shared->calls[of_rank][slot];
  unsure_ns += call->unsure_enter;
  return call->enter;
}

static __attribute__((unused)) int64_t last_enter(int slot, int first_rank, int end_rank) {
  int last = first_rank;
  for (int r = first_rank; r < end_rank; r++)
    if (shared->calls[r][slot].enter > shared->calls[last][slot].enter) last = r;
  last_to_enter = last;
  return enter_of(last, slot);
}

static __attribute__((unused)) int64_t later(int64_t a, int64_t b) { return a > b ? a : b; }

// Adds that this rank waited in a slot until `until`, or until it left the call if that was before:
// for a rank, in the function `for_at` there. The names of functions are apart by `|` where the
// standard lets either wait. A send that ends before its receiver comes has not waited for it,
// though nobody can tell that from a short wait for the room that the receiver makes.
static void waits_for(const char *kind, const char *at, int slot, int64_t until, int for_rank,
                      const char *for_at) {
  Call call = shared->calls[rank][slot];
  int64_t ns = (until < call.leave ? until : call.leave) - call.enter;
  if (ns < 0) ns = 0;
  unsure_ns += call.unsure_enter;
  if (until > call.leave - call.unsure_leave) unsure_ns += call.unsure_leave;
  if (!strcmp(kind, "late_receiver") && until > call.leave) {
    unsure_ns += ns;
    ns = 0;
  }
  Sum *sum = sums;
  while (sum->kind && (strcmp(sum->kind, kind) || strcmp(sum->at, at))) sum++;
  sum->kind = kind;
  sum->for_at = for_at;
  // Another rank may have lost its processor, and come later than the one that sleeps.
  int is_same = !sum->at || sum->for_rank == for_rank;
  sum->for_rank = is_same ? for_rank : -1;
  sum->at = at;
  sum->waiting_ns += ns;
  sum->unsure_ns += unsure_ns;
  unsure_ns = 0;
  if (ns > sum->most_ns) sum->most_ns = ns;
}

// As waits_for(), where it is not said for whom.
static __attribute__((unused)) void waits(const char *kind, const char *at, int slot,
                                          int64_t until) {
  waits_for(kind, at, slot, until, -1, "");
}

// Returns the rank before MPI_Init knows it: both launchers tell it.
static int early_rank(void) {
  const char *name = getenv("PMI_RANK");
  if (!name) name = getenv("OMPI_COMM_WORLD_RANK");
  return name ? atoi(name) : 0;
}

// Maps memory that the ranks share, by a name that the directory makes unique. In no file of a
// disk: its pages are written back, and the next stamp has to wait for that.
static void share(const char *name) {
  int file = shm_open(name, O_RDWR | O_CREAT, 0600);
  if (file < 0 || ftruncate(file, sizeof(Shared))) exit(90);
  shared = mmap(0, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, 0);
  if (shared == MAP_FAILED) exit(91);
  close(file);
}

static void write_sums(void) {
  char name[4096];
  snprintf(name, sizeof name, "%s/truth-%d", directory, rank);
  FILE *file = fopen(name, "w");
  for (Sum *sum = sums; sum->kind; sum++)
    fprintf(file,
            "{\"rank\":%d,\"kind\":\"%s\",\"at\":\"%s\",\"for_rank\":%d,"
            "\"for_at\":\"%s\",\"waiting_ns\":%lld,\"most_ns\":%lld,"
            "\"unsure_ns\":%lld}\n",
            rank, sum->kind, sum->at, sum->for_rank, sum->for_at, (long long)sum->waiting_ns,
            (long long)sum->most_ns, (long long)sum->unsure_ns);
  fclose(file);
}

// Runs the pattern that the first argument names. Those of MPI's own beginning and end are here, as
// their functions have nothing to repeat.
static int run(int count, char **arguments, const Pattern *patterns, int thread_level) {
  if (count < 5) return 92;
  int repetitions = atoi(arguments[2]), provided;
  extra_us = atof(arguments[3]);
  directory = arguments[4];
  rank = early_rank();
  const char *base = strrchr(directory, '/');
  char name[256];
  snprintf(name, sizeof name, "/truth-%s", base ? base + 1 : directory);
  share(name);
  inner_span = (Span * (*)(void)) dlsym(RTLD_DEFAULT, "truth_inner");
  if (!inner_span) inner_span = no_inner;
  while (patterns->name && strcmp(patterns->name, arguments[1])) patterns++;
  if (!patterns->name) return 93;
  int is_init = !strcmp(arguments[1], "init"), is_finalize = !strcmp(arguments[1], "finalize");
  if (is_init && rank == 1) be_late();
  CALL(0, MPI_Init_thread(0, 0, thread_level, &provided));
  if (provided < thread_level) return 94;
  MPI_Comm_size(world, &ranks);
  meet();
  shm_unlink(name);
  if (is_init) waits("init", "MPI_Init_thread", 0, last_enter(0, 0, ranks));
  meet();
  for (int i = 0; i < repetitions; i++) patterns->run();
  if (is_finalize && rank == 1) be_late();
  CALL(0, MPI_Finalize());
  meet();
  if (is_finalize) waits("finalize", "MPI_Finalize", 0, last_enter(0, 0, ranks));
  write_sums();
  return 0;
}

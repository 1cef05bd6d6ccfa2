// Stamps calls behind the profiler, where they go on to MPI. Loaded before a program of truth,
// behind the profiler: what the profiler takes for the beginning and the end of a call lies between
// these stamps and those of the program. They are far apart where a rank loses its processor.
#include <stdint.h>
#include <time.h>

typedef struct {
  int64_t enter, leave;
} Span;

// The first call and the last return since the program has set it to 0.
static __thread Span inner;

Span *truth_inner(void) { return &inner; }

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

// No function has more arguments, or any that is not a word.
#define WORDS                                                                       \
  long a, long b, long c, long d, long e, long f, long g, long h, long i, long j,   \
      long k, long l
#define STAMPED(name)                                                  \
  long PMPI_##name(WORDS);                                             \
  long MPI_##name(WORDS) {                                             \
    if (!inner.enter) inner.enter = now();                             \
    long result = PMPI_##name(a, b, c, d, e, f, g, h, i, j, k, l);     \
    inner.leave = now();                                               \
    return result;                                                     \
  }

STAMPED(Send) STAMPED(Ssend) STAMPED(Bsend) STAMPED(Rsend) STAMPED(Recv) STAMPED(Mrecv)
STAMPED(Sendrecv) STAMPED(Sendrecv_replace) STAMPED(Probe) STAMPED(Mprobe) STAMPED(Irecv)
STAMPED(Wait) STAMPED(Waitall) STAMPED(Waitany) STAMPED(Waitsome) STAMPED(Test)
STAMPED(Barrier) STAMPED(Allreduce) STAMPED(Alltoall) STAMPED(Allgather) STAMPED(Reduce_scatter)
STAMPED(Bcast) STAMPED(Scatter) STAMPED(Reduce) STAMPED(Gather) STAMPED(Scan) STAMPED(Exscan)
STAMPED(Ibarrier) STAMPED(Iallreduce) STAMPED(Ibcast) STAMPED(Neighbor_alltoall)
STAMPED(Comm_dup) STAMPED(Comm_split) STAMPED(File_write_all) STAMPED(Put)
STAMPED(Win_fence) STAMPED(Win_start) STAMPED(Win_complete) STAMPED(Win_post) STAMPED(Win_wait)
STAMPED(Win_lock) STAMPED(Win_unlock)

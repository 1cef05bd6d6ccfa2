// Random programs whose messages name their sender: `payload FIRST_SEED SEEDS DIRECTORY`.
//
// All ranks draw the same list of messages, and do what concerns them in its order, so that no
// program can hang: a receive that takes any source has as many messages to choose from as there
// are receives like it, and what is sent to those does not block. Each message holds its sender and
// the number of its call site, which its size tells, too. Each rank writes what it has received to
// DIRECTORY/received-RANK: sender, site, number of messages.
#include "complete.h"
#include <stdio.h>
#include <unistd.h>

enum { RANKS_MAX = 8, ROUNDS = 12, MESSAGES_MAX = 64, STREAMS = 6 };
enum { SITES = 13, BYTES_MAX = 16 << SITES };
// How a stream is received: by source and tag, from any source, with any tag, or by receives that
// are posted ahead, some of which take any source.
enum { EXACT, ANY_SOURCE, ANY_TAG, MIXED, KINDS };
enum { RECV, PROBE, MPROBE, IPROBE, IMPROBE, IRECV, IRECV_AND_WAIT, HOWS };

typedef struct {
  int from, to, stream, site, blocks, how, is_exact;
} Message;

typedef struct {
  int from, site;
} Payload;

static int rank, ranks, kinds[STREAMS], base_tag, open_count;
static MPI_Comm comms[STREAMS];
static MPI_Request requests[REQUESTS_MAX];
static char into[REQUESTS_MAX][BYTES_MAX], out[REQUESTS_MAX][BYTES_MAX];
static long received[RANKS_MAX][SITES];

static int size_of(int site) { return 16 << site; }

static void count_one(const char *bytes) {
  const Payload *payload = (const Payload *)bytes;
  received[payload->from][payload->site]++;
}

// A call site for each number, and for blocking calls and others: what is matched wrongly comes
// from a site whose size it does not have.
#define SITE(n)                                                                         \
  static void __attribute__((noinline)) site_##n(void *b, int to, int tag, MPI_Comm c,  \
                                                 int blocks, MPI_Request *r) {          \
    if (blocks == 1) MPI_Send(b, size_of(n), MPI_BYTE, to, tag, c);                     \
    if (blocks == 2) MPI_Ssend(b, size_of(n), MPI_BYTE, to, tag, c);                    \
    if (blocks == 3) MPI_Issend(b, size_of(n), MPI_BYTE, to, tag, c, r);                \
    if (blocks == 0) MPI_Isend(b, size_of(n), MPI_BYTE, to, tag, c, r);                 \
  }
SITE(0) SITE(1) SITE(2) SITE(3) SITE(4) SITE(5) SITE(6)
SITE(7) SITE(8) SITE(9) SITE(10) SITE(11) SITE(12)
static void (*const sends[SITES])(void *, int, int, MPI_Comm, int, MPI_Request *) = {
    site_0, site_1, site_2, site_3, site_4, site_5, site_6, site_7, site_8, site_9, site_10, site_11,
    site_12};

static void send(const Message *message) {
  int at = open_count;
  *(Payload *)out[at] = (Payload){rank, message->site};
  // A synchronous send that does not block, for half of those that must not.
  int blocks = kinds[message->stream] == EXACT ? message->blocks : message->blocks / 2 * 3;
  sends[message->site](out[at], message->to, base_tag + message->stream, comms[message->stream],
                       blocks, &requests[at]);
  // The place of a receive names its payload, that of a send nothing.
  if (blocks == 0 || blocks == 3) ((Payload *)into[at])->from = -1, open_count++;
}

static void receive(const Message *message, int source, int tag) {
  MPI_Comm comm = comms[message->stream];
  MPI_Status status;
  MPI_Message matched;
  char *bytes = into[open_count];
  int flag = 0;
  switch (message->how) {
    case RECV:
      MPI_Recv(bytes, BYTES_MAX, MPI_BYTE, source, tag, comm, &status);
      break;
    case PROBE:
      MPI_Probe(source, tag, comm, &status);
      MPI_Recv(bytes, BYTES_MAX, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, comm, &status);
      break;
    case MPROBE:
      MPI_Mprobe(source, tag, comm, &matched, &status);
      MPI_Mrecv(bytes, BYTES_MAX, MPI_BYTE, &matched, &status);
      break;
    case IPROBE:
      while (MPI_Iprobe(source, tag, comm, &flag, &status), !flag) usleep(10);
      MPI_Recv(bytes, BYTES_MAX, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, comm, &status);
      break;
    case IMPROBE:
      while (MPI_Improbe(source, tag, comm, &flag, &matched, &status), !flag) usleep(10);
      MPI_Mrecv(bytes, BYTES_MAX, MPI_BYTE, &matched, &status);
      break;
    case IRECV_AND_WAIT:
      MPI_Irecv(bytes, BYTES_MAX, MPI_BYTE, source, tag, comm, &requests[open_count]);
      MPI_Wait(&requests[open_count], &status);
      break;
    default:
      MPI_Irecv(bytes, BYTES_MAX, MPI_BYTE, source, tag, comm, &requests[open_count++]);
      return;
  }
  count_one(bytes);
}

static void receive_in_turn(const Message *message) {
  int kind = kinds[message->stream], tag = base_tag + message->stream;
  if (kind == MIXED) return;
  int source = kind == EXACT || (kind == ANY_TAG && message->is_exact) ? message->from
                                                                         : MPI_ANY_SOURCE;
  receive(message, source, kind == ANY_TAG ? MPI_ANY_TAG : tag);
}

// Posts receives for the messages of mixed streams: those of one source first, as they would
// otherwise miss what others take.
static void receive_ahead(const Message *messages, int count) {
  for (int is_exact = 1; is_exact >= 0; is_exact--)
    for (const Message *m = messages; m < messages + count; m++)
      if (m->to == rank && kinds[m->stream] == MIXED && m->is_exact == is_exact) {
        Message ahead = *m;
        ahead.how = IRECV;
        receive(&ahead, is_exact ? m->from : MPI_ANY_SOURCE, base_tag + m->stream);
      }
}

static void run_round(unsigned *plan, unsigned *own) {
  Message messages[MESSAGES_MAX];
  int count = 6 + rand_r(plan) % (MESSAGES_MAX - 6), streams = 1 + rand_r(plan) % STREAMS;
  base_tag = STREAMS * (rand_r(plan) % 100);
  open_count = 0;
  // What takes any tag, or one source in some receives only, has a communicator to itself.
  for (int s = 0; s < STREAMS; s++) kinds[s] = s == 0 ? ANY_TAG : s == 1 ? MIXED : rand_r(plan) % 2;
  // All draw the same for a stream and a receiver that take one source of some messages.
  int is_exact = rand_r(plan) % 2;
  for (int m = 0; m < count; m++) {
    int from = rand_r(plan) % ranks;
    int to = (from + 1 + rand_r(plan) % (ranks - 1)) % ranks;
    messages[m] = (Message){from, to, rand_r(plan) % streams, rand_r(plan) % SITES,
                            rand_r(plan) % 4, rand_r(plan) % HOWS, 0};
    messages[m].is_exact = messages[m].stream == 0 ? is_exact : rand_r(plan) % 2;
  }
  receive_ahead(messages, count);
  for (int m = 0; m < count; m++) {
    if (rand_r(own) % 8 == 0) usleep(rand_r(own) % 200);
    if (messages[m].from == rank) send(&messages[m]);
    if (messages[m].to == rank) receive_in_turn(&messages[m]);
  }
  if (open_count) complete(requests, open_count, own);
  for (int r = 0; r < open_count; r++)
    if (((Payload *)into[r])->from >= 0) count_one(into[r]);
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int count, char **arguments) {
  MPI_Init(&count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm all[3] = {MPI_COMM_WORLD};
  for (int c = 1; c < 3; c++) MPI_Comm_dup(MPI_COMM_WORLD, &all[c]);
  for (int s = 0; s < STREAMS; s++) comms[s] = all[s == 0 ? 1 : s % 2 ? 0 : 2];
  int first = atoi(arguments[1]), seeds = atoi(arguments[2]);
  for (int seed = first; seed < first + seeds; seed++) {
    unsigned plan = seed, own = 1000 * seed + rank;
    for (int round = 0; round < ROUNDS; round++) run_round(&plan, &own);
  }
  char name[4096];
  snprintf(name, sizeof name, "%s/received-%d", arguments[3], rank);
  FILE *file = fopen(name, "w");
  for (int from = 0; from < ranks; from++)
    for (int site = 0; site < SITES; site++)
      fprintf(file, "%d %d %ld\n", from, site, received[from][site]);
  fclose(file);
  for (int c = 1; c < 3; c++) MPI_Comm_free(&all[c]);
  MPI_Finalize();
  return 0;
}

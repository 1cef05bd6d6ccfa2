// Receives whose sender is late. Rank 0 receives, the last rank sends.
#include "truth.h"

enum { TAG = 3, RECEIVES = 3 };

static int is_sender(void) { return rank == ranks - 1; }
static int sender(void) { return ranks - 1; }

static void send(int slot, int tag) { CALL(slot, MPI_Send(buffer, 8, MPI_BYTE, 0, tag, world)); }

// Sends late if this is the sender, and says that slot 0 of rank 0 has waited.
#define LATE_SENDER(at, receive)                                                    \
  do {                                                                              \
    meet();                                                                         \
    if (is_sender()) be_late(), send(0, TAG);                                       \
    if (rank == 0) {                                                                \
      receive;                                                                      \
    }                                                                               \
    meet();                                                                         \
    if (rank == 0)                                                                  \
      waits_for("late_sender", at, 0, enter_of(sender(), 0), sender(), "MPI_Send"); \
  } while (0)

#define EIGHT buffer, 8, MPI_BYTE
static MPI_Status status;
static MPI_Request request, requests[RECEIVES];

static void recv_plain(void) {
  LATE_SENDER("MPI_Recv", CALL(0, MPI_Recv(EIGHT, sender(), TAG, world, &status)));
}

static void recv_any_source(void) {
  LATE_SENDER("MPI_Recv", CALL(0, MPI_Recv(EIGHT, MPI_ANY_SOURCE, TAG, world, &status)));
}

static void recv_any_tag(void) {
  LATE_SENDER("MPI_Recv", CALL(0, MPI_Recv(EIGHT, sender(), MPI_ANY_TAG, world, &status)));
}

static void irecv_wait(void) {
  LATE_SENDER("MPI_Wait", {
    MPI_Irecv(EIGHT, sender(), TAG, world, &request);
    CALL(0, MPI_Wait(&request, &status));
  });
}

static void persistent_wait(void) {
  LATE_SENDER("MPI_Wait", {
    MPI_Recv_init(EIGHT, sender(), TAG, world, &request);
    MPI_Start(&request);
    CALL(0, MPI_Wait(&request, &status));
    MPI_Request_free(&request);
  });
}

static void probe_recv(void) {
  LATE_SENDER("MPI_Probe", {
    CALL(0, MPI_Probe(sender(), TAG, world, &status));
    MPI_Recv(EIGHT, sender(), TAG, world, &status);
  });
}

static void probe_any_recv(void) {
  LATE_SENDER("MPI_Probe", {
    CALL(0, MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, world, &status));
    MPI_Recv(EIGHT, status.MPI_SOURCE, status.MPI_TAG, world, &status);
  });
}

static void mprobe_mrecv(void) {
  MPI_Message message;
  LATE_SENDER("MPI_Mprobe", {
    CALL(0, MPI_Mprobe(sender(), TAG, world, &message, &status));
    MPI_Mrecv(EIGHT, &message, &status);
  });
}

// Nobody waits in a call where the program asks again and again.
static void iprobe_recv(void) {
  int flag = 0;
  LATE_SENDER("MPI_Recv", {
    while (MPI_Iprobe(sender(), TAG, world, &flag, &status), !flag) sleep_us(100);
    CALL(0, MPI_Recv(EIGHT, sender(), TAG, world, &status));
  });
}

static void test_loop(void) {
  int flag = 0;
  LATE_SENDER("MPI_Test", {
    MPI_Irecv(EIGHT, sender(), TAG, world, &request);
    do {
      sleep_us(100);
      CALL(0, MPI_Test(&request, &flag, &status));
    } while (!flag);
  });
}

// The message that comes last is not the last one of the array.
static void irecv_waitall(void) {
  meet();
  if (is_sender()) {
    be_late(), send(0, 0), be_late(), send(2, 2), be_late(), send(1, 1);
  } else if (rank == 0) {
    for (int i = 0; i < RECEIVES; i++) MPI_Irecv(EIGHT, sender(), i, world, &requests[i]);
    CALL(0, MPI_Waitall(RECEIVES, requests, MPI_STATUSES_IGNORE));
  }
  meet();
  if (rank == 0) waits("late_sender", "MPI_Waitall", 0, enter_of(sender(), 1));
}

static void waitany(void) {
  static int tags[RECEIVES];
  meet();
  if (is_sender()) {
    for (int i = RECEIVES - 1; i >= 0; i--) be_late(), send(i, i);
  } else if (rank == 0) {
    for (int i = 0; i < RECEIVES; i++) MPI_Irecv(EIGHT, sender(), i, world, &requests[i]);
    for (int i = 0; i < RECEIVES; i++)
      CALL(i, MPI_Waitany(RECEIVES, requests, &tags[i], &status));
  }
  meet();
  for (int i = 0; rank == 0 && i < RECEIVES; i++)
    waits("late_sender", "MPI_Waitany", i, enter_of(sender(), tags[i]));
}

// A call ends with the first message, whatever else it completes.
static void waitsome(void) {
  int calls = 0, count, tags[RECEIVES];
  static int firsts[RECEIVES];
  meet();
  if (is_sender()) {
    for (int i = RECEIVES - 1; i >= 0; i--) be_late(), send(i, i);
  } else if (rank == 0) {
    for (int i = 0; i < RECEIVES; i++) MPI_Irecv(EIGHT, sender(), i, world, &requests[i]);
    for (int left = RECEIVES; left > 0; left -= count, calls++) {
      CALL(calls, MPI_Waitsome(RECEIVES, requests, &count, tags, MPI_STATUSES_IGNORE));
      firsts[calls] = 0;
      // The highest tag was sent first.
      for (int i = 0; i < count; i++)
        if (tags[i] > firsts[calls]) firsts[calls] = tags[i];
    }
  }
  meet();
  for (int i = 0; i < calls; i++)
    waits("late_sender", "MPI_Waitsome", i, enter_of(sender(), firsts[i]));
}

// Both send and receive, and the last rank is late.
static void sendrecv_both(const char *at, int replaces) {
  int partner = rank == 0 ? sender() : 0;
  meet();
  if (is_sender()) be_late();
  if ((rank == 0 || is_sender()) && !replaces)
    CALL(0, MPI_Sendrecv(EIGHT, partner, TAG, other, 8, MPI_BYTE, partner, TAG, world, &status));
  if ((rank == 0 || is_sender()) && replaces)
    CALL(0, MPI_Sendrecv_replace(EIGHT, partner, TAG, partner, TAG, world, &status));
  meet();
  if (rank == 0) waits_for("late_sender", at, 0, enter_of(sender(), 0), sender(), at);
}

static void sendrecv(void) { sendrecv_both("MPI_Sendrecv", 0); }
static void sendrecv_replace(void) { sendrecv_both("MPI_Sendrecv_replace", 1); }

// The second message was there before the first one.
static void wrong_order(void) {
  meet();
  if (is_sender()) send(1, 1), be_late(), send(0, 0);
  if (rank == 0) {
    CALL(0, MPI_Recv(EIGHT, sender(), 0, world, &status));
    CALL(1, MPI_Recv(EIGHT, sender(), 1, world, &status));
  }
  meet();
  if (rank != 0) return;
  waits("late_sender", "MPI_Recv", 0, enter_of(sender(), 0));
  waits("late_sender", "MPI_Recv", 1, enter_of(sender(), 1));
  waits("late_sender_wrong_order", "MPI_Recv", 0, enter_of(sender(), 0));
}

int main(int count, char **arguments) {
  static const Pattern patterns[] = {
      {"recv", recv_plain},
      {"recv_any_source", recv_any_source},
      {"recv_any_tag", recv_any_tag},
      {"irecv_wait", irecv_wait},
      {"irecv_waitall", irecv_waitall},
      {"waitany", waitany},
      {"waitsome", waitsome},
      {"test_loop", test_loop},
      {"sendrecv", sendrecv},
      {"sendrecv_replace", sendrecv_replace},
      {"persistent", persistent_wait},
      {"probe_recv", probe_recv},
      {"probe_any_recv", probe_any_recv},
      {"mprobe_mrecv", mprobe_mrecv},
      {"iprobe_recv", iprobe_recv},
      {"wrong_order", wrong_order},
      {0, 0},
  };
  return run(count, arguments, patterns, MPI_THREAD_SINGLE);
}

// Sends whose receiver is late. Rank 0 sends, the last rank receives. How long a sender is blocked
// is its MPI's affair: the time in its own call is the most that it can have waited.
#include "truth.h"

enum { TAG = 3, SENDS = 2, SMALL = 8, MANY = 50 };

static int is_receiver(void) { return rank == ranks - 1; }
static int receiver(void) { return ranks - 1; }
static MPI_Request request, requests[SENDS];

static void receive(int slot, int bytes, int tag) {
  CALL(slot, MPI_Recv(other, bytes, MPI_BYTE, 0, tag, world, MPI_STATUS_IGNORE));
}

// Receives late if this is the receiver, and says how long slot 0 of rank 0 was blocked. A sender
// that has lost its processor can be the later one.
#define LATE_RECEIVER(at, bytes, send)                                                    \
  do {                                                                                    \
    meet();                                                                               \
    if (rank == 0) {                                                                      \
      send;                                                                               \
    }                                                                                     \
    if (is_receiver()) be_late(), receive(0, bytes, TAG);                                 \
    meet();                                                                               \
    if (rank == 0)                                                                        \
      waits_for("late_receiver", at, 0, enter_of(receiver(), 0), receiver(), "MPI_Recv"); \
    if (is_receiver())                                                                    \
      waits("late_sender", "MPI_Recv", 0, enter_of(0, 0));                                \
  } while (0)

#define OF(bytes) buffer, bytes, MPI_BYTE, receiver(), TAG, world

static void ssend(void) { LATE_RECEIVER("MPI_Ssend", SMALL, CALL(0, MPI_Ssend(OF(SMALL)))); }
static void send_large(void) { LATE_RECEIVER("MPI_Send", LARGE, CALL(0, MPI_Send(OF(LARGE)))); }
static void send_small(void) { LATE_RECEIVER("MPI_Send", SMALL, CALL(0, MPI_Send(OF(SMALL)))); }

// Sizes at which it depends on settings whether a sender is blocked.
static void send_2k(void) { LATE_RECEIVER("MPI_Send", 2048, CALL(0, MPI_Send(OF(2048)))); }
static void send_12k(void) { LATE_RECEIVER("MPI_Send", 12288, CALL(0, MPI_Send(OF(12288)))); }
static void send_100k(void) { LATE_RECEIVER("MPI_Send", 102400, CALL(0, MPI_Send(OF(102400)))); }

static void isend_wait(void) {
  LATE_RECEIVER("MPI_Isend|MPI_Wait", LARGE, {
    MPI_Isend(OF(LARGE), &request);
    CALL(0, MPI_Wait(&request, MPI_STATUS_IGNORE));
  });
}

static void issend_wait(void) {
  LATE_RECEIVER("MPI_Issend|MPI_Wait", SMALL, {
    MPI_Issend(OF(SMALL), &request);
    CALL(0, MPI_Wait(&request, MPI_STATUS_IGNORE));
  });
}

static void persistent_send(void) {
  LATE_RECEIVER("MPI_Start|MPI_Wait", SMALL, {
    MPI_Ssend_init(OF(SMALL), &request);
    MPI_Start(&request);
    CALL(0, MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI_Request_free(&request);
  });
}

// It ends with the last of its sends.
static void waitall_sends(void) {
  meet();
  if (rank == 0) {
    for (int i = 0; i < SENDS; i++)
      MPI_Isend(buffer, LARGE, MPI_BYTE, receiver(), i, world, &requests[i]);
    CALL(0, MPI_Waitall(SENDS, requests, MPI_STATUSES_IGNORE));
  } else if (is_receiver()) {
    for (int i = 0; i < SENDS; i++) be_late(), receive(i, LARGE, i);
  }
  meet();
  if (rank == 0)
    waits("late_receiver", "MPI_Isend|MPI_Waitall", 0, enter_of(receiver(), SENDS - 1));
}

// What rank 0 receives was sent before, so that only its send waits.
static void sendrecv_late_receive(void) {
  meet();
  if (is_receiver()) {
    MPI_Send(buffer, SMALL, MPI_BYTE, 0, TAG, world);
    be_late();
    receive(0, LARGE, TAG);
  } else if (rank == 0) {
    sleep_us(2000);
    CALL(0, MPI_Sendrecv(buffer, LARGE, MPI_BYTE, receiver(), TAG, other, SMALL, MPI_BYTE,
                         receiver(), TAG, world, MPI_STATUS_IGNORE));
  }
  meet();
  if (rank == 0) waits("late_receiver", "MPI_Sendrecv", 0, enter_of(receiver(), 0));
  if (is_receiver()) waits("late_sender", "MPI_Recv", 0, enter_of(0, 0));
}

// Only giving back the buffer waits, which is no send.
static void bsend(void) {
  static char space[LARGE + 4096];
  int bytes;
  void *back;
  MPI_Buffer_attach(space, sizeof space);
  meet();
  if (rank == 0) CALL(0, MPI_Bsend(OF(LARGE)));
  if (is_receiver()) be_late(), receive(0, LARGE, TAG);
  MPI_Buffer_detach(&back, &bytes);
  meet();
  if (rank == 0) waits("late_receiver", "MPI_Bsend", 0, 0);
}

// The receiver is there before, as a ready send needs.
static void rsend(void) {
  meet();
  if (is_receiver()) MPI_Irecv(other, SMALL, MPI_BYTE, 0, TAG, world, &request);
  meet();
  if (rank == 0) be_late(), CALL(0, MPI_Rsend(OF(SMALL)));
  if (is_receiver()) CALL(0, MPI_Wait(&request, MPI_STATUS_IGNORE));
  meet();
  if (rank == 0) waits("late_receiver", "MPI_Rsend", 0, 0);
  if (is_receiver()) waits("late_sender", "MPI_Wait", 0, enter_of(0, 0));
}

// Many messages on their way to one that comes late, until there is no more room for them.
static void many_small(void) {
  meet();
  if (is_receiver()) be_late();
  for (int i = 0; i < MANY; i++) {
    if (rank == 0) CALL(i, MPI_Send(OF(2048)));
    if (is_receiver()) receive(i, 2048, TAG);
  }
  meet();
  for (int i = 0; i < MANY; i++) {
    if (rank == 0) waits("late_receiver", "MPI_Send", i, enter_of(receiver(), 0));
    if (is_receiver()) waits("late_sender", "MPI_Recv", i, enter_of(0, i));
  }
}

// The receive is posted late by MPI_Irecv, and completed later still.
static void ssend_late_irecv(void) {
  meet();
  if (rank == 0) CALL(0, MPI_Ssend(OF(SMALL)));
  if (is_receiver()) {
    be_late();
    CALL(0, MPI_Irecv(other, SMALL, MPI_BYTE, 0, TAG, world, &request));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  meet();
  if (rank != 0) return;
  waits_for("late_receiver", "MPI_Ssend", 0, enter_of(receiver(), 0), receiver(), "MPI_Irecv");
}

// The receive is there before the message is sent, but its rank computes then. MPI may move the
// message nevertheless, or store it, or wait until the receiver is in MPI.
#define ABSENT_RECEIVER(at, bytes, send)                                                   \
  do {                                                                                     \
    meet();                                                                                \
    if (is_receiver()) MPI_Irecv(other, bytes, MPI_BYTE, 0, TAG, world, &request);         \
    meet();                                                                                \
    if (rank == 0) {                                                                       \
      sleep_us(1000);                                                                      \
      send;                                                                                \
    }                                                                                      \
    if (is_receiver()) be_late(), CALL(0, MPI_Wait(&request, MPI_STATUS_IGNORE));          \
    meet();                                                                                \
    if (rank == 0)                                                                         \
      waits_for("late_receiver", at, 0, enter_of(receiver(), 0), receiver(), "MPI_Wait");  \
    if (is_receiver()) waits("late_sender", "MPI_Wait", 0, enter_of(0, 0));                \
  } while (0)

#define ISEND_WAIT(bytes)                           \
  do {                                              \
    MPI_Isend(OF(bytes), &request);                 \
    CALL(0, MPI_Wait(&request, MPI_STATUS_IGNORE)); \
  } while (0)

static void absent_ssend(void) { ABSENT_RECEIVER("MPI_Ssend", SMALL, CALL(0, MPI_Ssend(OF(SMALL)))); }
static void absent_2k(void) { ABSENT_RECEIVER("MPI_Send", 2048, CALL(0, MPI_Send(OF(2048)))); }
static void absent_12k(void) { ABSENT_RECEIVER("MPI_Send", 12288, CALL(0, MPI_Send(OF(12288)))); }
static void absent_large(void) { ABSENT_RECEIVER("MPI_Send", LARGE, CALL(0, MPI_Send(OF(LARGE)))); }
static void absent_isend_500(void) { ABSENT_RECEIVER("MPI_Isend|MPI_Wait", 500, ISEND_WAIT(500)); }
static void absent_isend_2k(void) { ABSENT_RECEIVER("MPI_Isend|MPI_Wait", 2048, ISEND_WAIT(2048)); }
static void absent_isend(void) { ABSENT_RECEIVER("MPI_Isend|MPI_Wait", LARGE, ISEND_WAIT(LARGE)); }

// What rank 0 receives was sent before, so that only its send waits.
static void absent_sendrecv(void) {
  ABSENT_RECEIVER("MPI_Sendrecv", LARGE,
                  CALL(0, MPI_Sendrecv(buffer, LARGE, MPI_BYTE, receiver(), TAG, other, 0, MPI_BYTE,
                                       MPI_PROC_NULL, TAG, world, MPI_STATUS_IGNORE)));
}

// It comes to MPI with another call, computes again, and then completes the receive.
static void absent_twice(void) {
  int is_complete;
  MPI_Request own = MPI_REQUEST_NULL;
  meet();
  if (is_receiver()) MPI_Irecv(other, LARGE, MPI_BYTE, 0, TAG, world, &request);
  meet();
  if (rank == 0) {
    sleep_us(1000);
    ISEND_WAIT(LARGE);
  }
  if (is_receiver()) {
    be_late();
    MPI_Irecv(buffer, SMALL, MPI_BYTE, rank, TAG, world, &own);
    CALL(0, do MPI_Test(&request, &is_complete, MPI_STATUS_IGNORE); while (!is_complete));
    be_late();
    MPI_Send(other, SMALL, MPI_BYTE, rank, TAG, world);
    MPI_Wait(&own, MPI_STATUS_IGNORE);
  }
  meet();
  if (rank == 0) waits("late_receiver", "MPI_Isend|MPI_Wait", 0, enter_of(receiver(), 0));
}

int main(int count, char **arguments) {
  static const Pattern patterns[] = {
      {"ssend", ssend},
      {"ssend_late_irecv", ssend_late_irecv},
      {"send_large", send_large},
      {"send_small", send_small},
      {"send_2k", send_2k},
      {"send_12k", send_12k},
      {"send_100k", send_100k},
      {"many_small", many_small},
      {"isend_wait", isend_wait},
      {"issend_wait", issend_wait},
      {"persistent_send", persistent_send},
      {"waitall_sends", waitall_sends},
      {"sendrecv_late_receive", sendrecv_late_receive},
      {"bsend", bsend},
      {"rsend", rsend},
      {"absent_ssend", absent_ssend},
      {"absent_2k", absent_2k},
      {"absent_12k", absent_12k},
      {"absent_large", absent_large},
      {"absent_isend_500", absent_isend_500},
      {"absent_isend_2k", absent_isend_2k},
      {"absent_isend", absent_isend},
      {"absent_sendrecv", absent_sendrecv},
      {"absent_twice", absent_twice},
      {0, 0},
  };
  return run(count, arguments, patterns, MPI_THREAD_SINGLE);
}

// Calls that send one message, receive one, or wait for one, each in all its forms: they are made
// most often, and have the shortest way through the library.
#define RANKS 2
#include "case.h"

static void say_status(const char *of, int value, MPI_Status *status) {
    int count = -1;
    MPI_Get_count(status, MPI_INT, &count);
    say("%s: %d from %d tag %d count %d", of, value, status->MPI_SOURCE, status->MPI_TAG, count);
}

// A call that returns a single status leaves the field of its error alone.
CASE(fields_of_a_status) {
    int value = rank, got = -1;
    MPI_Request request;
    MPI_Status status;
    for (int time = 0; time < 3; time++) {
        status.MPI_ERROR = 4711;
        MPI_Isend(&value, 1, MPI_INT, 1 - rank, time, MPI_COMM_WORLD, &request);
        MPI_Recv(&got, 1, MPI_INT, time ? MPI_ANY_SOURCE : 1 - rank, MPI_ANY_TAG, MPI_COMM_WORLD,
                 &status);
        say_status("Recv", got, &status);
        say("error of Recv %d", status.MPI_ERROR);
        status.MPI_ERROR = 4712;
        MPI_Wait(&request, &status);
        say("error of Wait %d, null %d", status.MPI_ERROR, request == MPI_REQUEST_NULL);
    }
}

// Sizes around those at which the library and MPI do something else.
CASE(sizes) {
    static char sent[300000], got[300000];
    static const int sizes[] = {0, 1, 1023, 1024, 1025, 4096, 4097, 16384, 16385, 65537, 300000};
    MPI_Request request;
    MPI_Status status;
    for (int i = 0; i < (int)(sizeof sizes / sizeof *sizes); i++) {
        int bytes = sizes[i], count = -1;
        memset(sent, i + 1, bytes);
        // Blocking on one side, with a request on the other.
        if (rank == 0) {
            MPI_Send(sent, bytes, MPI_CHAR, 1, i, MPI_COMM_WORLD);
            MPI_Irecv(got, sizeof got, MPI_BYTE, 1, i, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, &status);
        } else {
            MPI_Recv(got, sizeof got, MPI_CHAR, 0, i, MPI_COMM_WORLD, &status);
            MPI_Isend(sent, bytes, MPI_BYTE, 0, i, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        MPI_Get_count(&status, MPI_CHAR, &count);
        check(count == bytes && (!bytes || !memcmp(sent, got, bytes)));
        // To itself.
        MPI_Isend(sent, bytes, MPI_CHAR, rank, i, MPI_COMM_WORLD, &request);
        MPI_Recv(got, sizeof got, MPI_CHAR, rank, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        say("%d bytes of %d", count, bytes);
    }
}

// One place in the program sends and receives all of these.
static void exchange(int to, int from, int tag, int count, MPI_Datatype type, MPI_Comm comm) {
    int values[8] = {1, 2, 3, 4, 5, 6, 7, 8}, got[8] = {0};
    MPI_Request request;
    MPI_Status status;
    MPI_Isend(values, count, type, to, tag, comm, &request);
    MPI_Recv(got, 8, MPI_INT, from, tag, comm, &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    say_status("got", got[0] + 10 * got[1] + 100 * got[2], &status);
}

CASE(one_place_for_all) {
    MPI_Comm made;
    for (int time = 0; time < 3; time++) {
        MPI_Datatype type;
        exchange(1 - rank, 1 - rank, 1, 3, MPI_INT, MPI_COMM_WORLD);
        exchange(MPI_PROC_NULL, MPI_PROC_NULL, 1, 3, MPI_INT, MPI_COMM_WORLD);
        exchange(rank, rank, 2, 1, MPI_INT, MPI_COMM_WORLD);
        exchange(0, MPI_ANY_SOURCE, 2, 2, MPI_INT, MPI_COMM_SELF);
        exchange(1 - rank, MPI_ANY_SOURCE, 3, 0, MPI_INT, MPI_COMM_WORLD);
        // Types and communicators of other sizes each time, which may have the same handles.
        MPI_Type_vector(2, 1, time + 1, MPI_INT, &type);
        MPI_Type_commit(&type);
        exchange(1 - rank, 1 - rank, 4, 1, type, MPI_COMM_WORLD);
        exchange(1 - rank, 1 - rank, 4, time % 2, type, MPI_COMM_WORLD);
        MPI_Type_free(&type);
        MPI_Type_contiguous(time + 1, MPI_INT, &type);
        MPI_Type_commit(&type);
        exchange(1 - rank, 1 - rank, 4, 1, type, MPI_COMM_WORLD);
        MPI_Type_free(&type);
        MPI_Comm_split(MPI_COMM_WORLD, time % 2 ? rank : 0, time ? rank : -rank, &made);
        int members, own;
        MPI_Comm_size(made, &members);
        MPI_Comm_rank(made, &own);
        exchange(members - 1 - own, MPI_ANY_SOURCE, 5, 2, MPI_INT, made);
        MPI_Comm_free(&made);
    }
}

// What goes wrong leaves nothing behind: the next message is the right one.
CASE(after_errors) {
    int values[4] = {rank, 1, 2, 3}, got[4] = {0}, codes[5];
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int time = 0; time < 3; time++) {
        codes[0] = MPI_Send(values, 1, MPI_INT, size, 1, MPI_COMM_WORLD);
        codes[1] = MPI_Send(values, -1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD);
        codes[2] = MPI_Send(values, 1, MPI_INT, 1 - rank, -7, MPI_COMM_WORLD);
        codes[3] = MPI_Recv(got, 1, MPI_INT, size + 3, 1, MPI_COMM_WORLD, &status);
        codes[4] = MPI_Isend(values, 1, MPI_DATATYPE_NULL, 1 - rank, 1, MPI_COMM_WORLD, &request);
        for (int i = 0; i < 5; i++) say("class %d", class_of(codes[i]));
        // Too long, with a status and without one.
        MPI_Isend(values, 4, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, &request);
        codes[0] = MPI_Recv(got, 2, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD,
                            time ? &status : MPI_STATUS_IGNORE);
        say("truncated %d", class_of(codes[0]) == MPI_ERR_TRUNCATE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Isend(values, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, &request);
        MPI_Recv(got, 4, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        say_status("after that", got[0], &status);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

// Requests of sends and receives that have the same handles one after another.
CASE(requests_of_all_kinds_in_turn) {
    static int large[2][5000];
    int value = -1, got = -1;
    MPI_Request request, other;
    MPI_Status status;
    MPI_Send_init(&rank, 1, MPI_INT, 1 - rank, 3, MPI_COMM_WORLD, &other);
    for (int time = 0; time < 50; time++) {
        int count = time % 3 == 0 ? 1 : time % 3 == 1 ? 500 : 5000;
        large[0][0] = 100 * rank + time;
        MPI_Wait(&other, &status);
        check(other != MPI_REQUEST_NULL && status.MPI_TAG == MPI_ANY_TAG);
        MPI_Irecv(large[1], 5000, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, &request);
        MPI_Send(large[0], count, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD);
        MPI_Wait(&request, &status);
        say_status("sent", large[1][0], &status);
        MPI_Wait(&request, &status);
        check(status.MPI_SOURCE == MPI_ANY_SOURCE);
        // Freed while it is active: its handle may be that of the next one.
        MPI_Isend(&large[0][0], count, MPI_INT, 1 - rank, 2, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
        MPI_Irecv(large[1], 5000, MPI_INT, 1 - rank, 2, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, &status);
        say_status("freed", large[1][0], &status);
        MPI_Irecv(&value, 1, MPI_INT, MPI_PROC_NULL, 2, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Irecv(&got, 1, MPI_INT, 1 - rank, 3, MPI_COMM_WORLD, &request);
        MPI_Start(&other);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        check(got == 1 - rank);
        // Its buffer belongs to MPI until all have what was sent from there.
        MPI_Wait(&other, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Request_free(&other);
}

// More messages than any place that the library has for what goes beside them.
CASE(many_before_the_first_is_received) {
    int got = -1, next = 0;
    MPI_Status status;
    MPI_Request request;
    if (rank == 0)
        for (int i = 0; i < 20000; i++) {
            MPI_Isend(&i, 1, MPI_INT, 1, i % 2, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        for (int i = 0; i < 20000; i++) {
            MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, i % 2, MPI_COMM_WORLD, &status);
            next += got == i;
        }
    say("%d in order", next);
}

static int copied(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag) {
    int value = 5, got = -1;
    MPI_Request request;
    (void)comm, (void)key, (void)in, (void)out;
    MPI_Isend(&value, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &request);
    MPI_Recv(&got, 1, MPI_INT, 0, 9, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    *(int *)extra += got;
    *flag = 0;
    return MPI_SUCCESS;
}

static int handled;

static void handler(MPI_Comm *comm, int *code, ...) {
    int value = 7, got = -1;
    MPI_Request request;
    (void)comm, (void)code;
    MPI_Isend(&value, 1, MPI_INT, 0, 8, MPI_COMM_SELF, &request);
    MPI_Recv(&got, 1, MPI_INT, 0, 8, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    handled += got;
}

static int queried(void *extra, MPI_Status *status) {
    handler(0, 0);
    MPI_Status_set_elements(status, MPI_INT, 3);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = status->MPI_TAG = 2;
    return MPI_SUCCESS;
}
static int freed(void *extra) { return MPI_SUCCESS; }
static int cancelled(void *extra, int complete) { return MPI_SUCCESS; }

// Messages that the program's own functions send, which MPI calls: beside those of the calls that
// are under way, on the same communicator.
CASE(within_functions_of_the_program) {
    int key, sum = 0, value = 1, got = -1;
    MPI_Comm made;
    MPI_Errhandler errors;
    MPI_Request request, mine;
    MPI_Status status;
    MPI_Comm_create_keyval(copied, MPI_COMM_NULL_DELETE_FN, &key, &sum);
    MPI_Comm_create_errhandler(handler, &errors);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, &sum);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, errors);
    for (int time = 0; time < 3; time++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &made);
        MPI_Send(&value, 1, MPI_INT, size, 1, MPI_COMM_WORLD);
        MPI_Recv(&value, 1, MPI_INT, size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Isend(&time, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &mine);
        MPI_Grequest_start(queried, freed, cancelled, 0, &request);
        MPI_Grequest_complete(request);
        MPI_Wait(&request, &status);
        say_status("generalised", handled, &status);
        MPI_Recv(&got, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &status);
        MPI_Wait(&mine, MPI_STATUS_IGNORE);
        say_status("own", got, &status);
        exchange(1 - rank, 1 - rank, 4, 2, MPI_INT, made);
        MPI_Comm_free(&made);
    }
    say("%d copied, %d handled", sum, handled);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    MPI_Comm_free_keyval(&key);
    MPI_Errhandler_free(&errors);
}

// The recording is paused and resumed between the calls of a message.
CASE(paused_between) {
    int got = -1;
    MPI_Request request;
    for (int time = 0; time < 20; time++) {
        int value = 10 * time + rank;
        MPI_Pcontrol(time % 3 != 0);
        MPI_Isend(&value, 1, MPI_INT, 1 - rank, time, MPI_COMM_WORLD, &request);
        MPI_Pcontrol(time % 2);
        MPI_Recv(&got, 1, MPI_INT, 1 - rank, time, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Pcontrol(time % 5 != 0);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        say("%d", got);
    }
    MPI_Pcontrol(1);
}

// Functions of MPI 4 that take counts of MPI_Count.
CASE(large_counts) {
#if MPI_VERSION < 4
    SKIP("this MPI has no functions for large counts");
#else
    int values[4] = {rank, 10 + rank, 20 + rank, 30 + rank}, got[8] = {0}, sum[4];
    MPI_Count counts[2] = {1, 3}, received = -1;
    MPI_Aint places[2] = {0, 4};
    MPI_Request request, again;
    MPI_Status status;
    for (int time = 0; time < 3; time++) {
        MPI_Count count = time % 2 ? 1000000000000 : 2;
        // A large count to nobody is a count all the same.
        MPI_Send_c(values, count, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
        MPI_Isend_c(values, 3, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, &request);
        MPI_Recv_c(got, 8, MPI_INT, time ? MPI_ANY_SOURCE : 1 - rank, 1, MPI_COMM_WORLD, &status);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Get_count_c(&status, MPI_INT, &received);
        say_status("Recv_c", got[2], &status);
        say("count %d", (int)received);
        MPI_Irecv_c(got, 8, MPI_INT, 1 - rank, 2, MPI_COMM_WORLD, &request);
        MPI_Send_c(values, 4, MPI_INT, 1 - rank, 2, MPI_COMM_WORLD);
        MPI_Wait(&request, &status);
        say_status("Irecv_c", got[3], &status);
        MPI_Isendrecv(values, 2, MPI_INT, 1 - rank, 3, got, 8, MPI_INT, 1 - rank, 3, MPI_COMM_WORLD,
                      &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Sendrecv_c(values, 1, MPI_INT, 1 - rank, 4, got + 2, 6, MPI_INT, 1 - rank, 4,
                       MPI_COMM_WORLD, &status);
        say_status("exchanged", got[1] + 100 * got[2], &status);
        MPI_Send_init_c(values, 2, MPI_INT, 1 - rank, 5, MPI_COMM_WORLD, &again);
        MPI_Start(&again);
        MPI_Recv_c(got, 8, MPI_INT, 1 - rank, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&again, MPI_STATUS_IGNORE);
        MPI_Request_free(&again);
        MPI_Allreduce_c(values, sum, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Allgatherv_c(values, counts[rank], MPI_INT, got, counts, places, MPI_INT,
                         MPI_COMM_WORLD);
        MPI_Bcast_c(values, 4, MPI_INT, time % 2, MPI_COMM_WORLD);
        say("%d %d %d %d %d", sum[0], sum[3], got[0], got[4], values[1]);
        for (int i = 0; i < 4; i++) values[i] = 10 * i + rank;
    }
#endif
}

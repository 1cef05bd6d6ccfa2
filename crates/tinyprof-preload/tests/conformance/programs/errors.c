// Errors that MPI returns, and the error handlers that it calls: the class is the same with the
// library, and no query of its own calls the program's handler.
#define RANKS 2
#include "case.h"

static int handled, code_seen;
static void count_call(MPI_Comm *of, int *code, ...) {
    handled++;
    code_seen = *code;
    (void)of;
}
static void count_win(MPI_Win *of, int *code, ...) {
    handled++;
    (void)of, (void)code;
}
static void count_file(MPI_File *of, int *code, ...) {
    handled++;
    (void)of, (void)code;
}

static MPI_Errhandler counting;
static int value[4];
static MPI_Comm invalid;

// Sets the handler on the world, and makes a handle of nothing.
static void begin(void) {
    MPI_Comm_create_errhandler(count_call, &counting);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, counting);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, counting);
    invalid = MPI_COMM_NULL;
    handled = 0;
}

static void end(void) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&counting);
    say("%d calls of the handler", handled);
}

// Says the class that a call returns, and how often the handler was called.
#define TRY(call) \
    do { \
        int before = handled, code = call; \
        say("%.40s: class %d, handled %d", #call, class_of(code), handled - before); \
    } while (0)

CASE(messages) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    MPI_Message message;
    int flag;
    begin();
    TRY(MPI_Send(value, 1, MPI_INT, 2, 0, MPI_COMM_WORLD));
    TRY(MPI_Send(value, 1, MPI_INT, -7, 0, MPI_COMM_WORLD));
    TRY(MPI_Send(value, 1, MPI_INT, 0, -8, MPI_COMM_WORLD));
    TRY(MPI_Send(value, -1, MPI_INT, 0, 0, MPI_COMM_WORLD));
    TRY(MPI_Send(value, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD));
    TRY(MPI_Send(value, 1, MPI_INT, 0, 0, MPI_COMM_NULL));
    TRY(MPI_Isend(value, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, &request));
    TRY(MPI_Isend(value, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD, &request));
    TRY(MPI_Isend(value, 1, MPI_INT, 0, 0, MPI_COMM_NULL, &request));
    TRY(MPI_Recv(value, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, &status));
    TRY(MPI_Recv(value, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    TRY(MPI_Recv(value, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD, &status));
    TRY(MPI_Recv(value, 1, MPI_INT, 0, 0, MPI_COMM_NULL, &status));
    TRY(MPI_Irecv(value, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, &request));
    TRY(MPI_Irecv(value, 1, MPI_INT, 0, 0, MPI_COMM_NULL, &request));
    TRY(MPI_Probe(2, 0, MPI_COMM_WORLD, &status));
    TRY(MPI_Iprobe(2, 0, MPI_COMM_WORLD, &flag, &status));
    TRY(MPI_Mprobe(2, 0, MPI_COMM_WORLD, &message, &status));
    TRY(MPI_Sendrecv(value, 1, MPI_INT, 2, 0, value + 1, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, &status));
    TRY(MPI_Sendrecv_replace(value, 1, MPI_INT, 2, 0, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    TRY(MPI_Send_init(value, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, &request));
    TRY(MPI_Recv_init(value, 1, MPI_INT, 0, 0, MPI_COMM_NULL, &request));
    request = MPI_REQUEST_NULL;
    TRY(MPI_Start(&request));
    TRY(MPI_Cancel(&request));
    TRY(MPI_Request_free(&request));
    end();
}

CASE(truncation) {
    MPI_Request requests[2];
    MPI_Status status, statuses[2];
    int from = 1 - rank, is_truncated;
    begin();
    MPI_Isend(value, 4, MPI_INT, from, 0, MPI_COMM_WORLD, &requests[0]);
    int code = MPI_Recv(value, 1, MPI_INT, from, 0, MPI_COMM_WORLD, &status);
    say("Recv: truncated %d, source %d", class_of(code) == MPI_ERR_TRUNCATE, status.MPI_SOURCE);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Isend(value, 4, MPI_INT, from, 0, MPI_COMM_WORLD, &requests[0]);
    code = MPI_Recv(value, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    say("ignored: truncated %d", class_of(code) == MPI_ERR_TRUNCATE);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    for (int i = 0; i < 2; i++) {
        MPI_Irecv(value, 1, MPI_INT, from, i, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(value + 1, 1, MPI_INT, from, 2 + i, MPI_COMM_WORLD, &requests[1]);
        MPI_Send(value, 4, MPI_INT, from, i, MPI_COMM_WORLD);
        MPI_Send(value, 1, MPI_INT, from, 2 + i, MPI_COMM_WORLD);
        code = MPI_Waitall(2, requests, i ? MPI_STATUSES_IGNORE : statuses);
        is_truncated = i || class_of(statuses[0].MPI_ERROR) == MPI_ERR_TRUNCATE;
        say("Waitall: class %d, truncated %d", class_of(code), is_truncated);
        // It may have come by then, or not.
        int other = i ? MPI_SUCCESS : class_of(statuses[1].MPI_ERROR);
        say("the other: fine %d", other == MPI_SUCCESS || other == MPI_ERR_PENDING);
    }
    MPI_Irecv(value, 1, MPI_INT, from, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Send(value, 4, MPI_INT, from, 0, MPI_COMM_WORLD);
    code = MPI_Wait(&requests[0], &status);
    say("Wait: truncated %d", class_of(code) == MPI_ERR_TRUNCATE);
    end();
}

CASE(error_fields_of_statuses) {
    // Functions that complete one request leave the field as it is.
    MPI_Status status;
    MPI_Request request;
    status.MPI_ERROR = 4711;
    MPI_Sendrecv(&rank, 1, MPI_INT, 1 - rank, 0, value, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD,
                 &status);
    say_number("Sendrecv %d", status.MPI_ERROR);
    status.MPI_ERROR = 4711;
    MPI_Irecv(value, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &request);
    MPI_Send(&rank, 1, MPI_INT, rank, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, &status);
    say("Wait %d", status.MPI_ERROR);
}

CASE(collectives) {
    MPI_Request request = MPI_REQUEST_NULL;
    int counts[2] = {1, 1};
    begin();
    TRY(MPI_Barrier(MPI_COMM_NULL));
    TRY(MPI_Bcast(value, 1, MPI_INT, 5, MPI_COMM_WORLD));
    TRY(MPI_Bcast(value, 1, MPI_INT, 0, MPI_COMM_NULL));
    TRY(MPI_Bcast(value, 1, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD));
    TRY(MPI_Reduce(&rank, value, 1, MPI_INT, MPI_OP_NULL, 0, MPI_COMM_WORLD));
    TRY(MPI_Reduce(&rank, value, 1, MPI_INT, MPI_SUM, -9, MPI_COMM_WORLD));
    TRY(MPI_Allreduce(&rank, value, 1, MPI_DATATYPE_NULL, MPI_SUM, MPI_COMM_WORLD));
    TRY(MPI_Allreduce(&rank, value, 1, MPI_INT, MPI_SUM, MPI_COMM_NULL));
    TRY(MPI_Gather(&rank, 1, MPI_INT, value, 1, MPI_INT, 9, MPI_COMM_WORLD));
    TRY(MPI_Allgather(&rank, 1, MPI_INT, value, 1, MPI_DATATYPE_NULL, MPI_COMM_WORLD));
    TRY(MPI_Alltoall(&rank, 1, MPI_INT, value, 1, MPI_INT, MPI_COMM_NULL));
    TRY(MPI_Allgatherv(&rank, 1, MPI_INT, value, counts, counts, MPI_INT, MPI_COMM_NULL));
    TRY(MPI_Reduce_scatter_block(&rank, value, 1, MPI_INT, MPI_SUM, MPI_COMM_NULL));
    TRY(MPI_Ibcast(value, 1, MPI_INT, 0, MPI_COMM_NULL, &request));
    TRY(MPI_Iallreduce(&rank, value, 1, MPI_DATATYPE_NULL, MPI_SUM, MPI_COMM_WORLD, &request));
    TRY(MPI_Neighbor_allgather(&rank, 1, MPI_INT, value, 1, MPI_INT, MPI_COMM_WORLD));
    end();
}

CASE(communicators) {
    MPI_Comm made;
    MPI_Group group = MPI_GROUP_NULL;
    int number = 5, flag, dims[1] = {100}, periods[1] = {0};
    begin();
    TRY(MPI_Comm_rank(MPI_COMM_NULL, &number));
    TRY(MPI_Comm_size(MPI_COMM_NULL, &number));
    TRY(MPI_Comm_dup(MPI_COMM_NULL, &made));
    TRY(MPI_Comm_split(MPI_COMM_WORLD, -5, 0, &made));
    TRY(MPI_Comm_create(MPI_COMM_WORLD, group, &made));
    TRY(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &made));
    TRY(MPI_Cart_coords(MPI_COMM_WORLD, 0, 1, dims));
    TRY(MPI_Topo_test(MPI_COMM_NULL, &number));
    TRY(MPI_Comm_remote_size(MPI_COMM_WORLD, &number));
    TRY(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_KEYVAL_INVALID, &made, &flag));
    made = MPI_COMM_NULL;
    TRY(MPI_Comm_free(&made));
    TRY(MPI_Comm_disconnect(&made));
    end();
}

CASE(datatypes) {
    MPI_Datatype made = MPI_DATATYPE_NULL;
    int number;
    begin();
    TRY(MPI_Type_free(&made));
    TRY(MPI_Type_size(MPI_DATATYPE_NULL, &number));
    TRY(MPI_Type_contiguous(-1, MPI_INT, &made));
    made = MPI_INT;
    TRY(MPI_Type_free(&made));
    end();
}

CASE(windows_and_files) {
    MPI_Win window;
    MPI_File file;
    MPI_Errhandler of_window, of_file;
    begin();
    MPI_Win_create_errhandler(count_win, &of_window);
    MPI_Win_create(value, sizeof value, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_set_errhandler(window, of_window);
    MPI_Win_fence(0, window);
    TRY(MPI_Put(&rank, 1, MPI_INT, 7, 0, 1, MPI_INT, window));
    TRY(MPI_Put(&rank, 1, MPI_DATATYPE_NULL, 0, 0, 1, MPI_INT, window));
    TRY(MPI_Get(&rank, 1, MPI_DATATYPE_NULL, 0, 0, 1, MPI_INT, window));
    TRY(MPI_Accumulate(&rank, 1, MPI_DATATYPE_NULL, 0, 0, 1, MPI_INT, MPI_SUM, window));
    TRY(MPI_Get_accumulate(&rank, 1, MPI_DATATYPE_NULL, value, 1, MPI_DATATYPE_NULL, 0, 0, 1,
                           MPI_DATATYPE_NULL, MPI_SUM, window));
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
    MPI_Errhandler_free(&of_window);
    MPI_File_create_errhandler(count_file, &of_file);
    MPI_File_set_errhandler(MPI_FILE_NULL, of_file);
    TRY(MPI_File_open(MPI_COMM_SELF, "/nonexistent/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&of_file);
    TRY(MPI_File_open(MPI_COMM_SELF, "/nonexistent/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    end();
}

CASE(handlers_are_called_by_the_program) {
    MPI_Errhandler got;
    MPI_Comm duplicate;
    int added_class, added_code;
    char text[MPI_MAX_ERROR_STRING];
    begin();
    MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER);
    // A duplicate has its parent's handler.
    MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
    MPI_Comm_get_errhandler(duplicate, &got);
    say("inherited %d, handled %d", got == counting, handled);
    MPI_Errhandler_free(&got);
    TRY(MPI_Send(value, 1, MPI_INT, 99, 0, duplicate));
    MPI_Comm_free(&duplicate);
    MPI_Add_error_class(&added_class);
    MPI_Add_error_code(added_class, &added_code);
    MPI_Add_error_string(added_code, "one of ours");
    int length;
    MPI_Error_string(added_code, text, &length);
    say("class %d: %s", added_class, text);
    MPI_Comm_call_errhandler(MPI_COMM_WORLD, added_code);
    check(code_seen == added_code);
    end();
}

ALONE(fatal_send, 2) {
    initialise();
    if (rank == 1) MPI_Send(value, 1, MPI_INT, 55, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

ALONE(fatal_in_duplicate, 1) {
    MPI_Comm duplicate;
    initialise();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
    MPI_Comm_set_errhandler(duplicate, MPI_ERRORS_ARE_FATAL);
    TRY(MPI_Send(value, 1, MPI_INT, 55, 0, MPI_COMM_WORLD));
    MPI_Send(value, 1, MPI_INT, 55, 0, duplicate);
}

// Datatypes, groups, operations, keyvals, infos, error handlers, windows and requests that are
// freed before what uses them is done (MPI 4.0, section 2.5.1: a freed object lives until then).
#define RANKS 2
#include "case.h"

static MPI_Datatype strided(void) {
    MPI_Datatype made;
    MPI_Type_vector(3, 1, 2, MPI_INT, &made);
    MPI_Type_commit(&made);
    return made;
}

CASE(datatype_freed_before_completion) {
    int in[6] = {0}, out[6] = {1, 0, 2, 0, 3, 0}, count, elements;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Datatype made = strided(), again;
    MPI_Irecv(in, 1, made, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Isend(out, 1, made, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Type_free(&made);
    check(made == MPI_DATATYPE_NULL);
    // The next type may get the handle.
    MPI_Type_contiguous(5, MPI_DOUBLE, &again);
    MPI_Type_commit(&again);
    MPI_Waitall(2, requests, statuses);
    MPI_Get_count(&statuses[0], MPI_INT, &count);
    MPI_Get_elements(&statuses[0], MPI_INT, &elements);
    say("%d %d %d, count %d elements %d", in[0], in[2], in[4], count, elements);
    MPI_Type_free(&again);
}

CASE(datatype_freed_after_init) {
    int in[6] = {0}, out[6] = {1 + rank, 0, 2, 0, 3, 0};
    MPI_Request requests[2];
    MPI_Datatype made = strided();
    MPI_Recv_init(in, 1, made, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(out, 1, made, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Type_free(&made);
    for (int i = 0; i < 2; i++) {
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        say("%d %d %d", in[0], in[2], in[4]);
    }
    for (int i = 0; i < 2; i++) MPI_Request_free(&requests[i]);
}

CASE(datatype_that_another_is_made_of) {
    int sum, in[8] = {0};
    MPI_Datatype base = strided(), made, again;
    MPI_Type_contiguous(1, base, &made);
    MPI_Type_free(&base);
    MPI_Type_dup(made, &again);
    MPI_Type_free(&made);
    MPI_Type_commit(&again);
    for (int i = 0; i < 6; i++) in[i] = rank + i;
    MPI_Bcast(in, 1, again, 0, MPI_COMM_WORLD);
    for (int i = sum = 0; i < 6; i++) sum += in[i];
    MPI_Type_size(again, &in[0]);
    say("sum %d size %d", sum, in[0]);
    MPI_Type_free(&again);
}

CASE(sizes_of_types_that_share_a_handle) {
    // One type after another, of which each probably gets the handle of the one before.
    double data[64] = {0};
    for (int i = 1; i <= 32; i++) {
        MPI_Datatype made;
        int count = -1;
        MPI_Status status;
        MPI_Type_contiguous(i, MPI_DOUBLE, &made);
        MPI_Type_commit(&made);
        MPI_Sendrecv(data, 1, made, 1 - rank, i, data + 32, 1, made, 1 - rank, i, MPI_COMM_WORLD,
                     &status);
        MPI_Get_count(&status, MPI_DOUBLE, &count);
        check(count == i);
        MPI_Type_free(&made);
    }
    say("done");
}

CASE(collective_with_freed_type_and_operation) {
    int in[6] = {1, 9, 2, 9, 3, 9}, out[12] = {0};
    MPI_Request request;
    MPI_Datatype made = strided();
    MPI_Iallgather(in, 1, made, out, 3, MPI_INT, MPI_COMM_WORLD, &request);
    MPI_Type_free(&made);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    say("%d %d %d %d", out[0], out[1], out[2], out[5]);
}

static int calls_of_operation;
static void add(void *in, void *inout, int *length, MPI_Datatype *type) {
    calls_of_operation++;
    for (int i = 0; i < *length; i++) ((int *)inout)[i] += ((int *)in)[i];
    (void)type;
}

CASE(operation_freed_before_completion) {
    int sum = 0, value = rank + 1;
    MPI_Op made;
    MPI_Request request;
    MPI_Op_create(add, 1, &made);
    MPI_Iallreduce(&value, &sum, 1, MPI_INT, made, MPI_COMM_WORLD, &request);
    MPI_Op_free(&made);
    check(made == MPI_OP_NULL);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    say("sum %d, %d calls", sum, calls_of_operation);
    MPI_Op_create(add, 0, &made);
    MPI_Allreduce(&value, &sum, 1, MPI_INT, made, MPI_COMM_WORLD);
    MPI_Op_free(&made);
    say("sum %d, %d calls", sum, calls_of_operation);
}

CASE(group_freed_after_its_communicator_was_made) {
    int members[1] = {1}, new_rank = -5, result;
    MPI_Group all, one, again;
    MPI_Comm made;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, members, &one);
    MPI_Group_free(&all);
    MPI_Comm_create(MPI_COMM_WORLD, one, &made);
    if (made != MPI_COMM_NULL) {
        MPI_Comm_group(made, &again);
        MPI_Group_compare(one, again, &result);
        MPI_Group_free(&again);
        MPI_Comm_rank(made, &new_rank);
        say("compare %d rank %d", result == MPI_IDENT, new_rank);
        MPI_Comm_free(&made);
    }
    MPI_Group_free(&one);
    check(one == MPI_GROUP_NULL);
    if (rank == 1) {
        MPI_Comm_group(MPI_COMM_SELF, &one);
        MPI_Comm_create_group(MPI_COMM_SELF, one, 3, &made);
        MPI_Group_free(&one);
        MPI_Comm_rank(made, &new_rank);
        say("rank %d", new_rank);
        MPI_Comm_free(&made);
    }
}

CASE(info_freed_after_use) {
    MPI_Info made, used;
    MPI_Comm duplicate;
    int keys;
    MPI_Info_create(&made);
    MPI_Info_set(made, "unknown_key", "value");
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, made, &duplicate);
    MPI_Info_free(&made);
    MPI_Comm_get_info(duplicate, &used);
    MPI_Info_get_nkeys(used, &keys);
    say_number("%d keys", keys);
    MPI_Info_free(&used);
    MPI_Comm_free(&duplicate);
}

static int errors_seen;
static void count_error(MPI_Comm *of, int *code, ...) {
    errors_seen++;
    (void)of, (void)code;
}

CASE(error_handler_freed_while_set) {
    int value = 0;
    MPI_Errhandler made, got;
    MPI_Comm duplicate;
    MPI_Comm_create_errhandler(count_error, &made);
    MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
    MPI_Comm_set_errhandler(duplicate, made);
    MPI_Errhandler_free(&made);
    check(made == MPI_ERRHANDLER_NULL);
    int class = class_of(MPI_Send(&value, 1, MPI_INT, 77, 0, duplicate));
    say("class %d, seen %d", class, errors_seen);
    MPI_Comm_get_errhandler(duplicate, &got);
    MPI_Comm_free(&duplicate);
    MPI_Errhandler_free(&got);
}

CASE(window_and_what_it_is_made_of) {
    int memory[4] = {0}, value[2] = {10 + rank, 20 + rank};
    MPI_Comm duplicate;
    MPI_Win window;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
    MPI_Win_create(memory, sizeof memory, sizeof(int), info, duplicate, &window);
    MPI_Comm_free(&duplicate);
    MPI_Info_free(&info);
    MPI_Datatype made;
    MPI_Type_contiguous(2, MPI_INT, &made);
    MPI_Type_commit(&made);
    MPI_Win_fence(0, window);
    MPI_Put(value, 1, made, 1 - rank, 1, 1, made, window);
    MPI_Type_free(&made);
    MPI_Win_fence(0, window);
    say("%d %d %d %d", memory[0], memory[1], memory[2], memory[3]);
    MPI_Win_free(&window);
    check(window == MPI_WIN_NULL);
}

CASE(file_and_what_it_is_made_of) {
    int values[3] = {rank, rank + 10, rank + 20}, back[3] = {0}, count;
    char name[64] = "conformance-XXXXXX";
    MPI_Comm duplicate;
    MPI_File file;
    MPI_Request request;
    MPI_Status status;
    MPI_Datatype made = strided();
    if (rank == 0) close(mkstemp(name));
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
    MPI_File_open(duplicate, name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
    MPI_Comm_free(&duplicate);
    MPI_File_set_view(file, rank * sizeof(int), MPI_INT, made, "native", MPI_INFO_NULL);
    MPI_Type_free(&made);
    MPI_File_write_all(file, values, 3, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Type_contiguous(3, MPI_INT, &made);
    MPI_Type_commit(&made);
    MPI_File_iread_at(file, 0, back, 1, made, &request);
    MPI_Type_free(&made);
    MPI_Wait(&request, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    say("%d %d %d, count %d", back[0], back[1], back[2], count);
    MPI_File_close(&file);
    check(file == MPI_FILE_NULL);
}

CASE(active_requests_freed) {
    static int sent, received, received_large[50000], sent_large[50000];
    MPI_Request request, send;
    sent = 5 + rank, sent_large[49999] = 6 + rank;
    // A receive whose request is freed completes all the same; a later message tells when.
    MPI_Irecv(&received, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    check(request == MPI_REQUEST_NULL);
    MPI_Irecv(received_large, 50000, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, &request);
    MPI_Isend(&sent, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &send);
    MPI_Request_free(&send);
    MPI_Isend(sent_large, 50000, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, &send);
    MPI_Request_free(&send);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    say("%d %d", received, received_large[49999]);
}

CASE(active_persistent_requests_freed) {
    static int sent, received;
    MPI_Request requests[2];
    sent = 8 + rank;
    MPI_Recv_init(&received, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(&sent, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Startall(2, requests);
    MPI_Request_free(&requests[1]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    say("%d", received);
    MPI_Request_free(&requests[0]);
    MPI_Send_init(&sent, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Request_free(&requests[1]);
    check(requests[1] == MPI_REQUEST_NULL);
}

static int freed_states;
static int query(void *state, MPI_Status *status) {
    MPI_Status_set_elements(status, MPI_INT, *(int *)state);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = 3, status->MPI_TAG = 4;
    return MPI_SUCCESS;
}
static int free_state(void *state) {
    (void)state;
    freed_states++;
    return MPI_SUCCESS;
}
static int cancel(void *state, int complete) {
    say("cancel, complete %d", complete);
    (void)state;
    return MPI_SUCCESS;
}

CASE(generalised_requests) {
    int state = 7, count = -1, flag = 0;
    MPI_Status status;
    MPI_Request request, others[2];
    MPI_Grequest_start(query, free_state, cancel, &state, &request);
    MPI_Test(&request, &flag, &status);
    check(!flag);
    MPI_Grequest_complete(request);
    MPI_Wait(&request, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    say("count %d source %d tag %d, freed %d", count, status.MPI_SOURCE, status.MPI_TAG, freed_states);
    MPI_Grequest_start(query, free_state, cancel, &state, &request);
    MPI_Cancel(&request);
    others[0] = request;
    MPI_Grequest_complete(request);
    MPI_Request_free(&request);
    say("freed %d", freed_states);
    // Beside a receive.
    MPI_Grequest_start(query, free_state, cancel, &state, &others[0]);
    MPI_Irecv(&state, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &others[1]);
    count = 9;
    MPI_Send(&count, 1, MPI_INT, rank, 0, MPI_COMM_WORLD);
    MPI_Grequest_complete(others[0]);
    MPI_Waitall(2, others, MPI_STATUSES_IGNORE);
    say("state %d, freed %d", state, freed_states);
}

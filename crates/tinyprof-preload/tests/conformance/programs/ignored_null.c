// Null processes, zero counts, null buffers, empty arrays, ignored statuses and unused arguments.
#define RANKS 2
#include "case.h"

static int value;

CASE(null_process) {
    MPI_Status status;
    MPI_Request request;
    MPI_Message message;
    int flag = -1, count = -1;
    MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    MPI_Ssend(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    MPI_Rsend(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 7, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    say("Recv: source %d tag %d count %d", status.MPI_SOURCE == MPI_PROC_NULL,
        status.MPI_TAG == MPI_ANY_TAG, count);
    MPI_Recv(&value, 5, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Probe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    say("Probe: source %d count %d", status.MPI_SOURCE == MPI_PROC_NULL, count);
    MPI_Iprobe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &flag, &status);
    say("Iprobe: flag %d source %d", flag, status.MPI_SOURCE == MPI_PROC_NULL);
    MPI_Mprobe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &message, &status);
    say("Mprobe: no process %d", message == MPI_MESSAGE_NO_PROC);
    MPI_Mrecv(&value, 1, MPI_INT, &message, &status);
    say("Mrecv: source %d null %d", status.MPI_SOURCE == MPI_PROC_NULL, message == MPI_MESSAGE_NULL);
    MPI_Improbe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
    MPI_Imrecv(&value, 1, MPI_INT, &message, &request);
    MPI_Wait(&request, &status);
    say("Imrecv: flag %d source %d null %d", flag, status.MPI_SOURCE == MPI_PROC_NULL,
        message == MPI_MESSAGE_NULL);
    MPI_Irecv(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, &status);
    say("Irecv: source %d", status.MPI_SOURCE == MPI_PROC_NULL);
    MPI_Isend(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    MPI_Sendrecv(&rank, 1, MPI_INT, MPI_PROC_NULL, 1, &value, 1, MPI_INT, MPI_PROC_NULL, 1,
                 MPI_COMM_WORLD, &status);
    say("Sendrecv: source %d", status.MPI_SOURCE == MPI_PROC_NULL);
    value = rank;
    MPI_Sendrecv_replace(&value, 1, MPI_INT, rank ? 0 : MPI_PROC_NULL, 1, rank ? MPI_PROC_NULL : 1, 1,
                         MPI_COMM_WORLD, &status);
    say("Sendrecv_replace: source %d value %d", status.MPI_SOURCE == MPI_PROC_NULL, value);
}

CASE(null_process_of_persistent_requests) {
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Recv_init(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < 2; i++) {
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, statuses);
        say("source %d", statuses[0].MPI_SOURCE == MPI_PROC_NULL);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

CASE(empty_messages) {
    MPI_Status status;
    MPI_Request requests[2];
    int count = -1;
    MPI_Sendrecv(0, 0, MPI_INT, 1 - rank, 3, 0, 0, MPI_DOUBLE, 1 - rank, 3, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    say("Sendrecv: count %d source %d", count, status.MPI_SOURCE);
    MPI_Irecv(0, 0, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(0, 0, MPI_BYTE, 1 - rank, 4, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Datatype empty;
    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_commit(&empty);
    MPI_Sendrecv(0, 5, empty, 1 - rank, 3, 0, 5, empty, 1 - rank, 3, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    say("empty type: count %d", count);
    MPI_Type_free(&empty);
}

CASE(empty_collectives) {
    int none[2] = {0, 0};
    MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    MPI_Bcast(0, 0, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Gather(0, 0, MPI_INT, 0, 0, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Gatherv(0, 0, MPI_INT, 0, none, none, MPI_INT, 1, MPI_COMM_WORLD);
    MPI_Scatter(0, 0, MPI_INT, 0, 0, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Scatterv(0, none, none, MPI_INT, 0, 0, MPI_INT, 1, MPI_COMM_WORLD);
    MPI_Allgather(0, 0, MPI_INT, 0, 0, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoall(0, 0, MPI_INT, 0, 0, MPI_INT, MPI_COMM_WORLD);
    // For the others, MPICH rejects two null buffers, which alias.
    MPI_Alltoallv(&rank, none, none, MPI_INT, 0, none, none, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoallw(&rank, none, none, types, 0, none, none, types, MPI_COMM_WORLD);
    MPI_Allreduce(&rank, &value, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce(&rank, &value, 0, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Scan(&rank, &value, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce_scatter(&rank, &value, none, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    say("done");
}

// With zero counts, the types of MPI_Alltoallw are still those of the standard's predefined ones,
// but a rank that exchanges nothing with another may give any type.
CASE(sparse_alltoallw) {
    int to[2] = {0}, from[2] = {0}, places[2] = {0}, in[2] = {1, 2}, out[2] = {0};
    MPI_Datatype types[2] = {MPI_CHAR, MPI_CHAR};
    to[rank] = from[rank] = 2;
    types[rank] = MPI_INT;
    MPI_Alltoallw(in, to, places, types, out, from, places, types, MPI_COMM_WORLD);
    say("%d %d", out[0], out[1]);
}

CASE(empty_arrays_of_requests) {
    int index = -5, flag = -5, count = -5, indices[1];
    MPI_Status status;
    MPI_Waitall(0, 0, 0);
    MPI_Waitall(0, 0, MPI_STATUSES_IGNORE);
    MPI_Waitany(0, 0, &index, &status);
    say("Waitany: undefined %d", index == MPI_UNDEFINED);
    MPI_Waitsome(0, 0, &count, 0, 0);
    say("Waitsome: undefined %d", count == MPI_UNDEFINED);
    MPI_Testall(0, 0, &flag, 0);
    say("Testall: %d", flag);
    MPI_Testany(0, 0, &index, &flag, MPI_STATUS_IGNORE);
    say("Testany: %d undefined %d", flag, index == MPI_UNDEFINED);
    MPI_Testsome(0, 0, &count, indices, MPI_STATUSES_IGNORE);
    say("Testsome: undefined %d", count == MPI_UNDEFINED);
    MPI_Request none = MPI_REQUEST_NULL;
    MPI_Startall(0, &none);
}

CASE(null_requests) {
    int index = -5, flag = -5, count = -5, indices[3], got = -1;
    MPI_Status status, statuses[3];
    MPI_Request none = MPI_REQUEST_NULL, all[3] = {none, none, none};
    MPI_Wait(&none, &status);
    MPI_Get_count(&status, MPI_INT, &got);
    say("Wait: any source %d any tag %d count %d", status.MPI_SOURCE == MPI_ANY_SOURCE,
        status.MPI_TAG == MPI_ANY_TAG, got);
    MPI_Wait(&none, MPI_STATUS_IGNORE);
    MPI_Test(&none, &flag, &status);
    say("Test: %d any source %d", flag, status.MPI_SOURCE == MPI_ANY_SOURCE);
    MPI_Waitall(3, all, statuses);
    say("Waitall: any source %d", statuses[2].MPI_SOURCE == MPI_ANY_SOURCE);
    MPI_Waitany(3, all, &index, MPI_STATUS_IGNORE);
    MPI_Waitsome(3, all, &count, indices, MPI_STATUSES_IGNORE);
    say("Waitany, Waitsome: undefined %d %d", index == MPI_UNDEFINED, count == MPI_UNDEFINED);
    MPI_Testall(3, all, &flag, MPI_STATUSES_IGNORE);
    MPI_Testany(3, all, &index, &got, &status);
    say("Testall, Testany: %d %d undefined %d", flag, got, index == MPI_UNDEFINED);
    MPI_Request_get_status(none, &flag, &status);
    say("Request_get_status: %d any source %d", flag, status.MPI_SOURCE == MPI_ANY_SOURCE);
    // Null requests between others.
    MPI_Irecv(&value, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &all[1]);
    MPI_Send(&rank, 1, MPI_INT, rank, 0, MPI_COMM_WORLD);
    MPI_Waitsome(3, all, &count, indices, statuses);
    say("Waitsome: %d at %d of %d value %d", count, indices[0], statuses[0].MPI_SOURCE, value);
}

CASE(inactive_requests) {
    int index = -5, flag = -5, count = -5, indices[2];
    MPI_Status status;
    MPI_Request requests[2];
    MPI_Recv_init(&value, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(&rank, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Wait(&requests[0], &status);
    say("Wait: any source %d", status.MPI_SOURCE == MPI_ANY_SOURCE);
    MPI_Test(&requests[1], &flag, MPI_STATUS_IGNORE);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Waitany(2, requests, &index, &status);
    MPI_Waitsome(2, requests, &count, indices, MPI_STATUSES_IGNORE);
    say("Test %d Waitany %d Waitsome %d", flag, index == MPI_UNDEFINED, count == MPI_UNDEFINED);
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

CASE(communicators_that_are_null) {
    MPI_Comm made = (MPI_Comm)0;
    MPI_Group empty = MPI_GROUP_EMPTY;
    MPI_Comm_split(MPI_COMM_WORLD, MPI_UNDEFINED, 0, &made);
    say("split: null %d", made == MPI_COMM_NULL);
    MPI_Comm_create(MPI_COMM_WORLD, empty, &made);
    say("create: null %d", made == MPI_COMM_NULL);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_UNDEFINED, 0, MPI_INFO_NULL, &made);
    say("split_type: null %d", made == MPI_COMM_NULL);
    MPI_Comm_split(MPI_COMM_WORLD, rank ? MPI_UNDEFINED : 3, 0, &made);
    say("one of two: null %d", made == MPI_COMM_NULL);
    if (made != MPI_COMM_NULL) MPI_Comm_free(&made);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made);
    MPI_Comm_free(&made);
    int dims = 1, periods = 1;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &dims, &periods, 0, &made);
    say("cartesian: null %d", made == MPI_COMM_NULL);
    if (made != MPI_COMM_NULL) MPI_Comm_free(&made);
    // No dimensions: one rank, or none.
    MPI_Cart_create(MPI_COMM_WORLD, 0, 0, 0, 0, &made);
    say("no dimensions: null %d", made == MPI_COMM_NULL);
    if (made != MPI_COMM_NULL) MPI_Comm_free(&made);
    // A group that cannot reach others, and no group at all.
    MPI_Comm_group(MPI_COMM_WORLD, &empty);
    MPI_Group_free(&empty);
    MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_EMPTY, &made);
}

CASE(names_and_outputs_nobody_reads) {
    char name[MPI_MAX_OBJECT_NAME] = "?";
    int length = -1, rank_of = 0, ranks_of = -1;
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
    say("%s %d", name, length);
    MPI_Comm_set_name(MPI_COMM_WORLD, "");
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
    say("empty name: %d", length);
    MPI_Comm_set_name(MPI_COMM_WORLD, "a name");
    MPI_Group world;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_translate_ranks(world, 1, &rank_of, MPI_GROUP_EMPTY, &ranks_of);
    say("translated: undefined %d", ranks_of == MPI_UNDEFINED);
    MPI_Group_translate_ranks(world, 0, 0, world, 0);
    MPI_Group_free(&world);
    MPI_Pcontrol(1);
}

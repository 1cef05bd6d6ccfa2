// Communicators that are freed while operations on them are pending: the object lives until they
// are done, the handle is invalid at once (MPI 4.0, section 7.4.3).
#define RANKS 2
#include "case.h"

static MPI_Comm reversed(void) {
    MPI_Comm made;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &made);
    return made;
}

// Posts a receive from the other rank, and frees the communicator. Both ranks send afterwards, as
// the message must not be there already.
static MPI_Request freed(int *value, int source, int tag) {
    MPI_Comm made = reversed();
    MPI_Request receive, send;
    static int sent;
    sent = 100 + rank;
    MPI_Irecv(value, 1, MPI_INT, source, tag, made, &receive);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Isend(&sent, 1, MPI_INT, rank, 7, made, &send);
    MPI_Comm_free(&made);
    check(made == MPI_COMM_NULL);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    return receive;
}

static void say_status(const char *by, int value, MPI_Status *status) {
    int count;
    MPI_Get_count(status, MPI_INT, &count);
    say("%s: value %d of %d tag %d count %d", by, value, status->MPI_SOURCE, status->MPI_TAG, count);
}

CASE(wait_after_free) {
    int value = 0;
    MPI_Status status;
    // The other rank has this one's number in the reversed communicator.
    MPI_Request request = freed(&value, rank, 7);
    MPI_Wait(&request, &status);
    say_status("Wait", value, &status);
    request = freed(&value, MPI_ANY_SOURCE, MPI_ANY_TAG);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    say("ignored: %d", value);
}

CASE(test_after_free) {
    int value = 0, flag = 0;
    MPI_Status status;
    MPI_Request request = freed(&value, MPI_ANY_SOURCE, MPI_ANY_TAG);
    while (!flag) MPI_Test(&request, &flag, &status);
    say_status("Test", value, &status);
    request = freed(&value, MPI_ANY_SOURCE, 7);
    for (flag = 0; !flag;) MPI_Request_get_status(request, &flag, &status);
    say_status("Request_get_status", value, &status);
    MPI_Request_free(&request);
}

CASE(waits_for_many_after_free) {
    int values[3], index, count, indices[3], done = 0;
    MPI_Status statuses[3];
    MPI_Request requests[3];
    for (int i = 0; i < 3; i++) requests[i] = freed(&values[i], MPI_ANY_SOURCE, 7);
    MPI_Waitall(3, requests, statuses);
    for (int i = 0; i < 3; i++) say_status("Waitall", values[i], &statuses[i]);
    for (int i = 0; i < 3; i++) requests[i] = freed(&values[i], rank, MPI_ANY_TAG);
    for (int i = 0; i < 3; i++) {
        MPI_Waitany(3, requests, &index, &statuses[i]);
        say_status("Waitany", values[index], &statuses[i]);
    }
    for (int i = 0; i < 3; i++) requests[i] = freed(&values[i], MPI_ANY_SOURCE, 7);
    for (; done < 3; done += count) MPI_Waitsome(3, requests, &count, indices, statuses + done);
    for (int i = 0; i < 3; i++) say_status("Waitsome", values[i], &statuses[i]);
    requests[0] = freed(&values[0], MPI_ANY_SOURCE, 7);
    requests[1] = requests[2] = MPI_REQUEST_NULL;
    for (count = 0; !count;) MPI_Testall(3, requests, &count, MPI_STATUSES_IGNORE);
    say("Testall: %d", values[0]);
    requests[1] = freed(&values[1], MPI_ANY_SOURCE, 7);
    for (count = 0; !count;) MPI_Testany(3, requests, &index, &count, statuses);
    say_status("Testany", values[index], statuses);
    requests[2] = freed(&values[2], MPI_ANY_SOURCE, 7);
    for (count = 0; !count;) MPI_Testsome(3, requests, &count, indices, statuses);
    say_status("Testsome", values[indices[0]], statuses);
}

// MPI gives the handle of a freed communicator to the next one. A message of the first must not be
// taken for one of the second, which is smaller.
CASE(handle_that_is_used_again) {
    int values[8], other = 0;
    MPI_Status status;
    MPI_Comm self[8];
    MPI_Request requests[8];
    for (int i = 0; i < 8; i++) {
        requests[i] = freed(&values[i], MPI_ANY_SOURCE, 7);
        MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &self[i]);
        MPI_Sendrecv(&i, 1, MPI_INT, 0, 7, &other, 1, MPI_INT, 0, 7, self[i], &status);
        check(other == i && status.MPI_SOURCE == 0);
    }
    for (int i = 0; i < 8; i++) {
        MPI_Wait(&requests[i], &status);
        say_status("Wait", values[i], &status);
    }
    for (int i = 0; i < 8; i++) MPI_Comm_free(&self[i]);
}

CASE(matched_message_after_free) {
    int value = 0, sent = 50 + rank, flag = 0;
    MPI_Status status;
    MPI_Message message;
    for (int how = 0; how < 4; how++) {
        MPI_Comm made = reversed();
        MPI_Request request = MPI_REQUEST_NULL, send;
        MPI_Isend(&sent, 1, MPI_INT, rank, how, made, &send);
        if (how % 2) MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, made, &message, &status);
        else
            for (flag = 0; !flag;) MPI_Improbe(rank, how, made, &flag, &message, &status);
        MPI_Comm_free(&made);
        if (how < 2) MPI_Mrecv(&value, 1, MPI_INT, &message, &status);
        else {
            MPI_Imrecv(&value, 1, MPI_INT, &message, &request);
            MPI_Wait(&request, &status);
        }
        check(message == MPI_MESSAGE_NULL);
        say_status(how < 2 ? "Mrecv" : "Imrecv", value, &status);
        MPI_Wait(&send, MPI_STATUS_IGNORE);
    }
}

CASE(cancelled_receive_after_free) {
    int value = -1, flag = -1;
    MPI_Comm made = reversed();
    MPI_Request request;
    MPI_Status status;
    MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 3, made, &request);
    MPI_Comm_free(&made);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    say("cancelled %d value %d", flag, value);
    made = reversed();
    MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 3, made, &request);
    MPI_Cancel(&request);
    MPI_Comm_free(&made);
    for (flag = 0; !flag;) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    say("cancelled %d", value);
}

CASE(persistent_requests_after_free) {
    int value = 0, sent = 0;
    MPI_Status statuses[2];
    MPI_Comm made = reversed();
    MPI_Request requests[2];
    MPI_Recv_init(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, made, &requests[0]);
    MPI_Send_init(&sent, 1, MPI_INT, rank, 9, made, &requests[1]);
    MPI_Comm_free(&made);
    for (int i = 0; i < 3; i++) {
        sent = 10 * i + rank;
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, statuses);
        say_status("started", value, &statuses[0]);
    }
    for (int i = 0; i < 2; i++) MPI_Request_free(&requests[i]);
}

CASE(sends_after_free) {
    static int large[2][200000];
    MPI_Comm made = reversed();
    MPI_Request requests[3];
    for (int i = 0; i < 200000; i++) large[0][i] = i + rank;
    MPI_Irecv(large[1], 200000, MPI_INT, rank, 0, made, &requests[0]);
    MPI_Isend(large[0], 200000, MPI_INT, rank, 0, made, &requests[1]);
    MPI_Issend(large[0], 0, MPI_INT, MPI_PROC_NULL, 0, made, &requests[2]);
    MPI_Comm_free(&made);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    say("last %d", large[1][199999]);
}

CASE(collectives_after_free) {
    int in = rank + 1, sum = 0, all[2] = {0}, part = 0;
    MPI_Comm made = reversed(), duplicate;
    MPI_Request requests[4];
    MPI_Iallreduce(&in, &sum, 1, MPI_INT, MPI_SUM, made, &requests[0]);
    MPI_Iallgather(&in, 1, MPI_INT, all, 1, MPI_INT, made, &requests[1]);
    MPI_Ibarrier(made, &requests[2]);
    MPI_Iscan(&in, &part, 1, MPI_INT, MPI_SUM, made, &requests[3]);
    MPI_Comm_free(&made);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    say("sum %d all %d %d scan %d", sum, all[0], all[1], part);
#ifdef OPEN_MPI
    SKIP("Open MPI 4.1.4 crashes by itself where the parent of an MPI_Comm_idup is freed");
#endif
    made = reversed();
    MPI_Comm_idup(made, &duplicate, &requests[0]);
    MPI_Comm_free(&made);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    int new_rank;
    MPI_Comm_rank(duplicate, &new_rank);
    MPI_Allreduce(&new_rank, &sum, 1, MPI_INT, MPI_MAX, duplicate);
    say("duplicate: rank %d, greatest %d", new_rank, sum);
    MPI_Comm_free(&duplicate);
}

CASE(intercommunicator_freed) {
    int value = 0;
    MPI_Comm self, inter;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &self);
    MPI_Intercomm_create(self, 0, MPI_COMM_WORLD, 1 - rank, 11, &inter);
    MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 2, inter, &requests[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Isend(&rank, 1, MPI_INT, 0, 2, inter, &requests[1]);
    MPI_Comm_free(&self);
    MPI_Comm_free(&inter);
    MPI_Waitall(2, requests, statuses);
    say_status("remote", value, &statuses[0]);
}

CASE(disconnected) {
    int value = 0;
    MPI_Comm made = reversed();
    MPI_Request requests[2];
    MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 2, made, &requests[0]);
    MPI_Isend(&rank, 1, MPI_INT, rank, 2, made, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Comm_disconnect(&made);
    say("value %d, null %d", value, made == MPI_COMM_NULL);
}

CASE(freed_in_the_copy) {
    // A duplicate of a duplicate, each parent freed first.
    int sum = 0;
    MPI_Comm made = reversed(), next;
    for (int i = 0; i < 20; i++) {
        MPI_Comm_dup(made, &next);
        MPI_Comm_free(&made);
        made = next;
    }
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, made);
    MPI_Comm_free(&made);
    say("sum %d", sum);
}

// Persistent, partitioned, cancelled and buffered communication.
#define RANKS 2
#include "case.h"

static void say_status(const char *of, int value, MPI_Status *status) {
    int count = -1;
    MPI_Get_count(status, MPI_INT, &count);
    say("%s: %d from %d tag %d count %d", of, value, status->MPI_SOURCE, status->MPI_TAG, count);
}

CASE(all_modes) {
    int value[5], sent[5];
    static char room[1000 + MPI_BSEND_OVERHEAD];
    MPI_Request requests[10];
    MPI_Status statuses[10];
    MPI_Buffer_attach(room, sizeof room);
    for (int i = 0; i < 5; i++)
        MPI_Recv_init(&value[i], 1, MPI_INT, i % 2 ? MPI_ANY_SOURCE : 1 - rank, i, MPI_COMM_WORLD,
                      &requests[i]);
    MPI_Send_init(&sent[0], 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &requests[5]);
    MPI_Ssend_init(&sent[1], 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, &requests[6]);
    MPI_Bsend_init(&sent[2], 1, MPI_INT, 1 - rank, 2, MPI_COMM_WORLD, &requests[7]);
    MPI_Rsend_init(&sent[3], 1, MPI_INT, 1 - rank, 3, MPI_COMM_WORLD, &requests[8]);
    MPI_Send_init(&sent[4], 0, MPI_INT, 1 - rank, 4, MPI_COMM_WORLD, &requests[9]);
    for (int time = 0; time < 3; time++) {
        for (int i = 0; i < 5; i++) sent[i] = 100 * rank + 10 * time + i, value[i] = -1;
        MPI_Startall(5, requests);
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 5; i < 10; i++) MPI_Start(&requests[i]);
        MPI_Waitall(10, requests, statuses);
        for (int i = 0; i < 5; i++) say_status("got", value[i], &statuses[i]);
        for (int i = 0; i < 10; i++) check(requests[i] != MPI_REQUEST_NULL);
    }
    for (int i = 0; i < 10; i++) MPI_Request_free(&requests[i]);
    void *got;
    int bytes;
    MPI_Buffer_detach(&got, &bytes);
    say("buffer %d, %d bytes", got == room, bytes == sizeof room);
}

CASE(persistent_with_all_completions) {
    int value[3], index, count, indices[3], flag = 0;
    MPI_Request requests[3];
    MPI_Status status, statuses[3];
    for (int i = 0; i < 3; i++)
        MPI_Recv_init(&value[i], 1, MPI_INT, MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &requests[i]);
    MPI_Startall(3, requests);
    for (int i = 2; i >= 0; i--) {
        MPI_Send(&i, 1, MPI_INT, rank, i, MPI_COMM_WORLD);
        if (i == 2) MPI_Waitany(3, requests, &index, &status);
        if (i == 1)
            for (index = -1; index < 0 || !flag;) MPI_Testany(3, requests, &index, &flag, &status);
        if (i == 0) {
            MPI_Waitsome(3, requests, &count, indices, statuses);
            index = indices[0], status = statuses[0];
        }
        say("index %d", index);
        say_status("got", value[index], &status);
    }
    MPI_Start(&requests[1]);
    MPI_Send(&rank, 1, MPI_INT, rank, 1, MPI_COMM_WORLD);
    for (flag = 0; !flag;) MPI_Testall(3, requests, &flag, MPI_STATUSES_IGNORE);
    say("value %d", value[1]);
    for (int i = 0; i < 3; i++) MPI_Request_free(&requests[i]);
}

CASE(cancelled_receives) {
    int value = -1, flag = -1, others = -1;
    MPI_Request requests[2];
    MPI_Status status;
    MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 90, MPI_COMM_WORLD, &requests[0]);
    MPI_Cancel(&requests[0]);
    MPI_Wait(&requests[0], &status);
    MPI_Test_cancelled(&status, &flag);
    say("Wait: cancelled %d", flag);
    MPI_Irecv(&value, 1, MPI_INT, 1 - rank, 90, MPI_COMM_WORLD, &requests[0]);
    MPI_Cancel(&requests[0]);
    MPI_Request_free(&requests[0]);
    MPI_Recv_init(&value, 1, MPI_INT, rank, 91, MPI_COMM_WORLD, &requests[0]);
    for (int i = 0; i < 2; i++) {
        MPI_Start(&requests[0]);
        MPI_Cancel(&requests[0]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    }
    MPI_Start(&requests[0]);
    MPI_Send(&rank, 1, MPI_INT, rank, 91, MPI_COMM_WORLD);
    MPI_Wait(&requests[0], &status);
    MPI_Test_cancelled(&status, &flag);
    say("after that: cancelled %d value %d", flag, value);
    MPI_Request_free(&requests[0]);
    // Too late: the message has been received.
    MPI_Irecv(&others, 1, MPI_INT, rank, 92, MPI_COMM_WORLD, &requests[0]);
    MPI_Send(&rank, 1, MPI_INT, rank, 92, MPI_COMM_WORLD);
    MPI_Cancel(&requests[0]);
    MPI_Wait(&requests[0], &status);
    MPI_Test_cancelled(&status, &flag);
    say("too late: cancelled %d value %d", flag, others);
    // Among others.
    MPI_Irecv(&value, 1, MPI_INT, 1 - rank, 93, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&others, 1, MPI_INT, 1 - rank, 94, MPI_COMM_WORLD, &requests[1]);
    MPI_Cancel(&requests[0]);
    MPI_Send(&rank, 1, MPI_INT, 1 - rank, 94, MPI_COMM_WORLD);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    say("others %d", others);
}

CASE(buffered_sends) {
    int value[3] = {rank, rank + 1, rank + 2}, got = -1, bytes;
    MPI_Status status;
    MPI_Request request;
    int room = 3 * (64 + MPI_BSEND_OVERHEAD);
    void *buffer = malloc(room), *detached;
    MPI_Buffer_attach(buffer, room);
    for (int i = 0; i < 2; i++) MPI_Bsend(&value[i], 1, MPI_INT, 1 - rank, i, MPI_COMM_WORLD);
    MPI_Ibsend(&value[2], 1, MPI_INT, 1 - rank, 2, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < 3; i++) {
        MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &status);
        say_status("got", got, &status);
    }
    MPI_Buffer_detach(&detached, &bytes);
    say("same %d %d", detached == buffer, bytes == room);
    // A rank that has attached nothing can send nothing, to nobody.
    MPI_Buffer_attach(buffer, room);
    MPI_Bsend(&value[0], 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    MPI_Buffer_detach(&detached, &bytes);
    free(buffer);
}

CASE(partitioned) {
#if MPI_VERSION < 4
    SKIP("this MPI has no partitioned communication");
#else
    int values[4] = {0}, got[4] = {0}, flag = 0;
    MPI_Request requests[2];
    MPI_Precv_init(got, 4, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Psend_init(values, 4, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    for (int time = 0; time < 2; time++) {
        for (int i = 0; i < 4; i++) values[i] = 100 * rank + 10 * time + i;
        MPI_Startall(2, requests);
        MPI_Pready(0, requests[1]);
        MPI_Pready_range(1, 2, requests[1]);
        MPI_Pready_list(1, (int[]){3}, requests[1]);
        for (int i = 0; i < 4; i++)
            for (flag = 0; !flag;) MPI_Parrived(requests[0], i, &flag);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        say("%d %d %d %d", got[0], got[1], got[2], got[3]);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
#endif
}

CASE(persistent_collectives) {
#if MPI_VERSION < 4
    SKIP("this MPI has no persistent collective operations");
#else
    int in = 0, out = -1, all[2] = {0}, part = 0;
    MPI_Request requests[4];
    MPI_Comm made;
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    MPI_Allreduce_init(&in, &out, 1, MPI_INT, MPI_SUM, made, MPI_INFO_NULL, &requests[0]);
    MPI_Allgather_init(&in, 1, MPI_INT, all, 1, MPI_INT, made, MPI_INFO_NULL, &requests[1]);
    MPI_Barrier_init(made, MPI_INFO_NULL, &requests[2]);
    // The root's receive arguments at others are anything.
    MPI_Gather_init(&in, 1, MPI_INT, rank ? (void *)7 : all, rank ? -4 : 1,
                    rank ? MPI_DATATYPE_NULL : MPI_INT, 0, made, MPI_INFO_NULL, &requests[3]);
    for (int time = 0; time < 2; time++) {
        in = 10 * time + rank;
        MPI_Startall(3, requests);
        MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
        say("%d %d %d", out, all[0], all[1]);
        MPI_Start(&requests[3]);
        MPI_Wait(&requests[3], MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < 4; i++) MPI_Request_free(&requests[i]);
    MPI_Comm_free(&made);
    say("%d", part);
#endif
}

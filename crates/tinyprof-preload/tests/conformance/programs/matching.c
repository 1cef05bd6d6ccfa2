// Probes and matched messages, any sources and tags, orders of messages, and modes of sending.
#define RANKS 3
#include "case.h"

static void say_status(const char *of, int value, MPI_Status *status) {
    int count = -1;
    MPI_Get_count(status, MPI_INT, &count);
    say("%s: %d from %d tag %d count %d", of, value, status->MPI_SOURCE, status->MPI_TAG, count);
}

CASE(probes) {
    int values[3] = {rank, rank + 1, rank + 2}, flag, got[3];
    MPI_Status status;
    MPI_Request request;
    for (int i = 1; i <= 3; i++) {
        MPI_Isend(values, i, MPI_INT, (rank + 1) % size, i, MPI_COMM_WORLD, &request);
        int from = (rank + size - 1) % size;
        if (i == 1) MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        if (i == 2) MPI_Probe(from, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (i == 3)
            for (flag = 0; !flag;) MPI_Iprobe(from, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status);
        if (i != 2) say_status("probe", 0, &status);
        MPI_Recv(got, 3, MPI_INT, from, i, MPI_COMM_WORLD, &status);
        say_status("got", got[0], &status);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    say("nothing: %d", flag);
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Improbe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
    say("nothing: %d null %d", flag, message == MPI_MESSAGE_NULL);
}

CASE(messages_that_are_matched_out_of_order) {
    int values[4], got = -1;
    MPI_Status status;
    MPI_Message messages[4];
    MPI_Request requests[4];
    for (int i = 0; i < 4; i++) {
        values[i] = 10 * rank + i;
        MPI_Isend(&values[i], 1, MPI_INT, (rank + 1) % size, 5, MPI_COMM_WORLD, &requests[i]);
    }
    for (int i = 0; i < 4; i++) MPI_Mprobe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &messages[i], &status);
    for (int i = 3; i >= 0; i--) {
        MPI_Mrecv(&got, 1, MPI_INT, &messages[i], &status);
        say_status("Mrecv", got, &status);
    }
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

// Messages of one sender do not overtake each other, whatever their sizes and modes.
CASE(order_of_sizes_and_modes) {
    static int large[30000], got[30000];
    int sizes[4] = {1, 30000, 0, 20};
    MPI_Status status;
    if (rank == 0) {
        MPI_Request requests[4];
        for (int i = 0; i < 4; i++) large[i] = i;
        MPI_Isend(large, sizes[0], MPI_INT, 1, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Issend(large, sizes[1], MPI_INT, 1, 1, MPI_COMM_WORLD, &requests[1]);
        MPI_Isend(large, sizes[2], MPI_INT, 1, 1, MPI_COMM_WORLD, &requests[2]);
        MPI_Issend(large, sizes[3], MPI_INT, 1, 1, MPI_COMM_WORLD, &requests[3]);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    } else if (rank == 1)
        for (int i = 0; i < 4; i++) {
            MPI_Recv(got, 30000, MPI_INT, i % 2 ? 0 : MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
            say_status("got", got[0], &status);
        }
}

CASE(any_source_of_several) {
    int value = -1, seen[3] = {0};
    MPI_Status status;
    if (rank == 0) {
        for (int i = 0; i < 20; i++) {
            MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            // In order from each.
            check(value == seen[status.MPI_SOURCE] && status.MPI_TAG == value % 3);
            seen[status.MPI_SOURCE]++;
        }
        say("%d and %d", seen[1], seen[2]);
    } else
        for (int i = 0; i < 10; i++) MPI_Send(&i, 1, MPI_INT, 0, i % 3, MPI_COMM_WORLD);
}

CASE(to_itself) {
    int value = rank, got = -1;
    MPI_Request request;
    MPI_Status status;
    MPI_Irecv(&got, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &request);
    MPI_Ssend(&value, 1, MPI_INT, rank, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, &status);
    say_status("world", got, &status);
    MPI_Sendrecv(&value, 1, MPI_INT, 0, 1, &got, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &status);
    say_status("self", got, &status);
    MPI_Sendrecv_replace(&value, 1, MPI_INT, 0, 1, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &status);
    say_status("replace", value, &status);
}

CASE(greatest_tag) {
    int *bound, flag, value = 3;
    MPI_Status status;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &flag);
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, *bound, &value, 1, MPI_INT,
                 (rank + size - 1) % size, *bound, MPI_COMM_WORLD, &status);
    say("%d tag %d", value, status.MPI_TAG == *bound);
}

CASE(parts_of_types) {
    int values[6] = {1, 2, 3, 4, 5, 6}, count = -1, elements = -1;
    MPI_Datatype pair;
    MPI_Status status;
    MPI_Count large = -1;
    MPI_Type_contiguous(4, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Sendrecv(values, 6, MPI_INT, rank, 0, values, 2, pair, rank, 0, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, pair, &count);
    MPI_Get_elements(&status, pair, &elements);
    MPI_Get_elements_x(&status, pair, &large);
    say("undefined %d, elements %d %d", count == MPI_UNDEFINED, elements, (int)large);
    MPI_Status_set_elements(&status, MPI_INT, 9);
    MPI_Get_count(&status, MPI_INT, &count);
    MPI_Status_set_cancelled(&status, 1);
    MPI_Test_cancelled(&status, &elements);
    say("count %d cancelled %d", count, elements);
    MPI_Type_free(&pair);
}

CASE(from_the_bottom) {
    int value = rank, got = -1;
    MPI_Aint addresses[2];
    MPI_Datatype types[2];
    MPI_Get_address(&value, &addresses[0]);
    MPI_Get_address(&got, &addresses[1]);
    for (int i = 0; i < 2; i++) {
        MPI_Type_create_hindexed(1, (int[]){1}, &addresses[i], MPI_INT, &types[i]);
        MPI_Type_commit(&types[i]);
    }
    MPI_Sendrecv(MPI_BOTTOM, 1, types[0], (rank + 1) % size, 0, MPI_BOTTOM, 1, types[1],
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Bcast(MPI_BOTTOM, 1, types[0], 1, MPI_COMM_WORLD);
    say("%d %d", got, value);
    for (int i = 0; i < 2; i++) MPI_Type_free(&types[i]);
}

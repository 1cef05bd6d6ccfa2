// Many objects: 2,000 communicators, 100,000 requests, and calls from deep in the program.
#define RANKS 2
#include "case.h"

// All at a time, where MPI has as many.
CASE(communicators_at_a_time) {
    enum { MANY = 200 };
    static MPI_Comm made[MANY];
    int value, sum = 0;
    for (int i = 0; i < MANY; i++) MPI_Comm_dup(MPI_COMM_WORLD, &made[i]);
    for (int i = 0; i < MANY; i++) {
        MPI_Sendrecv(&i, 1, MPI_INT, 1 - rank, 0, &value, 1, MPI_INT, 1 - rank, 0, made[i],
                     MPI_STATUS_IGNORE);
        sum += value == i;
    }
    for (int i = 0; i < MANY; i++) MPI_Comm_free(&made[i]);
    say("%d of %d", sum, MANY);
}

CASE(communicators_one_after_another) {
    int value, sum = 0;
    for (int i = 0; i < 2000; i++) {
        MPI_Comm made;
        MPI_Request request;
        MPI_Comm_split(i % 2 ? MPI_COMM_WORLD : MPI_COMM_SELF, 0, rank, &made);
        int other = i % 2 ? 1 - rank : 0;
        MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, made, &request);
        MPI_Send(&i, 1, MPI_INT, other, 0, made);
        // Some are freed before the receive is done.
        if (i % 3) MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Comm_free(&made);
        if (i % 3 == 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
        sum += value == i;
    }
    say("%d of 2000", sum);
}

CASE(requests) {
    enum { MANY = 100000 };
    static MPI_Request requests[2 * MANY];
    static int values[MANY], sent[MANY];
    int right = 0;
    for (int i = 0; i < MANY; i++) sent[i] = i;
    for (int i = 0; i < MANY; i++)
        MPI_Irecv(&values[i], 1, MPI_INT, rank, i % 1000, MPI_COMM_WORLD,
                  &requests[i]);
    for (int i = 0; i < MANY; i++)
        MPI_Isend(&sent[i], 1, MPI_INT, rank, i % 1000, MPI_COMM_WORLD, &requests[MANY + i]);
    MPI_Waitall(2 * MANY, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MANY; i++) right += values[i] == i;
    say("%d of %d", right, MANY);
}

static int depth_of_recursion(int depth) {
    int sum = 0;
    if (depth > 0) return depth_of_recursion(depth - 1) + 1;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

CASE(deep_recursion) { say("%d", depth_of_recursion(20000)); }

CASE(datatypes) {
    int sum = 0;
    for (int i = 1; i <= 3000; i++) {
        MPI_Datatype made;
        MPI_Status status;
        static char data[3001];
        int count;
        MPI_Type_contiguous(i, MPI_CHAR, &made);
        MPI_Type_commit(&made);
        MPI_Sendrecv(data, 1, made, rank, 0, data, 1, made, rank, 0, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_CHAR, &count);
        sum += count == i;
        MPI_Type_free(&made);
    }
    say("%d of 3000", sum);
}

// A type of types of types.
CASE(nested_datatypes) {
    MPI_Datatype made[30];
    int size_of_type, values[2] = {1, 2};
    made[0] = MPI_INT;
    for (int i = 1; i < 30; i++) MPI_Type_contiguous(1, made[i - 1], &made[i]);
    MPI_Type_commit(&made[29]);
    for (int i = 1; i < 29; i++) MPI_Type_free(&made[i]);
    MPI_Type_size(made[29], &size_of_type);
    MPI_Bcast(values, 2, made[29], 0, MPI_COMM_WORLD);
    say("size %d", size_of_type);
    MPI_Type_free(&made[29]);
}

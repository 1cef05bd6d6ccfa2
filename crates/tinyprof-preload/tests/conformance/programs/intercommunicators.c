// All collective operations over an intercommunicator of groups of two ranks and one, where rooted
// ones have MPI_ROOT at the root and MPI_PROC_NULL beside it, whose other arguments are anything.
#define RANKS 3
#include "case.h"

#define ANY_BUFFER ((void *)7)
#define ANY_COUNTS ((int *)3)
#define ANY_TYPE ((MPI_Datatype)(long)0xdeadbeef)

// MPICH 4.0 looks at what a rank beside the root gives, though it takes no part.
#ifdef OPEN_MPI
#define IDLE_COUNT (-7)
#define IDLE_TYPE ANY_TYPE
#else
#define IDLE_COUNT 2
#define IDLE_TYPE MPI_INT
#endif

// The groups: ranks 0 and 2, and rank 1.
static MPI_Comm local, inter;
static int is_single, local_rank, local_size, remote_size;
static int in[12], out[12], counts[3] = {1, 2, 3}, places[3] = {0, 1, 3};

static void connect_groups(void) {
    is_single = rank == 1;
    MPI_Comm_split(MPI_COMM_WORLD, is_single, rank, &local);
    MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, !is_single, 5, &inter);
    MPI_Comm_rank(inter, &local_rank);
    MPI_Comm_size(inter, &local_size);
    MPI_Comm_remote_size(inter, &remote_size);
    for (int i = 0; i < 12; i++) in[i] = rank * 20 + i, out[i] = -1;
}

static void disconnect_groups(void) {
    MPI_Comm_free(&inter);
    MPI_Comm_free(&local);
}

static void say_out(const char *of, int count) {
    char text[256] = "";
    for (int i = 0; i < count; i++) sprintf(text + strlen(text), " %d", out[i]), out[i] = -1;
    say("%s:%s", of, text);
}

// Returns the root as a rank gives it, for the root that is local rank 0 of one of the groups.
static int root_of(int group_is_single) {
    if (group_is_single != is_single) return 0;
    return local_rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
}

CASE(what_it_is) {
    int is_inter = -1, result = -1;
    MPI_Group group;
    connect_groups();
    MPI_Comm_test_inter(inter, &is_inter);
    MPI_Comm_remote_group(inter, &group);
    MPI_Group_rank(group, &result);
    say("inter %d rank %d of %d and %d, not in the remote group %d", is_inter, local_rank, local_size,
        remote_size, result == MPI_UNDEFINED);
    MPI_Group_free(&group);
    MPI_Comm_compare(inter, MPI_COMM_WORLD, &result);
    say("unequal %d", result == MPI_UNEQUAL);
    disconnect_groups();
}

CASE(messages_across) {
    MPI_Status status;
    MPI_Request request;
    int value = -1, sum = 0;
    connect_groups();
    if (is_single) {
        for (int i = 0; i < 2; i++) {
            MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 3, inter, &status);
            check(value == 2 * status.MPI_SOURCE);
            sum += value;
        }
        for (int i = 0; i < 2; i++) MPI_Send(&i, 1, MPI_INT, i, 4, inter);
    } else {
        MPI_Send(&rank, 1, MPI_INT, 0, 3, inter);
        MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, inter, &request);
        MPI_Wait(&request, &status);
        say("%d from %d", value, status.MPI_SOURCE);
    }
    say("sum %d", sum);
    disconnect_groups();
}

CASE(rooted) {
    connect_groups();
    for (int of = 0; of < 2; of++) {
        int root = root_of(of), is_root = root == MPI_ROOT, idle = root == MPI_PROC_NULL;
        void *send = idle ? ANY_BUFFER : in, *receive = idle ? ANY_BUFFER : out;
        int count = idle ? IDLE_COUNT : 2;
        MPI_Datatype type = idle ? IDLE_TYPE : MPI_INT;
        MPI_Bcast(is_root ? send : receive, 2, MPI_INT, root, inter);
        say_out("Bcast", 2);
        // What the root gives for sending, and the others for receiving, is not significant.
        MPI_Gather(is_root ? ANY_BUFFER : send, is_root ? -3 : count, is_root ? ANY_TYPE : type,
                   is_root ? receive : ANY_BUFFER, is_root ? 2 : -5, is_root ? MPI_INT : ANY_TYPE,
                   root, inter);
        say_out("Gather", 4);
        MPI_Scatter(is_root ? send : ANY_BUFFER, is_root ? 2 : -5, is_root ? MPI_INT : ANY_TYPE,
                    is_root ? ANY_BUFFER : receive, is_root ? -3 : count,
                    is_root ? ANY_TYPE : type, root, inter);
        say_out("Scatter", 2);
        MPI_Gatherv(is_root ? ANY_BUFFER : send, is_root ? -3 : idle ? 0 : local_rank + 1,
                    is_root ? ANY_TYPE : type, is_root ? receive : ANY_BUFFER,
                    is_root ? counts : ANY_COUNTS, is_root ? places : ANY_COUNTS,
                    is_root ? MPI_INT : ANY_TYPE, root, inter);
        say_out("Gatherv", 4);
        MPI_Scatterv(is_root ? send : ANY_BUFFER, is_root ? counts : ANY_COUNTS,
                     is_root ? places : ANY_COUNTS, is_root ? MPI_INT : ANY_TYPE,
                     is_root ? ANY_BUFFER : receive, is_root ? -3 : idle ? 0 : local_rank + 1,
                     is_root ? ANY_TYPE : type, root, inter);
        say_out("Scatterv", 3);
        // Count, type and operation are compared by neither MPI where a rank takes no part.
        MPI_Reduce(is_root ? ANY_BUFFER : send, is_root ? receive : ANY_BUFFER, 2, MPI_INT, MPI_SUM,
                   root, inter);
        say_out("Reduce", 2);
    }
    disconnect_groups();
}

CASE(to_all) {
    int ones[2] = {1, 1}, at[2] = {0, 1}, bytes[2] = {0, 4};
    MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    connect_groups();
    MPI_Barrier(inter);
    MPI_Allgather(in, 2, MPI_INT, out, 2, MPI_INT, inter);
    say_out("Allgather", 4);
    MPI_Allgatherv(in, local_rank + 1, MPI_INT, out, counts, places, MPI_INT, inter);
    say_out("Allgatherv", 4);
    MPI_Alltoall(in, 1, MPI_INT, out, 1, MPI_INT, inter);
    say_out("Alltoall", 3);
    MPI_Alltoallv(in, ones, at, MPI_INT, out, ones, at, MPI_INT, inter);
    say_out("Alltoallv", 3);
    MPI_Alltoallw(in, ones, bytes, types, out, ones, bytes, types, inter);
    say_out("Alltoallw", 3);
    MPI_Allreduce(in, out, 2, MPI_INT, MPI_SUM, inter);
    say_out("Allreduce", 2);
    // Each group scatters what the other has reduced: as many elements in both.
    int parts[2] = {1, 3};
    if (is_single) parts[0] = 4;
    MPI_Reduce_scatter(in, out, parts, MPI_INT, MPI_SUM, inter);
    say_out("Reduce_scatter", 4);
    MPI_Reduce_scatter_block(in, out, is_single ? 4 : 2, MPI_INT, MPI_SUM, inter);
    say_out("Reduce_scatter_block", 4);
    disconnect_groups();
}

CASE(without_waiting) {
    MPI_Request request;
    connect_groups();
    MPI_Ibarrier(inter, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int of = 0; of < 2; of++) {
        int root = root_of(of), is_root = root == MPI_ROOT;
        MPI_Ibcast(is_root ? in : out, 2, MPI_INT, root, inter, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        say_out("Ibcast", 2);
        MPI_Igather(in, 2, MPI_INT, out, 2, MPI_INT, root, inter, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        say_out("Igather", 4);
        MPI_Iscatter(in, 2, MPI_INT, out, 2, MPI_INT, root, inter, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        say_out("Iscatter", 2);
        MPI_Ireduce(in, out, 2, MPI_INT, MPI_SUM, root, inter, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        say_out("Ireduce", 2);
    }
    MPI_Iallgather(in, 2, MPI_INT, out, 2, MPI_INT, inter, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    say_out("Iallgather", 4);
    MPI_Iallreduce(in, out, 2, MPI_INT, MPI_SUM, inter, &request);
#ifndef OPEN_MPI
    // Open MPI 4.1.4 itself crashes in operations of several rounds whose communicator is gone.
    MPI_Comm_free(&inter);
#endif
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    say_out("Iallreduce, freed", 2);
    if (inter != MPI_COMM_NULL) MPI_Comm_free(&inter);
    MPI_Comm_free(&local);
}

CASE(communicators_of_it) {
    MPI_Comm duplicate, part, merged, made;
    int merged_rank, is_inter, remote, sum;
    connect_groups();
    MPI_Comm_dup(inter, &duplicate);
    MPI_Comm_remote_size(duplicate, &remote);
    say("duplicate: remote size %d", remote);
    for (int high = 0; high < 2; high++) {
        MPI_Intercomm_merge(duplicate, is_single == high, &merged);
        MPI_Comm_rank(merged, &merged_rank);
        MPI_Allreduce(&merged_rank, &sum, 1, MPI_INT, MPI_SUM, merged);
        say("merged: rank %d sum %d", merged_rank, sum);
        MPI_Comm_free(&merged);
    }
    // One group loses a member, which gets no communicator; the other stays.
    MPI_Comm_split(duplicate, local_rank ? MPI_UNDEFINED : 0, 0, &part);
    if (part == MPI_COMM_NULL) say("split: null");
    else {
        MPI_Comm_test_inter(part, &is_inter);
        MPI_Comm_remote_size(part, &remote);
        say("split: inter %d remote size %d", is_inter, remote);
        MPI_Comm_free(&part);
    }
    MPI_Group group, first;
    MPI_Comm_group(inter, &group);
    MPI_Group_incl(group, 1, (int[]){0}, &first);
    MPI_Comm_create(inter, first, &made);
    say("create: null %d", made == MPI_COMM_NULL);
    if (made != MPI_COMM_NULL) MPI_Comm_free(&made);
    MPI_Group_free(&first);
    MPI_Group_free(&group);
    MPI_Comm_free(&duplicate);
    disconnect_groups();
}

// A split in which one side chooses a color that the other does not: no communicator.
CASE(split_with_nobody_on_the_other_side) {
    MPI_Comm part;
    connect_groups();
    MPI_Comm_split(inter, is_single ? 1 : 2 + local_rank, 0, &part);
    say("null %d", part == MPI_COMM_NULL);
    disconnect_groups();
}

// Arguments of collective operations that are significant only at the root, or not where a buffer
// is MPI_IN_PLACE (MPI 4.0, chapter 6): elsewhere they are anything.
#define RANKS 3
#include "case.h"

#define ANY_BUFFER ((void *)7)
#define ANY_COUNTS ((int *)3)
#define ANY_TYPE ((MPI_Datatype)(long)0xdeadbeef)
#define ANY_TYPES ((MPI_Datatype *)5)

static int in[12], out[12], counts[3] = {1, 2, 3}, places[3] = {0, 1, 3};

static void fill(int first) {
    for (int i = 0; i < 12; i++) in[i] = first + i, out[i] = -1;
}

static void say_out(const char *of, int count) {
    char text[256] = "";
    for (int i = 0; i < count; i++) sprintf(text + strlen(text), " %d", out[i]);
    say("%s:%s", of, text);
}

CASE(gather) {
    for (int root = 0; root < 3; root++) {
        fill(rank * 10);
        if (rank == root) MPI_Gather(in, 2, MPI_INT, out, 2, MPI_INT, root, MPI_COMM_WORLD);
        else MPI_Gather(in, 2, MPI_INT, ANY_BUFFER, -7, ANY_TYPE, root, MPI_COMM_WORLD);
        say_out("Gather", 6);
        fill(rank * 10);
        if (rank == root)
            MPI_Gather(MPI_IN_PLACE, -3, ANY_TYPE, out, 2, MPI_INT, root, MPI_COMM_WORLD);
        else MPI_Gather(in, 2, MPI_INT, 0, 0, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD);
        say_out("in place", 6);
    }
}

CASE(gatherv) {
    for (int root = 0; root < 3; root++) {
        fill(rank * 10);
        if (rank == root)
            MPI_Gatherv(in, rank + 1, MPI_INT, out, counts, places, MPI_INT, root, MPI_COMM_WORLD);
        else
            MPI_Gatherv(in, rank + 1, MPI_INT, ANY_BUFFER, ANY_COUNTS, ANY_COUNTS, ANY_TYPE, root,
                        MPI_COMM_WORLD);
        say_out("Gatherv", 6);
        fill(rank * 10);
        if (rank == root)
            MPI_Gatherv(MPI_IN_PLACE, 99, ANY_TYPE, out, counts, places, MPI_INT, root,
                        MPI_COMM_WORLD);
        else
            MPI_Gatherv(in, rank + 1, MPI_INT, 0, 0, 0, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD);
        say_out("in place", 6);
    }
}

CASE(scatter) {
    for (int root = 0; root < 3; root++) {
        fill(rank * 10);
        if (rank == root) MPI_Scatter(in, 2, MPI_INT, out, 2, MPI_INT, root, MPI_COMM_WORLD);
        else MPI_Scatter(ANY_BUFFER, -7, ANY_TYPE, out, 2, MPI_INT, root, MPI_COMM_WORLD);
        say_out("Scatter", 2);
        if (rank == root)
            MPI_Scatter(in, 2, MPI_INT, MPI_IN_PLACE, -3, ANY_TYPE, root, MPI_COMM_WORLD);
        else MPI_Scatter(0, 0, MPI_DATATYPE_NULL, out, 2, MPI_INT, root, MPI_COMM_WORLD);
        say_out("in place", 2);
    }
}

CASE(scatterv) {
    for (int root = 0; root < 3; root++) {
        fill(rank * 10);
        if (rank == root)
            MPI_Scatterv(in, counts, places, MPI_INT, out, rank + 1, MPI_INT, root, MPI_COMM_WORLD);
        else
            MPI_Scatterv(ANY_BUFFER, ANY_COUNTS, ANY_COUNTS, ANY_TYPE, out, rank + 1, MPI_INT, root,
                         MPI_COMM_WORLD);
        say_out("Scatterv", 3);
        if (rank == root)
            MPI_Scatterv(in, counts, places, MPI_INT, MPI_IN_PLACE, -1, ANY_TYPE, root,
                         MPI_COMM_WORLD);
        else
            MPI_Scatterv(0, 0, 0, MPI_DATATYPE_NULL, out, rank + 1, MPI_INT, root, MPI_COMM_WORLD);
        say_out("in place", 3);
    }
}

CASE(reduce) {
    for (int root = 0; root < 3; root++) {
        fill(rank);
        MPI_Reduce(in, rank == root ? out : ANY_BUFFER, 3, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
        say_out("Reduce", 3);
        fill(rank);
        MPI_Reduce(rank == root ? MPI_IN_PLACE : in, rank == root ? in : ANY_BUFFER, 3, MPI_INT,
                   MPI_SUM, root, MPI_COMM_WORLD);
        if (rank == root) say("in place: %d %d %d", in[0], in[1], in[2]);
    }
}

CASE(to_all_in_place) {
    fill(0);
    out[rank] = 40 + rank;
    MPI_Allgather(MPI_IN_PLACE, -1, ANY_TYPE, out, 1, MPI_INT, MPI_COMM_WORLD);
    say_out("Allgather", 3);
    fill(0);
    for (int i = 0; i < counts[rank]; i++) out[places[rank] + i] = 10 * rank + i;
    MPI_Allgatherv(MPI_IN_PLACE, -1, ANY_TYPE, out, counts, places, MPI_INT, MPI_COMM_WORLD);
    say_out("Allgatherv", 6);
    for (int i = 0; i < 3; i++) out[i] = 10 * rank + i;
    MPI_Alltoall(MPI_IN_PLACE, -1, ANY_TYPE, out, 1, MPI_INT, MPI_COMM_WORLD);
    say_out("Alltoall", 3);
    int ones[3] = {1, 1, 1}, at[3] = {0, 1, 2}, bytes[3] = {0, 4, 8};
    MPI_Datatype types[3] = {MPI_INT, MPI_INT, MPI_INT};
    MPI_Alltoallv(MPI_IN_PLACE, ANY_COUNTS, ANY_COUNTS, ANY_TYPE, out, ones, at, MPI_INT,
                  MPI_COMM_WORLD);
    say_out("Alltoallv", 3);
    MPI_Alltoallw(MPI_IN_PLACE, ANY_COUNTS, ANY_COUNTS, ANY_TYPES, out, ones, bytes, types,
                  MPI_COMM_WORLD);
    say_out("Alltoallw", 3);
}

CASE(reductions_in_place) {
    fill(rank);
    for (int i = 0; i < 3; i++) out[i] = rank + i;
    MPI_Allreduce(MPI_IN_PLACE, out, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    say_out("Allreduce", 3);
    MPI_Scan(MPI_IN_PLACE, out, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    say_out("Scan", 3);
    for (int i = 0; i < 3; i++) out[i] = rank + i;
    MPI_Exscan(MPI_IN_PLACE, out, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank) say_out("Exscan", 3);
    for (int i = 0; i < 6; i++) out[i] = rank + i;
    MPI_Reduce_scatter(MPI_IN_PLACE, out, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    say_out("Reduce_scatter", rank + 1);
    for (int i = 0; i < 6; i++) out[i] = rank + i;
    MPI_Reduce_scatter_block(MPI_IN_PLACE, out, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    say_out("Reduce_scatter_block", 2);
    // The receive buffer of rank 0 is not significant.
    MPI_Exscan(in, rank ? out : ANY_BUFFER, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank) say_out("Exscan", 3);
}

CASE(without_waiting) {
    MPI_Request requests[6];
    for (int root = 0; root < 3; root++) {
        int is_root = rank == root, gathered[6] = {0}, part[2] = {0};
        fill(rank * 10);
        MPI_Igather(in, 2, MPI_INT, is_root ? (void *)gathered : ANY_BUFFER, is_root ? 2 : -9,
                    is_root ? MPI_INT : ANY_TYPE, root, MPI_COMM_WORLD, &requests[0]);
        MPI_Igatherv(in, rank + 1, MPI_INT, is_root ? (void *)out : ANY_BUFFER,
                     is_root ? counts : ANY_COUNTS, is_root ? places : ANY_COUNTS,
                     is_root ? MPI_INT : ANY_TYPE, root, MPI_COMM_WORLD, &requests[1]);
        MPI_Iscatter(is_root ? (void *)in : ANY_BUFFER, is_root ? 2 : -9,
                     is_root ? MPI_INT : ANY_TYPE, part, 2, MPI_INT, root, MPI_COMM_WORLD,
                     &requests[2]);
        MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
        if (is_root) say("Igather: %d %d %d", gathered[0], gathered[2], gathered[4]);
        say("Iscatter: %d %d", part[0], part[1]);
        say_out("Igatherv", 6);
        fill(rank);
        MPI_Iscatterv(is_root ? (void *)in : ANY_BUFFER, is_root ? counts : ANY_COUNTS,
                      is_root ? places : ANY_COUNTS, is_root ? MPI_INT : ANY_TYPE, gathered,
                      rank + 1, MPI_INT, root, MPI_COMM_WORLD, &requests[0]);
        MPI_Ireduce(in, is_root ? (void *)out : ANY_BUFFER, 2, MPI_INT, MPI_MAX, root,
                    MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        say("Iscatterv: %d %d %d", gathered[0], gathered[1], gathered[2]);
        if (is_root) say("Ireduce: %d %d", out[0], out[1]);
    }
    MPI_Iallgather(MPI_IN_PLACE, -1, ANY_TYPE, out, 1, MPI_INT, MPI_COMM_WORLD, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Ialltoallw(MPI_IN_PLACE, ANY_COUNTS, ANY_COUNTS, ANY_TYPES, out, (int[]){1, 1, 1},
                   (int[]){0, 4, 8}, (MPI_Datatype[]){MPI_INT, MPI_INT, MPI_INT}, MPI_COMM_WORLD,
                   &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    say("done");
}

CASE(roots_of_creation) {
    // The ports, programs and counts of dynamic processes are significant at the root; so are the
    // arguments of MPI_Intercomm_create at its leader.
    MPI_Comm self, inter, merged;
    MPI_Comm_split(MPI_COMM_WORLD, rank == 2, rank, &self);
    int is_leader = rank != 1;
    MPI_Intercomm_create(self, 0, is_leader ? MPI_COMM_WORLD : MPI_COMM_NULL,
                         is_leader ? 2 - rank : -55, 4, &inter);
    MPI_Intercomm_merge(inter, rank == 2, &merged);
    int merged_rank;
    MPI_Comm_rank(merged, &merged_rank);
    say("merged rank %d", merged_rank);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&self);
}

// One-sided communication: all calls, all synchronisations, and the arguments that are ignored.
#define RANKS 3
#include "case.h"

#define ANY_BUFFER ((void *)7)

static int *memory;
static MPI_Win window;

static void begin(void) {
    MPI_Win_allocate(8 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Win_fence(0, window);
    for (int i = 0; i < 8; i++) memory[i] = rank * 10 + i;
    MPI_Win_fence(0, window);
}

static void end(const char *of) {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
    say("%s: %d %d %d %d %d %d %d %d", of, memory[0], memory[1], memory[2], memory[3], memory[4],
        memory[5], memory[6], memory[7]);
    MPI_Win_unlock(rank, window);
    MPI_Win_free(&window);
}

static int next(void) { return (rank + 1) % size; }

// With MPI_NO_OP, the origin's buffer, count and datatype are ignored (MPI 4.0, section 12.3.4).
CASE(get_accumulate_without_operation) {
    int got[4] = {0};
    MPI_Request request;
    begin();
    MPI_Win_lock_all(0, window);
    MPI_Get_accumulate(0, 0, MPI_DATATYPE_NULL, got, 2, MPI_INT, next(), 1, 2, MPI_INT, MPI_NO_OP,
                       window);
    MPI_Win_flush(next(), window);
    say("Get_accumulate: %d %d", got[0], got[1]);
    MPI_Rget_accumulate(0, 0, MPI_DATATYPE_NULL, got, 2, MPI_INT, next(), 3, 2, MPI_INT, MPI_NO_OP,
                        window, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    say("Rget_accumulate: %d %d", got[0], got[1]);
    MPI_Fetch_and_op(0, got, MPI_INT, next(), 5, MPI_NO_OP, window);
    MPI_Win_flush(next(), window);
    say("Fetch_and_op: %d", got[0]);
    MPI_Win_unlock_all(window);
    end("unchanged");
}

CASE(get_accumulate_with_any_origin) {
    int got[2] = {0};
    begin();
    MPI_Win_lock_all(0, window);
    MPI_Get_accumulate(ANY_BUFFER, 5, MPI_DATATYPE_NULL, got, 2, MPI_INT, next(), 1, 2, MPI_INT,
                       MPI_NO_OP, window);
    MPI_Win_unlock_all(window);
    say("%d %d", got[0], got[1]);
    end("unchanged");
}

CASE(all_operations) {
    int one = 1, two[2] = {100, 200}, got[4] = {-1, -1, -1, -1};
    begin();
    MPI_Put(two, 2, MPI_INT, next(), 0, 2, MPI_INT, window);
    MPI_Win_fence(0, window);
    MPI_Get(got, 2, MPI_INT, next(), 0, 2, MPI_INT, window);
    MPI_Win_fence(0, window);
    say("Get: %d %d", got[0], got[1]);
    MPI_Accumulate(two, 2, MPI_INT, 0, 2, 2, MPI_INT, MPI_SUM, window);
    MPI_Accumulate(&one, 1, MPI_INT, 0, 4, 1, MPI_INT, MPI_SUM, window);
    MPI_Win_fence(0, window);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window);
    MPI_Get_accumulate(two, 1, MPI_INT, got, 1, MPI_INT, rank, 5, 1, MPI_INT, MPI_REPLACE, window);
    MPI_Win_flush(rank, window);
    MPI_Fetch_and_op(&one, got + 1, MPI_INT, rank, 6, MPI_SUM, window);
    MPI_Win_flush_local(rank, window);
    int compare = rank * 10 + 7;
    MPI_Compare_and_swap(&one, &compare, got + 2, MPI_INT, rank, 7, window);
    MPI_Win_unlock(rank, window);
    say("got %d %d %d", got[0], got[1], got[2]);
    end("memory");
}

CASE(with_requests) {
    int one = 7, two[2] = {100, 200}, got[2] = {-1, -1};
    MPI_Request requests[4];
    MPI_Status statuses[4];
    begin();
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    MPI_Rput(two, 2, MPI_INT, next(), 0, 2, MPI_INT, window, &requests[0]);
    MPI_Raccumulate(&one, 1, MPI_INT, next(), 2, 1, MPI_INT, MPI_SUM, window, &requests[1]);
    MPI_Rget(got, 1, MPI_INT, next(), 3, 1, MPI_INT, window, &requests[2]);
    MPI_Rget_accumulate(&one, 1, MPI_INT, got + 1, 1, MPI_INT, next(), 4, 1, MPI_INT, MPI_SUM, window,
                        &requests[3]);
    MPI_Waitall(4, requests, statuses);
    say("got %d %d", got[0], got[1]);
    MPI_Rput(&one, 1, MPI_INT, next(), 5, 1, MPI_INT, window, &requests[0]);
    MPI_Rget(got, 1, MPI_INT, next(), 6, 1, MPI_INT, window, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Win_flush_all(window);
    MPI_Win_unlock_all(window);
    end("memory");
}

// The target, and counts of zero. Both MPIs look at the datatype all the same.
CASE(null_process_and_nothing) {
    int one = 1, got = -1;
    MPI_Request request;
    begin();
    MPI_Put(&one, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, window);
    MPI_Get(&got, 1, MPI_INT, MPI_PROC_NULL, 999, 1, MPI_INT, window);
    MPI_Accumulate(&one, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM, window);
    MPI_Get_accumulate(&one, 1, MPI_INT, &got, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM,
                       window);
    MPI_Fetch_and_op(&one, &got, MPI_INT, MPI_PROC_NULL, 0, MPI_SUM, window);
    MPI_Compare_and_swap(&one, &one, &got, MPI_INT, MPI_PROC_NULL, 0, window);
    MPI_Put(0, 0, MPI_INT, next(), 0, 0, MPI_INT, window);
    MPI_Get(0, 0, MPI_INT, next(), 0, 0, MPI_INT, window);
    MPI_Accumulate(0, 0, MPI_INT, next(), 0, 0, MPI_INT, MPI_SUM, window);
    MPI_Win_fence(0, window);
    MPI_Win_lock_all(0, window);
    MPI_Rput(&one, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, window, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Rget(&got, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, window, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_unlock_all(window);
    say("got %d", got);
    end("unchanged");
}

CASE(post_start_complete_wait) {
    MPI_Group world, others[2];
    int before = (rank + size - 1) % size, after = next(), done = 0, value = 90 + rank;
    begin();
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &before, &others[0]);
    MPI_Group_incl(world, 1, &after, &others[1]);
    for (int i = 0; i < 2; i++) {
        MPI_Win_post(others[0], 0, window);
        MPI_Win_start(others[1], 0, window);
        MPI_Put(&value, 1, MPI_INT, after, i, 1, MPI_INT, window);
        MPI_Win_complete(window);
        if (i) MPI_Win_wait(window);
        else
            for (done = 0; !done;) MPI_Win_test(window, &done);
    }
    // Groups of nobody.
    MPI_Win_post(MPI_GROUP_EMPTY, 0, window);
    MPI_Win_start(MPI_GROUP_EMPTY, 0, window);
    MPI_Win_complete(window);
    MPI_Win_wait(window);
    MPI_Group_free(&others[0]);
    MPI_Group_free(&others[1]);
    MPI_Group_free(&world);
    end("memory");
}

CASE(dynamic_window) {
    static int attached[4];
    MPI_Aint address, all[3];
    int value = 60 + rank;
    for (int i = 0; i < 4; i++) attached[i] = i;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_attach(window, attached, sizeof attached);
    MPI_Get_address(attached, &address);
    MPI_Allgather(&address, 1, MPI_AINT, all, 1, MPI_AINT, MPI_COMM_WORLD);
    MPI_Win_fence(0, window);
    MPI_Put(&value, 1, MPI_INT, next(), MPI_Aint_add(all[next()], sizeof(int)), 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    say("%d %d %d", attached[0], attached[1], attached[2]);
    MPI_Win_detach(window, attached);
    MPI_Win_free(&window);
}

CASE(shared_window) {
    MPI_Comm host;
    MPI_Aint bytes;
    int unit, *first;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Win_allocate_shared(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, host, &memory, &window);
    MPI_Comm_free(&host);
    MPI_Win_lock_all(0, window);
    memory[0] = 30 + rank;
    MPI_Win_sync(window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(window);
    MPI_Win_shared_query(window, MPI_PROC_NULL, &bytes, &unit, &first);
    say("%d of %d bytes", first[0], (int)bytes);
    MPI_Win_shared_query(window, next(), &bytes, &unit, &first);
    say("next: %d, unit %d", first[0], unit);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}

// Ranks without memory, and windows of other communicators.
CASE(windows_of_nothing) {
    int *base, flag, value = 3;
    MPI_Group group;
    MPI_Comm pair;
    MPI_Win_create(rank ? 0 : &value, rank ? 0 : sizeof value, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                   &window);
    MPI_Win_fence(MPI_MODE_NOPRECEDE, window);
    if (rank == 1) MPI_Put(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    MPI_Win_get_group(window, &group);
    MPI_Group_free(&group);
    MPI_Win_free(&window);
    say("value %d", value);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 2, 0, &pair);
    MPI_Win_allocate(rank == 2 ? 0 : 4, 1, MPI_INFO_NULL, pair, &base, &window);
    MPI_Comm_free(&pair);
    MPI_Win_get_attr(window, MPI_WIN_BASE, &base, &flag);
    MPI_Win_set_name(window, "a window");
    MPI_Win_free(&window);
    say("flag %d", flag);
}

CASE(operations_of_derived_types) {
    int from[6] = {1, 2, 3, 4, 5, 6}, got[6] = {0};
    MPI_Datatype strided;
    begin();
    MPI_Type_vector(3, 1, 2, MPI_INT, &strided);
    MPI_Type_commit(&strided);
    MPI_Win_fence(0, window);
    MPI_Put(from, 1, strided, next(), 0, 1, strided, window);
    MPI_Win_fence(0, window);
    MPI_Get(got, 3, MPI_INT, next(), 0, 1, strided, window);
    MPI_Type_free(&strided);
    MPI_Win_fence(0, window);
    say("%d %d %d", got[0], got[1], got[2]);
    end("memory");
}

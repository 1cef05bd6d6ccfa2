// Attributes: their callbacks are called as often as by the program's own calls. A duplicate of
// ours would copy those of the communicator.
#define RANKS 2
#include "case.h"

static int copies, deletions;

static int copy(MPI_Comm of, int key, void *state, void *value, void *made, int *flag) {
    copies++;
    *(void **)made = (char *)value + 1;
    *flag = 1;
    (void)of, (void)key, (void)state;
    return MPI_SUCCESS;
}

static int delete(MPI_Comm of, int key, void *value, void *state) {
    deletions++;
    (void)of, (void)key, (void)value, (void)state;
    return MPI_SUCCESS;
}

static void say_calls(const char *after) { say("%s: %d copies, %d deletions", after, copies, deletions); }

CASE(of_communicators) {
    int key, flag;
    long value = -1;
    void *got = 0;
    MPI_Comm made, next;
    copies = deletions = 0;
    MPI_Comm_create_keyval(copy, delete, &key, 0);
    say_number("keyval %d", key);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, (void *)100);
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    MPI_Comm_get_attr(made, key, &got, &flag);
    value = (long)got;
    say("%ld %d", value, flag);
    say_calls("Comm_dup");
    MPI_Comm_split(made, 0, rank, &next);
    MPI_Comm_get_attr(next, key, &got, &flag);
    say("split: %d", flag);
    say_calls("Comm_split");
    MPI_Comm_free(&next);
    MPI_Request request;
    MPI_Comm_idup(made, &next, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_get_attr(next, key, &got, &flag);
    say("idup: %ld %d", flag ? (long)got : -1, flag);
    MPI_Comm_free(&next);
    say_calls("Comm_idup");
    MPI_Comm_set_attr(made, key, (void *)200);
    MPI_Comm_delete_attr(made, key);
    MPI_Comm_get_attr(made, key, &got, &flag);
    say("deleted: %d", flag);
    MPI_Comm_free(&made);
    say_calls("Comm_free");
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    MPI_Comm_free_keyval(&key);
    check(key == MPI_KEYVAL_INVALID);
    MPI_Comm_free(&made);
    say_calls("Comm_free_keyval");
    // It stays on the world, whose duplicates are counted until the end.
}

CASE(of_topologies_and_intercommunicators) {
    int key, dims[1] = {size}, periods[1] = {1}, flag;
    void *got;
    MPI_Comm grid, self, inter, again;
    copies = deletions = 0;
    MPI_Comm_create_keyval(copy, delete, &key, 0);
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &grid);
    MPI_Comm_set_attr(grid, key, (void *)1);
    MPI_Comm_dup(grid, &again);
    MPI_Comm_free(&again);
    MPI_Comm_free(&grid);
    say_calls("grid");
    MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &self);
    MPI_Comm_set_attr(self, key, (void *)1);
    MPI_Intercomm_create(self, 0, MPI_COMM_WORLD, 1 - rank, 0, &inter);
    MPI_Comm_get_attr(inter, key, &got, &flag);
    say("inter: %d", flag);
    MPI_Comm_set_attr(inter, key, (void *)1);
    MPI_Comm_dup(inter, &again);
    MPI_Comm_free(&again);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&self);
    say_calls("inter");
    MPI_Comm_free_keyval(&key);
}

static int refuse(MPI_Comm of, int key, void *state, void *value, void *made, int *flag) {
    copies++;
    (void)of, (void)key, (void)state, (void)value, (void)made, (void)flag;
    return MPI_ERR_OTHER;
}

// A copy callback that fails makes MPI_Comm_dup fail: one of ours would end the program.
CASE(callback_that_fails) {
    int key;
    MPI_Comm made, of;
    copies = deletions = 0;
    MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &of);
    MPI_Comm_create_keyval(refuse, delete, &key, 0);
    MPI_Comm_set_attr(of, key, 0);
    MPI_Comm_set_errhandler(of, MPI_ERRORS_RETURN);
    say("failed %d", MPI_Comm_dup(of, &made) != MPI_SUCCESS);
    say_calls("Comm_dup");
    MPI_Comm_split(of, 0, 0, &made);
    MPI_Comm_free(&made);
    MPI_Comm_free(&of);
    MPI_Comm_free_keyval(&key);
    say_calls("Comm_free");
}

// The world's attributes are copied by whoever duplicates it, also in MPI_Finalize.
ALONE(refused_on_the_world_until_the_end, 2) {
    int key;
    initialise();
    MPI_Comm_create_keyval(refuse, MPI_COMM_NULL_DELETE_FN, &key, 0);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, 0);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, 0);
    MPI_Finalize();
    say("%d copies", copies);
}

static int count_type_copy(MPI_Datatype of, int key, void *state, void *value, void *made, int *flag) {
    copies++;
    *(void **)made = value;
    *flag = 1;
    (void)of, (void)key, (void)state;
    return MPI_SUCCESS;
}
static int count_type_delete(MPI_Datatype of, int key, void *value, void *state) {
    deletions++;
    (void)of, (void)key, (void)value, (void)state;
    return MPI_SUCCESS;
}
static int count_win_delete(MPI_Win of, int key, void *value, void *state) {
    deletions++;
    (void)of, (void)key, (void)value, (void)state;
    return MPI_SUCCESS;
}

CASE(of_datatypes_and_windows) {
    int key, flag, memory;
    void *got;
    MPI_Datatype made, again;
    MPI_Win window;
    copies = deletions = 0;
    MPI_Type_create_keyval(count_type_copy, count_type_delete, &key, 0);
    say_number("keyval of types %d", key);
    MPI_Type_contiguous(3, MPI_INT, &made);
    MPI_Type_set_attr(made, key, (void *)9);
    MPI_Type_dup(made, &again);
    MPI_Type_free(&made);
    MPI_Type_get_attr(again, key, &got, &flag);
    say("%ld %d", (long)got, flag);
    MPI_Type_free(&again);
    MPI_Type_free_keyval(&key);
    say_calls("types");
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, count_win_delete, &key, 0);
    say_number("keyval of windows %d", key);
    MPI_Win_create(&memory, 4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_set_attr(window, key, 0);
    MPI_Win_free(&window);
    MPI_Win_free_keyval(&key);
    say_calls("windows");
}

CASE(of_the_library) {
    int *value, flag;
    for (int i = 0; i < 2; i++) {
        MPI_Comm of = i ? MPI_COMM_SELF : MPI_COMM_WORLD;
        MPI_Comm_get_attr(of, MPI_TAG_UB, &value, &flag);
        say("tag %d %d", flag, flag ? *value : 0);
        MPI_Comm_get_attr(of, MPI_HOST, &value, &flag);
        say("host %d %d", flag, flag ? *value : 0);
        MPI_Comm_get_attr(of, MPI_IO, &value, &flag);
        say("io %d %d", flag, flag ? *value : 0);
        MPI_Comm_get_attr(of, MPI_WTIME_IS_GLOBAL, &value, &flag);
        say("global time %d %d", flag, flag ? *value : 0);
        MPI_Comm_get_attr(of, MPI_UNIVERSE_SIZE, &value, &flag);
        say("universe %d %d", flag, flag ? *value : 0);
        MPI_Comm_get_attr(of, MPI_APPNUM, &value, &flag);
        say("program %d %d", flag, flag ? *value : 0);
    }
}

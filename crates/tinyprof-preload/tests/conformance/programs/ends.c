// The order of MPI_Init, MPI_Finalize and the calls that are allowed before and after them, and the
// ways in which a program may end.
#include "case.h"

static void say_state(const char *when) {
    int is_initialised = -1, is_finalised = -1;
    MPI_Initialized(&is_initialised);
    MPI_Finalized(&is_finalised);
    say("%s: initialised %d finalised %d", when, is_initialised, is_finalised);
}

static void always_allowed(void) {
    int version, subversion, length;
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Get_version(&version, &subversion);
    MPI_Get_library_version(text, &length);
    say("MPI %d.%d, %zu bytes of text", version, subversion, strlen(text));
}

ALONE(allowed_before_and_after, 2) {
    say_state("before");
    always_allowed();
    initialise();
    say_state("between");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    say_state("after");
    always_allowed();
}

ALONE(never_initialised, 2) {
    say_state("never");
    always_allowed();
}

ALONE(initialised_with_threads, 2) {
    int provided = -1, is_main = -1;
    MPI_Init_thread(0, 0, MPI_THREAD_FUNNELED, &provided);
    MPI_Is_thread_main(&is_main);
    say("provided %d main %d", provided, is_main);
    MPI_Query_thread(&provided);
    say("again %d", provided);
    MPI_Finalize();
}

// Called once more, MPI_Init is an error, which ends the program.
ALONE(initialised_twice, 1) {
    initialise();
    MPI_Init(0, 0);
}

ALONE(finalised_at_once, 3) {
    MPI_Init(0, 0);
    MPI_Finalize();
    say_state("after");
}

static void at_exit(void) {
    case_name = "at exit";
    say_state("at exit");
}

ALONE(finalised_before_exit, 2) {
    atexit(at_exit);
    initialise();
    MPI_Finalize();
    exit(0);
}

static void finalise_at_exit(void) {
    int sum;
    case_name = "finalise at exit";
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    say("sum %d", sum);
    say_state("after");
}

ALONE(finalised_by_atexit, 2) {
    initialise();
    atexit(finalise_at_exit);
}

ALONE(finalised_by_atexit_that_was_set_before, 2) {
    atexit(finalise_at_exit);
    initialise();
}

__attribute__((destructor)) static void destroyed(void) {
    if (!strcmp(case_name, "destructors")) say_state("destructor");
}

ALONE(finalised_and_destroyed, 1) {
    initialise();
    MPI_Finalize();
    case_name = "destructors";
    exit(3);
}

// Callbacks of attributes of MPI_COMM_SELF are the first that MPI_Finalize does: MPI still works,
// and says that it is not finalised (MPI 4.0, section 11.2.4).
static int at_finalize(MPI_Comm of, int key, void *value, void *state) {
    int is_finalised = -1, sum = -1, received = -1;
    MPI_Finalized(&is_finalised);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Sendrecv(&rank, 1, MPI_INT, size - 1 - rank, 5, &received, 1, MPI_INT, size - 1 - rank, 5,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    say("callback %ld: finalised %d sum %d received %d, self %d", (long)value, is_finalised, sum,
        received, of == MPI_COMM_SELF);
    (void)key, (void)state;
    return MPI_SUCCESS;
}

ALONE(callbacks_in_finalize, 2) {
    int keys[3];
    initialise();
    for (long i = 0; i < 3; i++) {
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_finalize, &keys[i], 0);
        MPI_Comm_set_attr(MPI_COMM_SELF, keys[i], (void *)i);
    }
    MPI_Finalize();
    say_state("after");
}

static int exit_in_finalize(MPI_Comm of, int key, void *value, void *state) {
    say("exits");
    (void)of, (void)key, (void)value, (void)state;
    return MPI_SUCCESS;
}

ALONE(objects_left_over, 2) {
    int key, memory[4];
    MPI_Comm left;
    MPI_Datatype type;
    MPI_Request request;
    MPI_Group group;
    initialise();
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, exit_in_finalize, &key, 0);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, 0);
    for (int i = 0; i < 5; i++) MPI_Comm_dup(MPI_COMM_WORLD, &left);
    MPI_Comm_group(left, &group);
    MPI_Type_contiguous(4, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Send_init(memory, 1, type, 1 - rank, 0, left, &request);
    MPI_Recv_init(memory, 1, type, 1 - rank, 0, left, &request);
    MPI_Finalize();
    say_state("after");
}

ALONE(aborts, 2) {
    initialise();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) MPI_Abort(MPI_COMM_WORLD, 9);
    pause();
}

ALONE(aborts_itself, 1) {
    initialise();
    MPI_Abort(MPI_COMM_SELF, 11);
}

ALONE(raises_a_signal, 1) {
    initialise();
    raise(SIGTERM);
}

ALONE(leaves_at_once, 1) {
    initialise();
    MPI_Finalize();
    _exit(5);
}

// Threads: all levels of support, and several threads that send, receive, probe and wait at a time.
#include "case.h"
#include <pthread.h>

enum { THREADS = 4, TIMES = 60 };

static int provided;
static MPI_Comm own[THREADS];
static int right[THREADS];

// Returns whether MPI gives what the program asks for.
static int initialise_threads(int required) {
    MPI_Init_thread(0, 0, required, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    say("provided %d", provided);
    return provided >= required;
}

static void run_threads(void *(*work)(void *)) {
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], 0, work, (void *)i);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], 0);
    say("right: %d %d %d %d", right[0], right[1], right[2], right[3]);
    memset(right, 0, sizeof right);
}

ALONE(levels_below, 1) {
    int flag = -1;
    initialise_threads(MPI_THREAD_SINGLE);
    MPI_Is_thread_main(&flag);
    say("main %d", flag);
    MPI_Finalize();
}

static void *not_main(void *unused) {
    int flag = -1, level = -1;
    MPI_Is_thread_main(&flag);
    MPI_Query_thread(&level);
    say("main %d level %d", flag, level);
    return unused;
}

ALONE(funneled, 2) {
    pthread_t thread;
    initialise_threads(MPI_THREAD_FUNNELED);
    pthread_create(&thread, 0, not_main, 0);
    pthread_join(thread, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// One thread at a time; each exchanges messages with the thread of its number.
static void *take_turns(void *of) {
    long me = (long)of;
    for (int i = 0; i < TIMES; i++) {
        int value = -1;
        MPI_Request request;
        pthread_mutex_lock(&lock);
        MPI_Irecv(&value, 1, MPI_INT, rank, me, MPI_COMM_WORLD, &request);
        MPI_Send(&i, 1, MPI_INT, rank, me, MPI_COMM_WORLD);
        pthread_mutex_unlock(&lock);
        pthread_mutex_lock(&lock);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        pthread_mutex_unlock(&lock);
        right[me] += value == i;
    }
    return 0;
}

ALONE(serialized, 2) {
    initialise_threads(MPI_THREAD_SERIALIZED);
    run_threads(take_turns);
    MPI_Finalize();
}

static pthread_t last;
static void *finalise(void *unused) {
    MPI_Barrier(MPI_COMM_WORLD);
    return unused;
}

// The thread that calls last is not the main one.
ALONE(last_call_by_another, 2) {
    initialise_threads(MPI_THREAD_SERIALIZED);
    pthread_create(&last, 0, finalise, 0);
    pthread_join(last, 0);
    MPI_Finalize();
}

static void *exchange(void *of) {
    long me = (long)of;
    for (int i = 0; i < TIMES; i++) {
        int value = -1, sent = 100 * me + i;
        MPI_Status status;
        MPI_Sendrecv(&sent, 1, MPI_INT, 1 - rank, me, &value, 1, MPI_INT, MPI_ANY_SOURCE, me,
                     MPI_COMM_WORLD, &status);
        right[me] += value == sent && status.MPI_SOURCE == 1 - rank;
    }
    return 0;
}

static void *probe(void *of) {
    long me = (long)of;
    for (int i = 0; i < TIMES; i++) {
        int value = -1;
        MPI_Message message;
        MPI_Status status;
        MPI_Request send;
        MPI_Isend(&i, 1, MPI_INT, 1 - rank, 50, MPI_COMM_WORLD, &send);
        // Whichever message it is: each is matched once.
        MPI_Mprobe(MPI_ANY_SOURCE, 50, MPI_COMM_WORLD, &message, &status);
        MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
        MPI_Wait(&send, MPI_STATUS_IGNORE);
        right[me] += value >= 0 && value < TIMES;
    }
    return 0;
}

static void *reduce(void *of) {
    long me = (long)of;
    for (int i = 0; i < TIMES; i++) {
        int sum = -1;
        MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, own[me]);
        right[me] += sum == 2 * i;
    }
    return 0;
}

// Communicators that are made and freed by several threads at a time.
static void *make_communicators(void *of) {
    long me = (long)of;
    for (int i = 0; i < TIMES / 4; i++) {
        MPI_Comm made;
        MPI_Request request;
        int value = -1;
        MPI_Comm_dup(own[me], &made);
        MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, made, &request);
        MPI_Send(&i, 1, MPI_INT, 1 - rank, 0, made);
        if (i % 2) MPI_Comm_free(&made);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (made != MPI_COMM_NULL) MPI_Comm_free(&made);
        right[me] += value == i;
    }
    return 0;
}

static MPI_Request shared[THREADS];
static int shared_values[THREADS];

// Waits for a request that the main thread has made.
static void *wait_for_another(void *of) {
    long me = (long)of;
    MPI_Status status;
    MPI_Wait(&shared[me], &status);
    right[me] += shared_values[me] == 7 + me && status.MPI_TAG == 10 + me;
    return 0;
}

ALONE(multiple, 2) {
    if (!initialise_threads(MPI_THREAD_MULTIPLE)) {
        MPI_Finalize();
        SKIP("this MPI has no MPI_THREAD_MULTIPLE");
    }
    for (int i = 0; i < THREADS; i++) MPI_Comm_dup(MPI_COMM_WORLD, &own[i]);
    run_threads(exchange);
    run_threads(probe);
    run_threads(reduce);
#ifndef OPEN_MPI
    // Open MPI 4.1.4 itself may hang where several threads make communicators.
    run_threads(make_communicators);
#else
    (void)make_communicators;
#endif
    for (int i = 0; i < THREADS; i++)
        MPI_Irecv(&shared_values[i], 1, MPI_INT, 1 - rank, 10 + i, MPI_COMM_WORLD, &shared[i]);
    for (int i = 0; i < THREADS; i++) {
        int value = 7 + i;
        MPI_Send(&value, 1, MPI_INT, 1 - rank, 10 + i, MPI_COMM_WORLD);
    }
    run_threads(wait_for_another);
    for (int i = 0; i < THREADS; i++) MPI_Comm_free(&own[i]);
    MPI_Finalize();
}

// Requests that are freed while active, cancelled, started again, tested and waited for, by threads
// that share the world and have a communicator each.
static void *all_requests(void *of) {
    long me = (long)of;
    static int values[THREADS][4], sent[THREADS][600];
    MPI_Request again;
    MPI_Send_init(&sent[me][0], 1, MPI_INT, rank, 20 + me, MPI_COMM_WORLD, &again);
    for (int i = 0; i < TIMES; i++) {
        int *got = values[me], index = -1, flag = 0, cancelled = 0, count = i % 2 ? 1 : 600;
        MPI_Request requests[4], freed;
        MPI_Status status, statuses[4];
        sent[me][0] = 100 * i + me;
        MPI_Irecv(&got[0], 1, MPI_INT, 1 - rank, me, own[me], &requests[0]);
        MPI_Irecv(&got[1], 1, MPI_INT, MPI_ANY_SOURCE, 20 + me, MPI_COMM_WORLD, &requests[1]);
        MPI_Irecv(&got[2], 1, MPI_INT, MPI_ANY_SOURCE, 90 + me, own[me], &requests[2]);
        MPI_Irecv(&got[3], 600, MPI_INT, MPI_PROC_NULL, me, MPI_COMM_WORLD, &requests[3]);
        MPI_Isend(&sent[me][0], 1, MPI_INT, 1 - rank, me, own[me], &freed);
        MPI_Request_free(&freed);
        MPI_Cancel(&requests[2]);
        MPI_Start(&again);
        MPI_Waitany(1, &requests[1], &index, &status);
        int is_right = !index && got[1] == sent[me][0] && status.MPI_SOURCE == rank;
        MPI_Wait(&again, MPI_STATUS_IGNORE);
        MPI_Waitall(4, requests, statuses);
        MPI_Test_cancelled(&statuses[2], &cancelled);
        is_right = is_right && cancelled && got[0] == sent[me][0];
        MPI_Isend(sent[me], count, MPI_INT, rank, 40 + me, MPI_COMM_WORLD, &requests[0]);
        while (!flag) MPI_Iprobe(rank, 40 + me, MPI_COMM_WORLD, &flag, &status);
        static int large[THREADS][600];
        MPI_Recv(large[me], 600, MPI_INT, rank, 40 + me, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (flag = 0; !flag;) MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
        MPI_Get_count(&status, MPI_INT, &index);
        right[me] += is_right && index == count && large[me][0] == sent[me][0];
        // What was sent with a request that is freed stays until the other rank has it.
        MPI_Barrier(own[me]);
    }
    MPI_Request_free(&again);
    return 0;
}

ALONE(multiple_with_all_requests, 2) {
    if (!initialise_threads(MPI_THREAD_MULTIPLE)) {
        MPI_Finalize();
        SKIP("this MPI has no MPI_THREAD_MULTIPLE");
    }
    for (int i = 0; i < THREADS; i++) MPI_Comm_dup(MPI_COMM_WORLD, &own[i]);
    for (int time = 0; time < 3; time++) run_threads(all_requests);
    for (int i = 0; i < THREADS; i++) MPI_Comm_free(&own[i]);
    MPI_Finalize();
}

// Threads that still run, and do nothing, when MPI is finalised.
static void *pause_for_ever(void *unused) {
    pause();
    return unused;
}

ALONE(threads_left_over, 2) {
    pthread_t thread;
    initialise_threads(MPI_THREAD_MULTIPLE);
    for (int i = 0; i < THREADS; i++) pthread_create(&thread, 0, pause_for_ever, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    say("finalised");
}

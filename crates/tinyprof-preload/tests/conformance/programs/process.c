// Programs that do to their process what programs may: signals, fork, longjmp, closed files, other
// directories, and an environment without variables.
#include "case.h"
#include <setjmp.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <pthread.h>

static int sum_of_ranks(void) {
    int sum = -1;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

static volatile sig_atomic_t signals;
static void count_signal(int number) {
    signals++;
    (void)number;
}

ALONE(signal_handlers, 2) {
    struct sigaction before, action = {.sa_handler = count_signal};
    sigset_t blocked, still;
    // Those of the program from before MPI_Init stay.
    sigaction(SIGUSR1, &action, 0);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR2);
    sigprocmask(SIG_BLOCK, &blocked, 0);
    initialise();
    raise(SIGUSR1);
    sigprocmask(SIG_BLOCK, 0, &still);
    say("seen %d, blocked %d", (int)signals, sigismember(&still, SIGUSR2));
    int changed[] = {SIGINT, SIGHUP, SIGPIPE, SIGCHLD, SIGPROF, SIGALRM, SIGUSR2, SIGCONT};
    for (unsigned i = 0; i < sizeof changed / sizeof *changed; i++) {
        sigaction(changed[i], 0, &before);
        say("%d: default %d ignored %d", changed[i], before.sa_handler == SIG_DFL,
            before.sa_handler == SIG_IGN);
    }
    say("sum %d", sum_of_ranks());
    MPI_Finalize();
    raise(SIGUSR1);
    say("seen %d", (int)signals);
}

static void call_in_handler(int number) {
    int flag;
    MPI_Initialized(&flag);
    signals += flag;
    (void)number;
}

// Allowed calls in a handler that interrupts other calls.
ALONE(calls_in_signal_handlers, 2) {
    initialise();
    signal(SIGUSR1, call_in_handler);
    for (int i = 0; i < 50; i++) {
        raise(SIGUSR1);
        sum_of_ranks();
    }
    say("%d", (int)signals);
    MPI_Finalize();
}

ALONE(fork_and_exec, 2) {
    int status = -1;
    initialise();
    pid_t child = fork();
    if (child == 0) {
        char *words[] = {"/bin/sh", "-c", "exit 7", 0};
        execv(words[0], words);
        _exit(1);
    }
    waitpid(child, &status, 0);
    say("exec: %d", WEXITSTATUS(status));
    child = fork();
    if (child == 0) _exit(8);
    waitpid(child, &status, 0);
    say("child: %d", WEXITSTATUS(status));
    child = fork();
    // With the handlers of atexit.
    if (child == 0) exit(9);
    waitpid(child, &status, 0);
    say("child: %d, system: %d, sum %d", WEXITSTATUS(status), WEXITSTATUS(system("exit 3")),
        sum_of_ranks());
    MPI_Finalize();
}

ALONE(forked_before_init, 2) {
    int status = -1;
    pid_t child = fork();
    if (child == 0) _exit(4);
    waitpid(child, &status, 0);
    initialise();
    say("child: %d, sum %d", WEXITSTATUS(status), sum_of_ranks());
    MPI_Finalize();
}

static jmp_buf place;
static void jump(MPI_Comm *of, int *code, ...) {
    (void)of, (void)code;
    longjmp(place, 1);
}

// Out of a call of MPI. Calls after it are recorded as if it had returned.
ALONE(jumps_out_of_an_error_handler, 2) {
    MPI_Errhandler handler;
    volatile int jumps = 0;
    int value = 0, depth = 0;
    initialise();
    MPI_Comm_create_errhandler(jump, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    for (volatile int i = 0; i < 20; i++) {
        if (setjmp(place)) jumps++;
        else MPI_Send(&value, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);
        depth += sum_of_ranks();
    }
    say("jumps %d, sums %d", jumps, depth);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler);
    MPI_Finalize();
}

ALONE(standard_files_closed_after_init, 2) {
    initialise();
    for (int i = 0; i < 3; i++) close(i);
    int files[3];
    for (int i = 0; i < 3; i++) files[i] = open("/dev/null", O_RDWR);
    say("%d %d %d, sum %d", files[0], files[1], files[2], sum_of_ranks());
    for (int i = 0; i < 3; i++) close(files[i]);
    MPI_Finalize();
    // Nobody else has taken the numbers.
    say("%d", open("/dev/null", O_RDWR));
}

ALONE(files_of_the_program, 2) {
    // Descriptors that the library leaves open would shift the program's.
    int before = open("/dev/null", O_RDONLY);
    initialise();
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    int after = open("/dev/null", O_RDONLY);
    say("before %d", before >= 3);
    say_number("after %d", after);
    // All but the standard ones may not be closed, as MPI's own are among them; the program's may.
    close(before);
    close(after);
    say("sum %d", sum_of_ranks());
    MPI_Finalize();
}

ALONE(other_directory, 2) {
    char name[] = "/tmp/conformance-XXXXXX", here[4096];
    initialise();
    check(mkdtemp(name) && !chdir(name));
    rmdir(name);
    say("gone %d, sum %d", getcwd(here, sizeof here) == 0, sum_of_ranks());
    MPI_Finalize();
}

ALONE(environment_cleared_after_init, 2) {
    static char lines[4096];
    initialise();
    strcpy(lines, lines_name);
    clearenv();
    say("%d, sum %d", getenv("PATH") == 0, sum_of_ranks());
    MPI_Finalize();
    say("still empty %d", getenv("PATH") == 0);
}

// Without the launcher's variables, each process is a world of its own.
ALONE(environment_cleared_before_init, 1) {
    clearenv();
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    setenv("PATH", "/usr/bin:/bin", 1);
    initialise();
    say("size %d", size);
    MPI_Finalize();
}

static void *overflow(void *of) {
    // A small stack, as some programs give their threads.
    int sum = sum_of_ranks();
    *(int *)of = sum;
    return 0;
}

ALONE(small_stacks, 2) {
    int provided, sum = -1;
    pthread_t thread;
    pthread_attr_t attributes;
    MPI_Init_thread(0, 0, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 256 << 10);
    pthread_create(&thread, &attributes, overflow, &sum);
    pthread_join(thread, 0);
    say("sum %d", sum);
    MPI_Finalize();
}

ALONE(no_file_may_be_written, 2) {
    signal(SIGXFSZ, SIG_IGN);
    initialise();
    say("sum %d", sum_of_ranks());
    // say() itself writes, a little.
    struct rlimit limit = {16384, 16384};
    setrlimit(RLIMIT_FSIZE, &limit);
    MPI_Finalize();
    say("after");
}

// What the programs of conformance share: cases, and the lines by which runs are compared.
//
// To add a case, write CASE(its_name) { ... } into the file of its subject. Cases of a file run one
// after another in one job of RANKS ranks, and without those up to NAME if called with `after
// NAME`. ALONE(its_name, ranks) { ... } runs in a job of its own and calls MPI_Init itself, if at
// all. Both say() what they see: results, error classes, numbers of callbacks. A line must be the
// same in each run of the program, with and without the library. check() says only what is wrong,
// and must hold without the library.
#include <mpi.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef RANKS
#define RANKS 2
#endif

struct Case {
    const char *name;
    void (*run)(void);
    // 0 for the job that all cases share.
    int ranks;
};

static struct Case cases[128];
static int case_count;
static const char *case_name = "start";
static char lines_name[4096];
static int rank, size;

#define CASE(name) CASE_OF(name, 0)
#define ALONE(name, ranks) CASE_OF(name, ranks)
#define CASE_OF(name, ranks)                                                         \
    static void name(void);                                                          \
    __attribute__((constructor)) static void add_##name(void) {                      \
        cases[case_count++] = (struct Case){#name, name, ranks};                     \
    }                                                                                \
    static void name(void)

// Says what is seen. Each line is in the file before the call returns, as the next one may crash.
__attribute__((unused, format(printf, 1, 2))) static void say(const char *format, ...) {
    char line[4096];
    int length = snprintf(line, sizeof line, "%s: ", case_name);
    va_list arguments;
    va_start(arguments, format);
    length += vsnprintf(line + length, sizeof line - length - 1, format, arguments);
    va_end(arguments);
    line[length++] = '\n';
    int file = open(lines_name, O_WRONLY | O_CREAT | O_APPEND, 0644);
    if (file < 0 || write(file, line, length) != length) _exit(99);
    close(file);
}

// Says a number that MPI chooses, which differs where the library needs objects of its own.
#define say_number(format, ...) say("number: " format, __VA_ARGS__)

#define check(condition) \
    do { \
        if (!(condition)) say("WRONG, line %d: %s", __LINE__, #condition); \
    } while (0)

// Leaves a case that this MPI does not survive, or does not have.
#define SKIP(reason) \
    do { \
        say("skipped, %s", reason); \
        return; \
    } while (0)

// Names the file of this process's lines. Ranks of a world have their launcher's number, as cases
// say things before MPI_Init, too.
__attribute__((unused)) static void name_lines(const char *process) {
    snprintf(lines_name, sizeof lines_name, "%s/%s", getenv("CONFORMANCE_LINES"), process);
}

__attribute__((unused)) static void initialise(void) {
    MPI_Init(0, 0);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
}

__attribute__((unused)) static int class_of(int code) {
    int class = -1;
    MPI_Error_class(code, &class);
    return class;
}

static void run(const struct Case *of) {
    case_name = of->name;
    say("begins");
    of->run();
    case_name = "end";
}

int main(int count, char **arguments) {
    if (count > 1 && !strcmp(arguments[1], "list")) {
        int together = 0;
        for (int i = 0; i < case_count; i++) together += !cases[i].ranks;
        if (together) printf("%d\n", RANKS);
        for (int i = 0; i < case_count; i++)
            if (cases[i].ranks) printf("%d %s\n", cases[i].ranks, cases[i].name);
        return 0;
    }
    const char *process = getenv("PMI_RANK");
    if (!process) process = getenv("OMPI_COMM_WORLD_RANK");
    name_lines(process ? process : "0");
    alarm(100);
    for (int i = 0; count > 1 && i < case_count; i++)
        if (!strcmp(arguments[1], cases[i].name)) {
            run(&cases[i]);
            return 0;
        }
    // After a case that has ended the job: the rest.
    int first = 0;
    if (count > 2)
        while (first < case_count && strcmp(arguments[2], cases[first++].name)) continue;
    initialise();
    for (int i = first; i < case_count; i++)
        if (!cases[i].ranks) {
            run(&cases[i]);
            MPI_Barrier(MPI_COMM_WORLD);
        }
    MPI_Finalize();
    return 0;
}

// Processes that are spawned, and jobs that connect: each world is one of its own.
// MPICH as Debian builds it has no dynamic processes: there, all jobs end with the same code.
#include "case.h"

static char executable[4096];

static void find_executable(void) {
    ssize_t length = readlink("/proc/self/exe", executable, sizeof executable - 1);
    executable[length > 0 ? length : 0] = 0;
}

// What a spawned process does: it has a parent, and merges with it.
static void be_child(MPI_Comm parent) {
    int remote, sum;
    char process[32];
    MPI_Comm merged;
    snprintf(process, sizeof process, "child-%d", rank);
    name_lines(process);
    MPI_Comm_remote_size(parent, &remote);
    MPI_Bcast(&sum, 1, MPI_INT, 0, parent);
    say("from the parent: %d, of %d", sum, remote);
    MPI_Send(&rank, 1, MPI_INT, 0, 3, parent);
    MPI_Intercomm_merge(parent, 1, &merged);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, merged);
    say("sum %d", sum);
    MPI_Comm_free(&merged);
    MPI_Comm_disconnect(&parent);
    MPI_Finalize();
}

static void spawn_and_merge(int count, char **words) {
    int value = 40 + rank, sum = 0, codes[2] = {-1, -1};
    MPI_Comm children, merged, parent;
    MPI_Status status;
    find_executable();
    initialise();
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        be_child(parent);
        return;
    }
    // Command, arguments, count and info are significant at the root.
    int is_root = rank == 0;
    MPI_Comm_spawn(is_root ? executable : (char *)7, is_root ? words : (char **)7, is_root ? count : -3,
                   MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, count == 1 ? MPI_ERRCODES_IGNORE : codes);
    MPI_Bcast(&value, 1, MPI_INT, is_root ? MPI_ROOT : MPI_PROC_NULL, children);
    for (int i = 0; is_root && i < count; i++) {
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 3, children, &status);
        check(value == status.MPI_SOURCE);
    }
    MPI_Intercomm_merge(children, 0, &merged);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, merged);
    if (count == 2) say("codes %d %d", codes[0], codes[1]);
    MPI_Comm_free(&merged);
    MPI_Comm_disconnect(&children);
    MPI_Finalize();
    say("done");
}

ALONE(spawned, 1) { spawn_and_merge(2, (char *[]){"spawned", 0}); }
ALONE(spawned_by_two, 2) { spawn_and_merge(1, (char *[]){"spawned_by_two", 0}); }

// Two parts of a job that connect as if they did not know each other.
ALONE(accepted, 2) {
    char port[MPI_MAX_PORT_NAME] = "";
    int value = -1, remote = -1;
    MPI_Comm inter;
    initialise();
    if (rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
        MPI_Close_port(port);
    } else {
        MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
    }
    MPI_Comm_remote_size(inter, &remote);
    MPI_Sendrecv(&rank, 1, MPI_INT, 0, 0, &value, 1, MPI_INT, MPI_ANY_SOURCE, 0, inter,
                 MPI_STATUS_IGNORE);
    say("value %d of %d", value, remote);
    MPI_Comm_disconnect(&inter);
    MPI_Finalize();
}

/* Enters a sandbox between MPI_Init and MPI_Finalize, in which calls that a profiler may need, and
 * MPI does not, end the process: also the question for the sandbox. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static const int deadly[] = {
    SYS_mkdirat, SYS_clone, SYS_clone3, SYS_getcwd, SYS_readlinkat, SYS_renameat2, SYS_fallocate,
    SYS_fsync, SYS_rt_sigpending, SYS_prctl,
#ifdef SYS_mkdir
    SYS_mkdir, SYS_readlink, SYS_rename,
#endif
};

static int enter(void) {
    struct sock_filter code[2 * COUNT(deadly) + 2];
    int length = 0;
    code[length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                                  offsetof(struct seccomp_data, nr));
    for (int i = 0; i < COUNT(deadly); i++) {
        code[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, deadly[i], 0, 1);
        code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    }
    code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {length, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return 1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

int main(int argc, char **argv) {
    int rank, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (enter()) return 9;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("the sum is %d\n", sum);
    MPI_Finalize();
    return 7;
}

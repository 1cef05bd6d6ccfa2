// Starts a program to which the system refuses samples: `filtered EVENT|MEMORY ERROR PROGRAM ...`,
// or lets it not look into the kernel, as it lets no ordinary user: `filtered KERNEL 0 PROGRAM ...`.
// The filter is one of the system, which a container has: the program does not ask for it.
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOAD(field) \
  BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define UNLESS(value, skipped) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skipped)
#define IF(value, skipped) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, skipped, 0)

int main(int argc, char **argv) {
  if (argc < 4) return 1;
  if (!strcmp(argv[1], "KERNEL")) {
    // They are not there, or the program runs for an ordinary user.
    prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN, 0, 0, 0);
    prctl(PR_CAPBSET_DROP, CAP_PERFMON, 0, 0, 0);
    execv(argv[3], argv + 3);
    return 4;
  }
  unsigned refuse = SECCOMP_RET_ERRNO | (atoi(argv[2]) & SECCOMP_RET_DATA);
  struct sock_filter event[] = {
      LOAD(nr),
      UNLESS(SYS_perf_event_open, 1),
      BPF_STMT(BPF_RET | BPF_K, refuse),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  // Shared memory of a page and 16, 4, 2 or 1 pages, at a place of the caller's choice.
  struct sock_filter memory[] = {
      LOAD(nr),        UNLESS(SYS_mmap, 8),
      LOAD(args[3]),   UNLESS(MAP_SHARED | MAP_FIXED, 6),
      LOAD(args[1]),   IF(17 * 4096, 3),
      IF(5 * 4096, 2), IF(3 * 4096, 1),
      UNLESS(2 * 4096, 1),
      BPF_STMT(BPF_RET | BPF_K, refuse),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  int is_event = !strcmp(argv[1], "EVENT");
  struct sock_fprog filter = {
      .len = is_event ? sizeof event / sizeof *event : sizeof memory / sizeof *memory,
      .filter = is_event ? event : memory,
  };
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return 2;
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter)) return 3;
  execv(argv[3], argv + 3);
  return 4;
}

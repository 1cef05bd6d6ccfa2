/* To be preloaded by ranks of an MPICH over UCX: an idle rank sleeps between two looks for messages.
   MPICH itself spins, so that with more ranks than processors most looks are of ranks that have
   nothing to do, and each holds a processor for its whole time slice. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

/* These looks in vain come first, as what is on its way from another processor comes soon. */
enum { LOOKS = 20, SLEEP_NS = 1000 };

unsigned ucp_worker_progress(void *worker)
{
    static unsigned (*progress)(void *);
    static __thread int in_vain;
    if (!progress) {
        void *next = dlsym(RTLD_NEXT, "ucp_worker_progress");
        /* Where MPI is a library of a plug-in's own, as in Python. */
        void *own = next ? 0 : dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD);
        progress = (unsigned (*)(void *))(own ? dlsym(own, "ucp_worker_progress") : next);
    }
    unsigned found = progress(worker);
    if (found) {
        in_vain = 0;
    } else if (++in_vain > LOOKS) {
        struct timespec pause = { 0, SLEEP_NS };
        nanosleep(&pause, 0);
    }
    return found;
}

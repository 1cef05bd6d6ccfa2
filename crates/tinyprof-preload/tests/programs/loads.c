// Loads the plugin that the first argument names, for itself alone, and closes it. Knows nothing of
// MPI, unless it is linked to the plugin: then it ends MPI, or leaves that to the plugin if there
// is an argument.
#include <dlfcn.h>
#include <stdio.h>

#ifdef LINKED
int run(int argc, char **argv);
int MPI_Finalize(void);

int main(int argc, char **argv) {
    int code = run(argc, argv);
    if (argc == 1) MPI_Finalize();
    return code;
}
#else
int main(int argc, char **argv) {
    void *plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!plugin) return fprintf(stderr, "%s\n", dlerror()), 7;
    int (*run)(int, char **) = (int (*)(int, char **))dlsym(plugin, "run");
    int code = run ? run(argc, argv) : 8;
    dlclose(plugin);
    return code;
}
#endif

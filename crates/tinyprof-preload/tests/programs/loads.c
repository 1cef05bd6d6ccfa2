// Knows nothing of MPI: loads the plugin that the first argument names, for itself alone.
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
    void *plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!plugin) return fprintf(stderr, "%s\n", dlerror()), 7;
    int (*run)(int, char **) = (int (*)(int, char **))dlsym(plugin, "run");
    return run ? run(argc, argv) : 8;
}

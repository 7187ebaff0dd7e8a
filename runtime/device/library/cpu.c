/* OpenBLAS and FFTW. See cpu.h. */
#include "runtime/device/library/cpu.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static const struct {
    const char *file, *name, *package;
} libraries[CPU_LIBRARIES] = {
    [CPU_OPENBLAS] = {"libopenblas.so.0", "OpenBLAS", "libopenblas0"},
    [CPU_FFTW] = {"libfftw3.so.3", "FFTW", "libfftw3-double3"},
    [CPU_FFTW_SINGLE] = {"libfftw3f.so.3", "FFTW", "libfftw3-single3"},
};

static struct {
    pthread_mutex_t lock;
    void *handles[CPU_LIBRARIES];
    bool said[CPU_LIBRARIES];
} cpu = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* FFTW's planner is one for all users of a process. Its threads library can lock it. */
static void share_planner(enum cpu_library library)
{
    const bool is_double = library == CPU_FFTW;
    void *handle = dlopen(is_double ? "libfftw3_threads.so.3" : "libfftw3f_threads.so.3",
                          RTLD_NOW | RTLD_LOCAL);
    void (*make_safe)(void) = NULL;
    if (handle)
        *(void **)&make_safe = dlsym(handle, is_double ? "fftw_make_planner_thread_safe"
                                                       : "fftwf_make_planner_thread_safe");
    if (make_safe)
        make_safe();
}

/* One thread, so that equal work gives equal bits, which csan explore compares. */
static void prepare(enum cpu_library library)
{
    void (*threads)(int) = NULL;
    if (library != CPU_OPENBLAS)
        share_planner(library);
    else
        *(void **)&threads = dlsym(cpu.handles[library], "openblas_set_num_threads");
    if (threads)
        threads(1);
}

bool cpu_open(enum cpu_library library, const char *user)
{
    pthread_mutex_lock(&cpu.lock);
    if (!cpu.handles[library]) {
        cpu.handles[library] = dlopen(libraries[library].file, RTLD_NOW | RTLD_LOCAL);
        if (cpu.handles[library])
            prepare(library);
    }
    const bool open = cpu.handles[library] != NULL;
    const bool says = !open && !cpu.said[library];
    cpu.said[library] |= says;
    pthread_mutex_unlock(&cpu.lock);
    if (says)
        fprintf(stderr,
                "csan device: %s needs %s on the embedded device, and %s cannot be opened; install "
                "it (Debian, Ubuntu: apt-get install %s)\n",
                user, libraries[library].name, libraries[library].file, libraries[library].package);
    return open;
}

void *cpu_function(enum cpu_library library, const char *name)
{
    void *handle = __atomic_load_n(&cpu.handles[library], __ATOMIC_ACQUIRE);
    return handle ? dlsym(handle, name) : NULL;
}

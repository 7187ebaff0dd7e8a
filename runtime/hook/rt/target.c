/* Which CUDA runtime library the program's calls go to: NVIDIA's, or the embedded device's, of CUDA
 * 12 or of CUDA 13.
 *
 *   CSAN_DEVICE=embedded   csan/embedded/libcudart.so.12 or .13 beside this library
 *   CSAN_DEVICE=gpu        NVIDIA's
 *   auto, or not set       NVIDIA's; with CSAN=1 and no GPU that works, the embedded one
 *
 * Decided once, at the program's first runtime call, which may come before any constructor. A
 * process may use both versions: each library is opened when a call first wants it. */
#include "runtime/hook/rt/resolve.h"
#include "csan/base/environment.h"
#include "runtime/hook/rt/gpu_probe.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct runtime {
    const char *name;
    pthread_once_t once;
    void *library;
};

static struct {
    pthread_once_t once;
    bool embedded;
    char directory[PATH_MAX]; /* where this library lies */
    struct runtime twelve, thirteen;
} target = {.once = PTHREAD_ONCE_INIT,
            .twelve = {"libcudart.so.12", PTHREAD_ONCE_INIT, NULL},
            .thirteen = {"libcudart.so.13", PTHREAD_ONCE_INIT, NULL}};

static void find_directory(void)
{
    Dl_info info;
    if (!dladdr(&target, &info) || !info.dli_fname || !realpath(info.dli_fname, target.directory)) {
        target.directory[0] = '\0';
        return;
    }
    char *slash = strrchr(target.directory, '/');
    if (slash)
        *slash = '\0';
}

/* directory/below/name. `below` is "" or ends in a slash. */
static void *open_in(const char *directory, const char *below, const char *name, int flags)
{
    char path[PATH_MAX];
    if (!directory || !*directory ||
        snprintf(path, sizeof path, "%s/%s%s", directory, below, name) >= (int)sizeof path)
        return NULL;
    return dlopen(path, flags);
}

/* Any library's own path; NULL when it has none. */
static const char *library_path(void *library)
{
    struct link_map *map = NULL;
    return dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map ? map->l_name : NULL;
}

static bool is_embedded(void *library)
{
    const char *path = library_path(library);
    return path && strstr(path, "/csan/embedded/") != NULL;
}

/* NVIDIA's: the copy the process has already, else where the dynamic loader, this installation and
 * the toolkit keep it. */
static void *open_real(const char *name)
{
    void *library = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
    if (!library)
        library = dlopen(name, RTLD_NOW);
    if (library && is_embedded(library)) {
        dlclose(library);
        library = NULL;
    }
    const struct {
        const char *directory, *below;
    } places[] = {{target.directory, ""},
                  {target.directory, "csan/"},
                  {environment_get("CUDA_HOME"), "lib64/"},
                  {"/usr/local/cuda", "lib64/"},
                  {"/usr/local/cuda-12", "lib64/"},
                  {"/usr/local/cuda-13", "lib64/"}};
    for (size_t i = 0; !library && i < sizeof places / sizeof *places; i++)
        library = open_in(places[i].directory, places[i].below, name, RTLD_NOW);
    if (!library)
        fprintf(stderr,
                "csan: the CUDA runtime library %s was not found; every CUDA call will "
                "fail. Put its directory into LD_LIBRARY_PATH or set CUDA_HOME to the CUDA "
                "Toolkit; without a GPU, set CSAN_DEVICE=embedded\n",
                name);
    return library;
}

/* The driver goes first and for all to see: whoever opens libcuda.so.1 by name later gets this one,
 * because the dynamic loader knows loaded libraries by that name. */
static void *open_embedded(const char *name)
{
    const char *below = "csan/embedded/";
    void *driver = open_in(target.directory, below, "libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    void *library = driver ? open_in(target.directory, below, name, RTLD_NOW | RTLD_GLOBAL) : NULL;
    if (!library)
        fprintf(stderr,
                "csan: the embedded device cannot be used (%s); every CUDA call will fail. Install "
                "csan completely, with lib/csan/embedded beside libcsan_rt.so.0\n",
                dlerror());
    return library;
}

/* A machine with a driver is meant to use it; where there is none nobody wonders. */
static bool gpu_usable(void)
{
    static const char then[] = "the embedded device is used (CSAN_DEVICE=embedded says so without "
                               "this line, CSAN_DEVICE=gpu insists)";
    const struct gpu_probe probe = gpu_probe();
    if (gpu_probe_usable(&probe))
        return true;
    if (!probe.answered)
        fprintf(stderr, "csan: the NVIDIA driver gave no answer when it was asked for GPUs; %s\n",
                then);
    else if (probe.loaded && !probe.embedded)
        fprintf(stderr, "csan: the NVIDIA driver %s (error %d); %s\n",
                probe.result ? "cannot use a GPU" : "shows no GPU", probe.result, then);
    return false;
}

static bool checking(void)
{
    return environment_switch_of(environment_get("CSAN")) != ENVIRONMENT_OFF;
}

static bool wants_embedded(void)
{
    const char *device = environment_get("CSAN_DEVICE");
    if (device && strcmp(device, "embedded") == 0)
        return true;
    if (device && strcmp(device, "gpu") == 0)
        return false;
    if (device && *device && strcmp(device, "auto") != 0)
        fprintf(stderr,
                "csan: CSAN_DEVICE is '%s'; it must be auto, gpu or embedded. Taken as auto\n",
                device);
    return checking() && !gpu_usable();
}

static void decide(void)
{
    find_directory();
    target.embedded = wants_embedded();
}

static void open_runtime(struct runtime *runtime)
{
    pthread_once(&target.once, decide);
    runtime->library = target.embedded ? open_embedded(runtime->name) : open_real(runtime->name);
}

static void open_twelve(void)
{
    open_runtime(&target.twelve);
}
static void open_thirteen(void)
{
    open_runtime(&target.thirteen);
}

void *target_library(enum runtime_version version)
{
    struct runtime *runtime = version == RUNTIME_12 ? &target.twelve : &target.thirteen;
    pthread_once(&runtime->once, version == RUNTIME_12 ? open_twelve : open_thirteen);
    return runtime->library;
}

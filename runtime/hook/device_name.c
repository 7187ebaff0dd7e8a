/* See device_name.h. */
#include "runtime/hook/device_name.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 64, ORDINALS = 64 };

static struct {
    pthread_mutex_t mutex;
    uint64_t ordinals; /* a bit each */
    char name[NAME_BYTES];
    bool embedded, mixed; /* mixed: devices of several names */
    void *get_name;
} seen = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* "cuDeviceGetName" has had one form since CUDA 2.0 (Driver API, "Device Management"). */
static void name_read(CUdevice device)
{
    char name[NAME_BYTES] = "";
    PFN_cuDeviceGetName_v2000 get_name =
        (PFN_cuDeviceGetName_v2000)driver_function_cached(&seen.get_name, "cuDeviceGetName");
    seen.embedded = driver_function("device_trace_subscribe") != NULL;
    if (!get_name || get_name(name, sizeof name, device) != CUDA_SUCCESS)
        return;
    if (!seen.name[0])
        memcpy(seen.name, name, sizeof name);
    else
        seen.mixed |= strcmp(seen.name, name) != 0;
}

void device_name_seen(CUdevice device)
{
    const uint64_t bit = UINT64_C(1) << ((unsigned)device % ORDINALS);
    if (__atomic_load_n(&seen.ordinals, __ATOMIC_RELAXED) & bit)
        return;
    pthread_mutex_lock(&seen.mutex);
    if (!(seen.ordinals & bit)) {
        name_read(device);
        __atomic_fetch_or(&seen.ordinals, bit, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&seen.mutex);
}

void device_name_describe(char text[DEVICE_NAME_BYTES])
{
    pthread_mutex_lock(&seen.mutex);
    const int count = __builtin_popcountll(seen.ordinals);
    const char *name = seen.name[0] ? seen.name : "a GPU";
    if (seen.embedded)
        snprintf(text, DEVICE_NAME_BYTES, "the embedded device");
    else if (count > 1)
        snprintf(text, DEVICE_NAME_BYTES, "%d GPUs (%s%s)", count, name,
                 seen.mixed ? " and others" : "");
    else
        snprintf(text, DEVICE_NAME_BYTES, "%s", name);
    pthread_mutex_unlock(&seen.mutex);
}

/* See device_name.h. */
#include "runtime/hook/state/device_name.h"
#include "csan/base/lock_order.h"

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

/* "cuDeviceGetName" has had one form since CUDA 2.0 (Driver API, "Device Management"). Without the
 * mutex: dlsym takes the loader's lock, which another thread may hold while its constructors come
 * here. */
static void name_read(char name[NAME_BYTES], CUdevice device)
{
    PFN_cuDeviceGetName_v2000 get_name =
        (PFN_cuDeviceGetName_v2000)driver_function_cached(&seen.get_name, "cuDeviceGetName");
    if (!get_name || get_name(name, NAME_BYTES, device) != CUDA_SUCCESS)
        name[0] = '\0';
}

void device_name_seen(CUdevice device)
{
    char name[NAME_BYTES] = "";
    const uint64_t bit = UINT64_C(1) << ((unsigned)device % ORDINALS);
    if (__atomic_load_n(&seen.ordinals, __ATOMIC_RELAXED) & bit)
        return;
    const bool embedded = driver_is_embedded();
    name_read(name, device);
    lock_order_take(LOCK_DEVICE_NAME, &seen.mutex);
    seen.embedded = embedded;
    if (!seen.name[0])
        memcpy(seen.name, name, sizeof name);
    else if (name[0])
        seen.mixed |= strcmp(seen.name, name) != 0;
    __atomic_fetch_or(&seen.ordinals, bit, __ATOMIC_RELAXED);
    lock_order_give(LOCK_DEVICE_NAME, &seen.mutex);
}

void device_name_describe(char text[DEVICE_NAME_BYTES])
{
    lock_order_take(LOCK_DEVICE_NAME, &seen.mutex);
    const int count = __builtin_popcountll(seen.ordinals);
    const char *name = seen.name[0] ? seen.name : "a GPU";
    if (seen.embedded)
        snprintf(text, DEVICE_NAME_BYTES, "the embedded device");
    else if (count > 1)
        snprintf(text, DEVICE_NAME_BYTES, "%d GPUs (%s%s)", count, name,
                 seen.mixed ? " and others" : "");
    else
        snprintf(text, DEVICE_NAME_BYTES, "%s", name);
    lock_order_give(LOCK_DEVICE_NAME, &seen.mutex);
}

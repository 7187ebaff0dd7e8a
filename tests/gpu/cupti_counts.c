/* Counts the calls of each function of the driver API as the driver's own tools interface sees
 * them: CUPTI's callbacks. The driver loads this library into a program whose environment names it
 * in CUDA_INJECTION64_PATH, from within cuInit (CUPTI User's Guide, "CUPTI Initialization"). When
 * the program ends it writes to CUPTI_CALL_COUNTS, with the process id added to the name:
 *
 *   cupti calls VERSION
 *   cuLaunchKernel 12
 *
 * or, where there is no CUPTI, one line "no cupti: why". libcupti is opened at run time, so that
 * nothing but its header is needed to build this. Used by tests/gpu/hook_counts.sh. */
#include <cupti.h>
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FUNCTION_LIMIT = 4096 };

static struct {
    const char *names[FUNCTION_LIMIT]; /* by callback id */
    uint64_t calls[FUNCTION_LIMIT];
    uint32_t version;
    char trouble[256];
    pid_t process;
} counted;

static void CUPTIAPI called(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                            const void *data)
{
    const CUpti_CallbackData *call = data;
    (void)user;
    if (domain != CUPTI_CB_DOMAIN_DRIVER_API || call->callbackSite != CUPTI_API_ENTER ||
        id >= FUNCTION_LIMIT)
        return;
    __atomic_store_n(&counted.names[id], call->functionName, __ATOMIC_RELAXED);
    __atomic_fetch_add(&counted.calls[id], 1, __ATOMIC_RELAXED);
}

static void *open_cupti(void)
{
    static const char *const places[] = {
        "libcupti.so.13", "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13",
        "/usr/local/cuda/lib64/libcupti.so.13", "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so",
        "libcupti.so"};
    void *library = NULL;
    for (size_t i = 0; i < sizeof places / sizeof *places && !library; i++)
        library = dlopen(places[i], RTLD_NOW | RTLD_LOCAL);
    return library;
}

typedef CUptiResult subscribe_function(CUpti_SubscriberHandle *, CUpti_CallbackFunc, void *);
typedef CUptiResult enable_function(uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain);
typedef CUptiResult version_function(uint32_t *);

static void subscribe(void)
{
    CUpti_SubscriberHandle subscriber;
    void *library = open_cupti();
    if (!library) {
        snprintf(counted.trouble, sizeof counted.trouble, "libcupti.so.13 cannot be opened");
        return;
    }
    subscribe_function *to = (subscribe_function *)dlsym(library, "cuptiSubscribe");
    enable_function *enable = (enable_function *)dlsym(library, "cuptiEnableDomain");
    version_function *version = (version_function *)dlsym(library, "cuptiGetVersion");
    CUptiResult result = CUPTI_ERROR_UNKNOWN;
    if (to && enable && version && (result = version(&counted.version)) == CUPTI_SUCCESS &&
        (result = to(&subscriber, called, NULL)) == CUPTI_SUCCESS)
        result = enable(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API);
    if (result != CUPTI_SUCCESS)
        snprintf(counted.trouble, sizeof counted.trouble, "subscribing to it gave error %d",
                 (int)result);
}

/* Called by the driver, or by a test. */
__attribute__((visibility("default"))) int InitializeInjection(void);
int InitializeInjection(void)
{
    if (counted.process)
        return 1;
    counted.process = getpid();
    subscribe();
    return 1;
}

static void counts_write(FILE *file)
{
    if (counted.trouble[0]) {
        fprintf(file, "no cupti: %s\n", counted.trouble);
        return;
    }
    fprintf(file, "cupti calls %u\n", counted.version);
    for (unsigned i = 0; i < FUNCTION_LIMIT; i++)
        if (counted.calls[i])
            fprintf(file, "%s %" PRIu64 "\n", counted.names[i], counted.calls[i]);
}

__attribute__((destructor)) static void process_over(void)
{
    const char *wanted = getenv("CUPTI_CALL_COUNTS");
    char path[4096];
    if (!wanted || !counted.process || counted.process != getpid() ||
        snprintf(path, sizeof path, "%s.%d", wanted, (int)getpid()) >= (int)sizeof path)
        return;
    FILE *file = fopen(path, "we");
    if (!file)
        return;
    counts_write(file);
    fclose(file);
}

/* First launches. See first_launch.h. */
#include "runtime/tracer/first_launch.h"
#include "runtime/tracer/gate.h"

#include <pthread.h>

enum { CONTEXTS = 64 }; /* that are made between two calls of first_launch_make */

static struct {
    pthread_mutex_t mutex; /* no call is made with it: a callback waits for it */
    CUcontext owed[CONTEXTS];
    unsigned count; /* atomic */
} table = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static __thread bool is_made __attribute__((tls_model("initial-exec")));

/* first_launch.cu as a fat binary, put in by the assembler. */
__asm__(".section .rodata\n"
        ".balign 64\n"
        "csan_first_launch:\n"
        ".incbin \"" TRACER_FIRST_LAUNCH "\"\n"
        ".previous\n");
extern const char csan_first_launch[] __attribute__((visibility("hidden")));

void first_launch_owe(CUcontext context)
{
    pthread_mutex_lock(&table.mutex);
    if (table.count < CONTEXTS)
        table.owed[table.count] = context;
    __atomic_store_n(&table.count, table.count + (table.count < CONTEXTS), __ATOMIC_RELAXED);
    pthread_mutex_unlock(&table.mutex);
}

static void take_out(unsigned i)
{
    __atomic_store_n(&table.count, table.count - 1, __ATOMIC_RELAXED);
    table.owed[i] = table.owed[table.count];
}

void first_launch_forget(CUcontext context)
{
    pthread_mutex_lock(&table.mutex);
    for (unsigned i = table.count; i-- > 0;)
        if (table.owed[i] == context)
            take_out(i);
    pthread_mutex_unlock(&table.mutex);
}

bool first_launch_is_owed(void)
{
    return __atomic_load_n(&table.count, __ATOMIC_RELAXED) > 0;
}

bool first_launch_is_made(void)
{
    return is_made;
}

/* NULL: there is none left. */
static CUcontext take(void)
{
    CUcontext context = NULL;
    pthread_mutex_lock(&table.mutex);
    if (table.count > 0) {
        context = table.owed[0];
        take_out(0);
    }
    pthread_mutex_unlock(&table.mutex);
    return context;
}

static struct {
    void *push, *pop, *load, *function, *launch;
} driver;

#define DRIVER(slot, symbol, type) ((PFN_##type)driver_function_cached(&driver.slot, symbol))

/* In the current context. Nothing is waited for, and the module stays until the context's end: to
 * unload it would wait for the kernel. */
static void launch(void)
{
    CUmodule module;
    CUfunction function;
    PFN_cuModuleLoadData_v2000 load = DRIVER(load, "cuModuleLoadData", cuModuleLoadData_v2000);
    PFN_cuModuleGetFunction_v2000 get =
        DRIVER(function, "cuModuleGetFunction", cuModuleGetFunction_v2000);
    PFN_cuLaunchKernel_v4000 start = DRIVER(launch, "cuLaunchKernel", cuLaunchKernel_v4000);
    if (load && get && start && load(&module, csan_first_launch) == CUDA_SUCCESS &&
        get(&function, module, "csan_first_launch") == CUDA_SUCCESS)
        start(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
}

void first_launch_make(void)
{
    CUcontext context;
    PFN_cuCtxPushCurrent_v4000 push = DRIVER(push, "cuCtxPushCurrent_v2", cuCtxPushCurrent_v4000);
    PFN_cuCtxPopCurrent_v4000 pop = DRIVER(pop, "cuCtxPopCurrent_v2", cuCtxPopCurrent_v4000);
    is_made = true;
    while (push && pop && (context = take())) {
        if (push(context) != CUDA_SUCCESS)
            continue;
        gate_enter();
        launch();
        gate_leave();
        pop(&context);
    }
    is_made = false;
}

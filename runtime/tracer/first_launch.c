/* First launches. See first_launch.h. */
#include "runtime/tracer/first_launch.h"
#include "runtime/tracer/patch_gate.h"

#include <stdint.h>
#include <time.h>

enum {
    CONTEXTS = 4, /* that one call makes */
    STEPS = 100,  /* of a wait for other threads: 5 to 10 ms */
    STEP_US = 20
};

static uint32_t owed; /* of all threads; atomic */
static bool in_vain;  /* no hook sees this launch, so csan adds no work of its own now; atomic */

static __thread struct {
    CUcontext contexts[CONTEXTS];
    uint32_t count;
    bool makes;
} own __attribute__((tls_model("initial-exec")));

/* first_launch.cu as a fat binary, put in by the assembler. */
__asm__(".section .rodata\n"
        ".balign 64\n"
        "csan_first_launch:\n"
        ".incbin \"" TRACER_FIRST_LAUNCH "\"\n"
        ".previous\n");
extern const char csan_first_launch[] __attribute__((visibility("hidden")));

void first_launch_owe(CUcontext context)
{
    if (own.count == CONTEXTS)
        return;
    own.contexts[own.count++] = context;
    __atomic_fetch_add(&owed, 1, __ATOMIC_ACQ_REL);
    __atomic_store_n(&in_vain, false, __ATOMIC_RELAXED);
}

void first_launch_forget(CUcontext context)
{
    for (uint32_t i = own.count; i-- > 0;)
        if (own.contexts[i] == context) {
            own.contexts[i] = own.contexts[--own.count];
            __atomic_fetch_sub(&owed, 1, __ATOMIC_ACQ_REL);
        }
}

bool first_launch_is_owed(void)
{
    return __atomic_load_n(&owed, __ATOMIC_ACQUIRE) > 0;
}

bool first_launch_is_made(void)
{
    return own.makes;
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

static void make(CUcontext context)
{
    PFN_cuCtxPushCurrent_v4000 push = DRIVER(push, "cuCtxPushCurrent_v2", cuCtxPushCurrent_v4000);
    PFN_cuCtxPopCurrent_v4000 pop = DRIVER(pop, "cuCtxPopCurrent_v2", cuCtxPopCurrent_v4000);
    if (!push || !pop || push(context) != CUDA_SUCCESS)
        return;
    patch_gate_enter();
    launch();
    patch_gate_leave();
    pop(&context);
}

static void wait_for_others(void)
{
    for (int i = 0; first_launch_is_owed() && !__atomic_load_n(&in_vain, __ATOMIC_RELAXED); i++) {
        if (i == STEPS)
            __atomic_store_n(&in_vain, true, __ATOMIC_RELAXED);
        nanosleep(&(struct timespec){.tv_nsec = STEP_US * 1000L}, NULL);
    }
}

void first_launch_make(void)
{
    const uint32_t count = own.count;
    own.makes = true;
    while (own.count > 0)
        make(own.contexts[--own.count]);
    own.makes = false;
    if (count > 0)
        __atomic_fetch_sub(&owed, count, __ATOMIC_ACQ_REL);
    wait_for_others();
}

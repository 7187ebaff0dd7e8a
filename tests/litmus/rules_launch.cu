// Launch attributes and memory operations of streams: events that do not wait for a kernel's end,
// kernels that begin before it, values written and waited for.
#include "litmus.h"

#include <cudaTypedefs.h>

static const char *const value_order = "Driver API, Stream Memory Operations";

// As the word says: a trigger may come at any time before the kernel's end.
static const char *const programmatic_reason = "a driver may record it earlier any time";

static void programmatic_event(struct trial &trial, bool at_start)
{
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticEvent;
    attribute.val.programmaticEvent.event = trial.event;
    attribute.val.programmaticEvent.triggerAtBlockStart = at_start;
    first_with(trial, trial.a, attribute);
    TRY(cudaStreamWaitEvent(trial.b, trial.event, 0));
    second(trial, trial.b);
}

static CUdeviceptr flag_of(struct trial &trial)
{
    return (CUdeviceptr)(uintptr_t)trial.device_too;
}

static void clear_flag(struct trial &trial)
{
    check(trial, cudaMemset(trial.device_too, 0, 16), "cudaMemset");
    check(trial, cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

static bool write_value(struct trial &trial, cudaStream_t stream)
{
    PFN_cuStreamWriteValue32_v11070 write =
        (PFN_cuStreamWriteValue32_v11070)driver_function(trial, "cuStreamWriteValue32", 12000);
    return write &&
           check_driver(trial, write(stream, flag_of(trial), 1, 0), "cuStreamWriteValue32");
}

// "This flag is not supported in the v2 API" (cuda.h), so through the one before, where the driver
// lets it be used at all.
static bool write_value_without_barrier(struct trial &trial, cudaStream_t stream)
{
    int usable = 0;
    PFN_cuDeviceGetAttribute_v2000 ask =
        (PFN_cuDeviceGetAttribute_v2000)driver_function(trial, "cuDeviceGetAttribute", 12000);
    PFN_cuStreamWriteValue32_v8000 write =
        (PFN_cuStreamWriteValue32_v8000)driver_function(trial, "cuStreamWriteValue32", 8000);
    if (!ask || !write)
        return false;
    if (ask(&usable, CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_MEM_OPS_V1, 0) != CUDA_SUCCESS || !usable) {
        skip(trial, "CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_MEM_OPS_V1 is 0");
        return false;
    }
    return check_driver(trial,
                        write(stream, flag_of(trial), 1, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER),
                        "cuStreamWriteValue32 without a barrier");
}

static bool wait_value(struct trial &trial, cudaStream_t stream)
{
    PFN_cuStreamWaitValue32_v11070 wait =
        (PFN_cuStreamWaitValue32_v11070)driver_function(trial, "cuStreamWaitValue32", 12000);
    return wait && check_driver(trial, wait(stream, flag_of(trial), 1, CU_STREAM_WAIT_VALUE_GEQ),
                                "cuStreamWaitValue32");
}

static bool batch(struct trial &trial, cudaStream_t stream, bool writes)
{
    PFN_cuStreamBatchMemOp_v11070 run =
        (PFN_cuStreamBatchMemOp_v11070)driver_function(trial, "cuStreamBatchMemOp", 12000);
    CUstreamBatchMemOpParams params[1] = {};
    if (writes) {
        params[0].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
        params[0].writeValue.address = flag_of(trial);
        params[0].writeValue.value = 1;
    } else {
        params[0].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
        params[0].waitValue.address = flag_of(trial);
        params[0].waitValue.value = 1;
        params[0].waitValue.flags = CU_STREAM_WAIT_VALUE_GEQ;
    }
    return run && check_driver(trial, run(stream, 1, params, 0), "cuStreamBatchMemOp");
}

static const struct rule table[] = {
    {"programmatic event, at the start of A", NOTHING,
     "Runtime API, cudaLaunchAttributeProgrammaticEvent",
     [](struct trial &trial) { programmatic_event(trial, true); }, 0, 0, programmatic_reason},
    {"programmatic event, A triggers nothing", NOTHING,
     "Runtime API, cudaLaunchAttributeProgrammaticEvent",
     [](struct trial &trial) { programmatic_event(trial, false); }, 0, 0, programmatic_reason},
    {"launch completion event of A", NOTHING,
     "Runtime API, cudaLaunchAttributeLaunchCompletionEvent",
     [](struct trial &trial) {
         cudaLaunchAttribute attribute = {};
         attribute.id = cudaLaunchAttributeLaunchCompletionEvent;
         attribute.val.launchCompletionEvent.event = trial.event;
         first_with(trial, trial.a, attribute);
         TRY(cudaStreamWaitEvent(trial.b, trial.event, 0));
         second(trial, trial.b);
     }},
    {"dependent launch, B does not wait", NOTHING,
     "Programming Guide, Programmatic Dependent Launch and Synchronization",
     [](struct trial &trial) {
         first_triggering(trial, trial.a);
         second_dependent(trial, trial.a, false);
     }},
    {"dependent launch, B waits", PROMISED,
     "Programming Guide, Programmatic Dependent Launch and Synchronization",
     [](struct trial &trial) {
         first_triggering(trial, trial.a);
         second_dependent(trial, trial.a, true);
     }},
    {"dependent launch, A triggers nothing", NOTHING,
     "Programming Guide, Programmatic Dependent Launch and Synchronization",
     [](struct trial &trial) {
         first(trial, trial.a);
         second_dependent(trial, trial.a, false);
     }},
    {"launch of A triggers, B launched as usual", PROMISED,
     "Programming Guide, Programmatic Dependent Launch and Synchronization",
     [](struct trial &trial) {
         first_triggering(trial, trial.a);
         second(trial, trial.a);
     }},
    {"dependent launch, B does not wait, C behind B", NOTHING,
     "Programming Guide, Programmatic Dependent Launch and Synchronization",
     [](struct trial &trial) {
         int *seen = trial.seen, *word = trial.word;
         first_triggering(trial, trial.a);
         trial.word = (int *)trial.device; // B looks elsewhere; C is what counts
         trial.seen = (int *)trial.device_too;
         second_dependent(trial, trial.a, false);
         trial.word = word;
         trial.seen = seen;
         second(trial, trial.a);
     }},
    {"value written after A, waited for by B's stream", PROMISED, value_order,
     [](struct trial &trial) {
         clear_flag(trial);
         first(trial, trial.a);
         if (!write_value(trial, trial.a) || !wait_value(trial, trial.b))
             return;
         second(trial, trial.b);
     }},
    {"value waited for before it is written after A", PROMISED, value_order,
     [](struct trial &trial) {
         clear_flag(trial);
         if (!wait_value(trial, trial.b))
             return;
         second(trial, trial.b);
         first(trial, trial.a);
         write_value(trial, trial.a);
     }},
    {"value written before A, waited for by B's stream", NOTHING, value_order,
     [](struct trial &trial) {
         clear_flag(trial);
         if (!write_value(trial, trial.a))
             return;
         first(trial, trial.a);
         if (!wait_value(trial, trial.b))
             return;
         second(trial, trial.b);
     }},
    {"value written after A, nobody waits", NOTHING, value_order,
     [](struct trial &trial) {
         clear_flag(trial);
         first(trial, trial.a);
         if (!write_value(trial, trial.a))
             return;
         second(trial, trial.b);
     }},
    {"value written after A without a barrier, waited for", NOTHING, value_order,
     [](struct trial &trial) {
         clear_flag(trial);
         first(trial, trial.a);
         if (!write_value_without_barrier(trial, trial.a) || !wait_value(trial, trial.b))
             return;
         second(trial, trial.b);
     }},
    {"value waited for, the host synchronizes that stream", PROMISED, value_order,
     [](struct trial &trial) {
         clear_flag(trial);
         first(trial, trial.a);
         if (!write_value(trial, trial.a) || !wait_value(trial, trial.b))
             return;
         TRY(cudaStreamSynchronize(trial.b));
         second(trial, trial.blocking);
     }},
    {"value written and waited for in batches", PROMISED, value_order,
     [](struct trial &trial) {
         clear_flag(trial);
         first(trial, trial.a);
         if (!batch(trial, trial.a, true) || !batch(trial, trial.b, false))
             return;
         second(trial, trial.b);
     }},
};

struct rules launch_rules()
{
    return {table, sizeof table / sizeof *table};
}

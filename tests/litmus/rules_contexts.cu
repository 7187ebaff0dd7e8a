// Events of whole contexts, and green contexts: parts of a device with streams of their own.
#include "litmus.h"

#include <cudaTypedefs.h>

static const char *const contexts = "Driver API, Context Management";
static const char *const green_contexts = "Driver API, Green Contexts";

// Made by the first rule that needs it, and kept: half of the device's multiprocessors or fewer.
static struct {
    CUgreenCtx context;
    CUstream stream;
} green;

static bool make_green(struct trial &trial)
{
    PFN_cuDeviceGetDevResource_v12040 get =
        (PFN_cuDeviceGetDevResource_v12040)driver_function(trial, "cuDeviceGetDevResource", 13000);
    PFN_cuDevSmResourceSplitByCount_v12040 split =
        (PFN_cuDevSmResourceSplitByCount_v12040)driver_function(
            trial, "cuDevSmResourceSplitByCount", 13000);
    PFN_cuDevResourceGenerateDesc_v12040 describe =
        (PFN_cuDevResourceGenerateDesc_v12040)driver_function(trial, "cuDevResourceGenerateDesc",
                                                              13000);
    PFN_cuGreenCtxCreate_v12040 create =
        (PFN_cuGreenCtxCreate_v12040)driver_function(trial, "cuGreenCtxCreate", 13000);
    PFN_cuGreenCtxStreamCreate_v12050 create_stream =
        (PFN_cuGreenCtxStreamCreate_v12050)driver_function(trial, "cuGreenCtxStreamCreate", 13000);
    CUdevResource all = {}, part = {};
    CUdevResourceDesc description;
    unsigned groups = 1;
    if (green.stream)
        return true;
    if (!get || !split || !describe || !create || !create_stream)
        return false;
    return check_driver(trial, get(0, &all, CU_DEV_RESOURCE_TYPE_SM), "cuDeviceGetDevResource") &&
           check_driver(trial, split(&part, &groups, &all, nullptr, 0, all.sm.smCount / 2),
                        "cuDevSmResourceSplitByCount") &&
           check_driver(trial, describe(&description, &part, 1), "cuDevResourceGenerateDesc") &&
           check_driver(trial, create(&green.context, description, 0, CU_GREEN_CTX_DEFAULT_STREAM),
                        "cuGreenCtxCreate") &&
           check_driver(trial,
                        create_stream(&green.stream, green.context, CU_STREAM_NON_BLOCKING, 0),
                        "cuGreenCtxStreamCreate");
}

static CUcontext current_context(struct trial &trial)
{
    PFN_cuCtxGetCurrent_v4000 get =
        (PFN_cuCtxGetCurrent_v4000)driver_function(trial, "cuCtxGetCurrent", 12000);
    CUcontext context = nullptr;
    if (get)
        check_driver(trial, get(&context), "cuCtxGetCurrent");
    return context;
}

static const struct rule table[] = {
    {"cuCtxRecordEvent after A, waited for by B's stream", PROMISED, contexts,
     [](struct trial &trial) {
         PFN_cuCtxRecordEvent_v12050 record =
             (PFN_cuCtxRecordEvent_v12050)driver_function(trial, "cuCtxRecordEvent", 13000);
         first(trial, trial.a);
         if (!record)
             return;
         TRY_DRIVER(record(current_context(trial), trial.event));
         TRY(cudaStreamWaitEvent(trial.b, trial.event, 0));
         second(trial, trial.b);
     }},
    {"cuCtxWaitEvent for A's event, B in another stream", PROMISED, contexts,
     [](struct trial &trial) {
         PFN_cuCtxWaitEvent_v12050 wait =
             (PFN_cuCtxWaitEvent_v12050)driver_function(trial, "cuCtxWaitEvent", 13000);
         first(trial, trial.a);
         TRY(cudaEventRecord(trial.event, trial.a));
         if (!wait)
             return;
         TRY_DRIVER(wait(current_context(trial), trial.event));
         second(trial, trial.b);
     }},
    {"A in a green context, B beside it", NOTHING, green_contexts,
     [](struct trial &trial) {
         if (!make_green(trial))
             return;
         first(trial, green.stream);
         second(trial, trial.b);
     }},
    {"A in a green context, B waits for its event", PROMISED, green_contexts,
     [](struct trial &trial) {
         if (!make_green(trial))
             return;
         first(trial, green.stream);
         TRY(cudaEventRecord(trial.event, green.stream));
         TRY(cudaStreamWaitEvent(trial.b, trial.event, 0));
         second(trial, trial.b);
     }},
    {"cuGreenCtxRecordEvent after A, waited for outside", PROMISED, green_contexts,
     [](struct trial &trial) {
         PFN_cuGreenCtxRecordEvent_v12040 record =
             (PFN_cuGreenCtxRecordEvent_v12040)driver_function(trial, "cuGreenCtxRecordEvent",
                                                               13000);
         if (!record || !make_green(trial))
             return;
         first(trial, green.stream);
         TRY_DRIVER(record(green.context, trial.event));
         TRY(cudaStreamWaitEvent(trial.b, trial.event, 0));
         second(trial, trial.b);
     }},
    {"cuGreenCtxWaitEvent for A's event, B inside", PROMISED, green_contexts,
     [](struct trial &trial) {
         PFN_cuGreenCtxWaitEvent_v12040 wait =
             (PFN_cuGreenCtxWaitEvent_v12040)driver_function(trial, "cuGreenCtxWaitEvent", 13000);
         if (!wait || !make_green(trial))
             return;
         first(trial, trial.a);
         TRY(cudaEventRecord(trial.event, trial.a));
         TRY_DRIVER(wait(green.context, trial.event));
         second(trial, green.stream);
     }},
    {"cudaDeviceSynchronize, A in a green context", PROMISED, "Driver API, cuCtxSynchronize",
     [](struct trial &trial) {
         if (!make_green(trial))
             return;
         first(trial, green.stream);
         TRY(cudaDeviceSynchronize());
         second(trial, trial.b);
     }},
};

struct rules context_rules()
{
    return {table, sizeof table / sizeof *table};
}

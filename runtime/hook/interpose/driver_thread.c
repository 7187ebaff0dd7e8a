/* See driver_thread.h. */
#include "runtime/hook/interpose/driver_thread.h"
#include "runtime/hook/session/internal_thread.h"

typedef void *run_function(void *);

CUstreamCaptureMode driver_capture_mode(CUstreamCaptureMode mode)
{
    static void *exchange_mode;
    PFN_cuThreadExchangeStreamCaptureMode_v10010 exchange =
        (PFN_cuThreadExchangeStreamCaptureMode_v10010)driver_function_cached(
            &exchange_mode, "cuThreadExchangeStreamCaptureMode");
    if (exchange)
        exchange(&mode);
    return mode;
}

/* A GPU has no such schedule. */
static bool no_schedule(bool is_aside)
{
    return is_aside;
}

bool driver_schedule_aside(bool is_aside)
{
    typedef bool aside_function(bool is_aside);
    static aside_function *aside; /* atomic */
    aside_function *function = __atomic_load_n(&aside, __ATOMIC_ACQUIRE);
    if (!function) {
        *(void **)&function = driver_function("device_schedule_aside");
        function = function ? function : no_schedule;
        __atomic_store_n(&aside, function, __ATOMIC_RELEASE);
    }
    return function(is_aside);
}

static void *run_beside_driver(void *run)
{
    run_function *function;
    *(void **)&function = run;
    driver_schedule_aside(true);
    driver_capture_mode(CU_STREAM_CAPTURE_MODE_RELAXED);
    return function(NULL);
}

bool driver_thread_start(void *(*run)(void *))
{
    return internal_thread_start(run_beside_driver, *(void **)&run, "csan");
}

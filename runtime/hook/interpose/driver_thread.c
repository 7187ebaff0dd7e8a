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

/* The embedded device has a schedule, which csan's own thread must not change. */
static void leave_schedule_alone(void)
{
    static void *function;
    void (*schedule_aside)(void);
    *(void **)&schedule_aside = driver_function_cached(&function, "device_schedule_aside");
    if (schedule_aside)
        schedule_aside();
}

static void *run_beside_driver(void *run)
{
    run_function *function;
    *(void **)&function = run;
    leave_schedule_alone();
    driver_capture_mode(CU_STREAM_CAPTURE_MODE_RELAXED);
    return function(NULL);
}

bool driver_thread_start(void *(*run)(void *))
{
    return internal_thread_start(run_beside_driver, *(void **)&run, "csan");
}

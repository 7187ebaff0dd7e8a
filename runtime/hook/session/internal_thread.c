/* See internal_thread.h. */
#include "runtime/hook/session/internal_thread.h"
#include "csan/base/internal_thread.h"
#include "runtime/hook/session/guard.h"

#include <pthread.h>
#include <signal.h>

typedef void *run_function(void *);

CUstreamCaptureMode own_capture_mode(CUstreamCaptureMode mode)
{
    static void *exchange_mode;
    PFN_cuThreadExchangeStreamCaptureMode_v10010 exchange =
        (PFN_cuThreadExchangeStreamCaptureMode_v10010)driver_function_cached(
            &exchange_mode, "cuThreadExchangeStreamCaptureMode");
    if (exchange)
        exchange(&mode);
    return mode;
}

static void *run_aside(void *run)
{
    run_function *function;
    *(void **)&function = run;
    guard_self.depth = 1;
    return function(NULL);
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
    guard_self.depth = 1;
    leave_schedule_alone();
    own_capture_mode(CU_STREAM_CAPTURE_MODE_RELAXED);
    return run_aside(run);
}

static bool start(run_function *begin, run_function *run, const char *name)
{
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t all, before;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool started = pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) == 0 &&
                         internal_thread_create(&thread, &attributes, begin, *(void **)&run) == 0;
    if (started)
        pthread_setname_np(thread, name);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return started;
}

bool internal_thread_start(void *(*run)(void *))
{
    return start(run_beside_driver, run, "csan");
}

bool internal_thread_start_aside(void *(*run)(void *), const char *name)
{
    return start(run_aside, run, name);
}

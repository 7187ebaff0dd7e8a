/* See blocking.h. */
#include "runtime/hook/failure/blocking.h"
#include "csan/report/suppression.h"
#include "runtime/hook/kernel/launch_accesses.h"
#include "runtime/hook/interpose/driver_thread.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/session/session_options.h"

#include <pthread.h>

bool blocking_any(void)
{
    return session_options()->blocking != NULL;
}

bool blocking_matches(const char *name)
{
    const char *template = session_options()->blocking;
    return template && (!*template || suppression_template_matches(template, name));
}

bool blocking_kernel(const struct kernel *kernel)
{
    if (!blocking_any())
        return false;
    return !*session_options()->blocking ||
           (kernel && (blocking_matches(kernel->name) || blocking_matches(kernel->symbol)));
}

static void say(void)
{
    const char *template = session_options()->blocking;
    if (*template)
        session_note("launch_blocking: the program waits after each launch of a kernel that "
                     "matches '%s'",
                     template);
    else
        session_note("launch_blocking: the program waits after each kernel launch, so it is slower "
                     "than without, and its work runs in one order");
}

CUresult blocking_wait(CUstream stream, bool thread_default)
{
    static pthread_once_t said = PTHREAD_ONCE_INIT;
    static void *functions[2];
    PFN_cuStreamSynchronize_v2000 synchronize =
        (PFN_cuStreamSynchronize_v2000)driver_function_cached(
            &functions[thread_default],
            thread_default ? "cuStreamSynchronize_ptsz" : "cuStreamSynchronize");
    pthread_once(&said, say);
    if (!synchronize)
        return CUDA_SUCCESS;
    const CUstreamCaptureMode mode = driver_capture_mode(CU_STREAM_CAPTURE_MODE_RELAXED);
    const CUresult result = synchronize(stream);
    driver_capture_mode(mode);
    return result;
}

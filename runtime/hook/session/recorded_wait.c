/* See recorded_wait.h. */
#include "runtime/hook/session/recorded_wait.h"
#include "runtime/hook/session/session.h"

static struct {
    uint64_t threads; /* numbers given so far */
    uint64_t current; /* the thread that the recording is at; 0: none yet */
} recorded;

static __thread uint64_t own __attribute__((tls_model("initial-exec")));

void recorded_wait_thread(void)
{
    if (!recorded_wait_wanted())
        return;
    if (!own)
        own = ++recorded.threads;
    if (own == recorded.current)
        return;
    recorded.current = own;
    csan_step(session_context(), CSAN_HOST, CSAN_STEP_THREAD, own, 0, 0);
}

void recorded_wait_begin(int kind, csan_lane lane, csan_site site)
{
    recorded_wait_thread();
    csan_step(session_context(), lane, CSAN_STEP_HOST_WAIT, (uint64_t)kind, 0, site);
}

void recorded_wait_end(csan_lane lane)
{
    csan_step(session_context(), lane, CSAN_STEP_HOST_WAITED, 0, 0, 0);
}

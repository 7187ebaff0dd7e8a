/* See process_exit.h. */
#include "runtime/hook/run/process_exit.h"
#include "csan/base/environment.h"
#include "csan/base/output.h"
#include "runtime/hook/session/delivery.h"
#include "runtime/hook/interpose/driver.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/interpose/libc_next.h"
#include "runtime/hook/interpose/driver_thread.h"
#include "runtime/hook/session/internal_thread.h"
#include "runtime/hook/run/process.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/run/process_tree.h"

#include <errno.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    PUBLISH_MS = 500, /* how often csan run gets the counts */
    NAP_US = 100
};

enum state { UNFINISHED, FINISHING, FINISHED };

static struct {
    pid_t process;
    uint32_t state; /* enum state; atomic */
    int code;       /* once finished: for a program that would end with 0 */
    bool decided;   /* or whatever it would end with */
    int inherited;  /* of the program that this one was before an exec */
    int quick;      /* what quick_exit was called with */
    bool registered, attended;
    bool quickly; /* quick_ended will be called */
    sem_t wanted; /* csan's thread is to finish */
    struct session_end how;
    uint32_t noted; /* how; atomic */
} process_end;

/* The calling thread is finishing: what it calls may end the process, too. */
static __thread bool finishes __attribute__((tls_model("initial-exec")));

_Noreturn void process_exit_now(int code)
{
    libc_next_need();
    if (libc_next.leave)
        libc_next.leave(code);
    for (;;)
        syscall(SYS_exit_group, code);
}

/* ---- Finishing ---- */

bool process_exit_is_own_process(void)
{
    return process_end.process && process_end.process == getpid();
}

/* Entry points that pass through begin nothing. */
static bool uses_cuda(void)
{
    const uint8_t on = __atomic_load_n(&session_state, __ATOMIC_ACQUIRE);
    if (on == SESSION_READY && driver_was_passed())
        session_begin();
    return on == SESSION_ON || (on == SESSION_READY && driver_was_passed());
}

/* Once; on the thread that comes first. */
static void finish_here(void)
{
    uint32_t unfinished = UNFINISHED;
    if (!__atomic_compare_exchange_n(&process_end.state, &unfinished, FINISHING, false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return;
    guard_self.depth = 1; /* nothing is recorded from here on, by this thread */
    finishes = true;
    process_end.code = process_finish(&process_end.decided);
    finishes = false;
    __atomic_store_n(&process_end.state, FINISHED, __ATOMIC_RELEASE);
}

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = NAP_US * 1000L}, NULL);
}

static uint64_t milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* By the rule of delivery.h, which the thread that finishes keeps, too: it is given what it takes
 * at most between two steps. */
static bool wait_until_finished(void)
{
    enum { STEP_MS = DELIVERY_PATIENCE_MS + DELIVERY_GRACE_MS };
    uint64_t seen = delivery_progress(), until = milliseconds() + STEP_MS;
    while (__atomic_load_n(&process_end.state, __ATOMIC_ACQUIRE) != FINISHED) {
        const uint64_t progress = delivery_progress();
        if (progress != seen)
            until = milliseconds() + STEP_MS;
        else if (milliseconds() > until)
            return false;
        seen = progress;
        nap();
    }
    return true;
}

/* The locks that an interrupted thread holds are never given back. */
static bool is_inside(void)
{
    return guard_self.locked || finishes;
}

static void say_unfinished(void)
{
    static const char line[] = "csan: the process ended from within csan, or while csan could not "
                               "go on; there is no summary\n";
    if (!finishes)
        output_write(STDERR_FILENO, line, sizeof line - 1);
    delivery_say_lost();
}

struct session_end process_exit_end(void)
{
    return process_end.how;
}

static void note_end(enum session_end_way way, int status)
{
    if (!__atomic_exchange_n(&process_end.noted, 1, __ATOMIC_ACQ_REL))
        process_end.how = (struct session_end){way, status};
}

bool process_exit_finish(enum session_end_way way, int status)
{
    const int error = errno;
    bool finished = false;
    note_end(way, status);
    if (!uses_cuda() || __atomic_load_n(&process_end.state, __ATOMIC_ACQUIRE) == FINISHED)
        return true;
    if (!is_inside() && process_end.attended) {
        sem_post(&process_end.wanted);
        finished = wait_until_finished();
    }
    if (!finished)
        say_unfinished();
    errno = error;
    return finished;
}

/* ---- csan's thread ---- */

/* False: it is time to report the process' progress to csan run. */
static bool is_wanted(void)
{
    struct timespec until;
    if (!process_tree_attached())
        return sem_wait(&process_end.wanted) == 0;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += PUBLISH_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    return sem_timedwait(&process_end.wanted, &until) == 0;
}

static void *attend(void *unused)
{
    while (!is_wanted())
        if (uses_cuda() && __atomic_load_n(&process_end.state, __ATOMIC_ACQUIRE) == UNFINISHED)
            process_publish();
    driver_capture_mode(CU_STREAM_CAPTURE_MODE_RELAXED);
    finish_here();
    return unused;
}

/* Without one, what ends without exit ends without a summary. */
void process_exit_begin(void)
{
    if (sem_init(&process_end.wanted, 0, 0) == 0)
        process_end.attended = internal_thread_start(attend, NULL, "csan end");
}

/* ---- exit ---- */

int process_exit_final_code(void)
{
    if (__atomic_load_n(&process_end.state, __ATOMIC_ACQUIRE) == FINISHED)
        return process_end.code ? process_end.code : process_end.inherited;
    const int code = process_exit_code();
    return code ? code : process_end.inherited;
}

/* What a process ends with that was to end with `status`, once it is finished. */
static int code_for(int status)
{
    const int code = process_exit_final_code();
    return process_end.decided || (status & 0xff) == 0 ? (code ? code : status) : status;
}

/* What became of a program that used CUDA has nothing of its own to say. */
static bool says_unused(void)
{
    return __atomic_load_n(&session_state, __ATOMIC_ACQUIRE) == SESSION_READY &&
           process_summarizes() && !process_end.inherited;
}

static void finish_at_exit(void)
{
    if (is_inside()) {
        say_unfinished();
    } else if (uses_cuda()) {
        finish_here();
        wait_until_finished(); /* another thread may have been first */
    } else if (says_unused()) {
        process_finish_unused();
    }
}

_Noreturn void process_exit_abort(void)
{
    libc_next_need();
    if (libc_next.abort)
        libc_next.abort();
    for (;;)
        __builtin_trap();
}

/* abort does not flush what the program printed (abort(3)), and exit would have. A stream that
 * another thread holds, waiting for input perhaps, is left alone. */
static _Noreturn void abort_at_exit(void)
{
    FILE *const streams[] = {stdout, stderr};
    for (int i = 0; i < 2; i++) {
        if (ftrylockfile(streams[i]) != 0)
            continue;
        fflush_unlocked(streams[i]);
        funlockfile(streams[i]);
    }
    process_exit_abort();
}

/* The program's own exit handlers, and its libraries' destructors, have run: exit(3) goes from the
 * last registered handler to the first, and csan's was registered before main. Calling exit again
 * goes on with the handlers that are left and the flushing of streams, with the new status; that is
 * how glibc and other C libraries of Linux do it (exit(3), notes). */
static void ended(int status, void *user)
{
    (void)user;
    if (!process_exit_is_own_process())
        return;
    note_end(SESSION_END_EXIT, status);
    finish_at_exit();
    if ((status & 0xff) == 0 && process_aborts())
        abort_at_exit();
    const int code = code_for(status);
    if (code != status)
        exit(code);
}

/* at_quick_exit's functions get no status; quick_exit below keeps it. */
static void quick_ended(void)
{
    if (!process_exit_is_own_process())
        return;
    note_end(SESSION_END_LEFT, process_end.quick);
    finish_at_exit();
    const int code = code_for(process_end.quick);
    if (code != process_end.quick)
        process_exit_now(code);
}

/* ---- Life ---- */

static void enlist(void)
{
    process_end.process = getpid();
    if (process_end.registered)
        return;
    process_end.registered = true;
    on_exit(ended, NULL);
    process_end.quickly = at_quick_exit(quick_ended) == 0;
}

/* CSAN_RACED=PROCESS:CODE is set by exec.c, for the same process alone. */
static void inherit(void)
{
    const char *text = environment_get("CSAN_RACED");
    int process, code;
    if (text && sscanf(text, "%d:%d", &process, &code) == 2 && process == (int)getpid())
        process_end.inherited = code & 0xff;
}

void process_exit_start(void)
{
    inherit();
    enlist();
}

void process_exit_start_off(void)
{
    inherit();
    if (process_end.inherited)
        enlist();
}

void process_exit_forked(void)
{
    process_end.process = getpid();
    process_end.state = UNFINISHED;
    process_end.inherited = 0;
    process_end.attended = false;
    process_end.noted = 0;
}

/* ---- _exit, _Exit, quick_exit and abort, as programs see them ---- */

#pragma GCC visibility push(default)
_Noreturn void _exit(int status);
_Noreturn void _Exit(int status);
_Noreturn void quick_exit(int status);
_Noreturn void abort(void);
#pragma GCC visibility pop

/* A process that has not used CUDA may be in a signal handler here: one write, no lock. */
static int left(int status)
{
    static const char line[] = "csan: no CUDA call was made, so nothing was checked\n";
    if (!process_exit_is_own_process())
        return status;
    if (uses_cuda())
        process_exit_finish(SESSION_END_LEFT, status);
    else if (says_unused())
        output_write(STDERR_FILENO, line, sizeof line - 1);
    return code_for(status);
}

_Noreturn void _exit(int status)
{
    process_exit_now(left(status));
}

_Noreturn void _Exit(int status)
{
    process_exit_now(left(status));
}

_Noreturn void quick_exit(int status)
{
    process_end.quick = process_end.quickly ? status : left(status);
    libc_next_need();
    if (libc_next.leave_quickly)
        libc_next.leave_quickly(process_end.quick);
    process_exit_now(left(status));
}

_Noreturn void abort(void)
{
    if (process_exit_is_own_process())
        process_exit_finish(SESSION_END_KILLED, 0);
    process_exit_abort();
}

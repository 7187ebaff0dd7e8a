/* What csan saw of one run: see run_log.h. */
#include "runtime/hook/run/run_log.h"
#include "csan/base/environment.h"
#include "csan/base/hash.h"
#include "runtime/device/schedule/schedule.h"
#include "runtime/hook/host/host_access.h"
#include "runtime/hook/interpose/driver.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/state/thread.h"
#include "runtime/hook/graph/graph.h"
#include "runtime/hook/state/callsite.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef void now_function(struct device_schedule_position *position);
typedef void finish_function(void);
typedef uint64_t node_function(const void *node);

static struct {
    const char *path; /* NULL: not wanted */
    FILE *file;
    pthread_once_t opened;
    void *now, *finish, *node; /* of the embedded device, once asked for */
} run_log = {.opened = PTHREAD_ONCE_INIT};

/* Of the node whose ops are being enqueued; 0: none. */
static __thread uint64_t node_item __attribute__((tls_model("initial-exec")));

/* ---- Keys: what names a race in every run ---- */

/* Objects lie at other addresses in another run. */
static uint64_t hash_frame(uint64_t hash, const void *frame)
{
    Dl_info info;
    uintptr_t offset = (uintptr_t)frame;
    if (dladdr(frame, &info) && info.dli_fbase) {
        offset -= (uintptr_t)info.dli_fbase;
        if (info.dli_fname)
            hash = hash_bytes(hash, info.dli_fname, strlen(info.dli_fname));
    }
    return hash_bytes(hash, &offset, sizeof offset);
}

static uint64_t key_of(const char *name, const void *const *frames, size_t count)
{
    uint64_t hash = hash_text(HASH_START, name);
    for (size_t i = 0; i < count; i++)
        hash = hash_frame(hash, frames[i]);
    return hash;
}

/* ---- Lines ---- */

/* Of the program's processes each that uses CUDA has its own. */
static void open_file(void)
{
    char *path = NULL;
    if (asprintf(&path, "%s.%d", run_log.path, (int)getpid()) >= 0 &&
        (run_log.file = fopen(path, "we")))
        fputs("csan run 1\n", run_log.file);
    else
        session_note("cannot write the run's log to '%s.%d'", run_log.path, (int)getpid());
    free(path);
}

/* Opened at the first line: a shell that starts the program writes none. */
static FILE *log_file(void)
{
    if (!run_log.path)
        return NULL;
    pthread_once(&run_log.opened, open_file);
    return run_log.file;
}

/* A site as csan knows it from now on; the call may repeat. */
static void site_seen(csan_site site, const char *name, const void *const *frames, size_t count)
{
    FILE *file = log_file();
    if (file)
        fprintf(file, "site %u %016" PRIx64 "\n", site, key_of(name, frames, count));
}

static void op_seen(void *user, uint64_t sequence, csan_lane lane, csan_site site, int before)
{
    struct device_schedule_position at = {0};
    now_function *now = (now_function *)driver_function_cached(&run_log.now, "device_schedule_now");
    (void)user;
    FILE *file = log_file();
    if (!file)
        return;
    if (now)
        now(&at);
    uint64_t item = thread_is_lane(lane) ? 0
                    : before             ? at.newest + 1
                    : node_item          ? node_item
                                         : at.item;
    fprintf(file, "op %" PRIu64 " %" PRIu64 " %" PRIu64 " %u\n", sequence, item, at.clock, site);
}

/* The host stored after the op's call and before the one that it is in now. */
static void change_seen(uint64_t op, csan_site site)
{
    struct device_schedule_position at = {0};
    now_function *now = (now_function *)driver_function_cached(&run_log.now, "device_schedule_now");
    FILE *file = log_file();
    if (now)
        now(&at);
    if (file)
        fprintf(file, "change %" PRIu64 " %" PRIu64 " %u\n", op, at.entered, site);
}

bool run_log_wanted(void)
{
    return run_log.path != NULL;
}

/* The ops that this thread enqueues from now on are that node's of its newest graph launch; NULL:
 * they belong to its last call. */
static void node_seen(const void *node)
{
    node_function *item =
        node ? (node_function *)driver_function_cached(&run_log.node, "device_schedule_node")
             : NULL;
    node_item = item ? item(node) : 0;
}

void run_log_race(const struct csan_race *race, bool suppressed)
{
    const struct csan_race_access *sides[] = {&race->previous, &race->current};
    FILE *file = log_file();
    if (!file)
        return;
    if (csan_is_error(race)) { /* no order turns it around: it is only counted */
        if (!suppressed)
            fputs("error\n", file);
        return;
    }
    flockfile(file); /* other threads write lines, too */
    fprintf(file, "race %d %d", race->kind, race->possible);
    for (int i = 0; i < 2; i++)
        fprintf(file, " %" PRIu64 " %016" PRIx64, sides[i]->sequence,
                key_of(sides[i]->name, sides[i]->frames, sides[i]->frame_count));
    fputs(suppressed ? " suppressed\n" : "\n", file);
    fflush(file);
    funlockfile(file);
}

/* ---- Life ---- */

void run_log_start(void)
{
    const char *path = environment_get("CSAN_RUN_LOG");
    if (!path || !*path)
        return;
    run_log.path = path;
    callsite_on_site = site_seen;
    graph_on_node = node_seen;
    host_access_on_change = change_seen;
    csan_context_observe(session_context(), op_seen, NULL);
}

void run_log_finish_device(void)
{
    finish_function *finish =
        run_log.file
            ? (finish_function *)driver_function_cached(&run_log.finish, "device_schedule_finish")
            : NULL;
    if (finish)
        finish();
}

void run_log_flush(void)
{
    if (run_log.file)
        fflush(run_log.file);
}

void run_log_close(void)
{
    if (!run_log.file)
        return;
    fputs("end\n", run_log.file);
    fflush(run_log.file);
}

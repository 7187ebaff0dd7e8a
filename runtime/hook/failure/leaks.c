/* See leaks.h. */
#include "runtime/hook/failure/leaks.h"
#include "csan/detector/context.h"
#include "csan/detector/memory_usage.h"
#include "csan/options.h"
#include "csan/base/path_name.h"
#include "csan/stack/stack_library.h"
#include "csan/stack/stack_source.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/session/session_options.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* What was found, in numbers. */
struct sums {
    uint64_t places, count, bytes;
    uint64_t unlisted;          /* places beyond the limit */
    uint64_t kept, kept_bytes;  /* by libraries */
    uint64_t pools, pool_bytes; /* allocations that blocks came of */
};

static bool begins(const char *text, const char *beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

/* The names of calls whose memory the program has to free. */
static bool is_to_be_freed(const char *call)
{
    static const char *const calls[] = {"cuMemAlloc", "cuMemHostAlloc", "cuArrayCreate",
                                        "cuArray3DCreate"};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (begins(call, calls[i]))
            return true;
    return false;
}

/* ---- Whose it is ---- */

static bool is_of_cuda(const char *module)
{
    const char *file = path_name(module);
    return begins(file, "libcsan") || begins(file, "libcudart") || begins(file, "libcuda.");
}

bool leaks_is_library(const void *const *frames, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct csan_source_line line;
        Dl_info info;
        if (stack_source_owns(frames[i])) {
            if (stack_source_describe(frames[i], &line) && line.file)
                return stack_library(line.function, line.file, NULL) != NULL;
        } else if (dladdr(frames[i], &info) && info.dli_fname) {
            if (!is_of_cuda(info.dli_fname))
                return stack_library(NULL, NULL, info.dli_fname) != NULL;
        }
    }
    return false;
}

/* ---- Reporting ---- */

static void report(const struct memory_usage *usage)
{
    context_find(session_context(),
                 &(struct context_finding){
                     .kind = CSAN_RACE_LEAK,
                     .lane = CSAN_HOST,
                     .site = usage->site,
                     .level = CSAN_LEVEL_LIBRARY,
                     .access = CSAN_ALLOCATE,
                     .error = {.detail = "", .count = usage->count, .total = usage->bytes}});
}

static void look(const struct memory_usage *usage, struct sums *sums)
{
    const void *const *frames;
    size_t count;
    const uint64_t limit = (uint64_t)session_all_options()->report_limit;
    const char *call = context_site_stack(session_context(), usage->site, &frames, &count);
    const bool block = usage->class == MEMORY_USAGE_BLOCK;
    if (usage->class == MEMORY_USAGE_POOL) {
        sums->pools += usage->count;
        sums->pool_bytes += usage->bytes;
    } else if (!block && (usage->kind == CSAN_MEMORY_VARIABLE || !call || !is_to_be_freed(call))) {
        return;
    } else if (leaks_is_library(frames, count)) {
        sums->kept += usage->count;
        sums->kept_bytes += usage->bytes;
    } else {
        sums->places++;
        sums->count += usage->count;
        sums->bytes += usage->bytes;
        if (limit && sums->places > limit)
            sums->unlisted++;
        else
            report(usage);
    }
}

static void say(uint64_t count, const char *what, uint64_t bytes, const char *how)
{
    if (count)
        session_note("leaks: %llu %s%s, %llu bytes, %s", (unsigned long long)count, what,
                     count == 1 ? "" : "s", (unsigned long long)bytes, how);
}

void leaks_find(struct session_end how)
{
    struct memory_usage *usages;
    struct sums sums = {0};
    if (!session_all_options()->leak_check || how.way != SESSION_END_EXIT)
        return;
    const size_t count = context_memory_usage(session_context(), NULL, NULL, &usages);
    for (size_t i = 0; i < count; i++)
        look(&usages[i], &sums);
    free(usages);
    if (!sums.count)
        session_note("leaks: none");
    say(sums.count, "allocation", sums.bytes, "never freed");
    if (sums.unlisted)
        session_note("leaks: %llu more places, with less memory each, are not listed "
                     "(report_limit=%d)",
                     (unsigned long long)sums.unlisted, session_all_options()->report_limit);
    say(sums.kept, "allocation", sums.kept_bytes, "that libraries made for themselves and keep");
    say(sums.pools, "allocation", sums.pool_bytes, "that a pool keeps; its blocks count instead");
}

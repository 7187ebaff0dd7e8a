/* See user_dump.h. */
#include "runtime/hook/failure/user_dump.h"
#include "csan/base/environment.h"
#include "csan/base/text.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static time_t begun;

bool user_dump_is_asked_for(void)
{
    static const char *const names[] = {
        "CUDA_ENABLE_COREDUMP_ON_EXCEPTION", "CUDA_ENABLE_LIGHTWEIGHT_COREDUMP",
        "CUDA_ENABLE_USER_TRIGGERED_COREDUMP", "CUDA_COREDUMP_FILE"};
    begun = time(NULL);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = environment_get(names[i]);
        if (value && *value && strcmp(value, "0") != 0)
            return true;
    }
    return false;
}

/* CUDA_COREDUMP_FILE: "%h, %p, %t" are the host's name, the process and the time. The time is not
 * known here: any will do. */
static void pattern_add(struct text *to, const char *pattern)
{
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    for (const char *at = pattern; *at; at++) {
        const char what = *at == '%' ? at[1] : '\0';
        if (what == 'h')
            text_add(to, "%s", host);
        else if (what == 'p')
            text_add(to, "%d", (int)getpid());
        else if (what == 't')
            text_add(to, "*");
        else if (strchr("*?[\\", *at))
            text_add(to, "\\%c", *at);
        else
            text_add(to, "%c", *at);
        at += what == 'h' || what == 'p' || what == 't';
    }
}

/* Among the files of that name, if it is newer than `newest`. */
static bool newest_of(const char *pattern, time_t *newest, char *path, size_t bytes)
{
    struct text expanded = {0};
    glob_t found = {0};
    struct stat status;
    bool any = false;
    pattern_add(&expanded, pattern);
    if (expanded.data && glob(expanded.data, GLOB_NOSORT, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++) {
            const char *name = found.gl_pathv[i];
            if (strlen(name) >= bytes || stat(name, &status) != 0 || !S_ISREG(status.st_mode) ||
                status.st_mtime < *newest)
                continue;
            *newest = status.st_mtime;
            snprintf(path, bytes, "%s", name);
            any = true;
        }
    globfree(&found);
    text_free(&expanded);
    return any;
}

bool user_dump_find(char *path, size_t bytes)
{
    /* Both names are documented: by cuda-gdb, and by the driver's CU_COREDUMP_FILE. */
    static const char *const defaults[] = {"core_%t_%h_%p.nvcudmp", "core.cuda.%h.%p"};
    const char *named = environment_get("CUDA_COREDUMP_FILE");
    time_t newest = begun;
    bool found = false;
    if (named && *named)
        return newest_of(named, &newest, path, bytes);
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
        found |= newest_of(defaults[i], &newest, path, bytes);
    return found;
}

/* See finding_name.h. */
#include "csan/base/finding_name.h"

#include <csan/csan.h>

#include <string.h>

static const char *const kinds[] = {[CSAN_RACE_DATA] = "data",
                                    [CSAN_RACE_ATOMIC] = "atomic",
                                    [CSAN_RACE_BIRTH] = "birth",
                                    [CSAN_RACE_FREE] = "free",
                                    [CSAN_RACE_REUSE] = "reuse",
                                    [CSAN_RACE_USE_AFTER_FREE] = "use-after-free",
                                    [CSAN_RACE_OUT_OF_BOUNDS] = "out-of-bounds",
                                    [CSAN_RACE_DEVICE_EXCEPTION] = "device-exception",
                                    [CSAN_RACE_UNINITIALIZED] = "uninitialized",
                                    [CSAN_RACE_LEAK] = "leak",
                                    [CSAN_RACE_WRONG_DEVICE] = "wrong-device",
                                    [CSAN_RACE_OUT_OF_MEMORY] = "out-of-memory"};
static const char *const operations[] = {[0] = "use",
                                         [CSAN_READ] = "read",
                                         [CSAN_WRITE] = "write",
                                         [CSAN_ATOMIC] = "atomic",
                                         [CSAN_ALLOCATE] = "allocate",
                                         [CSAN_FREE] = "free"};
enum {
    KINDS = sizeof kinds / sizeof *kinds,
    OPERATIONS = sizeof operations / sizeof *operations,
};

static int index_of(const char *const *names, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

const char *finding_kind_name(int kind)
{
    return kinds[kind >= 0 && kind < KINDS ? kind : CSAN_RACE_DATA];
}

int finding_kind_of(const char *name)
{
    return index_of(kinds, KINDS, name);
}

/* As a report in JSON and a dump have it, and as a summary counts it. */
static const struct {
    const char *name, *words;
} levels[CSAN_LEVEL_COUNT] = {
    [CSAN_LEVEL_ANNOTATED] = {"annotated", "annotated"},
    [CSAN_LEVEL_LIBRARY] = {"library", "copies, sets and libraries"},
    [CSAN_LEVEL_OPERATOR] = {"operator", "operators"},
    [CSAN_LEVEL_TRACED] = {"traced", "traced"},
    [CSAN_LEVEL_RANGES] = {"ranges", "ranges"},
    [CSAN_LEVEL_DIRECTION] = {"direction", "direction"},
    [CSAN_LEVEL_UNKNOWN] = {"unknown", "unknown"},
    [CSAN_LEVEL_LEARNED] = {"learned", "learned"},
};

const char *finding_level_name(int level)
{
    return levels[level].name;
}

const char *finding_level_words(int level)
{
    return levels[level].words;
}

const char *finding_access_name(int kind)
{
    return operations[kind > 0 && kind < OPERATIONS ? kind : 0];
}

int finding_access_of(const char *name)
{
    return index_of(operations, OPERATIONS, name);
}

/* What the hooks count and name for the summary. Any thread. */
#ifndef RUNTIME_HOOK_SESSION_COUNTERS_H
#define RUNTIME_HOOK_SESSION_COUNTERS_H

#include <csan/csan.h>

#include <stddef.h>

enum { COUNTERS_NOTES = 64 }; /* of each kind that are kept */

/* Notes something that csan saw and does not follow, once. The text must stay. */
void counters_unmodelled(const char *what);
/* An entry point whose version is newer than csan. */
void counters_unknown_version(const char *name, int version);

/* What was noted so far, at most `capacity` names; returns how many. */
size_t counters_unmodelled_list(const char **names, size_t capacity);
/* csan_call_counts. At most COUNTERS_LIBRARIES are kept. */
enum { COUNTERS_LIBRARIES = 8 };
void counters_calls_add(const struct csan_call_counts *counts);
/* The one of that index; NULL: there are no more. */
const struct csan_call_counts *counters_calls(size_t index);

/* Calls `each` for each version, in the order in which they came. */
void counters_unknown_versions(void (*each)(void *user, const char *name, int version), void *user);

#endif

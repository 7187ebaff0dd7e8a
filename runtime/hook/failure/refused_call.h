/* Calls that the driver refused as an invalid value, of which csan may know better what is wrong.
 * Copies and sets that reach out of their memory become findings (context_judge). So do frees of
 * what was freed or begins elsewhere. The call's own result stays as it is. */
#ifndef RUNTIME_HOOK_FAILURE_REFUSED_CALL_H
#define RUNTIME_HOOK_FAILURE_REFUSED_CALL_H

#include <csan/csan.h>
#include "runtime/hook/interpose/driver.h"

#include <stdbool.h>

/* Whether a call with that result is to be reported. */
bool refused_call_matters(CUresult result);

struct refused {
    const struct driver_entry *entry;
    CUstream stream;
    csan_site site;
    const struct csan_access *accesses; /* that the call was to make */
    size_t access_count;
};
/* Without the hooks' lock. */
void refused_call_copy(const struct refused *call);
/* A free of that address. */
void refused_call_free(csan_site site, uint64_t address);

/* A launch of a kernel, or another call, failed with that error. It becomes a finding if its stream
 * belongs to another context than the current one ("CUDA C++ Programming Guide", "Stream and Event
 * Behavior": a launch fails "if it is issued to a stream that is not associated to the current
 * device"). `site` has its name and stack; `level` is CSAN_LEVEL_LIBRARY for a call. */
bool refused_call_for_stream(const struct driver_entry *entry, CUstream stream, CUresult result);
void refused_call_stream(const struct driver_entry *entry, CUstream stream, csan_site site,
                         enum csan_level level, CUresult result);

#endif

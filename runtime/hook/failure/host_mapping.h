/* What part of the process's own memory an address is in, in words. */
#ifndef RUNTIME_HOOK_FAILURE_HOST_MAPPING_H
#define RUNTIME_HOOK_FAILURE_HOST_MAPPING_H

#include <stdbool.h>
#include <stdint.h>

struct host_mapping {
    uint64_t start, end;
    char words[256]; /* "the stack of the calling thread", "the heap", "libfoo.so" */
};

/* False: nothing that the process can read is mapped there, or a device's file is, or the system
 * does not say. Reads /proc/self/maps. */
bool host_mapping_find(uint64_t address, struct host_mapping *mapping);

#endif

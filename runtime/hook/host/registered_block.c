/* See registered_block.h. */
#include "runtime/hook/host/registered_block.h"
#include "runtime/hook/host/lent_memory.h"
#include "runtime/hook/host/unguarded.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Whether all of it can be read and written and not executed, as the kernel says. */
static bool is_plain(struct range block)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    uint64_t at = block.start, start, end;
    char line[512], protection[5];
    while (maps && at < block.end && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &start, &end, protection) != 3 || end <= at)
            continue;
        if (start > at || strncmp(protection, "rw-", 3) != 0)
            break;
        at = end;
    }
    if (maps)
        fclose(maps);
    return at >= block.end;
}

void registered_block_begins(struct range block, bool shared)
{
    if (!host_access_guards || block.start >= block.end)
        return;
    /* What another block's op guards looks otherwise in the kernel's table. */
    lent_memory_open((const void *)(uintptr_t)block.start, block.end - block.start);
    if (shared || !is_plain(block))
        unguarded_add(block);
    unguarded_registered(block);
}

void registered_block_ends(uint64_t start)
{
    if (host_access_guards)
        unguarded_unregistered((struct range){start, start + 1});
}

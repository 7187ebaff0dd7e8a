/* See launch_family.h. */
#include "runtime/hook/observe/launch_family.h"
#include "csan/detector/context.h"
#include "runtime/hook/session/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct checking {
    csan_context *branch;
    csan_site site;
    const void *const *frames;
    size_t frame_count;
    csan_snapshot **ends;
};

/* Strong accesses may be how a kernel waits for a child's flag: a race behind one is possible. */
static void access_of(const struct device_trace_range *range, struct csan_access *access,
                      struct csan_dim dims[2])
{
    static const uint8_t kinds[] = {[DEVICE_TRACE_READ] = CSAN_READ,
                                    [DEVICE_TRACE_WRITE] = CSAN_WRITE,
                                    [DEVICE_TRACE_ATOMIC] = CSAN_ATOMIC};
    const uint32_t count = range->dims < 2 ? range->dims : 2;
    for (uint32_t i = 0; i < count; i++)
        dims[i] = (struct csan_dim){(int64_t)range->stride[i], range->count[i]};
    *access = (struct csan_access){
        .base = range->address,
        .bytes = range->bytes,
        .dims = dims,
        .dim_count = (uint8_t)count,
        .kind = range->kind < sizeof kinds ? kinds[range->kind] : CSAN_WRITE,
        .argument = CSAN_NO_ARGUMENT,
        .order = range->kind == DEVICE_TRACE_ATOMIC ? CSAN_ACQUIRES | CSAN_RELEASES : 0};
}

static void check_op(const struct checking *checking, csan_lane lane,
                     const struct device_trace_part *part)
{
    struct csan_access *accesses = malloc((part->count + 1) * sizeof *accesses);
    struct csan_dim(*dims)[2] = malloc((part->count + 1) * sizeof *dims);
    csan_site site = checking->site;
    if (part->child)
        site = csan_site_intern(checking->branch, part->kernel, NULL, 0, checking->frames,
                                checking->frame_count);
    for (size_t i = 0; accesses && dims && i < part->count; i++)
        access_of(&part->ranges[i], &accesses[i], dims[i]);
    if (accesses && dims)
        csan_op(checking->branch, lane, site, CSAN_LEVEL_TRACED, accesses, part->count);
    free(accesses);
    free(dims);
}

static void check_part(const struct checking *checking, const struct device_trace_part *parts,
                       size_t number, unsigned *children)
{
    const struct device_trace_part *part = &parts[number];
    char label[64] = "the parent grid";
    if (part->child)
        snprintf(label, sizeof label, "child grid %u", ++*children);
    const csan_lane lane = csan_lane_create(checking->branch, 0, label);
    csan_lane_describe(checking->branch, lane, CSAN_LANE_GRID, 0);
    for (size_t i = 0; i < part->after_count; i++)
        if (part->after[i] < number)
            csan_snapshot_join(checking->branch, lane, checking->ends[part->after[i]]);
    check_op(checking, lane, part);
    checking->ends[number] = csan_snapshot_take(checking->branch, lane);
}

void launch_family_check(csan_site site, const struct device_trace_part *parts, size_t count)
{
    struct checking checking = {.site = site};
    unsigned children = 0;
    if (count < 2)
        return;
    context_site_stack(session_context(), site, &checking.frames, &checking.frame_count);
    checking.ends = calloc(count, sizeof(*checking.ends));
    checking.branch = checking.ends ? csan_context_branch(session_context()) : NULL;
    if (checking.branch) {
        for (size_t i = 0; i < count; i++)
            check_part(&checking, parts, i, &children);
        for (size_t i = 0; i < count; i++)
            csan_snapshot_release(checking.branch, checking.ends[i]);
        csan_context_destroy(checking.branch);
    }
    free(checking.ends);
}

/* ---- Copies ---- */

struct copying {
    char *next;
};

static void *put(struct copying *copying, const void *from, size_t bytes)
{
    void *to = copying->next;
    if (bytes)
        memcpy(to, from, bytes);
    copying->next += (bytes + 7) / 8 * 8;
    return to;
}

static size_t bytes_of(const struct device_trace_part *part)
{
    return (strlen(part->kernel) + 8) / 8 * 8 +
           (part->after_count * sizeof *part->after + 7) / 8 * 8 +
           part->count * sizeof *part->ranges;
}

struct device_trace_part *launch_family_copy(const struct device_trace_part *parts, size_t count)
{
    size_t bytes = count * sizeof *parts;
    for (size_t i = 0; i < count; i++)
        bytes += bytes_of(&parts[i]);
    struct device_trace_part *copy = count ? malloc(bytes) : NULL;
    if (!copy)
        return NULL;
    struct copying copying = {.next = (char *)(copy + count)};
    for (size_t i = 0; i < count; i++) {
        copy[i] = parts[i];
        copy[i].kernel = put(&copying, parts[i].kernel, strlen(parts[i].kernel) + 1);
        copy[i].after = put(&copying, parts[i].after, parts[i].after_count * sizeof *parts->after);
        copy[i].ranges = put(&copying, parts[i].ranges, parts[i].count * sizeof *parts->ranges);
    }
    return copy;
}

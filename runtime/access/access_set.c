/* Access sets by launch. See access_set.h. */
#include "access_set.h"
#include "direction.h"

#include <stdlib.h>
#include <string.h>

struct access_kernel {
    const struct ptx_function *function;
    struct access_set *whole; /* by direction only; made at the first launch */
    struct access_statistics statistics;
};

/* A set with all it points to, in one block. */
struct whole_set {
    struct access_set set;
    char reason[192];
};

static const struct access_set nothing_known = {.reason = "memory is short"};

/* ---- The least that is known: every pointer's whole allocation ---- */

static uint32_t add_ranges(struct access_range *ranges, uint32_t base,
                           const struct access_pointer *pointer)
{
    const bool has[] = {pointer->reads, pointer->writes, pointer->atomics};
    uint32_t count = 0;
    for (uint32_t k = 0; k < 3; k++)
        if (has[k])
            ranges[count++] = (struct access_range){
                .base = base,
                .kind = (uint8_t)(ACCESS_READ + k),
                .bound = ACCESS_BOUND_DIRECTION,
                .bytes = pointer->source == ACCESS_SOURCE_OBJECT ? ACCESS_WHOLE : ACCESS_TO_END};
    return count;
}

static const uint8_t kind_of[] = {
    [ACCESS_SOURCE_PARAM] = ACCESS_BASE_PARAM,
    [ACCESS_SOURCE_OBJECT] = ACCESS_BASE_OBJECT,
    [ACCESS_SOURCE_VARIABLE] = ACCESS_BASE_VARIABLE,
};

static struct access_set *set_of_directions(const struct access_directions *directions)
{
    uint32_t count = directions->count;
    struct whole_set *whole = calloc(1, sizeof *whole + count * sizeof(struct access_base) +
                                            3 * count * sizeof(struct access_range));
    if (!whole)
        return NULL;
    struct access_range *ranges = (struct access_range *)(whole + 1);
    struct access_base *bases = (struct access_base *)(ranges + (size_t)3 * count);
    for (uint32_t i = 0; i < count; i++) {
        const struct access_pointer *pointer = &directions->pointers[i];
        bases[i] = (struct access_base){.kind = kind_of[pointer->source],
                                        .object = (uint8_t)pointer->object,
                                        .guessed = pointer->guessed,
                                        .param_index = pointer->param_index,
                                        .param_offset = pointer->param_offset,
                                        .variable = pointer->variable};
        whole->set.range_count += add_ranges(ranges + whole->set.range_count, i, pointer);
    }
    memcpy(whole->reason, directions->reason, sizeof whole->reason);
    whole->set.bases = bases;
    whole->set.ranges = ranges;
    whole->set.base_count = count;
    whole->set.complete = directions->complete;
    whole->set.reason = whole->reason;
    whole->set.reason_line = directions->reason_line;
    return &whole->set;
}

static struct access_set *whole_find(const struct ptx_function *function)
{
    const struct access_directions *directions = access_directions_find(function);
    struct access_set *set = directions ? set_of_directions(directions) : NULL;
    access_directions_release(directions);
    return set;
}

/* ---- Kernels ---- */

struct access_kernel *access_kernel_create(const struct ptx_function *function)
{
    struct access_kernel *kernel = calloc(1, sizeof *kernel);
    if (kernel)
        kernel->function = function;
    return kernel;
}

void access_kernel_release(struct access_kernel *kernel)
{
    if (!kernel)
        return;
    free(kernel->whole);
    free(kernel);
}

const struct access_set *access_set_find(struct access_kernel *kernel,
                                         const struct access_launch *launch)
{
    (void)launch;
    if (!kernel->whole) {
        kernel->statistics.misses++;
        kernel->whole = whole_find(kernel->function);
    }
    return kernel->whole ? kernel->whole : &nothing_known;
}

struct access_statistics access_statistics_of(const struct access_kernel *kernel)
{
    return kernel->statistics;
}

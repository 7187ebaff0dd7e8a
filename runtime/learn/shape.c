/* The launches of one shape: their entries, and which bytes tell those apart. */
#include "runtime/learn/learner_state.h"
#include "runtime/learn/matter.h"

#include <stdlib.h>
#include <string.h>

/* ---- Entries ---- */

static void entry_release(struct entry *entry)
{
    learned_set_release(entry->set);
    free(entry->scalars);
    free(entry);
}

static void set_take(struct entry *entry, struct learned_set *set)
{
    learned_set_retain(set);
    learned_set_release(entry->set);
    entry->set = set;
}

static void entries_clear(struct shape *shape)
{
    struct entry *entry = NULL, *next = NULL;
    HASH_ITER(hh, shape->entries, entry, next)
    {
        HASH_DEL(shape->entries, entry);
        entry_release(entry);
    }
    shape->singles = 0;
}

/* Those that left the key are 0. */
static uint8_t *scalars_kept(const struct shape *shape, const uint8_t *scalars)
{
    uint8_t *kept = malloc(shape->scalar_bytes + 1);
    for (uint32_t i = 0; kept && i < shape->scalar_bytes; i++)
        kept[i] = shape->kept[i] ? scalars[i] : 0;
    return kept;
}

static struct entry *entry_of_kept(struct shape *shape, const uint8_t *kept)
{
    struct entry *entry = NULL;
    HASH_FIND(hh, shape->entries, kept, shape->scalar_bytes, entry);
    return entry;
}

struct entry *shape_find(struct shape *shape, const uint8_t *scalars)
{
    if (shape->scattered)
        return &shape->all;
    if (!shape->left)
        return entry_of_kept(shape, scalars);
    uint8_t *kept = scalars_kept(shape, scalars);
    struct entry *entry = kept ? entry_of_kept(shape, kept) : NULL;
    free(kept);
    return entry;
}

struct entry *shape_entry(struct shape *shape, const uint8_t *scalars)
{
    struct entry *entry = shape_find(shape, scalars);
    if (entry)
        return entry;
    entry = calloc(1, sizeof *entry);
    uint8_t *kept = entry ? scalars_kept(shape, scalars) : NULL;
    if (!kept) {
        free(entry);
        return NULL;
    }
    entry->scalars = kept;
    HASH_ADD_KEYPTR(hh, shape->entries, kept, shape->scalar_bytes, entry);
    if (shape_find(shape, kept) == entry)
        return entry;
    entry_release(entry); /* memory is short */
    return NULL;
}

static void entry_untold(struct entry *entry, enum learn_reason reason)
{
    entry->state = ENTRY_UNTOLD;
    entry->reason = (uint8_t)reason;
    learned_set_release(entry->set);
    entry->set = NULL;
}

/* Its set becomes a bound that holds the other, too. */
static void entry_depends(struct entry *entry, const struct learned_set *set)
{
    struct learned_set *bound = learned_set_widen(entry->set ? entry->set : set, set);
    if (!bound) {
        entry_untold(entry, LEARN_INDIRECT);
        return;
    }
    entry->state = ENTRY_DEPENDENT;
    set_take(entry, bound);
    learned_set_release(bound);
}

void entry_merge(struct entry *entry, const struct entry *other)
{
    entry->seen += other->seen;
    entry->asked += other->asked;
    entry->launches += other->launches;
    entry->again |= other->again;
    if (entry->state == ENTRY_UNTOLD)
        return;
    if (other->state == ENTRY_UNTOLD) {
        entry_untold(entry, other->reason);
    } else if (other->set && !entry->set) {
        entry->state = other->state;
        set_take(entry, other->set);
    } else if (other->set && (other->state == ENTRY_DEPENDENT || entry->state == ENTRY_DEPENDENT ||
                              !learned_set_equal(entry->set, other->set))) {
        entry_depends(entry, other->set);
    } else if (other->state == ENTRY_KNOWN) {
        entry->state = ENTRY_KNOWN;
    }
}

/* ---- Which bytes tell entries apart ---- */

/* Entries that are one now are merged. */
static void shape_rekey(struct shape *shape, const struct learner_options *options)
{
    struct entry *old = NULL, *next = NULL, *all = shape->entries;
    shape->entries = NULL;
    shape->singles = 0;
    HASH_ITER(hh, all, old, next)
    {
        HASH_DEL(all, old);
        struct entry *entry = shape_entry(shape, old->scalars);
        if (entry)
            entry_merge(entry, old);
        entry_release(old);
    }
    HASH_ITER(hh, shape->entries, old, next)
    {
        shape->singles += old->launches == 1;
        if (old->state == ENTRY_LEARNING && old->set && old->seen >= options->launches)
            old->state = ENTRY_KNOWN;
    }
}

/* Lets bytes leave that were seen not to matter. Where sets depend on data there is no telling. */
static void shape_forget_bytes(struct shape *shape, const struct learner_options *options)
{
    struct matter_launch launches[MATTER_LAUNCHES];
    struct entry *entry = NULL, *next = NULL;
    size_t count = 0;
    HASH_ITER(hh, shape->entries, entry, next)
    {
        if (entry->state == ENTRY_DEPENDENT || entry->state == ENTRY_UNTOLD)
            return;
        if (entry->set && count < MATTER_LAUNCHES)
            launches[count++] = (struct matter_launch){entry->scalars, entry->set};
    }
    if (count < options->values || (count > 32 && count % 16))
        return; /* it takes long, and rarely has another end than last time */
    size_t left = matter_find(launches, count, shape->scalar_bytes, shape->pinned, shape->kept,
                              options->values);
    shape->left += left;
    if (left)
        shape_rekey(shape, options);
}

/* A byte that left did matter, or what the kernel touches depends on data: the bytes come back for
 * good, and all begins anew. */
static void shape_restore(struct shape *shape)
{
    for (uint32_t i = 0; i < shape->scalar_bytes; i++)
        shape->pinned[i] |= !shape->kept[i];
    memset(shape->kept, 1, shape->scalar_bytes);
    shape->left = 0;
    entries_clear(shape);
}

/* ---- Learning ---- */

/* Equal as far as both tell. A coarse trace of the same bytes is no contradiction. */
static bool entry_agrees(const struct entry *entry, const struct learned_set *set)
{
    return entry->set->inexact != set->inexact || learned_set_equal(entry->set, set);
}

/* Its first set. */
static void entry_begins(struct shape *shape, struct entry *entry, struct learned_set *set,
                         const struct learner_options *options)
{
    set_take(entry, set);
    if (entry->seen >= options->launches)
        entry->state = ENTRY_KNOWN;
    if (shape->scattered)
        entry_depends(entry, set);
    else
        shape_forget_bytes(shape, options);
}

static void contradict(struct shape *shape, struct entry *entry, const uint8_t *scalars,
                       struct learned_set *set, const struct learner_options *options)
{
    if (!shape->left) {
        entry_depends(entry, set);
        return;
    }
    shape_restore(shape);
    entry = shape_entry(shape, scalars);
    if (!entry)
        return;
    entry->seen = 1;
    entry->launches = 1;
    shape->singles = 1;
    entry_begins(shape, entry, set, options);
}

void shape_learn(struct shape *shape, struct entry *entry, const uint8_t *scalars,
                 struct learned_set *set, const struct learner_options *options)
{
    entry->seen++;
    entry->lost = 0;
    if (entry->state == ENTRY_UNTOLD)
        return;
    if (!entry->set) {
        entry_begins(shape, entry, set, options);
    } else if (entry->state == ENTRY_DEPENDENT) {
        entry_depends(entry, set);
    } else if (!entry_agrees(entry, set)) {
        contradict(shape, entry, scalars, set, options);
    } else {
        if (entry->set->inexact && !set->inexact)
            set_take(entry, set);
        if (entry->seen >= options->launches)
            entry->state = ENTRY_KNOWN;
    }
}

void shape_scatter(struct shape *shape)
{
    struct entry *entry = NULL, *next = NULL;
    shape->scattered = true;
    HASH_ITER(hh, shape->entries, entry, next)
    {
        shape->all.launches += entry->launches;
        shape->all.asked += entry->asked;
        if (entry->state == ENTRY_UNTOLD)
            entry_untold(&shape->all, entry->reason);
        else if (entry->set && shape->all.state != ENTRY_UNTOLD)
            entry_depends(&shape->all, entry->set);
    }
    entries_clear(shape);
}

void shape_clear(struct shape *shape)
{
    entries_clear(shape);
    learned_set_release(shape->all.set);
    free(shape->bytes);
    free(shape->kept);
    free(shape);
}

/* ---- Kernels ---- */

struct shape *kernel_shape(struct learned_kernel *kernel, const uint8_t *bytes,
                           uint32_t shape_bytes, uint32_t scalar_bytes, uint32_t anchor_count)
{
    struct shape *shape = NULL;
    HASH_FIND(hh, kernel->shapes, bytes, shape_bytes, shape);
    if (shape)
        return shape->scalar_bytes == scalar_bytes ? shape : NULL;
    shape = calloc(1, sizeof *shape);
    uint8_t *copy = shape ? malloc(shape_bytes + 1) : NULL;
    uint8_t *flags = copy ? calloc(2, scalar_bytes + 1) : NULL;
    if (!flags) {
        free(copy);
        free(shape);
        return NULL;
    }
    memcpy(copy, bytes, shape_bytes);
    memset(flags, 1, scalar_bytes);
    *shape = (struct shape){.bytes = copy,
                            .shape_bytes = shape_bytes,
                            .scalar_bytes = scalar_bytes,
                            .anchor_count = anchor_count,
                            .kept = flags,
                            .pinned = flags + scalar_bytes + 1};
    struct shape *oldest = kernel->shapes;
    if (oldest && HASH_COUNT(kernel->shapes) >= SHAPES_MAX) {
        HASH_DEL(kernel->shapes, oldest);
        shape_clear(oldest);
    }
    HASH_ADD_KEYPTR(hh, kernel->shapes, copy, shape_bytes, shape);
    return shape;
}

struct learned_kernel *image_kernel(struct image_state *image, const char *name)
{
    struct learned_kernel *kernel = NULL;
    HASH_FIND(hh, image->kernels, name, strlen(name), kernel);
    if (kernel)
        return kernel;
    kernel = calloc(1, sizeof *kernel);
    char *copy = kernel ? strdup(name) : NULL;
    if (!copy) {
        free(kernel);
        return NULL;
    }
    kernel->image = image;
    kernel->name = copy;
    HASH_ADD_KEYPTR(hh, image->kernels, copy, strlen(copy), kernel);
    return kernel;
}

void image_clear(struct image_state *image)
{
    struct learned_kernel *kernel = NULL, *next = NULL;
    HASH_ITER(hh, image->kernels, kernel, next)
    {
        struct shape *shape = NULL, *other = NULL;
        HASH_ITER(hh, kernel->shapes, shape, other)
        {
            HASH_DEL(kernel->shapes, shape);
            shape_clear(shape);
        }
        HASH_DEL(image->kernels, kernel);
        free(kernel->name);
        free(kernel);
    }
    free(image);
}

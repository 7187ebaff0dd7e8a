/* Addresses of device and host memory: see arena.h. Called by memory.c, pool.c and module.c with
 * the device's lock held.
 *
 * All blocks, free and taken, lie in one treap ordered by address, in which every node knows the
 * largest free span below it: first fit, the block around an address and both neighbours are all
 * found in logarithmic time. Priorities come from a hash of the address, so that the same calls
 * give the same addresses in every run. */
#include "runtime/device/memory/arena.h"
#include "csan/base/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

struct arena_block {
    uint64_t base, span; /* span: in the arena; the blocks cover it without gaps */
    uint64_t zone;       /* of the span, at its end: nobody's */
    uint64_t bytes;      /* as asked for; 0: free, or held */
    bool held;           /* freed, and in the quarantine */
    uint64_t largest;    /* free span in this subtree */
    uint64_t id;
    uint32_t tag, flags;
    bool counted; /* as handed out, against the limit */
    bool attribute;
    uint32_t priority;
    struct arena_block *left, *right;
    struct arena_block *next_held;
};

enum {
    RETURN_PAGES_FROM = 1 << 20,
    PAGE = 4096,
    OPEN_BYTES = 64 << 20,
    ZONE_PART = 8, /* of a large block: a stride too far is often one of its rows */
    ZONE_MOST = 1 << 20,
    SMALL_GRANULARITY = 512,
    SPARE_PART = 16 /* of all addresses, that zones may have */
};

static bool is_free(const struct arena_block *block)
{
    return !block->bytes && !block->held;
}

static uint32_t priority_of(uint64_t base)
{
    return (uint32_t)hash_mix(0, base);
}

static void block_update(struct arena_block *block)
{
    block->largest = is_free(block) ? block->span : 0;
    if (block->left && block->left->largest > block->largest)
        block->largest = block->left->largest;
    if (block->right && block->right->largest > block->largest)
        block->largest = block->right->largest;
}

static struct arena_block *treap_merge(struct arena_block *left, struct arena_block *right)
{
    if (!left || !right)
        return left ? left : right;
    struct arena_block *top = left->priority >= right->priority ? left : right;
    if (top == left)
        left->right = treap_merge(left->right, right);
    else
        right->left = treap_merge(left, right->left);
    block_update(top);
    return top;
}

/* Blocks before `base` to *left, the others to *right. */
static void treap_split(struct arena_block *block, uint64_t base, struct arena_block **left,
                        struct arena_block **right)
{
    if (!block) {
        *left = *right = NULL;
        return;
    }
    if (block->base < base) {
        treap_split(block->right, base, &block->right, right);
        *left = block;
    } else {
        treap_split(block->left, base, left, &block->left);
        *right = block;
    }
    block_update(block);
}

static void treap_insert(struct arena *arena, struct arena_block *block)
{
    struct arena_block *left, *right;
    block->left = block->right = NULL;
    block->priority = priority_of(block->base);
    block_update(block);
    treap_split(arena->root, block->base, &left, &right);
    arena->root = treap_merge(treap_merge(left, block), right);
}

static void treap_remove(struct arena *arena, struct arena_block *block)
{
    struct arena_block *left, *middle, *right;
    treap_split(arena->root, block->base, &left, &middle);
    treap_split(middle, block->base + 1, &middle, &right);
    arena->root = treap_merge(left, right);
}

/* The block that starts at `base`, which is below `block`, has changed. */
static void treap_update(struct arena_block *block, uint64_t base)
{
    if (base < block->base)
        treap_update(block->left, base);
    else if (base > block->base)
        treap_update(block->right, base);
    block_update(block);
}

/* The block that contains address. */
static struct arena_block *treap_floor(const struct arena *arena, uint64_t address)
{
    struct arena_block *found = NULL;
    for (struct arena_block *block = arena->root; block;) {
        if (block->base <= address) {
            found = block;
            block = block->right;
        } else {
            block = block->left;
        }
    }
    return found && address - found->base < found->span ? found : NULL;
}

static struct arena_block *treap_first_fit(const struct arena *arena, uint64_t span)
{
    struct arena_block *block = arena->root;
    while (block && block->largest >= span) {
        if (block->left && block->left->largest >= span)
            block = block->left;
        else if (is_free(block) && block->span >= span)
            return block;
        else
            block = block->right;
    }
    return NULL;
}

static void *reserve(uint64_t hint, uint64_t bytes)
{
    void *range =
        mmap((void *)hint, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED)
        return NULL;
    madvise(range, bytes, MADV_DONTDUMP);
    return range;
}

bool arena_open(struct arena *arena, uint64_t hint, uint64_t bytes, uint64_t unit, uint64_t limit,
                bool hidden)
{
    *arena = (struct arena){.bytes = bytes, .unit = unit, .limit = limit};
    char *visible = reserve(hint, bytes);
    if (!visible)
        return false;
    char *touched = visible;
    if (hidden)
        touched = reserve(hint + bytes, bytes);
    struct arena_block *block = calloc(1, sizeof *block);
    if (!touched || !block) {
        munmap(visible, bytes);
        if (hidden && touched)
            munmap(touched, bytes);
        free(block);
        errno = ENOMEM;
        return false;
    }
    arena->base = (uint64_t)visible;
    arena->delta = (uint64_t)touched - (uint64_t)visible;
    block->base = arena->base;
    block->span = bytes;
    treap_insert(arena, block);
    return true;
}

void arena_guard(struct arena *arena, uint64_t redzone, uint64_t quarantine)
{
    arena->redzone = redzone;
    arena->quarantine = quarantine;
}

static void treap_free(struct arena_block *block)
{
    if (!block)
        return;
    treap_free(block->left);
    treap_free(block->right);
    free(block);
}

void arena_close(struct arena *arena)
{
    if (!arena->base)
        return;
    munmap((void *)arena->base, arena->bytes);
    if (arena->delta)
        munmap((void *)(arena->base + arena->delta), arena->bytes);
    treap_free(arena->root);
    *arena = (struct arena){0};
}

/* What lies before `end` can be touched from here on. */
static bool open_up_to(struct arena *arena, uint64_t end)
{
    uint64_t wanted = (end - arena->base + OPEN_BYTES - 1) / OPEN_BYTES * OPEN_BYTES;
    if (wanted > arena->bytes)
        wanted = arena->bytes;
    if (wanted <= arena->opened)
        return true;
    if (mprotect((void *)(arena->base + arena->delta + arena->opened), wanted - arena->opened,
                 PROT_READ | PROT_WRITE) != 0)
        return false;
    arena->opened = wanted;
    return true;
}

/* The first `span` bytes of a free block become a taken one, the rest stays free. */
static uint64_t take(struct arena *arena, struct arena_block *block, uint64_t span, uint64_t bytes,
                     uint32_t tag, uint32_t flags)
{
    if (!open_up_to(arena, block->base + span))
        return 0;
    struct arena_block *rest = block->span > span ? calloc(1, sizeof *rest) : NULL;
    if (block->span > span && !rest)
        return 0;
    block->zone = 0;
    block->bytes = bytes;
    block->tag = tag;
    block->flags = flags;
    block->counted = false;
    block->id = ++arena->births;
    block->attribute = false;
    if (rest) {
        rest->base = block->base + span;
        rest->span = block->span - span;
        block->span = span;
        treap_insert(arena, rest);
    }
    treap_update(arena->root, block->base);
    return block->base;
}

/* ---- Freed blocks --------------------------------------------------------------------------- */

/* The block, which nobody has any more, becomes free and one with its free neighbours. */
static void set_free(struct arena *arena, struct arena_block *block)
{
    block->bytes = 0;
    block->held = false;
    struct arena_block *next = treap_floor(arena, block->base + block->span);
    if (next && is_free(next)) {
        treap_remove(arena, next);
        block->span += next->span;
        free(next);
    }
    struct arena_block *previous = treap_floor(arena, block->base - 1);
    if (previous && is_free(previous)) {
        treap_remove(arena, block);
        previous->span += block->span;
        free(block);
        block = previous;
    }
    treap_update(arena->root, block->base);
}

/* Those that wait longest are free, until at most `keep` bytes wait. False: none waited. */
static bool release_held(struct arena *arena, uint64_t keep)
{
    bool any = false;
    while (arena->held > keep) {
        struct arena_block *block = arena->held_first;
        arena->held_first = block->next_held;
        arena->held -= block->span;
        set_free(arena, block);
        any = true;
    }
    return any;
}

/* Neither free nor anybody's: where the block lies in the treap stays as it is. */
static void hold(struct arena *arena, struct arena_block *block)
{
    block->bytes = 0;
    block->held = true;
    block->next_held = NULL;
    if (arena->held)
        arena->held_last->next_held = block;
    else
        arena->held_first = block;
    arena->held_last = block;
    arena->held += block->span;
    release_held(arena, arena->quarantine);
}

/* ---- Taken blocks --------------------------------------------------------------------------- */

static uint64_t rounded(const struct arena *arena, uint64_t bytes)
{
    return (bytes + arena->unit - 1) / arena->unit * arena->unit;
}

/* With its zone a block is a multiple of what programs align textures to, a large one of pages, so
 * that the next is aligned as if there were none, and pages of zones are never touched.
 * Zones use addresses beyond the limit. Where there are few, that is a part of the others, too. */
static uint64_t zone_of(const struct arena *arena, uint64_t bytes)
{
    uint64_t part = bytes / ZONE_PART < ZONE_MOST ? bytes / ZONE_PART : ZONE_MOST;
    uint64_t granularity = bytes >= PAGE ? PAGE : SMALL_GRANULARITY, span = rounded(arena, bytes);
    uint64_t least = span + (part > arena->redzone ? part : arena->redzone);
    uint64_t zone = rounded(arena, (least + granularity - 1) / granularity * granularity) - span;
    uint64_t beyond = arena->bytes - arena->limit, spare = arena->bytes / SPARE_PART;
    if (!arena->redzone || arena->zones + zone > (beyond > spare ? beyond : spare))
        return 0;
    return zone;
}

/* A free block that the span fits in, whatever waits. */
static struct arena_block *find_room(struct arena *arena, uint64_t span)
{
    struct arena_block *found = treap_first_fit(arena, span);
    if (!found && release_held(arena, 0))
        found = treap_first_fit(arena, span);
    return found;
}

uint64_t arena_allocate(struct arena *arena, uint64_t bytes, uint32_t tag, uint32_t flags)
{
    if (!bytes || bytes > arena->limit)
        return 0;
    uint64_t span = rounded(arena, bytes), zone = zone_of(arena, bytes);
    if (span > arena->limit - arena->used)
        return 0;
    struct arena_block *taken = find_room(arena, span + zone);
    if (!taken && zone) {
        zone = 0;
        taken = treap_first_fit(arena, span);
    }
    if (!taken || !take(arena, taken, span + zone, bytes, tag, flags))
        return 0;
    taken->zone = zone;
    taken->counted = true;
    arena->used += span;
    arena->zones += zone;
    return taken->base;
}

uint64_t arena_reserve(struct arena *arena, uint64_t bytes, uint64_t alignment, uint32_t tag)
{
    uint64_t span = rounded(arena, bytes);
    if (!bytes || span < bytes || alignment > arena->bytes || span > arena->bytes)
        return 0;
    struct arena_block *taken = find_room(arena, span + alignment);
    if (!taken)
        return 0;
    uint64_t offset = (alignment - taken->base % alignment) % alignment;
    if (!offset)
        return take(arena, taken, span, bytes, tag, 0);
    struct arena_block *before = calloc(1, sizeof *before);
    if (!before)
        return 0;
    treap_remove(arena, taken);
    *before = (struct arena_block){.base = taken->base, .span = offset};
    taken->base += offset;
    taken->span -= offset;
    treap_insert(arena, before);
    treap_insert(arena, taken);
    return take(arena, taken, span, bytes, tag, 0);
}

/* Whole pages inside [base, base + bytes): their content is zero when they are next touched. */
static void return_pages(const struct arena *arena, uint64_t base, uint64_t bytes)
{
    uint64_t first = (base + PAGE - 1) / PAGE * PAGE, end = (base + bytes) / PAGE * PAGE;
    if (first < end)
        madvise((void *)(first + arena->delta), end - first, MADV_DONTNEED);
}

static bool end(struct arena *arena, uint64_t base, bool may_wait)
{
    struct arena_block *block = treap_floor(arena, base);
    if (!block || block->base != base || !block->bytes)
        return false;
    if (block->span >= RETURN_PAGES_FROM)
        return_pages(arena, block->base, block->span);
    may_wait &= block->counted && block->span <= arena->quarantine;
    if (block->counted)
        arena->used -= block->span - block->zone;
    arena->zones -= block->zone;
    if (may_wait)
        hold(arena, block);
    else
        set_free(arena, block);
    return true;
}

bool arena_free(struct arena *arena, uint64_t base)
{
    return end(arena, base, true);
}

bool arena_free_now(struct arena *arena, uint64_t base)
{
    return end(arena, base, false);
}

static struct arena_info info_of(const struct arena_block *block)
{
    return (struct arena_info){.base = block->base,
                               .bytes = block->bytes,
                               .span = block->span - block->zone,
                               .tag = block->tag,
                               .flags = block->flags,
                               .id = block->id,
                               .attribute = block->attribute};
}

bool arena_find(const struct arena *arena, uint64_t address, struct arena_info *info)
{
    struct arena_block *block = treap_floor(arena, address);
    if (!block || address - block->base >= block->bytes)
        return false;
    *info = info_of(block);
    return true;
}

bool arena_next(const struct arena *arena, uint64_t address, struct arena_info *info)
{
    struct arena_block *found = NULL;
    for (struct arena_block *block = arena->root; block;) {
        if (block->base >= address) {
            found = block;
            block = block->left;
        } else {
            block = block->right;
        }
    }
    while (found && !found->bytes)
        found = treap_floor(arena, found->base + found->span);
    if (!found)
        return false;
    *info = info_of(found);
    return true;
}

bool arena_reuse(struct arena *arena, uint64_t base, uint64_t bytes, uint32_t tag, uint32_t flags)
{
    struct arena_block *block = treap_floor(arena, base);
    if (!block || block->base != base || !block->bytes || !bytes ||
        bytes > block->span - block->zone)
        return false;
    block->bytes = bytes;
    block->tag = tag;
    block->flags = flags;
    block->id = ++arena->births;
    block->attribute = false;
    return true;
}

bool arena_set_attribute(struct arena *arena, uint64_t address, bool on)
{
    struct arena_block *block = treap_floor(arena, address);
    if (!block || address - block->base >= block->bytes)
        return false;
    block->attribute = on;
    return true;
}

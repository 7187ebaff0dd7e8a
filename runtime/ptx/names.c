/* The parser's symbol table. */
#include "runtime/ptx/names.h"
#include "csan/base/hash.h"

#include <string.h>

enum { FIRST_BUCKETS = 1024 };

static uint32_t hash_name(const char *text, size_t length)
{
    uint64_t hash = hash_bytes(HASH_START, text, length);
    return (uint32_t)(hash ^ (hash >> 32));
}

void names_start(struct name_table *names, struct arena *arena)
{
    names->arena = arena;
    names->bucket_count = FIRST_BUCKETS;
    names->count = 0;
    names->buckets = ptx_arena_array(arena, FIRST_BUCKETS, sizeof *names->buckets);
}

static void grow_buckets(struct name_table *names)
{
    size_t larger = names->bucket_count * 4;
    struct name **buckets = ptx_arena_array(names->arena, larger, sizeof *buckets);
    for (size_t i = 0; i < names->bucket_count; i++) {
        struct name *name = names->buckets[i];
        while (name) {
            struct name *next = name->next_in_bucket;
            name->next_in_bucket = buckets[name->hash & (larger - 1)];
            buckets[name->hash & (larger - 1)] = name;
            name = next;
        }
    }
    names->buckets = buckets;
    names->bucket_count = larger;
}

static struct name *find(const struct name_table *names, const char *text, size_t length,
                         uint32_t hash)
{
    struct name *name = names->buckets[hash & (names->bucket_count - 1)];
    while (name &&
           (name->hash != hash || name->length != length || memcmp(name->text, text, length) != 0))
        name = name->next_in_bucket;
    return name;
}

struct name *names_intern(struct name_table *names, const char *text, size_t length)
{
    uint32_t hash = hash_name(text, length);
    struct name *name = find(names, text, length, hash);
    if (name)
        return name;
    if (names->count++ > names->bucket_count * 2)
        grow_buckets(names);
    name = ptx_arena_allocate(names->arena, sizeof *name);
    name->text = ptx_arena_text(names->arena, text, length);
    name->length = (uint32_t)length;
    name->hash = hash;
    struct name **bucket = &names->buckets[hash & (names->bucket_count - 1)];
    name->next_in_bucket = *bucket;
    *bucket = name;
    return name;
}

struct binding *names_bind(struct name_table *names, struct scope *scope, struct name *name,
                           enum binding_kind kind)
{
    if (name->binding && name->binding->depth == scope->depth)
        return NULL;
    struct binding *binding = ptx_arena_allocate(names->arena, sizeof *binding);
    binding->kind = kind;
    binding->depth = scope->depth;
    binding->name = name;
    binding->shadowed = name->binding;
    binding->next_in_scope = scope->bindings;
    name->binding = binding;
    scope->bindings = binding;
    return binding;
}

struct register_range *names_bind_range(struct name_table *names, struct scope *scope,
                                        struct name *name, uint8_t type, uint32_t count)
{
    if (name->range && name->range->depth == scope->depth)
        return NULL;
    struct register_range *range = ptx_arena_allocate(names->arena, sizeof *range);
    range->type = type;
    range->count = count;
    range->depth = scope->depth;
    range->scope = scope;
    range->name = name;
    range->shadowed = name->range;
    range->next_in_scope = scope->ranges;
    name->range = range;
    scope->ranges = range;
    return range;
}

/* "%r17" may be number 17 of "%r" or, oddly, number 7 of "%r1": the innermost range that fits. */
struct register_range *names_find_range(struct name_table *names, const struct name *name)
{
    struct register_range *best = NULL;
    uint64_t number = 0, scale = 1;
    size_t prefix = name->length;
    while (prefix > 1 && name->length - prefix < 10) {
        char digit = name->text[prefix - 1];
        if (digit < '0' || digit > '9')
            break;
        number += (uint64_t)(digit - '0') * scale;
        scale *= 10;
        prefix--;
        if (digit == '0' && name->length - prefix > 1)
            continue; /* no leading zero */
        struct name *stem = find(names, name->text, prefix, hash_name(name->text, prefix));
        struct register_range *range = stem ? stem->range : NULL;
        while (range && number >= range->count)
            range = range->shadowed;
        if (range && (!best || range->depth > best->depth))
            best = range;
    }
    if (best && name->binding && name->binding->depth >= best->depth)
        return NULL;
    return best;
}

void names_leave(struct scope *scope)
{
    for (struct binding *b = scope->bindings; b; b = b->next_in_scope)
        b->name->binding = b->shadowed;
    for (struct register_range *r = scope->ranges; r; r = r->next_in_scope)
        r->name->range = r->shadowed;
    scope->bindings = NULL;
    scope->ranges = NULL;
}

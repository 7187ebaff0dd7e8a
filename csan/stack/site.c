#define HASH_NONFATAL_OOM 1
#include "csan/stack/site.h"
#include "csan/stack/stack.h"
#include "csan/base/text.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

/* A site and everything it points to, in one block: the key is name, arguments and stacks as bytes.
 */
struct site_record {
    struct site site;
    csan_site number;
    UT_hash_handle hh;
    char key[]; /* the stacks' ids, then the strings with their NULs */
};

/* Both stacks of a site. */
struct site_stacks {
    uint32_t own, launched;
};

enum { PAGE_SITES = 1 << 12, PAGES = 1 << 14 };

/* Where a kernel is defined. */
struct definition {
    bool several;
    const char *place; /* in `text`, behind the name */
    UT_hash_handle hh;
    char text[];
};

struct site_table {
    struct stack_depot *stacks;
    pthread_mutex_t lock;
    csan_site last;
    struct site_record *records;      /* uthash by key */
    struct definition *definitions;   /* by name */
    const struct site **pages[PAGES]; /* published with release stores, never moved */
};

bool site_is_variable(const struct site *site)
{
    static const char *const qualifiers[] = {"__constant__ ", "__device__ ", "__managed__ ",
                                             "variable "};
    for (size_t i = 0; i < sizeof qualifiers / sizeof *qualifiers; i++)
        if (strncmp(site->name, qualifiers[i], strlen(qualifiers[i])) == 0)
            return site->stack == 0 && site->argument_count == 1;
    return false;
}

const char *site_object_of_words(const char *words)
{
    static const char *const objects[] = {"texture object", "surface object"};
    for (size_t i = 0; words && i < sizeof objects / sizeof *objects; i++)
        if (strcmp(words, objects[i]) == 0)
            return objects[i];
    return NULL;
}

const char *site_object(const struct site *site)
{
    return site->argument_count == 1 ? site_object_of_words(site->arguments[0]) : NULL;
}

struct site_table *site_table_create(struct stack_depot *stacks)
{
    struct site_table *table = calloc(1, sizeof(*table));
    if (!table)
        return NULL;
    table->stacks = stacks;
    pthread_mutex_init(&table->lock, NULL);
    return table;
}

void site_table_destroy(struct site_table *table)
{
    struct site_record *record, *next;
    HASH_ITER(hh, table->records, record, next)
    {
        HASH_DEL(table->records, record);
        free((void *)record->site.arguments);
        free(record);
    }
    struct definition *definition, *after;
    HASH_ITER(hh, table->definitions, definition, after)
    {
        HASH_DEL(table->definitions, definition);
        free(definition);
    }
    for (uint32_t i = 0; i < PAGES; i++)
        free(table->pages[i]);
    pthread_mutex_destroy(&table->lock);
    free(table);
}

static size_t key_bytes(const char *name, const char *const *arguments, size_t count)
{
    size_t bytes = sizeof(struct site_stacks) + strlen(name) + 1;
    for (size_t i = 0; i < count; i++)
        bytes += strlen(arguments[i]) + 1;
    return bytes;
}

/* Names are shown in lines, so they must not contain line breaks. The flag character at the end of
 * a returned argument stays. */
static char *string_write(char *place, const char *string)
{
    const char mark = CSAN_ARGUMENT_RETURNED[0];
    char *end = stpcpy(place, string);
    const bool marked = end > place && end[-1] == mark;
    text_make_plain(place);
    if (marked)
        end[-1] = mark;
    return end + 1;
}

static void key_write(char *key, struct site_stacks stacks, const char *name,
                      const char *const *arguments, size_t count)
{
    memcpy(key, &stacks, sizeof(stacks));
    char *place = string_write(key + sizeof(stacks), name);
    for (size_t i = 0; i < count; i++)
        place = string_write(place, arguments[i]);
}

/* Point the site's strings into its own key. */
static bool bind_strings(struct site_record *record, size_t count)
{
    const char **arguments = calloc(count ? count : 1, sizeof(*arguments));
    if (!arguments)
        return false;
    const char *place = record->key + sizeof(struct site_stacks);
    record->site.name = place;
    for (size_t i = 0; i < count; i++) {
        place += strlen(place) + 1;
        arguments[i] = place;
    }
    record->site.arguments = arguments;
    record->site.argument_count = (uint32_t)count;
    return true;
}

static const struct site **slot_of(struct site_table *table, csan_site number)
{
    if (number / PAGE_SITES >= PAGES)
        return NULL;
    const struct site ***page = &table->pages[number / PAGE_SITES];
    if (!*page) {
        const struct site **slots = calloc(PAGE_SITES, sizeof(*slots));
        __atomic_store_n(page, slots, __ATOMIC_RELEASE);
    }
    return *page ? &(*page)[number % PAGE_SITES] : NULL;
}

/* Enter a key that is new. 0 when memory is short. */
static csan_site enter(struct site_table *table, const char *key, size_t bytes,
                       size_t argument_count)
{
    const struct site **slot = slot_of(table, table->last + 1);
    struct site_record *record = slot ? calloc(1, sizeof(*record) + bytes) : NULL;
    if (!record)
        return 0;
    memcpy(record->key, key, bytes);
    if (bind_strings(record, argument_count)) {
        struct site_stacks stacks;
        memcpy(&stacks, record->key, sizeof(stacks));
        record->site.stack = stacks.own;
        record->site.launched = stacks.launched;
        HASH_ADD_KEYPTR(hh, table->records, record->key, bytes, record);
        if (record->hh.tbl) {
            record->number = ++table->last;
            __atomic_store_n(slot, &record->site, __ATOMIC_RELEASE);
            return record->number;
        }
        free((void *)record->site.arguments);
    }
    free(record);
    return 0;
}

static csan_site intern(struct site_table *table, struct site_stacks stacks, const char *name,
                        const char *const *arguments, size_t argument_count)
{
    char usual[512], *key = usual; /* a known site costs no allocation */
    if (argument_count > UINT16_MAX)
        argument_count = UINT16_MAX;
    size_t bytes = key_bytes(name, arguments, argument_count);
    if (bytes > sizeof(usual) && !(key = malloc(bytes)))
        return 0;
    key_write(key, stacks, name, arguments, argument_count);
    struct site_record *known;
    pthread_mutex_lock(&table->lock);
    HASH_FIND(hh, table->records, key, bytes, known);
    csan_site number = known ? known->number : enter(table, key, bytes, argument_count);
    pthread_mutex_unlock(&table->lock);
    if (key != usual)
        free(key);
    return number;
}

csan_site site_table_intern(struct site_table *table, const char *name,
                            const char *const *arguments, size_t argument_count,
                            const void *const *frames, size_t frame_count)
{
    const struct site_stacks stacks = {stack_depot_put(table->stacks, frames, frame_count), 0};
    return intern(table, stacks, name, arguments, argument_count);
}

csan_site site_table_launched(struct site_table *table, csan_site node, const void *const *frames,
                              size_t frame_count)
{
    const struct site *site = site_table_get(table, node);
    if (!site)
        return 0;
    const struct site_stacks stacks = {site->stack,
                                       stack_depot_put(table->stacks, frames, frame_count)};
    return intern(table, stacks, site->name, site->arguments, site->argument_count);
}

const struct site *site_table_get(const struct site_table *table, csan_site site)
{
    if (site == 0 || site / PAGE_SITES >= PAGES)
        return NULL;
    const struct site **slots = __atomic_load_n(&table->pages[site / PAGE_SITES], __ATOMIC_ACQUIRE);
    return slots ? __atomic_load_n(&slots[site % PAGE_SITES], __ATOMIC_ACQUIRE) : NULL;
}

/* ---- where kernels are defined */

static struct definition *definition_find(const struct site_table *table, const char *name)
{
    struct definition *found;
    HASH_FIND(hh, table->definitions, name, strlen(name), found);
    return found;
}

static void definition_add(struct site_table *table, const char *name, const char *place)
{
    const size_t length = strlen(name), place_bytes = strlen(place) + 1;
    struct definition *definition = calloc(1, sizeof *definition + length + 1 + place_bytes);
    if (!definition)
        return;
    memcpy(definition->text, name, length + 1);
    definition->place = memcpy(definition->text + length + 1, place, place_bytes);
    HASH_ADD_KEYPTR(hh, table->definitions, definition->text, length, definition);
    if (!definition->hh.tbl)
        free(definition);
}

bool site_table_define(struct site_table *table, const char *name, const char *place)
{
    pthread_mutex_lock(&table->lock);
    struct definition *known = definition_find(table, name);
    const bool news = !known || (!known->several && strcmp(known->place, place) != 0);
    if (!known)
        definition_add(table, name, place);
    else
        known->several |= news;
    pthread_mutex_unlock(&table->lock);
    return news;
}

const char *site_table_definition(struct site_table *table, const char *name)
{
    pthread_mutex_lock(&table->lock);
    const struct definition *found = definition_find(table, name);
    const char *place = found && !found->several ? found->place : NULL;
    pthread_mutex_unlock(&table->lock);
    return place;
}

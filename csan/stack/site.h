/* Sites: where an access comes from. A site is a name (kernel or API function), the names of its
 * arguments, and the host stack of the call. Equal contents give the same number. So reports are
 * de-duplicated by number, and a past access in the shadow needs four bytes for its site.
 *
 * Grows with the number of distinct sites only. Thread-safe. */
#ifndef CSAN_STACK_SITE_H
#define CSAN_STACK_SITE_H

#include <csan/csan.h>

#include <stdbool.h>

struct stack_depot;

struct site {
    const char *name;
    const char *const *arguments;
    uint32_t argument_count;
    uint32_t stack;    /* in the depot */
    uint32_t launched; /* for a graph's node: the stack of the call that launched it; 0: none */
};

/* Whether it is the birth of a module's variable. Its name is then qualifier and name, and its one
 * argument is the module's file (csan_memory_create). */
bool site_is_variable(const struct site *site);

/* What was born there, if that is no memory of the program: "texture object", "surface object". It
 * is the site's one argument, as csan_memory_create has it. Else NULL. */
const char *site_object(const struct site *site);
/* Those words as a constant; NULL: they name no such thing. `words` may be NULL. */
const char *site_object_of_words(const char *words);

struct site_table;
struct site_table *site_table_create(struct stack_depot *stacks);
void site_table_destroy(struct site_table *table);

/* Strings and frames are copied. 0 when memory is short. */
csan_site site_table_intern(struct site_table *table, const char *name,
                            const char *const *arguments, size_t argument_count,
                            const void *const *frames, size_t frame_count);
/* The site of a graph's node when a call with that stack launches it. */
csan_site site_table_launched(struct site_table *table, csan_site node, const void *const *frames,
                              size_t frame_count);
/* Notes that the kernel of that name is defined there, "/src/app.cu:9". If one name has two places,
 * as static kernels may, neither is used. False: nothing new. */
bool site_table_define(struct site_table *table, const char *name, const char *place);
/* Where the kernel is defined, valid for the table's life; NULL: it is not known. */
const char *site_table_definition(struct site_table *table, const char *name);
/* Valid for the table's life; NULL for 0 and unknown numbers. Lock-free. */
const struct site *site_table_get(const struct site_table *table, csan_site site);

#endif

/* The sites of a recording by number, to name them where they are used. One thread's. */
#ifndef RUNTIME_CLI_SITE_TABLE_H
#define RUNTIME_CLI_SITE_TABLE_H

#include "csan/recording/recording_read.h"

struct named_site {
    char *name;
    char **arguments;
    size_t count;
};

/* All zero: none. */
struct site_table {
    struct named_site *sites;
    size_t capacity;
};

/* Of a RECORDED_SITE. What there is no memory for is not kept. */
void site_table_keep(struct site_table *table, const struct recorded *recorded);
/* NULL: it is not known. */
const struct named_site *site_table_find(const struct site_table *table, uint64_t number);
void site_table_free(struct site_table *table);

/* To standard output, with nothing in it that ends a line or moves a terminal's cursor. */
void site_text_print(const char *text);

#endif

/* The sites of a recording by number, to name them where they are used. For one thread. */
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

/* Takes a RECORDED_SITE. It is not kept if memory is short. */
void site_table_keep(struct site_table *table, const struct recorded *recorded);
/* NULL: it is not known. */
const struct named_site *site_table_find(const struct site_table *table, uint64_t number);
void site_table_free(struct site_table *table);

/* Prints to standard output, without characters that end a line or move a terminal's cursor. */
void site_text_print(const char *text);

#endif

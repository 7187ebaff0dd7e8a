/* Sites by number. See site_table.h. */
#include "runtime/cli/site_table.h"
#include "csan/base/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SITES_MAX = 1 << 26 }; /* a damaged file may say any number */

static bool has_room(struct site_table *table, uint64_t number)
{
    return array_reach(&table->sites, number, &table->capacity, 64, SITES_MAX,
                       sizeof *table->sites);
}

void site_table_keep(struct site_table *table, const struct recorded *recorded)
{
    uint64_t number = recorded->value[FIELD_SITE];
    if (!has_room(table, number) || table->sites[number].name)
        return;
    struct named_site *site = &table->sites[number];
    site->name = strdup(recorded->text);
    site->arguments = calloc(recorded->count + 1, sizeof(char *));
    for (size_t i = 0; site->arguments && i < recorded->count; i++)
        site->arguments[site->count++] = strdup(recorded->texts[i]);
}

const struct named_site *site_table_find(const struct site_table *table, uint64_t number)
{
    return number < table->capacity && table->sites[number].name ? &table->sites[number] : NULL;
}

void site_table_free(struct site_table *table)
{
    for (size_t i = 0; i < table->capacity; i++) {
        for (size_t k = 0; k < table->sites[i].count; k++)
            free(table->sites[i].arguments[k]);
        free(table->sites[i].arguments);
        free(table->sites[i].name);
    }
    free(table->sites);
}

void site_text_print(const char *text)
{
    for (; *text; text++)
        putchar((unsigned char)*text < ' ' || *text == 127 ? '?' : *text);
}

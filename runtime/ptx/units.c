/* The units of one program. See units.h. */
#include "runtime/ptx/units.h"

#include <stdlib.h>

bool units_reads(const struct fatbin_text *texts, size_t index)
{
    return index == 0 || texts[index - 1].unit != texts[index].unit;
}

static void unit_failed(void *user, const struct fatbin_text *text, const struct ptx_error *error)
{
    (void)user;
    (void)text;
    (void)error;
}

struct ptx_module *units_link(const struct fatbin_text *texts, size_t count, units_failed *failed,
                              void *user)
{
    struct ptx_module **units = calloc(count, sizeof *units), *result = NULL;
    struct ptx_error error;
    size_t unit_count = 0;
    if (!failed)
        failed = unit_failed;
    for (size_t i = 0; units && i < count; i++) {
        if (!units_reads(texts, i))
            continue;
        struct ptx_module *unit = ptx_parse(texts[i].text, texts[i].bytes, &error);
        if (unit)
            units[unit_count++] = unit;
        else
            failed(user, &texts[i], &error);
    }
    if (unit_count == 1) {
        result = units[0];
    } else if (unit_count > 1) {
        result = ptx_link_taking(units, unit_count, &error);
        if (!result)
            failed(user, NULL, &error);
    }
    free(units);
    return result;
}

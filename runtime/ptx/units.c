/* The units of one program. See units.h. */
#include "runtime/ptx/units.h"

#include <stdlib.h>

bool units_reads(const struct fatbin_text *texts, size_t index)
{
    return index == 0 || texts[index - 1].unit != texts[index].unit;
}

/* 0: none that the device can run. */
static uint32_t machine_code_for(const struct fatbin_machine_code *code, uint32_t device)
{
    for (uint32_t arch = device; arch / 10 == device / 10; arch--)
        if (arch < FATBIN_ARCHITECTURES && code->bits[arch / 64] >> arch % 64 & 1)
            return arch;
    return 0;
}

/* Of the unit's texts, from `first` on. `count`: there is none. */
static size_t text_for(const struct fatbin_text *texts, size_t first, size_t count, uint32_t device,
                       uint32_t machine_code)
{
    for (size_t i = first; i < count && texts[i].unit == texts[first].unit; i++)
        if (machine_code ? texts[i].arch == machine_code : texts[i].arch <= device)
            return i;
    return count;
}

bool units_choose(struct fatbin_text *texts, size_t count, const struct fatbin_machine_code *code,
                  uint32_t device)
{
    const uint32_t machine_code = machine_code_for(code, device);
    bool all = true;
    for (size_t first = 0; first < count; first++) {
        if (!units_reads(texts, first))
            continue;
        const size_t chosen = text_for(texts, first, count, device, machine_code);
        all &= chosen < count;
        if (chosen < count) {
            const struct fatbin_text newest = texts[first];
            texts[first] = texts[chosen];
            texts[chosen] = newest;
        }
    }
    return all;
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

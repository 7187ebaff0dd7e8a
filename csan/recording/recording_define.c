/* See recording_define.h. */
#include "csan/recording/recording_define.h"
#include "csan/base/hash.h"
#include "csan/stack/stack_source.h"

#include <stdio.h>
#include <stdlib.h>

static uintptr_t *frame_place(const struct frame_set *set, uintptr_t frame)
{
    size_t at = (size_t)(hash_spread(frame) >> 20);
    while (set->frames[at % set->capacity] && set->frames[at % set->capacity] != frame)
        at++;
    return &set->frames[at % set->capacity];
}

/* True the first time. */
static bool frame_is_new(struct frame_set *set, uintptr_t frame)
{
    if (set->count * 2 >= set->capacity) {
        struct frame_set grown = {.count = set->count,
                                  .capacity = set->capacity ? set->capacity * 2 : 256};
        grown.frames = calloc(grown.capacity, sizeof *grown.frames);
        if (!grown.frames)
            return true;
        for (size_t i = 0; i < set->capacity; i++)
            if (set->frames[i])
                *frame_place(&grown, set->frames[i]) = set->frames[i];
        free(set->frames);
        *set = grown;
    }
    uintptr_t *place = set->capacity ? frame_place(set, frame) : NULL;
    if (!place || *place)
        return !place;
    *place = frame;
    set->count++;
    return true;
}

static void modules_put(struct recording_definitions *definitions, struct byte_buffer *buffer)
{
    module_map_update(&definitions->modules);
    while (definitions->modules_written < definitions->modules.count) {
        const struct module *module = &definitions->modules.modules[definitions->modules_written++];
        char build_id[2 * BUILD_ID_MAX + 1] = "";
        for (uint8_t i = 0; i < module->build_id_bytes; i++)
            snprintf(build_id + (size_t)2 * i, 3, "%02x", module->build_id[i]);
        if (!byte_buffer_reserve(buffer, ENTRY_BYTES_MAX))
            return;
        buffer->data[buffer->length++] = RECORDED_MODULE;
        byte_buffer_put(buffer, module->start);
        byte_buffer_put(buffer, module->bytes);
        byte_buffer_put(buffer, module->bias);
        byte_buffer_put_text(buffer, module->path);
        byte_buffer_put_text(buffer, build_id);
    }
}

static void source_line_put(struct recording_definitions *definitions, struct byte_buffer *buffer,
                            const void *frame)
{
    struct csan_source_line line;
    if (!stack_source_owns(frame) || !frame_is_new(&definitions->frames, (uintptr_t)frame) ||
        !stack_source_describe(frame, &line) || !byte_buffer_reserve(buffer, ENTRY_BYTES_MAX))
        return;
    buffer->data[buffer->length++] = RECORDED_SOURCE_LINE;
    byte_buffer_put(buffer, (uintptr_t)frame);
    byte_buffer_put(buffer, line.line);
    byte_buffer_put_text(buffer, line.file ? line.file : "");
    byte_buffer_put_text(buffer, line.function ? line.function : "");
}

static void stack_put(struct recording_definitions *definitions, struct byte_buffer *buffer,
                      uint32_t stack)
{
    const void *const *frames;
    size_t count;
    stack_depot_get(definitions->stacks, stack, &frames, &count);
    if (!count || number_set_has(&definitions->stacks_written, stack))
        return;
    modules_put(definitions, buffer);
    for (size_t i = 0; i < count; i++)
        source_line_put(definitions, buffer, frames[i]);
    if (!byte_buffer_reserve(buffer, ENTRY_BYTES_MAX + count * NUMBER_BYTES_MAX))
        return;
    buffer->data[buffer->length++] = RECORDED_STACK;
    byte_buffer_put(buffer, stack);
    byte_buffer_put(buffer, count);
    for (size_t i = 0; i < count; i++)
        byte_buffer_put(buffer, zigzag((uintptr_t)frames[i] - (i ? (uintptr_t)frames[i - 1] : 0)));
    number_set_add(&definitions->stacks_written, stack);
}

static void site_put(struct recording_definitions *definitions, struct byte_buffer *buffer,
                     const struct site *site, csan_site number)
{
    stack_put(definitions, buffer, site->stack);
    if (!byte_buffer_reserve(buffer, ENTRY_BYTES_MAX))
        return;
    buffer->data[buffer->length++] = RECORDED_SITE;
    byte_buffer_put(buffer, number);
    byte_buffer_put(buffer, site->stack);
    byte_buffer_put_text(buffer, site->name);
    byte_buffer_put(buffer, site->argument_count);
    for (uint32_t i = 0; i < site->argument_count; i++)
        byte_buffer_put_text(buffer, site->arguments[i]);
}

/* A site of its own, to which the launch's stack is added. */
static void launched_put(struct recording_definitions *definitions, struct byte_buffer *buffer,
                         const struct site *site, csan_site number)
{
    stack_put(definitions, buffer, site->launched);
    if (!byte_buffer_reserve(buffer, ENTRY_BYTES_MAX))
        return;
    buffer->data[buffer->length++] = RECORDED_LAUNCHED_SITE;
    byte_buffer_put(buffer, number);
    byte_buffer_put(buffer, site->launched);
}

void recording_definitions_put(struct recording_definitions *definitions,
                               struct byte_buffer *buffer, csan_site number)
{
    const struct site *site = site_table_get(definitions->sites, number);
    if (!site)
        return;
    site_put(definitions, buffer, site, number);
    if (site->launched)
        launched_put(definitions, buffer, site, number);
}

void recording_definitions_clear(struct recording_definitions *definitions)
{
    module_map_clear(&definitions->modules);
    number_set_clear(&definitions->stacks_written);
    free(definitions->frames.frames);
    *definitions = (struct recording_definitions){0};
}

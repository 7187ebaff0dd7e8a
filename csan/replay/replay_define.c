/* See replay_define.h. */
#define HASH_NONFATAL_OOM 1
#include "csan/replay/replay_define.h"
#include "csan/base/array.h"
#include "csan/detector/context.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

struct stack_copy {
    const void **frames;
    size_t count;
};

struct source_line {
    uint64_t frame;
    struct csan_source_line line;
    char *file, *function;
    UT_hash_handle hh;
};

static const char no_memory[] = "there is no memory for it";

enum { NUMBER_MAX = 1 << 26 };

bool replay_grow(void **items, size_t *capacity, size_t item_bytes, uint64_t number)
{
    return array_reach(items, number, capacity, 16, NUMBER_MAX, item_bytes);
}

static const char *take_stack(struct replay_definitions *definitions,
                              const struct recorded *recorded)
{
    uint64_t number = recorded->value[FIELD_STACK];
    if (!replay_grow((void **)&definitions->stacks, &definitions->stack_capacity,
                     sizeof *definitions->stacks, number) ||
        definitions->stacks[number].frames)
        return "a stack with a number that cannot be";
    const void **frames = malloc(recorded->count * sizeof *frames + 1);
    if (!frames)
        return no_memory;
    memcpy(frames, recorded->frames, recorded->count * sizeof *frames);
    definitions->stacks[number].frames = frames;
    definitions->stacks[number].count = recorded->count;
    return NULL;
}

/* NULL: it is not defined. */
static const struct stack_copy *stack_of(const struct replay_definitions *definitions,
                                         uint64_t number)
{
    static const struct stack_copy none;
    if (!number)
        return &none;
    if (number >= definitions->stack_capacity || !definitions->stacks[number].frames)
        return NULL;
    return &definitions->stacks[number];
}

static const char *take_site(struct replay_definitions *definitions, csan_context *context,
                             const struct recorded *recorded)
{
    uint64_t number = recorded->value[FIELD_SITE];
    const struct stack_copy *frames = stack_of(definitions, recorded->value[FIELD_STACK]);
    if (!frames)
        return "a site with a stack that is not defined";
    if (number == 0 || !replay_grow((void **)&definitions->sites, &definitions->site_capacity,
                                    sizeof *definitions->sites, number))
        return "a site with a number that cannot be";
    csan_site site = csan_site_intern(context, recorded->text, recorded->texts, recorded->count,
                                      frames->frames, frames->count);
    definitions->sites[number] = site;
    return site ? NULL : no_memory;
}

/* The site is defined: it is that of a graph's node, and this is where the graph was launched. */
static const char *take_launched_site(struct replay_definitions *definitions, csan_context *context,
                                      const struct recorded *recorded)
{
    uint64_t number = recorded->value[FIELD_SITE];
    const struct stack_copy *frames = stack_of(definitions, recorded->value[FIELD_STACK]);
    if (!frames || !number || number >= definitions->site_capacity || !definitions->sites[number])
        return "a launch of a graph's node that is not defined";
    csan_site site =
        csan_site_launched(context, definitions->sites[number], frames->frames, frames->count);
    definitions->sites[number] = site;
    return site ? NULL : no_memory;
}

static int hex_digit(char digit)
{
    return digit >= '0' && digit <= '9'   ? digit - '0'
           : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10
                                          : -1;
}

static const char *take_module(struct replay_definitions *definitions,
                               const struct recorded *recorded)
{
    struct module module = {.start = recorded->value[FIELD_ADDRESS],
                            .bytes = recorded->value[FIELD_BYTES],
                            .bias = recorded->value[FIELD_HANDLE],
                            .path = (char *)recorded->text};
    for (const char *hex = recorded->second_text; hex[0] && hex[1]; hex += 2) {
        int high = hex_digit(hex[0]), low = hex_digit(hex[1]);
        if (high < 0 || low < 0 || module.build_id_bytes == BUILD_ID_MAX)
            return "a build id that is none";
        module.build_id[module.build_id_bytes++] = (uint8_t)(high << 4 | low);
    }
    return module_map_add(&definitions->modules, &module) ? NULL : no_memory;
}

static const char *take_source_line(struct replay_definitions *definitions,
                                    const struct recorded *recorded)
{
    struct source_line *line, *former;
    uint64_t frame = recorded->value[FIELD_ADDRESS];
    HASH_FIND(hh, definitions->lines, &frame, sizeof frame, former);
    if (former)
        return NULL;
    line = calloc(1, sizeof *line);
    if (!line)
        return no_memory;
    line->frame = frame;
    line->file = strdup(recorded->text);
    line->function = strdup(recorded->second_text);
    if (line->file && line->function)
        HASH_ADD(hh, definitions->lines, frame, sizeof line->frame, line);
    if (!line->hh.tbl) {
        free(line->file);
        free(line->function);
        free(line);
        return no_memory;
    }
    line->line = (struct csan_source_line){line->file[0] ? line->file : NULL, line->function,
                                           (unsigned)recorded->value[FIELD_LINE]};
    return NULL;
}

const char *replay_definitions_take(struct replay_definitions *definitions, csan_context *context,
                                    const struct recorded *recorded)
{
    switch (recorded->kind) {
    case RECORDED_SITE:
        return take_site(definitions, context, recorded);
    case RECORDED_LAUNCHED_SITE:
        return take_launched_site(definitions, context, recorded);
    case RECORDED_STACK:
        return take_stack(definitions, recorded);
    case RECORDED_KERNEL:
        context_define_kernel(context, recorded->text, recorded->second_text);
        return NULL;
    case RECORDED_MODULE:
        return take_module(definitions, recorded);
    default:
        return take_source_line(definitions, recorded);
    }
}

/* ---- looked up */

bool replay_definitions_site(const struct replay_definitions *definitions, uint64_t number,
                             csan_site *site)
{
    *site = 0;
    if (number && (number >= definitions->site_capacity || !definitions->sites[number]))
        return false;
    if (number)
        *site = definitions->sites[number];
    return true;
}

void replay_definitions_stack(const struct replay_definitions *definitions, uint64_t number,
                              const void *const **frames, size_t *count)
{
    const struct stack_copy *stack = stack_of(definitions, number);
    *frames = stack ? stack->frames : NULL;
    *count = stack ? stack->count : 0;
}

int replay_definitions_describe(const struct replay_definitions *definitions, const void *frame,
                                struct csan_source_line *line)
{
    uint64_t key = (uintptr_t)frame;
    const struct source_line *found;
    HASH_FIND(hh, definitions->lines, &key, sizeof key, found);
    if (found)
        *line = found->line;
    return found != NULL;
}

void replay_definitions_clear(struct replay_definitions *definitions)
{
    struct source_line *line, *next;
    HASH_ITER(hh, definitions->lines, line, next)
    {
        HASH_DEL(definitions->lines, line);
        free(line->file);
        free(line->function);
        free(line);
    }
    for (size_t i = 0; i < definitions->stack_capacity; i++)
        free(definitions->stacks[i].frames);
    free(definitions->stacks);
    free(definitions->sites);
    module_map_clear(&definitions->modules);
    *definitions = (struct replay_definitions){0};
}

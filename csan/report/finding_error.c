/* See finding_error.h. */
#include "csan/report/finding_error.h"
#include "csan/stack/symbolizer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names */

static const char *const wheres[] = {
    [CSAN_WHERE_INSIDE] = "inside", [CSAN_WHERE_BEHIND] = "behind", [CSAN_WHERE_BEFORE] = "before"};
enum { WHERES = sizeof wheres / sizeof *wheres };

const char *finding_where_name(int where)
{
    return where > CSAN_WHERE_UNKNOWN && where < WHERES ? wheres[where] : NULL;
}

int finding_where_of(const char *name)
{
    for (int i = CSAN_WHERE_UNKNOWN + 1; i < WHERES; i++)
        if (strcmp(wheres[i], name) == 0)
            return i;
    return CSAN_WHERE_UNKNOWN;
}

/* ---- the instruction */

/* The line behind the last colon; returns the path's length. */
static size_t line_of(const char *place, uint32_t *line)
{
    const char *colon = strrchr(place, ':');
    *line = 0;
    if (!colon || !colon[1] || colon[1 + strspn(colon + 1, "0123456789")])
        return strlen(place);
    *line = (uint32_t)strtoul(colon + 1, NULL, 10);
    return (size_t)(colon - place);
}

void finding_error_set_instruction(struct finding_error *error, const char *function,
                                   const char *place)
{
    struct stack_frame *frame =
        function || place ? calloc(1, sizeof *error->instruction.items) : NULL;
    if (!frame)
        return;
    frame->function = function ? strdup(function) : NULL;
    if (place) {
        const size_t length = line_of(place, &frame->line);
        frame->file = strndup(place, length);
    }
    error->instruction = (struct stack_frames){.items = frame, .count = 1};
}

bool finding_error_place(const struct finding_error *error, char *place, size_t bytes)
{
    const struct stack_frame *frame = error->instruction.count ? error->instruction.items : NULL;
    if (!frame || !frame->file)
        return false;
    stack_frame_place(frame, place, bytes);
    return true;
}

static void instruction_fill(struct finding_error *error, const struct csan_error *from,
                             struct race_words *words)
{
    struct symbolizer *symbolizer = words->style.symbolizer;
    if (from->function)
        symbolizer->demangle(symbolizer, from->function, words->scratch, sizeof words->scratch);
    finding_error_set_instruction(error, from->function ? words->scratch : NULL,
                                  from->place ? stack_path_shorten(&words->style, from->place)
                                              : NULL);
}

/* ---- the whole */

static char *copy_of(const char *text)
{
    return text ? strdup(text) : NULL;
}

struct finding_error *finding_error_create(const struct csan_error *from, struct race_words *words)
{
    struct finding_error *error = calloc(1, sizeof *error);
    if (!error)
        return NULL;
    *error = (struct finding_error){.exception = copy_of(from->exception),
                                    .code = copy_of(from->code),
                                    .detail = strdup(from->detail ? from->detail : ""),
                                    .where = from->where,
                                    .distance = from->distance,
                                    .neighbour = from->neighbour,
                                    .neighbour_bytes = from->neighbour_bytes,
                                    .has_thread = from->has_thread != 0,
                                    .device = from->device,
                                    .threads = from->threads,
                                    .launches_since = from->launches_since,
                                    .count = from->count,
                                    .total = from->total};
    memcpy(error->grid, from->grid, sizeof error->grid);
    memcpy(error->block_size, from->block_size, sizeof error->block_size);
    memcpy(error->block, from->block, sizeof error->block);
    memcpy(error->thread, from->thread, sizeof error->thread);
    instruction_fill(error, from, words);
    error->neighbour_stack = stack_memo_take(&words->stacks, &words->style, from->neighbour_frames,
                                             from->neighbour_frame_count, "");
    /* The innermost frame of a runtime launch is the host function that nvcc made for the kernel:
     * it is left out. */
    error->reported_stack = stack_memo_take(&words->stacks, &words->style, from->reported_frames,
                                            from->reported_frame_count, words->current.name);
    if (from->out_of_memory)
        error->out_of_memory = finding_out_of_memory_create(from->out_of_memory, words);
    if (from->reported_by)
        error->reported_by =
            strdup(error->reported_stack.entry ? error->reported_stack.entry : from->reported_by);
    if (error->detail)
        return error;
    finding_error_destroy(error);
    return NULL;
}

void finding_error_destroy(struct finding_error *error)
{
    if (!error)
        return;
    free(error->exception);
    free(error->code);
    free(error->detail);
    free(error->reported_by);
    finding_out_of_memory_destroy(error->out_of_memory);
    stack_frames_free(&error->instruction);
    stack_frames_free(&error->neighbour_stack);
    stack_frames_free(&error->reported_stack);
    free(error);
}

/* See finding_out_of_memory.h. */
#include "csan/report/finding_out_of_memory.h"
#include "csan/stack/stack_memo.h"

#include <stdlib.h>
#include <string.h>

static void held_fill(struct finding_held *held, const struct csan_held *from,
                      struct race_words *words)
{
    held->stack =
        stack_memo_take(&words->stacks, &words->style, from->frames, from->frame_count, "");
    const char *name = held->stack.entry ? held->stack.entry : from->name;
    held->name = strdup(name ? name : "");
}

struct finding_out_of_memory *finding_out_of_memory_create(const struct csan_out_of_memory *from,
                                                           struct race_words *words)
{
    struct finding_out_of_memory *out_of_memory = calloc(1, sizeof *out_of_memory);
    if (!out_of_memory)
        return NULL;
    out_of_memory->numbers = *from;
    for (size_t i = 0; i < from->held_count; i++) {
        struct csan_held *numbers = &out_of_memory->numbers.held[i];
        held_fill(&out_of_memory->held[i], numbers, words);
        numbers->name = NULL;
        numbers->frames = NULL;
        numbers->frame_count = 0;
    }
    return out_of_memory;
}

void finding_out_of_memory_destroy(struct finding_out_of_memory *out_of_memory)
{
    if (!out_of_memory)
        return;
    for (size_t i = 0; i < CSAN_HELD_MAX; i++) {
        free(out_of_memory->held[i].name);
        stack_frames_free(&out_of_memory->held[i].stack);
    }
    free(out_of_memory);
}

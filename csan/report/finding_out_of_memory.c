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

struct finding_out_of_memory *finding_out_of_memory_create(const struct csan_shortage *from,
                                                           struct race_words *words)
{
    struct finding_out_of_memory *shortage = calloc(1, sizeof *shortage);
    if (!shortage)
        return NULL;
    shortage->numbers = *from;
    for (size_t i = 0; i < from->held_count; i++) {
        struct csan_held *numbers = &shortage->numbers.held[i];
        held_fill(&shortage->held[i], numbers, words);
        numbers->name = NULL;
        numbers->frames = NULL;
        numbers->frame_count = 0;
    }
    return shortage;
}

void finding_out_of_memory_destroy(struct finding_out_of_memory *shortage)
{
    if (!shortage)
        return;
    for (size_t i = 0; i < CSAN_HELD_MAX; i++) {
        free(shortage->held[i].name);
        stack_frames_free(&shortage->held[i].stack);
    }
    free(shortage);
}

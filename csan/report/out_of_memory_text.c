/* See out_of_memory_text.h. */
#include "csan/report/out_of_memory_text.h"
#include "csan/stack/symbolizer.h"

#include <inttypes.h>

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* "512 bytes", "1.5 GiB" */
static void size_add(struct text *text, uint64_t bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
    double size = (double)bytes / 1024;
    size_t unit = 0;
    if (bytes < 1024) {
        text_add(text, "%" PRIu64 " byte%s", bytes, plural(bytes));
        return;
    }
    for (; size >= 1024 && unit + 1 < sizeof units / sizeof *units; unit++)
        size /= 1024;
    text_add(text, "%.1f %s", size, units[unit]);
}

static void age_add(struct text *text, uint64_t nanoseconds)
{
    const uint64_t seconds = nanoseconds / 1000000000;
    if (seconds < 10)
        text_add(text, "%.1f s", (double)nanoseconds / 1e9);
    else if (seconds < 600)
        text_add(text, "%" PRIu64 " s", seconds);
    else
        text_add(text, "%" PRIu64 " min", seconds / 60);
}

void out_of_memory_asked_add(struct text *text, const struct csan_out_of_memory *out_of_memory)
{
    text_add(text, "asked for ");
    size_add(text, out_of_memory->asked);
    if (out_of_memory->host || !out_of_memory->total)
        return;
    text_add(text, " where ");
    size_add(text, out_of_memory->free);
    text_add(text, " of ");
    size_add(text, out_of_memory->total);
    text_add(text, " were free");
}

/* ---- facts */

/* Many programs allocate in one function, which alone says little. */
static void caller_add(struct text *text, const struct stack_frames *stack)
{
    const struct stack_frame *top = stack_frames_top(stack);
    char place[PLACE_BYTES];
    const size_t next = top ? (size_t)(top - stack->items) + 1 : stack->count;
    if (next >= stack->count || stack->items[next].library || !stack->items[next].file)
        return;
    stack_frame_place(&stack->items[next], place, sizeof place);
    text_add(text, ", called at %s", place);
}

static void held_add(struct text *text, struct race_words *words, const struct csan_held *held)
{
    struct stack_frames stack;
    char place[PLACE_BYTES];
    race_place(words, held->frames, held->frame_count, "", place, sizeof place);
    stack = stack_memo_take(&words->stacks, &words->style, held->frames, held->frame_count, "");
    text_add(text, "    ");
    size_add(text, held->bytes);
    text_add(text, " in %" PRIu64 " allocation%s by %s", held->count, plural(held->count),
             stack.entry  ? stack.entry
             : held->name ? held->name
                          : "a call");
    if (place[0])
        text_add(text, ", %s", place);
    caller_add(text, &stack);
    stack_frames_free(&stack);
    if (held->oldest) {
        text_add(text, ", made ");
        age_add(text, held->oldest);
        if (held->count > 1) {
            text_add(text, " to ");
            age_add(text, held->newest);
        }
        text_add(text, " before");
    }
    text_add(text, "\n");
}

static void list_add(struct text *text, struct race_words *words,
                     const struct csan_out_of_memory *out_of_memory)
{
    for (size_t i = 0; i < out_of_memory->held_count; i++)
        held_add(text, words, &out_of_memory->held[i]);
    if (!out_of_memory->more)
        return;
    text_add(text, "    ");
    size_add(text, out_of_memory->more_bytes);
    text_add(text, " by %" PRIu64 " other call%s\n", out_of_memory->more,
             plural(out_of_memory->more));
}

void out_of_memory_facts_add(struct text *text, struct race_words *words,
                             const struct csan_out_of_memory *out_of_memory)
{
    text_add(text, "  asked for %" PRIu64 " bytes%s\n", out_of_memory->asked,
             out_of_memory->host ? " of the host's memory" : "");
    if (out_of_memory->total)
        text_add(text, "  free on device %d: %" PRIu64 " of %" PRIu64 " bytes\n",
                 out_of_memory->device, out_of_memory->free, out_of_memory->total);
    text_add(text, "  held there by this process: ");
    size_add(text, out_of_memory->own);
    text_add(text, " in %" PRIu64 " allocation%s%s\n", out_of_memory->own_count,
             plural(out_of_memory->own_count),
             out_of_memory->host        ? "; of the host's memory:"
             : out_of_memory->own_count ? ", by where they were made:"
                                        : "");
    list_add(text, words, out_of_memory);
    if (out_of_memory->unused) {
        text_add(text, "  kept by the device's memory pool and not used: ");
        size_add(text, out_of_memory->unused);
        text_add(text, "\n");
    }
    if (out_of_memory->reserved) {
        text_add(text, "  of pools that hand out blocks: ");
        size_add(text, out_of_memory->reserved);
        text_add(text, " reserved, ");
        size_add(text, out_of_memory->allocated);
        text_add(text, " of it allocated\n");
    }
    if (out_of_memory->others) {
        text_add(text, "  the rest, of other processes and of the driver: ");
        size_add(text, out_of_memory->others);
        text_add(text, "\n");
    }
}

/* ---- cause and fix */

static uint64_t unallocated(const struct csan_out_of_memory *out_of_memory)
{
    return out_of_memory->reserved > out_of_memory->allocated
               ? out_of_memory->reserved - out_of_memory->allocated
               : 0;
}

/* What would have been enough, had it been given back. */
enum culprit {
    CULPRIT_HOST,
    CULPRIT_POOL,
    CULPRIT_BLOCKS,
    CULPRIT_PIECES,
    CULPRIT_OTHERS,
    CULPRIT_OWN,
    CULPRIT_TOO_MUCH
};
static enum culprit culprit_of(const struct csan_out_of_memory *out_of_memory)
{
    const uint64_t asked = out_of_memory->asked, free = out_of_memory->free;
    if (out_of_memory->host)
        return CULPRIT_HOST;
    if (out_of_memory->total && asked > out_of_memory->total)
        return CULPRIT_TOO_MUCH;
    if (out_of_memory->unused && out_of_memory->unused + free >= asked)
        return CULPRIT_POOL;
    if (unallocated(out_of_memory) && unallocated(out_of_memory) + free >= asked)
        return CULPRIT_BLOCKS;
    if (out_of_memory->total && free >= asked)
        return CULPRIT_PIECES;
    return out_of_memory->others > out_of_memory->own ? CULPRIT_OTHERS : CULPRIT_OWN;
}

void out_of_memory_cause_add(struct text *text, const struct csan_out_of_memory *out_of_memory)
{
    static const char *const causes[] = {
        [CULPRIT_HOST] = "the host's memory could not be allocated and pinned",
        [CULPRIT_POOL] = "the device's memory pool keeps memory that no allocation uses",
        [CULPRIT_BLOCKS] = "a pool has enough memory that no block uses, but not in one piece, or "
                           "for another stream",
        [CULPRIT_PIECES] =
            "there is enough free memory, but not for this call: it may not be in one "
            "piece",
        [CULPRIT_OTHERS] = "most of the device's memory is not of this process's allocations",
        [CULPRIT_OWN] = "this process holds the memory",
        [CULPRIT_TOO_MUCH] = "the call asked for more than the device has",
    };
    text_add(text, "%s", causes[culprit_of(out_of_memory)]);
}

void out_of_memory_fix_add(struct text *text, const struct csan_out_of_memory *out_of_memory)
{
    static const char *const fixes[] = {
        [CULPRIT_HOST] = "pin less memory, or free it earlier",
        [CULPRIT_POOL] = "let the pool give it back: cudaMemPoolTrimTo, or a smaller "
                         "cudaMemPoolAttrReleaseThreshold",
        [CULPRIT_BLOCKS] = "let the pool give it back or grow in place (PyTorch: "
                           "torch.cuda.empty_cache(), or "
                           "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True)",
        [CULPRIT_PIECES] = "free memory earlier, or allocate large memory first",
        [CULPRIT_OTHERS] = "look at which processes use the device (nvidia-smi)",
        [CULPRIT_OWN] = "free earlier what is not needed any more, beginning with the largest "
                        "above, or work in smaller parts",
        [CULPRIT_TOO_MUCH] = "check the size that the call is given",
    };
    text_add(text, "%s", fixes[culprit_of(out_of_memory)]);
}

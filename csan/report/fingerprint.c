/* See fingerprint.h. */
#include "csan/report/fingerprint.h"
#include "csan/report/finding.h"
#include "csan/base/hash.h"
#include "csan/base/path_name.h"
#include "csan/stack/stack_frames.h"
#include "csan/stack/symbolizer.h"

#include <stdlib.h>
#include <string.h>

enum { DIGITS = 16 };

/* The folder of a file is left out: it depends on where the sources lie, and on where the program
 * was started. */
static uint64_t hash_stack(uint64_t hash, const struct stack_frames *stack)
{
    bool line_seen = false;
    for (size_t i = 0; i < stack->count; i++) {
        const struct stack_frame *frame = &stack->items[i];
        hash = hash_text(hash, frame->function);
        hash = hash_text(hash, path_name(frame->file ? frame->file : frame->module));
        if (frame->file)
            hash = hash_bytes(hash, &frame->line, sizeof frame->line);
        else if (frame->module && !line_seen)
            hash = hash_bytes(hash, &frame->offset, sizeof frame->offset);
        line_seen |= frame->file && frame->line;
    }
    return hash;
}

static uint64_t hash_side(const struct fingerprint_side *side)
{
    return hash_stack(hash_stack(hash_text(HASH_START, side->name), side->stack),
                      side->launch_stack);
}

uint64_t fingerprint_make(int race_kind, const struct fingerprint_side sides[2])
{
    uint64_t a = hash_side(&sides[0]), b = hash_side(&sides[1]);
    uint64_t both[2] = {a < b ? a : b, a < b ? b : a};
    return hash_bytes(hash_text(HASH_START, finding_kind_name(race_kind)), both, sizeof both);
}

uint64_t fingerprint_of_error(int race_kind, const struct fingerprint_side *side, const char *place)
{
    static const struct stack_frames none;
    const struct fingerprint_side sides[2] = {*side, {path_name(place ? place : ""), &none, &none}};
    return fingerprint_make(race_kind, sides);
}

/* ---- a race as it was found */

uint64_t fingerprint_of_race(const struct csan_race *race, const struct stack_style *style)
{
    const struct csan_race_access *accesses[] = {&race->current, &race->previous};
    struct fingerprint_side sides[2];
    struct stack_frames stacks[2], launches[2] = {{NULL}};
    char *names = malloc(2 * NAME_BYTES);
    if (!names)
        return 0;
    for (int i = 0; i < 2; i++) {
        char *name = names + (ptrdiff_t)i * NAME_BYTES;
        race_access_name(name, NAME_BYTES, style->symbolizer, accesses[i]);
        stack_frames_resolve(&stacks[i], style, accesses[i]->frames, accesses[i]->frame_count,
                             name);
        if (accesses[i]->launch_frame_count)
            stack_frames_resolve(&launches[i], style, accesses[i]->launch_frames,
                                 accesses[i]->launch_frame_count, "");
        sides[i] = (struct fingerprint_side){accesses[i]->name ? accesses[i]->name : "", &stacks[i],
                                             &launches[i]};
    }
    const uint64_t fingerprint =
        race->error ? fingerprint_of_error(race->kind, &sides[0], race->error->place)
                    : fingerprint_make(race->kind, sides);
    for (int i = 0; i < 2; i++) {
        stack_frames_free(&stacks[i]);
        stack_frames_free(&launches[i]);
    }
    free(names);
    return fingerprint;
}

/* ---- as text */

bool fingerprint_read(const char *text, uint64_t *fingerprint)
{
    if (strlen(text) != DIGITS || strspn(text, "0123456789abcdefABCDEF") != DIGITS)
        return false;
    *fingerprint = strtoull(text, NULL, DIGITS);
    return true;
}

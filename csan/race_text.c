/* See race_text.h. */
#include "race_text.h"
#include "detect.h"
#include "script_text.h"
#include "stack_text.h"
#include "symbolizer.h"

#include <stdio.h>
#include <string.h>

enum { PLACE_BYTES = 256, JOINED_FRAMES = 4 };

/* ---- names and places */

/* A kernel's name without return type, template arguments and parameters: enough beside file and
 * line. */
static void name_shorten(char *brief, size_t bytes, const char *name)
{
    static const char anonymous[] = "(anonymous namespace)";
    size_t length = 0;
    int depth = 0;
    for (; *name && length + sizeof(anonymous) < bytes; name++) {
        if (depth == 0 && strncmp(name, anonymous, sizeof(anonymous) - 1) == 0) {
            length = (size_t)(stpcpy(brief + length, anonymous) - brief);
            name += sizeof(anonymous) - 2;
        } else if (depth == 0 && *name == '(') {
            break;
        } else if (depth == 0 && *name == ' ') {
            length = 0; /* what stood before was the return type */
        } else if (*name == '<') {
            if (depth++ == 0)
                length = (size_t)(stpcpy(brief + length, "<...>") - brief);
        } else if (*name == '>' && depth > 0) {
            depth--;
        } else if (depth == 0) {
            brief[length++] = *name;
        }
    }
    brief[length] = '\0';
}

/* ---- the part that PyTorch's sanitizer prints too */

/* "argument(s) self, out, and to the output": which of them are returned is marked
 * (CSAN_ARGUMENT_RETURNED); the output that is no argument is a mark alone. */
static void arguments_add(struct text *text, const char *arguments)
{
    const char mark = CSAN_ARGUMENT_RETURNED[0];
    bool any = false, returned = false;
    while (*arguments) {
        size_t length = strcspn(arguments, ",");
        size_t shown = length;
        if (shown && arguments[shown - 1] == mark) {
            shown--;
            returned = true;
        }
        if (shown)
            text_add(text, "%s%.*s", any ? ", " : "argument(s) ", (int)shown, arguments);
        any |= shown > 0;
        arguments += length;
        arguments += strspn(arguments, ", ");
    }
    if (returned)
        text_add(text, any ? ", and to the output" : "the output");
}

/* "writing to argument(s) p" */
void race_deed_add(struct text *text, const struct csan_race_access *access)
{
    static const char *const verbs[] = {[CSAN_READ] = "reading from",
                                        [CSAN_WRITE] = "writing to",
                                        [CSAN_ATOMIC] = "atomically updating",
                                        [CSAN_ALLOCATE] = "allocating",
                                        [CSAN_FREE] = "freeing"};
    bool has_kind = access->kind >= CSAN_READ && access->kind <= CSAN_FREE;
    bool has_arguments = access->arguments && access->arguments[0];
    text_add(text, "%s ", has_kind ? verbs[access->kind] : "using");
    if (has_arguments)
        arguments_add(text, access->arguments);
    else
        text_add(text, "memory");
}

void race_access_name(char *name, size_t bytes, struct symbolizer *symbolizer,
                      const struct csan_race_access *access)
{
    symbolizer->demangle(symbolizer, access->name ? access->name : "", name, bytes);
    if (!name[0])
        snprintf(name, bytes, "(unknown)");
}

static void side_name(struct race_words *words, struct race_side *side,
                      const struct csan_race_access *access)
{
    side->access = access;
    side->lane = access->lane ? access->lane : "an unknown stream";
    race_access_name(side->name, sizeof(side->name), words->style.symbolizer, access);
}

static void side_add(struct text *text, struct race_words *words, struct race_side *side,
                     const struct csan_race_access *access, const char *title)
{
    char brief[SHORT_NAME_BYTES], place[PLACE_BYTES];
    side_name(words, side, access);
    text_add(text, "%s by %s during %s:\n%s\n", title, side->lane, access->host ? "call" : "kernel",
             side->name);
    race_deed_add(text, access);
    text_add(text, "\nWith stack trace:\n");
    stack_text_add(text, &words->style, access->frames, access->frame_count, side->name, place,
                   sizeof(place));
    if (script_text_concerns(access->frames, access->frame_count))
        text_add(text, "\n"); /* as PyTorch does */
    name_shorten(brief, sizeof(brief), side->name);
    snprintf(side->site, sizeof(side->site), place[0] ? "%s (%s)" : "%s", brief, place);
}

static void allocation_add(struct text *text, struct race_words *words,
                           const struct csan_race *race)
{
    char place[PLACE_BYTES];
    if (race->allocation_frame_count == 0) {
        text_add(text, "Trace for tensor allocation not found.\n");
        return;
    }
    text_add(text, "Tensor was allocated with stack trace:\n");
    stack_text_add(text, &words->style, race->allocation_frames, race->allocation_frame_count, "",
                   place, sizeof(place));
}

/* ---- exact or bounded, and why */

/* Nothing is sure about a launch because others of its kernel did it. */
static bool is_learned(const struct csan_race_access *access)
{
    return access->bound == CSAN_EXACT && access->level == CSAN_LEVEL_LEARNED;
}

const char *race_access_reason(const struct csan_race_access *access)
{
    const int bound = access->bound;
    static const char *const reasons[] = {
        [CSAN_BOUND_DIRECTION] =
            "known is only that the kernel uses this pointer in this way, so every byte of its "
            "allocation that it may reach is taken",
        [CSAN_BOUND_DATA] = "which bytes it touches depends on data in memory",
        [CSAN_BOUND_GUARD] = "whether it happens depends on data in memory",
        [CSAN_BOUND_BUDGET] = "the kernel was too long to be analysed to its end",
        [CSAN_BOUND_ANNOTATED] = "the program's annotation names what it touches at most",
        [CSAN_BOUND_SHAPE] = "its addresses have no simple shape, so a range around them is taken",
        [CSAN_BOUND_OBJECT] = "it goes through a texture, surface or tensor map, and which part of "
                              "that one's memory it touches is not known, so all of it is taken",
    };
    if (is_learned(access))
        return "earlier launches of the kernel with such parameters touched this";
    if (bound == CSAN_EXACT)
        return NULL;
    bool known = bound > CSAN_EXACT && bound <= CSAN_BOUND_OBJECT;
    return known ? reasons[bound] : "csan does not know exactly what it touches";
}

static void known_add(struct text *text, const char *what, const struct race_side *side)
{
    const char *reason = race_access_reason(side->access);
    text_add(text, "%s by %s is %s", what, side->lane,
             is_learned(side->access) ? "learned"
             : reason                 ? "bounded"
                                      : "exact");
    if (reason)
        text_add(text, " (%s)", reason);
}

static void certainty_add(struct text *text, struct race_words *words, const struct csan_race *race)
{
    const bool bounded = race->current.bound != CSAN_EXACT || race->previous.bound != CSAN_EXACT;
    const bool learned = is_learned(&race->current) || is_learned(&race->previous);
    text_add(text, "Race %llu is %s: ", (unsigned long long)race->number,
             race->possible ? "possible"
             : learned      ? "certain, if what was learned holds"
                            : "certain");
    if (!bounded && !learned) {
        text_add(text, "both accesses are exact%s.\n",
                 race->possible ? ", but whether their strides meet is not decided" : "");
        return;
    }
    known_add(text, "the access", &words->current);
    known_add(text, "; the previous access", &words->previous);
    text_add(text, "%s.\n",
             race->possible && !bounded ? "; whether their strides meet is not decided" : "");
}

static void overlap_add(struct text *text, const struct csan_race *race)
{
    unsigned long long start = race->address, bytes = race->bytes, base = race->allocation;
    const char *plural = bytes == 1 ? "" : "s";
    if (!race->allocation_bytes) {
        text_add(text, "Overlap: %llu byte%s at 0x%llx, in no allocation csan saw.\n", bytes,
                 plural, start);
        return;
    }
    unsigned long long first = start - base, whole = race->allocation_bytes;
    text_add(text, "Overlap: %llu byte%s, %llu to %llu of the %llu allocated at 0x%llx%s.\n", bytes,
             plural, first, first + (bytes ? bytes - 1 : 0), whole, base,
             bytes < whole ? " (the first run that both touch)" : "");
}

/* ---- what went wrong and what to do */

/* Two launches of one stream, which it lets overlap. */
static bool same_stream(const struct race_side *early, const struct race_side *late)
{
    return !early->access->host && !late->access->host &&
           early->access->stream == late->access->stream &&
           strstr(late->lane, "overlapping launch");
}

/* Make `late` happen after `early`. */
static void order_add(struct text *text, const struct race_side *early,
                      const struct race_side *late)
{
    if (same_stream(early, late))
        text_add(text,
                 "let %s wait for %s (griddepcontrol.wait, cudaGridDependencySynchronize) before "
                 "it touches this memory, or launch it without programmatic stream serialization",
                 late->site, early->site);
    else if (early->access->host && late->access->host)
        text_add(text, "let %s wait for %s, by a mutex or by joining it, after %s and before %s",
                 late->lane, early->lane, early->site, late->site);
    else if (early->access->host)
        text_add(text, "let the host finish %s before %s is enqueued", early->site, late->site);
    else if (late->access->host)
        text_add(text, "synchronize the host with %s after %s, before %s", early->lane, early->site,
                 late->site);
    else
        text_add(text, "record an event on %s after %s, make %s wait for it before %s", early->lane,
                 early->site, late->lane, late->site);
}

static const char *data_cause(const struct csan_race *race)
{
    if (race->kind != CSAN_RACE_ATOMIC)
        return "nothing orders the two accesses";
    if (race->current.kind == CSAN_ATOMIC && race->previous.kind == CSAN_ATOMIC)
        return "nothing orders the two atomic accesses, and they overlap only in part, so neither "
               "is "
               "atomic to the other";
    return "nothing orders the two accesses, and only one of them is atomic";
}

/* The free, and the use that it does not wait for. */
static void freed_in_use(const struct race_words *words, const struct race_side **freed,
                         const struct race_side **use)
{
    bool free_came_first = words->previous.access->kind == CSAN_FREE;
    *freed = free_came_first ? &words->previous : &words->current;
    *use = free_came_first ? &words->current : &words->previous;
}

void race_cause_add(struct text *text, const struct race_words *words, const struct csan_race *race)
{
    const struct race_side *freed, *use;
    switch (race->kind) {
    case CSAN_RACE_REUSE:
        text_add(text, "memory reused while %s still uses it: the pool gave it out again, to %s",
                 words->previous.lane, words->current.lane);
        return;
    case CSAN_RACE_FREE:
        freed_in_use(words, &freed, &use);
        text_add(text, "memory freed by %s while %s still uses it", freed->lane, use->lane);
        return;
    case CSAN_RACE_USE_AFTER_FREE:
        text_add(text, "memory used after its stream-ordered free");
        return;
    case CSAN_RACE_BIRTH:
        text_add(text, "the use is not ordered after the memory's allocation on %s",
                 words->previous.lane);
        return;
    default:
        text_add(text, "%s", data_cause(race));
    }
}

void race_fix_add(struct text *text, const struct race_words *words, const struct csan_race *race)
{
    const struct race_side *current = &words->current, *previous = &words->previous;
    const struct race_side *freed, *use;
    switch (race->kind) {
    case CSAN_RACE_REUSE:
        text_add(
            text,
            "give the block back to the pool only when %s is done with it (record an event on "
            "%s after %s and let the pool's stream wait for it), or tell the pool that %s uses "
            "it (record_stream in PyTorch)",
            previous->lane, previous->lane, previous->site, previous->lane);
        return;
    case CSAN_RACE_FREE:
        freed_in_use(words, &freed, &use);
        order_add(text, use, freed);
        return;
    case CSAN_RACE_USE_AFTER_FREE:
        text_add(text, "free it only after the use: move %s behind %s", previous->site,
                 current->site);
        return;
    default:
        order_add(text, previous, current);
    }
}

static void remedy_add(struct text *text, const struct race_words *words,
                       const struct csan_race *race)
{
    text_add(text, "Cause: ");
    race_cause_add(text, words, race);
    text_add(text, ".\nFix: ");
    race_fix_add(text, words, race);
    text_add(text, ".\n");
}

/* ---- the whole */

/* What hardware does where nobody promised it is no order, and a reader who never saw the race fail
 * should know why. */
static void unpromised_add(struct text *text, const struct csan_race *race)
{
    if (race->unpromised && strcmp(race->unpromised, detector_pool_poll) == 0)
        text_add(text,
                 "Note: hardware was seen to order the two: %s came between and found the first "
                 "done, but the program waits for nothing.\n",
                 race->unpromised);
    else if (race->unpromised)
        text_add(text,
                 "Note: hardware was seen to order the two, since %s made the host wait there, but "
                 "nothing promises it.\n",
                 race->unpromised);
}

static void colour_add(struct text *text, bool colour, const char *code)
{
    if (colour)
        text_add(text, "%s", code);
}

void race_text_add(struct text *text, struct race_words *words, const struct csan_race *race,
                   bool colour)
{
    text_add(text, "============================\n");
    colour_add(text, colour, race->possible ? "\033[1;33m" : "\033[1;31m");
    text_add(text, "CSAN detected a possible data race on tensor with data pointer %llu",
             (unsigned long long)race->pointer);
    colour_add(text, colour, "\033[0m");
    text_add(text, "\n");
    side_add(text, words, &words->current, &race->current, "Access");
    side_add(text, words, &words->previous, &race->previous, "Previous access");
    allocation_add(text, words, race);
    certainty_add(text, words, race);
    overlap_add(text, race);
    remedy_add(text, words, race);
    unpromised_add(text, race);
}

/* ---- one line */

/* Lines "  #0 main x.cu:5" as "main x.cu:5 < ...". */
static void lines_join(struct text *text, const char *lines)
{
    for (int i = 0; i < JOINED_FRAMES && lines && *lines; i++) {
        size_t length = strcspn(lines, "\n");
        size_t skip = strspn(lines, " ");
        if (lines[skip] == '#')
            skip += strcspn(lines + skip, " ") + 1;
        text_add(text, "%s%.*s", i ? " < " : "", (int)(length - skip), lines + skip);
        lines += length + (lines[length] == '\n');
    }
}

void race_stack_add(struct text *text, struct race_words *words, const void *const *frames,
                    size_t count, const char *callee)
{
    char place[PLACE_BYTES];
    struct text stack = {0};
    stack_text_add(&stack, &words->style, frames, count, callee, place, sizeof(place));
    text_add(text, " at ");
    if (script_text_concerns(frames, count))
        text_add(text, "%s", place);
    else
        lines_join(text, stack.data);
    text_free(&stack);
}

static void side_add_joined(struct text *text, struct race_words *words, struct race_side *side,
                            const struct csan_race_access *access)
{
    char brief[SHORT_NAME_BYTES];
    words->style.symbolizer->demangle(words->style.symbolizer, access->name ? access->name : "",
                                      side->name, sizeof(side->name));
    name_shorten(brief, sizeof(brief), side->name);
    text_add(text, "%s ", brief[0] ? brief : "(unknown)");
    race_deed_add(text, access);
    race_stack_add(text, words, access->frames, access->frame_count, side->name);
}

void race_line_add(struct text *text, struct race_words *words, const struct csan_race *race)
{
    text_add(text, "%s", race->possible ? "possible, " : "");
    side_add_joined(text, words, &words->current, &race->current);
    text_add(text, ", not ordered after ");
    side_add_joined(text, words, &words->previous, &race->previous);
}

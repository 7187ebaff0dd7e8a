/* See race_text.h. */
#include "csan/report/race_text.h"
#include "csan/detector/detect.h"
#include "csan/report/error_text.h"
#include "csan/report/proposal.h"
#include "csan/report/race_cause.h"
#include "csan/report/race_memory.h"
#include "csan/stack/script_text.h"
#include "csan/stack/stack_fold.h"
#include "csan/stack/stack_text.h"
#include "csan/stack/symbolizer.h"

#include <stdio.h>
#include <string.h>

enum { JOINED_FRAMES = 4 };

/* ---- names and places */

void race_name_shorten(char *brief, size_t bytes, const char *name)
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

void race_brief(struct race_words *words, const char *name, char *brief, size_t bytes)
{
    char *whole = words->scratch;
    words->style.symbolizer->demangle(words->style.symbolizer, name ? name : "", whole,
                                      sizeof words->scratch);
    race_name_shorten(brief, bytes, whole);
}

static const struct stack_frames *stack_of(struct race_words *words, const void *const *frames,
                                           size_t count, const char *callee)
{
    return stack_memo_get(&words->stacks, &words->style, frames, count, callee);
}

void race_words_forget(struct race_words *words)
{
    stack_memo_clear(&words->stacks);
}

void race_place(struct race_words *words, const void *const *frames, size_t count,
                const char *callee, char *place, size_t bytes)
{
    place[0] = '\0';
    if (script_text_concerns(frames, count))
        script_text_place(&words->style, frames, count, place, bytes);
    else if (count)
        stack_text_place(stack_of(words, frames, count, callee), place, bytes);
}

void race_lines_add(struct text *text, struct race_words *words, const void *const *frames,
                    size_t count, const char *callee)
{
    if (script_text_concerns(frames, count))
        script_text_add(text, &words->style, frames, count);
    else
        stack_text_add(text, &words->style, stack_of(words, frames, count, callee));
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
void race_deed_add(struct text *text, const struct csan_race_access *access, const char *object)
{
    static const char *const verbs[] = {[CSAN_READ] = "reading from",
                                        [CSAN_WRITE] = "writing to",
                                        [CSAN_ATOMIC] = "atomically updating",
                                        [CSAN_ALLOCATE] = "allocating",
                                        [CSAN_FREE] = "freeing"};
    bool has_kind = access->kind >= CSAN_READ && access->kind <= CSAN_FREE;
    bool has_arguments = access->arguments && access->arguments[0];
    if (object) {
        text_add(text, "%s the %s", access->kind == CSAN_FREE ? "destroying" : "using", object);
        return;
    }
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

static void stack_add(struct text *text, struct race_words *words, const void *const *frames,
                      size_t count, const char *callee)
{
    race_lines_add(text, words, frames, count, callee);
    if (script_text_concerns(frames, count))
        text_add(text, "\n"); /* as PyTorch does */
}

/* What the program called for the access, where that is not the access itself. */
static const char *launch_name(const struct csan_race_access *access)
{
    return access->lane_kind == CSAN_LANE_HOST_FUNCTION ? "the host function's call"
                                                        : "the graph's launch";
}

/* Where a person looks first: of a graph's node, where the graph was launched. */
static void side_place(struct race_words *words, struct race_side *side,
                       const struct csan_race_access *access)
{
    char brief[SHORT_NAME_BYTES];
    if (access->host ||
        access->lane_kind == CSAN_LANE_HOST_FUNCTION) /* "the host's store" is no function */
        snprintf(brief, sizeof brief, "%.*s", (int)sizeof brief - 1, side->name);
    else
        race_name_shorten(brief, sizeof(brief), side->name);
    if (access->launch_frame_count)
        race_place(words, access->launch_frames, access->launch_frame_count, "", side->place,
                   sizeof side->place);
    else
        race_place(words, access->frames, access->frame_count, side->name, side->place,
                   sizeof side->place);
    const char *what = access->launch_frame_count ? launch_name(access) : brief;
    snprintf(side->site, sizeof(side->site), side->place[0] ? "%s (%s)" : "%s", what, side->place);
    snprintf(side->brief, sizeof side->brief, "%s", brief);
}

/* Names a call as the program wrote it: cudaMemcpyAsync, not the driver's function that the runtime
 * called. PyTorch's reports keep the driver's name. */
static void side_entry(struct race_words *words, struct race_side *side,
                       const struct csan_race_access *access)
{
    const char *name = access->name ? access->name : "";
    if (strcmp(name, detector_host_change) == 0) {
        const struct stack_frames *stack =
            stack_of(words, access->frames, access->frame_count, side->name);
        if (stack->entry)
            snprintf(side->name, sizeof side->name, "the host's store before %s", stack->entry);
        return;
    }
    const bool is_call = access->level == CSAN_LEVEL_LIBRARY || access->kind == CSAN_ALLOCATE ||
                         access->kind == CSAN_FREE;
    if (strncmp(name, "cu", 2) != 0 || name[2] < 'A' || name[2] > 'Z' || !is_call)
        return;
    const struct stack_frames *stack =
        stack_of(words, access->frames, access->frame_count, side->name);
    if (stack->entry)
        snprintf(side->name, sizeof side->name, "%s", stack->entry);
}

static void side_name(struct race_words *words, struct race_side *side,
                      const struct csan_race_access *access, bool framework)
{
    side->access = access;
    side->lane = access->lane ? access->lane : "an unknown stream";
    race_access_name(side->name, sizeof(side->name), words->style.symbolizer, access);
    if (!framework)
        side_entry(words, side, access);
    side_place(words, side, access);
}

/* PyTorch calls all that a stream does a kernel. */
static bool is_call(const struct csan_race_access *access, bool framework)
{
    return access->host || access->lane_kind == CSAN_LANE_HOST_FUNCTION ||
           (!framework && (access->level == CSAN_LEVEL_LIBRARY || access->kind == CSAN_ALLOCATE ||
                           access->kind == CSAN_FREE));
}

static void side_add(struct text *text, struct race_words *words, struct race_side *side,
                     const struct csan_race_access *access, const char *title, bool framework)
{
    char created[PLACE_BYTES];
    race_place(words, access->created_frames, access->created_frame_count, "", created,
               sizeof created);
    text_add(text, created[0] ? "%s by %s (created at %s)" : "%s by %s", title, side->lane,
             created);
    text_add(text, " during %s:\n%s", is_call(access, framework) ? "call" : "kernel", side->name);
    if (access->detail && access->detail[0])
        text_add(text, ": %s", access->detail);
    if (access->defined && !framework)
        text_add(text, ", defined at %s", stack_path_shorten(&words->style, access->defined));
    text_add(text, "\n");
    race_deed_add(text, access, words->object);
    if (access->ranges && access->ranges[0])
        text_add(text, "\nIn NVTX range %s", access->ranges);
    if (access->launch_frame_count) {
        const bool function = access->lane_kind == CSAN_LANE_HOST_FUNCTION;
        text_add(text, function ? "\nIn a host function that was enqueued with stack trace:\n"
                                : "\nIn a launch of its graph with stack trace:\n");
        stack_add(text, words, access->launch_frames, access->launch_frame_count, "");
        text_add(text, function ? "Within it with stack trace:\n"
                                : "As a node that was made with stack trace:\n");
    } else {
        text_add(text, "\nWith stack trace:\n");
    }
    stack_add(text, words, access->frames, access->frame_count, side->name);
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
    const char *const undecided =
        race->order && race->order->cause == CSAN_CAUSE_AD_HOC
            ? "whether the kernels order the two through memory is not known"
            : "whether their strides overlap is not decided";
    if (!bounded && !learned) {
        text_add(text, "both accesses are exact%s%s.\n", race->possible ? ", but " : "",
                 race->possible ? undecided : "");
        return;
    }
    known_add(text, "the access", &words->current);
    known_add(text, "; the previous access", &words->previous);
    text_add(text, "%s%s.\n", race->possible && !bounded ? "; " : "",
             race->possible && !bounded ? undecided : "");
}

/* ---- the whole */

static void remedy_add(struct text *text, struct race_words *words, const struct csan_race *race)
{
    text_add(text, "Cause: ");
    race_cause_add(text, words, race);
    text_add(text, ".\nFix: ");
    race_fix_add(text, words, race);
    text_add(text, ".\n");
}

static bool is_documented(const char *wait)
{
    const size_t end = strlen(DETECTOR_DOCUMENTED), length = strlen(wait);
    return length > end && strcmp(wait + length - end, DETECTOR_DOCUMENTED) == 0;
}

/* What hardware does where nobody promised it is no order, and a reader who never saw the race fail
 * should know why. */
static void unpromised_add(struct text *text, const struct csan_race *race)
{
    if (race->unpromised && strcmp(race->unpromised, detector_pool_query) == 0)
        text_add(text,
                 "Note: hardware was seen to order the two: %s came between and found the first "
                 "done, but the program waits for nothing.\n",
                 race->unpromised);
    else if (race->unpromised && is_documented(race->unpromised))
        text_add(text,
                 "Note: hardware orders the two, since %s made the host wait there, which "
                 "implicit_sync=none leaves out.\n",
                 race->unpromised);
    else if (race->unpromised)
        text_add(text,
                 "Note: hardware was seen to order the two, since %s made the host wait there, but "
                 "nothing promises it.\n",
                 race->unpromised);
}

/* Of the store itself nothing is known but between which calls it was. */
static void host_change_add(struct text *text, struct race_words *words,
                            const struct csan_race *race)
{
    const char *const site = words->current.site, *before = strstr(site, " before ");
    if (race_is_host_change(race))
        text_add(text,
                 "Note: some of these bytes changed between %s and %s, before the host had waited "
                 "for the former.\n",
                 words->previous.site, before ? before + strlen(" before ") : site);
}

static void colour_add(struct text *text, bool colour, const char *code)
{
    if (colour)
        text_add(text, "%s", code);
}

/* ---- the headline */

/* "sum (app.cu:28)"; of a graph's node "step, in the graph's launch (app.cu:40)" */
static void doer_add(struct text *text, const struct race_side *side)
{
    text_add(text, side->access->launch_frame_count ? "%s, in %s," : "%s%s",
             side->access->launch_frame_count ? side->brief : "", side->site);
}

static void sentence_add(struct text *text, struct race_words *words, const struct csan_race *race)
{
    const struct race_side *current = &words->current, *previous = &words->previous;
    const bool free_came_first = previous->access->kind == CSAN_FREE;
    const struct race_side *freed = free_came_first ? previous : current;
    doer_add(text, race->kind == CSAN_RACE_FREE ? freed : current);
    switch (race->kind) {
    case CSAN_RACE_USE_AFTER_FREE:
        text_add(text, " uses ");
        race_memory_name_add(text, words, race);
        text_add(text, " after ");
        doer_add(text, previous);
        text_add(text, race->object ? " destroyed it" : " freed it");
        return;
    case CSAN_RACE_FREE:
        text_add(text, " does not wait for ");
        doer_add(text, freed == current ? previous : current);
        text_add(text, race->object ? " before the destruction" : " before the free");
        break;
    case CSAN_RACE_BIRTH:
        text_add(text, " does not wait for the allocation ");
        doer_add(text, previous);
        break;
    default:
        text_add(text, " does not wait for ");
        doer_add(text, previous);
    }
    text_add(text, race->object ? " of " : " on ");
    race_memory_name_add(text, words, race);
}

void race_sentence_add(struct text *text, struct race_words *words, const struct csan_race *race)
{
    if (csan_is_error(race))
        error_sentence_add(text, words, race);
    else
        sentence_add(text, words, race);
}

/* PyTorch's reports begin as its own sanitizer's do, whatever the race is. */
static void headline_add(struct text *text, struct race_words *words, const struct csan_race *race)
{
    if (csan_is_error(race)) {
        text_add(text, "CSAN: ");
        error_sentence_add(text, words, race);
        return;
    }
    if (race->framework && race->kind != CSAN_RACE_USE_AFTER_FREE) {
        text_add(text, "CSAN detected a possible data race on tensor with data pointer %llu",
                 (unsigned long long)race->pointer);
        return;
    }
    text_add(text, "CSAN: %s%s: ", race->possible ? "possible " : "",
             race->kind == CSAN_RACE_USE_AFTER_FREE ? "use after free" : "data race");
    sentence_add(text, words, race);
}

static void facts_add(struct text *text, struct race_words *words, const struct csan_race *race)
{
    side_add(text, words, &words->current, &race->current, "Access", race->framework);
    side_add(text, words, &words->previous, &race->previous, "Previous access", race->framework);
    race_allocation_add(text, words, race);
    certainty_add(text, words, race);
    race_overlap_add(text, race);
}

static void whole_add(struct text *text, struct race_words *words, const struct csan_race *race,
                      bool colour)
{
    text_add(text, "============================\n");
    colour_add(text, colour, race->possible ? "\033[1;33m" : "\033[1;31m");
    headline_add(text, words, race);
    colour_add(text, colour, "\033[0m");
    text_add(text, "\n");
    if (csan_is_error(race)) {
        error_facts_add(text, words, race);
        return;
    }
    if (race->framework) {
        facts_add(text, words, race);
        remedy_add(text, words, race);
    } else {
        remedy_add(text, words, race);
        facts_add(text, words, race);
    }
    host_change_add(text, words, race);
    unpromised_add(text, race);
}

void race_text_add(struct text *text, struct race_words *words, const struct csan_race *race,
                   bool colour)
{
    const bool full = words->style.full;
    words->style.full |= race->framework != 0;
    race_words_forget(words);
    words->object = race->object;
    side_name(words, &words->current, &race->current, race->framework);
    side_name(words, &words->previous, &race->previous, race->framework);
    whole_add(text, words, race, colour);
    words->style.full = full;
}

/* ---- one line */

/* Lines "  #0 main x.cu:5" as "main x.cu:5 < ...". */
static void lines_join(struct text *text, const char *lines)
{
    for (int i = 0; i < JOINED_FRAMES && lines && *lines; i++) {
        size_t length = strcspn(lines, "\n");
        size_t skip = strspn(lines, " ");
        const char *hint = memmem(lines, length, " " STACK_FOLD_HINT, strlen(" " STACK_FOLD_HINT));
        size_t end = hint ? (size_t)(hint - lines) : length;
        if (lines[skip] == '#')
            skip += strcspn(lines + skip, " ") + 1;
        text_add(text, "%s%.*s", i ? " < " : "", (int)(end - skip), lines + skip);
        lines += length + (lines[length] == '\n');
    }
}

void race_stack_add(struct text *text, struct race_words *words, const void *const *frames,
                    size_t count, const char *callee)
{
    char place[PLACE_BYTES];
    struct text lines = {0};
    text_add(text, " at ");
    if (script_text_concerns(frames, count)) {
        race_place(words, frames, count, callee, place, sizeof place);
        text_add(text, "%s", place);
        return;
    }
    race_lines_add(&lines, words, frames, count, callee);
    lines_join(text, lines.data);
    text_free(&lines);
}

static void side_add_joined(struct text *text, struct race_words *words, struct race_side *side,
                            const struct csan_race_access *access, bool framework)
{
    side_name(words, side, access, framework);
    text_add(text, "%s ", side->brief[0] ? side->brief : "(unknown)");
    race_deed_add(text, access, words->object);
    race_stack_add(text, words, access->frames, access->frame_count, side->name);
}

void race_line_add(struct text *text, struct race_words *words, const struct csan_race *race)
{
    race_words_forget(words);
    words->object = race->object;
    text_add(text, "%s", race->possible ? "possible, " : "");
    if (csan_is_error(race))
        text_add(text, "%s: ", finding_kind_words(race->kind));
    side_add_joined(text, words, &words->current, &race->current, race->framework);
    if (csan_is_error(race))
        return;
    text_add(text, ", not ordered after ");
    side_add_joined(text, words, &words->previous, &race->previous, race->framework);
}

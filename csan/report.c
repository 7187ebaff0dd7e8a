#include "report.h"
#include "log.h"
#include "options.h"
#include "script_text.h"
#include "stack_text.h"
#include "suppression.h"
#include "symbolizer.h"
#include "text.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAME_BYTES = 16 << 10, PLACE_BYTES = 256, SHORT_NAME_BYTES = 160, NOTE_BYTES = 4096 };
enum { JOINED_FRAMES = 4 };

/* One side of a race, in words. */
struct side {
    const struct csan_race_access *access;
    const char *lane;
    char name[NAME_BYTES];                     /* demangled */
    char site[SHORT_NAME_BYTES + PLACE_BYTES]; /* "scale (example_error.cu:40)" */
};

struct report_sink {
    pthread_mutex_t lock;
    struct options options;
    struct log log;
    struct symbolizer *symbolizer;
    bool owns_symbolizer;
    struct suppressions *suppressions; /* or NULL */
    uint64_t printed, withheld;
    char directory[PATH_MAX];
    struct side current, previous;
};

/* ---- life */

/* A file that cannot be read, or has bad lines, costs those, and never the check. */
static void suppressions_open(struct report_sink *sink)
{
    char message[NOTE_BYTES];
    if (!sink->options.suppressions[0])
        return;
    sink->suppressions = suppressions_load(sink->options.suppressions, message, sizeof(message));
    if (message[0])
        report_note(sink, "%s; that is ignored", message);
}

struct report_sink *report_open(const struct options *options, struct symbolizer *symbolizer)
{
    struct report_sink *sink = calloc(1, sizeof(*sink));
    if (!sink)
        return NULL;
    sink->options = *options;
    sink->owns_symbolizer = !symbolizer;
    sink->symbolizer = symbolizer ? symbolizer : symbolizer_create(options);
    if (!sink->symbolizer) {
        free(sink);
        return NULL;
    }
    log_init(&sink->log, options->log_path);
    /* "/" alone shortens nothing. */
    if (!getcwd(sink->directory, sizeof(sink->directory)) || !sink->directory[1])
        sink->directory[0] = '\0';
    pthread_mutex_init(&sink->lock, NULL);
    suppressions_open(sink);
    return sink;
}

void report_set_directory(struct report_sink *sink, const char *directory)
{
    /* "/" alone shortens nothing. */
    snprintf(sink->directory, sizeof(sink->directory), "%s",
             directory[0] && directory[1] ? directory : "");
}

void report_close(struct report_sink *sink)
{
    if (!sink)
        return;
    log_close(&sink->log);
    if (sink->owns_symbolizer)
        sink->symbolizer->destroy(sink->symbolizer);
    suppressions_free(sink->suppressions);
    pthread_mutex_destroy(&sink->lock);
    free(sink);
}

/* What a call of the program's must find as it left it. A thread cancelled in here would also leave
 * the lock taken. */
struct entered {
    int error, cancel;
};

static struct entered sink_enter(struct report_sink *sink)
{
    struct entered entered = {.error = errno};
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &entered.cancel);
    pthread_mutex_lock(&sink->lock);
    return entered;
}

static void sink_leave(struct report_sink *sink, struct entered entered)
{
    pthread_mutex_unlock(&sink->lock);
    pthread_setcancelstate(entered.cancel, NULL);
    errno = entered.error;
}

static void text_write(struct report_sink *sink, const struct text *text)
{
    static const char short_of_memory[] = "csan: no memory to print a whole report\n";
    if (text->length)
        log_write(&sink->log, text->data, text->length);
    if (text->cut)
        log_write(&sink->log, short_of_memory, sizeof(short_of_memory) - 1);
}

/* ---- colour */

enum colour { COLOUR_OFF, COLOUR_CERTAIN, COLOUR_POSSIBLE };

static bool wants_colour(const struct report_sink *sink)
{
    if (strcmp(sink->options.color, "auto") == 0)
        return log_is_terminal(&sink->log);
    return strcmp(sink->options.color, "always") == 0;
}

static void colour_add(struct text *text, const struct report_sink *sink, enum colour colour)
{
    static const char *const codes[] = {"\033[0m", "\033[1;31m", "\033[1;33m"};
    if (wants_colour(sink))
        text_add(text, "%s", codes[colour]);
}

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
static void deed_add(struct text *text, const struct csan_race_access *access)
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

static void side_add(struct text *text, struct report_sink *sink, struct side *side,
                     const struct csan_race_access *access, const char *title)
{
    const struct stack_style style = {sink->symbolizer, sink->options.strip_path_prefix,
                                      sink->directory};
    char brief[SHORT_NAME_BYTES], place[PLACE_BYTES];
    side->access = access;
    side->lane = access->lane ? access->lane : "an unknown stream";
    sink->symbolizer->demangle(sink->symbolizer, access->name ? access->name : "", side->name,
                               sizeof(side->name));
    if (!side->name[0])
        strcpy(side->name, "(unknown)");
    text_add(text, "%s by %s during %s:\n%s\n", title, side->lane, access->host ? "call" : "kernel",
             side->name);
    deed_add(text, access);
    text_add(text, "\nWith stack trace:\n");
    stack_text_add(text, &style, access->frames, access->frame_count, side->name, place,
                   sizeof(place));
    if (script_text_concerns(access->frames, access->frame_count))
        text_add(text, "\n"); /* as PyTorch does */
    name_shorten(brief, sizeof(brief), side->name);
    snprintf(side->site, sizeof(side->site), place[0] ? "%s (%s)" : "%s", brief, place);
}

static void allocation_add(struct text *text, const struct report_sink *sink,
                           const struct csan_race *race)
{
    const struct stack_style style = {sink->symbolizer, sink->options.strip_path_prefix,
                                      sink->directory};
    char place[PLACE_BYTES];
    if (race->allocation_frame_count == 0) {
        text_add(text, "Trace for tensor allocation not found.\n");
        return;
    }
    text_add(text, "Tensor was allocated with stack trace:\n");
    stack_text_add(text, &style, race->allocation_frames, race->allocation_frame_count, "", place,
                   sizeof(place));
}

/* ---- exact or bounded, and why */

static const char *bound_reason(int bound)
{
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
    bool known = bound > CSAN_EXACT && bound <= CSAN_BOUND_OBJECT;
    return known ? reasons[bound] : "csan does not know exactly what it touches";
}

static void certainty_add(struct text *text, const struct report_sink *sink,
                          const struct csan_race *race)
{
    const struct side *sides[] = {&sink->current, &sink->previous};
    unsigned long long number = race->number;
    bool exact[2] = {race->current.bound == CSAN_EXACT, race->previous.bound == CSAN_EXACT};
    if (!race->possible) {
        text_add(text, "Race %llu is certain: both accesses are exact.\n", number);
        return;
    }
    text_add(text, "Race %llu is possible: ", number);
    if (exact[0] && exact[1]) {
        text_add(text, "both accesses are exact, but whether their strides meet is not decided.\n");
        return;
    }
    for (int i = 0; i < 2; i++) {
        text_add(text, "%s by %s is %s", i ? "; the previous access" : "the access", sides[i]->lane,
                 exact[i] ? "exact" : "bounded");
        if (!exact[i])
            text_add(text, " (%s)", bound_reason(sides[i]->access->bound));
    }
    text_add(text, ".\n");
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
static bool same_stream(const struct side *early, const struct side *late)
{
    return !early->access->host && !late->access->host &&
           early->access->stream == late->access->stream &&
           strstr(late->lane, "overlapping launch");
}

/* Make `late` happen after `early`. */
static void order_add(struct text *text, const struct side *early, const struct side *late)
{
    if (same_stream(early, late))
        text_add(text,
                 "let %s wait for %s (griddepcontrol.wait, cudaGridDependencySynchronize) before "
                 "it touches this memory, or launch it without programmatic stream serialization",
                 late->site, early->site);
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

static void freed_in_use_add(struct text *text, const struct side *current,
                             const struct side *previous)
{
    bool free_came_first = previous->access->kind == CSAN_FREE;
    const struct side *freed = free_came_first ? previous : current;
    const struct side *use = free_came_first ? current : previous;
    text_add(text, "Cause: memory freed by %s while %s still uses it.\nFix: ", freed->lane,
             use->lane);
    order_add(text, use, freed);
    text_add(text, ".\n");
}

static void reuse_add(struct text *text, const struct side *current, const struct side *previous)
{
    text_add(
        text,
        "Cause: memory reused while %s still uses it: the pool gave it out again, to %s.\n"
        "Fix: give the block back to the pool only when %s is done with it (record an event on "
        "%s after %s and let the pool's stream wait for it), or tell the pool that %s uses it "
        "(record_stream in PyTorch).\n",
        previous->lane, current->lane, previous->lane, previous->lane, previous->site,
        previous->lane);
}

static void remedy_add(struct text *text, const struct csan_race *race, const struct side *current,
                       const struct side *previous)
{
    switch (race->kind) {
    case CSAN_RACE_REUSE:
        reuse_add(text, current, previous);
        return;
    case CSAN_RACE_FREE:
        freed_in_use_add(text, current, previous);
        return;
    case CSAN_RACE_USE_AFTER_FREE:
        text_add(text,
                 "Cause: memory used after its stream-ordered free.\n"
                 "Fix: free it only after the use: move %s behind %s.\n",
                 previous->site, current->site);
        return;
    case CSAN_RACE_BIRTH:
        text_add(text, "Cause: the use is not ordered after the memory's allocation on %s.\nFix: ",
                 previous->lane);
        break;
    default:
        text_add(text, "Cause: %s.\nFix: ", data_cause(race));
    }
    order_add(text, previous, current);
    text_add(text, ".\n");
}

/* ---- reports */

/* What hardware does where nobody promised it is no order, and a reader who never saw the race fail
 * should know why. */
static void unpromised_add(struct text *text, const struct csan_race *race)
{
    if (race->unpromised)
        text_add(text,
                 "Note: hardware was seen to order the two, since %s made the host wait there, but "
                 "nothing promises it.\n",
                 race->unpromised);
}

static void race_add(struct text *text, struct report_sink *sink, const struct csan_race *race)
{
    text_add(text, "============================\n");
    colour_add(text, sink, race->possible ? COLOUR_POSSIBLE : COLOUR_CERTAIN);
    text_add(text, "CSAN detected a possible data race on tensor with data pointer %llu",
             (unsigned long long)race->pointer);
    colour_add(text, sink, COLOUR_OFF);
    text_add(text, "\n");
    side_add(text, sink, &sink->current, &race->current, "Access");
    side_add(text, sink, &sink->previous, &race->previous, "Previous access");
    allocation_add(text, sink, race);
    certainty_add(text, sink, race);
    overlap_add(text, race);
    remedy_add(text, race, &sink->current, &sink->previous);
    unpromised_add(text, race);
}

char *report_race(struct report_sink *sink, const struct csan_race *race, bool wanted)
{
    struct text text = {0};
    char *whole = NULL;
    struct entered entered = sink_enter(sink);
    int limit = sink->options.report_limit;
    bool printed = limit == 0 || sink->printed < (uint64_t)limit;
    if (printed || wanted) {
        race_add(&text, sink, race);
        whole = wanted && text.data ? strdup(text.data) : NULL;
    }
    if (printed) {
        sink->printed++;
        const char *trouble = sink->symbolizer->trouble(sink->symbolizer);
        if (trouble)
            text_add(&text, "csan: %s\n", trouble);
    } else {
        text_free(&text);
        text = (struct text){0};
    }
    if (!printed && sink->withheld++ == 0) {
        text_add(&text, "csan: report_limit=%d is reached; further races are only counted\n",
                 limit);
    }
    text_write(sink, &text);
    text_free(&text);
    sink_leave(sink, entered);
    return whole;
}

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

static void stack_add_joined(struct text *text, struct report_sink *sink, const void *const *frames,
                             size_t count, const char *callee)
{
    const struct stack_style style = {sink->symbolizer, sink->options.strip_path_prefix,
                                      sink->directory};
    char place[PLACE_BYTES];
    struct text stack = {0};
    stack_text_add(&stack, &style, frames, count, callee, place, sizeof(place));
    text_add(text, " at ");
    if (script_text_concerns(frames, count))
        text_add(text, "%s", place);
    else
        lines_join(text, stack.data);
    text_free(&stack);
}

static void side_add_joined(struct text *text, struct report_sink *sink, struct side *side,
                            const struct csan_race_access *access)
{
    char brief[SHORT_NAME_BYTES];
    sink->symbolizer->demangle(sink->symbolizer, access->name ? access->name : "", side->name,
                               sizeof(side->name));
    name_shorten(brief, sizeof(brief), side->name);
    text_add(text, "%s ", brief[0] ? brief : "(unknown)");
    deed_add(text, access);
    stack_add_joined(text, sink, access->frames, access->frame_count, side->name);
}

void report_race_line(struct report_sink *sink, const struct csan_race *race)
{
    struct text text = {0};
    struct entered entered = sink_enter(sink);
    text_add(&text, "csan: race: %s", race->possible ? "possible, " : "");
    side_add_joined(&text, sink, &sink->current, &race->current);
    text_add(&text, ", not ordered after ");
    side_add_joined(&text, sink, &sink->previous, &race->previous);
    text_add(&text, "\n");
    text_write(sink, &text);
    text_free(&text);
    sink_leave(sink, entered);
}

void report_note(struct report_sink *sink, const char *format, ...)
{
    char line[NOTE_BYTES];
    struct text text = {0};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    struct entered entered = sink_enter(sink);
    text_add(&text, "csan: %s\n", line);
    text_write(sink, &text);
    text_free(&text);
    sink_leave(sink, entered);
}

void report_note_stack(struct report_sink *sink, const void *const *frames, size_t frame_count,
                       const char *line)
{
    struct text text = {0};
    struct entered entered = sink_enter(sink);
    text_add(&text, "csan: %s", line);
    stack_add_joined(&text, sink, frames, frame_count, "");
    text_add(&text, "\n");
    text_write(sink, &text);
    text_free(&text);
    sink_leave(sink, entered);
}

/* ---- suppressions */

bool report_suppresses(struct report_sink *sink, const struct csan_race *race)
{
    if (!sink->suppressions)
        return false;
    struct entered entered = sink_enter(sink);
    bool suppresses = suppressions_match(sink->suppressions, sink->symbolizer, race);
    sink_leave(sink, entered);
    return suppresses;
}

void report_suppressions(struct report_sink *sink)
{
    struct text text = {0};
    const char *line;
    uint64_t count;
    if (!sink->options.print_suppressions)
        return;
    struct entered entered = sink_enter(sink);
    for (size_t i = 0; suppressions_next_used(sink->suppressions, &i, &line, &count);) {
        if (!text.length)
            text_add(&text, "csan: suppressions that matched, with how many races each:\n");
        text_add(&text, "  %llu %s\n", (unsigned long long)count, line);
    }
    text_write(sink, &text);
    text_free(&text);
    sink_leave(sink, entered);
}

/* ---- the summary */

static void launches_add(struct text *text, const struct csan_stats *stats)
{
    static const char *const levels[CSAN_LEVEL_COUNT] = {
        [CSAN_LEVEL_ANNOTATED] = "annotated", [CSAN_LEVEL_LIBRARY] = "copies, sets and libraries",
        [CSAN_LEVEL_OPERATOR] = "operators",  [CSAN_LEVEL_TRACED] = "traced",
        [CSAN_LEVEL_RANGES] = "ranges",       [CSAN_LEVEL_DIRECTION] = "direction",
        [CSAN_LEVEL_UNKNOWN] = "unknown"};
    const char *separator = " (";
    for (int i = 0; i < CSAN_LEVEL_COUNT; i++) {
        if (!stats->launches[i])
            continue;
        text_add(text, "%s%llu %s", separator, (unsigned long long)stats->launches[i], levels[i]);
        separator = ", ";
    }
    if (separator[0] == ',')
        text_add(text, ")");
}

/* What should be 0, and is said only when it is not. */
static void losses_add(struct text *text, const struct csan_stats *stats, uint64_t withheld)
{
    const struct {
        uint64_t count;
        const char *what;
    } losses[] = {
        {stats->suppressed, "suppressed (suppressions)"},
        {withheld, "reports withheld (report_limit)"},
        {stats->pending_timeouts, "access sets that came too late (pending_timeout_ms)"},
        {stats->pending_overflows, "access sets there was no room to wait for (pending_limit)"},
        {stats->promises_broken, "waits whose release was never seen (pending_timeout_ms)"},
        {stats->strided_dropped, "strided accesses forgotten (strided_cap)"},
        {stats->unknown_frees, "frees of unknown pool blocks"},
    };
    for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++)
        if (losses[i].count)
            text_add(text, ", %llu %s", (unsigned long long)losses[i].count, losses[i].what);
}

void report_summary(struct report_sink *sink, const struct csan_stats *stats,
                    const char *const *unmodelled, size_t unmodelled_count)
{
    struct text text = {0};
    struct entered entered = sink_enter(sink);
    text_add(&text, "csan: %llu ops", (unsigned long long)stats->ops);
    launches_add(&text, stats);
    text_add(&text, ", %llu race%s, %llu possible race%s", (unsigned long long)stats->races,
             stats->races == 1 ? "" : "s", (unsigned long long)stats->possible,
             stats->possible == 1 ? "" : "s");
    losses_add(&text, stats, sink->withheld);
    for (size_t i = 0; i < unmodelled_count; i++)
        text_add(&text, "%s%s", i ? ", " : "; not modelled: ", unmodelled[i]);
    text_add(&text, "\n");
    text_write(sink, &text);
    text_free(&text);
    sink_leave(sink, entered);
}

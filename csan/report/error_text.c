/* See error_text.h. */
#include "csan/report/error_text.h"
#include "csan/report/exception_text.h"
#include "csan/report/out_of_memory_text.h"
#include "csan/stack/symbolizer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *finding_kind_words(int race_kind)
{
    static const char *const words[CSAN_FINDING_KINDS] = {
        [CSAN_FINDING_RACE] = "data race",
        [CSAN_FINDING_REUSE] = "memory reused too early",
        [CSAN_FINDING_OUT_OF_BOUNDS] = "out of bounds",
        [CSAN_FINDING_USE_AFTER_FREE] = "use after free",
        [CSAN_FINDING_DEVICE_EXCEPTION] = "kernel failed",
        [CSAN_FINDING_UNINITIALIZED] = "uninitialized memory read",
        [CSAN_FINDING_LEAK] = "memory never freed",
        [CSAN_FINDING_WRONG_DEVICE] = "memory that the device cannot reach",
        [CSAN_FINDING_OUT_OF_MEMORY] = "out of memory",
    };
    return words[csan_finding_kind_of(race_kind)];
}

/* ---- parts of sentences */

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static const char *verb_of(int kind)
{
    static const char *const verbs[] = {[CSAN_READ] = "reads",
                                        [CSAN_WRITE] = "writes",
                                        [CSAN_ATOMIC] = "atomically updates",
                                        [CSAN_ALLOCATE] = "allocates",
                                        [CSAN_FREE] = "frees"};
    return kind >= CSAN_READ && kind <= CSAN_FREE ? verbs[kind] : "uses";
}

static void amount_add(struct text *text, uint64_t bytes)
{
    text_add(text, "%" PRIu64 " byte%s", bytes, plural(bytes));
}

/* "behind the end of 'out'": of the memory that the finding is about. */
static void where_add(struct text *text, const struct csan_race *race)
{
    const struct csan_error *error = race->error;
    switch (error->where) {
    case CSAN_WHERE_BEHIND:
        if (error->distance)
            text_add(text, "%" PRIu64 " byte%s ", error->distance, plural(error->distance));
        text_add(text, "behind the end of ");
        break;
    case CSAN_WHERE_BEFORE:
        if (error->distance)
            text_add(text, "%" PRIu64 " byte%s ", error->distance, plural(error->distance));
        text_add(text, "before the begin of ");
        break;
    case CSAN_WHERE_INSIDE:
        text_add(text, "at byte %" PRIu64 " of ", error->distance);
        break;
    default:
        break;
    }
}

/* "the 4096 bytes allocated at app.cu:8" */
static void memory_add(struct text *text, struct race_words *words, uint64_t bytes,
                       const void *const *frames, size_t count)
{
    char place[PLACE_BYTES];
    race_place(words, frames, count, "", place, sizeof place);
    text_add(text, "the ");
    amount_add(text, bytes);
    if (place[0])
        text_add(text, " allocated at %s", place);
    else
        text_add(text, " of an allocation");
}

static void own_memory_add(struct text *text, struct race_words *words,
                           const struct csan_race *race)
{
    memory_add(text, words, race->allocation_bytes, race->allocation_frames,
               race->allocation_frame_count);
}

/* A free that the driver refused. */
static bool is_free(const struct csan_race *race)
{
    return race->current.kind == CSAN_FREE;
}

/* The call by which the program learned of the failure is all that is known. */
static bool is_unknown_kernel(const struct csan_race *race)
{
    return race->kind == CSAN_RACE_DEVICE_EXCEPTION && race->current.level == CSAN_LEVEL_LIBRARY;
}

/* ---- the headline */

/* "cudaFree (app.cu:15) frees the 4096 bytes allocated at app.cu:8, which cudaFree (app.cu:14)
 * freed before" */
static void free_add(struct text *text, struct race_words *words, const struct csan_race *race)
{
    text_add(text, "%s frees ", words->current.site);
    if (race->error->distance)
        where_add(text, race);
    own_memory_add(text, words, race);
    if (race->previous.kind == CSAN_FREE)
        text_add(text, ", which %s freed before", words->previous.site);
}

static void use_after_free_add(struct text *text, struct race_words *words,
                               const struct csan_race *race)
{
    if (is_free(race)) {
        text_add(text, "freed again: ");
        free_add(text, words, race);
        return;
    }
    text_add(text, "use after free: %s %s ", words->current.site, verb_of(race->current.kind));
    amount_add(text, race->bytes);
    text_add(text, " of ");
    own_memory_add(text, words, race);
    text_add(text, ", which %s freed", words->previous.site);
}

/* Between the memory and bytes that are out of its bounds; 0: they adjoin it. */
static uint64_t distance_of(const struct csan_race *race)
{
    const uint64_t distance = race->error->distance;
    if (race->error->where == CSAN_WHERE_BEFORE)
        return distance > race->bytes ? distance - race->bytes : 0;
    return distance;
}

static void out_of_bounds_add(struct text *text, struct race_words *words,
                              const struct csan_race *race)
{
    text_add(text, "out of bounds: ");
    if (is_free(race)) {
        free_add(text, words, race);
        return;
    }
    text_add(text, "%s %s ", words->current.site, verb_of(race->current.kind));
    amount_add(text, race->bytes);
    if (distance_of(race))
        text_add(text, ", %" PRIu64, distance_of(race));
    text_add(text, distance_of(race) == 1 ? " byte" : distance_of(race) ? " bytes" : "");
    text_add(text, race->error->where == CSAN_WHERE_BEFORE ? " before the begin of "
                                                           : " behind the end of ");
    own_memory_add(text, words, race);
}

/* Without bytes it is a stream that cannot be reached. */
static void wrong_device_add(struct text *text, struct race_words *words,
                             const struct csan_race *race)
{
    const char *site = words->current.site;
    if (!race->bytes) {
        text_add(text, "stream of another context: %s", site);
        return;
    }
    text_add(text, "memory that the device cannot reach: %s %s ", site,
             verb_of(race->current.kind));
    amount_add(text, race->bytes);
    text_add(text, " of ");
    if (race->allocation_bytes)
        own_memory_add(text, words, race);
    else
        text_add(text, "the host's memory");
}

void error_sentence_add(struct text *text, struct race_words *words, const struct csan_race *race)
{
    const struct race_side *side = &words->current;
    const struct csan_error *error = race->error;
    switch (race->kind) {
    case CSAN_RACE_OUT_OF_BOUNDS:
        out_of_bounds_add(text, words, race);
        break;
    case CSAN_RACE_USE_AFTER_FREE:
        use_after_free_add(text, words, race);
        break;
    case CSAN_RACE_OUT_OF_MEMORY:
        text_add(text, "out of memory: %s ", side->site);
        if (error->out_of_memory)
            out_of_memory_asked_add(text, error->out_of_memory);
        break;
    case CSAN_RACE_UNINITIALIZED:
        text_add(text, "uninitialized memory read: %s reads ", side->site);
        amount_add(text, race->bytes);
        text_add(text, " of ");
        own_memory_add(text, words, race);
        text_add(text, ", which nothing has written");
        break;
    case CSAN_RACE_LEAK:
        text_add(text, "memory never freed: ");
        amount_add(text, error->total);
        text_add(text, " in %" PRIu64 " allocation%s by %s", error->count, plural(error->count),
                 side->site);
        break;
    case CSAN_RACE_WRONG_DEVICE:
        wrong_device_add(text, words, race);
        break;
    case CSAN_RACE_DEVICE_EXCEPTION:
        text_add(text, is_unknown_kernel(race) ? "%s in a kernel launched before %s" : "%s in %s",
                 error->exception ? error->exception : "failure", side->site);
        break;
    default:
        text_add(text, "%s: %s", finding_kind_words(race->kind), side->site);
    }
}

/* ---- the facts */

static void bytes_add(struct text *text, const struct csan_race *race)
{
    if (is_free(race))
        text_add(text, "  the address 0x%" PRIx64, race->address);
    else
        text_add(text, "  %s %s 0x%" PRIx64, race->bytes > 1 ? "bytes from" : "the byte",
                 race->bytes > 1 ? "address" : "at", race->address);
    if (race->current.arguments && race->current.arguments[0])
        text_add(text, ", through argument %s", race->current.arguments);
    text_add(text, "\n");
}

/* "writing 4 bytes at 0x7f3d46001010, 16 bytes behind the end of ..." */
static void access_add(struct text *text, struct race_words *words, const struct csan_race *race)
{
    const struct csan_error *error = race->error;
    if (!race->bytes)
        return;
    text_add(text, "  %s ",
             race->current.kind == CSAN_READ     ? "reading"
             : race->current.kind == CSAN_WRITE  ? "writing"
             : race->current.kind == CSAN_ATOMIC ? "atomically updating"
                                                 : "touching");
    amount_add(text, race->bytes);
    text_add(text, " at 0x%" PRIx64, race->address);
    if (error->where && race->allocation_bytes) {
        text_add(text, ", ");
        where_add(text, race);
        own_memory_add(text, words, race);
        text_add(text, " (0x%" PRIx64 ")", race->allocation);
    }
    if (race->current.arguments && race->current.arguments[0])
        text_add(text, ", argument %s", race->current.arguments);
    text_add(text, "\n");
}

static void size_add(struct text *text, const uint32_t size[3])
{
    text_add(text, "%u", size[0]);
    if (size[1] != 1 || size[2] != 1)
        text_add(text, "x%u", size[1]);
    if (size[2] != 1)
        text_add(text, "x%u", size[2]);
}

static void thread_add(struct text *text, struct race_words *words, const struct csan_error *error)
{
    if (error->has_thread) {
        text_add(text, "  block (%u,%u,%u), thread (%u,%u,%u)", error->block[0], error->block[1],
                 error->block[2], error->thread[0], error->thread[1], error->thread[2]);
        if (error->grid[0]) {
            text_add(text, " of grid ");
            size_add(text, error->grid);
            text_add(text, " x block ");
            size_add(text, error->block_size);
        }
        if (error->place)
            text_add(text, ", at %s", stack_path_shorten(&words->style, error->place));
        if (error->threads > 1)
            text_add(text, "; %" PRIu64 " threads met the same", error->threads);
        text_add(text, "\n");
    } else if (error->place) {
        text_add(text, "  at %s\n", stack_path_shorten(&words->style, error->place));
    }
}

static void stack_add(struct text *text, struct race_words *words, const char *title,
                      const void *const *frames, size_t count, const char *callee)
{
    if (!count)
        return;
    text_add(text, "%s:\n", title);
    race_lines_add(text, words, frames, count, callee);
}

static bool is_kernel(const struct csan_race_access *access)
{
    return access->level != CSAN_LEVEL_LIBRARY && access->kind != CSAN_ALLOCATE &&
           access->kind != CSAN_FREE && !access->host;
}

static void launch_add(struct text *text, struct race_words *words, const struct csan_race *race)
{
    const struct csan_race_access *access = &race->current;
    char created[PLACE_BYTES], title[SITE_BYTES + PLACE_BYTES];
    race_place(words, access->created_frames, access->created_frame_count, "", created,
               sizeof created);
    const char *verb = is_kernel(access)              ? "Launched"
                       : race->kind == CSAN_RACE_LEAK ? "Allocated"
                                                      : "Called";
    const char *lane = words->current.lane;
    if (access->launch_frame_count) {
        snprintf(title, sizeof title,
                 "%s as a node of a graph on %s, which was launched with "
                 "stack trace",
                 verb, lane);
        stack_add(text, words, title, access->launch_frames, access->launch_frame_count, "");
        stack_add(text, words, "The node was made with stack trace", access->frames,
                  access->frame_count, words->current.name);
        return;
    }
    if (access->host)
        snprintf(title, sizeof title, "%s with stack trace", verb);
    else
        snprintf(title, sizeof title,
                 created[0] ? "%s on %s (created at %s) with stack trace"
                            : "%s on %s with stack trace",
                 verb, lane, created);
    stack_add(text, words, title, access->frames, access->frame_count, words->current.name);
}

static void neighbour_add(struct text *text, struct race_words *words, const struct csan_race *race)
{
    const struct csan_error *error = race->error;
    if (error->neighbour_bytes) {
        text_add(text, "  They are of ");
        memory_add(text, words, error->neighbour_bytes, error->neighbour_frames,
                   error->neighbour_frame_count);
        text_add(text, " (0x%" PRIx64 ").\n", error->neighbour);
    } else if (race->kind == CSAN_RACE_OUT_OF_BOUNDS && race->allocation_bytes && !is_free(race)) {
        text_add(text, "  They are of no allocation that csan knows.\n");
    }
}

static void reported_add(struct text *text, struct race_words *words, const struct csan_race *race)
{
    const struct csan_error *error = race->error;
    struct stack_frames stack;
    char place[PLACE_BYTES];
    if (!error->reported_by) {
        if (error->code)
            text_add(text, "The program gets %s.\n", error->code);
        return;
    }
    /* The innermost frame of a runtime launch is the host function that nvcc made for the kernel:
     * it is left out. */
    race_place(words, error->reported_frames, error->reported_frame_count, words->current.name,
               place, sizeof place);
    stack_frames_resolve(&stack, &words->style, error->reported_frames, error->reported_frame_count,
                         words->current.name);
    text_add(text, "Reported to the program as %s by %s", error->code ? error->code : "an error",
             stack.entry ? stack.entry : error->reported_by);
    stack_frames_free(&stack);
    if (place[0])
        text_add(text, ", %s", place);
    if (error->launches_since)
        text_add(text, ", %" PRIu64 " launch%s later", error->launches_since,
                 error->launches_since == 1 ? "" : "es");
    text_add(text, ".\n");
}

static void name_add(struct text *text, struct race_words *words, const struct csan_race *race)
{
    if (!is_kernel(&race->current) || !words->current.name[0])
        return;
    text_add(text, "  kernel %s", words->current.name);
    if (race->current.defined)
        text_add(text, ", defined at %s", stack_path_shorten(&words->style, race->current.defined));
    text_add(text, "\n");
}

void error_facts_add(struct text *text, struct race_words *words, const struct csan_race *race)
{
    const struct csan_error *error = race->error;
    name_add(text, words, race);
    if ((race->kind == CSAN_RACE_OUT_OF_BOUNDS || race->kind == CSAN_RACE_USE_AFTER_FREE) &&
        !error->has_thread)
        bytes_add(text, race);
    else
        access_add(text, words, race);
    neighbour_add(text, words, race);
    thread_add(text, words, error);
    if (error->out_of_memory)
        out_of_memory_facts_add(text, words, error->out_of_memory);
    if (error->detail && error->detail[0])
        text_add(text, "  %s\n", error->detail);
    launch_add(text, words, race);
    if (race->allocation_frame_count)
        stack_add(text, words, "The memory was allocated with stack trace", race->allocation_frames,
                  race->allocation_frame_count, "");
    if (race->previous.kind == CSAN_FREE)
        stack_add(text, words, "It was freed with stack trace", race->previous.frames,
                  race->previous.frame_count, words->previous.name);
    reported_add(text, words, race);
    text_add(text, "Cause: ");
    error_cause_add(text, race);
    text_add(text, ".\nFix: ");
    error_fix_add(text, race);
    text_add(text, ".\n");
}

/* ---- cause and fix */

void error_cause_add(struct text *text, const struct csan_race *race)
{
    const struct csan_error *error = race->error;
    if (race->kind == CSAN_RACE_WRONG_DEVICE) {
        text_add(
            text, "%s",
            !race->bytes ? "the stream is of another context than the one that is current at "
                           "the call"
            : race->allocation_bytes
                ? "the memory is of another device, and nothing lets this one access it"
                : "the kernel is given a pointer to memory of the host that CUDA does not know");
    } else if (is_free(race)) {
        text_add(text, race->previous.kind == CSAN_FREE
                           ? "the memory was freed before, and nothing was allocated there since"
                           : "only the address that an allocation gave frees it");
    } else if (race->kind == CSAN_RACE_USE_AFTER_FREE) {
        text_add(text, "the memory was freed before the call");
    } else if (race->kind == CSAN_RACE_OUT_OF_BOUNDS) {
        text_add(text, distance_of(race) ? "the access lies " : "the access reaches ");
        amount_add(text, distance_of(race) ? distance_of(race) : race->bytes);
        text_add(text, error->where == CSAN_WHERE_BEFORE ? " before" : " behind");
        text_add(text, distance_of(race) ? " the memory that its pointer is of"
                                         : " the memory that it is of");
    } else if (race->kind == CSAN_RACE_DEVICE_EXCEPTION) {
        if (race->previous.kind == CSAN_FREE)
            text_add(text, "the memory was freed before the kernel used it");
        else if (is_unknown_kernel(race))
            text_add(text, "the call returned the error of a kernel that had failed before it");
        else if (exception_cause_add(text, race))
            return;
        else if (error->where == CSAN_WHERE_BEHIND || error->where == CSAN_WHERE_BEFORE)
            text_add(text, "the address is outside of the memory nearest to it");
        else if (race->bytes && !error->where)
            text_add(text, "the address is near no memory that csan knows");
        else
            text_add(text, "the kernel met: %s", error->exception ? error->exception : "a failure");
    } else if (race->kind == CSAN_RACE_UNINITIALIZED) {
        text_add(text,
                 "no kernel, copy or set has written the bytes since the memory was allocated");
    } else if (error->out_of_memory) {
        out_of_memory_cause_add(text, error->out_of_memory);
    } else if (race->kind == CSAN_RACE_LEAK) {
        text_add(text, "nothing had freed the memory when the program ended");
    } else {
        text_add(text, "%s", finding_kind_words(race->kind));
    }
}

void error_fix_add(struct text *text, const struct csan_race *race)
{
    if (race->error->out_of_memory) {
        out_of_memory_fix_add(text, race->error->out_of_memory);
        return;
    }
    switch (race->kind) {
    case CSAN_RACE_USE_AFTER_FREE:
        text_add(text, is_free(race) ? "free the memory once, in one place"
                                     : "free the memory after the last use of it");
        return;
    case CSAN_RACE_OUT_OF_BOUNDS:
        if (is_free(race)) {
            text_add(text, "pass the address that the allocation gave");
            return;
        }
        text_add(text, "check the %s against the size of the allocation, or allocate more",
                 is_kernel(&race->current) ? "index and the size of the launch"
                                           : "address and the size that the call is given");
        return;
    case CSAN_RACE_DEVICE_EXCEPTION:
        if (race->previous.kind == CSAN_FREE)
            text_add(text, "free the memory after the last use of it");
        else if (is_unknown_kernel(race))
            text_add(text, "find out which kernel it was: run the program again with "
                           "--options=access=ptx, or with --blocking");
        else if (exception_fix_add(text, race))
            return;
        else if (race->error->where)
            text_add(text, "check the index in that thread against the size of the allocation");
        else if (race->error->has_thread)
            text_add(text, "look at what that thread does in that line");
        else
            text_add(text, "look at what the kernel does in that line");
        return;
    case CSAN_RACE_UNINITIALIZED:
        text_add(text, "write or set the bytes before the read");
        return;
    case CSAN_RACE_LEAK:
        text_add(text, "free what is allocated there when it is not needed any more, at the latest "
                       "before the program ends");
        return;
    case CSAN_RACE_WRONG_DEVICE:
        text_add(text, "%s",
                 !race->bytes ? "make the stream's context current before the call (cudaSetDevice, "
                                "cuCtxSetCurrent)"
                 : race->allocation_bytes
                     ? "enable access to that device (cudaDeviceEnablePeerAccess; of a pool: "
                       "cudaMemPoolSetAccess; of mapped memory: cuMemSetAccess), or copy the data"
                     : "copy the data to memory of cudaMalloc, or allocate it by cudaMallocHost or "
                       "cudaMallocManaged");
        return;
    default:
        text_add(text, "use or hold less memory");
    }
}

/* Compares access sets with traces. See range_verifier.h. */
#include "runtime/hook/observe/range_verifier.h"
#include "csan/base/text.h"
#include "runtime/access/verify.h"
#include "runtime/hook/session/session.h"
#include "csan/base/lock_order.h"
#include "runtime/trace/object_address.h"

#include <stdlib.h>
#include <string.h>
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

struct range_verifier_case {
    struct kernel *kernel; /* retained: the set names its variables */
    uint32_t grid[3], block[3];
    struct access_set set; /* a copy, with all but its text */
    struct verify_base *bases;
    const char **arguments; /* of the bases; the texts are the kernel's */
};

/* Worst last: bounds as scripts read them. */
enum grade {
    GRADE_EXACT,
    GRADE_GUARD,
    GRADE_SHAPE,
    GRADE_DATA,
    GRADE_BUDGET,
    GRADE_DIRECTION,
    GRADE_UNKNOWN,
    GRADE_COUNT
};

static const char *const grade_words[GRADE_COUNT] = {"exact",  "guard",     "shape",  "data",
                                                     "budget", "direction", "unknown"};

static const uint8_t grade_of_bound[] = {
    [ACCESS_EXACT] = GRADE_EXACT,       [ACCESS_BOUND_DIRECTION] = GRADE_DIRECTION,
    [ACCESS_BOUND_DATA] = GRADE_DATA,   [ACCESS_BOUND_GUARD] = GRADE_GUARD,
    [ACCESS_BOUND_SHAPE] = GRADE_SHAPE, [ACCESS_BOUND_BUDGET] = GRADE_BUDGET,
};

/* The worst that was known of a pointer argument. */
struct pointer {
    char *argument;
    enum grade grade;
    bool open; /* a range that is not exact has no end of its own */
};

/* A kernel name's record; kernels of one name share it. */
struct record {
    const char *name; /* interned */
    uint64_t launches, incomplete, not_verified;
    struct pointer *pointers;
    size_t pointer_count;
    UT_hash_handle hh;
};

static struct {
    pthread_mutex_t mutex;
    struct record *records;
    bool wrong;
} verifier = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* ---- Cases ---- */

static void case_free(struct range_verifier_case *verified)
{
    for (uint32_t i = 0; verified->set.ranges && i < verified->set.range_count; i++)
        free((void *)verified->set.ranges[i].dims);
    free((void *)verified->set.ranges);
    free((void *)verified->set.bases);
    free(verified->bases);
    free(verified->arguments);
    kernel_description_release(verified->kernel);
    free(verified);
}

static void *copy_of(const void *from, size_t bytes)
{
    void *copy = malloc(bytes ? bytes : 1);
    if (copy && bytes)
        memcpy(copy, from, bytes);
    return copy;
}

static bool copy_set(struct range_verifier_case *verified, const struct access_set *set)
{
    struct access_range *ranges = copy_of(set->ranges, set->range_count * sizeof *ranges);
    bool copied = ranges != NULL;
    verified->set = *set;
    verified->set.reason = "";
    verified->set.bases = copy_of(set->bases, set->base_count * sizeof *set->bases);
    verified->set.ranges = ranges;
    for (uint32_t i = 0; ranges && i < set->range_count; i++) {
        if (ranges[i].bound == ACCESS_BOUND_DIRECTION && ranges[i].bytes == ACCESS_TO_END)
            ranges[i].bytes =
                ACCESS_WHOLE; /* kernels may go backwards: a guess, and known as one */
        ranges[i].dims = copy_of(set->ranges[i].dims, ranges[i].dim_count * sizeof *ranges[i].dims);
        copied = copied && ranges[i].dims;
    }
    return copied && verified->set.bases;
}

/* From the first to the last byte under an object: all that it may touch. */
static void object_hull(const struct object_memory *object, uint64_t *start, uint64_t *bytes)
{
    if (object->bytes == CSAN_TO_END)
        return;
    *start = object->base;
    *bytes = object->bytes;
    for (uint8_t i = 0; i < object->dim_count; i++)
        *bytes += (uint64_t)object->dims[i].stride * (object->dims[i].count - 1);
}

static struct verify_base base_verified(const struct access_base *base,
                                        const struct launch_pointer *found)
{
    struct verify_base to = {.address = found->address,
                             .absent = found->state != LAUNCH_POINTER_KNOWN,
                             .unwatched = base->variable && base->kind == ACCESS_BASE_VARIABLE &&
                                          base->variable->space == PTX_SPACE_CONST};
    uint64_t start = found->start, bytes = found->end - found->start;
    if (!found->placed && !csan_memory_find(session_context(), to.address, &start, &bytes, NULL))
        bytes = 0;
    if (found->object)
        object_hull(found->object, &start, &bytes);
    to.allocation = start;
    to.bytes = bytes;
    return to;
}

struct range_verifier_case *range_verifier_take(struct kernel *kernel,
                                                const struct launch_accesses_launch *launch,
                                                const struct launch_accesses_touched *touched)
{
    const struct access_set *set = touched->set;
    struct range_verifier_case *verified = set ? calloc(1, sizeof *verified) : NULL;
    if (!verified)
        return NULL;
    verified->kernel = kernel_description_retain(kernel);
    memcpy(verified->grid, launch->grid, sizeof verified->grid);
    memcpy(verified->block, launch->block, sizeof verified->block);
    verified->bases = calloc(set->base_count + 1, sizeof *verified->bases);
    verified->arguments = calloc(set->base_count + 1, sizeof *verified->arguments);
    if (!copy_set(verified, set) || !verified->bases || !verified->arguments ||
        touched->base_count != set->base_count) {
        case_free(verified);
        return NULL;
    }
    for (uint32_t i = 0; i < set->base_count; i++) {
        verified->bases[i] = base_verified(&set->bases[i], &touched->bases[i]);
        uint16_t argument = touched->bases[i].argument;
        verified->arguments[i] =
            argument < kernel->argument_count ? kernel->arguments[argument] : "?";
        if (touched->bases[i].state == LAUNCH_POINTER_UNKNOWN)
            verified->set.complete = verified->set.exact = false;
    }
    return verified;
}

/* ---- Records ---- */

/* With the mutex held. */
static struct record *record_of(struct kernel *kernel)
{
    struct record *record = NULL;
    HASH_FIND_PTR(verifier.records, &kernel->name, record);
    if (record || !(record = calloc(1, sizeof *record)))
        return record;
    record->name = kernel->name;
    HASH_ADD_PTR(verifier.records, name, record);
    return record;
}

static void grade_note(struct record *record, const char *argument, enum grade grade, bool open)
{
    size_t i = 0;
    while (i < record->pointer_count && strcmp(record->pointers[i].argument, argument) != 0)
        i++;
    if (i == record->pointer_count) {
        char *copy = strdup(argument);
        struct pointer *grown = copy ? realloc(record->pointers, (i + 1) * sizeof *grown) : NULL;
        if (!grown) {
            free(copy);
            return;
        }
        record->pointers = grown;
        record->pointers[record->pointer_count++] = (struct pointer){copy, grade, open};
    }
    if (record->pointers[i].grade < grade)
        record->pointers[i].grade = grade;
    record->pointers[i].open |= open;
}

/* Whether an inexact range reaches an end of the allocation only by being cut to it. */
static bool range_open(const struct access_range *range, const struct verify_base *base)
{
    if (range->bytes >= ACCESS_WHOLE)
        return true;
    if (range->bound == ACCESS_EXACT || !base->bytes)
        return false;
    __int128 first = (__int128)base->address + range->offset, end = first + range->bytes;
    for (uint32_t i = 0; i < range->dim_count; i++) {
        const struct access_dim *dim = &range->dims[i];
        __int128 last = dim->count ? (__int128)dim->stride * (dim->count - 1) : 0;
        first += last < 0 ? last : 0;
        end += last > 0 ? last : 0;
    }
    return first < base->allocation || end > (__int128)base->allocation + base->bytes;
}

static void record_case(const struct range_verifier_case *verified, enum verify_verdict verdict,
                        bool coarse)
{
    const struct access_set *set = &verified->set;
    lock_order_take(LOCK_RANGE_VERIFIER, &verifier.mutex);
    struct record *record = record_of(verified->kernel);
    if (record) {
        record->launches++;
        record->incomplete += !set->complete;
        record->not_verified += verdict == VERIFY_TOO_LARGE || (coarse && verdict == VERIFY_AGREES);
        for (uint32_t i = 0; i < set->base_count; i++)
            grade_note(record, verified->arguments[i],
                       verified->bases[i].absent && verified->bases[i].address ? GRADE_UNKNOWN
                                                                               : GRADE_EXACT,
                       false);
        for (uint32_t i = 0; i < set->range_count; i++) {
            const struct access_range *range = &set->ranges[i];
            grade_note(record, verified->arguments[range->base],
                       range->bound < sizeof grade_of_bound
                           ? (enum grade)grade_of_bound[range->bound]
                           : GRADE_UNKNOWN,
                       range_open(range, &verified->bases[range->base]));
        }
    }
    verifier.wrong |= verdict == VERIFY_DISAGREES;
    lock_order_give(LOCK_RANGE_VERIFIER, &verifier.mutex);
}

/* ---- Judgement ---- */

/* The base that an address belongs to, or base_count. */
static uint32_t base_around(const struct range_verifier_case *verified, uint64_t address)
{
    uint32_t i = 0;
    while (i < verified->set.base_count &&
           address - verified->bases[i].allocation >= verified->bases[i].bytes)
        i++;
    return i;
}

static void disagreement_say(const struct range_verifier_case *verified,
                             const struct verify_disagreement *what)
{
    static const char *const kinds[] = {"?", "read", "write", "atomic"};
    const struct kernel *kernel = verified->kernel;
    bool unsound = what->fault == VERIFY_UNSOUND;
    const struct access_range *range = unsound ? NULL : &verified->set.ranges[what->range];
    uint32_t base = range ? range->base : base_around(verified, what->address);
    bool known = base < verified->set.base_count;
    int64_t from = (int64_t)(what->address - (known ? verified->bases[base].address : 0));
    session_note("ranges are wrong: kernel %s: argument %s, %s: bytes %lld to %lld from it %s; PTX "
                 "line %u; grid %u %u %u, block %u %u %u",
                 kernel->name, known ? verified->arguments[base] : "(none)",
                 kinds[what->kind <= 3 ? what->kind : 0], (long long)from,
                 (long long)(from + (int64_t)what->bytes - 1),
                 unsound ? "were touched, and no range has them"
                         : "were not touched, and an exact range has them",
                 range ? range->line : 0, verified->grid[0], verified->grid[1], verified->grid[2],
                 verified->block[0], verified->block[1], verified->block[2]);
}

/* Descriptions of objects, and the heap of kernels, which csan does not know. */
static bool is_no_range_s(const struct range_verifier_case *verified, uint64_t address)
{
    return object_is_description(address) ||
           (verified->kernel->uses_heap &&
            !csan_memory_find(session_context(), address, NULL, NULL, NULL));
}

static struct verify_touch *touches_of(const struct range_verifier_case *verified,
                                       const struct device_trace_launch *trace, size_t *count)
{
    struct verify_touch *touches = calloc(trace->count + 1, sizeof *touches);
    *count = 0;
    for (size_t i = 0; touches && i < trace->count; i++) {
        const struct device_trace_range *range = &trace->ranges[i];
        if (is_no_range_s(verified, range->address))
            continue;
        touches[*count] = (struct verify_touch){.address = range->address,
                                                .bytes = range->bytes,
                                                .kind = ACCESS_READ + range->kind,
                                                .dims = range->dims};
        memcpy(touches[*count].stride, range->stride, sizeof range->stride);
        memcpy(touches[*count].count, range->count, sizeof range->count);
        ++*count;
    }
    return touches;
}

_Static_assert(ACCESS_READ + DEVICE_TRACE_WRITE == ACCESS_WRITE &&
                   ACCESS_READ + DEVICE_TRACE_ATOMIC == ACCESS_ATOMIC,
               "kinds follow each other alike");

void range_verifier_decide(struct range_verifier_case *verified,
                           const struct device_trace_launch *trace, bool any_strength)
{
    struct verify_result result = {.verdict = VERIFY_TOO_LARGE};
    if (!verified)
        return;
    size_t count;
    struct verify_touch *touches = touches_of(verified, trace, &count);
    if (touches)
        verify_check(&(struct verify_case){.set = &verified->set,
                                           .bases = verified->bases,
                                           .touches = touches,
                                           .touch_count = count,
                                           .unfinished = trace->failed != 0,
                                           .coarse = trace->inexact,
                                           .any_strength = any_strength},
                     &result);
    free(touches);
    for (uint32_t i = 0; i < result.count; i++)
        disagreement_say(verified, &result.disagreements[i]);
    record_case(verified, result.verdict, trace->inexact);
    case_free(verified);
}

void range_verifier_drop(struct range_verifier_case *verified)
{
    if (!verified)
        return;
    record_case(verified, VERIFY_TOO_LARGE, false);
    case_free(verified);
}

/* ---- The end ---- */

static void record_say(const struct record *record)
{
    struct text pointers = {0};
    unsigned counts[GRADE_COUNT] = {0};
    for (size_t i = 0; i < record->pointer_count; i++) {
        enum grade grade = record->pointers[i].grade;
        counts[grade]++;
        text_add(&pointers, "%s %s %s%s", pointers.length ? "," : ";", record->pointers[i].argument,
                 grade_words[grade],
                 record->pointers[i].open && grade != GRADE_EXACT ? " open" : "");
    }
    session_note(
        "ranges: %s: %llu launches, %llu incomplete, %llu not judged, pointers: %u exact, "
        "%u bounded, %u unknown%s",
        record->name, (unsigned long long)record->launches, (unsigned long long)record->incomplete,
        (unsigned long long)record->not_verified, counts[GRADE_EXACT],
        counts[GRADE_GUARD] + counts[GRADE_SHAPE] + counts[GRADE_DATA] + counts[GRADE_BUDGET],
        counts[GRADE_DIRECTION] + counts[GRADE_UNKNOWN], pointers.data ? pointers.data : "");
    text_free(&pointers);
}

bool range_verifier_summarize(void)
{
    struct record *record, *next;
    lock_order_take(LOCK_RANGE_VERIFIER, &verifier.mutex);
    HASH_ITER(hh, verifier.records, record, next)
    {
        record_say(record);
    }
    bool wrong = verifier.wrong;
    lock_order_give(LOCK_RANGE_VERIFIER, &verifier.mutex);
    return wrong;
}

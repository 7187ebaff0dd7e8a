/* Launches that were answered while operators rest, and are made again: by a program's loop, most
 * are. With the same bytes passed, the same blocks behind each word that may be a pointer, and the
 * same summaries the answer is the same. To see that takes less than to make a key of thousands of
 * bytes and look it up.
 *
 * Bytes that the kernel does not read need not be the same. It takes longer to find out which bytes
 * these are than to compare the others. So an answer is first looked for by a few bytes that the
 * kernel always reads. Then what it reads is compared in the program's memory.
 *
 * Nor need words that do not count for the summary, such as the state of a random generator. They
 * may be any, but for those that lead into memory.
 *
 * An answer is kept once a launch has come twice, so that what never comes again costs little. The
 * table is bounded; of one place the answer that was used longest ago goes. */
#include "csan/base/array.h"
#include "csan/base/hash.h"
#include "csan/detector/context.h"
#include "runtime/hook/operator/operator_summary_state.h"
#include "runtime/hook/operator/passed_bytes.h"
#include "runtime/hook/session/session.h"

#include <stdlib.h>
#include <string.h>

enum {
    PLACES = 4096, /* powers of two */
    WAYS = 4,
    SEEN = 32768,
    BY_SAMPLES = 16384,
    SAMPLE_WAYS = 2, /* launches that pass the same, but lead elsewhere */
    SAMPLED_KERNELS_MOST = 1 << 16,
    FIRST_BYTES = 512, /* of the parameters, and the last ones: what a hash is made of */
    LAST_BYTES = 64,
    AT_ONCE = 64,      /* words whose blocks are asked for together */
    IGNORED_MOST = 16, /* pieces of eight bytes with words that do not count */
    BYTES_MOST = 32 << 20
};

/* How it is launched. */
struct way {
    uint32_t grid[3], block[3], cluster[3], shared;
};

/* One launch and its answer, in one piece of memory. */
struct repeated {
    uint64_t hash, sample_hash, kernel, version, used;
    struct way way;
    struct range span;
    size_t bytes;   /* of this piece */
    uint32_t users; /* threads that use it; one more while it is in the table */
    struct summary_used summary;
    const struct csan_operator *what; /* NULL: several */
    uint32_t parameter_bytes, word_count, access_count, dim_count;
    uint64_t *words;      /* that lie within the span, */
    struct range *blocks; /* and where they lead */
    struct csan_access *accesses;
    struct csan_dim *dims;
    uint8_t *parameters; /* without what is not read */
    struct passed_bytes passed;
    struct passed_eight *ignored; /* not, or in part, among these bytes */
    uint32_t ignored_count;
};

/* With the summaries' lock. */
static struct {
    struct repeated *table[PLACES][WAYS];
    struct repeated *by_samples[BY_SAMPLES][SAMPLE_WAYS]; /* by sample_hash, the newest first */
    struct passed_sample **samples; /* by the kernel's number; NULL: none was kept */
    size_t sample_room;
    uint32_t seen[SEEN]; /* hashes of launches that came lately */
    uint64_t tick;
    size_t bytes;
} own;

static struct way way_of_launch(const struct learn_launch *launch)
{
    struct way way = {.shared = launch->shared};
    memcpy(way.grid, launch->grid, sizeof way.grid);
    memcpy(way.block, launch->block, sizeof way.block);
    memcpy(way.cluster, launch->cluster, sizeof way.cluster);
    return way;
}

static uint64_t passed_hash(const struct kernel *kernel, const struct learn_launch *launch)
{
    const struct way way = way_of_launch(launch);
    const uint32_t bytes = launch->parameter_bytes;
    const uint32_t first = bytes < FIRST_BYTES ? bytes : FIRST_BYTES;
    const uint32_t last = bytes - first < LAST_BYTES ? bytes - first : LAST_BYTES;
    const uint8_t *parameters = launch->parameters;
    uint64_t hash = hash_mix_bytes(kernel->number, &way, sizeof way);
    hash = hash_mix(hash, hash_memory(parameters, first));
    hash = hash_mix(hash, hash_memory(parameters + bytes - last, last));
    return hash ? hash : 1;
}

static bool is_passed(const struct repeated *repeated, const struct kernel *kernel,
                      const struct learn_launch *launch)
{
    const struct way way = way_of_launch(launch);
    return repeated->kernel == kernel->number && memcmp(&repeated->way, &way, sizeof way) == 0 &&
           repeated->parameter_bytes == launch->parameter_bytes &&
           (!launch->parameter_bytes ||
            memcmp(repeated->parameters, launch->parameters, launch->parameter_bytes) == 0);
}

/* With the lock. */
static void let_go(struct repeated *repeated)
{
    if (--repeated->users)
        return;
    own.bytes -= repeated->bytes;
    free(repeated);
}

static struct repeated **place_of(uint64_t hash)
{
    return own.table[hash >> 32 & (PLACES - 1)];
}

/* ---- Finding ---- */

static bool is_in_span(uint64_t word, struct range span)
{
    return word && word - span.start <= span.end - span.start;
}

/* Whether each word leads where it led. */
static bool leads_there(const struct repeated *repeated)
{
    struct range blocks[AT_ONCE];
    for (uint32_t i = 0; i < repeated->word_count; i += AT_ONCE) {
        const uint32_t left = repeated->word_count - i, count = left < AT_ONCE ? left : AT_ONCE;
        context_pointees(session_context(), repeated->words + i, count, blocks);
        if (memcmp(blocks, repeated->blocks + i, count * sizeof *blocks) != 0)
            return false;
    }
    return true;
}

/* ---- By samples, with the lock ---- */

static struct repeated **sample_place(uint64_t hash)
{
    return own.by_samples[hash >> 32 & (BY_SAMPLES - 1)];
}

static void samples_forget(struct repeated *repeated)
{
    struct repeated **place = sample_place(repeated->sample_hash);
    for (int i = 0; i < SAMPLE_WAYS; i++)
        if (place[i] == repeated)
            place[i] = NULL;
}

static void samples_put_first(struct repeated *repeated)
{
    struct repeated **place = sample_place(repeated->sample_hash);
    if (place[0] == repeated)
        return;
    place[1] = place[0];
    place[0] = repeated;
}

/* The other one of its place may lead where it does not. */
static void samples_put_last(const struct repeated *repeated)
{
    struct repeated **place = sample_place(repeated->sample_hash);
    if (place[0] != repeated)
        return;
    struct repeated *other = place[1];
    place[1] = place[0];
    place[0] = other;
}

/* False: nothing was kept of the kernel. */
static bool samples_hash(const struct kernel *kernel, const struct way *way,
                         const struct learning_passed *passed, uint64_t *hash)
{
    const struct passed_sample *sample =
        kernel->number < own.sample_room ? own.samples[kernel->number] : NULL;
    *hash = hash_mix_bytes(kernel->number, way, sizeof *way);
    return sample && passed_sample_hash(sample, passed, hash);
}

/* Whether what is not compared leads nowhere, as it did. */
static bool ignored_lead_nowhere(const struct repeated *repeated,
                                 const struct learning_passed *passed)
{
    for (uint32_t i = 0; i < repeated->ignored_count; i++) {
        uint64_t word;
        if (!passed_eight_value(&repeated->ignored[i], passed, &word) ||
            is_in_span(word, repeated->span))
            return false;
    }
    return true;
}

/* A kept launch that has what this one passes, but for one that leads elsewhere; NULL: none has. */
static struct repeated *samples_find(const struct kernel *kernel, const struct way *way,
                                     const struct learning_passed *passed,
                                     const struct repeated *except)
{
    uint64_t hash;
    const struct repeated *other = NULL;
    if (!samples_hash(kernel, way, passed, &hash))
        return NULL;
    for (int i = 0; i < SAMPLE_WAYS; i++) {
        struct repeated *found = sample_place(hash)[i];
        if (!found || found == except || found->sample_hash != hash ||
            found->kernel != kernel->number || memcmp(&found->way, way, sizeof *way) != 0 ||
            found->version != summaries_version(operator_summary_own.summaries))
            continue;
        if (passed_bytes_are(&found->passed, passed))
            return ignored_lead_nowhere(found, passed) ? found : NULL;
        other = found;
    }
    if (other)
        passed_sample_add(own.samples[kernel->number], &other->passed, passed);
    return NULL;
}

/* The thread's launch is one of it. */
static void samples_note(struct repeated *repeated, const struct thread *thread)
{
    uint64_t hash;
    if (repeated->passed.run_count &&
        samples_hash(thread->kernel, &repeated->way, &thread->passed, &hash)) {
        if (repeated->sample_hash != hash)
            samples_forget(repeated);
        repeated->sample_hash = hash;
        samples_put_first(repeated);
    }
}

static struct passed_sample *sample_of(const struct kernel *kernel)
{
    if (!array_reach(&own.samples, kernel->number, &own.sample_room, 64, SAMPLED_KERNELS_MOST,
                     sizeof(struct passed_sample *)))
        return NULL;
    struct passed_sample **sample = &own.samples[kernel->number];
    if (!*sample)
        *sample = calloc(1, sizeof **sample);
    return *sample;
}

/* With the lock. It has one user less, unless another thread was faster. */
static void table_remove(struct repeated *repeated)
{
    struct repeated **place = place_of(repeated->hash);
    for (int i = 0; i < WAYS; i++)
        if (place[i] == repeated) {
            place[i] = NULL;
            samples_forget(repeated);
            let_go(repeated);
        }
}

/* From a way on, which is then the next one. With the lock. */
static struct repeated *table_find(uint64_t hash, const struct kernel *kernel,
                                   const struct learn_launch *launch, int *way)
{
    struct repeated **place = place_of(hash);
    const uint64_t version = summaries_version(operator_summary_own.summaries);
    while (*way < WAYS) {
        struct repeated *repeated = place[(*way)++];
        if (!repeated || repeated->hash != hash || !is_passed(repeated, kernel, launch))
            continue;
        if (repeated->version == version)
            return repeated;
        table_remove(repeated);
    }
    return NULL;
}

/* The thread uses it. With the lock. */
static void repeated_use(struct repeated *repeated)
{
    repeated->users++;
    repeated->used = ++own.tick;
    summaries_find_again(operator_summary_own.summaries, &repeated->summary);
}

/* It is the thread's, if it leads where the launch does. Pools that split their memory in turns
 * give one address to blocks of several sizes, so it may do so again. */
static void repeated_take(struct thread *thread, struct repeated *repeated)
{
    const struct range span = context_span(session_context());
    const bool spans = memcmp(&repeated->span, &span, sizeof span) == 0;
    if (spans && leads_there(repeated)) {
        thread->repeated = repeated;
        return;
    }
    operator_summary_lock();
    if (spans)
        samples_put_last(repeated);
    else
        table_remove(repeated); /* it will be kept as it is now */
    let_go(repeated);
    operator_summary_unlock();
}

/* A copy of what was passed, with room for marks and for another copy. */
static void passed_keep(struct thread *thread, const struct learning_passed *passed)
{
    if (!array_reserve(&thread->passed_room, 3 * (size_t)passed->bytes, &thread->passed_capacity,
                       256, SIZE_MAX, 1) ||
        !passed->bytes || !learning_copy_passed(passed, thread->passed_room))
        return;
    thread->passed =
        (struct learning_passed){passed->layout, NULL, thread->passed_room, passed->bytes};
}

void operator_summary_repeated_find_passed(struct thread *thread, CUfunction function,
                                           const struct launch_accesses_launch *what)
{
    struct learning_passed passed;
    struct way way = {.shared = what->shared};
    thread->passed.bytes = 0;
    if (!learning_find_passed(thread->kernel, function, what, &passed) ||
        !learning_points_by_parameters(thread->kernel))
        return;
    memcpy(way.grid, what->grid, sizeof way.grid);
    memcpy(way.block, what->block, sizeof way.block);
    memcpy(way.cluster, what->cluster, sizeof way.cluster);
    struct repeated *repeated = NULL;
    for (int i = 0; i < SAMPLE_WAYS && !thread->repeated; i++) {
        operator_summary_lock();
        repeated = samples_find(thread->kernel, &way, &passed, repeated);
        if (repeated)
            repeated_use(repeated);
        operator_summary_unlock();
        if (!repeated)
            break;
        repeated_take(thread, repeated);
    }
    if (!thread->repeated)
        passed_keep(thread, &passed);
}

void operator_summary_repeated_find(struct thread *thread, const struct learning *launch)
{
    thread->passed_hash = 0;
    if (!learning_points_by_parameters(thread->kernel))
        return;
    const uint64_t hash = passed_hash(thread->kernel, &launch->launch);
    thread->passed_hash = hash;
    for (int next = 0; next < WAYS && !thread->repeated;) {
        operator_summary_lock();
        struct repeated *repeated = table_find(hash, thread->kernel, &launch->launch, &next);
        if (repeated) {
            repeated_use(repeated);
            samples_note(repeated, thread);
        }
        operator_summary_unlock();
        if (repeated)
            repeated_take(thread, repeated);
    }
}

/* ---- Keeping ---- */

/* Whether the launch came before; notes it. */
static bool came_before(uint64_t hash)
{
    uint32_t *seen = &own.seen[hash & (SEEN - 1)];
    const uint32_t mark = (uint32_t)(hash >> 16);
    const bool before = *seen == mark;
    *seen = mark;
    return before;
}

/* Where a word that is no pointer, but within the span, leads: nowhere. */
static struct range block_of(const struct thread *thread, uint32_t offset)
{
    const struct learn_anchor *anchor = operator_summary_anchor_of(thread, offset / 8);
    if (!anchor || anchor->offset != offset)
        return (struct range){0, 0};
    return (struct range){anchor->block.start, anchor->block.end};
}

static void word_add(struct repeated *to, uint32_t *count, uint64_t word, struct range block)
{
    if (to) {
        to->words[*count] = word;
        to->blocks[*count] = block;
    }
    ++*count;
}

/* The tensor map there, or behind; NULL: none is. Anchors of maps are by offset. */
static const struct learn_anchor *map_from(const struct learn_launch *launch, uint32_t offset)
{
    for (uint32_t i = 0; i < launch->anchor_count; i++)
        if (launch->anchors[i].kind == LEARN_TENSOR_MAP &&
            launch->anchors[i].offset + launch->anchors[i].bytes > offset)
            return &launch->anchors[i];
    return NULL;
}

/* Of a tensor map's bytes, which are the same as before, only its address counts. */
static uint32_t words_take(const struct thread *thread, struct range span, struct repeated *to)
{
    const struct learn_launch *launch = &thread->launch->launch;
    const uint8_t *parameters = launch->parameters;
    const struct learn_anchor *map = map_from(launch, 0);
    uint32_t count = 0;
    for (uint32_t at = 0; at + 8 <= launch->parameter_bytes;) {
        uint64_t word;
        if (map && at >= map->offset) {
            word_add(to, &count, map->address, (struct range){map->block.start, map->block.end});
            at = map->offset + map->bytes;
            map = map_from(launch, at);
            continue;
        }
        memcpy(&word, parameters + at, sizeof word);
        if (is_in_span(word, span))
            word_add(to, &count, word, block_of(thread, at));
        at += 8;
    }
    return count;
}

static uint32_t dims_count(const struct launch_accesses_touched *touched)
{
    uint32_t count = 0;
    for (size_t i = 0; i < touched->access_count; i++)
        count += touched->accesses[i].dim_count;
    return count;
}

/* The marks of what is compared of the thread's launch, and what is ignored. */
struct compared {
    uint8_t *marks;
    struct passed_eight ignored[IGNORED_MOST];
    uint32_t ignored_count;
};

/* Whether eight bytes are no pointer, nor in a tensor map. */
static bool leads_nowhere(const struct thread *thread, uint32_t at, uint64_t value)
{
    const struct learn_launch *launch = &thread->launch->launch;
    const struct learn_anchor *map = map_from(launch, at);
    return !operator_summary_anchor_of(thread, at / 8) && (!map || at + 8 <= map->offset) &&
           !is_in_span(value, context_span(session_context()));
}

static bool word_counts(const struct thread *thread, const struct summary_used *used, uint32_t word)
{
    return summaries_word_counts(used, word) || learning_word_decides(thread->kernel, word);
}

/* Takes the marks of words that do not count. */
static void words_ignore(const struct thread *thread, const struct summary_used *used,
                         struct compared *compared)
{
    const struct learning_passed *passed = &thread->passed;
    for (uint32_t at = 0; at < passed->bytes && compared->ignored_count < IGNORED_MOST; at += 8) {
        const bool counts[] = {word_counts(thread, used, at / 4),
                               word_counts(thread, used, at / 4 + 1)};
        struct passed_eight *eight = &compared->ignored[compared->ignored_count];
        uint64_t value;
        if ((counts[0] && counts[1]) || !passed_eight_make(passed, compared->marks, at, eight) ||
            !passed_eight_value(eight, passed, &value) || !leads_nowhere(thread, at, value))
            continue;
        bool any = false;
        for (uint32_t i = 0; i < 2; i++)
            if (!counts[i] && eight->halves[i].bytes) {
                memset(compared->marks + eight->halves[i].offset, 0, 4);
                any = true;
            }
        compared->ignored_count += any;
    }
}

/* Without what is ignored: the last part of the thread's room has another copy. */
static uint64_t hash_without(const struct thread *thread, const struct compared *compared)
{
    struct learn_launch launch = thread->launch->launch;
    if (!compared->ignored_count || launch.parameter_bytes > thread->passed.bytes)
        return thread->passed_hash;
    uint8_t *copy = thread->passed_room + 2 * (size_t)thread->passed.bytes;
    memcpy(copy, launch.parameters, launch.parameter_bytes);
    for (uint32_t i = 0; i < compared->ignored_count; i++)
        for (uint32_t k = 0; k < 2; k++) {
            const struct passed_run *half = &compared->ignored[i].halves[k];
            if (half->bytes && !compared->marks[half->offset] &&
                half->offset + 4 <= launch.parameter_bytes)
                memset(copy + half->offset, 0, 4);
        }
    launch.parameters = copy;
    return passed_hash(thread->kernel, &launch);
}

/* NULL: memory is short. */
static struct repeated *repeated_make(uint32_t words, uint32_t accesses, uint32_t dims,
                                      uint32_t parameter_bytes, const struct passed_bytes *passed,
                                      const struct compared *compared)
{
    const size_t bytes = sizeof(struct repeated) +
                         words * (sizeof(uint64_t) + sizeof(struct range)) +
                         accesses * sizeof(struct csan_access) + dims * sizeof(struct csan_dim) +
                         passed->run_count * sizeof(struct passed_run) +
                         compared->ignored_count * sizeof(struct passed_eight) +
                         passed->byte_count + parameter_bytes;
    struct repeated *fresh = malloc(bytes);
    if (!fresh)
        return NULL;
    *fresh = (struct repeated){.bytes = bytes,
                               .users = 1,
                               .parameter_bytes = parameter_bytes,
                               .word_count = words,
                               .access_count = accesses,
                               .dim_count = dims};
    fresh->words = (uint64_t *)(fresh + 1);
    fresh->blocks = (struct range *)(fresh->words + words);
    fresh->accesses = (struct csan_access *)(fresh->blocks + words);
    fresh->dims = (struct csan_dim *)(fresh->accesses + accesses);
    fresh->passed.runs = (struct passed_run *)(fresh->dims + dims);
    fresh->ignored = (struct passed_eight *)(fresh->passed.runs + passed->run_count);
    fresh->ignored_count = compared->ignored_count;
    if (compared->ignored_count)
        memcpy(fresh->ignored, compared->ignored,
               compared->ignored_count * sizeof *compared->ignored);
    fresh->passed.bytes = (uint8_t *)(fresh->ignored + compared->ignored_count);
    fresh->parameters = fresh->passed.bytes + passed->byte_count;
    return fresh;
}

/* Accesses with their dims, one behind the other. */
static void accesses_copy(struct csan_access *to, struct csan_dim *dims,
                          const struct csan_access *from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        to[i] = from[i];
        to[i].dims = from[i].dim_count ? dims : NULL;
        for (uint8_t k = 0; k < from[i].dim_count; k++)
            *dims++ = from[i].dims[k];
    }
}

/* In the place of the one that was used longest ago. */
static void table_put(struct repeated *fresh)
{
    struct repeated **place = place_of(fresh->hash);
    int at = 0;
    for (int i = 0; i < WAYS; i++)
        if (!place[i] || (place[at] && place[i]->used < place[at]->used))
            at = i;
    if (place[at])
        table_remove(place[at]);
    place[at] = fresh;
}

static void table_clear(void)
{
    for (int i = 0; i < PLACES; i++)
        for (int k = 0; k < WAYS; k++)
            if (own.table[i][k])
                table_remove(own.table[i][k]);
}

void operator_summary_repeated_keep(struct thread *thread, const struct summary_found *found,
                                    const struct launch_accesses_touched *touched)
{
    const struct learn_launch *launch = &thread->launch->launch;
    const struct range span = context_span(session_context());
    if (!thread->passed_hash || found->state != SUMMARY_KNOWN)
        return;
    struct passed_bytes passed = {0};
    struct compared compared;
    compared.marks = thread->passed_room + thread->passed.bytes;
    compared.ignored_count = 0;
    const bool ignores = thread->passed.bytes && !summaries_words_count(&found->used);
    if (ignores) {
        learning_mark_read(thread->kernel, &thread->passed, launch->grid, compared.marks);
        words_ignore(thread, &found->used, &compared);
    }
    if (!came_before(hash_without(thread, &compared)))
        return;
    if (own.bytes > BYTES_MOST)
        table_clear();
    if (thread->passed.bytes && !ignores)
        learning_mark_read(thread->kernel, &thread->passed, launch->grid, compared.marks);
    if (thread->passed.bytes)
        passed_bytes_count(&thread->passed, compared.marks, &passed);
    struct repeated *fresh =
        repeated_make(words_take(thread, span, NULL), (uint32_t)touched->access_count,
                      dims_count(touched), launch->parameter_bytes, &passed, &compared);
    if (!fresh)
        return;
    fresh->hash = thread->passed_hash;
    fresh->kernel = thread->kernel->number;
    fresh->version = summaries_version(operator_summary_own.summaries);
    fresh->used = ++own.tick;
    fresh->way = way_of_launch(launch);
    fresh->span = span;
    fresh->summary = found->used;
    fresh->what = found->what;
    words_take(thread, span, fresh);
    accesses_copy(fresh->accesses, fresh->dims, touched->accesses, touched->access_count);
    if (launch->parameter_bytes)
        memcpy(fresh->parameters, launch->parameters, launch->parameter_bytes);
    own.bytes += fresh->bytes;
    table_put(fresh);
    struct passed_sample *sample = passed.run_count ? sample_of(thread->kernel) : NULL;
    if (!sample)
        return;
    passed_bytes_fill(&thread->passed, compared.marks, &fresh->passed);
    passed_sample_fit(sample, &fresh->passed, compared.marks);
    samples_note(fresh, thread);
}

/* ---- Its answer ---- */

bool operator_summary_repeated_apply(struct thread *thread, struct launch_accesses_touched *touched,
                                     const struct csan_operator **what)
{
    const struct repeated *repeated = thread->repeated;
    struct csan_dim *dims;
    struct csan_access *accesses =
        launch_accesses_replace(touched, repeated->access_count, repeated->dim_count, &dims);
    if (!accesses)
        return false;
    accesses_copy(accesses, dims, repeated->accesses, repeated->access_count);
    touched->level = CSAN_LEVEL_OPERATOR;
    touched->exact = true;
    *what = repeated->what;
    thread->repeated_applied = true;
    return true;
}

void operator_summary_repeated_end(struct thread *thread)
{
    if (!thread->repeated)
        return;
    operator_summary_lock();
    operator_summary_own.repeated += thread->repeated_applied;
    operator_summary_own.unnamed += thread->repeated_applied && !thread->repeated->what;
    let_go(thread->repeated);
    operator_summary_unlock();
    thread->repeated = NULL;
    thread->repeated_applied = false;
}

/* Launches that were answered while operators rest, and are made again: by a program's loop, most
 * are. With the same bytes passed, the same blocks behind each word that may be a pointer, and the
 * same summaries the answer is the same. To see that takes less than to make a key of thousands of
 * bytes and look it up.
 *
 * An answer is kept once a launch has come twice, so that what never comes again costs little. The
 * table is bounded; of one place the answer that was used longest ago goes. */
#include "csan/base/hash.h"
#include "csan/detector/context.h"
#include "runtime/hook/operator/operator_summary_state.h"
#include "runtime/hook/session/session.h"

#include <stdlib.h>
#include <string.h>

enum {
    PLACES = 256, /* powers of two */
    WAYS = 4,
    SEEN = 4096,
    AT_ONCE = 64, /* words whose blocks are asked for together */
    BYTES_MOST = 16 << 20
};

/* One launch and its answer, in one piece of memory. */
struct repeated {
    uint64_t hash, kernel, version, used;
    uint32_t grid[3], block[3], cluster[3], shared;
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
    uint8_t *parameters;
};

/* With the summaries' lock. */
static struct {
    struct repeated *table[PLACES][WAYS];
    uint32_t seen[SEEN]; /* hashes of launches that came lately */
    uint64_t tick;
    size_t bytes;
} own;

static uint64_t passed_hash(const struct kernel *kernel, const struct learn_launch *launch)
{
    uint64_t hash = hash_mix_bytes(kernel->number, launch->grid, sizeof launch->grid);
    hash = hash_mix_bytes(hash, launch->block, sizeof launch->block);
    hash = hash_mix_bytes(hash, launch->cluster, sizeof launch->cluster);
    hash = hash_mix(hash_mix(hash, launch->shared),
                    hash_memory(launch->parameters, launch->parameter_bytes));
    return hash ? hash : 1;
}

static bool is_passed(const struct repeated *repeated, const struct kernel *kernel,
                      const struct learn_launch *launch)
{
    return repeated->kernel == kernel->number && repeated->shared == launch->shared &&
           repeated->parameter_bytes == launch->parameter_bytes &&
           memcmp(repeated->grid, launch->grid, sizeof launch->grid) == 0 &&
           memcmp(repeated->block, launch->block, sizeof launch->block) == 0 &&
           memcmp(repeated->cluster, launch->cluster, sizeof launch->cluster) == 0 &&
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

/* With the lock. It has one user less, unless another thread was faster. */
static void table_remove(struct repeated *repeated)
{
    struct repeated **place = place_of(repeated->hash);
    for (int i = 0; i < WAYS; i++)
        if (place[i] == repeated) {
            place[i] = NULL;
            let_go(repeated);
        }
}

/* With the lock. */
static struct repeated *table_find(uint64_t hash, const struct kernel *kernel,
                                   const struct learn_launch *launch)
{
    struct repeated **place = place_of(hash);
    const uint64_t version = summaries_version(operator_summary_own.summaries);
    for (int i = 0; i < WAYS; i++) {
        struct repeated *repeated = place[i];
        if (!repeated || repeated->hash != hash || !is_passed(repeated, kernel, launch))
            continue;
        if (repeated->version == version)
            return repeated;
        table_remove(repeated);
    }
    return NULL;
}

void operator_summary_repeated_find(struct thread *thread, const struct learning *launch)
{
    thread->passed_hash = 0;
    if (!learning_points_by_words(thread->kernel))
        return;
    const uint64_t hash = passed_hash(thread->kernel, &launch->launch);
    const struct range span = context_span(session_context());
    thread->passed_hash = hash;
    operator_summary_lock();
    struct repeated *repeated = table_find(hash, thread->kernel, &launch->launch);
    if (repeated) {
        repeated->users++;
        repeated->used = ++own.tick;
        summaries_find_again(operator_summary_own.summaries, &repeated->summary);
    }
    operator_summary_unlock();
    if (!repeated)
        return;
    if (memcmp(&repeated->span, &span, sizeof span) == 0 && leads_there(repeated)) {
        thread->repeated = repeated;
        return;
    }
    operator_summary_lock();
    table_remove(repeated); /* it will be kept as it is now */
    let_go(repeated);
    operator_summary_unlock();
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
static struct range block_of(const struct learn_launch *launch, uint32_t offset)
{
    for (uint32_t i = 0; i < launch->anchor_count; i++)
        if (launch->anchors[i].offset == offset)
            return (struct range){launch->anchors[i].block.start, launch->anchors[i].block.end};
    return (struct range){0, 0};
}

static uint32_t words_take(const struct learn_launch *launch, struct range span,
                           struct repeated *to)
{
    const uint8_t *parameters = launch->parameters;
    uint32_t count = 0;
    for (uint32_t at = 0; at + 8 <= launch->parameter_bytes; at += 8) {
        uint64_t word;
        memcpy(&word, parameters + at, sizeof word);
        if (!is_in_span(word, span))
            continue;
        if (to) {
            to->words[count] = word;
            to->blocks[count] = block_of(launch, at);
        }
        count++;
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

/* NULL: memory is short. */
static struct repeated *repeated_make(uint32_t words, uint32_t accesses, uint32_t dims,
                                      uint32_t parameter_bytes)
{
    const size_t bytes =
        sizeof(struct repeated) + words * (sizeof(uint64_t) + sizeof(struct range)) +
        accesses * sizeof(struct csan_access) + dims * sizeof(struct csan_dim) + parameter_bytes;
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
    fresh->parameters = (uint8_t *)(fresh->dims + dims);
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
        let_go(place[at]);
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
    if (!thread->passed_hash || found->state != SUMMARY_KNOWN || !came_before(thread->passed_hash))
        return;
    if (own.bytes > BYTES_MOST)
        table_clear();
    struct repeated *fresh =
        repeated_make(words_take(launch, span, NULL), (uint32_t)touched->access_count,
                      dims_count(touched), launch->parameter_bytes);
    if (!fresh)
        return;
    fresh->hash = thread->passed_hash;
    fresh->kernel = thread->kernel->number;
    fresh->version = summaries_version(operator_summary_own.summaries);
    fresh->used = ++own.tick;
    memcpy(fresh->grid, launch->grid, sizeof fresh->grid);
    memcpy(fresh->block, launch->block, sizeof fresh->block);
    memcpy(fresh->cluster, launch->cluster, sizeof fresh->cluster);
    fresh->shared = launch->shared;
    fresh->span = span;
    fresh->summary = found->used;
    fresh->what = found->what;
    words_take(launch, span, fresh);
    accesses_copy(fresh->accesses, fresh->dims, touched->accesses, touched->access_count);
    if (launch->parameter_bytes)
        memcpy(fresh->parameters, launch->parameters, launch->parameter_bytes);
    own.bytes += fresh->bytes;
    table_put(fresh);
}

/* ---- Its answer ---- */

bool operator_summary_repeated_apply(const struct thread *thread,
                                     struct launch_accesses_touched *touched,
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
    return true;
}

void operator_summary_repeated_end(struct thread *thread)
{
    if (!thread->repeated)
        return;
    operator_summary_lock();
    let_go(thread->repeated);
    operator_summary_unlock();
    thread->repeated = NULL;
}

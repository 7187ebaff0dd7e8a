/* Look-ups and new traces. See learner.h. */
#include "runtime/learn/learned_file.h"
#include "runtime/learn/learner_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct learner *learner_create(const struct learner_options *options)
{
    struct learner *learner = calloc(1, sizeof *learner);
    if (!learner)
        return NULL;
    learner->options = *options;
    if (options->cache && *options->cache)
        learner->cache = strdup(options->cache);
    learner->options.cache = learner->cache;
    pthread_mutex_init(&learner->mutex, NULL);
    return learner;
}

void learner_destroy(struct learner *learner)
{
    struct image_state *image = NULL, *next = NULL;
    if (!learner)
        return;
    HASH_ITER(hh, learner->images, image, next)
    {
        HASH_DEL(learner->images, image);
        image_clear(image);
    }
    pthread_mutex_destroy(&learner->mutex);
    free(learner->cache);
    free(learner);
}

static struct image_state *image_find(struct learner *learner, struct learn_image id)
{
    struct image_state *image = NULL;
    HASH_FIND(hh, learner->images, &id, sizeof id, image);
    if (image)
        return image;
    image = calloc(1, sizeof *image);
    if (!image)
        return NULL;
    image->id = id;
    if (learner->cache && id.words[0])
        learned_file_read(&learner->options, image);
    HASH_ADD(hh, learner->images, id, sizeof image->id, image);
    return image;
}

struct learned_kernel *learner_kernel(struct learner *learner, struct learn_image id,
                                      const char *name)
{
    pthread_mutex_lock(&learner->mutex);
    struct image_state *image = image_find(learner, id);
    struct learned_kernel *kernel = image ? image_kernel(image, name) : NULL;
    pthread_mutex_unlock(&learner->mutex);
    return kernel;
}

void learner_uses(struct learner *learner, struct learned_kernel *kernel, uint32_t words,
                  struct parameter_uses *uses)
{
    struct parameter_uses all = {0};
    pthread_mutex_lock(&learner->mutex);
    if (!parameter_uses_fit(&kernel->uses, words))
        parameter_uses_clear(&kernel->uses);
    if (!kernel->signatures) /* keys are made by them from now on */
        parameter_uses_fill(&kernel->uses, uses);
    if (parameter_uses_copy(&all, &kernel->uses)) {
        parameter_uses_clear(uses);
        *uses = all;
    }
    pthread_mutex_unlock(&learner->mutex);
}

bool learner_knows(struct learner *learner, const struct learned_kernel *kernel)
{
    pthread_mutex_lock(&learner->mutex);
    const bool knows = kernel->signatures != NULL;
    pthread_mutex_unlock(&learner->mutex);
    return knows;
}

static bool is_to_be_kept(const struct image_state *image)
{
    return image->changed && image->id.words[0];
}

static bool images_write(struct learner *learner)
{
    struct image_state *image = NULL, *next = NULL;
    bool written = true;
    int lock = learned_directory_lock(&learner->options);
    HASH_ITER(hh, learner->images, image, next)
    {
        if (!is_to_be_kept(image))
            continue;
        written = learned_file_write(&learner->options, image) && written;
        image->changed = false;
    }
    learned_directory_unlock(&learner->options, lock);
    return written;
}

bool learner_save(struct learner *learner)
{
    struct image_state *image = NULL, *next = NULL;
    bool any = false, saved = true;
    pthread_mutex_lock(&learner->mutex);
    HASH_ITER(hh, learner->images, image, next)
    {
        any = any || is_to_be_kept(image);
    }
    if (learner->cache && any)
        saved = images_write(learner);
    pthread_mutex_unlock(&learner->mutex);
    return saved;
}

static void kernel_count(const struct learned_kernel *kernel, bool is_kept, uint32_t launches,
                         struct learner_left *left)
{
    const struct launch_signature *signature, *next_signature;
    const struct entry *entry, *next;
    const size_t before = left->open;
    HASH_ITER(hh, kernel->signatures, signature, next_signature)
    {
        HASH_ITER(hh, signature->entries, entry, next)
        {
            const bool complete = is_kept && entry_is_complete(entry, launches);
            left->complete += entry->launched && complete;
            left->open += entry->launched && !complete;
        }
    }
    if (left->open > before && !*left->kernel)
        snprintf(left->kernel, sizeof left->kernel, "%s", kernel->name);
}

void learner_left(struct learner *learner, struct learner_left *left)
{
    const struct image_state *image, *next_image;
    const struct learned_kernel *kernel, *next_kernel;
    *left = (struct learner_left){0};
    pthread_mutex_lock(&learner->mutex);
    HASH_ITER(hh, learner->images, image, next_image)
    {
        HASH_ITER(hh, image->kernels, kernel, next_kernel)
        {
            kernel_count(kernel, image->id.words[0] != 0, learner->options.launches, left);
        }
    }
    pthread_mutex_unlock(&learner->mutex);
}

/* ---- Asking ---- */

static struct launch_signature *signature_of(struct learned_kernel *kernel,
                                             const struct launch_key *key)
{
    struct launch_signature *signature = kernel_find_signature(kernel, key);
    return signature ? signature
                     : kernel_signature(kernel, key->words, key->signature_bytes, key->scalar_count,
                                        key->anchor_count);
}

/* The entry of a launch that is about to be made. */
static struct entry *entry_launched(struct launch_signature *signature, const uint32_t *scalars)
{
    struct entry *entry = launch_signature_entry(signature, scalars);
    if (!entry)
        return NULL;
    entry->launches++;
    entry->launched = true;
    signature->singles += entry->launches == 1;
    signature->singles -= entry->launches == 2 && signature->singles;
    if (entry->launches > 2 && signature->singles <= SINGLES &&
        signature->access_class_count <= ENTRIES_MAX)
        return entry; /* how many there are was looked at when the newest came */
    size_t count = HASH_COUNT(signature->entries);
    if (signature->scattered ||
        (count <= ENTRIES_MAX && signature->access_class_count <= ENTRIES_MAX &&
         (signature->singles <= SINGLES || signature->singles * 4 <= count * 3)))
        return entry;
    launch_signature_scatter(signature);
    return launch_signature_find(signature, scalars);
}

/* Its set is of blocks that are gone. They may come again elsewhere, but not for ever. */
static void entry_moved(struct entry *entry)
{
    entry_clear(entry);
    entry->seen = 0;
    entry->uncounted = entry->launches;
    if (++entry->moved >= MOVES_MAX)
        entry_set_unknown(entry, LEARN_INDIRECT);
}

static const struct learned_set *set_for(const struct entry *entry, const struct variant *variant)
{
    return entry->state == ENTRY_DEPENDENT ? entry->bound : variant ? variant_set(variant) : NULL;
}

static void reply_fill(const struct learner_options *options, const struct entry *entry,
                       const struct variant *variant, const struct learn_launch *launch,
                       struct learn_reply *reply)
{
    *reply = (struct learn_reply){.answer = LEARN_OPEN, .due = entry->asked == 0};
    if (entry->state == ENTRY_UNKNOWN) {
        reply->answer = LEARN_UNKNOWN;
        reply->reason = entry->reason;
    } else if (entry->state == ENTRY_DEPENDENT) {
        if (!entry->bound || !learned_set_holds(entry->bound, launch))
            return;
        reply->answer = entry->bound->inexact ? LEARN_BOUNDED : LEARN_KNOWN;
        reply->set = learned_set_retain(entry->bound);
    } else if (variant && variant->seen >= options->launches) {
        reply->answer = variant_set(variant)->inexact ? LEARN_BOUNDED : LEARN_KNOWN;
        reply->set = learned_set_retain(variant_set(variant));
    }
}

/* Whether the launch is traced. */
static bool trace_wanted(const struct learner_options *options, struct entry *entry,
                         const struct variant *variant, const struct learn_reply *reply,
                         bool confirm)
{
    if (entry->state == ENTRY_UNKNOWN)
        return false;
    if (entry->state == ENTRY_LEARNING && !variant)
        return entry->asked < options->launches;
    if (entry->state == ENTRY_LEARNING && variant->seen < options->launches)
        return variant->seen + entry->asked < options->launches;
    bool again = entry->again || (variant && variant->class->again);
    return (!reply->set || (again && confirm)) && !entry->asked;
}

/* There is no room for the set in the launch. */
static void reply_withdraw(struct learn_reply *reply)
{
    if (!reply->set)
        return;
    learned_set_release(reply->set);
    reply->set = NULL;
    reply->answer = LEARN_OPEN;
}

static void entry_count(struct entry *entry, struct variant *variant)
{
    if (!variant) {
        entry->uncounted++;
        entry->again |= entry->state == ENTRY_DEPENDENT && learn_is_turn(entry->launches);
        return;
    }
    variant->launches++;
    variant->class->launches++;
    variant->class->again |= learn_is_turn(variant->class->launches);
}

static bool confirms(const struct learner *learner)
{
    return !__atomic_load_n(&learner->unconfirmed, __ATOMIC_RELAXED);
}

void learner_confirm(struct learner *learner, bool may)
{
    if (confirms(learner) != may)
        __atomic_store_n(&learner->unconfirmed, !may, __ATOMIC_RELAXED);
}

static void entry_ask(const struct learner *learner, struct entry *entry,
                      const struct learn_launch *launch, learn_find_block *find, void *user,
                      struct learn_reply *reply)
{
    const struct learner_options *options = &learner->options;
    struct variant *variant = entry_variant(entry, launch);
    const struct learned_set *set = set_for(entry, variant);
    bool fits = !set || learned_set_fits(set, launch, find, user);
    entry_count(entry, variant);
    if (!fits && set->block_count) {
        entry_moved(entry);
        variant = NULL;
    } else if (!fits || (variant && !learned_set_holds(set, launch))) {
        entry->again = true;
    }
    reply_fill(options, entry, variant, launch, reply);
    reply->trace = trace_wanted(options, entry, variant, reply, !fits || confirms(learner));
    if (reply->trace) {
        entry->asked++;
        entry->again = false;
        if (variant)
            variant->class->again = false;
    }
    if (!fits)
        reply_withdraw(reply);
}

void learner_ask(struct learner *learner, struct learned_kernel *kernel,
                 const struct launch_key *key, const struct learn_launch *launch,
                 learn_find_block *find, void *user, struct learn_reply *reply)
{
    *reply = (struct learn_reply){.answer = LEARN_UNKNOWN, .due = true};
    pthread_mutex_lock(&learner->mutex);
    struct launch_signature *signature = signature_of(kernel, key);
    struct entry *entry = signature ? entry_launched(signature, launch_key_scalars(key)) : NULL;
    if (entry) {
        entry_ask(learner, entry, launch, find, user, reply);
        kernel->image->changed = true;
    }
    pthread_mutex_unlock(&learner->mutex);
}

void learner_again(struct learner *learner, struct learned_kernel *kernel,
                   const struct launch_key *key, const struct learn_launch *launch)
{
    pthread_mutex_lock(&learner->mutex);
    struct launch_signature *signature = kernel_find_signature(kernel, key);
    struct entry *entry =
        signature ? launch_signature_find(signature, launch_key_scalars(key)) : NULL;
    struct variant *variant = entry ? entry_variant(entry, launch) : NULL;
    if (variant)
        variant->class->again = true;
    else if (entry)
        entry->again = true;
    pthread_mutex_unlock(&learner->mutex);
}

void learner_look(struct learner *learner, struct learned_kernel *kernel,
                  const struct launch_key *key, const struct learn_launch *launch,
                  learn_find_block *find, void *user, struct learn_reply *reply)
{
    *reply = (struct learn_reply){.answer = LEARN_OPEN, .due = true};
    pthread_mutex_lock(&learner->mutex);
    struct launch_signature *signature = kernel_find_signature(kernel, key);
    struct entry *entry =
        signature ? launch_signature_find(signature, launch_key_scalars(key)) : NULL;
    if (entry)
        reply_fill(&learner->options, entry, entry_variant(entry, launch), launch, reply);
    if (reply->set && !learned_set_fits(reply->set, launch, find, user))
        reply_withdraw(reply);
    pthread_mutex_unlock(&learner->mutex);
}

struct learned_set *learner_bound(struct learner *learner, struct learned_kernel *kernel,
                                  const struct learn_launch *launch)
{
    pthread_mutex_lock(&learner->mutex);
    if (kernel->directed != kernel->taught) {
        directions_find(&kernel->directions, kernel);
        kernel->directed = kernel->taught;
    }
    struct learned_set *bound = directions_bound(&kernel->directions, launch);
    pthread_mutex_unlock(&learner->mutex);
    return bound;
}

static size_t pieces_of(const struct learner *learner, const struct learned_kernel *kernel,
                        const struct launch_signature *signature, const struct entry *entry,
                        const struct learn_launch *launch, struct learn_piece *pieces)
{
    const struct variant *variant = entry_variant(entry, launch);
    const struct learned_set *set = set_for(entry, variant);
    size_t count = 0;
    pieces[count++] = (struct learn_piece){learner, sizeof *learner};
    pieces[count++] = (struct learn_piece){&kernel->image->changed, 1};
    pieces[count++] = (struct learn_piece){kernel, offsetof(struct learned_kernel, hh)};
    pieces[count++] = (struct learn_piece){signature, offsetof(struct launch_signature, samples)};
    pieces[count++] = (struct learn_piece){signature->bytes, signature->signature_bytes};
    pieces[count++] = (struct learn_piece){entry, offsetof(struct entry, hh)};
    if (variant)
        pieces[count++] =
            (struct learn_piece){entry->variants, entry->variant_count * sizeof *entry->variants};
    if (variant)
        pieces[count++] = (struct learn_piece){variant->class, sizeof *variant->class};
    if (set)
        pieces[count++] = (struct learn_piece){set, learned_set_bytes(set)};
    pieces[count++] =
        (struct learn_piece){entry->scalars, signature->order_count * sizeof *entry->scalars};
    pieces[count++] = (struct learn_piece){signature->order + signature->first_count,
                                           (signature->order_count - signature->first_count) *
                                               sizeof *signature->order};
    return count;
}

size_t learner_pieces(struct learner *learner, struct learned_kernel *kernel,
                      const struct launch_key *key, const struct learn_launch *launch,
                      struct learn_piece *pieces)
{
    size_t count = 0;
    pthread_mutex_lock(&learner->mutex);
    struct launch_signature *signature = kernel_find_signature(kernel, key);
    const struct entry *entry =
        signature ? launch_signature_find(signature, launch_key_scalars(key)) : NULL;
    if (entry)
        count = pieces_of(learner, kernel, signature, entry, launch, pieces);
    pthread_mutex_unlock(&learner->mutex);
    return count;
}

/* ---- New traces ---- */

static void entry_lost(struct entry *entry)
{
    entry->lost++;
    bool known = entry->variant_count || entry->bound;
    entry->again = known && entry->lost < LOSSES_MAX;
    if (!known && entry->lost >= LOSSES_MAX)
        entry_set_unknown(entry, LEARN_LOST);
}

void learner_take_trace(struct learner *learner, struct learned_kernel *kernel,
                        const struct launch_key *key, const struct learn_launch *launch,
                        struct learned_set *set)
{
    pthread_mutex_lock(&learner->mutex);
    struct launch_signature *signature = signature_of(kernel, key);
    struct entry *entry =
        signature ? launch_signature_entry(signature, launch_key_scalars(key)) : NULL;
    if (entry) {
        entry->asked -= entry->asked > 0;
        if (set)
            launch_signature_learn(signature, entry, launch_key_scalars(key), launch, set,
                                   &learner->options);
        else
            entry_lost(entry);
        kernel->taught++;
        kernel->image->changed = true;
    }
    pthread_mutex_unlock(&learner->mutex);
}

void learner_unseen(struct learner *learner, struct learned_kernel *kernel,
                    const struct launch_key *key)
{
    pthread_mutex_lock(&learner->mutex);
    struct launch_signature *signature = signature_of(kernel, key);
    struct entry *entry =
        signature ? launch_signature_entry(signature, launch_key_scalars(key)) : NULL;
    if (entry) {
        entry->asked -= entry->asked > 0;
        entry_set_unknown(entry, LEARN_UNSEEN);
        kernel->taught++;
        kernel->image->changed = true;
    }
    pthread_mutex_unlock(&learner->mutex);
}

void learner_refused(struct learner *learner, struct learned_kernel *kernel,
                     const struct launch_key *key)
{
    pthread_mutex_lock(&learner->mutex);
    struct launch_signature *signature = kernel_find_signature(kernel, key);
    struct entry *entry =
        signature ? launch_signature_find(signature, launch_key_scalars(key)) : NULL;
    if (entry) {
        entry->asked -= entry->asked > 0;
        entry->again = entry->variant_count || entry->bound;
    }
    pthread_mutex_unlock(&learner->mutex);
}

const char *learn_reason_text(uint8_t reason)
{
    switch (reason) {
    case LEARN_INDIRECT:
        return "changing pointers from memory";
    case LEARN_LOST:
        return "traces were lost";
    case LEARN_UNSEEN:
        return "by tensor maps, textures, surfaces or multicast";
    case LEARN_DIFFERS:
        return "depends on data";
    case LEARN_CROWDED:
        return "pointers lie in more ways than are kept";
    case LEARN_SCATTERED:
        return "parameters never repeat, and what it touches changes";
    default:
        return "memory is short";
    }
}

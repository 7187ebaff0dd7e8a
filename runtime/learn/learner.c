/* Asking and telling. See learner.h. */
#include "runtime/learn/learned_file.h"
#include "runtime/learn/learner_state.h"

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

/* ---- Asking ---- */

static struct shape *shape_of(struct learned_kernel *kernel, const struct launch_key *key)
{
    return kernel_shape(kernel, key->bytes, key->shape_bytes, key->scalar_bytes, key->anchor_count);
}

/* The entry of a launch that is about to be made. */
static struct entry *entry_launched(struct shape *shape, const uint8_t *scalars)
{
    struct entry *entry = shape_entry(shape, scalars);
    if (!entry)
        return NULL;
    entry->launches++;
    if (shape->scattered)
        return entry;
    shape->singles += entry->launches == 1;
    shape->singles -= entry->launches == 2 && shape->singles;
    size_t count = HASH_COUNT(shape->entries);
    if (count <= ENTRIES_MAX && (shape->singles <= SINGLES || shape->singles * 4 <= count * 3))
        return entry;
    shape_scatter(shape);
    return &shape->all;
}

/* Its set is of blocks that are gone. They may come again elsewhere, but not for ever. */
static void entry_moved(struct entry *entry)
{
    learned_set_release(entry->set);
    entry->set = NULL;
    entry->seen = 0;
    entry->state = ENTRY_LEARNING;
    if (++entry->moved >= MOVES_MAX) {
        entry->state = ENTRY_UNTOLD;
        entry->reason = LEARN_INDIRECT;
    }
}

static void reply_fill(const struct entry *entry, struct learn_reply *reply)
{
    static const uint8_t answers[ENTRY_STATES] = {[ENTRY_LEARNING] = LEARN_OPEN,
                                                  [ENTRY_KNOWN] = LEARN_KNOWN,
                                                  [ENTRY_DEPENDENT] = LEARN_BOUNDED,
                                                  [ENTRY_UNTOLD] = LEARN_UNTOLD};
    *reply = (struct learn_reply){
        .answer = answers[entry->state], .reason = entry->reason, .due = entry->asked == 0};
    if (!entry->set || reply->answer == LEARN_OPEN)
        return;
    if (entry->set->inexact)
        reply->answer = LEARN_BOUNDED;
    reply->set = learned_set_retain(entry->set);
}

void learner_ask(struct learner *learner, struct learned_kernel *kernel,
                 const struct launch_key *key, const struct learn_launch *launch,
                 learn_find_block *find, void *user, struct learn_reply *reply)
{
    const struct learner_options *options = &learner->options;
    *reply = (struct learn_reply){.answer = LEARN_UNTOLD, .due = true};
    pthread_mutex_lock(&learner->mutex);
    struct shape *shape = shape_of(kernel, key);
    struct entry *entry = shape ? entry_launched(shape, launch_key_scalars(key)) : NULL;
    if (entry) {
        bool fits = !entry->set || learned_set_fits(entry->set, launch, find, user);
        if (!fits && entry->set->block_count)
            entry_moved(entry);
        else if (!fits || (entry->launches >= 4 && !(entry->launches & (entry->launches - 1))))
            entry->again = true;
        reply_fill(entry, reply);
        if (entry->state == ENTRY_LEARNING)
            reply->trace = entry->seen + entry->asked < options->launches;
        else if (entry->state != ENTRY_UNTOLD)
            reply->trace = entry->again && !entry->asked;
        if (reply->trace) {
            entry->asked++;
            entry->again = false;
        }
        if (!fits && reply->set) {
            learned_set_release(reply->set);
            reply->set = NULL;
            reply->answer = LEARN_OPEN;
        }
        kernel->image->changed = true;
    }
    pthread_mutex_unlock(&learner->mutex);
}

void learner_look(struct learner *learner, struct learned_kernel *kernel,
                  const struct launch_key *key, struct learn_reply *reply)
{
    *reply = (struct learn_reply){.answer = LEARN_OPEN, .due = true};
    pthread_mutex_lock(&learner->mutex);
    struct shape *shape = shape_of(kernel, key);
    struct entry *entry = shape ? shape_find(shape, launch_key_scalars(key)) : NULL;
    if (entry)
        reply_fill(entry, reply);
    pthread_mutex_unlock(&learner->mutex);
}

/* ---- Telling ---- */

static void entry_lost(struct entry *entry)
{
    entry->lost++;
    if (entry->lost < LOSSES_MAX || entry->state != ENTRY_LEARNING) {
        entry->again = entry->lost < LOSSES_MAX;
        return;
    }
    entry->state = ENTRY_UNTOLD;
    entry->reason = LEARN_LOST;
}

void learner_told(struct learner *learner, struct learned_kernel *kernel,
                  const struct launch_key *key, struct learned_set *set)
{
    pthread_mutex_lock(&learner->mutex);
    struct shape *shape = shape_of(kernel, key);
    struct entry *entry = shape ? shape_entry(shape, launch_key_scalars(key)) : NULL;
    if (entry) {
        entry->asked -= entry->asked > 0;
        if (set)
            shape_learn(shape, entry, launch_key_scalars(key), set, &learner->options);
        else
            entry_lost(entry);
        kernel->image->changed = true;
    }
    pthread_mutex_unlock(&learner->mutex);
}

void learner_refused(struct learner *learner, struct learned_kernel *kernel,
                     const struct launch_key *key)
{
    pthread_mutex_lock(&learner->mutex);
    struct shape *shape = shape_of(kernel, key);
    struct entry *entry = shape ? shape_find(shape, launch_key_scalars(key)) : NULL;
    if (entry) {
        entry->asked -= entry->asked > 0;
        entry->again = entry->state != ENTRY_LEARNING;
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
    default:
        return "memory is short";
    }
}

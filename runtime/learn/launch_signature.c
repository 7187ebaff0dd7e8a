/* The launches of one shape: their entries, and which words tell those apart. */
#include "runtime/learn/bound.h"
#include "runtime/learn/learner_state.h"
#include "runtime/learn/key_reduction.h"

#include <stdlib.h>
#include <string.h>

enum { KEY_ROOM = 256 };

/* ---- Entries ---- */

static void entry_free(struct entry *entry)
{
    entry_clear(entry);
    free(entry->scalars);
    free(entry);
}

static void entries_clear(struct launch_signature *shape)
{
    struct entry *entry = NULL, *next = NULL;
    shape->latest = NULL;
    HASH_ITER(hh, shape->entries, entry, next)
    {
        HASH_DEL(shape->entries, entry);
        entry_free(entry);
    }
    shape->singles = 0;
}

bool launch_signature_order(struct launch_signature *shape)
{
    uint32_t *order = malloc((shape->scalar_count + 1) * sizeof *order);
    if (!order)
        return false;
    free(shape->order);
    shape->order = order;
    shape->order_count = 0;
    for (uint32_t i = 0; i < shape->scalar_count; i++)
        if (shape->kept[i])
            order[shape->order_count++] = i;
    shape->first_count = 0;
    while (shape->first_count < shape->order_count &&
           order[shape->first_count] == shape->first_count)
        shape->first_count++;
    return true;
}

size_t launch_signature_left(const struct launch_signature *shape)
{
    size_t left = 0;
    for (uint32_t i = 0; i < shape->scalar_count - shape->anchor_count; i++)
        left += !shape->kept[i];
    return left;
}

static void in_order(const struct launch_signature *shape, const uint32_t *scalars, uint32_t *key)
{
    for (uint32_t i = 0; i < shape->order_count; i++)
        key[i] = scalars[shape->order[i]];
}

/* Most launches are of the entry that was found last. */
static bool is_latest(const struct launch_signature *shape, const uint32_t *scalars)
{
    const struct entry *latest = shape->latest;
    bool is = latest && memcmp(latest->scalars, scalars, shape->first_count * 4) == 0;
    for (uint32_t i = shape->first_count; i < shape->order_count && is; i++)
        is = latest->scalars[i] == scalars[shape->order[i]];
    return is;
}

static struct entry *find_slow(struct launch_signature *shape, const uint32_t *scalars)
{
    uint32_t room[KEY_ROOM];
    uint32_t *key = shape->order_count <= KEY_ROOM ? room : malloc(shape->order_count * 4);
    struct entry *entry = NULL;
    if (!key)
        return NULL;
    in_order(shape, scalars, key);
    HASH_FIND(hh, shape->entries, key, shape->order_count * 4, entry);
    if (key != room)
        free(key);
    if (entry)
        shape->latest = entry;
    return entry;
}

struct entry *launch_signature_find(struct launch_signature *shape, const uint32_t *scalars)
{
    return is_latest(shape, scalars) ? shape->latest : find_slow(shape, scalars);
}

struct entry *launch_signature_entry(struct launch_signature *shape, const uint32_t *scalars)
{
    struct entry *entry = launch_signature_find(shape, scalars);
    if (entry)
        return entry;
    entry = calloc(1, sizeof *entry);
    uint32_t *key = entry ? malloc(shape->order_count * 4 + 4) : NULL;
    if (!key) {
        free(entry);
        return NULL;
    }
    in_order(shape, scalars, key);
    entry->scalars = key;
    HASH_ADD_KEYPTR(hh, shape->entries, key, shape->order_count * 4, entry);
    if (launch_signature_find(shape, scalars) == entry)
        return entry;
    entry_free(entry); /* memory is short */
    return NULL;
}

/* NULL: what the entry's launches touch does not depend on data. */
static struct learned_set *entry_bound(const struct entry *entry)
{
    return entry && entry->state == ENTRY_DEPENDENT ? entry->bound : NULL;
}

/* ---- Samples ---- */

static void sample_clear(struct sample *sample)
{
    free(sample->scalars);
    learned_set_release(sample->set);
    *sample = (struct sample){0};
}

static void samples_clear(struct launch_signature *shape)
{
    for (size_t i = 0; i < shape->sample_count; i++)
        sample_clear(&shape->samples[i]);
    shape->sample_count = shape->sample_next = 0;
    agreements_clear(&shape->agreements);
}

static void sample_add(struct launch_signature *shape, const uint32_t *scalars,
                       struct learned_set *set, struct access_class *lesson)
{
    size_t bytes = shape->scalar_count * 4;
    for (size_t i = 0; i < shape->sample_count; i++) {
        struct sample *sample = &shape->samples[i];
        if (sample->lesson != lesson || memcmp(sample->scalars, scalars, bytes) != 0)
            continue;
        sample->count++;
        return;
    }
    uint32_t *copy = malloc(bytes + 4);
    if (!copy)
        return;
    memcpy(copy, scalars, bytes);
    struct sample *sample = &shape->samples[shape->sample_next];
    shape->sample_next = (shape->sample_next + 1) % SAMPLES;
    sample_clear(sample);
    *sample = (struct sample){copy, learned_set_retain(set), lesson, 1};
    if (shape->sample_count < SAMPLES)
        shape->sample_count++;
}

static bool varies(const struct launch_signature *shape, uint32_t word)
{
    for (size_t i = 1; i < shape->sample_count; i++)
        if (shape->samples[i].scalars[word] != shape->samples[0].scalars[word])
            return true;
    return false;
}

/* ---- Which words tell entries apart ---- */

/* A lesson of the samples, and the first that has it. */
struct numbered {
    struct access_class *lesson;
    uint32_t sample;
};

/* With all before it that have the number. */
static bool agrees_with_all(struct agreements *agreements, const struct numbered *numbered,
                            uint32_t at, uint32_t number)
{
    for (uint32_t i = 0; i < at; i++)
        if (numbered[i].lesson->number == number &&
            !agreements_tell(agreements, numbered[i].sample, numbered[at].sample))
            return false;
    return true;
}

/* The samples' lessons, those with the fewest relations first. */
static uint32_t access_classes_list(struct launch_signature *shape, struct numbered *listed)
{
    uint32_t count = 0;
    for (struct access_class *lesson = shape->lessons; lesson; lesson = lesson->next)
        lesson->number = UINT32_MAX;
    for (uint32_t i = 0; i < shape->sample_count; i++) {
        struct access_class *lesson = shape->samples[i].lesson;
        if (lesson->number != UINT32_MAX)
            continue;
        lesson->number = 0;
        agreements_put(&shape->agreements, i, lesson->set);
        uint32_t at = count++;
        for (; at && listed[at - 1].lesson->set->relation_count > lesson->set->relation_count; at--)
            listed[at] = listed[at - 1];
        listed[at] = (struct numbered){lesson, i};
    }
    return count;
}

/* Numbers the samples' lessons: equal ones are of launches that may have done the same. The most
 * general come first, for others may agree with several. */
static void access_classes_number(struct launch_signature *shape)
{
    struct numbered numbered[SAMPLES];
    uint32_t count = access_classes_list(shape, numbered), numbers = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = 0;
        while (number < numbers && !agrees_with_all(&shape->agreements, numbered, i, number))
            number++;
        numbers += number == numbers;
        numbered[i].lesson->number = number;
    }
}

/* Launches of a bound may have done the same, those of other entries if their lessons say so. */
static uint32_t sample_number(struct launch_signature *shape, uint32_t at)
{
    const struct learned_set *bound =
        entry_bound(launch_signature_find(shape, shape->samples[at].scalars));
    if (!bound)
        return shape->samples[at].lesson->number;
    uint32_t first = 0;
    for (; first < at; first++) {
        const struct learned_set *other =
            entry_bound(launch_signature_find(shape, shape->samples[first].scalars));
        if (other && learned_bound_equal(bound, other))
            break;
    }
    return SAMPLES + first;
}

/* Takes words out of `kept` that were seen not to matter. Returns how many. */
static size_t words_leave(struct launch_signature *shape, const struct learner_options *options)
{
    struct key_reduction_launch launches[SAMPLES];
    access_classes_number(shape);
    for (uint32_t i = 0; i < shape->sample_count; i++) {
        uint32_t number = sample_number(shape, i);
        launches[i] =
            (struct key_reduction_launch){shape->samples[i].scalars, number, number >= SAMPLES};
    }
    return key_reduction_find(launches, shape->sample_count, shape->scalar_count, shape->pinned,
                              shape->kept, options->values);
}

static void scalars_of(const struct entry *entry, const uint32_t *order, uint32_t count,
                       uint32_t *scalars)
{
    for (uint32_t i = 0; i < count; i++)
        scalars[order[i]] = entry->scalars[i];
}

/* After words left: entries that are one now are merged. */
static void launch_signature_rekey(struct launch_signature *shape)
{
    struct entry *old = NULL, *next = NULL, *all = shape->entries;
    uint32_t *scalars = calloc(shape->scalar_count + 1, sizeof *scalars);
    uint32_t *order = shape->order, count = shape->order_count;
    shape->order = NULL;
    if (!scalars || !launch_signature_order(shape)) {
        shape->order = order; /* what left stays, until the next time */
        for (uint32_t i = 0; i < count; i++)
            shape->kept[order[i]] = 1;
        free(scalars);
        return;
    }
    shape->entries = shape->latest = NULL;
    shape->singles = 0;
    HASH_ITER(hh, all, old, next)
    {
        HASH_DEL(all, old);
        scalars_of(old, order, count, scalars);
        struct entry *entry = launch_signature_entry(shape, scalars);
        if (entry)
            entry_merge(entry, old);
        entry_free(old);
    }
    HASH_ITER(hh, shape->entries, old, next)
    {
        shape->singles += old->launches == 1;
    }
    free(order);
    free(scalars);
}

/* Where nothing can be said there is no telling what matters. */
static void launch_signature_forget_words(struct launch_signature *shape,
                                          const struct learner_options *options)
{
    struct entry *entry = NULL, *next = NULL;
    if (shape->scattered || shape->sample_count < options->values)
        return;
    HASH_ITER(hh, shape->entries, entry, next)
    {
        if (entry->state == ENTRY_UNTOLD)
            return;
    }
    if (words_leave(shape, options))
        launch_signature_rekey(shape);
}

/* ---- Learning ---- */

/* The entry's trace of that lesson. NULL: there is no room for it. */
static struct variant *entry_confirm(struct entry *entry, struct access_class *lesson,
                                     struct learned_set *set, const struct learn_launch *launch)
{
    bool clear = learned_relations_within(set, lesson->set);
    struct variant *variant = entry_add(entry, lesson, clear ? NULL : set);
    if (!variant)
        return NULL;
    if (variant->narrow && (clear || (launch && !learned_set_holds(variant->narrow, launch)))) {
        learned_set_release(variant->narrow);
        variant->narrow = NULL;
    }
    variant->seen++;
    variant->launches += entry->uncounted;
    lesson->launches += entry->uncounted;
    entry->uncounted = 0;
    return variant;
}

/* What depends on data under one key does so under another, if all that does not is the same: words
 * that the kernel never reads, as those of a structure that the program never set, are in keys,
 * too, and nobody would ever see the data change under any of them. */
static bool variants_are_within(const struct entry *entry, const struct learned_set *bound)
{
    bool within = true;
    for (uint32_t i = 0; within && i < entry->variant_count; i++)
        within = learned_set_is_within(variant_set(&entry->variants[i]), bound);
    return within;
}

static bool entry_is_within(const struct entry *entry, const struct learned_set *bound)
{
    return entry->state == ENTRY_LEARNING && entry->variant_count > 0 &&
           variants_are_within(entry, bound);
}

/* Whoever is within the bound has it, as those do that had the one `before`, which may be NULL. */
static void bound_spread(struct launch_signature *shape, struct learned_set *bound, uint8_t reason,
                         const struct learned_set *before)
{
    struct entry *entry = NULL, *next = NULL;
    HASH_ITER(hh, shape->entries, entry, next)
    {
        const struct learned_set *own = entry_bound(entry);
        bool takes = own ? own != bound && before && learned_bound_equal(own, before)
                         : entry_is_within(entry, bound);
        if (!takes)
            continue;
        entry_clear(entry);
        entry->bound = learned_set_retain(bound);
        entry->reason = reason;
        entry->state = ENTRY_DEPENDENT;
    }
}

/* Entries by what was in the key before: their bounds stay, though no sample may show them any
 * more. Words that are new in the key are 0 in theirs, and the traces under way are of other keys.
 */
static void bounds_keep(struct launch_signature *shape, struct entry *all, const uint32_t *order,
                        uint32_t count)
{
    struct entry *old = NULL, *next = NULL;
    HASH_ITER(hh, all, old, next)
    {
        uint32_t *scalars = entry_bound(old) ? calloc(shape->scalar_count + 1, 4) : NULL;
        HASH_DEL(all, old);
        old->asked = 0;
        if (scalars)
            scalars_of(old, order, count, scalars);
        struct entry *entry = scalars ? launch_signature_entry(shape, scalars) : NULL;
        if (entry)
            entry_merge(entry, old);
        if (entry && entry_bound(entry))
            bound_spread(shape, entry->bound, entry->reason, NULL);
        entry_free(old);
        free(scalars);
    }
}

/* What the samples alone tell, by what is in the key now. */
static void entries_rebuild(struct launch_signature *shape)
{
    for (size_t i = 0; i < shape->sample_count; i++) {
        const struct sample *sample = &shape->samples[i];
        struct entry of_sample = {
            .seen = sample->count, .launches = sample->count, .launched = true};
        struct variant *variant = entry_confirm(&of_sample, sample->lesson, sample->set, NULL);
        struct entry *entry = variant ? launch_signature_entry(shape, sample->scalars) : NULL;
        if (entry) {
            variant->seen = sample->count;
            variant->launches = sample->count;
            entry_merge(entry, &of_sample);
        }
        entry_clear(&of_sample);
    }
    struct entry *entry = NULL, *next = NULL;
    HASH_ITER(hh, shape->entries, entry, next)
    {
        shape->singles += entry->launches == 1;
    }
}

/* Whether a word outside the key may be why the launch is not as others of its entry. */
static bool may_be_explained(struct launch_signature *shape, const struct entry *entry,
                             const uint32_t *scalars, const struct access_class *lesson)
{
    bool any = false;
    uint8_t *other = calloc(shape->scalar_count + 1, 1); /* no sample has the launch's word */
    for (uint32_t word = 0; other && word < shape->scalar_count; word++)
        other[word] = !shape->kept[word];
    for (size_t i = 0; other && i < shape->sample_count; i++) {
        const struct sample *sample = &shape->samples[i];
        if (sample->lesson == lesson || launch_signature_find(shape, sample->scalars) != entry)
            continue;
        any = true;
        for (uint32_t word = 0; word < shape->scalar_count; word++)
            other[word] &= sample->scalars[word] != scalars[word];
    }
    bool may = !any && launch_signature_left(shape) > 0; /* nobody remembers */
    for (uint32_t word = 0; any && word < shape->scalar_count; word++)
        may = may || other[word];
    free(other);
    return may;
}

/* A word that left did matter, or what the kernel touches depends on data: what the samples do not
 * show to be without effect comes back for good, and all begins anew with them. */
static void launch_signature_restore(struct launch_signature *shape,
                                     const struct learner_options *options)
{
    uint8_t *before = malloc(shape->scalar_count + 1);
    if (!before)
        return;
    memcpy(before, shape->kept, shape->scalar_count);
    memset(shape->kept, 1, shape->scalar_count);
    shape->aligned = true;
    words_leave(shape, options);
    for (uint32_t i = 0; i < shape->scalar_count; i++)
        shape->pinned[i] |= shape->kept[i] && !before[i] && varies(shape, i);
    struct entry *all = shape->entries;
    uint32_t *order = shape->order, count = shape->order_count;
    shape->order = NULL;
    if (launch_signature_order(shape)) {
        shape->entries = shape->latest = NULL;
        shape->singles = 0;
        entries_rebuild(shape);
        bounds_keep(shape, all, order, count);
        free(order);
    } else {
        shape->order = order;
        shape->order_count = count;
        memcpy(shape->kept, before, shape->scalar_count);
    }
    free(before);
}

static void launch_signature_depends(struct launch_signature *shape, struct entry *entry,
                                     struct learned_set *set, uint8_t reason)
{
    struct learned_set *before = learned_set_retain(entry->bound);
    entry_depends(entry, set, reason);
    if (entry_bound(entry) && entry->bound != before)
        bound_spread(shape, entry->bound, entry->reason, before);
    learned_set_release(before);
}

/* Another entry with a bound that the set is within, and all that the entry had before; NULL: there
 * is none. */
static const struct entry *dependent_around(struct launch_signature *shape, const struct entry *own,
                                            const struct learned_set *set)
{
    struct entry *entry = NULL, *next = NULL;
    const struct learned_set *last = NULL;
    HASH_ITER(hh, shape->entries, entry, next)
    {
        const struct learned_set *bound = entry_bound(entry);
        if (!bound || bound == last)
            continue;
        if (learned_set_is_within(set, bound) && variants_are_within(own, bound))
            return entry;
        last = bound;
    }
    return NULL;
}

static bool learn_dependent(struct launch_signature *shape, struct entry *entry,
                            struct learned_set *set)
{
    const struct entry *other = dependent_around(shape, entry, set);
    if (!other)
        return false;
    entry->bound = learned_set_retain(other->bound);
    entry_depends(entry, set, other->reason);
    return true;
}

static void contradict(struct launch_signature *shape, struct entry *entry, const uint32_t *scalars,
                       struct learned_set *set, const struct access_class *lesson,
                       const struct learner_options *options)
{
    if (!shape->scattered && may_be_explained(shape, entry, scalars, lesson))
        launch_signature_restore(shape, options);
    else
        launch_signature_depends(shape, entry, set, LEARN_DIFFERS);
}

/* A coarse trace of the same bytes is no contradiction, and an exact one takes its place. */
static bool learn_coarse(struct launch_signature *shape, struct entry *entry,
                         const struct learn_launch *launch, struct learned_set *set)
{
    struct variant *variant = entry_variant(entry, launch);
    if (!variant || variant_set(variant)->inexact == set->inexact)
        return false;
    if (set->inexact) {
        variant->seen++;
        return true;
    }
    struct access_class *lesson = launch_signature_lesson(shape, set);
    if (!lesson)
        return true;
    variant = entry_variant(entry, launch); /* elsewhere, if lessons became one */
    if (!variant || !variant_set(variant)->inexact)
        return false;
    uint32_t seen = variant->seen;
    entry->uncounted += variant->launches;
    entry_remove(entry, variant);
    variant = entry_confirm(entry, lesson, set, NULL);
    if (variant)
        variant->seen += seen;
    return true;
}

static void learn(struct launch_signature *shape, struct entry *entry, const uint32_t *scalars,
                  const struct learn_launch *launch, struct learned_set *set,
                  const struct learner_options *options)
{
    if (learn_coarse(shape, entry, launch, set))
        return;
    struct access_class *lesson = launch_signature_lesson(shape, set);
    if (!lesson)
        return;
    sample_add(shape, scalars, set, lesson);
    const struct variant *told = entry_variant(entry, launch);
    const bool depends = learn_dependent(shape, entry, set);
    const bool other =
        told && told->lesson != lesson && learned_set_holds(variant_set(told), launch);
    if (!depends && (other || !entry_agrees(entry, lesson, set)))
        contradict(shape, entry, scalars, set, lesson, options);
    else if (!depends && !entry_confirm(entry, lesson, set, launch))
        launch_signature_depends(shape, entry, set, LEARN_CROWDED);
    else
        launch_signature_forget_words(shape, options);
}

void launch_signature_learn(struct launch_signature *shape, struct entry *entry,
                            const uint32_t *scalars, const struct learn_launch *launch,
                            struct learned_set *set, const struct learner_options *options)
{
    entry->seen++;
    entry->lost = 0;
    if (entry->state == ENTRY_DEPENDENT)
        launch_signature_depends(shape, entry, set, LEARN_DIFFERS);
    else if (entry->state == ENTRY_LEARNING)
        learn(shape, entry, scalars, launch, set, options);
    access_classes_bury(shape);
}

static bool is_used(const struct launch_signature *shape, const struct access_class *lesson)
{
    struct entry *entry = NULL, *next = NULL;
    HASH_ITER(hh, shape->entries, entry, next)
    {
        for (uint32_t i = 0; i < entry->variant_count; i++)
            if (entry->variants[i].lesson == lesson)
                return true;
    }
    return false;
}

static void access_classes_clear(struct launch_signature *shape, bool used)
{
    for (struct access_class **at = &shape->lessons; *at;) {
        struct access_class *lesson = *at;
        if (!used && is_used(shape, lesson)) {
            at = &lesson->next;
            continue;
        }
        *at = lesson->next;
        learned_set_release(lesson->set);
        free(lesson);
        shape->access_class_count--;
    }
}

void launch_signature_scatter(struct launch_signature *shape)
{
    struct entry *entry = NULL, *next = NULL;
    shape->scattered = true;
    memset(shape->kept, 0, shape->scalar_count);
    launch_signature_rekey(shape);
    HASH_ITER(hh, shape->entries, entry, next)
    {
        if (entry->state == ENTRY_DEPENDENT)
            entry->reason = LEARN_SCATTERED;
    }
    samples_clear(shape);
    access_classes_clear(shape, false);
}

void launch_signature_clear(struct launch_signature *shape)
{
    entries_clear(shape);
    samples_clear(shape);
    access_classes_clear(shape, true);
    access_classes_bury(shape);
    free(shape->bytes);
    free(shape->kept);
    free(shape->order);
    free(shape);
}

/* ---- Kernels ---- */

static struct launch_signature *launch_signature_create(const void *bytes, uint32_t signature_bytes,
                                                        uint32_t scalar_count,
                                                        uint32_t anchor_count)
{
    struct launch_signature *shape = calloc(1, sizeof *shape);
    if (!shape)
        return NULL;
    shape->bytes = malloc(signature_bytes + 1);
    shape->kept = calloc(2, scalar_count + 1);
    shape->signature_bytes = signature_bytes;
    shape->scalar_count = scalar_count;
    shape->anchor_count = anchor_count;
    if (shape->bytes && shape->kept) {
        memcpy(shape->bytes, bytes, signature_bytes);
        memset(shape->kept, 1, scalar_count - anchor_count);
        shape->pinned = shape->kept + scalar_count + 1;
        if (launch_signature_order(shape))
            return shape;
    }
    launch_signature_clear(shape);
    return NULL;
}

static bool launch_signature_is(const struct launch_signature *shape, const struct launch_key *key)
{
    return shape->signature_bytes == key->signature_bytes &&
           memcmp(shape->bytes, key->words, key->signature_bytes) == 0;
}

struct launch_signature *kernel_find_shape(struct learned_kernel *kernel,
                                           const struct launch_key *key)
{
    struct launch_signature *shape = kernel->latest;
    if (!shape || !launch_signature_is(shape, key)) {
        shape = NULL;
        HASH_FIND(hh, kernel->shapes, key->words, key->signature_bytes, shape);
    }
    if (!shape || shape->scalar_count != key->scalar_count)
        return NULL;
    kernel->latest = shape;
    return shape;
}

struct launch_signature *kernel_shape(struct learned_kernel *kernel, const void *bytes,
                                      uint32_t signature_bytes, uint32_t scalar_count,
                                      uint32_t anchor_count)
{
    struct launch_signature *shape = NULL;
    HASH_FIND(hh, kernel->shapes, bytes, signature_bytes, shape);
    if (shape)
        return shape->scalar_count == scalar_count ? shape : NULL;
    if (scalar_count >= anchor_count)
        shape = launch_signature_create(bytes, signature_bytes, scalar_count, anchor_count);
    if (!shape)
        return NULL;
    struct launch_signature *oldest = kernel->shapes;
    if (oldest && HASH_COUNT(kernel->shapes) >= SHAPES_MAX) {
        HASH_DEL(kernel->shapes, oldest);
        launch_signature_clear(oldest);
        kernel->latest = NULL;
    }
    HASH_ADD_KEYPTR(hh, kernel->shapes, shape->bytes, signature_bytes, shape);
    return shape;
}

struct learned_kernel *image_kernel(struct image_state *image, const char *name)
{
    struct learned_kernel *kernel = NULL;
    HASH_FIND(hh, image->kernels, name, strlen(name), kernel);
    if (kernel)
        return kernel;
    kernel = calloc(1, sizeof *kernel);
    char *copy = kernel ? strdup(name) : NULL;
    if (!copy) {
        free(kernel);
        return NULL;
    }
    kernel->image = image;
    kernel->name = copy;
    kernel->taught = 1; /* by a file that is being read */
    HASH_ADD_KEYPTR(hh, image->kernels, copy, strlen(copy), kernel);
    return kernel;
}

void image_clear(struct image_state *image)
{
    struct learned_kernel *kernel = NULL, *next = NULL;
    HASH_ITER(hh, image->kernels, kernel, next)
    {
        struct launch_signature *shape = NULL, *other = NULL;
        HASH_ITER(hh, kernel->shapes, shape, other)
        {
            HASH_DEL(kernel->shapes, shape);
            launch_signature_clear(shape);
        }
        HASH_DEL(image->kernels, kernel);
        parameter_uses_clear(&kernel->uses);
        directions_clear(&kernel->directions);
        free(kernel->name);
        free(kernel);
    }
    free(image);
}

/* The launches of one signature: their entries, and the words that distinguish these. */
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

static void entries_clear(struct launch_signature *signature)
{
    struct entry *entry = NULL, *next = NULL;
    signature->latest = NULL;
    HASH_ITER(hh, signature->entries, entry, next)
    {
        HASH_DEL(signature->entries, entry);
        entry_free(entry);
    }
    signature->singles = 0;
}

bool launch_signature_order(struct launch_signature *signature)
{
    uint32_t *order = malloc((signature->scalar_count + 1) * sizeof *order);
    if (!order)
        return false;
    free(signature->order);
    signature->order = order;
    signature->order_count = 0;
    for (uint32_t i = 0; i < signature->scalar_count; i++)
        if (signature->kept[i])
            order[signature->order_count++] = i;
    signature->first_count = 0;
    while (signature->first_count < signature->order_count &&
           order[signature->first_count] == signature->first_count)
        signature->first_count++;
    return true;
}

size_t launch_signature_left(const struct launch_signature *signature)
{
    size_t left = 0;
    for (uint32_t i = 0; i < signature->scalar_count - signature->anchor_count; i++)
        left += !signature->kept[i];
    return left;
}

static void in_order(const struct launch_signature *signature, const uint32_t *scalars,
                     uint32_t *key)
{
    for (uint32_t i = 0; i < signature->order_count; i++)
        key[i] = scalars[signature->order[i]];
}

/* Most launches are of the entry that was found last. */
static bool is_latest(const struct launch_signature *signature, const uint32_t *scalars)
{
    const struct entry *latest = signature->latest;
    bool is = latest && memcmp(latest->scalars, scalars, signature->first_count * 4) == 0;
    for (uint32_t i = signature->first_count; i < signature->order_count && is; i++)
        is = latest->scalars[i] == scalars[signature->order[i]];
    return is;
}

static struct entry *find_slow(struct launch_signature *signature, const uint32_t *scalars)
{
    uint32_t room[KEY_ROOM];
    uint32_t *key = signature->order_count <= KEY_ROOM ? room : malloc(signature->order_count * 4);
    struct entry *entry = NULL;
    if (!key)
        return NULL;
    in_order(signature, scalars, key);
    HASH_FIND(hh, signature->entries, key, signature->order_count * 4, entry);
    if (key != room)
        free(key);
    if (entry)
        signature->latest = entry;
    return entry;
}

struct entry *launch_signature_find(struct launch_signature *signature, const uint32_t *scalars)
{
    return is_latest(signature, scalars) ? signature->latest : find_slow(signature, scalars);
}

struct entry *launch_signature_entry(struct launch_signature *signature, const uint32_t *scalars)
{
    struct entry *entry = launch_signature_find(signature, scalars);
    if (entry)
        return entry;
    entry = calloc(1, sizeof *entry);
    uint32_t *key = entry ? malloc(signature->order_count * 4 + 4) : NULL;
    if (!key) {
        free(entry);
        return NULL;
    }
    in_order(signature, scalars, key);
    entry->scalars = key;
    HASH_ADD_KEYPTR(hh, signature->entries, key, signature->order_count * 4, entry);
    if (launch_signature_find(signature, scalars) == entry)
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

static void samples_clear(struct launch_signature *signature)
{
    for (size_t i = 0; i < signature->sample_count; i++)
        sample_clear(&signature->samples[i]);
    signature->sample_count = signature->sample_next = 0;
    agreements_clear(&signature->agreements);
}

static void sample_add(struct launch_signature *signature, const uint32_t *scalars,
                       struct learned_set *set, struct access_class *class)
{
    size_t bytes = signature->scalar_count * 4;
    for (size_t i = 0; i < signature->sample_count; i++) {
        struct sample *sample = &signature->samples[i];
        if (sample->class != class || memcmp(sample->scalars, scalars, bytes) != 0)
            continue;
        sample->count++;
        return;
    }
    uint32_t *copy = malloc(bytes + 4);
    if (!copy)
        return;
    memcpy(copy, scalars, bytes);
    struct sample *sample = &signature->samples[signature->sample_next];
    signature->sample_next = (signature->sample_next + 1) % SAMPLES;
    sample_clear(sample);
    *sample = (struct sample){copy, learned_set_retain(set), class, 1};
    if (signature->sample_count < SAMPLES)
        signature->sample_count++;
}

static bool varies(const struct launch_signature *signature, uint32_t word)
{
    for (size_t i = 1; i < signature->sample_count; i++)
        if (signature->samples[i].scalars[word] != signature->samples[0].scalars[word])
            return true;
    return false;
}

/* ---- Which words distinguish entries ---- */

/* A access class of the samples, and the first that has it. */
struct numbered {
    struct access_class *class;
    uint32_t sample;
};

/* With all before it that have the number. */
static bool agrees_with_all(struct agreements *agreements, const struct numbered *numbered,
                            uint32_t at, uint32_t number)
{
    for (uint32_t i = 0; i < at; i++)
        if (numbered[i].class->number == number &&
            !agreements_possible(agreements, numbered[i].sample, numbered[at].sample))
            return false;
    return true;
}

/* The samples' access classes, those with the fewest relations first. */
static uint32_t access_classes_list(struct launch_signature *signature, struct numbered *listed)
{
    uint32_t count = 0;
    for (struct access_class *class = signature->classes; class; class = class->next)
        class->number = UINT32_MAX;
    for (uint32_t i = 0; i < signature->sample_count; i++) {
        struct access_class *class = signature->samples[i].class;
        if (class->number != UINT32_MAX)
            continue;
        class->number = 0;
        agreements_put(&signature->agreements, i, class->set);
        uint32_t at = count++;
        for (; at && listed[at - 1].class->set->relation_count > class->set->relation_count; at--)
            listed[at] = listed[at - 1];
        listed[at] = (struct numbered){class, i};
    }
    return count;
}

/* Numbers the samples' access classes: equal ones are of launches that may have done the same. The
 * most general come first, for others may agree with several. */
static void access_classes_number(struct launch_signature *signature)
{
    struct numbered numbered[SAMPLES];
    uint32_t count = access_classes_list(signature, numbered), numbers = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = 0;
        while (number < numbers && !agrees_with_all(&signature->agreements, numbered, i, number))
            number++;
        numbers += number == numbers;
        numbered[i].class->number = number;
    }
}

/* Launches of a bound may have done the same, those of other entries if their access classes say
 * so. */
static uint32_t sample_number(struct launch_signature *signature, uint32_t at)
{
    const struct learned_set *bound =
        entry_bound(launch_signature_find(signature, signature->samples[at].scalars));
    if (!bound)
        return signature->samples[at].class->number;
    uint32_t first = 0;
    for (; first < at; first++) {
        const struct learned_set *other =
            entry_bound(launch_signature_find(signature, signature->samples[first].scalars));
        if (other && learned_bound_equal(bound, other))
            break;
    }
    return SAMPLES + first;
}

/* Removes words without an observed effect from `kept`. Returns how many. */
static size_t words_leave(struct launch_signature *signature, const struct learner_options *options)
{
    struct key_reduction_launch launches[SAMPLES];
    access_classes_number(signature);
    for (uint32_t i = 0; i < signature->sample_count; i++) {
        uint32_t number = sample_number(signature, i);
        launches[i] =
            (struct key_reduction_launch){signature->samples[i].scalars, number, number >= SAMPLES};
    }
    return key_reduction_find(launches, signature->sample_count, signature->scalar_count,
                              signature->pinned, signature->kept, options->values);
}

static void scalars_of(const struct entry *entry, const uint32_t *order, uint32_t count,
                       uint32_t *scalars)
{
    for (uint32_t i = 0; i < count; i++)
        scalars[order[i]] = entry->scalars[i];
}

/* After words left: entries that are one now are merged. */
static void launch_signature_rekey(struct launch_signature *signature)
{
    struct entry *old = NULL, *next = NULL, *all = signature->entries;
    uint32_t *scalars = calloc(signature->scalar_count + 1, sizeof *scalars);
    uint32_t *order = signature->order, count = signature->order_count;
    signature->order = NULL;
    if (!scalars || !launch_signature_order(signature)) {
        signature->order = order; /* what left stays, until the next time */
        for (uint32_t i = 0; i < count; i++)
            signature->kept[order[i]] = 1;
        free(scalars);
        return;
    }
    signature->entries = signature->latest = NULL;
    signature->singles = 0;
    HASH_ITER(hh, all, old, next)
    {
        HASH_DEL(all, old);
        scalars_of(old, order, count, scalars);
        struct entry *entry = launch_signature_entry(signature, scalars);
        if (entry)
            entry_merge(entry, old);
        entry_free(old);
    }
    HASH_ITER(hh, signature->entries, old, next)
    {
        signature->singles += old->launches == 1;
    }
    free(order);
    free(scalars);
}

/* Without a known set nothing says which words have an effect. */
static void launch_signature_forget_words(struct launch_signature *signature,
                                          const struct learner_options *options)
{
    struct entry *entry = NULL, *next = NULL;
    if (signature->scattered || signature->sample_count < options->values)
        return;
    HASH_ITER(hh, signature->entries, entry, next)
    {
        if (entry->state == ENTRY_UNKNOWN)
            return;
    }
    if (words_leave(signature, options))
        launch_signature_rekey(signature);
}

/* ---- Learning ---- */

/* The entry's trace of that access class. NULL: there is no room for it. */
static struct variant *entry_confirm(struct entry *entry, struct access_class *class,
                                     struct learned_set *set, const struct learn_launch *launch)
{
    bool clear = learned_relations_within(set, class->set);
    struct variant *variant = entry_add(entry, class, clear ? NULL : set);
    if (!variant)
        return NULL;
    if (variant->narrow && (clear || (launch && !learned_set_holds(variant->narrow, launch)))) {
        learned_set_release(variant->narrow);
        variant->narrow = NULL;
    }
    variant->seen++;
    variant->launches += entry->uncounted;
    class->launches += entry->uncounted;
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
static void bound_spread(struct launch_signature *signature, struct learned_set *bound,
                         uint8_t reason, const struct learned_set *before)
{
    struct entry *entry = NULL, *next = NULL;
    HASH_ITER(hh, signature->entries, entry, next)
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
static void bounds_keep(struct launch_signature *signature, struct entry *all,
                        const uint32_t *order, uint32_t count)
{
    struct entry *old = NULL, *next = NULL;
    HASH_ITER(hh, all, old, next)
    {
        uint32_t *scalars = entry_bound(old) ? calloc(signature->scalar_count + 1, 4) : NULL;
        HASH_DEL(all, old);
        old->asked = 0;
        if (scalars)
            scalars_of(old, order, count, scalars);
        struct entry *entry = scalars ? launch_signature_entry(signature, scalars) : NULL;
        if (entry)
            entry_merge(entry, old);
        if (entry && entry_bound(entry))
            bound_spread(signature, entry->bound, entry->reason, NULL);
        entry_free(old);
        free(scalars);
    }
}

/* Rebuilds the entries from the samples alone, by the words in the key now. */
static void entries_rebuild(struct launch_signature *signature)
{
    for (size_t i = 0; i < signature->sample_count; i++) {
        const struct sample *sample = &signature->samples[i];
        struct entry of_sample = {
            .seen = sample->count, .launches = sample->count, .launched = true};
        struct variant *variant = entry_confirm(&of_sample, sample->class, sample->set, NULL);
        struct entry *entry = variant ? launch_signature_entry(signature, sample->scalars) : NULL;
        if (entry) {
            variant->seen = sample->count;
            variant->launches = sample->count;
            entry_merge(entry, &of_sample);
        }
        entry_clear(&of_sample);
    }
    struct entry *entry = NULL, *next = NULL;
    HASH_ITER(hh, signature->entries, entry, next)
    {
        signature->singles += entry->launches == 1;
    }
}

/* Whether a word outside the key may be why the launch is not as others of its entry. */
static bool may_be_explained(struct launch_signature *signature, const struct entry *entry,
                             const uint32_t *scalars, const struct access_class *class)
{
    bool any = false;
    uint8_t *other = calloc(signature->scalar_count + 1, 1); /* no sample has the launch's word */
    for (uint32_t word = 0; other && word < signature->scalar_count; word++)
        other[word] = !signature->kept[word];
    for (size_t i = 0; other && i < signature->sample_count; i++) {
        const struct sample *sample = &signature->samples[i];
        if (sample->class == class || launch_signature_find(signature, sample->scalars) != entry)
            continue;
        any = true;
        for (uint32_t word = 0; word < signature->scalar_count; word++)
            other[word] &= sample->scalars[word] != scalars[word];
    }
    bool may = !any && launch_signature_left(signature) > 0; /* nobody remembers */
    for (uint32_t word = 0; any && word < signature->scalar_count; word++)
        may = may || other[word];
    free(other);
    return may;
}

/* Either a removed word has an effect, or the kernel's accesses depend on data. Words whose lack of
 * effect the samples do not show return to the key for good. Then the entries are rebuilt from the
 * samples. */
static void launch_signature_restore(struct launch_signature *signature,
                                     const struct learner_options *options)
{
    uint8_t *before = malloc(signature->scalar_count + 1);
    if (!before)
        return;
    memcpy(before, signature->kept, signature->scalar_count);
    memset(signature->kept, 1, signature->scalar_count);
    signature->aligned = true;
    words_leave(signature, options);
    for (uint32_t i = 0; i < signature->scalar_count; i++)
        signature->pinned[i] |= signature->kept[i] && !before[i] && varies(signature, i);
    struct entry *all = signature->entries;
    uint32_t *order = signature->order, count = signature->order_count;
    signature->order = NULL;
    if (launch_signature_order(signature)) {
        signature->entries = signature->latest = NULL;
        signature->singles = 0;
        entries_rebuild(signature);
        bounds_keep(signature, all, order, count);
        free(order);
    } else {
        signature->order = order;
        signature->order_count = count;
        memcpy(signature->kept, before, signature->scalar_count);
    }
    free(before);
}

static void launch_signature_depends(struct launch_signature *signature, struct entry *entry,
                                     struct learned_set *set, uint8_t reason)
{
    struct learned_set *before = learned_set_retain(entry->bound);
    entry_depends(entry, set, reason);
    if (entry_bound(entry) && entry->bound != before)
        bound_spread(signature, entry->bound, entry->reason, before);
    learned_set_release(before);
}

/* Another entry with a bound that the set is within, and all that the entry had before; NULL: there
 * is none. */
static const struct entry *dependent_around(struct launch_signature *signature,
                                            const struct entry *own, const struct learned_set *set)
{
    struct entry *entry = NULL, *next = NULL;
    const struct learned_set *last = NULL;
    HASH_ITER(hh, signature->entries, entry, next)
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

static bool learn_dependent(struct launch_signature *signature, struct entry *entry,
                            struct learned_set *set)
{
    const struct entry *other = dependent_around(signature, entry, set);
    if (!other)
        return false;
    entry->bound = learned_set_retain(other->bound);
    entry_depends(entry, set, other->reason);
    return true;
}

static void contradict(struct launch_signature *signature, struct entry *entry,
                       const uint32_t *scalars, struct learned_set *set,
                       const struct access_class *class, const struct learner_options *options)
{
    if (!signature->scattered && may_be_explained(signature, entry, scalars, class))
        launch_signature_restore(signature, options);
    else
        launch_signature_depends(signature, entry, set, LEARN_DIFFERS);
}

/* A coarse trace of the same bytes is no contradiction, and an exact one replaces it. */
static bool learn_coarse(struct launch_signature *signature, struct entry *entry,
                         const struct learn_launch *launch, struct learned_set *set)
{
    struct variant *variant = entry_variant(entry, launch);
    if (!variant || variant_set(variant)->inexact == set->inexact)
        return false;
    if (set->inexact) {
        variant->seen++;
        return true;
    }
    struct access_class *class = launch_signature_class(signature, set);
    if (!class)
        return true;
    variant = entry_variant(entry, launch); /* at another address, if access classes were merged */
    if (!variant || !variant_set(variant)->inexact)
        return false;
    uint32_t seen = variant->seen;
    entry->uncounted += variant->launches;
    entry_remove(entry, variant);
    variant = entry_confirm(entry, class, set, NULL);
    if (variant)
        variant->seen += seen;
    return true;
}

static void learn(struct launch_signature *signature, struct entry *entry, const uint32_t *scalars,
                  const struct learn_launch *launch, struct learned_set *set,
                  const struct learner_options *options)
{
    if (learn_coarse(signature, entry, launch, set))
        return;
    struct access_class *class = launch_signature_class(signature, set);
    if (!class)
        return;
    sample_add(signature, scalars, set, class);
    const struct variant *standing = entry_variant(entry, launch);
    const bool depends = learn_dependent(signature, entry, set);
    const bool other =
        standing && standing->class != class && learned_set_holds(variant_set(standing), launch);
    if (!depends && (other || !entry_agrees(entry, class, set)))
        contradict(signature, entry, scalars, set, class, options);
    else if (!depends && !entry_confirm(entry, class, set, launch))
        launch_signature_depends(signature, entry, set, LEARN_CROWDED);
    else
        launch_signature_forget_words(signature, options);
}

void launch_signature_learn(struct launch_signature *signature, struct entry *entry,
                            const uint32_t *scalars, const struct learn_launch *launch,
                            struct learned_set *set, const struct learner_options *options)
{
    entry->seen++;
    entry->lost = 0;
    if (entry->state == ENTRY_DEPENDENT)
        launch_signature_depends(signature, entry, set, LEARN_DIFFERS);
    else if (entry->state == ENTRY_LEARNING)
        learn(signature, entry, scalars, launch, set, options);
    access_classes_bury(signature);
}

static bool is_used(const struct launch_signature *signature, const struct access_class *class)
{
    struct entry *entry = NULL, *next = NULL;
    HASH_ITER(hh, signature->entries, entry, next)
    {
        for (uint32_t i = 0; i < entry->variant_count; i++)
            if (entry->variants[i].class == class)
                return true;
    }
    return false;
}

static void access_classes_clear(struct launch_signature *signature, bool used)
{
    for (struct access_class **at = &signature->classes; *at;) {
        struct access_class *class = *at;
        if (!used && is_used(signature, class)) {
            at = &class->next;
            continue;
        }
        *at = class->next;
        learned_set_release(class->set);
        free(class);
        signature->access_class_count--;
    }
}

void launch_signature_scatter(struct launch_signature *signature)
{
    struct entry *entry = NULL, *next = NULL;
    signature->scattered = true;
    memset(signature->kept, 0, signature->scalar_count);
    launch_signature_rekey(signature);
    HASH_ITER(hh, signature->entries, entry, next)
    {
        if (entry->state == ENTRY_DEPENDENT)
            entry->reason = LEARN_SCATTERED;
    }
    samples_clear(signature);
    access_classes_clear(signature, false);
}

void launch_signature_clear(struct launch_signature *signature)
{
    entries_clear(signature);
    samples_clear(signature);
    access_classes_clear(signature, true);
    access_classes_bury(signature);
    free(signature->bytes);
    free(signature->kept);
    free(signature->order);
    free(signature);
}

/* ---- Kernels ---- */

static struct launch_signature *launch_signature_create(const void *bytes, uint32_t signature_bytes,
                                                        uint32_t scalar_count,
                                                        uint32_t anchor_count)
{
    struct launch_signature *signature = calloc(1, sizeof *signature);
    if (!signature)
        return NULL;
    signature->bytes = malloc(signature_bytes + 1);
    signature->kept = calloc(2, scalar_count + 1);
    signature->signature_bytes = signature_bytes;
    signature->scalar_count = scalar_count;
    signature->anchor_count = anchor_count;
    if (signature->bytes && signature->kept) {
        memcpy(signature->bytes, bytes, signature_bytes);
        memset(signature->kept, 1, scalar_count - anchor_count);
        signature->pinned = signature->kept + scalar_count + 1;
        if (launch_signature_order(signature))
            return signature;
    }
    launch_signature_clear(signature);
    return NULL;
}

static bool launch_signature_is(const struct launch_signature *signature,
                                const struct launch_key *key)
{
    return signature->signature_bytes == key->signature_bytes &&
           memcmp(signature->bytes, key->words, key->signature_bytes) == 0;
}

struct launch_signature *kernel_find_signature(struct learned_kernel *kernel,
                                               const struct launch_key *key)
{
    struct launch_signature *signature = kernel->latest;
    if (!signature || !launch_signature_is(signature, key)) {
        signature = NULL;
        HASH_FIND(hh, kernel->signatures, key->words, key->signature_bytes, signature);
    }
    if (!signature || signature->scalar_count != key->scalar_count)
        return NULL;
    kernel->latest = signature;
    return signature;
}

struct launch_signature *kernel_signature(struct learned_kernel *kernel, const void *bytes,
                                          uint32_t signature_bytes, uint32_t scalar_count,
                                          uint32_t anchor_count)
{
    struct launch_signature *signature = NULL;
    HASH_FIND(hh, kernel->signatures, bytes, signature_bytes, signature);
    if (signature)
        return signature->scalar_count == scalar_count ? signature : NULL;
    if (scalar_count >= anchor_count)
        signature = launch_signature_create(bytes, signature_bytes, scalar_count, anchor_count);
    if (!signature)
        return NULL;
    struct launch_signature *oldest = kernel->signatures;
    if (oldest && HASH_COUNT(kernel->signatures) >= SHAPES_MAX) {
        HASH_DEL(kernel->signatures, oldest);
        launch_signature_clear(oldest);
        kernel->latest = NULL;
    }
    HASH_ADD_KEYPTR(hh, kernel->signatures, signature->bytes, signature_bytes, signature);
    return signature;
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
        struct launch_signature *signature = NULL, *other = NULL;
        HASH_ITER(hh, kernel->signatures, signature, other)
        {
            HASH_DEL(kernel->signatures, signature);
            launch_signature_clear(signature);
        }
        HASH_DEL(image->kernels, kernel);
        parameter_uses_clear(&kernel->uses);
        directions_clear(&kernel->directions);
        free(kernel->name);
        free(kernel);
    }
    free(image);
}

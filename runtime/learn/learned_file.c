/* Files of learned sets. See learned_file.h. */
#include "runtime/learn/learned_file.h"
#include "csan/recording/recording_format.h"
#include <csan/csan.h>
#include "runtime/learn/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

static const uint8_t magic[8] = {0x89, 'C', 'S', 'A', 'N', 'L', '\r', '\n'};

enum {
    FORMAT_VERSION = 10, /* also of keys and sets, and what runtime/sass says of parameters */
    HEAD_BYTES = 20,
    UNPACKED_MAX = 1 << 28,
    SHAPE_BYTES_MAX = 1 << 20,
    PACK_LEVEL = 3,
    LOCK_TRIES = 200, /* of 10 ms */
    MESSAGE = 256
};

/* ---- Numbers and bytes ---- */

static void put_number(struct byte_buffer *buffer, uint64_t value)
{
    if (byte_buffer_reserve(buffer, NUMBER_BYTES_MAX))
        byte_buffer_put(buffer, value);
}

static void put_bytes(struct byte_buffer *buffer, const void *bytes, size_t count)
{
    if (!byte_buffer_reserve(buffer, count) || !count)
        return;
    memcpy(buffer->data + buffer->length, bytes, count);
    buffer->length += count;
}

static void put_text(struct byte_buffer *buffer, const char *text)
{
    put_number(buffer, strlen(text));
    put_bytes(buffer, text, strlen(text) + 1);
}

/* A bit for each byte that is not 0. */
static void put_bits(struct byte_buffer *buffer, const uint8_t *flags, size_t count)
{
    for (size_t i = 0; i < count; i += 8) {
        uint8_t bits = 0;
        for (size_t k = 0; k < 8 && i + k < count; k++)
            bits |= (uint8_t)((flags[i + k] != 0) << k);
        put_bytes(buffer, &bits, 1);
    }
}

static const uint8_t *take_bytes(struct byte_cursor *cursor, size_t count)
{
    const uint8_t *at = cursor->at;
    if (cursor->failed || (size_t)(cursor->end - cursor->at) < count) {
        cursor->failed = true;
        return NULL;
    }
    cursor->at += count;
    return at;
}

static void take_bits(struct byte_cursor *cursor, uint8_t *flags, size_t count)
{
    const uint8_t *bits = take_bytes(cursor, (count + 7) / 8);
    for (size_t i = 0; bits && i < count; i++)
        flags[i] = bits[i / 8] >> i % 8 & 1;
}

/* ---- Sets ---- */

enum { FORM_KIND = 3, FORM_WHOLE = 4, FORM_DIMS_SHIFT = 3 };

static void put_set(struct byte_buffer *buffer, const struct learned_set *set)
{
    uint64_t before = 0;
    put_number(buffer, set->inexact);
    put_number(buffer, set->count);
    for (uint32_t i = 0; i < set->count; i++) {
        const struct learned_range *range = &set->ranges[i];
        put_number(buffer, range->anchor);
        put_number(buffer, range->kind | (range->whole ? FORM_WHOLE : 0) |
                               (unsigned)range->dims << FORM_DIMS_SHIFT);
        put_number(buffer, zigzag((uint64_t)range->offset - before));
        put_number(buffer, range->bytes);
        for (uint8_t k = 0; k < range->dims; k++) {
            put_number(buffer, range->stride[k]);
            put_number(buffer, range->count[k]);
        }
        before = (uint64_t)range->offset;
    }
    put_number(buffer, set->relation_count);
    for (uint32_t i = 0; i < set->relation_count; i++) {
        put_number(buffer, set->relations[i].from);
        put_number(buffer, (uint64_t)set->relations[i].to << 1 | set->relations[i].assumed);
        put_number(buffer, zigzag((uint64_t)set->relations[i].distance));
    }
}

/* False: it makes no sense. */
static bool range_holds(const struct learned_range *range, uint32_t anchor_count)
{
    unsigned __int128 span = range->bytes;
    if (range->anchor >= anchor_count || range->kind > DEVICE_TRACE_ATOMIC ||
        range->whole == (range->bytes > 0))
        return false;
    for (uint8_t k = 0; k < range->dims; k++) {
        if (!range->count[k] || !range->stride[k] || range->whole)
            return false;
        span += (unsigned __int128)range->stride[k] * (range->count[k] - 1);
        if (span >> 62)
            return false;
    }
    return span >> 62 == 0 && range->offset > INT64_MIN / 4 && range->offset < INT64_MAX / 4;
}

static bool take_range(struct byte_cursor *cursor, struct learned_range *range, uint64_t before,
                       uint32_t anchor_count)
{
    uint64_t anchor = byte_cursor_number(cursor), form = byte_cursor_number(cursor);
    *range = (struct learned_range){.anchor = (uint16_t)anchor,
                                    .kind = form & FORM_KIND,
                                    .whole = form & FORM_WHOLE,
                                    .dims = (uint8_t)(form >> FORM_DIMS_SHIFT)};
    range->offset = (int64_t)(before + unzigzag(byte_cursor_number(cursor)));
    range->bytes = byte_cursor_number(cursor);
    if (anchor >= LEARNED_NO_ANCHOR || form >> FORM_DIMS_SHIFT > LEARNED_DIMS)
        return false;
    for (uint8_t k = 0; k < range->dims; k++) {
        range->stride[k] = byte_cursor_number(cursor);
        range->count[k] = byte_cursor_number(cursor);
    }
    return !cursor->failed && range_holds(range, anchor_count);
}

static struct learned_range *take_ranges(struct byte_cursor *cursor, size_t count,
                                         uint32_t anchor_count)
{
    uint64_t before = 0;
    struct learned_range *ranges = malloc((count + 1) * sizeof *ranges);
    for (size_t i = 0; ranges && !cursor->failed && i < count; i++) {
        if (!take_range(cursor, &ranges[i], before, anchor_count))
            cursor->failed = true;
        before = (uint64_t)ranges[i].offset;
    }
    return ranges;
}

static struct learned_relation *take_relations(struct byte_cursor *cursor, size_t count,
                                               uint32_t anchor_count)
{
    struct learned_relation *relations = malloc((count + 1) * sizeof *relations);
    for (size_t i = 0; relations && !cursor->failed && i < count; i++) {
        uint64_t from = byte_cursor_number(cursor), form = byte_cursor_number(cursor);
        uint64_t to = form >> 1;
        if (from >= anchor_count || to >= anchor_count || from == to)
            cursor->failed = true;
        relations[i] =
            (struct learned_relation){.from = (uint16_t)from,
                                      .to = (uint16_t)to,
                                      .distance = (int64_t)unzigzag(byte_cursor_number(cursor)),
                                      .assumed = form & 1};
    }
    return relations;
}

static struct learned_set *take_set(struct byte_cursor *cursor, uint32_t anchor_count)
{
    bool inexact = byte_cursor_number(cursor) != 0;
    size_t count = byte_cursor_count(cursor);
    if (cursor->failed || count > LEARNED_RANGES + LEARN_MAX_ANCHORS * 3) {
        cursor->failed = true;
        return NULL;
    }
    struct learned_range *ranges = take_ranges(cursor, count, anchor_count);
    size_t relation_count = cursor->failed ? 0 : byte_cursor_count(cursor);
    struct learned_relation *relations = take_relations(cursor, relation_count, anchor_count);
    struct learned_set *set = NULL;
    if (ranges && relations && !cursor->failed)
        set = learned_set_of_ranges(ranges, (uint32_t)count, relations, (uint32_t)relation_count,
                                    inexact);
    free(relations);
    free(ranges);
    if (set && set->whole && !inexact) { /* it makes no sense */
        cursor->failed = true;
        learned_set_release(set);
        return NULL;
    }
    return set;
}

/* ---- Entries and signatures ---- */

enum { FLAG_SCATTERED = 1, FLAG_ALIGNED = 2, FORM_NARROW = 1 };

static bool class_is_process_local(const struct access_class *class)
{
    return class->set->block_count > 0;
}

static bool entry_is_process_local(const struct entry *entry)
{
    bool kept = entry->state != ENTRY_LEARNING && entry->reason != LEARN_LOST;
    for (uint32_t i = 0; i < entry->variant_count; i++)
        kept = kept || !class_is_process_local(entry->variants[i].class);
    return !kept;
}

static void put_variants(struct byte_buffer *buffer, const struct entry *entry)
{
    size_t count = 0;
    for (uint32_t i = 0; i < entry->variant_count; i++)
        count += !class_is_process_local(entry->variants[i].class);
    put_number(buffer, count);
    for (uint32_t i = 0; i < entry->variant_count; i++) {
        const struct variant *variant = &entry->variants[i];
        if (class_is_process_local(variant->class))
            continue;
        put_number(buffer, variant->class->number);
        put_number(buffer, variant->seen);
        put_number(buffer, variant->launches);
        put_number(buffer, variant->narrow ? FORM_NARROW : 0);
        if (variant->narrow)
            put_set(buffer, variant->narrow);
    }
}

static void put_entry(struct byte_buffer *buffer, const struct launch_signature *signature,
                      const struct entry *entry)
{
    put_number(buffer, entry->state);
    put_number(buffer, entry->reason);
    put_number(buffer, entry->seen);
    put_number(buffer, entry->launches);
    for (uint32_t i = 0; i < signature->order_count; i++)
        put_number(buffer, entry->scalars[i]);
    if (entry->state == ENTRY_DEPENDENT)
        put_set(buffer, entry->bound);
    else if (entry->state == ENTRY_LEARNING)
        put_variants(buffer, entry);
}

static void put_classes(struct byte_buffer *buffer, const struct launch_signature *signature)
{
    uint32_t count = 0;
    for (struct access_class *class = signature->classes; class; class = class->next)
        if (!class_is_process_local(class))
            class->number = count++;
    put_number(buffer, count);
    for (const struct access_class *class = signature->classes; class; class = class->next) {
        if (class_is_process_local(class))
            continue;
        put_number(buffer, class->launches);
        put_set(buffer, class->set);
    }
}

static void put_signature(struct byte_buffer *buffer, const struct launch_signature *signature)
{
    struct entry *entry = NULL, *next = NULL;
    size_t count = 0;
    put_number(buffer, signature->signature_bytes);
    put_bytes(buffer, signature->bytes, signature->signature_bytes);
    put_number(buffer, signature->scalar_count);
    put_number(buffer, signature->anchor_count);
    put_bits(buffer, signature->kept, signature->scalar_count);
    put_bits(buffer, signature->pinned, signature->scalar_count);
    put_number(buffer, (signature->scattered ? FLAG_SCATTERED : 0) |
                           (signature->aligned ? FLAG_ALIGNED : 0));
    put_classes(buffer, signature);
    HASH_ITER(hh, signature->entries, entry, next)
    {
        count += !entry_is_process_local(entry);
    }
    put_number(buffer, count);
    HASH_ITER(hh, signature->entries, entry, next)
    {
        if (!entry_is_process_local(entry))
            put_entry(buffer, signature, entry);
    }
}

/* By their numbers; NULL: they make no sense. The signature owns them. */
static struct access_class **take_classes(struct byte_cursor *cursor,
                                          struct launch_signature *signature, size_t *count)
{
    *count = byte_cursor_count(cursor);
    struct access_class **classes = cursor->failed ? NULL : calloc(*count + 1, sizeof *classes);
    struct access_class **end = &signature->classes;
    for (size_t i = 0; classes && i < *count && !cursor->failed; i++) {
        uint64_t launches = byte_cursor_number(cursor);
        struct learned_set *set = take_set(cursor, signature->anchor_count);
        struct access_class *class = set ? calloc(1, sizeof *class) : NULL;
        if (!class) {
            cursor->failed = true;
            learned_set_release(set);
            break;
        }
        *class = (struct access_class){.set = set, .launches = launches};
        *end = classes[i] = class;
        end = &class->next;
        signature->access_class_count++;
    }
    return classes;
}

static void take_variants(struct byte_cursor *cursor, const struct launch_signature *signature,
                          struct access_class **classes, size_t access_class_count,
                          struct entry *entry)
{
    size_t count = byte_cursor_count(cursor);
    for (size_t i = 0; i < count && !cursor->failed; i++) {
        uint64_t number = byte_cursor_number(cursor), seen = byte_cursor_number(cursor);
        uint64_t launches = byte_cursor_number(cursor);
        struct learned_set *narrow = byte_cursor_number(cursor) & FORM_NARROW
                                         ? take_set(cursor, signature->anchor_count)
                                         : NULL;
        struct variant *variant = !cursor->failed && number < access_class_count
                                      ? entry_add(entry, classes[number], narrow)
                                      : NULL;
        learned_set_release(narrow);
        if (!variant) {
            cursor->failed = true;
            break;
        }
        variant->seen = (uint32_t)seen;
        variant->launches = launches;
    }
}

static bool entry_holds(const struct entry *entry)
{
    switch (entry->state) {
    case ENTRY_UNKNOWN:
        return entry->reason < LEARN_UNKNOWN_REASONS;
    case ENTRY_DEPENDENT:
        return entry->bound && entry->reason < LEARN_REASONS;
    default:
        return entry->state == ENTRY_LEARNING;
    }
}

/* False: it makes no sense. The entry is the caller's, to clear. */
static bool take_entry(struct byte_cursor *cursor, const struct launch_signature *signature,
                       struct access_class **classes, size_t access_class_count, uint32_t *scalars,
                       struct entry *entry)
{
    *entry = (struct entry){.state = (uint8_t)byte_cursor_number(cursor)};
    entry->reason = (uint8_t)byte_cursor_number(cursor);
    entry->seen = (uint32_t)byte_cursor_number(cursor);
    entry->launches = byte_cursor_number(cursor);
    for (uint32_t i = 0; i < signature->order_count; i++)
        scalars[signature->order[i]] = (uint32_t)byte_cursor_number(cursor);
    if (entry->state == ENTRY_DEPENDENT) {
        entry->bound = take_set(cursor, signature->anchor_count);
    } else if (entry->state == ENTRY_LEARNING) {
        take_variants(cursor, signature, classes, access_class_count, entry);
    }
    if (!entry_holds(entry))
        cursor->failed = true;
    return !cursor->failed;
}

static void take_entries(struct byte_cursor *cursor, struct launch_signature *signature)
{
    uint64_t flags = byte_cursor_number(cursor);
    size_t access_class_count = 0;
    signature->scattered = flags & FLAG_SCATTERED;
    signature->aligned = flags & FLAG_ALIGNED;
    struct access_class **classes = take_classes(cursor, signature, &access_class_count);
    size_t count = byte_cursor_count(cursor);
    uint32_t *scalars = calloc(signature->scalar_count + 1, sizeof *scalars);
    for (size_t i = 0; scalars && classes && i < count && !cursor->failed; i++) {
        struct entry read;
        if (take_entry(cursor, signature, classes, access_class_count, scalars, &read)) {
            struct entry *entry = launch_signature_entry(signature, scalars);
            if (entry)
                entry_merge(entry, &read);
        }
        entry_clear(&read);
    }
    free(scalars);
    free(classes);
}

static void take_signature(struct byte_cursor *cursor, struct learned_kernel *kernel)
{
    size_t signature_bytes = byte_cursor_count(cursor);
    const uint8_t *bytes = take_bytes(cursor, signature_bytes);
    uint64_t scalar_count = byte_cursor_number(cursor), anchors = byte_cursor_number(cursor);
    struct learn_anchor room[LEARN_MAX_ANCHORS];
    struct learn_launch launch;
    if (!bytes || scalar_count > SHAPE_BYTES_MAX || scalar_count < anchors ||
        !launch_key_read_signature(bytes, (uint32_t)signature_bytes, &launch, room) ||
        launch.anchor_count != anchors) {
        cursor->failed = true;
        return;
    }
    size_t before = HASH_COUNT(kernel->signatures);
    struct launch_signature *signature = kernel_signature(
        kernel, bytes, (uint32_t)signature_bytes, (uint32_t)scalar_count, (uint32_t)anchors);
    if (!signature || HASH_COUNT(kernel->signatures) == before) { /* one signature twice */
        cursor->failed = true;
        return;
    }
    take_bits(cursor, signature->kept, signature->scalar_count);
    take_bits(cursor, signature->pinned, signature->scalar_count);
    if (!cursor->failed && launch_signature_order(signature))
        take_entries(cursor, signature);
    else
        cursor->failed = true;
}

/* ---- Images ---- */

void learned_version(char *text, size_t bytes)
{
    snprintf(text, bytes, "%d.%d.%d", CSAN_VERSION_MAJOR, CSAN_VERSION_MINOR, FORMAT_VERSION);
}

static void put_image(struct byte_buffer *buffer, const struct image_state *image)
{
    struct learned_kernel *kernel = NULL, *next = NULL;
    char version[32];
    learned_version(version, sizeof version);
    put_text(buffer, version);
    put_number(buffer, image->id.words[0]);
    put_number(buffer, image->id.words[1]);
    put_number(buffer, HASH_COUNT(image->kernels));
    HASH_ITER(hh, image->kernels, kernel, next)
    {
        struct launch_signature *signature = NULL, *other = NULL;
        put_text(buffer, kernel->name);
        parameter_uses_put(buffer, &kernel->uses);
        put_number(buffer, HASH_COUNT(kernel->signatures));
        HASH_ITER(hh, kernel->signatures, signature, other)
        {
            put_signature(buffer, signature);
        }
    }
}

static void take_image(struct byte_cursor *cursor, struct image_state *image)
{
    char version[32];
    learned_version(version, sizeof version);
    const char *written = byte_cursor_text(cursor);
    image->id.words[0] = byte_cursor_number(cursor);
    image->id.words[1] = byte_cursor_number(cursor);
    if (cursor->failed || strcmp(written, version) != 0) {
        cursor->failed = true;
        return;
    }
    size_t count = byte_cursor_count(cursor);
    for (size_t i = 0; i < count && !cursor->failed; i++) {
        const char *name = byte_cursor_text(cursor);
        struct learned_kernel *kernel = cursor->failed ? NULL : image_kernel(image, name);
        if (kernel) {
            parameter_uses_clear(&kernel->uses);
            parameter_uses_take(cursor, &kernel->uses);
        }
        size_t signatures = byte_cursor_count(cursor);
        for (size_t k = 0; kernel && k < signatures && !cursor->failed; k++)
            take_signature(cursor, kernel);
        if (!kernel)
            cursor->failed = true;
    }
}

/* ---- Files ---- */

uint8_t *learned_file_contents(const char *path, size_t *bytes, char *message, size_t message_bytes)
{
    struct stat status;
    uint8_t *contents = NULL;
    int file = cache_open(path);
    *message = '\0';
    if (file < 0 || fstat(file, &status) != 0) {
        if (errno != ENOENT)
            snprintf(message, message_bytes, "%s", strerror(errno));
    } else if (!S_ISREG(status.st_mode) || status.st_size > UNPACKED_MAX) {
        snprintf(message, message_bytes,
                 S_ISREG(status.st_mode) ? "it is too large" : "it is no file");
    } else {
        *bytes = (size_t)status.st_size;
        contents = malloc(*bytes + 1);
        if (contents && read(file, contents, *bytes) != (ssize_t)*bytes) {
            snprintf(message, message_bytes, "it cannot be read as a whole");
            free(contents);
            contents = NULL;
        }
        futimens(file, NULL); /* it was used: see directory_shrink */
    }
    if (file >= 0)
        close(file);
    return contents;
}

static uint64_t little_endian(const uint8_t *bytes, int count)
{
    uint64_t value = 0;
    for (int i = 0; i < count; i++)
        value |= (uint64_t)bytes[i] << 8 * i;
    return value;
}

uint8_t *learned_file_unpack(const uint8_t *contents, size_t bytes, size_t *unpacked_bytes)
{
    if (bytes < HEAD_BYTES || memcmp(contents, magic, sizeof magic) != 0 ||
        little_endian(contents + 8, 4) != recording_crc(0, contents + 12, bytes - 12))
        return NULL;
    uint64_t wanted = little_endian(contents + 12, 8);
    uint8_t *unpacked = wanted <= UNPACKED_MAX ? malloc(wanted + 1) : NULL;
    if (!unpacked)
        return NULL;
    *unpacked_bytes = (size_t)wanted;
    if (ZSTD_decompress(unpacked, wanted, contents + HEAD_BYTES, bytes - HEAD_BYTES) == wanted)
        return unpacked;
    free(unpacked);
    return NULL;
}

struct image_state *learned_file_take(const uint8_t *contents, size_t bytes)
{
    size_t unpacked_bytes = 0;
    uint8_t *unpacked = learned_file_unpack(contents, bytes, &unpacked_bytes);
    struct image_state *image = unpacked ? calloc(1, sizeof *image) : NULL;
    if (image) {
        struct byte_cursor cursor = {.at = unpacked, .end = unpacked + unpacked_bytes};
        take_image(&cursor, image);
        if (cursor.failed) {
            image_clear(image);
            image = NULL;
        }
    }
    free(unpacked);
    return image;
}

struct image_state *learned_file_open(const char *path, char *message, size_t message_bytes)
{
    size_t bytes = 0;
    uint8_t *contents = learned_file_contents(path, &bytes, message, message_bytes);
    if (!contents)
        return NULL;
    struct image_state *image = learned_file_take(contents, bytes);
    if (!image)
        snprintf(message, message_bytes, "it is damaged or another version's");
    free(contents);
    return image;
}

static void image_path(const struct learner_options *options, struct learn_image id, char *path,
                       size_t bytes)
{
    char version[32];
    learned_version(version, sizeof version);
    snprintf(path, bytes, "%s/%016llx%016llx-%s" LEARNED_SUFFIX, options->cache,
             (unsigned long long)id.words[0], (unsigned long long)id.words[1], version);
}

/* What the image's file holds; NULL: there is none that can be read. */
static struct image_state *image_on_disk(const struct learner_options *options,
                                         struct learn_image id)
{
    char path[PATH_MAX], message[MESSAGE], text[PATH_MAX + MESSAGE + 64];
    image_path(options, id, path, sizeof path);
    struct image_state *image = learned_file_open(path, message, sizeof message);
    if (image && memcmp(&image->id, &id, sizeof id) != 0) {
        snprintf(message, sizeof message, "it is another image's");
        image_clear(image);
        image = NULL;
    }
    if (!image && *message && options->note) {
        snprintf(text, sizeof text, "learned sets in %s are not used: %s", path, message);
        options->note(text);
    }
    return image;
}

void learned_file_read(const struct learner_options *options, struct image_state *image)
{
    struct image_state *read = image_on_disk(options, image->id);
    if (!read)
        return;
    struct learned_kernel *kernel = NULL, *next = NULL;
    HASH_ITER(hh, read->kernels, kernel, next)
    {
        kernel->image = image;
    }
    image->kernels = read->kernels;
    free(read);
}

/* ---- Merging ---- */

/* The other's access classes become this one's. */
static void entry_translate(struct launch_signature *signature, const struct entry *entry,
                            struct entry *translated)
{
    *translated = (struct entry){.state = entry->state,
                                 .reason = entry->reason,
                                 .seen = entry->seen,
                                 .launches = entry->launches,
                                 .bound = learned_set_retain(entry->bound)};
    struct access_class *classes[VARIANTS_MAX];
    for (uint32_t i = 0; i < entry->variant_count; i++) {
        const struct access_class *theirs = entry->variants[i].class;
        classes[i] =
            launch_signature_class(signature, theirs->set); /* may absorb those before it */
        if (classes[i] && theirs->launches > classes[i]->launches)
            classes[i]->launches = theirs->launches;
    }
    for (uint32_t i = 0; i < entry->variant_count; i++)
        if (classes[i])
            entry_take(translated, access_class_now(classes[i]), &entry->variants[i]);
    access_classes_bury(signature);
}

/* Most are the same launches: read, and counted on. */
static void entry_join(struct entry *entry, const struct entry *other)
{
    uint64_t launches = entry->launches > other->launches ? entry->launches : other->launches;
    uint32_t seen = entry->seen > other->seen ? entry->seen : other->seen;
    struct variant before[VARIANTS_MAX];
    uint32_t count = entry->variant_count;
    for (uint32_t i = 0; i < count; i++)
        before[i] = entry->variants[i];
    entry_merge(entry, other);
    entry->launches = launches;
    entry->seen = seen;
    for (uint32_t i = 0; i < count && i < entry->variant_count; i++) {
        struct variant *variant = &entry->variants[i];
        uint32_t theirs = variant->seen - before[i].seen;
        uint64_t added = variant->launches - before[i].launches;
        variant->seen = theirs > before[i].seen ? theirs : before[i].seen;
        variant->launches = added > before[i].launches ? added : before[i].launches;
    }
}

/* Where one let words leave that the other keeps, this process's entries are as good as those. */
static void signature_merge(struct launch_signature *signature,
                            const struct launch_signature *other)
{
    for (uint32_t i = 0; i < signature->scalar_count; i++)
        signature->pinned[i] |= other->pinned[i];
    if (other->scattered && !signature->scattered)
        launch_signature_scatter(signature);
    if (memcmp(signature->kept, other->kept, signature->scalar_count) != 0)
        return;
    uint32_t *scalars = calloc(signature->scalar_count + 1, sizeof *scalars);
    struct entry *entry = NULL, *next = NULL;
    HASH_ITER(hh, other->entries, entry, next)
    {
        for (uint32_t i = 0; scalars && i < other->order_count; i++)
            scalars[other->order[i]] = entry->scalars[i];
        struct entry *own = scalars ? launch_signature_entry(signature, scalars) : NULL;
        struct entry translated;
        if (!own)
            continue;
        entry_translate(signature, entry, &translated);
        entry_join(own, &translated);
        entry_clear(&translated);
    }
    free(scalars);
}

static void image_merge(struct image_state *image, const struct image_state *other)
{
    struct learned_kernel *kernel = NULL, *next = NULL;
    HASH_ITER(hh, other->kernels, kernel, next)
    {
        struct learned_kernel *own = image_kernel(image, kernel->name);
        struct launch_signature *signature = NULL, *following = NULL;
        if (own && !own->signatures)
            parameter_uses_fill(&own->uses, &kernel->uses);
        HASH_ITER(hh, kernel->signatures, signature, following)
        {
            struct launch_signature *here = NULL;
            if (own)
                HASH_FIND(hh, own->signatures, signature->bytes, signature->signature_bytes, here);
            if (here && here->scalar_count == signature->scalar_count) {
                signature_merge(here, signature);
            } else if (own && !here) {
                kernel->latest = NULL;
                HASH_DEL(kernel->signatures, signature);
                HASH_ADD_KEYPTR(hh, own->signatures, signature->bytes, signature->signature_bytes,
                                signature);
            }
        }
    }
}

/* ---- Writing ---- */

bool learned_file_replace(const char *path, const uint8_t *bytes, size_t count)
{
    char temporary[PATH_MAX + 32];
    snprintf(temporary, sizeof temporary, "%s.%d", path, (int)getpid());
    int file = cache_create(temporary);
    if (file < 0)
        return false;
    bool written = write(file, bytes, count) == (ssize_t)count;
    written = close(file) == 0 && written;
    if (written && rename(temporary, path) == 0)
        return true;
    unlink(temporary);
    return false;
}

uint8_t *learned_file_pack(const uint8_t *plain, size_t plain_bytes, size_t *bytes)
{
    size_t room = ZSTD_compressBound(plain_bytes);
    uint8_t *file = plain_bytes > UNPACKED_MAX ? NULL : malloc(HEAD_BYTES + room);
    if (!file)
        return NULL;
    size_t packed = ZSTD_compress(file + HEAD_BYTES, room, plain, plain_bytes, PACK_LEVEL);
    if (ZSTD_isError(packed)) {
        free(file);
        return NULL;
    }
    memcpy(file, magic, sizeof magic);
    for (int i = 0; i < 8; i++)
        file[12 + i] = (uint8_t)((uint64_t)plain_bytes >> 8 * i);
    uint32_t crc = recording_crc(0, file + 12, packed + 8);
    for (int i = 0; i < 4; i++)
        file[8 + i] = (uint8_t)(crc >> 8 * i);
    *bytes = HEAD_BYTES + packed;
    return file;
}

static bool image_write(const char *path, const struct image_state *image)
{
    struct byte_buffer plain = {0};
    size_t bytes = 0;
    put_image(&plain, image);
    uint8_t *file = plain.failed ? NULL : learned_file_pack(plain.data, plain.length, &bytes);
    bool written = file && learned_file_replace(path, file, bytes);
    free(file);
    free(plain.data);
    return written;
}

int learned_directory_lock(const struct learner_options *options)
{
    char path[PATH_MAX];
    if (!cache_make(options->cache))
        return -1;
    snprintf(path, sizeof path, "%s/lock", options->cache);
    int file = cache_open_lock(path);
    for (int tries = 0; file >= 0 && flock(file, LOCK_EX | LOCK_NB) != 0; tries++) {
        if (errno != EWOULDBLOCK || tries == LOCK_TRIES) {
            close(file);
            return -1;
        }
        usleep(10000);
    }
    return file;
}

struct cached_file {
    char name[NAME_MAX + 1];
    struct timespec used;
    uint64_t bytes;
};

static int compare_use(const void *left, const void *right)
{
    const struct cached_file *a = left, *b = right;
    if (a->used.tv_sec != b->used.tv_sec)
        return a->used.tv_sec < b->used.tv_sec ? -1 : 1;
    return (a->used.tv_nsec > b->used.tv_nsec) - (a->used.tv_nsec < b->used.tv_nsec);
}

/* Also what a process left that was killed while it wrote. */
static struct cached_file *directory_files(int directory, DIR *listing, size_t *count)
{
    struct cached_file *files = NULL;
    for (struct dirent *item; (item = readdir(listing)) != NULL;) {
        struct stat status;
        if (!strstr(item->d_name, LEARNED_SUFFIX) ||
            fstatat(directory, item->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(status.st_mode))
            continue;
        struct cached_file *grown = realloc(files, (*count + 1) * sizeof *grown);
        if (!grown)
            break;
        files = grown;
        struct cached_file *file = &files[(*count)++];
        *file = (struct cached_file){.used = status.st_mtim, .bytes = (uint64_t)status.st_size};
        snprintf(file->name, sizeof file->name, "%s", item->d_name);
    }
    return files;
}

static void directory_shrink(const struct learner_options *options)
{
    DIR *listing = opendir(options->cache);
    size_t count = 0;
    uint64_t bytes = 0;
    if (!listing)
        return;
    struct cached_file *files = directory_files(dirfd(listing), listing, &count);
    for (size_t i = 0; i < count; i++)
        bytes += files[i].bytes;
    if (bytes > options->cache_bytes)
        qsort(files, count, sizeof *files, compare_use);
    for (size_t i = 0; i < count && bytes > options->cache_bytes; i++) {
        unlinkat(dirfd(listing), files[i].name, 0);
        bytes -= files[i].bytes;
    }
    free(files);
    closedir(listing);
}

void learned_directory_unlock(const struct learner_options *options, int lock)
{
    directory_shrink(options);
    if (lock >= 0)
        close(lock);
}

bool learned_file_write(const struct learner_options *options, struct image_state *image)
{
    char path[PATH_MAX];
    struct learner_options quietly = *options;
    quietly.note = NULL; /* it was said when it was first read */
    struct image_state *others = image_on_disk(&quietly, image->id);
    if (others) {
        image_merge(image, others);
        image_clear(others);
    }
    image_path(options, image->id, path, sizeof path);
    return image_write(path, image);
}

bool learned_directory(char *path, size_t bytes)
{
    return cache_directory(path, bytes, "learned");
}

/* Summaries as bytes: operators' texts, then each shape with its entries, as numbers of variable
 * length (csan/recording/recording_format.h). summary_file.c puts them on disk. */
#include "csan/base/hash.h"
#include "csan/recording/recording_format.h"
#include "runtime/learn/summaries_state.h"

#include <string.h>

enum { FORMAT = 3 };

static void put(struct byte_buffer *buffer, uint64_t value)
{
    if (byte_buffer_reserve(buffer, NUMBER_BYTES_MAX))
        byte_buffer_put(buffer, value);
}

static void put_words(struct byte_buffer *buffer, const uint32_t *words, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        put(buffer, words[i]);
}

static void put_operators(struct byte_buffer *buffer, const struct summaries *all)
{
    put(buffer, all->operator_count);
    for (uint32_t i = 0; i < all->operator_count; i++) {
        const struct csan_operator *what = &all->operators[i]->declared;
        put(buffer, what->output);
        put(buffer, what->argument_count);
        byte_buffer_put_text(buffer, what->name);
        for (size_t k = 0; k < what->argument_count; k++)
            byte_buffer_put_text(buffer, what->arguments[k]);
    }
}

static void put_access(struct byte_buffer *buffer, const struct summary_access *access)
{
    put(buffer, access->pointer);
    put(buffer, access->kind);
    put(buffer, access->bound);
    put(buffer, zigzag((uint64_t)access->offset));
    put(buffer, access->bytes);
    put(buffer, access->dim_count);
    for (uint8_t i = 0; i < access->dim_count; i++) {
        put(buffer, zigzag((uint64_t)access->dims[i].stride));
        put(buffer, access->dims[i].count);
    }
}

static uint32_t operator_number(const struct summaries *all, const struct csan_operator *what)
{
    uint32_t at = 0;
    while (at < all->operator_count && &all->operators[at]->declared != what)
        at++;
    return at;
}

static void put_entry(struct byte_buffer *buffer, const struct summaries *all,
                      const struct shape *shape, const struct entry *entry)
{
    const struct set *set = entry->set;
    put_words(buffer, entry->words, shape->word_count);
    put(buffer, entry->seen);
    put(buffer, entry->changes);
    put(buffer, entry->unsteady);
    put(buffer, set->operator_ran);
    put(buffer, set->count);
    for (uint32_t i = 0; i < set->count; i++)
        put_access(buffer, &set->items[i]);
    for (uint32_t i = 0; i < set->pointers; i++)
        put(buffer, summary_set_loose(entry->set)[i]);
    for (uint32_t i = 0; i < set->words; i++)
        put(buffer, summary_set_varied(entry->set)[i]);
    put(buffer, entry->names ? operator_number(all, entry->names->what) + 1 : 0);
    for (uint32_t i = 0; entry->names && i < set->count; i++)
        put(buffer, entry->names->arguments[i]);
}

static void put_shape(struct byte_buffer *buffer, const struct summaries *all,
                      const struct shape *shape)
{
    put(buffer, shape->id.words[0]);
    put(buffer, shape->id.words[1]);
    put(buffer, shape->word_count);
    for (uint32_t i = 0; i < shape->word_count; i++)
        put(buffer, (uint64_t)shape->strikes[i] << 2 | shape->skipped[i]);
    put(buffer, shape->entry_count);
    for (uint32_t i = 0; i < shape->entry_count; i++)
        put_entry(buffer, all, shape, &shape->entries[i]);
}

uint8_t *summaries_write(const struct summaries *all, size_t *bytes)
{
    struct byte_buffer buffer = {0};
    put(&buffer, FORMAT);
    put_operators(&buffer, all);
    put(&buffer, all->shape_count);
    for (size_t i = 0; i < all->table_size; i++)
        if (all->table[i])
            put_shape(&buffer, all, all->table[i]);
    if (buffer.failed) {
        free(buffer.data);
        return NULL;
    }
    *bytes = buffer.length;
    return buffer.data;
}

static uint64_t take_up_to(struct byte_cursor *cursor, uint64_t most)
{
    const uint64_t value = byte_cursor_number(cursor);
    cursor->failed |= value > most;
    return cursor->failed ? 0 : value;
}

static void take_operator(struct byte_cursor *cursor, struct summaries *all)
{
    const char *names[ARGUMENTS_MOST];
    struct csan_operator what = {.arguments = names};
    what.output = (uint16_t)take_up_to(cursor, UINT16_MAX);
    what.argument_count = take_up_to(cursor, ARGUMENTS_MOST);
    what.name = byte_cursor_text(cursor);
    for (size_t i = 0; !cursor->failed && i < what.argument_count; i++)
        names[i] = byte_cursor_text(cursor);
    if (!cursor->failed && !summary_operator_keep(all, &what))
        cursor->failed = true;
}

static void take_access(struct byte_cursor *cursor, struct summary_access *access)
{
    memset(access, 0, sizeof *access);
    access->pointer = (uint32_t)take_up_to(cursor, UINT32_MAX);
    access->kind = (uint8_t)take_up_to(cursor, CSAN_ATOMIC);
    access->bound = (uint8_t)take_up_to(cursor, CSAN_BOUND_OBJECT);
    access->offset = (int64_t)unzigzag(byte_cursor_number(cursor));
    access->bytes = byte_cursor_number(cursor);
    access->dim_count = (uint8_t)take_up_to(cursor, CSAN_MAX_DIMS);
    for (uint8_t i = 0; i < access->dim_count; i++) {
        access->dims[i].stride = (int64_t)unzigzag(byte_cursor_number(cursor));
        access->dims[i].count = byte_cursor_number(cursor);
        cursor->failed |= !access->dims[i].count;
    }
    cursor->failed |= !access->kind || !access->bytes;
}

/* NULL: it makes no sense, or memory is short. */
static struct set *take_set(struct byte_cursor *cursor, struct summaries *all, uint32_t word_count)
{
    const bool ran = take_up_to(cursor, 1);
    const uint32_t count = (uint32_t)take_up_to(cursor, SUMMARY_ACCESSES_MOST);
    struct set *set = cursor->failed ? NULL : summary_set_room(all, count, word_count);
    if (!set)
        return NULL;
    set->operator_ran = ran;
    for (uint32_t i = 0; i < count; i++)
        take_access(cursor, &set->items[i]);
    for (uint32_t i = 0; i < set->pointers; i++)
        summary_set_loose(set)[i] = (uint8_t)take_up_to(cursor, 1);
    for (uint32_t i = 0; i < set->words; i++)
        summary_set_varied(set)[i] = (uint8_t)take_up_to(cursor, 1);
    set->hash = hash_mix_bytes(ran, set->items, count * sizeof *set->items);
    return set;
}

static struct names *take_names(struct byte_cursor *cursor, struct summaries *all, uint32_t count)
{
    const uint32_t number = (uint32_t)take_up_to(cursor, all->operator_count);
    struct names *names = number ? summaries_take(all, summary_names_bytes(count)) : NULL;
    if (!names)
        return NULL;
    names->what = &all->operators[number - 1]->declared;
    names->count = count;
    for (uint32_t i = 0; i < count; i++)
        names->arguments[i] = (uint16_t)take_up_to(cursor, UINT16_MAX);
    return names;
}

static void take_entry(struct byte_cursor *cursor, struct summaries *all, struct shape *shape,
                       uint32_t *words)
{
    for (uint32_t i = 0; i < shape->word_count; i++)
        words[i] = (uint32_t)take_up_to(cursor, UINT32_MAX);
    const uint32_t seen = (uint32_t)take_up_to(cursor, SEEN_MOST);
    const uint8_t changes = (uint8_t)take_up_to(cursor, SUMMARY_CHANGES_MOST);
    const bool unsteady = take_up_to(cursor, 1);
    struct set *set = take_set(cursor, all, shape->word_count);
    struct names *names = set ? take_names(cursor, all, set->count) : NULL;
    cursor->failed |= !set || summary_entry_find(shape, words);
    if (cursor->failed) {
        summary_set_drop(all, set);
        summary_names_drop(all, names);
        return;
    }
    struct entry *entry = summary_entry_add(all, shape, words, set, names);
    cursor->failed |= !entry;
    if (entry) {
        entry->seen = seen;
        entry->changes = changes;
        entry->unsteady = unsteady;
    }
}

static void take_shape(struct byte_cursor *cursor, struct summaries *all)
{
    struct summary_shape id;
    id.words[0] = byte_cursor_number(cursor);
    id.words[1] = byte_cursor_number(cursor);
    const uint32_t word_count = (uint32_t)take_up_to(cursor, SUMMARY_WORDS_MOST);
    struct shape *shape = cursor->failed || summary_shape_find(all, &id)
                              ? NULL
                              : summary_shape_make(all, &id, word_count);
    uint32_t *words = shape ? malloc((word_count + 1) * sizeof *words) : NULL;
    if (!words) {
        cursor->failed = true;
        return;
    }
    for (uint32_t i = 0; !cursor->failed && i < word_count; i++) {
        const uint64_t flags = take_up_to(cursor, STRIKES_MOST << 2 | SKIPPED_MOST);
        cursor->failed |= (flags & 3) > SKIPPED_MOST;
        shape->skipped[i] = flags & 3;
        shape->strikes[i] = (uint8_t)(flags >> 2);
    }
    summary_skipped_changed(shape);
    const uint32_t count = (uint32_t)take_up_to(cursor, SUMMARY_ENTRIES_MOST);
    for (uint32_t i = 0; !cursor->failed && i < count; i++)
        take_entry(cursor, all, shape, words);
    free(words);
}

bool summaries_read(struct summaries *all, const uint8_t *bytes, size_t count)
{
    struct byte_cursor cursor = {bytes, bytes + count, false};
    cursor.failed |= byte_cursor_number(&cursor) != FORMAT;
    const uint32_t operators = (uint32_t)take_up_to(&cursor, OPERATORS_MOST);
    for (uint32_t i = 0; !cursor.failed && i < operators; i++)
        take_operator(&cursor, all);
    const size_t shapes = byte_cursor_count(&cursor);
    for (size_t i = 0; !cursor.failed && i < shapes; i++)
        take_shape(&cursor, all);
    const bool whole = !cursor.failed && cursor.at == cursor.end;
    if (!whole)
        summaries_clear(all);
    return whole;
}

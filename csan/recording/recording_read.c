/* See recording_read.h. */
#include "csan/recording/recording_read.h"
#include "csan/recording/recording_block.h"
#include "csan/stack/stack.h"
#include "csan/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct recording_reader {
    char *name;
    int descriptor;
    struct block_reader blocks;
    struct byte_cursor cursor; /* into the block */
    struct recording_sets *sets;
    uint64_t base, entries, contents;
    const uint8_t *entry; /* where the newest begins */
    struct text facts;
    const void *frames[STACK_FRAMES_MAX];
    const char **texts;
    size_t texts_capacity;
    bool over, ended;
    char *message;
};

/* ---- messages */

static void message_set(struct recording_reader *reader, uint64_t offset, const char *what)
{
    free(reader->message);
    if (asprintf(&reader->message, "%s: byte %llu: %s", reader->name, (unsigned long long)offset,
                 what) < 0)
        reader->message = NULL;
    reader->over = true;
}

const char *recording_reader_message(const struct recording_reader *reader)
{
    return reader->message ? reader->message : "out of memory";
}

enum recorded_status recording_reader_refuse(struct recording_reader *reader, const char *what)
{
    char text[256];
    snprintf(text, sizeof text, "%s (entry at byte %zu of the contents of block %llu)", what,
             (size_t)(reader->entry - reader->blocks.contents),
             (unsigned long long)reader->blocks.number - 1);
    message_set(reader, reader->blocks.block_offset, text);
    return RECORDED_DAMAGED;
}

/* ---- life */

static bool facts_add(struct recording_reader *reader)
{
    text_add(&reader->facts, "%s\n", (const char *)reader->blocks.contents);
    return !reader->facts.cut;
}

static bool begin(struct recording_reader *reader)
{
    enum block_status status = block_reader_open(&reader->blocks, reader->descriptor);
    if (status == BLOCK_READ)
        status = block_reader_next(&reader->blocks);
    if (status == BLOCK_READ && reader->blocks.kind == BLOCK_FACTS)
        return facts_add(reader);
    message_set(reader, reader->blocks.offset,
                status == BLOCK_DAMAGED ? reader->blocks.message
                                        : "the recording is cut off: it has no facts");
    return false;
}

struct recording_reader *recording_reader_open_file(int descriptor, const char *name,
                                                    size_t bytes_max, char *message,
                                                    size_t message_bytes)
{
    struct recording_reader *reader = calloc(1, sizeof *reader);
    snprintf(message, message_bytes, "%s: out of memory", name);
    if (!reader) {
        close(descriptor);
        return NULL;
    }
    reader->descriptor = descriptor;
    reader->name = strdup(name);
    reader->sets = recording_sets_create();
    if (reader->name && reader->sets && begin(reader)) {
        if (bytes_max)
            reader->blocks.bytes_max = bytes_max;
        return reader;
    }
    if (reader->message)
        snprintf(message, message_bytes, "%s", reader->message);
    recording_reader_close(reader);
    return NULL;
}

struct recording_reader *recording_reader_open(const char *path, char *message,
                                               size_t message_bytes)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe is refused */
    if (descriptor < 0) {
        snprintf(message, message_bytes, "%s: %s", path, strerror(errno));
        return NULL;
    }
    return recording_reader_open_file(descriptor, path, 0, message, message_bytes);
}

void recording_reader_close(struct recording_reader *reader)
{
    if (!reader)
        return;
    block_reader_close(&reader->blocks);
    recording_sets_destroy(reader->sets);
    close(reader->descriptor);
    text_free(&reader->facts);
    free(reader->texts);
    free(reader->message);
    free(reader->name);
    free(reader);
}

/* ---- fields */

static const char *texts_get(struct recording_reader *reader, struct recorded *recorded)
{
    size_t count = byte_cursor_count(&reader->cursor);
    if (count > UINT16_MAX)
        return "too many texts";
    if (count > reader->texts_capacity) {
        const char **grown = realloc(reader->texts, count * sizeof *grown);
        if (!grown)
            return "out of memory";
        reader->texts = grown;
        reader->texts_capacity = count;
    }
    for (size_t i = 0; i < count; i++)
        reader->texts[i] = byte_cursor_text(&reader->cursor);
    recorded->texts = reader->texts;
    recorded->count = count;
    return NULL;
}

static const char *frames_get(struct recording_reader *reader, struct recorded *recorded)
{
    uint64_t frame = 0;
    size_t count = byte_cursor_count(&reader->cursor);
    if (count > STACK_FRAMES_MAX)
        return "a stack that is too deep";
    for (size_t i = 0; i < count; i++) {
        frame += unzigzag(byte_cursor_number(&reader->cursor));
        reader->frames[i] = (const void *)(uintptr_t)frame; // NOLINT(performance-no-int-to-ptr)
    }
    recorded->frames = reader->frames;
    recorded->count = count;
    return NULL;
}

/* NULL, or what is wrong. */
static const char *field_get(struct recording_reader *reader, struct recorded *recorded,
                             enum recording_field field)
{
    struct byte_cursor *cursor = &reader->cursor;
    uint64_t number;
    switch (field) {
    case FIELD_BASE:
        reader->base += unzigzag(byte_cursor_number(cursor));
        recorded->value[field] = reader->base;
        return NULL;
    case FIELD_TEXT:
        recorded->text = byte_cursor_text(cursor);
        return NULL;
    case FIELD_SECOND_TEXT:
        recorded->second_text = byte_cursor_text(cursor);
        return NULL;
    case FIELD_TEXTS:
        return texts_get(reader, recorded);
    case FIELD_FRAMES:
        return frames_get(reader, recorded);
    case FIELD_SET:
        recorded->set = recording_sets_get(reader->sets, cursor);
        return recorded->set ? NULL : "an access set that makes no sense";
    default:
        number = byte_cursor_number(cursor);
        recorded->value[field] = number;
        /* those before it stand for something, and are used again */
        return field < FIELD_BYTES && field != FIELD_TICKET && number > UINT32_MAX
                   ? "a number that is too large"
                   : NULL;
    }
}

static const char *entry_get(struct recording_reader *reader, struct recorded *recorded)
{
    uint8_t kind = *reader->cursor.at++;
    const char *wrong = NULL;
    if (kind == RECORDED_NOTHING || kind >= RECORDED_KINDS)
        return "an entry of no kind that there is";
    memset(recorded->value, 0, sizeof recorded->value);
    recorded->kind = kind;
    const struct recording_form *form = &recording_forms[kind];
    for (int i = 0; !wrong && i < RECORDING_FIELDS_MAX && form->fields[i]; i++)
        wrong = field_get(reader, recorded, form->fields[i]);
    return reader->cursor.failed ? "an entry that is cut off" : wrong;
}

/* ---- blocks */

/* Go to the next block of entries, or to the end. */
static enum recorded_status block_enter(struct recording_reader *reader)
{
    enum block_status status = block_reader_next(&reader->blocks);
    if (status == BLOCK_DAMAGED)
        message_set(reader, reader->blocks.offset, reader->blocks.message);
    else if (status == BLOCK_NONE_LEFT)
        message_set(reader, reader->blocks.offset,
                    "the recording stops without its end: the program was killed, or the file is "
                    "cut off");
    if (status != BLOCK_READ)
        return RECORDED_DAMAGED;
    if (reader->blocks.kind == BLOCK_END) {
        reader->over = reader->ended = true;
        facts_add(reader);
        return RECORDED_END;
    }
    if (reader->blocks.kind != BLOCK_ENTRIES) {
        message_set(reader, reader->blocks.block_offset, "facts in the middle of the recording");
        return RECORDED_DAMAGED;
    }
    reader->contents += reader->blocks.bytes;
    reader->cursor = (struct byte_cursor){reader->blocks.contents,
                                          reader->blocks.contents + reader->blocks.bytes, false};
    return RECORDED_ENTRY;
}

enum recorded_status recording_reader_next(struct recording_reader *reader,
                                           struct recorded *recorded)
{
    while (!reader->over && reader->cursor.at == reader->cursor.end) {
        enum recorded_status status = block_enter(reader);
        if (status != RECORDED_ENTRY)
            return status;
    }
    if (reader->over)
        return reader->ended ? RECORDED_END : RECORDED_DAMAGED;
    reader->entry = reader->cursor.at;
    const char *wrong = entry_get(reader, recorded);
    if (wrong)
        return recording_reader_refuse(reader, wrong);
    reader->entries += recording_kind_happens((enum recording_kind)recorded->kind);
    return RECORDED_ENTRY;
}

/* ---- facts */

const char *recording_reader_fact(const struct recording_reader *reader, const char *key,
                                  const char *after, char *value, size_t value_bytes)
{
    size_t length = strlen(key);
    const char *line = after ? after : reader->facts.data;
    while (line && *line) {
        const char *end = strchrnul(line, '\n');
        const char *next = *end ? end + 1 : end;
        if (strncmp(line, key, length) == 0 && line[length] == ' ') {
            line += length + 1;
            snprintf(value, value_bytes, "%.*s", (int)(end - line), line);
            return next;
        }
        line = next;
    }
    if (value_bytes)
        value[0] = '\0';
    return NULL;
}

struct recording_extent recording_reader_extent(const struct recording_reader *reader)
{
    return (struct recording_extent){.bytes = reader->blocks.offset,
                                     .file_bytes = reader->blocks.file_bytes,
                                     .blocks = reader->blocks.number,
                                     .entries = reader->entries,
                                     .contents = reader->contents};
}

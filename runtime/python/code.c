/* See code.h.
 *
 * What a code object says is copied when it is met, so nothing of Python's is kept alive. So an
 * address says little: code that is made anew and run again and again, as a cell runner or a
 * template engine does, lies where the last one was, its name and its table of lines, too.
 * From 3.12 on CPython numbers code objects; before, what the table holds is compared, by a hash.
 */
#include "runtime/python/code.h"
#include "include/csan/csan.h"
#include "runtime/python/lines.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    PLACE_BITS = 15, /* code objects found at once */
    PROBES = 4,
    CHUNK_BITS = 10,
    CHUNKS = 128, /* of texts: 131,072 */
    TEXT_BYTES_MAX = 64 << 20,
    TEXT_START = 1024, /* a power of two */
    HASHED_BYTES = 1024,
    NUMBER_OF_REST = 1 << 20 /* of all code that there is no room for */
};

/* A code object that was met, in one line of the cache. Read without a lock: `version` is odd while
 * it is written, and another one afterwards. */
struct identity {
    uint32_t version, number; /* 0: nothing is here */
    const void *object, *file, *name, *lines;
    uint64_t stamp; /* what tells it from another one there */
} __attribute__((aligned(64)));
_Static_assert(sizeof(struct identity) == 64, "one line");

/* What reports say of it; equal ones once. */
struct text {
    uint64_t hash;
    enum python_lines kind;
    int first_line;
    char *file, *name;
    size_t line_bytes;
    unsigned char *lines;
};

static struct {
    pthread_mutex_t lock;
    struct identity places[1 << PLACE_BITS];
    struct text *chunks[CHUNKS]; /* read without the lock, up to `texts` */
    uint32_t texts;
    uint32_t *by_content; /* open addressing: numbers of texts */
    size_t size, bytes;
} codes = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int number_at(const void *object, uint16_t offset)
{
    int value;
    memcpy(&value, (const char *)object + offset, sizeof value);
    return value;
}

/* ---- Texts ---- */

struct string {
    const unsigned char *data;
    size_t length; /* in characters */
    unsigned kind; /* bytes of a character */
};

/* Strings have their characters behind them, or, some before 3.12, a pointer to them. */
static struct string string_of(const struct python_layout *layout, const void *object)
{
    uint32_t state = (uint32_t)number_at(object, layout->string_state) >> layout->string_kind_bit;
    const unsigned char *base = object;
    bool compact = state >> 3 & 1, ascii = state >> 4 & 1;
    return (struct string){!compact
                               ? python_pointer_at(object, layout->string_compact)
                               : base + (ascii ? layout->string_ascii : layout->string_compact),
                           (size_t)python_pointer_at(object, layout->string_length), state & 7};
}

static uint32_t character(const struct string *string, size_t i)
{
    uint16_t two;
    uint32_t four;
    if (string->kind == 1)
        return string->data[i];
    memcpy(&two, string->data + 2 * i, sizeof two);
    if (string->kind == 2)
        return two;
    memcpy(&four, string->data + 4 * i, sizeof four);
    return four;
}

static char *put_character(char *at, uint32_t c)
{
    if (c < 0x80) {
        *at++ = (char)c;
        return at;
    }
    if (c < 0x800) {
        *at++ = (char)(0xc0 | c >> 6);
    } else {
        if (c < 0x10000) {
            *at++ = (char)(0xe0 | c >> 12);
        } else {
            *at++ = (char)(0xf0 | c >> 18);
            *at++ = (char)(0x80 | (c >> 12 & 0x3f));
        }
        *at++ = (char)(0x80 | (c >> 6 & 0x3f));
    }
    *at++ = (char)(0x80 | (c & 0x3f));
    return at;
}

/* As UTF-8. */
static char *string_copy(const struct python_layout *layout, const void *object)
{
    struct string string = string_of(layout, object);
    char *copy = malloc(string.length * 4 + 1), *at = copy;
    for (size_t i = 0; copy && i < string.length; i++)
        at = put_character(at, character(&string, i));
    if (copy)
        *at = '\0';
    return copy;
}

static uint64_t hash_word(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

static uint64_t hash_bytes(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    uint64_t word;
    hash = hash_word(hash, bytes);
    for (; bytes >= sizeof word; at += sizeof word, bytes -= sizeof word) {
        memcpy(&word, at, sizeof word);
        hash = hash_word(hash, word);
    }
    word = 0;
    memcpy(&word, at, bytes);
    return hash_word(hash, word);
}

static void text_free(struct text *text)
{
    free(text->file);
    free(text->name);
    free(text->lines);
}

static bool text_make(struct text *text, const struct python_layout *layout, const void *object)
{
    const void *lines = python_pointer_at(object, layout->code_lines);
    *text = (struct text){.kind = (enum python_lines)layout->lines,
                          .first_line = number_at(object, layout->code_first_line),
                          .file = string_copy(layout, python_pointer_at(object, layout->code_file)),
                          .name = string_copy(layout, python_pointer_at(object, layout->code_name)),
                          .line_bytes = (size_t)python_pointer_at(lines, layout->bytes_length)};
    text->lines = malloc(text->line_bytes + 1);
    if (!text->file || !text->name || !text->lines) {
        text_free(text);
        return false;
    }
    memcpy(text->lines, (const char *)lines + layout->bytes_data, text->line_bytes);
    uint64_t hash = hash_bytes((uint64_t)text->first_line, text->file, strlen(text->file));
    hash = hash_bytes(hash, text->name, strlen(text->name));
    text->hash = hash_bytes(hash, text->lines, text->line_bytes);
    return true;
}

static bool text_equal(const struct text *a, const struct text *b)
{
    return a->hash == b->hash && a->first_line == b->first_line && a->line_bytes == b->line_bytes &&
           strcmp(a->file, b->file) == 0 && strcmp(a->name, b->name) == 0 &&
           memcmp(a->lines, b->lines, a->line_bytes) == 0;
}

static struct text *text_of(uint32_t number)
{
    return &codes.chunks[(number - 1) >> CHUNK_BITS][(number - 1) & ((1 << CHUNK_BITS) - 1)];
}

/* The place of an equal text, or the free one where it would be. */
static uint32_t *content_find(uint32_t *table, size_t size, const struct text *text)
{
    size_t at = (size_t)text->hash & (size - 1);
    while (table[at] && !text_equal(text_of(table[at]), text))
        at = (at + 1) & (size - 1);
    return &table[at];
}

static bool content_reserve(void)
{
    if (codes.size && codes.texts < codes.size / 2)
        return true;
    size_t size = codes.size ? codes.size * 2 : TEXT_START;
    uint32_t *table = calloc(size, sizeof *table);
    if (!table)
        return false;
    for (uint32_t number = 1; number <= codes.texts; number++)
        *content_find(table, size, text_of(number)) = number;
    free(codes.by_content);
    codes.by_content = table;
    codes.size = size;
    return true;
}

/* Takes the text, whose number is returned; 0: there is no room. */
static uint32_t text_intern(struct text *text)
{
    size_t bytes = strlen(text->file) + strlen(text->name) + text->line_bytes;
    uint32_t *place = content_reserve() ? content_find(codes.by_content, codes.size, text) : NULL;
    if (place && *place) {
        text_free(text);
        return *place;
    }
    size_t at = codes.texts >> CHUNK_BITS;
    struct text **chunk =
        at < CHUNKS && codes.bytes + bytes <= TEXT_BYTES_MAX ? &codes.chunks[at] : NULL;
    if (place && chunk && !*chunk)
        *chunk = calloc((size_t)1 << CHUNK_BITS, sizeof **chunk);
    if (!place || !chunk || !*chunk) {
        text_free(text);
        return 0;
    }
    codes.bytes += bytes;
    (*chunk)[codes.texts & ((1 << CHUNK_BITS) - 1)] = *text;
    __atomic_store_n(&codes.texts, codes.texts + 1, __ATOMIC_RELEASE);
    return *place = codes.texts;
}

/* ---- Code objects ---- */

static struct identity *place_of(const void *object, size_t probe)
{
    uint64_t hash = ((uintptr_t)object >> 4) * 0x9e3779b97f4a7c15u;
    return &codes.places[((hash >> (64 - PLACE_BITS)) + probe) & ((1 << PLACE_BITS) - 1)];
}

/* Of a table the beginning and the end, if it is long. */
static uint64_t content_stamp(const struct python_layout *layout, const void *object)
{
    const void *lines = python_pointer_at(object, layout->code_lines);
    size_t bytes = (size_t)python_pointer_at(lines, layout->bytes_length);
    const char *data = (const char *)lines + layout->bytes_data;
    uint64_t hash = hash_word(bytes, (uint64_t)number_at(object, layout->code_first_line));
    if (bytes <= 2 * HASHED_BYTES)
        return hash_bytes(hash, data, bytes);
    hash = hash_bytes(hash, data, HASHED_BYTES);
    return hash_bytes(hash, data + bytes - HASHED_BYTES, HASHED_BYTES);
}

static uint64_t stamp_of(const struct python_layout *layout, const void *object)
{
    uint32_t version = layout->code_version ? (uint32_t)number_at(object, layout->code_version) : 0;
    return version ? version : content_stamp(layout, object);
}

static bool is_same(const struct identity *place, const struct python_layout *layout,
                    const void *object)
{
    return __atomic_load_n(&place->lines, __ATOMIC_ACQUIRE) ==
               python_pointer_at(object, layout->code_lines) &&
           __atomic_load_n(&place->name, __ATOMIC_ACQUIRE) ==
               python_pointer_at(object, layout->code_name) &&
           __atomic_load_n(&place->file, __ATOMIC_ACQUIRE) ==
               python_pointer_at(object, layout->code_file) &&
           __atomic_load_n(&place->stamp, __ATOMIC_ACQUIRE) == stamp_of(layout, object);
}

/* 0: it is not known, or no longer. What is read of a place counts if the place has the same
 * version afterwards. */
static uint32_t number_find(const struct python_layout *layout, const void *object)
{
    for (size_t probe = 0; probe < PROBES; probe++) {
        const struct identity *place = place_of(object, probe);
        uint32_t version = __atomic_load_n(&place->version, __ATOMIC_ACQUIRE);
        if (!version)
            return 0;
        if (__atomic_load_n(&place->object, __ATOMIC_ACQUIRE) != object)
            continue;
        uint32_t number = __atomic_load_n(&place->number, __ATOMIC_ACQUIRE);
        bool same = is_same(place, layout, object) && !(version & 1) &&
                    __atomic_load_n(&place->version, __ATOMIC_RELAXED) == version;
        return same ? number : 0;
    }
    return 0;
}

/* Where the address is, or else where nothing is, or else in the first of its places. With the lock
 * held. */
static void identity_put(const struct python_layout *layout, const void *object, uint32_t number)
{
    struct identity *place = place_of(object, 0);
    for (size_t probe = PROBES; probe-- > 0;) {
        struct identity *at = place_of(object, probe);
        if (!at->version || at->object == object)
            place = at;
    }
    uint32_t version = place->version;
    __atomic_store_n(&place->version, version + 1, __ATOMIC_RELAXED);
    __atomic_store_n(&place->object, object, __ATOMIC_RELEASE);
    __atomic_store_n(&place->number, number, __ATOMIC_RELEASE);
    __atomic_store_n(&place->lines, python_pointer_at(object, layout->code_lines),
                     __ATOMIC_RELEASE);
    __atomic_store_n(&place->name, python_pointer_at(object, layout->code_name), __ATOMIC_RELEASE);
    __atomic_store_n(&place->file, python_pointer_at(object, layout->code_file), __ATOMIC_RELEASE);
    __atomic_store_n(&place->stamp, stamp_of(layout, object), __ATOMIC_RELEASE);
    version += version + 2 ? 2 : 4; /* 0 is for nothing */
    __atomic_store_n(&place->version, version, __ATOMIC_RELEASE);
}

/* With the lock held. */
static uint32_t number_add(const struct python_layout *layout, const void *object)
{
    struct text text;
    uint32_t number = number_find(layout, object);
    if (number)
        return number;
    if (text_make(&text, layout, object))
        number = text_intern(&text);
    if (!number)
        number = NUMBER_OF_REST;
    identity_put(layout, object, number);
    return number;
}

static uint32_t number_slow(const struct python_interpreter *python, const void *object)
{
    const struct python_layout *layout = &python->layout;
    if (!object || python_pointer_at(object, layout->object_type) != python->code_type)
        return 0;
    pthread_mutex_lock(&codes.lock);
    uint32_t number = number_add(layout, object);
    pthread_mutex_unlock(&codes.lock);
    return number;
}

void python_code_prefetch(const struct python_interpreter *python, const void *object)
{
    __builtin_prefetch(place_of(object, 0));
    __builtin_prefetch((const char *)object + python->layout.code_version);
    __builtin_prefetch((const char *)object + python->layout.code_lines);
}

uint32_t python_code_number(const struct python_interpreter *python, const void *object)
{
    uint32_t number = number_find(&python->layout, object);
    return __builtin_expect(number != 0, 1) ? number : number_slow(python, object);
}

bool python_code_line(uint32_t number, size_t instruction, struct csan_source_line *line)
{
    if (number == NUMBER_OF_REST) {
        *line = (struct csan_source_line){"?", "(csan has no room for more of Python's code)", 0};
        return true;
    }
    if (number == 0 || number > __atomic_load_n(&codes.texts, __ATOMIC_ACQUIRE))
        return false;
    const struct text *text = text_of(number);
    unsigned at =
        python_line(text->kind, text->lines, text->line_bytes, text->first_line, instruction);
    *line = (struct csan_source_line){text->file, text->name, at ? at : (unsigned)text->first_line};
    return true;
}

/* See code_text.h. */
#include "runtime/python/code_text.h"
#include <csan/csan.h>
#include "csan/base/hash.h"
#include "runtime/python/lines.h"

#include <stdlib.h>
#include <string.h>

enum {
    CHUNK_BITS = 10,
    CHUNKS = 128, /* 131,072 texts */
    TEXT_BYTES_MAX = 64 << 20,
    TEXT_START = 1024,                      /* a power of two */
    NUMBER_OF_REST = PYTHON_TEXT_NUMBER_MAX /* of all code that there is no room for */
};
_Static_assert(CHUNKS << CHUNK_BITS < NUMBER_OF_REST, "a number is one text's");

/* What reports say of code. */
struct text {
    uint64_t hash;
    enum python_lines kind;
    int first_line;
    char *file, *name;
    size_t line_bytes;
    unsigned char *lines;
};

static struct {
    struct text *chunks[CHUNKS]; /* read without a lock, up to `texts` */
    uint32_t texts;
    uint32_t *by_content; /* open addressing: numbers of texts */
    size_t size, bytes;
} kept;

struct string {
    const unsigned char *data;
    size_t length; /* in characters */
    unsigned kind; /* bytes of a character */
};

/* Strings have their characters behind them, or, some before 3.12, a pointer to them. */
static struct string string_of(const struct python_layout *layout, const void *object)
{
    uint32_t state = (uint32_t)python_number_at(object, layout->objects.string_state) >>
                     layout->objects.string_kind_bit;
    const unsigned char *base = object;
    bool compact = state >> 3 & 1, ascii = state >> 4 & 1;
    return (struct string){
        !compact ? python_pointer_at(object, layout->objects.string_compact)
                 : base + (ascii ? layout->objects.string_ascii : layout->objects.string_compact),
        (size_t)python_pointer_at(object, layout->objects.string_length), state & 7};
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

static void text_free(struct text *text)
{
    free(text->file);
    free(text->name);
    free(text->lines);
}

static bool text_make(struct text *text, const struct python_layout *layout, const void *object)
{
    const void *lines = python_pointer_at(object, layout->code_lines);
    *text =
        (struct text){.kind = (enum python_lines)layout->lines,
                      .first_line = python_number_at(object, layout->code_first_line),
                      .file = string_copy(layout, python_pointer_at(object, layout->code_file)),
                      .name = string_copy(layout, python_pointer_at(object, layout->code_name)),
                      .line_bytes = (size_t)python_pointer_at(lines, layout->objects.bytes_length)};
    text->lines = malloc(text->line_bytes + 1);
    if (!text->file || !text->name || !text->lines) {
        text_free(text);
        return false;
    }
    memcpy(text->lines, (const char *)lines + layout->objects.bytes_data, text->line_bytes);
    uint64_t hash = hash_mix_bytes((uint64_t)text->first_line, text->file, strlen(text->file));
    hash = hash_mix_bytes(hash, text->name, strlen(text->name));
    text->hash = hash_mix_bytes(hash, text->lines, text->line_bytes);
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
    return &kept.chunks[(number - 1) >> CHUNK_BITS][(number - 1) & ((1 << CHUNK_BITS) - 1)];
}

/* The slot of an equal text, or the free one where it would be. */
static uint32_t *content_find(uint32_t *table, size_t size, const struct text *text)
{
    size_t at = (size_t)text->hash & (size - 1);
    while (table[at] && !text_equal(text_of(table[at]), text))
        at = (at + 1) & (size - 1);
    return &table[at];
}

static bool content_reserve(void)
{
    if (kept.size && kept.texts < kept.size / 2)
        return true;
    size_t size = kept.size ? kept.size * 2 : TEXT_START;
    uint32_t *table = calloc(size, sizeof *table);
    if (!table)
        return false;
    for (uint32_t number = 1; number <= kept.texts; number++)
        *content_find(table, size, text_of(number)) = number;
    free(kept.by_content);
    kept.by_content = table;
    kept.size = size;
    return true;
}

/* Takes the text. 0: there is no room. */
static uint32_t text_intern(struct text *text)
{
    size_t bytes = strlen(text->file) + strlen(text->name) + text->line_bytes;
    uint32_t *slot = content_reserve() ? content_find(kept.by_content, kept.size, text) : NULL;
    if (slot && *slot) {
        text_free(text);
        return *slot;
    }
    size_t at = kept.texts >> CHUNK_BITS;
    struct text **chunk =
        at < CHUNKS && kept.bytes + bytes <= TEXT_BYTES_MAX ? &kept.chunks[at] : NULL;
    if (slot && chunk && !*chunk)
        *chunk = calloc((size_t)1 << CHUNK_BITS, sizeof **chunk);
    if (!slot || !chunk || !*chunk) {
        text_free(text);
        return 0;
    }
    kept.bytes += bytes;
    (*chunk)[kept.texts & ((1 << CHUNK_BITS) - 1)] = *text;
    __atomic_store_n(&kept.texts, kept.texts + 1, __ATOMIC_RELEASE);
    return *slot = kept.texts;
}

uint32_t python_code_text(const struct python_layout *layout, const void *object)
{
    struct text text;
    uint32_t number = text_make(&text, layout, object) ? text_intern(&text) : 0;
    return number ? number : NUMBER_OF_REST;
}

bool python_code_line(uint32_t number, size_t instruction, struct csan_source_line *line)
{
    if (number == NUMBER_OF_REST) {
        *line = (struct csan_source_line){"?", "(csan has no room for more of Python's code)", 0};
        return true;
    }
    if (number == 0 || number > __atomic_load_n(&kept.texts, __ATOMIC_ACQUIRE))
        return false;
    const struct text *text = text_of(number);
    unsigned at =
        python_line(text->kind, text->lines, text->line_bytes, text->first_line, instruction);
    *line = (struct csan_source_line){text->file, text->name, at ? at : (unsigned)text->first_line};
    return true;
}

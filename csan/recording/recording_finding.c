/* See recording_finding.h. */
#include "csan/recording/recording_finding.h"
#include "csan/base/finding_name.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_BYTES = 96 };

/* ---- what there is, by its key */

enum { STRINGS = 6, NUMBERS = 4, SIZES = 4 };

static const char *const string_keys[STRINGS] = {"exception", "code",  "detail",
                                                 "function",  "place", "reported_by"};
static const char *const number_keys[NUMBERS] = {"threads", "launches_since", "count", "total"};
static const char *const size_keys[SIZES] = {"grid", "block_size", "block", "thread"};

static void strings_of(struct csan_error *error, const char **strings[STRINGS])
{
    const char **const all[STRINGS] = {&error->exception, &error->code,  &error->detail,
                                       &error->function,  &error->place, &error->reported_by};
    memcpy(strings, all, sizeof all);
}

static void numbers_of(struct csan_error *error, uint64_t *numbers[NUMBERS])
{
    uint64_t *const all[NUMBERS] = {&error->threads, &error->launches_since, &error->count,
                                    &error->total};
    memcpy(numbers, all, sizeof all);
}

static void sizes_of(struct csan_error *error, uint32_t *sizes[SIZES])
{
    uint32_t *const all[SIZES] = {error->grid, error->block_size, error->block, error->thread};
    memcpy(sizes, all, sizeof all);
}

/* ---- written */

struct putting {
    struct byte_buffer *buffer; /* NULL: they are only counted */
    size_t count;
};

static void text_put(struct putting *putting, const char *key, const char *value)
{
    const size_t length = strlen(key) + 1 + strlen(value);
    struct byte_buffer *buffer = putting->buffer;
    putting->count++;
    if (!buffer || !byte_buffer_reserve(buffer, NUMBER_BYTES_MAX + length + 1))
        return;
    byte_buffer_put(buffer, length);
    snprintf((char *)buffer->data + buffer->length, length + 1, "%s %s", key, value);
    buffer->length += length + 1;
}

static void number_put(struct putting *putting, const char *key, uint64_t number)
{
    char word[WORD_BYTES];
    snprintf(word, sizeof word, "%" PRIu64, number);
    text_put(putting, key, word);
}

static void size_put(struct putting *putting, const char *key, const uint32_t size[3])
{
    char word[WORD_BYTES];
    snprintf(word, sizeof word, "%" PRIu32 " %" PRIu32 " %" PRIu32, size[0], size[1], size[2]);
    text_put(putting, key, word);
}

enum { OUT_OF_MEMORY_NUMBERS = 13, OUT_OF_MEMORY_BYTES = 512 };

static void out_of_memory_put(struct putting *putting,
                              const struct csan_out_of_memory *out_of_memory)
{
    char words[OUT_OF_MEMORY_BYTES];
    snprintf(words, sizeof words,
             "%d %d %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
             " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64,
             out_of_memory->host, out_of_memory->device, out_of_memory->asked, out_of_memory->free,
             out_of_memory->total, out_of_memory->own, out_of_memory->own_count,
             out_of_memory->others, out_of_memory->unused, out_of_memory->reserved,
             out_of_memory->allocated, out_of_memory->more, out_of_memory->more_bytes);
    text_put(putting, "memory", words);
    for (size_t i = 0; i < out_of_memory->held_count; i++) {
        const struct csan_held *held = &out_of_memory->held[i];
        snprintf(words, sizeof words, "%" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64,
                 held->site, held->count, held->bytes, held->oldest, held->newest);
        text_put(putting, "held", words);
    }
}

static void all_put(struct putting *putting, const struct context_finding *finding)
{
    struct csan_error error = finding->error;
    const char **strings[STRINGS];
    uint64_t *numbers[NUMBERS];
    uint32_t *sizes[SIZES];
    strings_of(&error, strings);
    numbers_of(&error, numbers);
    sizes_of(&error, sizes);
    text_put(putting, "kind", finding_kind_name(finding->kind));
    text_put(putting, "level", finding_level_name((int)finding->level));
    text_put(putting, "access", finding_access_name(finding->access));
    if (finding->argument)
        number_put(putting, "argument", finding->argument);
    for (int i = 0; i < STRINGS; i++)
        if (*strings[i])
            text_put(putting, string_keys[i], *strings[i]);
    for (int i = 0; i < NUMBERS; i++)
        if (*numbers[i])
            number_put(putting, number_keys[i], *numbers[i]);
    if (error.has_thread || error.grid[0])
        number_put(putting, "device", (uint64_t)error.device);
    for (int i = 0; i < SIZES; i++)
        if (i < 2 ? sizes[i][0] != 0 : error.has_thread)
            size_put(putting, size_keys[i], sizes[i]);
    if (error.out_of_memory)
        out_of_memory_put(putting, error.out_of_memory);
}

void recording_finding_put(struct byte_buffer *buffer, const struct context_finding *finding)
{
    struct putting putting = {.buffer = NULL};
    all_put(&putting, finding);
    if (!byte_buffer_reserve(buffer, NUMBER_BYTES_MAX))
        return;
    byte_buffer_put(buffer, putting.count);
    putting.buffer = buffer;
    all_put(&putting, finding);
    byte_buffer_reserve(buffer, ENTRY_BYTES_MAX);
}

/* ---- read */

const char *recording_finding_text(const char *const *texts, size_t count, const char *key)
{
    const size_t length = strlen(key);
    for (size_t i = 0; i < count; i++)
        if (strncmp(texts[i], key, length) == 0 && texts[i][length] == ' ')
            return texts[i] + length + 1;
    return NULL;
}

static int level_of(const char *name)
{
    for (int i = 0; name && i < CSAN_LEVEL_COUNT; i++)
        if (strcmp(finding_level_name(i), name) == 0)
            return i;
    return -1;
}

/* Races the detector finds itself. */
static bool is_error(int kind)
{
    const enum csan_finding_kind class = csan_finding_kind_of(kind);
    return kind >= 0 && class != CSAN_FINDING_RACE && class != CSAN_FINDING_REUSE;
}

static bool size_get(uint32_t size[3], const char *text)
{
    return text &&
           sscanf(text, "%" SCNu32 " %" SCNu32 " %" SCNu32, &size[0], &size[1], &size[2]) == 3;
}

static bool held_get(struct csan_held *held, const char *text)
{
    return sscanf(text, "%" SCNu32 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, &held->site,
                  &held->count, &held->bytes, &held->oldest, &held->newest) == 5;
}

/* False: there is none. */
static bool out_of_memory_get(struct csan_out_of_memory *out_of_memory, const char *const *texts,
                              size_t count)
{
    const char *text = recording_finding_text(texts, count, "memory");
    *out_of_memory = (struct csan_out_of_memory){.held_count = 0};
    if (!text || sscanf(text,
                        "%d %d %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
                        " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64,
                        &out_of_memory->host, &out_of_memory->device, &out_of_memory->asked,
                        &out_of_memory->free, &out_of_memory->total, &out_of_memory->own,
                        &out_of_memory->own_count, &out_of_memory->others, &out_of_memory->unused,
                        &out_of_memory->reserved, &out_of_memory->allocated, &out_of_memory->more,
                        &out_of_memory->more_bytes) != OUT_OF_MEMORY_NUMBERS)
        return false;
    while (out_of_memory->held_count < CSAN_HELD_MAX &&
           (text = recording_finding_text(texts, count, "held")) &&
           held_get(&out_of_memory->held[out_of_memory->held_count], text)) {
        out_of_memory->held_count++;
        while (count && texts[0] + strlen("held ") != text) {
            texts++;
            count--;
        }
        texts++;
        count--;
    }
    return true;
}

bool recording_finding_get(const char *const *texts, size_t count, struct context_finding *finding,
                           struct csan_out_of_memory *out_of_memory)
{
    struct csan_error *error = &finding->error;
    const char *kind = recording_finding_text(texts, count, "kind"), *text;
    const char *access = recording_finding_text(texts, count, "access");
    const int level = level_of(recording_finding_text(texts, count, "level"));
    const char **strings[STRINGS];
    uint64_t *numbers[NUMBERS];
    uint32_t *sizes[SIZES];
    *error = (struct csan_error){.detail = ""};
    finding->kind = kind ? finding_kind_of(kind) : -1;
    finding->level = (enum csan_level)level;
    finding->access = access ? finding_access_of(access) : 0;
    if ((text = recording_finding_text(texts, count, "argument")))
        finding->argument = (uint16_t)strtoul(text, NULL, 10);
    if (!is_error(finding->kind) || level < 0 || finding->access < 0)
        return false;
    strings_of(error, strings);
    numbers_of(error, numbers);
    sizes_of(error, sizes);
    for (int i = 0; i < STRINGS; i++)
        if ((text = recording_finding_text(texts, count, string_keys[i])))
            *strings[i] = text;
    for (int i = 0; i < NUMBERS; i++)
        if ((text = recording_finding_text(texts, count, number_keys[i])))
            *numbers[i] = strtoull(text, NULL, 10);
    if ((text = recording_finding_text(texts, count, "device")))
        error->device = (int)strtol(text, NULL, 10);
    for (int i = 0; i < SIZES; i++) {
        const bool known = size_get(sizes[i], recording_finding_text(texts, count, size_keys[i]));
        error->has_thread |= i == SIZES - 1 && known;
    }
    if (out_of_memory_get(out_of_memory, texts, count))
        error->out_of_memory = out_of_memory;
    return true;
}
